"""Facts asked for as a table: each answer is the one that plain Python over the same facts gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.logic.days import Period
from goalmem_cli.records import Query, Unit, content_hash
from goalmem_cli.store.episodes import FACT, Bound, Episodes, Operator, Ordering, Sought, Times, event_times
from goalmem_cli.store.reader import Reader
from tests.store.samples import chat, open_store

BACKBONE = "remem"
EVERYWHERE = Query("")
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


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """An open store of a thousand facts in two conversations."""
    store = open_store(tmp_path_factory.mktemp("facts"))
    for place, name in enumerate(("chat", "talk")):
        conversation = chat([f"{name} {number}" for number in range(20)], name=name, own_id=name)
        turn = conversation.turns[place].id
        derived = tuple(unit(made, turn) for made in HISTORY if made.conversation == name)
        store.add(replace(conversation, derived=derived))
    with store.reading() as reading:
        yield reading


@pytest.fixture(scope="module")
def episodes(reader: Reader) -> Episodes:
    """Its facts."""
    return reader.episodes(BACKBONE)


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


WHENS = st.sampled_from(["2019", "2020", "2021-02", "2022-12", "2019-06-01", "2020-02-29", "1955", "2030"])
BOUNDS = st.none() | st.builds(bound, st.sampled_from([each.value for each in Operator]), WHENS)
SOUGHT = st.builds(
    Sought, st.none() | st.sampled_from([*NAMES, "lee", "nobody"]), st.none() | st.sampled_from([*DEEDS, "work"]),
    st.none() | st.sampled_from([*THINGS, "tea", "57"]), st.builds(Times, BOUNDS, BOUNDS), st.booleans(),
)  # fmt: skip


@settings(max_examples=150)
@given(data=st.data())
def test_every_question_has_the_answer_of_the_reference(episodes: Episodes, data: st.DataObject) -> None:
    """First and last, the nth, overlaps and counts over a thousand facts are exactly what plain Python gives."""
    sought, ordering = data.draw(SOUGHT), data.draw(st.none() | st.sampled_from(list(Ordering)))
    limit, offset = data.draw(st.none() | st.integers(1, 30)), data.draw(st.integers(0, 10))
    expected = matching(sought)
    ids = in_order(expected, ordering)
    counts = episodes.count(EVERYWHERE, sought)

    assert episodes.facts(EVERYWHERE, sought, ordering, limit, offset) == ids[offset:][:limit]
    assert (counts.facts, counts.subjects, counts.objects) == (
        len(expected), len({made.keys[0] for made in expected}), len({made.keys[2] for made in expected}),
    )  # fmt: skip
    timeless = [made for made in matching(replace(sought, times=Times())) if made.begun is None]
    assert counts.without_time == (0 if sought.times.is_open else len(timeless))


QUESTIONS: dict[str, tuple[Times, Callable[[Made], bool]]] = {
    "start after 1950": (Times(start=bound("gt", "2020")), lambda made: _at(made.begun) > datetime(2020, 12, 31, 23, 59, 59, 999999)),
    "end before 1960": (Times(end=bound("lt", "2021")), lambda made: _at(made.ended) < datetime(2021, 1, 1)),
    "exist at one point": (
        Times(bound("le", "2020-07-01"), bound("ge", "2020-07-01")),
        lambda made: _at(made.begun).date() <= date(2020, 7, 1) <= _at(made.ended).date(),
    ),
    "only within": (
        Times(bound("ge", "2020"), bound("le", "2021")),
        lambda made: _at(made.begun).year >= 2020 and _at(made.ended).year <= 2021,
    ),
    "overlap": (
        Times(bound("le", "2021"), bound("ge", "2020")),
        lambda made: _at(made.begun).year <= 2021 and _at(made.ended).year >= 2020,
    ),
}  # fmt: skip


def _at(moment: datetime | None) -> datetime:
    assert moment is not None
    return moment


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_paper_s_five_temporal_questions(episodes: Episodes, question: str) -> None:
    """Start after, end before, exist at, only within, overlap with: each finds some facts, those and no others."""
    times, is_meant = QUESTIONS[question]
    meant = told_once([made for made in HISTORY if made.begun is not None and is_meant(made)])
    found = episodes.facts(EVERYWHERE, Sought(times=times), Ordering.ASC)

    assert 0 < len(found) < len(HISTORY)
    assert found == in_order(meant, Ordering.ASC)


def test_the_scope_hides_other_conversations_and_what_was_told_later(episodes: Episodes) -> None:
    """A fact of another conversation, or told after the time of asking, is neither given nor counted."""
    until = datetime(2019, 6, 5)
    scope = Query("", conversations=("talk",), until=until)
    expected = [made for made in HISTORY if made.conversation == "talk" and made.recorded and made.recorded <= until]

    assert episodes.facts(scope, Sought(), Ordering.ASC) == in_order(told_once(expected), Ordering.ASC)
    assert episodes.count(scope, Sought()).facts == len(told_once(expected))


def test_another_backbone_s_units_are_no_facts_of_this_one(reader: Reader) -> None:
    """What one backbone derived is not seen through another."""
    other = reader.episodes("other")

    assert (other.facts(EVERYWHERE, Sought()), other.count_of(FACT)) == ([], 0)


@pytest.mark.parametrize("name", ["' OR 1=1 --", "%", "\x00", "", "🙂"])
def test_a_name_is_data(episodes: Episodes, name: str) -> None:
    """No name is an operator of the database."""
    empty: Any = episodes.facts(EVERYWHERE, Sought(subject=name))

    assert empty == []
