"""Times that are counted from a day named before: "three weekends later", "the week before", "the following Monday".

The day to count from is the last one named in the text, else the last one in the text said right before. If there is
none, the words get no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.days import (
    WEEKDAY,
    Period,
    count_of,
    month_of,
    moved,
    single,
    week_of,
    weekday_near,
    weekend_of,
    whole_year,
)
from goalmem_cli.logic.readings import HOURS, amount, unit_of
from goalmem_cli.logic.relative import COUNT, END, FULL_DAY, UNIT, Bound, Expression
from goalmem_cli.logic.scene import Scene, Tense

_SUBJECT = r"(?=\s+(?:i|we|you|he|she|they|it|there|my|our|his|her|their|came|went|had)\b)"
_DOES = r"(?=\s+(?:is|was|will|would|works?|suits?|can|could|may|might|should|looks?)\b)"
_ONE = rf"(?:day|night|week|weekend|month|year|{FULL_DAY})"
_COUNTED = (
    rf"(?P<count>{COUNT}) (?P<unit>{UNIT}|{FULL_DAY}s?) (?:(?P<side>later|earlier|afterwards|prior)\b"
    rf"(?! (?:than|to|this|in the|on in)\b)|(?P<place>after|before)(?: that\b|{END}))"
)
_BESIDE = (
    rf"(?:(?P<and>and|but|then) )?(?P<from>the) (?P<unit>{_ONE}|one) (?P<side>after|before)"
    rf"(?:(?P<whole> that\b|{END}|{_DOES})|{_SUBJECT})"
)
_NTH = (
    r"(?P<nth>the (?:first|second|third|fourth|fifth|last|final)) (?P<unit>day|night|morning|afternoon|evening)\b"
    r"(?! (?:of|at|in|for|i|we|before|after)\b)"
)
_WRITTEN = tuple(
    late(rf"(?<![\w']){form}".replace(" ", r"[\s-]+"))
    for form in (
        _COUNTED,
        rf"the (?:very )?(?P<side>next|following) (?P<unit>{_ONE}|morning|afternoon|evening)\b(?! (?:after|of)\b)",
        _BESIDE,
        _NTH,
    )
)
_KEYS = frozenset(
    "later earlier after afterwards before prior next following first second third fourth fifth last final".split()
)
_WITHIN = frozenset("for over in within during throughout until till of".split())
_BACK = frozenset({"earlier", "prior", "before"})
_REACH = 300  # characters
_LONGEST_START = 15  # days: days are not counted from a longer period
_UNITS = frozenset("day week weekend month year".split())
_NEAR = 24  # characters
_DAYTIMES = frozenset("night morning afternoon evening".split())


def counted(found: Sequence[Expression], scene: Scene, earlier: Sequence[Expression]) -> list[Expression]:
    """Return the expressions, in order, with the counted ones added.

    `earlier` are the expressions of the text said right before.
    """
    result = list(found)
    for each in _matches(scene):
        start, end = each.start("from" if "from" in each.groupdict() else 0), each.end()
        inside = [old for old in result if old.start < end and start < old.end]
        anchor = _anchor(result, start, scene, earlier)
        is_within = any(old.start < start and old.end > end for old in inside)
        if anchor is None or is_within or _is_the_same(anchor, start, scene):
            continue
        if "nth" in each.groupdict():
            result = _with(result, start, end, _day_within(each, anchor.readings[0]), anchor)
            continue
        unit = each["unit"] if each["unit"] != "one" else _unit_in(anchor, scene)
        readings = _readings(each, unit, anchor.readings[0], scene) if unit else []
        result = _with(result, start, end, readings, anchor)
    return result


def _with(
    found: list[Expression], start: int, end: int, readings: Sequence[Period], anchor: Expression
) -> list[Expression]:
    """Return the expressions with a counted one in place of those that it covers."""
    if not readings:
        return found
    new = Expression(start, end, tuple(readings), is_clear=anchor.is_clear)
    outside = [old for old in found if old.end <= start or end <= old.start]
    return sorted([*outside, new], key=lambda item: item.start)


def _day_within(match: re.Match[str], trip: Period) -> list[Period]:
    """Return the numbered day of a span ("the first day", "the last night"); empty if the span has no such day."""
    if not 1 < trip.days <= _LONGEST_START:
        return []
    word = match["nth"].split()[-1]
    place = trip.days if word in ("last", "final") else count_of(word)
    return [single(trip.first + timedelta(days=place - 1))] if place <= trip.days else []


def _is_the_same(anchor: Expression, start: int, scene: Scene) -> bool:
    """Say whether the words follow the day directly and repeat it: "on Sunday, the day after" is that Sunday.

    "not next weekend, the weekend after" is not such a case: the same unit is named again.
    """
    if anchor.end > start or not re.fullmatch(r"[\s,]*", scene.folded[anchor.end : start]):
        return False
    return _unit_in(anchor, scene) not in scene.folded[start : start + _NEAR].split()[1:2]


def _unit_in(anchor: Expression, scene: Scene) -> str:
    """Return the unit or weekday that the expression ends with, or ""."""
    words = scene.folded[anchor.start : anchor.end].split()
    return words[-1] if words and (words[-1] in _UNITS or words[-1] in WEEKDAY) else ""


def _matches(scene: Scene) -> Iterator[re.Match[str]]:
    if scene.words.isdisjoint(_KEYS):
        return
    matches = [match for form in _WRITTEN for match in form.finditer(scene.folded)]
    yield from sorted(filter(_is_of_day, matches), key=lambda match: match.start())


def _is_of_day(match: re.Match[str]) -> bool:
    """Say whether the match counts from a day; "the week after we met" counts from an event instead."""
    groups = match.groupdict()
    return "from" not in groups or groups["whole"] is not None or groups["and"] is not None


def _anchor(found: Sequence[Expression], start: int, scene: Scene, earlier: Sequence[Expression]) -> Expression | None:
    """Return the expression to count from, or None if there is none near enough."""
    if scene.word_before(start) in _WITHIN:
        return None
    before = [each for each in found if each.end <= start]
    if before:
        return before[-1] if start - before[-1].end <= _REACH and before[-1].bound is Bound.ON else None
    return earlier[-1] if earlier and start <= _REACH and earlier[-1].bound is Bound.ON else None


def _readings(match: re.Match[str], unit: str, anchor: Period, scene: Scene) -> list[Period]:
    """Return the days that a counted time such as "two weeks after" may mean, from the anchor and the tense."""
    groups = match.groupdict()
    side = groups["side"] or groups.get("place")
    sign = -1 if side in _BACK else 1
    count = groups.get("count")
    low, high = amount(count) if count else (1.0, 1.0)
    try:
        days = _moved(anchor, sign, (low, high), unit_of(unit), is_counted=count is not None)
    except (ValueError, OverflowError):
        return []  # outside the calendar
    tense = scene.tense(*match.span())
    return [
        day for day in days
        if not (tense is Tense.PAST and day.first > scene.day) and not (tense is Tense.FUTURE and day.last < scene.day)
    ]  # fmt: skip


def _moved(anchor: Period, sign: int, count: tuple[float, float], unit: str, *, is_counted: bool) -> list[Period]:
    """Return the periods that lie `count` units before (`sign` -1) or after (`sign` 1) the anchor."""
    low, high = count
    edge = anchor.first if sign < 0 else anchor.last
    unit = "day" if unit in _DAYTIMES else unit
    if unit in HOURS:
        return []
    if unit == "year" and anchor == whole_year(anchor.first.year):
        years = sorted(anchor.first.year + sign * int(number) for number in count)
        return [Period(whole_year(years[0]).first, whole_year(years[1]).last)]
    if unit in ("month", "year"):
        return _months_from(edge, sign, count, unit)
    if anchor.days > _LONGEST_START:
        return []
    if unit in WEEKDAY:
        return [single(weekday_near(edge, WEEKDAY[unit], sign * int(low)))]
    if low != high:
        return moved(edge, sign * low, sign * high, unit)[:1]
    if unit == "weekend":
        is_on = edge.weekday() > 4 and sign > 0
        return [weekend_of(edge, sign * int(low) if sign < 0 else int(low) - 1 + is_on)]
    if unit == "week" and not is_counted:
        return [week_of(edge, sign)]
    if unit in ("week", "fortnight"):
        there = edge + sign * timedelta(days=int(low * (7 if unit == "week" else 14)))
        return [single(there)] if anchor.days == 1 else [week_of(there)]
    return moved(edge, sign * low, sign * low, unit)[-1:]


def _months_from(edge: date, sign: int, count: tuple[float, float], unit: str) -> list[Period]:
    """Return the month, or the range of months, that lies `count` months or years from the day."""
    ends = sorted(edge.month + sign * round(number * (12 if unit == "year" else 1)) for number in count)
    return [Period(month_of(edge.year, ends[0]).first, month_of(edge.year, ends[1]).last)]
