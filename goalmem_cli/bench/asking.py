"""What `goalmem ask` costs as a process of its own: seconds from its start to its end, and memory."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from goalmem_cli.bench.timing import Progress, run_python, unwatched
from goalmem_cli.errors import ModelError

_DONE = (0, 1)  # answered, or not known


@dataclass(frozen=True, slots=True)
class AskCost:
    """`asked` questions, a process each: the first one's seconds, the median, the longest, and the most memory that one
    had resident at a time, 0 where the system does not say. `unknown` is how many had no answer.
    """

    asked: int
    unknown: int
    first_seconds: float
    seconds: float
    longest_seconds: float
    peak_bytes: int


def measure_asking(questions: Sequence[str], words: Sequence[str], report: Progress = unwatched) -> AskCost:
    """Run `goalmem ask` with the words for each of the questions, of which there is one at least.

    Raises:
        ModelError: a process failed.
    """
    ran = []
    for question in questions:
        ran.append(run_python(["-m", "goalmem_cli", "ask", question, *words]))
        if ran[-1].status not in _DONE or "Traceback" in ran[-1].said:
            raise ModelError(f"`goalmem ask` ended with {ran[-1].status}: {ran[-1].said}", "ask it by hand")
        report(len(ran), len(questions))
    seconds = [each.seconds for each in ran]
    return AskCost(
        asked=len(ran),
        unknown=sum(each.status == _DONE[1] for each in ran),
        first_seconds=seconds[0],
        seconds=statistics.median(seconds),
        longest_seconds=max(seconds),
        peak_bytes=max(each.peak_bytes for each in ran),
    )
