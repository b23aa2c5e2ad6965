"""Measure memories of several sizes: how fast they ingest turns, and how fast they are searched."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.backbones.fusion import DEPTH
from goalmem_cli.backbones.later import marked
from goalmem_cli.errors import StoreError
from goalmem_cli.lab.bench.talk import made_up_conversations, made_up_questions
from goalmem_cli.lab.bench.timing import Progress, median_ms, run_goalmem, sorted_ms, unwatched
from goalmem_cli.memory_ports import AnyMemory
from goalmem_cli.memory_records import Ranking
from goalmem_cli.ports import Embedder
from goalmem_cli.records import Query

HITS = 60
"""The number of units per search: the most that an attempt of goal-mem shows the model."""

SHOWN = 10
"""The number of units that a search shows."""

_CONVERSATIONS_A_TIME = 48
_TEXTS = 4096
_BY_WORDS, _BY_VECTORS = (Ranking.BM25, Ranking.BM25_CONTEXT), (Ranking.DENSE, Ranking.DENSE_CONTEXT)


@dataclass(frozen=True, slots=True)
class IngestSpeed:
    """The time to ingest generated turns, including embedding and both indexes."""

    turns: int
    seconds: float

    @property
    def turns_per_second(self) -> float:
        """The number of turns ingested per second."""
        return self.turns / self.seconds


@dataclass(frozen=True, slots=True)
class SearchCost:
    """The cost of one `goalmem search` process.

    `seconds` is the median duration of the process. `peak_bytes` is its peak resident memory, 0 if unknown.
    `file_bytes` is the size of the files that it maps or reads.
    """

    seconds: float
    peak_bytes: int
    file_bytes: int


@dataclass(frozen=True, slots=True)
class RetrievalSpeed:
    """The time of a retrieval in a warm process: medians in milliseconds.

    `whole_ms` is a whole retrieval by the default backbone, with marks for what is out of date; 95 of 100 take less
    than `p95_ms`. The others are its parts: opening the database, both word rankings, both vector rankings, and looking
    up the hits with their neighbours.
    """

    whole_ms: float
    p95_ms: float
    opening_ms: float
    words_ms: float
    vectors_ms: float
    hits_ms: float

    @property
    def queries_per_second(self) -> float:
        """The number of sequential retrievals per second."""
        return 1000 / self.whole_ms


@dataclass(frozen=True, slots=True)
class SizeFigures:
    """The figures of a store with `units` units: ingesting the last of them, embedding, and searching."""

    units: int
    ingest: IngestSpeed
    texts_per_second: float
    retrieval: RetrievalSpeed
    search: SearchCost


@dataclass(frozen=True, slots=True)
class Place:
    """The location of a measured memory: its `--store` name and the folder of its files.

    `let_go` releases a memory that only one process at a time can open.
    """

    name: str
    files: Path
    let_go: Callable[[], None] = lambda: None

    @classmethod
    def of_folder(cls, folder: Path) -> Place:
        """Return the location of a store in a folder."""
        return cls(str(folder), folder)


def measure_sizes(
    store: AnyMemory,
    embedder: Embedder,
    sizes: Sequence[int],
    *,
    place: Place | None = None,
    has_assistant: bool = False,
    rounds: int = 15,
    report: Progress = unwatched,
) -> Iterator[SizeFigures]:
    """Grow an empty store to each size in turn, and yield the measurements.

    Sizes must ascend. `place` is the memory's location if it is not its own folder. With `has_assistant`, every second
    turn is an assistant's long answer. `report` receives the number of turns stored.

    Raises:
        StoreError, ModelError: the store or its embedder cannot be used.
    """
    stored = 0
    for seed, size in enumerate(sizes):
        part = _part(stored, sizes[-1], report)
        ingest = measure_ingest(store, size - stored, seed=seed, has_assistant=has_assistant, report=part)
        stored = size
        yield SizeFigures(
            size,
            ingest,
            measure_embedder(embedder, min(size, _TEXTS), seed=seed),
            measure_retrieval(store, rounds=rounds),
            measure_search(place or Place.of_folder(store.path)),
        )


def measure_ingest(
    store: AnyMemory, turns: int, *, seed: int = 0, has_assistant: bool = False, report: Progress = unwatched
) -> IngestSpeed:
    """Store generated turns, 500 per conversation, and report the number stored so far.

    Raises:
        StoreError, ModelError: the store or its embedder cannot be used.
    """
    conversations = made_up_conversations(turns, seed, has_assistant=has_assistant)
    stored, seconds = 0, 0.0
    while part := list(islice(conversations, _CONVERSATIONS_A_TIME)):
        begun = time.perf_counter()
        store.add_all(part)
        seconds += time.perf_counter() - begun
        stored += sum(len(conversation.turns) for conversation in part)
        report(stored, turns)
    return IngestSpeed(turns, seconds)


def _part(start: int, total: int, report: Progress) -> Progress:
    """Return a progress callback for a part that follows the first `start` of `total`."""
    return lambda done, _: report(start + done, total)


def measure_embedder(embedder: Embedder, texts: int, *, seed: int = 0) -> float:
    """Return the number of generated turns embedded per second.

    Raises:
        ModelError: the embedder cannot be used.
    """
    said = [turn.text for conversation in made_up_conversations(texts, seed) for turn in conversation.turns]
    return 1000 * len(said) / median_ms(lambda: embedder.embed(said), 3)


def measure_retrieval(store: AnyMemory, *, rounds: int = 15) -> RetrievalSpeed:
    """Retrieve for generated questions, a different one each time, in a warm process.

    Raises:
        StoreError: the store cannot be read.
    """
    queries = cycle([Query(text) for text in made_up_questions(rounds)])
    backbone = FlatBackbone(store)
    found = [hit.unit.id for hit in backbone.retrieve(next(queries), HITS)]

    def opened() -> None:
        with store.reading():
            pass

    def searched() -> None:
        hits = backbone.retrieve(next(queries), HITS)
        marked(hits[:SHOWN], [hit.unit for hit in hits[SHOWN:]])

    whole = sorted_ms(searched, 3 * rounds)
    opening = median_ms(opened, rounds)
    with store.reading() as reader:
        return RetrievalSpeed(
            statistics.median(whole),
            whole[len(whole) * 95 // 100],
            opening,
            words_ms=median_ms(lambda: reader.rank(next(queries), _BY_WORDS, DEPTH), rounds),
            vectors_ms=median_ms(lambda: reader.rank(next(queries), _BY_VECTORS, DEPTH), rounds),
            hits_ms=median_ms(lambda: reader.hits(found), rounds),
        )


def measure_search(place: Place, *, rounds: int = 3) -> SearchCost:
    """Run `goalmem search` on the memory, each time in a new process.

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
