"""Questions like those of Test of Time's arithmetic part, which carry their statements, with gold plans.

Of its seven types all but time zones. The answers are worked out in plain Python: nothing here uses
`goalmem_cli.logic.computing`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from goalmem_cli.lab.bench.sums.questions import Gold, Sum, say_day
from goalmem_cli.lab.bench.sums.story import PEOPLE, Said, Story
from goalmem_cli.logic.days import WEEKDAYS
from goalmem_cli.transcripts.readers.statements import SPEAKER

_ERRANDS = ("shopping", "cooking", "laundry", "dishes", "garden", "letters", "repairs", "accounts")
_WORKS = ("bridge", "barn", "library", "canal", "tower", "harbour")
_TOLD = datetime(2000, 1, 1)
_FIRST, _LAST = date(1950, 1, 1), date(2020, 12, 31)
_DAYS = tuple(name.title() for name in WEEKDAYS[:7])


@dataclass(frozen=True, slots=True)
class Carried:
    """A question with its statements in the benchmark's form: what `label` names is the answer, by its key."""

    story: Story
    question: Sum
    key: str = "answer"

    @property
    def label(self) -> str:
        """The dictionary that holds the answer, as text."""
        values = [int(value) if value.isdigit() else value for value in self.question.answer]
        return str({self.key: values if self.key != "answer" else values[0]})

    @property
    def text(self) -> str:
        """The statements, and what is asked of them."""
        return " ".join([*(turn.text for turn in self.story.turns), self.question.text])


def carried(seed: int) -> Iterator[Carried]:
    """Yield questions without end, of each type in turn; the same seed gives the same ones."""
    number = 0
    while True:
        chance = random.Random(f"arithmetic {seed} {number}")  # noqa: S311 - no secret, but the same each time
        yield _MADE[number % len(_MADE)](f"tot-arithmetic-{seed}-{number}", chance)
        number += 1


def _story(name: str, statements: Sequence[str]) -> Story:
    turns = [Said(f"S{number}", SPEAKER, text, _TOLD) for number, text in enumerate(statements, 1)]
    return Story(name, (SPEAKER, SPEAKER), turns)


def _sum(name: str, chance: random.Random) -> Carried:
    who = chance.choice(PEOPLE)
    spent = [(what, chance.randint(5, 90)) for what in chance.sample(_ERRANDS, chance.randint(2, 5))]
    story = _story(name, [f"{who} spent {minutes} minutes on the {what}." for what, minutes in spent])
    gold = tuple(
        Gold(0, f"S{number}", {"x": what, "y": f"{minutes} minutes"}) for number, (what, minutes) in enumerate(spent, 1)
    )
    text = f"How many minutes did {who} spend on all of this together?"
    total = str(sum(minutes for _, minutes in spent))
    subgoal = f"({who}) spent (y:duration*) on (x:errand*)"
    return Carried(story, Sum("add_subtract", text, (total,), "sum(y)", (subgoal,), gold))


def _older(name: str, chance: random.Random) -> Carried:
    one, other = chance.sample(PEOPLE, 2)
    births = chance.sample([_FIRST + timedelta(days=days) for days in range(0, 20_000, 17)], 2)
    story = _story(name, [f"{one} was born on {say_day(births[0])}.", f"{other} was born on {say_day(births[1])}."])
    subgoals = (f"({one}) was born on (x:date)", f"({other}) was born on (y:date)")
    gold = (Gold(0, "S1", {"x": say_day(births[0])}), Gold(1, "S2", {"y": say_day(births[1])}))
    older = one if births[0] < births[1] else other
    expression = f"earlier({one}: x, {other}: y)"
    return Carried(story, Sum("compare", "Which of the two is older?", (older,), expression, subgoals, gold))


def _length(name: str, chance: random.Random) -> Carried:
    what = chance.choice(_WORKS)
    first = _day(chance)
    last = first + timedelta(days=chance.randint(2, 400))
    story = _story(
        name, [f"Work on the {what} began on {say_day(first)}.", f"Work on the {what} ended on {say_day(last)}."]
    )
    subgoals = (f"Work on the ({what}) began on (x:date)", f"Work on the ({what}) ended on (y:date)")
    gold = (Gold(0, "S1", {"x": say_day(first)}), Gold(1, "S2", {"y": say_day(last)}))
    text = "How many days lie between the two?"
    return Carried(story, Sum("duration", text, (str((last - first).days),), "between(x, y)", subgoals, gold))


def _mean(name: str, chance: random.Random) -> Carried:
    who, mean = chance.choice(PEOPLE), chance.randint(30, 60)
    days = chance.sample(_DAYS, chance.choice((2, 4)))
    apart = [chance.randint(1, 25) for _ in days[::2]]
    read = dict(zip(days, (mean + step for gap in apart for step in (gap, -gap)), strict=True))
    story = _story(name, [f"{who} read for {minutes} minutes on {day}." for day, minutes in read.items()])
    gold = tuple(
        Gold(0, f"S{number}", {"x": day, "y": f"{minutes} minutes"})
        for number, (day, minutes) in enumerate(read.items(), 1)
    )
    text = f"How many minutes a day did {who} read on average on these days?"
    subgoal = f"({who}) read for (y:duration*) on (x:day*)"
    return Carried(story, Sum("multi_op", text, (str(mean),), "average(y)", (subgoal,), gold))


def _free(name: str, chance: random.Random) -> Carried:
    one, other = chance.sample(PEOPLE, 2)
    common = chance.sample(_DAYS, chance.randint(1, 3))
    rest = [day for day in _DAYS if day not in common]
    own = [sorted([*common, *rest[place::3]], key=_DAYS.index) for place in (0, 1)]
    story = _story(name, [f"{who} is free on {_listed(days)}." for who, days in zip((one, other), own, strict=True)])
    subgoals = (f"({one}) is free on (x:day*)", f"({other}) is free on (y:day*)")
    gold = (*(Gold(0, "S1", {"x": day}) for day in own[0]), *(Gold(1, "S2", {"y": day}) for day in own[1]))
    answer = tuple(sorted(common, key=_DAYS.index))
    text = "On which days are both of them free?"
    return Carried(story, Sum("schedule", text, answer, "both(x, y)", subgoals, gold), "unordered_list")


def _trick(name: str, chance: random.Random) -> Carried:
    one, other = chance.sample(PEOPLE, 2)
    first = _day(chance)
    second = first + timedelta(days=chance.randint(10, 300))
    is_told = chance.random() < 0.5
    when = f"on {say_day(second)}" if is_told else f"some weeks after {one}"
    story = _story(name, [f"{one} was born on {say_day(first)}.", f"{other} was born {when}."])
    gold = (Gold(0, "S2", {"x": say_day(second)}),) if is_told else ()
    text = f'On which date was {other} born? If the question cannot be answered, reply "unanswerable".'
    answer = second.isoformat() if is_told else "unanswerable"
    return Carried(story, Sum("trick", text, (answer,), "x", (f"({other}) was born on (x:date)",), gold))


def _day(chance: random.Random) -> date:
    return _FIRST + timedelta(days=chance.randrange((_LAST - _FIRST).days))


def _listed(days: Sequence[str]) -> str:
    return f"{', '.join(days[:-1])} and {days[-1]}" if len(days) > 1 else days[0]


_MADE: tuple[Callable[[str, random.Random], Carried], ...] = (_sum, _older, _length, _mean, _free, _trick)
