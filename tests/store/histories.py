"""A made-up history of a thousand facts, and what plain Python finds in it: the reference for questions of time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from random import Random

from goalmem_cli.logic.days import Period
from goalmem_cli.records import Unit, content_hash
from goalmem_cli.store.looking.episodes import FACT, Bound, Operator, Ordering, Sought, event_times
from goalmem_cli.store.memory import Store
from tests.store.samples import chat, open_store

BACKBONE = "remem"
NAMES = ("ann lee", "ben", "cy", "dora")
DEEDS = ("visit", "work at", "be coach of")
THINGS = ("momoco", "leeds", "e57", "e 57", "green tea")
FIRST = date(2019, 1, 1)
FAR, NEAR = datetime(9999, 12, 31), datetime(1, 1, 1)


@dataclass(frozen=True)
class Made:
    """A made-up fact; times are first and last moments, None for open or unknown."""

    id: str
    conversation: str
    ordinal: int
    keys: tuple[str, str, str]
    since: datetime | None
    until: datetime | None
    recorded: datetime | None

    @property
    def begun(self) -> datetime | None:
        """When it began, as the tools see it."""
        if self.since is not None:
            return self.since
        return self.recorded if self.until is None else NEAR

    @property
    def ended(self) -> datetime | None:
        """When it ended, as the tools see it."""
        if self.until is not None:
            return self.until
        return self.recorded if self.since is None else FAR


def history(count: int = 1000, seed: int = 7) -> list[Made]:
    """Return a made-up history: points and spans, open ends, no times at all, and statements told again."""
    random = Random(seed)  # noqa: S311 - a made-up history, not a secret
    facts: list[Made] = []
    for number in range(count):
        place = number // 2
        keys = (random.choice(NAMES), random.choice(DEEDS), random.choice(THINGS))
        day = FIRST + timedelta(days=random.randrange(1500))
        period = Period(day, day + timedelta(days=random.choice((0, 0, 6, 40, 400))))
        since, until = event_times(period)
        kind = random.randrange(6)
        told = datetime(2019, 6, 1) + timedelta(hours=place) if number % 2 else None
        made = Made(
            content_hash(str(number)), ("chat", "talk")[number % 2], place, keys,
            since if kind != 1 and kind != 3 else None, until if kind not in (2, 3) else None, told,
        )  # fmt: skip
        if facts and random.random() < 0.1:
            other = random.choice(facts)
            made = replace(made, keys=other.keys, since=other.since, until=other.until)
        facts.append(made)
    return facts


HISTORY = history()


def unit(made: Made, turn: str) -> Unit:
    """Return the fact as a backbone stores it."""
    names = dict(zip(("subject", "predicate", "object"), made.keys, strict=True))
    return Unit(
        made.id, FACT, f"({', '.join(made.keys)})", made.conversation, "", made.recorded, (turn,), ("t",), BACKBONE,
        ordinal=made.ordinal, event_from=made.since, event_to=made.until,
        attributes={**names, "keys": list(made.keys)},
    )  # fmt: skip


def remembered(folder: Path) -> Store:
    """Return a store of the history, in two conversations."""
    store = open_store(folder)
    for place, name in enumerate(("chat", "talk")):
        conversation = chat([f"{name} {number}" for number in range(20)], name=name, own_id=name)
        turn = conversation.turns[place].id
        derived = tuple(unit(made, turn) for made in HISTORY if made.conversation == name)
        store.add(replace(conversation, derived=derived))
    return store


# The reference, in plain Python


def told_once(facts: list[Made]) -> list[Made]:
    """Return each statement of a conversation once, as it was told first."""
    first: dict[object, Made] = {}
    for made in sorted(facts, key=_telling):
        first.setdefault((made.conversation, made.keys, made.since, made.until), made)
    return list(first.values())


def _telling(made: Made) -> tuple[object, ...]:
    return (made.recorded is None, made.recorded or FAR, made.conversation, made.ordinal, made.id)


def _day(text: str) -> Period:
    parts = [int(part) for part in text.split("-")]
    if len(parts) == 1:
        return Period(date(parts[0], 1, 1), date(parts[0], 12, 31))
    if len(parts) == 2:
        after = date(parts[0] + parts[1] // 12, parts[1] % 12 + 1, 1)
        return Period(date(parts[0], parts[1], 1), after - timedelta(days=1))
    return Period(date(*parts), date(*parts))


def _fulfils(moment: datetime | None, bound: Bound | None) -> bool:
    if bound is None:
        return True
    if moment is None:
        return False
    first = datetime.combine(bound.period.first, time.min)
    last = datetime.combine(bound.period.last, time.max)
    return {
        Operator.LT: moment < first, Operator.LE: moment <= last, Operator.GE: moment >= first,
        Operator.GT: moment > last, Operator.EQ: first <= moment <= last,
    }[bound.operator]  # fmt: skip


def matching(sought: Sought) -> list[Made]:
    """Return the facts that are sought, each once."""
    names = (sought.subject, sought.predicate, sought.object)

    def fits(key: str, name: str) -> bool:
        return set(name.split()) <= set(key.split()) if sought.is_loose else key == name

    return told_once(
        [
            made
            for made in HISTORY
            if all(name is None or fits(key, name) for key, name in zip(made.keys, names, strict=True))
            and _fulfils(made.begun, sought.times.start)
            and _fulfils(made.ended, sought.times.end)
        ]
    )


def in_order(facts: list[Made], ordering: Ordering | None) -> list[str]:
    """Return the ids of the facts in an order."""
    if ordering is None:
        return [made.id for made in sorted(facts, key=lambda made: (made.conversation, made.ordinal, made.id))]
    timed = [made for made in facts if made.begun is not None]
    timeless = sorted((made for made in facts if made.begun is None), key=_telling)
    if ordering is Ordering.ASC:
        timed.sort(key=lambda made: (made.begun, made.ended, *_telling(made)))
    else:
        timed.sort(key=_telling)
        timed.sort(key=lambda made: (made.ended or FAR, made.begun or FAR), reverse=True)
    return [made.id for made in timed + timeless]


def bound(operator: str, when: str) -> Bound:
    """Return a bound."""
    return Bound(Operator(operator), _day(when))
