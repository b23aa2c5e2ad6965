"""Compound time expressions: "the Friday before Christmas", "the end of last month", "since Monday".

`expressions` returns every possible reading, for checks that ask whether a date can be meant. `spoken` returns the best
reading of each expression, for display.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.around.counted import counted
from goalmem_cli.logic.around.doubts import cleared
from goalmem_cli.logic.around.own_year import in_own_year
from goalmem_cli.logic.around.pairs import listed_days, paired
from goalmem_cli.logic.around.trips import is_year, placed
from goalmem_cli.logic.days import (
    DAYS_PER,
    MONTH,
    MONTH_NAME,
    ORDINAL,
    WEEKDAY,
    Period,
    When,
    count_of,
    month_of,
    moved,
    season_of,
    single,
    week_of,
    weekday_near,
    weekend_of,
    when_of,
    written_dates,
)
from goalmem_cli.logic.readings import DOUBTFUL_MONTHS, amount, nth_within, part_within, unit_of
from goalmem_cli.logic.relative import ABOUT, COUNT, DAY, FULL_DAY, NTH, PART, SEASON, UNIT, Bound, Expression, matches
from goalmem_cli.logic.scene import Scene, Tense

_REACH = 64  # characters: how far before an expression its compound can begin


def expressions(scene: Scene, *, is_loose: bool = False) -> list[Expression]:
    """Return every time expression in the text, alone and in compounds, unordered; they may overlap.

    If the time of speaking is unknown, only dates with a year and times counted from them are returned. With
    `is_loose`, words that may not be about time are read as times too.
    """
    simple = [*_written(scene), *(matches(scene, is_loose=is_loose) if scene.is_timed else ())]
    return [grown for found in simple for grown in _grown(found, scene)]


def spoken(scene: Scene) -> list[Expression]:
    """Return the certain time expressions of the text in order, without overlaps (the longest wins), with their bounds.

    The words around them and the text said right before decide between their readings.
    """
    earlier = [found for found in spoken(scene.before) if not is_year(found)] if scene.before is not None else []
    kept: list[Expression] = []
    for found in sorted(expressions(scene), key=lambda item: (item.start, -item.end)):
        if found.is_certain and (not kept or found.start >= kept[-1].end):
            kept.append(_with_daytime(found, scene))
    dated, of_pairs = paired(in_own_year(kept, scene), scene)
    bound = [_with_bound(found, scene) for found in _joined(dated, scene) if found.is_certain]
    there, of_trips, strange = placed(counted(bound, scene, earlier), scene, earlier)
    return cleared(there, scene, of_pairs | of_trips, strange)


# Written dates

_JOIN = r"\s*(?:to|through|until|till|-|–)\s*"
_JOIN_MONTHS = r"\s*(?:to|through|until|till|and|-|–)\s*"
_TO_DAY = rf"{_JOIN}(?:the\s+)?(?P<to>{ORDINAL}|[0-3]?\d)"
_OF_YEAR = r"(?: (?P<year>(?:1[89]|20|21)\d\d))?\b"
_DAYS_OF_MONTH = tuple(
    late(form.replace(" ", r"[\s,.-]+"))
    for form in (
        rf"\b(?<!\d\s)(?<!\d(?:st|nd|rd|th)\s)(?P<month>{MONTH_NAME}) (?P<day>{ORDINAL}|[0-3]?\d){_TO_DAY}{_OF_YEAR}",
        rf"\b(?:the )?(?P<day>{ORDINAL}|[0-3]?\d){_TO_DAY} (?:of )?(?P<month>{MONTH_NAME}){_OF_YEAR}",
    )
)
_MONTHS_OF_YEAR = late(
    rf"\b(?:from|between)\s+(?P<month>{MONTH_NAME}){_JOIN_MONTHS}(?P<to>{MONTH_NAME})(?:\s+(?P<year>(?:1[89]|20|21)\d\d))?\b"
)
_HINT = late(r"(?:1[89]|20|21)\d\d")
_SEASON_OF_YEAR = late(rf"\b(?:the\s+)?(?P<season>{SEASON})(?:\s+of)?\s+(?P<year>(?:1[89]|20|21)\d\d)\b")
_MONTH_LEADS = frozenset(
    "in during throughout since until till by around early mid late through last next this".split()
)
_PLAIN_MONTHS = frozenset("january february july september october november december".split())


def _written(scene: Scene) -> Iterator[Expression]:
    """Yield the dates, seasons and spans of days that are written in the text."""
    if not _HINT.search(scene.folded) and scene.words.isdisjoint(MONTH):
        return
    for match in _SEASON_OF_YEAR.finditer(scene.folded):
        season = season_of(int(match["year"]), match["season"])
        yield Expression(*match.span(), (season,), is_plain=True)
    yield from listed_days(scene)
    spans = ((_MONTHS_OF_YEAR, _months_of_year), *((form, _days_of_month) for form in _DAYS_OF_MONTH))
    for form, read in spans:
        for match in form.finditer(scene.folded):
            if readings := read(match, scene):
                yield Expression(*match.span(), tuple(readings), is_plain=match["year"] is not None)
    for written in written_dates(scene.folded):
        when = written.when
        if when.year is not None:
            if (period := when.within(when.year)) is not None:
                yield Expression(written.start, written.end, (period,), is_plain=True)
        elif scene.is_timed:
            yield from _yearless(written.start, written.end, when, scene)


def _months_of_year(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "from November to March"; a year written after it is the year of the end."""
    first, last = MONTH[match["month"]], MONTH[match["to"]]
    years = [int(match["year"])] if match["year"] else range(scene.day.year - 1, scene.day.year + 3)
    spans = [Period(month_of(year - (first > last), first).first, month_of(year, last).last) for year in years]
    return scene.nearest(spans, scene.yearly_tense(*match.span())) if match["year"] or scene.is_timed else []


def _days_of_month(match: re.Match[str], scene: Scene) -> list[Period]:
    """Return the readings of a span of days in a month."""
    when, until = when_of(match), count_of(match["to"])
    if when is None or when.day is None or until <= when.day:
        return []
    years = [when.year] if when.year else range(scene.day.year - 1, scene.day.year + 2) if scene.is_timed else []
    starts = [start for year in years if (start := when.within(year)) is not None]
    last = [month_of(start.first.year, start.first.month).last.day for start in starts]
    spans = [
        Period(start.first, start.first.replace(day=until))
        for start, most in zip(starts, last, strict=True)
        if until <= most
    ]
    return scene.nearest(spans, scene.yearly_tense(*match.span()))


def _yearless(start: int, end: int, when: When, scene: Scene) -> Iterator[Expression]:
    """Yield a date without a year, in the nearest year that fits the tense."""
    if scene.is_long_ago(start, end):
        return
    years = (scene.day.year + shift for shift in (-1, 0, 1))
    periods = [period for year in years if (period := when.within(year)) is not None]
    readings = scene.nearest(periods, scene.yearly_tense(start, end))
    if readings:
        is_certain = _is_surely_date(scene, start, end, when)
        yield Expression(start, end, tuple(readings), is_certain=is_certain)


def _is_surely_date(scene: Scene, start: int, end: int, when: When) -> bool:
    """Say whether the words must be a date: "may", "march" or "april" can also be a verb or a name."""
    words = scene.folded[start:end]
    name = next((part for part in re.findall(r"[a-z]+", words) if part in DOUBTFUL_MONTHS), None)
    is_doubtful = name is not None and not scene.text[start + words.index(name)].isupper()
    if when.day is not None:
        return not is_doubtful or bool(re.search(r"\d(?:st|nd|rd|th)\b", words))
    return not is_doubtful and (scene.word_before(start) in _MONTH_LEADS or words in _PLAIN_MONTHS)


# Compounds: recognised by the words before an expression

_BLANK = r"[\s-]+"


def _before(pattern: str) -> re.Pattern[str]:
    return late(rf"(?<![\w'])(?:{pattern})(?:{_BLANK}the)?{_BLANK}\Z".replace(" ", _BLANK))


_OFFSET = _before(
    rf"(?:(?:the |last )?(?P<one>week|weekend|day|night|morning|evening|month|year|{FULL_DAY})|"
    rf"(?:{ABOUT} )?(?P<count>{COUNT}) (?P<unit>{UNIT}|{FULL_DAY}s?)) (?P<side>before|prior to|after|following|from)"
)
_SPAN_FROM = _before(rf"(?:{ABOUT} )?(?P<count>{COUNT}) (?P<unit>(?:day|night|week)s) from")
_OF_WEEK = _before(r"(?:the )?(?P<part>week|weekend) of")
_OF_DAY = _before(r"(?:the )?(?:day|night|morning|evening|afternoon|eve) of")
_NTH = _before(rf"{NTH} (?:of|in)(?: the month of)?")
_PART = _before(rf"{PART}(?: in| on)?")
_IN = _before("in|during|throughout")
_WEEKDAY_BESIDE = late(rf"(?<![\w'])(?:on\s+)?(?P<day>{DAY})(?:\s*,\s*|\s+)(?:the\s+)?\Z")


_Read = Callable[[re.Match[str], Period], Iterable[Period]]


@dataclass(frozen=True, slots=True)
class _Form:
    """A pattern of words before an expression that makes a compound of it, and how to read the compound.

    `is_sure`: the words leave no doubt that it is about time. `is_plain`: a date with its year stays as plain as
    before. `is_counted`: the expression is only counted from and does not also mean itself. `anchor`: a pattern that
    the expression must match.
    """

    pattern: re.Pattern[str]
    read: _Read
    is_sure: bool = False
    is_plain: bool = False
    is_counted: bool = False
    anchor: re.Pattern[str] | None = None


def _grown(simple: Expression, scene: Scene, depth: int = 2) -> Iterator[Expression]:
    """Yield the expression and the compounds that it makes with the words before it, up to `depth` levels."""
    left = scene.folded[max(0, simple.start - _REACH) : simple.start]
    is_itself = True
    for form in _FORMS if depth and left else ():
        is_anchored = form.anchor is None or form.anchor.search(scene.folded, simple.start, simple.end)
        if is_anchored and (match := form.pattern.search(left)):
            readings = tuple(found for reading in simple.readings for found in _safely(form.read, match, reading))
            if readings:
                start = simple.start - len(left) + match.start()
                is_plain, is_certain = simple.is_plain and form.is_plain, simple.is_certain or form.is_sure
                compound = Expression(start, simple.end, readings, is_plain=is_plain, is_certain=is_certain)
                yield from _grown(compound, scene, depth - 1)
                is_itself = is_itself and not (form.is_counted and len(simple.readings) == 1 and not simple.is_plain)
    if is_itself:
        yield simple


def _safely(read: _Read, match: re.Match[str], period: Period) -> list[Period]:
    try:
        return list(read(match, period))
    except (ValueError, OverflowError):
        return []  # outside the calendar, or no such day


def _counted_from(match: re.Match[str], anchor: Period) -> Iterator[Period]:
    """Read "two days after", "the week before", "the Friday before" counted from the anchor."""
    sign = -1 if match["side"].startswith(("before", "prior")) else 1
    if match["side"] == "from" and not match["count"]:
        return
    edge = anchor.first if sign < 0 else anchor.last
    low, high = amount(match["count"] or "")
    unit = unit_of(match["unit"] or match["one"])
    if unit in WEEKDAY:
        yield single(weekday_near(edge, WEEKDAY[unit], sign * int(low)))
        return
    if match["count"] is None and unit == "weekend":
        yield weekend_of(edge, -1 if sign < 0 else int(edge.weekday() > 4))
    if match["count"] is None and unit == "week":
        yield week_of(edge, sign)
        yield Period(*sorted((edge + timedelta(days=sign), edge + timedelta(days=7 * sign))))
    found = moved(edge, sign * low, sign * high, unit)
    yield from reversed(found) if match["side"] == "from" else found


def _span_from(match: re.Match[str], anchor: Period) -> Iterator[Period]:
    """Read "four days from Friday the 13th", which gives a length and a start."""
    low, _ = amount(match["count"])
    nights = int(low) if match["unit"] == "nights" else int(low * DAYS_PER[unit_of(match["unit"])]) - 1
    if anchor.days == 1 and nights > 0:
        yield Period(anchor.first, anchor.first + timedelta(days=nights))


def _around_day(match: re.Match[str], anchor: Period) -> Iterator[Period]:
    """Read "the week of" and "the weekend of" a day."""
    yield week_of(anchor.first) if match["part"] == "week" else weekend_of(anchor.first)


def _on_weekday(match: re.Match[str], day: Period) -> Iterator[Period]:
    """Keep the day only if it is the named weekday ("Friday, 5 July")."""
    if day.days == 1 and day.first.weekday() == WEEKDAY[match["day"]]:
        yield day


_FORMS = (
    _Form(_SPAN_FROM, _span_from, anchor=late(r"\d")),
    _Form(_OFFSET, _counted_from, is_counted=True),
    _Form(_OF_WEEK, _around_day),
    _Form(_OF_DAY, lambda _, day: [day] if day.days < 4 else [], is_plain=True),
    _Form(_NTH, nth_within, is_sure=True),
    _Form(_PART, part_within, is_sure=True, is_plain=True),
    _Form(_IN, lambda _, period: [period] if period.days >= 28 else [], is_plain=True),
    _Form(_WEEKDAY_BESIDE, _on_weekday, is_plain=True),
)


# The words around an expression in its sentence

_DAYTIME = late(
    r",?\s+(?:(?:early|late)\s+)?(?:in\s+the\s+(?:early\s+|late\s+)?)?(?:morning|afternoon|evening|night)(?!\w)"
)
_BOUND = late(
    r"(?<![\w'])(?P<word>(?:ever\s+)?since|(?:right\s+|just\s+|shortly\s+|soon\s+)?(?:before|after)|prior\s+to|"
    r"(?:up\s+)?until|till|by|no\s+later\s+than|starting|beginning)(?:\s+(?:about|around|the|on|in|from))*\s+\Z"
)
_BOUNDS = {
    "since": Bound.SINCE, "starting": Bound.SINCE, "beginning": Bound.SINCE, "before": Bound.BEFORE,
    "to": Bound.BEFORE, "after": Bound.AFTER, "until": Bound.UNTIL, "till": Bound.UNTIL, "by": Bound.UNTIL,
    "than": Bound.UNTIL,
}  # fmt: skip
_CALLING = frozenset("stop stopped come came comes coming drop dropped swing swung pass passed go went going".split())
_BEING = frozenset("am are is be been was were i'm we're you're they're he's she's it's not".split())
_FROM = late(r"(?<![\w'])(?P<word>from|between)\s+(?:the\s+)?\Z")
_MOVED = late(r"\b(?:moved?|moving|shift(?:ed)?|chang(?:ed?|ing)|postponed?|switch(?:ed)?|push(?:ed)?)\b[^.!?;,]*\Z")
_TO = late(r"\s*(?:to|until|till|through|thru|and|-|–)\s*(?:the\s+)?")


def _with_daytime(found: Expression, scene: Scene) -> Expression:
    if found.readings[0].days == 1 and (match := _DAYTIME.match(scene.folded, found.end)):
        return replace(found, end=match.end())
    return found


def _joined(kept: list[Expression], scene: Scene) -> list[Expression]:
    """Return the expressions with "from Monday to Friday" as one; it is not certain if it may be a habit."""
    result: list[Expression] = []
    for found in kept:
        joined = _range(result[-1], found, scene) if result else None
        result[-1:] = [joined] if joined else [*result[-1:], found]
    return result


def _range(left: Expression, right: Expression, scene: Scene) -> Expression | None:
    """Return the span between two times, None if the words between them make none."""
    lead = _FROM.search(scene.folded[max(0, left.start - _REACH) : left.start])
    between = scene.folded[left.end : right.start]
    has_weekdays = all(scene.folded[day.start : day.end].removeprefix("on ") in WEEKDAY for day in (left, right))
    has_dates = all(re.search(r"\d", scene.folded[day.start : day.end]) for day in (left, right))
    is_between = lead is not None and lead["word"] == "between"
    if lead and _MOVED.search(scene.folded, max(0, left.start - _REACH), left.start - len(lead[0])):
        return None
    if not (lead or has_weekdays or has_dates) or not _TO.fullmatch(between) or ("and" in between) != is_between:
        return None
    pair = _pair(left.readings, right.readings, scene.day)
    if pair is None:
        return None
    start = left.start - len(lead[0] if lead else "")
    is_plain = left.is_plain and right.is_plain
    is_certain = not has_weekdays or scene.tense(start, right.end) is not Tense.OPEN
    return Expression(start, right.end, (pair,), is_plain=is_plain, is_certain=is_certain)


def _pair(starts: Sequence[Period], ends: Sequence[Period], today: date) -> Period | None:
    """Return the period from a start to an end: the end decides if it is past, otherwise the start does."""
    if ends[0].last < today:
        before = [start.first for start in starts if start.first <= ends[0].last]
        return Period(max(before), ends[0].last) if before else None
    after = [end.last for end in ends if end.last >= starts[0].first]
    return Period(starts[0].first, min(after)) if after else None


def _with_bound(found: Expression, scene: Scene) -> Expression:
    """Return the expression with the bound that the word before it sets: since, before, until ..."""
    offset = max(0, found.start - _REACH)
    match = _BOUND.search(scene.folded[offset : found.start])
    if match is None or found.bound is not Bound.ON:
        return found
    word, start = match["word"].split()[-1], offset + match.start()
    before = scene.word_before(start)
    if (word == "by" and before in _CALLING) or (word in ("starting", "beginning") and before in _BEING):
        return found
    return replace(found, start=start, bound=_BOUNDS[word])
