"""Measure time: medians of repeated work, and whole processes."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from goalmem_cli.errors import ModelError

Progress: TypeAlias = Callable[[int, int], None]
"""Receives the amount done and the total."""

# An intermediate process: a child's peak memory also counts the process that started it.
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
    """One run of a program.

    `peak_bytes` is its peak resident memory, 0 if unknown. `said` is the end of its standard error, on one line.
    """

    status: int
    seconds: float
    peak_bytes: int
    said: str

    @property
    def has_failed(self) -> bool:
        """Whether goalmem failed. A crash also has status 1 ("nothing found"), so a traceback counts as failure."""
        return self.status not in (0, 1) or "Traceback" in self.said


def run_python(words: Sequence[str]) -> ProcessRun:
    """Run this Python with the arguments and without input, and wait for it."""
    ran = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", _MEASURE, sys.executable, *words],
        capture_output=True, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    status, seconds, peak, said = json.loads(ran.stdout)
    return ProcessRun(status, seconds, peak, " ".join(said.split()))


def run_goalmem(*words: str) -> ProcessRun:
    """Run `goalmem` with the arguments in its own process."""
    return run_python(["-m", "goalmem_cli", *words])


def unwatched(done: int, total: int) -> None:
    """Ignore the progress."""


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that the work takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def median_ms(work: Callable[[], object], rounds: int) -> float:
    """Return the median milliseconds of the work, after one warm-up run."""
    return statistics.median(sorted_ms(work, rounds))


def sorted_ms(work: Callable[[], object], rounds: int) -> list[float]:
    """Return the milliseconds of the work, the shortest first, after one warm-up run."""
    work()
    return sorted(1000 * timed(work) for _ in range(rounds))


@dataclass(frozen=True, slots=True)
class AskCost:
    """The cost of `asked` questions, one process each.

    The seconds are those of the first, the median, and the longest. `peak_bytes` is the peak memory of a process, 0 if
    unknown. `unknown` counts questions without an answer.
    """

    asked: int
    unknown: int
    first_seconds: float
    seconds: float
    longest_seconds: float
    peak_bytes: int


def measure_asking(questions: Sequence[str], words: Sequence[str], report: Progress = unwatched) -> AskCost:
    """Run `goalmem ask` with the arguments `words` for each question; there must be at least one.

    Raises:
        ModelError: a process failed.
    """
    ran = []
    for question in questions:
        ran.append(run_goalmem("ask", question, *words))
        if ran[-1].has_failed:
            raise ModelError(f"`goalmem ask` ended with {ran[-1].status}: {ran[-1].said}", "ask it by hand")
        report(len(ran), len(questions))
    seconds = [each.seconds for each in ran]
    return AskCost(
        asked=len(ran),
        unknown=sum(each.status != 0 for each in ran),
        first_seconds=seconds[0],
        seconds=statistics.median(seconds),
        longest_seconds=max(seconds),
        peak_bytes=max(each.peak_bytes for each in ran),
    )
