"""Meanings of words for a length of time, seen from the time of speaking: when it began, or how far it reaches.

As in `readings.py`, each function reads the match of one pattern of `relative.py`.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from goalmem_cli.logic.days import DAYS_PER, Period, moved, weekend_of
from goalmem_cli.logic.readings import HOURS, ahead, amount, from_day, unit_of, weekends_near
from goalmem_cli.logic.scene import Scene, Tense

_LONG, _LONGEST_MONTH = 5, 31  # from so many years on, only the year is given; days
_NEAR = 48  # characters: how far a superlative reaches
BEST = (
    r"(?:first|last|only|best|worst|most \w+|(?!(?:re|we|gue|te|intere|fore|que|reque|sugge|arre|harve)st\b)\w{2,}est)"
)
_BEST = re.compile(rf"\b{BEST}\b[^.!?;,:]*\Z")


def surely_ahead(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "in two weeks" as a future time; empty if it may be how long something took, or is shorter than a day."""
    tense = scene.tense(*match.span())
    if tense is Tense.OPEN and _BEST.search(scene.folded[max(0, match.start() - _NEAR) : match.start()]):
        return []  # "the first in sixty years" looks back
    is_vague = amount(match["count"]) == (1, 1)
    if tense is Tense.PAST or (is_vague and tense is not Tense.FUTURE) or unit_of(match["unit"]) in HOURS:
        return []
    return ahead(match, scene)


def span_behind(match: re.Match[str], scene: Scene) -> list[Period]:
    """Return when "the past two weeks" or "for two years now" began: a day, a month, or a year if it is long ago.

    For "a few" and "two or three", return the range from the most to the least.
    """
    low, high = amount(match["count"] or "")
    unit = unit_of(match["unit"])
    if unit in HOURS:
        return []
    starts = [_start_behind(scene.day, count, unit, is_rough=low != high) for count in (high, low)]
    return [Period(starts[0].first, starts[1].last)]


def _start_behind(day: date, count: float, unit: str, *, is_rough: bool) -> Period:
    """Return when something that has lasted `count` units began; to the month at best if they are years.

    Raises:
        ValueError: before the calendar.
    """
    behind = moved(day, -count, -count, unit)
    if not behind:
        raise ValueError(f"no day {count} {unit}s before {day}")
    if unit in DAYS_PER:
        return behind[-1]
    return (
        behind[0]
        if unit == "decade" or (unit == "year" and (is_rough or count >= _LONG))
        else next(found for found in behind if found.days <= _LONGEST_MONTH)
    )


def best_in(match: re.Match[str], scene: Scene) -> list[Period]:
    """Return the start of the time that "the first in sixty years" or "the worst winter in ten years" covers."""
    return [] if scene.tense(*match.span("count")) is Tense.FUTURE else span_behind(match, scene)


def in_a_row(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "two weekends in a row", "three Fridays running": up to the last one or, in the future, from the next."""
    low, high = amount(match["count"])
    unit, day = unit_of(match["unit"]), scene.day
    if low != high or low < 2 or unit in HOURS or scene.is_supposed(*match.span()):
        return []
    tense = scene.tense(*match.span())
    if unit == "weekend":
        ends = [weekend_of(day, weeks) for weeks in (-1, 0, 1)]
        nearest = weekends_near(scene, ends, tense)[0]
        shift = timedelta(days=7 * int(low - 1))
        return [Period(nearest.first, nearest.last + shift) if tense is Tense.FUTURE
                else Period(nearest.first - shift, nearest.last)]  # fmt: skip
    if tense is Tense.FUTURE:
        return [Period(day, found.last) for found in from_day(scene, (low, low), unit, 1)[-1:]]
    return [Period(found.first, day) for found in from_day(scene, (low, low), unit, -1)[:1]]


def span_ahead(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "over the next two weeks", which starts on the day of speaking."""
    unit = unit_of(match["unit"])
    if unit in HOURS or (match["count"] is None and match["unit"] != unit):
        return []
    _, count = amount(match["count"] or "")
    return [Period(scene.day, found.last) for found in moved(scene.day, count, count, unit)[-1:]]
