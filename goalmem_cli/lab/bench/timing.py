"""How long work takes: medians of repeated work, and whole processes."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Hears how much is done, and how much there is to do."""

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
class ProcessRun:
    """One run of a program, from its start to its end.

    `peak_bytes` is the most memory that it had resident at a time, 0 where the system does not say; `said` the end of
    what it wrote on standard error, in one line.
    """

    status: int
    seconds: float
    peak_bytes: int
    said: str

    @property
    def has_failed(self) -> bool:
        """Whether goalmem ended otherwise than with something found, or nothing: a crash has the status of nothing."""
        return self.status not in (0, 1) or "Traceback" in self.said


def run_python(words: Sequence[str]) -> ProcessRun:
    """Run this Python with the words after its name, and nothing to read, and wait for its end."""
    ran = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", _MEASURE, sys.executable, *words],
        capture_output=True, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    status, seconds, peak, said = json.loads(ran.stdout)
    return ProcessRun(status, seconds, peak, " ".join(said.split()))


def run_goalmem(*words: str) -> ProcessRun:
    """Run `goalmem` with the words as a process of its own."""
    return run_python(["-m", "goalmem_cli", *words])


def unwatched(done: int, total: int) -> None:
    """Hear of progress and do nothing."""


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds the work takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def median_ms(work: Callable[[], object], rounds: int) -> float:
    """Return the median of how many milliseconds the work takes, once a first time has brought what it needs along."""
    work()
    return 1000 * statistics.median(timed(work) for _ in range(rounds))
