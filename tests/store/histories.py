"""A made-up history of a thousand facts, and what plain Python finds in it: the reference for questions of time."""

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from random import Random

from goalmem_cli.logic.days import Period
from goalmem_cli.records import Unit, content_hash
from goalmem_cli.store.queries.episodes import FACT, Bound, Operator, Ordering, Sought, Times, event_times
from goalmem_cli.store.store import Store
from tests.store.samples import chat, open_store

BACKBONE = "remem"
NAMES = ("ann lee", "ben", "cy", "dora")
DEEDS = ("visit", "work at", "be coach of")
THINGS = ("momoco", "leeds", "e57", "e 57", "green tea")
FIRST = date(2019, 1, 1)
FAR, NEAR = datetime(9999, 12, 31), datetime(1, 1, 1)


@dataclass(frozen=True)
class Made:
    """A made-up fact; times are first and last moments, None for open or unknown.

    `course` says of some that they were once, nobody knows when: before `until`, or after `since`.
    """

    id: str
    conversation: str
    ordinal: int
    keys: tuple[str, str, str]
    since: datetime | None
    until: datetime | None
    recorded: datetime | None
    course: str = ""

    @property
    def began(self) -> tuple[datetime, datetime] | None:
        """Between when and when it began, as the tools see it; None where it has no time at all."""
        if self.since is None and self.until is None:
            return None if self.recorded is None else (self.recorded, self.recorded)
        if self.since is not None:
            return self.since, FAR if self.course == "after" else self.since
        assert self.until is not None
        return NEAR, self.until

    @property
    def ended(self) -> tuple[datetime, datetime] | None:
        """Between when and when it ended, as the tools see it; what is not over ends at the end of all time."""
        if self.since is None and self.until is None:
            return None if self.recorded is None else (self.recorded, self.recorded)
        if self.until is not None:
            return NEAR if self.course == "before" else self.until, self.until
        assert self.since is not None
        return self.since if self.course == "after" else FAR, FAR


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
        course = {1: "before", 2: "after"}.get(kind, "") if random.random() < 0.5 else ""
        told = datetime(2019, 6, 1) + timedelta(hours=place) if number % 2 else None
        made = Made(
            content_hash(str(number)), ("chat", "talk")[number % 2], place, keys,
            since if kind != 1 and kind != 3 else None, until if kind not in (2, 3) else None, told, course,
        )  # fmt: skip
        if facts and random.random() < 0.1:
            other = random.choice(facts)
            made = replace(made, keys=other.keys, since=other.since, until=other.until, course=other.course)
        facts.append(made)
    return facts


HISTORY = history()


def unit(made: Made, turn: str) -> Unit:
    """Return the fact as a backbone stores it."""
    names = dict(zip(("subject", "predicate", "object"), made.keys, strict=True))
    return Unit(
        made.id, FACT, f"({', '.join(made.keys)})", made.conversation, "", made.recorded, (turn,), ("t",), BACKBONE,
        ordinal=made.ordinal, event_from=made.since, event_to=made.until,
        attributes={**names, "keys": list(made.keys)} | ({"course": made.course} if made.course else {}),
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
        first.setdefault((made.conversation, made.keys, made.since, made.until, made.course), made)
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


def _fulfils(between: tuple[datetime, datetime] | None, bound: Bound | None) -> bool | None:
    """Say whether whatever lies between the two fulfils it; None where some would and some would not."""
    if bound is None:
        return True
    if between is None:
        return False
    first = datetime.combine(bound.period.first, time.min)
    last = datetime.combine(bound.period.last, time.max)

    def fulfils(moment: datetime) -> bool:
        return {
            Operator.LT: moment < first, Operator.LE: moment <= last, Operator.GE: moment >= first,
            Operator.GT: moment > last, Operator.EQ: first <= moment <= last,
        }[bound.operator]  # fmt: skip

    ends = {fulfils(moment) for moment in between}
    if len(ends) == 2 or (bound.operator is Operator.EQ and between[0] < first and between[1] > last):
        return None
    return ends == {True}


def _by_name(sought: Sought) -> list[Made]:
    names = (sought.subject, sought.predicate, sought.object)

    def fits(key: str, name: str) -> bool:
        return set(name.split()) <= set(key.split()) if sought.is_loose else key == name

    return [
        made
        for made in HISTORY
        if all(name is None or fits(key, name) for key, name in zip(made.keys, names, strict=True))
    ]


def matching(sought: Sought) -> list[Made]:
    """Return the facts that surely are those sought, each once."""
    return told_once([made for made in _by_name(sought) if _verdict(made, sought.times) is True])


def possible(sought: Sought) -> list[Made]:
    """Return the facts that may be among those sought, each once, since nobody knows when they were."""
    return told_once([made for made in _by_name(sought) if _verdict(made, sought.times) is None])


def _verdict(made: Made, times: Times) -> bool | None:
    verdicts = {_fulfils(made.began, times.start), _fulfils(made.ended, times.end)}
    return False if False in verdicts else None if None in verdicts else True


def in_order(facts: list[Made], ordering: Ordering | None) -> list[str]:
    """Return the ids of the facts in an order: of known times, of open ones, of none."""
    if ordering is None:
        return [made.id for made in sorted(facts, key=lambda made: (made.conversation, made.ordinal, made.id))]
    timeless = sorted((made for made in facts if made.began is None), key=_telling)
    timed = sorted((made for made in facts if made.began is not None), key=_telling)
    if ordering is Ordering.ASC:
        timed.sort(key=lambda made: (_is_open(made.began), _pair(made.began)[1], _pair(made.ended)[1], *_telling(made)))
    else:
        timed.sort(key=lambda made: (_pair(made.ended)[1], _pair(made.began)[0]), reverse=True)
        timed.sort(key=lambda made: _is_open(made.ended))
    return [made.id for made in timed + timeless]


def _pair(between: tuple[datetime, datetime] | None) -> tuple[datetime, datetime]:
    assert between is not None
    return between


def _is_open(between: tuple[datetime, datetime] | None) -> bool:
    return _pair(between)[0] != _pair(between)[1]


def bound(operator: str, when: str) -> Bound:
    """Return a bound."""
    return Bound(Operator(operator), _day(when))
