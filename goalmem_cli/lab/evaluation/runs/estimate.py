"""Estimate the cost of a run before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.lab.evaluation.runs.folder import read_run
from goalmem_cli.lab.evaluation.runs.runner import Row
from goalmem_cli.ports import Outlook
from goalmem_cli.records import Usage


def estimated(left: Mapping[Row, int], calls: Mapping[str, tuple[int, int]], seconds_per_call: float) -> str:
    """Return the cost of the remaining questions in words; `calls` are each reasoner's least and most per question."""
    least, most = (sum(count * calls[row.reasoner][end] for row, count in left.items()) for end in (0, 1))
    numbers = dict.fromkeys((f"{least:,}", f"{most:,}"))
    first, last = say_duration(least * seconds_per_call), say_duration(most * seconds_per_call)
    between = f"about {first}" if first == last else f"{first} to {last}"
    return (
        f"{sum(left.values()):,} questions to ask: {' to '.join(numbers)} calls, {between} "
        f"at {seconds_per_call:.1f} s a call"
    )


@dataclass(frozen=True, slots=True)
class Cost:
    """The least and most calls and tokens of building a backbone, or of a reasoner over one.

    `count` are turns to index or questions to ask. `reasoner` is "" for an index.
    """

    reasoner: str
    backbone: str
    count: int
    calls: tuple[int, int]
    tokens: tuple[int, int]

    def hours(self, speed: float) -> tuple[float, float]:
        """Return the least and most hours at `speed` tokens per second."""
        return self.tokens[0] / speed / 3600, self.tokens[1] / speed / 3600


def foreseen_index(backbone: str, outlook: Outlook) -> Cost:
    """Return the cost of an index, as the backbone estimates it."""
    return Cost("", backbone, outlook.turns, (outlook.calls, outlook.calls), (outlook.tokens, outlook.tokens))


def foreseen_answers(reasoner: str, backbone: str, questions: int, calls: tuple[int, int], tried: Usage) -> Cost:
    """Return the cost of `questions` questions with `calls` calls each, if each call costs as much as the one tried."""
    tokens = (tried.prompt_tokens + tried.completion_tokens) / max(1, tried.calls)
    least, most = (questions * number for number in calls)
    return Cost(reasoner, backbone, questions, (least, most), (round(least * tokens), round(most * tokens)))


def seconds_per_call(path: Path) -> float | None:
    """Return the mean seconds of a model call in the run so far, or None if it has made none.

    Calls of questions that ran at the same time share their seconds.

    Raises:
        InputError: a file of the run is damaged.
    """
    run = read_run(path)
    usage = sum((answered.trace.usage for answered in run.answered), Usage())
    return usage.seconds / usage.calls / run.manifest.at_once if usage.calls else None


def say_duration(seconds: float) -> str:
    """Return a duration in a fitting unit: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
