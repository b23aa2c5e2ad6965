"""Lists and pairs of days or months joined by "and", "or" or "to", where one member completes the others.

"The 3rd and 4th of May" are two days in May. "Next Monday and Tuesday" are in one week. "In March and April last year"
are months of one year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.days import (
    MONTH,
    MONTH_NAME,
    ORDINAL,
    WEEKDAY,
    Period,
    When,
    count_of,
    month_of,
    single,
    weekday_near,
)
from goalmem_cli.logic.relative import DAY, Expression
from goalmem_cli.logic.scene import Scene, Tense

_AND = r"(?:\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or|to|until|till|through)\s+|\s*[&–-]\s*)"
_NUMBER = rf"(?:{ORDINAL}|[0-3]?\d)"
_LATER = rf"{_AND}(?:on\s+)?(?:the\s+)?{_NUMBER}"
_YEAR = r"(?:[\s,]+(?P<year>(?:1[89]|20|21)\d\d))?\b"
_LISTS = (
    late(
        rf"(?<![\w.:/-])(?:on\s+)?(?:the\s+)?(?P<days>{_NUMBER}(?:{_LATER}){{1,11}})\s+(?:of\s+)?(?P<month>{MONTH_NAME}){_YEAR}"
    ),
    late(
        rf"\b(?:on\s+)?(?P<month>{MONTH_NAME})\s+(?:the\s+)?(?P<days>{_NUMBER}(?:{_LATER}){{1,11}})(?![\w:]|\.\d){_YEAR}"
    ),
)
_EACH = late(rf"(?:on\s+)?(?:the\s+)?(?P<number>{_NUMBER})\b")
_IS_SPAN = late(r"\b(?:to|until|till|through)\b|[–-]")
_BETWEEN = late(r"\bbetween\s+(?:the\s+)?\Z")
_MANY = 12


def listed_days(scene: Scene) -> Iterator[Expression]:
    """Yield the days of a month that are listed together: one span if they are consecutive, else each day."""
    for form in _LISTS:
        for found in form.finditer(scene.folded):
            if found["year"] or scene.is_timed:
                yield from _days_of(found, scene)


def _days_of(found: re.Match[str], scene: Scene) -> Iterator[Expression]:
    """Yield the days of a list such as "3, 4 and 7 May", one expression each, or one for a whole run."""
    each = list(_EACH.finditer(scene.folded, *found.span("days")))[:_MANY]
    numbers = [count_of(match["number"]) for match in each]
    if sorted(set(numbers)) != numbers or len(numbers) < 2 or _IS_SPAN.search(found["days"]):
        return  # other code reads spans
    month, year = MONTH[found["month"]], int(found["year"]) if found["year"] else None
    is_one = numbers[-1] - numbers[0] == len(numbers) - 1 and "or" not in re.findall("[a-z]+", found["days"])
    if is_one or _BETWEEN.search(scene.folded, 0, found.start("days")):
        days = _in_month(month, (numbers[0], numbers[-1]), year, found, scene)
        yield from [Expression(*found.span(), tuple(days), is_plain=year is not None)] if days else ()
        return
    for place, (match, number) in enumerate(zip(each, numbers, strict=True)):
        start = min(found.start(), match.start()) if not place else match.start()
        end = found.end() if match is each[-1] else match.end()
        if days := _in_month(month, (number, number), year, found, scene):
            yield Expression(start, end, tuple(days), is_plain=year is not None)


def _in_month(
    month: int, numbers: tuple[int, int], year: int | None, found: re.Match[str], scene: Scene
) -> list[Period]:
    """Return the days from one number to another in a month, in the named year or the nearest."""
    years = (year,) if year is not None else tuple(scene.day.year + shift for shift in (-1, 0, 1))
    ends = [[When(each, month, number).within(each) for number in numbers] for each in years]
    days = [Period(first.first, last.last) for first, last in ends if first is not None and last is not None]
    return scene.nearest(days, scene.yearly_tense(*found.span())) if scene.is_timed else days


_STEPPED_DAY = late(rf"(?:on\s+)?(?:(?:this\s+)?(?:past|last|coming|upcoming)|this|next)\s+{DAY}(?:\s+\w+)?")
_PLAIN_DAY = late(rf"(?:on\s+)?(?P<day>{DAY})(?:\s+(?:morning|afternoon|evening|night))?")
_NUMBERED = late(rf"(?:on\s+)?the\s+(?P<day>{ORDINAL})")
_MONTH_ALONE = late(rf"(?:in\s+)?(?P<month>{MONTH_NAME})")
_WITH_YEAR = late(r"\b(?:last|next|this) year\b|\byears? ago\b|\b(?:1[89]|20|21)\d\d\b")
_BETWEEN_TWO = late(rf"{_AND}(?:in\s+)?")


def paired(found: Sequence[Expression], scene: Scene) -> tuple[list[Expression], set[int]]:
    """Return the expressions with each pair completed, and the start positions of those that were completed."""
    result = list(found)
    decided: set[int] = set()
    for place in range(1, len(result)):
        left, right = result[place - 1 : place + 1]
        if not _BETWEEN_TWO.fullmatch(scene.folded, left.end, right.start):
            continue
        after, before = _after(left, right, scene), _before(left, right, scene)
        if after is not None:
            result[place] = replace(right, readings=(after, *right.readings))
            decided.add(right.start)
        elif before is not None:
            result[place - 1] = replace(left, readings=(before, *left.readings))
            decided.add(left.start)
    return result, decided


def _after(left: Expression, right: Expression, scene: Scene) -> Period | None:
    """Return what the right expression means if the left one decides it, else None."""
    first = left.readings[0]
    if first.days > 1:
        return None
    if numbered := _NUMBERED.fullmatch(scene.folded, right.start, right.end):
        number, shown = count_of(numbered["day"]), scene.folded[left.start : left.end]
        if any(name in MONTH for name in re.findall("[a-z]+", shown)):
            months = [month_of(first.last.year, first.last.month + shift) for shift in (0, 1)]
            days = [single(each.first.replace(day=number)) for each in months if number <= each.last.day]
            return next((day for day in days if day.first > first.last), None)
        return None
    weekday = _PLAIN_DAY.fullmatch(scene.folded, right.start, right.end)
    is_day = _STEPPED_DAY.fullmatch(scene.folded, left.start, left.end) or _PLAIN_DAY.fullmatch(
        scene.folded, left.start, left.end
    )
    if weekday is None or not is_day:
        return None
    day = weekday_near(first.last, WEEKDAY[weekday["day"]], 1)
    tense = scene.tense(right.start, right.end)
    is_possible = (tense is not Tense.PAST or day <= scene.day) and day - first.last < timedelta(days=7)
    return single(day) if is_possible else None


def _before(left: Expression, right: Expression, scene: Scene) -> Period | None:
    """Return what the left expression means if the right one names its year, else None."""
    month = _MONTH_ALONE.fullmatch(scene.folded, left.start, left.end)
    year = right.readings[0].first.year
    if month is None or not _WITH_YEAR.search(scene.folded, right.start, right.end):
        return None
    whole = month_of(year, MONTH[month["month"]])
    return whole if whole.first <= right.readings[0].first else None
