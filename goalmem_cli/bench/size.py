"""What a large memory costs: how fast it takes turns in, how fast and in how much memory it is searched."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from goalmem_cli.bench.talk import TURNS_A_CONVERSATION, made_up_conversations
from goalmem_cli.errors import StoreError
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Unit, content_hash
from goalmem_cli.store.derived import Indexed
from goalmem_cli.store.memory import Store
from goalmem_cli.store.unit_rows import VectorPair
from goalmem_cli.store.units import Entry
from goalmem_cli.store.vector_index import VectorIndex

QUERY = "Which tea did she order at the bakery in Kyoto?"
DEPTH = 200

_BATCH = 4096
_DONE = (0, 1)  # found, or nothing found
# A process of its own in between: what a child's memory is measured by counts the process that started it as well.
_MEASURE = """
import json, subprocess, sys, time
begun = time.perf_counter()
ran = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
seconds = time.perf_counter() - begun
try:
    import resource
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
except ImportError:
    peak = 0
print(json.dumps([ran.returncode, seconds, peak, ran.stderr.decode(errors="replace")[-500:]]))
"""


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
class VectorSpeed:
    """How long a search of all units' vectors takes once they are in memory: medians in milliseconds, a list each.

    `product_ms` is what multiplying the matrix by the query takes, without which no exact search can do.
    """

    units: int
    dimension: int
    text_ms: float
    context_ms: float
    product_ms: float


def measure_ingest(
    store: Store, turns: int, *, seed: int = 0, report: Callable[[int], None] = lambda _: None
) -> IngestSpeed:
    """Store made-up turns, 500 a conversation, and report how many have been stored so far.

    Raises:
        StoreError, ModelError: the store or its embedder cannot be used.
    """
    conversations = list(made_up_conversations(turns, seed))
    stored = 0

    def count(added: int) -> None:
        nonlocal stored
        stored += added
        report(stored)

    begun = time.perf_counter()
    store.add_all(conversations, report=lambda added: count(added.new_turns))
    return IngestSpeed(turns, time.perf_counter() - begun)


def measure_search(store: Path, query: str = QUERY, *, rounds: int = 5) -> SearchCost:
    """Run `goalmem search` on the store, each time as a process of its own.

    Raises:
        StoreError: the search failed.
    """
    command = [sys.executable, "-m", "goalmem_cli", "search", query, "--store", str(store)]
    times, peaks = [], []
    for _ in range(rounds):
        ran = subprocess.run(  # noqa: S603 - our own words
            [sys.executable, "-c", _MEASURE, *command], capture_output=True, check=True, stdin=subprocess.DEVNULL
        )
        status, seconds, peak, said = json.loads(ran.stdout)
        if status not in _DONE:
            raise StoreError(
                f"the search ended with {status}: {' '.join(said.split())}", f"goalmem stores verify --store {store}"
            )
        times.append(seconds)
        peaks.append(peak)
    size = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
    return SearchCost(statistics.median(times), max(peaks), size)


def measure_vectors(folder: Path, units: int, dimension: int, *, seed: int = 0, rounds: int = 9) -> VectorSpeed:
    """Build an index of random unit vectors in the folder (8 bytes a number) and search it.

    Raises:
        StoreError: there is no room for it.
    """
    chance = np.random.default_rng(seed)
    index = VectorIndex(folder, dimension)
    index.rebuild(_random_units(units, dimension, chance), "bench", 1)
    snapshot = index.snapshot()
    allowed = snapshot.living
    vector = _directions(1, dimension, chance)[0]
    texts = np.asarray(snapshot.texts)

    def search(*, in_context: bool) -> None:
        snapshot.search(vector, in_context=in_context, allowed=allowed, depth=DEPTH)

    return VectorSpeed(
        units,
        dimension,
        text_ms=_median_ms(lambda: search(in_context=False), rounds),
        context_ms=_median_ms(lambda: search(in_context=True), rounds),
        product_ms=_median_ms(lambda: texts @ vector, rounds),
    )


def _median_ms(work: Callable[[], object], rounds: int) -> float:
    work()  # the first brings the files into memory
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return 1000 * statistics.median(times)


def _random_units(units: int, dimension: int, chance: np.random.Generator) -> Iterator[Indexed]:
    for start in range(0, units, _BATCH):
        count = min(_BATCH, units - start)
        texts, contexts = _directions(count, dimension, chance), _directions(count, dimension, chance)
        for place in range(count):
            name = content_hash(str(start + place))
            unit = Unit(name, "turn", "", f"talk-{place // TURNS_A_CONVERSATION}", "", None, (name,), (name,))
            pair = VectorPair(texts[place].tobytes(), contexts[place].tobytes())
            yield Indexed(Entry(unit, "", ""), pair)


def _directions(count: int, dimension: int, chance: np.random.Generator) -> Vectors:
    rows = chance.standard_normal((count, dimension), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows
