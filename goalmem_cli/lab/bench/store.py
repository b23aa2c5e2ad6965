"""What memories of several sizes cost: how fast they take turns in, and how they are searched."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.backbones.fusion import DEPTH
from goalmem_cli.errors import StoreError
from goalmem_cli.lab.bench.talk import made_up_conversations, made_up_questions
from goalmem_cli.lab.bench.timing import Progress, median_ms, run_goalmem, unwatched
from goalmem_cli.memory_ports import AnyMemory
from goalmem_cli.memory_records import Ranking
from goalmem_cli.ports import Embedder
from goalmem_cli.records import Query

HITS = 60
"""How many units a search brings back: what an attempt of goal-mem shows the model at most."""

_CONVERSATIONS_A_TIME = 48
_TEXTS = 4096
_BY_WORDS, _BY_VECTORS = (Ranking.BM25, Ranking.BM25_CONTEXT), (Ranking.DENSE, Ranking.DENSE_CONTEXT)


@dataclass(frozen=True, slots=True)
class IngestSpeed:
    """How long a store took to read made-up turns: `turns` in `seconds`, embedding and both indexes included."""

    turns: int
    seconds: float

    @property
    def turns_per_second(self) -> float:
        """How many it takes in a second."""
        return self.turns / self.seconds


@dataclass(frozen=True, slots=True)
class SearchCost:
    """What one `goalmem search` costs as a process.

    `seconds` is the median from the start of the process to its end; `peak_bytes` the most memory that it had
    resident at a time, 0 where the system does not say; `file_bytes` the size of the files that it
    maps or reads.
    """

    seconds: float
    peak_bytes: int
    file_bytes: int


@dataclass(frozen=True, slots=True)
class RetrievalSpeed:
    """How long a retrieval takes in a process that has searched before: medians in milliseconds.

    `whole_ms` is all of it, by the hybrid backbone; the others are its parts: opening the database, both rankings by
    words, both by vectors, and looking up the hits with their neighbours.
    """

    whole_ms: float
    opening_ms: float
    words_ms: float
    vectors_ms: float
    hits_ms: float

    @property
    def queries_per_second(self) -> float:
        """How many retrievals are done in a second, one after another."""
        return 1000 / self.whole_ms


@dataclass(frozen=True, slots=True)
class SizeFigures:
    """A store of so many units: reading in the last of them, embedding texts like theirs, and searching it."""

    units: int
    ingest: IngestSpeed
    texts_per_second: float
    retrieval: RetrievalSpeed
    search: SearchCost


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory that is measured lies: as `--store` takes it, and the folder that its files are in.

    `let_go` makes a memory that one process at a time has open free for the next one.
    """

    name: str
    files: Path
    let_go: Callable[[], None] = lambda: None

    @classmethod
    def of_folder(cls, folder: Path) -> Place:
        """Return the place of a store in a folder."""
        return cls(str(folder), folder)


def measure_sizes(
    store: AnyMemory,
    embedder: Embedder,
    sizes: Sequence[int],
    *,
    place: Place | None = None,
    rounds: int = 15,
    report: Progress = unwatched,
) -> Iterator[SizeFigures]:
    """Grow an empty store to each of the sizes, in turns, and yield what was measured there.

    The sizes ascend; `place` is where it lies, if not in its own folder; `report` hears how many turns are stored.

    Raises:
        StoreError, ModelError: the store or its embedder cannot be used.
    """
    stored = 0
    for seed, size in enumerate(sizes):
        ingest = measure_ingest(store, size - stored, seed=seed, report=_part(stored, sizes[-1], report))
        stored = size
        yield SizeFigures(
            size,
            ingest,
            measure_embedder(embedder, min(size, _TEXTS), seed=seed),
            measure_retrieval(store, rounds=rounds),
            measure_search(place or Place.of_folder(store.path)),
        )


def measure_ingest(store: AnyMemory, turns: int, *, seed: int = 0, report: Progress = unwatched) -> IngestSpeed:
    """Store made-up turns, 500 a conversation, and report how many have been stored so far.

    Raises:
        StoreError, ModelError: the store or its embedder cannot be used.
    """
    conversations = made_up_conversations(turns, seed)
    stored, seconds = 0, 0.0
    while part := list(islice(conversations, _CONVERSATIONS_A_TIME)):
        begun = time.perf_counter()
        store.add_all(part)
        seconds += time.perf_counter() - begun
        stored += sum(len(conversation.turns) for conversation in part)
        report(stored, turns)
    return IngestSpeed(turns, seconds)


def _part(start: int, total: int, report: Progress) -> Progress:
    """Return what hears of a part that comes after the first `start` of so many."""
    return lambda done, _: report(start + done, total)


def measure_embedder(embedder: Embedder, texts: int, *, seed: int = 0) -> float:
    """Return how many texts, the turns of made-up conversations, are embedded in a second.

    Raises:
        ModelError: the embedder cannot be used.
    """
    said = [turn.text for conversation in made_up_conversations(texts, seed) for turn in conversation.turns]
    return 1000 * len(said) / median_ms(lambda: embedder.embed(said), 3)


def measure_retrieval(store: AnyMemory, *, rounds: int = 15) -> RetrievalSpeed:
    """Retrieve for made-up questions, each of a round another one, with all that a warm process has at hand.

    Raises:
        StoreError: the store cannot be read.
    """
    queries = cycle([Query(text) for text in made_up_questions(rounds)])
    backbone = FlatBackbone(store)
    found = [hit.unit.id for hit in backbone.retrieve(next(queries), HITS)]

    def opened() -> None:
        with store.reading():
            pass

    whole = median_ms(lambda: backbone.retrieve(next(queries), HITS), rounds)
    opening = median_ms(opened, rounds)
    with store.reading() as reader:
        return RetrievalSpeed(
            whole,
            opening,
            words_ms=median_ms(lambda: reader.rank(next(queries), _BY_WORDS, DEPTH), rounds),
            vectors_ms=median_ms(lambda: reader.rank(next(queries), _BY_VECTORS, DEPTH), rounds),
            hits_ms=median_ms(lambda: reader.hits(found), rounds),
        )


def measure_search(place: Place, *, rounds: int = 3) -> SearchCost:
    """Run `goalmem search` on the memory at a place, each time as a process of its own.

    Raises:
        StoreError: the search failed.
    """
    times, peaks = [], []
    place.let_go()
    for question in made_up_questions(rounds):
        ran = run_goalmem("search", question, "--store", place.name)
        if ran.has_failed:
            raise StoreError(
                f"the search ended with {ran.status}: {ran.said}", f"goalmem stores verify --store {place.name}"
            )
        times.append(ran.seconds)
        peaks.append(ran.peak_bytes)
    size = sum(path.stat().st_size for path in place.files.rglob("*") if path.is_file())
    return SearchCost(statistics.median(times), max(peaks), size)
