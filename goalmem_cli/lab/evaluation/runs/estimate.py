"""What a run is going to cost, said before it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.lab.evaluation.runs.folder import read_run
from goalmem_cli.lab.evaluation.runs.runner import Row
from goalmem_cli.ports import Outlook
from goalmem_cli.records import Usage


@dataclass(frozen=True, slots=True)
class Estimate:
    """Questions left to ask, model calls for them at least and at most, and seconds a call took when tried."""

    questions: int
    least: int
    most: int
    seconds_per_call: float

    @property
    def shortest(self) -> float:
        """Seconds, if every question needs as few calls as it can."""
        return self.least * self.seconds_per_call

    @property
    def longest(self) -> float:
        """Seconds, if every question needs as many calls as it may."""
        return self.most * self.seconds_per_call

    def line(self) -> str:
        """Return the estimate as a line."""
        calls = f"{self.least:,} calls" if self.least == self.most else f"{self.least:,} to {self.most:,} calls"
        times = sorted({say_duration(self.shortest), say_duration(self.longest)}, key=len)
        between = f"about {times[0]}"
        if len(times) > 1:
            between = f"{say_duration(self.shortest)} to {say_duration(self.longest)}"
        return f"{self.questions:,} questions to ask: {calls}, {between} at {self.seconds_per_call:.1f} s a call"


def estimated(left: Mapping[Row, int], calls: Mapping[str, tuple[int, int]], seconds_per_call: float) -> Estimate:
    """Return the cost of the questions left in each row; `calls` are the least and most of a reasoner's question."""
    rows: Sequence[tuple[int, tuple[int, int]]] = [(count, calls[row.reasoner]) for row, count in left.items()]
    return Estimate(
        sum(left.values()),
        sum(count * least for count, (least, _) in rows),
        sum(count * most for count, (_, most) in rows),
        seconds_per_call,
    )


@dataclass(frozen=True, slots=True)
class Cost:
    """What building a backbone, or a reasoner over one, is going to take at least and at most, of calls and tokens.

    `count` are turns to index or questions to ask; `reasoner` is blank for an index.
    """

    reasoner: str
    backbone: str
    count: int
    calls: tuple[int, int]
    tokens: tuple[int, int]

    def hours(self, speed: float) -> tuple[float, float]:
        """Return the hours that this takes at so many tokens a second."""
        return self.tokens[0] / speed / 3600, self.tokens[1] / speed / 3600


def foreseen_index(backbone: str, outlook: Outlook) -> Cost:
    """Return the cost of an index, as the backbone itself estimates it."""
    return Cost("", backbone, outlook.turns, (outlook.calls, outlook.calls), (outlook.tokens, outlook.tokens))


def foreseen_answers(reasoner: str, backbone: str, questions: int, calls: tuple[int, int], tried: Usage) -> Cost:
    """Return the cost of so many questions, each of so many calls; a call is taken to be as long as the one tried."""
    tokens = (tried.prompt_tokens + tried.completion_tokens) / max(1, tried.calls)
    least, most = (questions * number for number in calls)
    return Cost(reasoner, backbone, questions, (least, most), (round(least * tokens), round(most * tokens)))


def seconds_per_call(path: Path) -> float | None:
    """Return the mean seconds of a model call in the run so far; None where it has made none.

    Calls of questions that were under way at the same time share their seconds.

    Raises:
        InputError: a file of the run is damaged.
    """
    run = read_run(path)
    usage = sum((answered.trace.usage for answered in run.answered), Usage())
    return usage.seconds / usage.calls / run.manifest.at_once if usage.calls else None


def say_duration(seconds: float) -> str:
    """Return a duration in the units that suit it: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
