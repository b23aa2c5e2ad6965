"""Months, seasons and feasts whose sentence names their year: "In 1911 the mill burned down, in August"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.days import (
    HOLIDAY,
    MONTH,
    MONTH_NAME,
    ORDINAL,
    Period,
    When,
    count_of,
    holiday,
    season_of,
    single,
    whole_year,
)
from goalmem_cli.logic.relative import DAY, PART, SEASON, Expression
from goalmem_cli.logic.scene import Scene, Tense

_NUMBER = rf"(?:{ORDINAL}|[0-3]?\d)"
_YEARLY = late(
    (
        rf"(?P<early>{PART}(?: in| on)? )?(?:(?:in|during|over|throughout|at|on) )?(?:the )?(?:"
        rf"(?P<day>{_NUMBER})(?: of)? (?P<month>{MONTH_NAME})|(?P<month2>{MONTH_NAME}) (?:the )?(?P<day2>{_NUMBER})"
        rf"|(?P<alone>{MONTH_NAME})|(?P<season>{SEASON})(?:time)?|(?P<feast>{HOLIDAY}))"
    ).replace(" ", r"[\s,.-]+")
)
_WEEKDAY = late(rf"(?:on\s+(?:the\s+)?)?{DAY}(?:\s+(?:morning|afternoon|evening|night))?")
_ANY_YEAR = late(
    r"(?<![\w'.,:/$€£-])(?:(?:1[89]|20)\d\d|(?<=of )1[5-7]\d\d|(?<=from )1[5-7]\d\d|(?<=in )1[5-7]\d\d)"
    r"(?![\w%$€£]|[.,:]\d|\s+(?:people|euros|pounds|dollars|miles|steps|words|kilometres|metres|feet))"
)
_RELATIVE_YEAR = late(r"(?:in\s+)?(?:last|next)\s+year|(?:in\s+)?(?:\w+|\d+)\s+years?\s+ago")
_OPEN_LEADS = frozenset("since until till by before after than from to past".split())
_PAPERS = (
    r"(?:register|registry|diary|diaries|letters?|ledger|minutes|books?|notebook|accounts?|rolls?|newspaper|gazette|census|deeds?|"
    r"records?|log ?book|journal|chronicle|inscription|gravestone|tombstone|document|archives?|postcard|certificate|"
    r"almanac|bible|charter|manuscript|clipping|report|programme|"
    r"catalogue|entry|entries|photo|photograph)s?"
)
_PAPER = late(rf"\b{_PAPERS}\b")
_OLD_PAPER = late(rf"\b(?:old|undated|ancient|yellowed|faded|medieval|victorian)\b(?:\W+\w+){{0,2}}?\W+{_PAPERS}\b")
_WRITES = late(
    r"\b(?:he|she|it|they)\s+(?:\w+ly\s+)?(?:writes?|says?|notes?|records?|reads?|mentions?|tells?|lists?)\b"
)
_OF_NOUN = late(r"\b(?:of|from|dated|for)\s+(?:the\s+year\s+)?\Z")
_BEFORE_NOUN = late(r"(?:the|a|an|our|this|that|my|your|his|her|their|old)\s+\Z")
_CLAUSE = late(r"[,;:]|\b(?:and|but|so|because|which|who)\b")
_SAYS = late(r"\b(?:that|says?|reads?|has (?:him|her|it|them)|names?|shows?|lists?|tells?|mentions?)\b")
_SELF = late(r"\b(?:i|we|you|i'm|i've|we've|we're)\b")
_AHEAD = late(r"\b(?:will|going to|gonna|shall)\b|'ll\b")
_OTHER_YEAR = late(
    r",?\s+(?:of\s+)?(?:(?:\w+|\d+)\s+years?\s+(?:later|earlier|before|after)|the\s+(?:next|following|previous)\s+year|"
    r"the\s+year\s+(?:before|after))\b"
)
_OLD = 5  # years: a story about a year at least this old goes on in that year in the next sentence
_NEAR = 25  # characters


class _Use(Enum):
    """The role of a year in its sentence: it dates the event, or it belongs to a document or to another thing."""

    TIME = "time"
    PAPER = "paper"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class _Year:
    """A year that a sentence names, with its position and its role."""

    start: int
    end: int
    year: int
    use: _Use


def in_own_year(found: Sequence[Expression], scene: Scene) -> list[Expression]:
    """Return the expressions; those without a year get the year of their own sentence if it dates them.

    If it only may date them, or the text right before tells of an older document or year, they are marked as not clear.
    """
    if not scene.is_timed:
        return list(found)
    return [_dated(each, found, scene) for each in found]


def _dated(each: Expression, found: Sequence[Expression], scene: Scene) -> Expression:
    """Return the expression; its period in the year that its sentence or the text before names is the first reading.

    If the year only may date it, the expression is marked as not clear; if none does, it is returned unchanged.
    """
    if each.is_plain:
        return each
    yearly = _YEARLY.fullmatch(scene.folded, each.start, each.end)
    is_weekday = _WEEKDAY.fullmatch(scene.folded, each.start, each.end) is not None
    if yearly is None and not is_weekday:
        return each
    years = [year for year in _years(each, found, scene) if year.end <= each.start or year.start >= each.end]
    if not years:
        return _gone_on(each, yearly, scene)
    if _OTHER_YEAR.match(scene.folded, each.end):
        return replace(each, is_clear=False)
    nearest = min(years, key=lambda year: (year.start > each.start, abs(each.start - year.end)))
    holds = _holds(nearest, each, scene)
    if holds is False or (is_weekday and nearest.year == scene.day.year):
        return each
    if holds is None or is_weekday or yearly is None:
        return replace(each, is_clear=False)
    period = _of_year(yearly, each, nearest, scene)
    return replace(each, is_clear=False) if period is None else replace(each, readings=(period, *each.readings))


def _years(each: Expression, found: Sequence[Expression], scene: Scene) -> list[_Year]:
    """Return the years that are named in the sentence of the expression."""
    left, right = scene.sentence(each.start, each.end)
    named = [
        _Year(match.start(), match.end(), int(match[0]), _use(match.start(), match.end(), scene))
        for match in _ANY_YEAR.finditer(scene.folded, left, right)
        if scene.word_before(match.start()) not in _OPEN_LEADS or _PAPER.search(scene.folded, left, match.start())
    ]
    for other in found:
        if left <= other.start < right and _RELATIVE_YEAR.fullmatch(scene.folded, other.start, other.end):
            first = other.readings[0].first.year
            if other.readings[0] == whole_year(first):
                named.append(_Year(other.start, other.end, first, _Use.TIME))
    return named


def _use(start: int, end: int, scene: Scene) -> _Use:
    """Return how a year is used: as a time, for a document, or for another thing."""
    left, right = scene.sentence(start, end)
    before = scene.folded[left:start]
    of = _OF_NOUN.search(before)
    if of is not None:
        if re.search(rf"\b(?:{SEASON}|{MONTH_NAME})\s+of\s+\Z", before):
            return _Use.TIME
        return _Use.PAPER if _PAPER.search(before[max(0, of.start() - 40) : of.start()]) else _Use.THING
    if _BEFORE_NOUN.search(before) and re.match(r"\s+[a-z]", scene.folded[end:right]):
        return _Use.PAPER if _PAPER.match(scene.folded, end + 1) or _PAPER.search(
            scene.folded, end, min(right, end + 25)
        ) else _Use.THING  # fmt: skip
    return _Use.TIME


def _holds(year: _Year, each: Expression, scene: Scene) -> bool | None:
    """Say whether the year dates the expression; None if it only may."""
    tense, now = scene.tense(each.start, each.end), scene.day.year
    left, right = scene.sentence(each.start, each.end)
    breaks = [match.end() for match in _CLAUSE.finditer(scene.folded, left, each.start)]
    clause = scene.folded[max([left, *breaks]) : right]
    if (year.year < now and _AHEAD.search(clause)) or (year.year > now and tense is Tense.PAST):
        return False
    if year.use is _Use.TIME:
        return _holds_as_time(year, each, scene, tense)
    is_own = _SELF.search(clause) is not None
    if year.start > each.start:
        return False if is_own else None
    between = scene.folded[year.end : each.start]
    if is_own:
        return None if not _CLAUSE.search(between) or _SAYS.search(between) else False
    if year.use is _Use.PAPER or year.year > now:
        return True
    return None


def _holds_as_time(year: _Year, each: Expression, scene: Scene, tense: Tense) -> bool | None:
    """Say whether a year holds for an expression; None if that is unclear."""
    if year.year < scene.day.year and (tense is Tense.FUTURE or scene.is_present(each.start, each.end)):
        return False
    if year.start > each.start:
        between = scene.folded[each.end : year.start]
        return True if len(between) <= _NEAR and scene.tense(each.end, year.start) is tense else None
    return True


def _gone_on(each: Expression, yearly: re.Match[str] | None, scene: Scene) -> Expression:
    """Return the expression, dated or marked as not clear if its sentence may continue a story about an older year.

    "In it she writes" continues with the document, so its year holds. Other sentences only may continue.
    """
    left, right = scene.sentence(each.start, each.end)
    start = max([left, *(match.end() for match in _CLAUSE.finditer(scene.folded, left, each.start))])
    written = _WRITES.search(scene.folded, start, right)
    told = scene.folded[:start].strip() or (scene.before.folded if scene.before is not None else "")
    if written and _OLD_PAPER.search(told):
        return replace(each, is_clear=False)
    if scene.tense(each.start, each.end) is Tense.FUTURE or _SELF.search(scene.folded, start, right):
        return each
    years = [match for match in _ANY_YEAR.finditer(told) if not _is_open(told, match.start())]
    old = [match for match in years if int(match[0]) <= scene.day.year - _OLD]
    if not old:
        return each
    year = _Year(0, 0, int(old[-1][0]), _Use.PAPER)
    if written and yearly is not None and _PAPER.search(told) and (period := _of_year(yearly, each, year, scene)):
        return replace(each, readings=(period, *each.readings))
    return replace(each, is_clear=False)


def _is_open(told: str, start: int) -> bool:
    words = re.findall(r"[a-z]+", told[max(0, start - 16) : start])
    return bool(words) and words[-1] in _OPEN_LEADS and not _PAPER.search(told[:start])


def _of_year(yearly: re.Match[str], each: Expression, named: _Year, scene: Scene) -> Period | None:
    """Return the period of the expression in that year; None if a story that begins late in it may have gone on."""
    year, groups = named.year, yearly.groupdict()
    if groups["early"]:
        best = each.readings[0]
        shift = year - best.first.year
        return Period(best.first.replace(year=best.first.year + shift), best.last.replace(year=best.last.year + shift))
    if groups["feast"]:
        day = holiday(groups["feast"], year)
        return None if day is None else single(day)
    if groups["season"]:
        return season_of(year, groups["season"])
    month = MONTH[groups["month"] or groups["month2"] or groups["alone"]]
    written = groups["day"] or groups["day2"]
    begun = re.search(rf"\b({MONTH_NAME})\s+\Z", scene.folded[max(0, named.start - 16) : named.start])
    if begun is not None and month < MONTH[begun[1]]:
        return None
    return When(year, month, count_of(written) if written else None).within(year)
