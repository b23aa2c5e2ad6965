"""Questions like those of Test of Time's arithmetic part, which contain their statements, with gold plans.

They cover its seven types except time zones. The answers are computed in plain Python, without
`goalmem_cli.logic.computing`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import cycle
from typing import NamedTuple

from goalmem_cli.lab.bench.sums.questions import Gold, Sum, say_day
from goalmem_cli.lab.bench.sums.story import PEOPLE, Said, Story
from goalmem_cli.logic.days import WEEKDAYS
from goalmem_cli.transcripts.readers.statements import SPEAKER

_ERRANDS = ("shopping", "cooking", "laundry", "dishes", "garden", "letters", "repairs", "accounts")
_WORKS = ("bridge", "barn", "library", "canal", "tower", "harbour")
_TOLD = datetime(2000, 1, 1)
_FIRST, _LAST = date(1950, 1, 1), date(2020, 12, 31)
_DAYS = tuple(name.title() for name in WEEKDAYS[:7])


class Carried(NamedTuple):
    """A question that contains its statements, the statements alone, and the benchmark's label for the answer."""

    question: Sum
    statements: Sequence[str]
    label: str


def carried(seed: int) -> Iterator[tuple[Story, Carried]]:
    """Yield questions of each type in turn with their stories, without end; equal seeds give equal results."""
    for number, make in enumerate(cycle(_MADE)):
        one = make(random.Random(f"arithmetic {seed} {number}"))  # noqa: S311 - no secret, but the same each time
        turns = [Said(f"S{place}", SPEAKER, text, _TOLD) for place, text in enumerate(one.statements, 1)]
        yield Story(f"tot-arithmetic-{seed}-{number}", (SPEAKER, SPEAKER), turns), one


def _carried(
    type_: str, statements: Sequence[str], asked: str, answer: tuple[str, ...], expression: str,
    subgoals: tuple[str, ...], grounded: Sequence[tuple[int, int, Mapping[str, str]]], *, is_list: bool = False,
) -> Carried:  # fmt: skip
    """Return a question; `grounded` has (subgoal, statement, values of variables), both numbers from 0."""
    gold = tuple(Gold(subgoal, f"S{place + 1}", values) for subgoal, place, values in grounded)
    text = " ".join([*statements, asked])
    values = [int(value) if value.isdigit() else value for value in answer]
    label = {"unordered_list": values} if is_list else {"answer": values[0]}
    return Carried(Sum(type_, text, answer, expression, subgoals, gold), statements, str(label))


def _sum(chance: random.Random) -> Carried:
    who = chance.choice(PEOPLE)
    spent = {what: chance.randint(5, 90) for what in chance.sample(_ERRANDS, chance.randint(2, 5))}
    return _carried(
        "add_subtract", [f"{who} spent {minutes} minutes on the {what}." for what, minutes in spent.items()],
        f"How many minutes did {who} spend on all of this together?", (str(sum(spent.values())),), "sum(y)",
        (f"({who}) spent (y:duration*) on (x:errand*)",), _minutes(spent),
    )  # fmt: skip


def _mean(chance: random.Random) -> Carried:
    who, mean = chance.choice(PEOPLE), chance.randint(30, 60)
    days = chance.sample(_DAYS, chance.choice((2, 4)))
    apart = [chance.randint(1, 25) for _ in days[::2]]
    read = dict(zip(days, (mean + step for gap in apart for step in (gap, -gap)), strict=True))
    return _carried(
        "multi_op", [f"{who} read for {minutes} minutes on {day}." for day, minutes in read.items()],
        f"How many minutes a day did {who} read on average on these days?", (str(mean),), "average(y)",
        (f"({who}) read for (y:duration*) on (x:day*)",), _minutes(read),
    )  # fmt: skip


def _minutes(spent: Mapping[str, int]) -> list[tuple[int, int, Mapping[str, str]]]:
    return [(0, place, {"x": what, "y": f"{spent[what]} minutes"}) for place, what in enumerate(spent)]


def _older(chance: random.Random) -> Carried:
    one, other = chance.sample(PEOPLE, 2)
    births = _day(chance), _day(chance)
    while births[0] == births[1]:
        births = births[0], _day(chance)
    told = [f"({who}) was born on" for who in (one, other)]
    older = one if births[0] < births[1] else other
    return _of_two_days("compare", births, told, "Which of the two is older?", older, f"earlier({one}: x, {other}: y)")


def _length(chance: random.Random) -> Carried:
    what, first = chance.choice(_WORKS), _day(chance)
    last = first + timedelta(days=chance.randint(2, 400))
    told = [f"Work on the ({what}) {verb} on" for verb in ("began", "ended")]
    days = str((last - first).days)
    return _of_two_days("duration", (first, last), told, "How many days lie between the two?", days, "between(x, y)")


def _of_two_days(
    type_: str, days: tuple[date, date], told: Sequence[str], asked: str, answer: str, expression: str
) -> Carried:
    statements = [f"{re.sub('[()]', '', words)} {say_day(day)}." for words, day in zip(told, days, strict=True)]
    subgoals = tuple(f"{words} ({name}:date)" for words, name in zip(told, "xy", strict=True))
    grounded = [(place, place, {name: say_day(days[place])}) for place, name in enumerate("xy")]
    return _carried(type_, statements, asked, (answer,), expression, subgoals, grounded)


def _free(chance: random.Random) -> Carried:
    people = chance.sample(PEOPLE, 2)
    shuffled, number = chance.sample(_DAYS, len(_DAYS)), chance.randint(1, 3)
    common, rest = shuffled[:number], shuffled[number:]
    own = [sorted([*common, *rest[place::3]], key=_DAYS.index) for place in (0, 1)]
    told = [", ".join(days[:-1]) + " and " + days[-1] if len(days) > 1 else days[0] for days in own]
    return _carried(
        "schedule", [f"{who} is free on {days}." for who, days in zip(people, told, strict=True)],
        "On which days are both of them free?", tuple(sorted(common, key=_DAYS.index)), "both(x, y)",
        tuple(f"({who}) is free on ({name}:day*)" for who, name in zip(people, "xy", strict=True)),
        [(place, place, {"xy"[place]: day}) for place in (0, 1) for day in own[place]], is_list=True,
    )  # fmt: skip


def _trick(chance: random.Random) -> Carried:
    one, other = chance.sample(PEOPLE, 2)
    first, is_told = _day(chance), chance.random() < 0.5
    second = first + timedelta(days=chance.randint(10, 300))
    when = f"on {say_day(second)}" if is_told else f"some weeks after {one}"
    return _carried(
        "trick", [f"{one} was born on {say_day(first)}.", f"{other} was born {when}."],
        f'On which date was {other} born? If the question cannot be answered, reply "unanswerable".',
        (second.isoformat() if is_told else "unanswerable",), "x", (f"({other}) was born on (x:date)",),
        [(0, 1, {"x": say_day(second)})] if is_told else [],
    )  # fmt: skip


def _day(chance: random.Random) -> date:
    return _FIRST + timedelta(days=chance.randrange((_LAST - _FIRST).days))


_MADE: tuple[Callable[[random.Random], Carried], ...] = (_sum, _older, _length, _mean, _free, _trick)
