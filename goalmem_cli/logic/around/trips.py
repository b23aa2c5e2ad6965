"""Weekdays and day numbers that lie within a span named just before, such as a trip, a course or a week."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.days import ORDINAL, WEEKDAY, Period, count_of, places_in, single, whole_year
from goalmem_cli.logic.relative import DAY, Bound, Expression
from goalmem_cli.logic.scene import Scene, Tense

_WEEKDAY_ALONE = late(rf"(?:on (?:the )?)?(?P<day>{DAY})(?: (?:morning|afternoon|evening|night))?".replace(" ", r"\s+"))
_NUMBERED = late(rf"(?:on\s+)?the\s+(?P<number>{ORDINAL})")
_BACK = late(r"^[^.!?]*\b(?:back|return|returns|home|leave|leaves|until|till|ends?)\b[^.!?]*$")
_LONGEST, _MONTH = 15, 31  # days: the longest span for a weekday, and for a day number


def is_weekday_alone(found: Expression, scene: Scene) -> bool:
    """Say whether the expression is only the name of a weekday."""
    return _WEEKDAY_ALONE.fullmatch(scene.folded, found.start, found.end) is not None


def is_number_alone(found: Expression, scene: Scene) -> bool:
    """Say whether the expression is only a day number ("the 3rd")."""
    return _NUMBERED.fullmatch(scene.folded, found.start, found.end) is not None


def is_year(found: Expression) -> bool:
    """Say whether the expression means a whole year, as the end of "from 3 to 7 February this year" does."""
    best = found.readings[0]
    return best == whole_year(best.first.year)


def placed(
    found: Sequence[Expression], scene: Scene, earlier: Sequence[Expression]
) -> tuple[list[Expression], set[int], set[int]]:
    """Return the expressions with days placed in the span before them ("4 to 6 July ... on the 5th"), and two sets.

    The sets hold start positions: the days that the span decided, and the days that cannot lie in a future span. A span
    holds until another time is named. The last span of the text said right before holds at the start.
    """
    result: list[Expression] = []
    decided: set[int] = set()
    strange: set[int] = set()
    trip = _last_trip(earlier, scene.before) if earlier else None
    if trip is not None and trip.last < scene.day and not _has_number(earlier[-1], scene):
        trip = None  # "last week" was about something else
    for each in found:
        if not (is_weekday_alone(each, scene) or is_number_alone(each, scene)):
            trip = trip if is_year(each) else _last_trip([*result, each], scene)
        elif trip is not None and each.bound is Bound.ON and (trip.days <= _LONGEST or is_number_alone(each, scene)):
            tense = scene.day_tense(each.start, each.end)
            there = _days_in(trip, each, scene, tense)
            if len(there) == 1:
                each = replace(each, readings=(*there, *each.readings))
                decided.add(each.start)
            elif trip.first > scene.day and tense is not Tense.PAST:
                strange.add(each.start)
        result.append(each)
    return result, decided, strange


def _last_trip(found: Sequence[Expression], scene: Scene | None) -> Period | None:
    """Return the span of the last expression, or the span between the last two if they are a departure and a return."""
    if len(found) > 1 and scene is not None:
        (start, end), (left, right) = found[-2:], (each.readings[0] for each in found[-2:])
        between = scene.folded[start.end : end.start]
        if left.days == right.days == 1 and left.first < right.first and _BACK.search(between):
            period = Period(left.first, right.last)
            return period if period.days <= _LONGEST else None
    return _trip(found[-1])


def _has_number(found: Expression, scene: Scene) -> bool:
    before = scene.before.folded if scene.before is not None else ""
    return re.search(r"\d", before[found.start : found.end]) is not None


def _trip(found: Expression) -> Period | None:
    period = found.readings[0]
    return period if found.bound is Bound.ON and 1 < period.days <= _MONTH else None


def _days_in(trip: Period, each: Expression, scene: Scene, tense: Tense) -> list[Period]:
    """Return the days of the span that match the expression and that its tense allows."""
    day = _WEEKDAY_ALONE.fullmatch(scene.folded, each.start, each.end)
    if day is not None:
        days = list(places_in(trip, WEEKDAY[day["day"]]))
    else:
        number = _NUMBERED.fullmatch(scene.folded, each.start, each.end)
        wanted = count_of(number["number"]) if number is not None else 0
        days = [at for at in places_in(trip, None) if at.day == wanted]
    is_ahead, is_past = tense is Tense.FUTURE, tense is Tense.PAST
    return [single(at) for at in days if not (is_ahead and at < scene.day) and not (is_past and at > scene.day)]
