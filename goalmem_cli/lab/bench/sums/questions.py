"""Questions on a story whose answers no turn states, with answers computed in plain Python, and gold plans.

Nothing here uses `goalmem_cli.logic.computing`, because the answers test it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import groupby

from goalmem_cli.lab.bench.sums.story import Course, Purchase, Story, Visit
from goalmem_cli.logic.days import WEEKDAYS


@dataclass(frozen=True, slots=True)
class Gold:
    """A grounding of the gold plan: its subgoal (from 0), the turn that entails it, and its bindings."""

    subgoal: int
    turn: str
    bindings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sum:
    """A question with its exact answer, its plan and its groundings.

    `type` is the operation: count, total, average, order, comparison, duration or set. Only of an order the answers are
    in order.
    """

    type: str
    text: str
    answer: tuple[str, ...]
    expression: str
    subgoals: tuple[str, ...]
    groundings: tuple[Gold, ...]


def questions_of(story: Story, count: int, seed: int = 0) -> list[Sum]:
    """Return at most `count` questions on a story, alternating over the types; equal arguments give equal results."""
    chance = random.Random(f"{story.name} {seed} questions")  # noqa: S311 - no secret, but the same each time
    lists = [list(asked(story)) for asked in _ASKED]
    for found in lists:
        chance.shuffle(found)
    chosen: list[Sum] = []
    while any(lists) and len(chosen) < count:
        chosen += [found.pop() for found in lists if found]
    return chosen[:count]


def _purchases(story: Story) -> Iterator[tuple[str, str, list[Purchase]]]:
    """Yield each person and kind with the purchases, by day."""

    def key(one: Purchase) -> tuple[str, str]:
        return one.person, one.kind

    for (person, kind), found in groupby(sorted(story.purchases, key=key), key):
        yield person, kind, sorted(found, key=lambda one: one.day)


def _pairs(story: Story) -> Iterator[tuple[Purchase, Purchase]]:
    """Yield pairs of a person's purchases of different kinds, each purchase at most once."""
    for person in story.people:
        own = [one for one in story.purchases if one.person == person]
        yield from ((one, other) for one, other in zip(own[::2], own[1::2], strict=False) if one.kind != other.kind)


def _bought(person: str, kind: str) -> str:
    return f"({person}) bought (x:{kind}*) for (y:price*) on (z:date*)"


def _all(found: Sequence[Purchase]) -> tuple[Gold, ...]:
    return tuple(Gold(0, one.turn, {"x": one.thing, "y": f"{one.price} euros", "z": say_day(one.day)}) for one in found)


def _counts(story: Story) -> Iterator[Sum]:
    for person, kind, found in _purchases(story):
        subgoals, number = (_bought(person, kind),), str(len(found))
        yield Sum("count", f"How many {kind}s has {person} bought?", (number,), "count(x)", subgoals, _all(found))


def _totals(story: Story) -> Iterator[Sum]:
    for person, kind, found in _purchases(story):
        if len(found) < 2:
            continue
        whole, subgoals = sum(one.price for one in found), (_bought(person, kind),)
        text = f"How much did {person} spend on {kind}s altogether?"
        yield Sum("total", text, (_euros(Decimal(whole)),), "sum(y)", subgoals, _all(found))
        mean = Decimal(whole) / len(found)
        yield Sum(
            "average", f"What did {person} pay for a {kind} on average?", (_euros(mean),), "average(y)", subgoals,
            _all(found),
        )  # fmt: skip


def _orders(story: Story) -> Iterator[Sum]:
    for person, kind, found in _purchases(story):
        if len(found) < 2:
            continue
        subgoals, gold = (_bought(person, kind),), _all(found)
        yield Sum("order", f"Which {kind} did {person} buy first?", (found[0].thing,), "first(x by z)", subgoals, gold)
        yield Sum("order", f"Which {kind} did {person} buy last?", (found[-1].thing,), "last(x by z)", subgoals, gold)
        text, names = f"In which order did {person} buy {kind}s?", tuple(one.thing for one in found)
        yield Sum("order", text, names, "ordered(x by z)", subgoals, gold)
        for name, other, function, word in ((*names[:2], "previous", "before"), (*names[-2:], "next", "after")):
            asked, answer = (other, name) if function == "previous" else (name, other)
            text = f"Which {kind} did {person} buy right {word} the {asked}?"
            yield Sum("order", text, (answer,), f"{function}(x by z, '{asked}')", subgoals, gold)
        if len(found) > 2:
            text = f"Which was the second {kind} that {person} bought?"
            yield Sum("order", text, (found[1].thing,), "nth(x by z, 2)", subgoals, gold)
        dearest = sorted(found, key=lambda one: one.price)
        if dearest[-1].price > dearest[-2].price:
            text = f"Which {kind} of those that {person} bought was the most expensive?"
            yield Sum("order", text, (dearest[-1].thing,), "last(x by y)", subgoals, gold)


def _comparisons(story: Story) -> Iterator[Sum]:
    for one, other in _pairs(story):
        days = _two(one, other, "bought the ({}) on ({}:date)", lambda p: say_day(p.day))
        prices = _two(one, other, "paid ({1}:price) for the ({0})", lambda p: f"{p.price} euros")
        labels = f"the {one.thing}: x, the {other.thing}: y"
        first = one if one.day < other.day else other
        yield Sum(
            "comparison", f"Which did {one.person} buy earlier, the {one.thing} or the {other.thing}?",
            (f"the {first.thing}",), f"earlier({labels})", *days,
        )  # fmt: skip
        yield Sum(
            "comparison", f"Did {one.person} buy the {one.thing} before the {other.thing}?",
            ("yes" if first is one else "no",), "before(x, y)", *days,
        )  # fmt: skip
        if one.price != other.price:
            dearer = one if one.price > other.price else other
            yield Sum(
                "comparison", f"What cost {one.person} more, the {one.thing} or the {other.thing}?",
                (f"the {dearer.thing}",), f"more({labels})", *prices,
            )  # fmt: skip
        gap = Decimal(abs(one.price - other.price))
        text = f"What is the difference between what {one.person} paid for the {one.thing} and for the {other.thing}?"
        yield Sum("comparison", text, (_euros(gap),), "difference(x, y)", *prices)


def _durations(story: Story) -> Iterator[Sum]:
    for one, other in _pairs(story):
        days = _two(one, other, "bought the ({}) on ({}:date)", lambda p: say_day(p.day))
        text = f"How many days lay between {one.person} buying the {one.thing} and the {other.thing}?"
        yield Sum("duration", text, (_days((other.day - one.day).days),), "between(x, y)", *days)
        subgoal, name = (days[0][0],), WEEKDAYS[one.day.weekday()].capitalize()
        text = f"On which day of the week did {one.person} buy the {one.thing}?"
        yield Sum("duration", text, (name,), "weekday(x)", subgoal, days[1][:1])
    for course in story.courses:
        yield from _of_course(course, story)


def _of_course(course: Course, story: Story) -> Iterator[Sum]:
    person, subject = course.person, course.subject
    course_of = f"the ({subject}) course of ({person})"
    subgoals = (f"{course_of} began on (x:date)", f"{course_of} ended on (y:date)")
    gold = (Gold(0, course.turn, {"x": say_day(course.first)}), Gold(1, course.turn, {"y": say_day(course.last)}))
    text = f"How many days passed from the first to the last day of {person}'s {subject} course?"
    yield Sum("duration", text, (_days((course.last - course.first).days),), "between(x, y)", subgoals, gold)
    ago = (story.asked.date() - course.last).days
    text = f"How many days ago did {person}'s {subject} course end?"
    ended = Gold(0, course.turn, {"x": say_day(course.last)})
    yield Sum("duration", text, (_days(ago),), "between(x, now)", (f"{course_of} ended on (x:date)",), (ended,))


def _sets(story: Story) -> Iterator[Sum]:
    mine, theirs = ([visit for visit in story.visits if visit.person == person] for person in story.people)
    for own, others, (one, other) in ((mine, theirs, story.people), (theirs, mine, story.people[::-1])):
        towns, known = ({visit.town for visit in part} for part in (own, others))
        subgoals = (f"({one}) was in (x:town*)", f"({other}) was in (y:town*)")
        gold = (*_visits(own, 0, "x"), *_visits(others, 1, "y"))
        if not towns or not known:
            continue
        if both := towns & known:
            text = f"Which towns have {one} and {other} both been to?"
            yield Sum("set", text, tuple(sorted(both)), "both(x, y)", subgoals, gold)
        text = f"How many towns have both {one} and {other} been to?"
        yield Sum("set", text, (str(len(both)),), "count(both(x, y))", subgoals, gold)
        if alone := towns - known:
            text = f"Which towns has {one} been to, but {other} not?"
            yield Sum("set", text, tuple(sorted(alone)), "without(x, y)", subgoals, gold)
        (left, *_) = sorted(towns)
        if rest := towns - {left}:
            text = f"Which towns other than {left} has {one} been to?"
            yield Sum("set", text, tuple(sorted(rest)), f"without(x, '{left}')", subgoals[:1], _visits(own, 0, "x"))


def _periods(story: Story) -> Iterator[Sum]:
    """Ask which courses a person took on a day, in some days, and during a course of the other."""
    for one, other in (story.people, story.people[::-1]):
        own = [course for course in story.courses if course.person == one]
        subgoal = f"({one}) took the (x:course*) course from (y:date*) to (z:date*)"
        gold = tuple(
            Gold(0, course.turn, {"x": course.subject, "y": say_day(course.first), "z": say_day(course.last)})
            for course in own
        )
        for course in own:
            day, last = say_day(course.first), say_day(course.last)
            text, held = f"Which courses was {one} taking on {day}?", _held(own, course.first, course.first)
            yield Sum("set", text, held, f"during(x from y to z, '{day}')", (subgoal,), gold)
            number = str(len(_held(own, course.first, course.last)))
            text = f"How many courses was {one} taking in any of the days from {day} to {last}, both included?"
            yield Sum("count", text, (number,), f"count(during(x from y to z, '{day}', '{last}'))", (subgoal,), gold)
        for course in story.courses:
            if course.person == other and (held := _held(own, course.first, course.last)):
                meanwhile = f"the ({course.subject}) course of ({other}) ran from (v:date) to (w:date)"
                then = Gold(1, course.turn, {"v": say_day(course.first), "w": say_day(course.last)})
                text = f"Which courses was {one} taking while {other} took the {course.subject} course?"
                yield Sum("set", text, held, "during(x from y to z, v, w)", (subgoal, meanwhile), (*gold, then))


def _held(courses: Sequence[Course], first: date, last: date) -> tuple[str, ...]:
    return tuple(course.subject for course in courses if course.first <= last and first <= course.last)


def _often(story: Story) -> Iterator[Sum]:
    for person in story.people:
        own = [visit for visit in story.visits if visit.person == person]
        times = Counter(visit.town for visit in own).most_common(2)
        gold = tuple(Gold(0, visit.turn, {"x": visit.town, "z": say_day(visit.day)}) for visit in own)
        if len(times) > 1 and times[0][1] > times[1][1]:
            subgoals = (f"({person}) was in (x:town*) on (z:date*)",)
            yield Sum(
                "count", f"Which town has {person} been to most often?", (times[0][0],), "most(x)", subgoals, gold
            )


_ASKED: tuple[Callable[[Story], Iterator[Sum]], ...] = (
    _counts, _totals, _orders, _comparisons, _durations, _sets, _often, _periods,
)  # fmt: skip


def _visits(found: Sequence[Visit], subgoal: int, name: str) -> tuple[Gold, ...]:
    """Return a grounding for the first visit to each town."""
    firsts = {visit.town: visit for visit in reversed(found)}
    return tuple(Gold(subgoal, visit.turn, {name: visit.town}) for visit in firsts.values())


def _two(
    one: Purchase, other: Purchase, text: str, value: Callable[[Purchase], str]
) -> tuple[tuple[str, str], tuple[Gold, Gold]]:
    """Return a subgoal and a grounding for each of two purchases."""
    subgoals = [f"({p.person}) {text.format(p.thing, name)}" for p, name in ((one, "x"), (other, "y"))]
    gold = Gold(0, one.turn, {"x": value(one)}), Gold(1, other.turn, {"y": value(other)})
    return (subgoals[0], subgoals[1]), gold


def say_day(day: date) -> str:
    """Return a day in the form of bindings: 7 May 2023."""
    return f"{day.day} {day:%B %Y}"


def _days(number: int) -> str:
    return f"{abs(number):,} day" + "s" * (abs(number) != 1)


def _euros(amount: Decimal) -> str:
    rounded = amount.quantize(Decimal("0.01"), ROUND_HALF_EVEN)
    return f"{f'{rounded:,}'.rstrip('0').rstrip('.')} euros"
