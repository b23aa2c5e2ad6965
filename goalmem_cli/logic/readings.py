"""Meanings of relative time expressions, as periods seen from the time of speaking, best first.

Each function reads the match of one pattern of `relative.py`, using its named groups. An empty result means that the
words are not about time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.days import (
    MONTH,
    SEASONS,
    WEEKDAY,
    Period,
    count_of,
    month_of,
    moved,
    nth_parts,
    part_of,
    season_of,
    shift_months,
    single,
    week_of,
    weekday_near,
    weekend_of,
    whole_year,
    yearly,
)
from goalmem_cli.logic.normal import numbers
from goalmem_cli.logic.scene import Scene, Tense

FEW, SEVERAL = (2, 5), (3, 7)
STEPS = {
    "last": -1, "past": -1, "this past": -1, "this last": -1, "previous": -1, "this": 0, "next": 1, "coming": 1,
    "this coming": 1, "upcoming": 1, "this upcoming": 1, "following": 1,
}  # fmt: skip
_UNITS = {"hr": "hour", "min": "minute", "wk": "week", "yr": "year"}
HOURS = frozenset({"hour", "minute"})
_DOUBTFUL_DAYS = frozenset({"mon", "wed", "sat", "sun"})
_SATURDAY = 5
_EVENING = 17  # o'clock
_TONIGHT = late(r"\s+(?:evening|night)\b")
_EARLIEST = 7  # in the morning: "at 5" means the afternoon
_CLOCK = late(
    r",?\s+(?:morning\s+|afternoon\s+|evening\s+|night\s+)?(?:at|around|from|by|@)\s+(?:about\s+)?(?:"
    r"(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d))?\s*(?:(?P<half>[ap])\.?m\b)?(?![\d:]|\.\d|\s*[%$])"
    r"|(?P<word>noon|midday|midnight)\b)"
)
DOUBTFUL_MONTHS = frozenset({"may", "march", "mar"})


def amount(text: str) -> tuple[float, float]:
    """Return the least and the most that a count can mean: "two", "a couple of", "a few", "two or three", "half a"."""
    if "few" in text:
        return FEW
    if "several" in text:
        return SEVERAL
    if "couple" in text:
        return 2, 2
    if "hundred" in text:
        return 100, 100
    if text.startswith("half"):
        return 0.5, 0.5
    found = numbers(text) or (1.0,)
    return found[0], max(found[0], found[-1])


def unit_of(text: str) -> str:
    """Return the unit of time in its basic form: hrs -> hour."""
    return _UNITS.get(text.rstrip("s"), text.rstrip("s"))


def from_day(scene: Scene, count: tuple[float, float], unit: str, sign: int) -> list[Period]:
    """Return what "`count` units after the time of speaking" can mean; before it if `sign` is -1.

    Hours, weekdays and seasons use only the least count.

    Raises:
        ValueError, OverflowError: hours, weekdays or seasons lead outside the calendar.
    """
    low, high = count
    if unit in HOURS:
        gone = timedelta(**{f"{unit}s": low})
        return [single((scene.said + sign * gone).date())]
    if unit in WEEKDAY:
        return [single(weekday_near(scene.day, WEEKDAY[unit], sign * int(low)))]
    if unit in SEASONS:
        seasons = [season_of(scene.day.year + shift, unit) for shift in range(-int(low) - 1, int(low) + 2)]
        if sign < 0:
            return [[season for season in seasons if season.last < scene.day][-int(low)]]
        return [[season for season in seasons if season.first > scene.day][int(low) - 1]]
    return moved(scene.day, sign * low, sign * high, unit)


def fixed(shift: int) -> Callable[[re.Match[str], Scene], list[Period]]:
    """Return a reader for words that mean the day `shift` days after the day of speaking."""
    return lambda _, scene: [single(scene.day + timedelta(days=shift))]


def ago(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "three weeks ago", "a year and a half ago", "two Fridays ago"."""
    low, high = amount(match["count"])
    if match["more"] == "two":
        high = 2
    if match["half"]:
        return moved(scene.day, -12 * low - 6, -12 * low - 6, "month") if match["unit"][0] == "y" else []
    found = from_day(scene, (low, high), unit_of(match["unit"]), -1)
    if match["exact"]:
        return [single(found[-1].first - timedelta(days=int(match["exact"] == "yesterday")))]
    return found


def ago_on(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "two weeks ago on Friday"."""
    low, _ = amount(match["count"])
    week = week_of(scene.day, -int(low))
    return [single(week.first + timedelta(days=WEEKDAY[match["day"]]))]


def ahead(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "two weeks from now"."""
    return from_day(scene, amount(match["count"]), unit_of(match["unit"]), 1)


def stepped(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "last Friday", "this month", "next summer", "the coming weekend"."""
    step, name = STEPS[re.sub(r"[\s-]+", " ", match["step"])], match["name"]
    start = match.start("name")
    is_possessive = step and scene.word_before(match.start()) in {
        "my",
        "his",
        "her",
        "their",
        "your",
        "the",
        "our",
        "at",
    }
    if is_possessive and not match["the"] and not scene.folded.startswith("'s ", match.end()):
        return []
    if name in _DOUBTFUL_DAYS | DOUBTFUL_MONTHS and not scene.text[start].isupper():
        return []
    if "coming" in match["step"] and name == "weekend" and scene.day.weekday() < 5:
        step = 0
    is_yearly = name in SEASONS or name in MONTH or bool(yearly(name, scene.day.year))
    tense = scene.yearly_tense(*match.span()) if is_yearly else scene.tense(*match.span())
    if name in WEEKDAY and tense is Tense.OPEN:
        tense = Tense.FUTURE  # "Someone cancelled. This Friday!"
    return list(nearby(name, step, scene, tense))


def nearby(name: str, step: int, scene: Scene, tense: Tense = Tense.OPEN) -> Iterator[Period]:
    """Yield the meanings of "last", "this" or "next" with that name (step -1, 0, 1); step 2 is "after next"."""
    day = scene.day
    if name in WEEKDAY:
        yield single(_nearby_weekday(WEEKDAY[name], step, scene, tense))
    elif name == "day":
        yield single(day + timedelta(days=step))
    elif name == "week":
        yield week_of(day, step)
    elif name == "weekend":
        yield weekend_of(day, -1 if not step and tense is Tense.PAST and day.weekday() < 5 else step)
    elif name == "month":
        yield month_of(day.year, day.month + step)
    elif name == "year":
        yield whole_year(day.year + step)
    elif name == "decade":
        first = (day.year // 10 + step) * 10
        yield Period(whole_year(first).first, whole_year(first + 9).last)
    else:
        yield from _nearby_yearly(yearly(name, day.year), step, scene, tense)


def _nearby_weekday(weekday: int, step: int, scene: Scene, tense: Tense) -> date:
    """Return the day of a weekday near the scene, by step or tense."""
    if step:
        return weekday_near(scene.day, weekday, step)
    day = week_of(scene.day).first + timedelta(days=weekday)
    if tense is Tense.PAST and day > scene.day:
        return day - timedelta(days=7)
    return day + timedelta(days=7) if tense is Tense.FUTURE and day < scene.day else day


def _nearby_yearly(periods: list[Period], step: int, scene: Scene, tense: Tense) -> Iterator[Period]:
    """Yield the periods that a yearly time may mean, the likeliest first."""
    day = scene.day
    if step < 0:
        yield [period for period in periods if period.last < day][step]
    elif step > 0:
        yield [period for period in periods if period.first > day][step - 1]
    elif tense is not Tense.OPEN:
        yield scene.nearest(periods, tense)[0]
    else:
        yield from [period for period in periods if period.first <= day <= period.last]
        yield next(period for period in periods if period.first.year == day.year)


def beside_last(match: re.Match[str], scene: Scene) -> Iterator[Period]:
    """Read "the week before last", "the Friday after next"."""
    return nearby(match["name"], -2 if match["side"].startswith("before") else 2, scene)


def part_of_this(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "earlier this week" and "later this year": the part before or after the day of speaking."""
    (whole,) = list(nearby(match["name"], 0, scene))[:1]
    if not whole.first <= scene.day <= whole.last:
        return [whole]
    return [Period(whole.first, scene.day) if match["part"] == "earlier" else Period(scene.day, whole.last)]


def same_time(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "this time last year"."""
    step = STEPS[match["step"]]
    if match["name"] == "year":
        return [month_of(scene.day.year + step, scene.day.month)]
    return [single(shift_months(scene.day, step) if match["name"] == "month" else scene.day + timedelta(days=7 * step))]


def day_of_week(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "Friday last week", "next week on Tuesday", "on Tuesday of the week after next"."""
    step = {"before last": -2, "after next": 2, **STEPS}[match["step"]]
    return [single(week_of(scene.day, step).first + timedelta(days=WEEKDAY[match["day"]]))]


def part_of_year(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "March last year", "next year in June", "the summer of last year", "Easter this year"."""
    name, year = match["name"], scene.day.year + STEPS[match["step"]]
    return [found for found in yearly(name, year) if found.first.year == year]


def the_weekend(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "over the weekend"; the tense decides which."""
    tense = Tense.PAST if match[0].startswith("had") else scene.tense(*match.span())
    return weekends_near(scene, [weekend_of(scene.day, weeks) for weeks in (-1, 0, 1)], tense)


def weekends_near(scene: Scene, weekends: list[Period], tense: Tense) -> list[Period]:
    """Return the weekends, best for the tense first; on a Saturday, the current one is not past."""
    if tense is Tense.PAST and scene.day.weekday() == _SATURDAY:
        weekends = [each for each in weekends if each.last <= scene.day]
    return scene.nearest(weekends, tense)


_NO_DATE_BEFORE = frozenset(
    "the every each any most some following that same black good ash casual freaky a an no other many per of holy palm "
    "super cyber shrove fat taco throwback".split()
)


_IT_IS = late(r"\b(?:it's|it is|today's|happy)\s+(?:\w+ly\s+|already\s+|just\s+)?\Z")


def weekday(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "on Friday" by its tense; skip "every Friday" and short names that may be other words."""
    name = match["name"]
    if scene.word_before(match.start()) in _NO_DATE_BEFORE | _DOUBTFUL_DAYS:
        return []  # also in "Mon-Fri"
    if name in _DOUBTFUL_DAYS | {"thu"} and not (match["on"] and scene.text[match.start("name")].isupper()):
        return []
    if scene.is_habit(*match.span(), scene.tense(*match.span())):
        return []
    tense = scene.day_tense(*match.span())
    is_named = scene.is_of_today or _IT_IS.search(scene.folded, max(0, match.start() - 24), match.start())
    if match["on"] is None and WEEKDAY[name] == scene.day.weekday() and is_named:
        return [single(scene.day)]
    own = tense if scene.is_answer else scene.tense(*match.span())
    if own is not Tense.PAST and (clock := _CLOCK.match(scene.folded, match.end())):
        first = scene.day + timedelta(days=int(_has_struck(clock, scene)))
        return [single(first + timedelta(days=(WEEKDAY[name] - first.weekday()) % 7))]
    is_ahead = scene.tense(*match.span()) is Tense.FUTURE or scene.is_present(*match.span())
    is_over = is_ahead and scene.said.hour >= _EVENING and not _TONIGHT.match(scene.folded, match.end())
    is_today_allowed = match["on"] is None and tense is not Tense.PAST and not is_over
    return _weekdays_near(name, scene, tense, is_today_allowed=is_today_allowed)


def _has_struck(clock: re.Match[str], scene: Scene) -> bool:
    """Say whether the named time of day has passed; a bare hour up to seven is in the afternoon."""
    if clock["word"]:
        return scene.said.hour >= {"noon": 12, "midday": 12, "midnight": 24}[clock["word"]]
    hour, minute = int(clock["hour"]), int(clock["minute"] or 0)
    is_afternoon = clock["half"] == "p" or (not clock["half"] and hour <= _EARLIEST)
    hour = hour % 12 + 12 * is_afternoon if clock["half"] or is_afternoon else hour
    return (scene.said.hour, scene.said.minute) >= (hour, minute)


def _weekdays_near(name: str, scene: Scene, tense: Tense, *, is_today_allowed: bool) -> list[Period]:
    first = week_of(scene.day).first + timedelta(days=WEEKDAY[name])
    days = [first + timedelta(days=7 * weeks) for weeks in (-2, -1, 0, 1, 2)]
    return scene.nearest([single(day) for day in days if day != scene.day or is_today_allowed], tense)


_DAY_LEADS = frozenset("since until till by from before after around for to through about".split()) | WEEKDAY.keys()
_RANK_LEADS = frozenset("in into of during through over my your his her our their".split())
_RANKS = frozenset({"1st", "2nd", "3rd"})
_RANKED = late(
    r"\b(?:floors?|lifts?|elevators?|levels?|stor(?:e?ys?|ies)|holes?|laps?|quarters?|innings?|chapters?|verses?|"
    r"volumes?|editions?|versions?|symphon(?:y|ies)|centur(?:y|ies)|grades?|avenues?|league|king|queen|pope|birdied|"
    r"bogeyed)\b"
)
_CLAUSE_START = late(r"(?:\A|[.,;:!?(=]|\b(?:so|now|say))\s*\Z")
_IN_A_ROW = late(r"\s*(?:from|in|behind|by|to|with)\b")


def day_of_month(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "on the 14th", "Friday 14th", "the 1st of the month", "21st, at yours"; skip ranks ("the 5th floor")."""
    if not match["of"] and match["day"] in {"first", "second", "third"}:
        return []
    lead = scene.word_before(match.start())
    weekday = WEEKDAY.get(lead)
    is_led = match["the"] and (match["on"] or lead in _DAY_LEADS)
    if not (match["of"] or weekday is not None or is_led or _may_be_day(match, scene)):
        return []
    days = any_day_of_month(match, scene)
    return [day for day in days if weekday is None or day.first.weekday() == weekday]


def _may_be_day(match: re.Match[str], scene: Scene) -> bool:
    """Say whether a number without "on" may be a day: it follows no name, and nothing that has ranks is named."""
    if match["day"] in _RANKS or not match["day"][0].isdigit():
        return False
    lead, before = scene.word_before(match.start()), scene.text[: match.start()].rstrip()
    if not match["the"]:
        is_placed = _CLAUSE_START.search(before) and not _IN_A_ROW.match(scene.folded, match.end())
    else:
        is_name = len(lead) > 1 and len(before) > len(lead) and before[-len(lead)].isupper()
        is_placed = lead not in _RANK_LEADS and not is_name
    return bool(is_placed) and not any(each and _RANKED.search(each.folded) for each in (scene, scene.before))


def any_day_of_month(match: re.Match[str], scene: Scene) -> list[Period]:
    """Return that day of the previous, this and the next month, best for the tense first."""
    number = count_of(match["day"])
    shifts = (0,) if (match.groupdict().get("of") or "").startswith(" of this") else (-1, 0, 1)
    months = (month_of(scene.day.year, scene.day.month + shift) for shift in shifts)
    days = [single(month.first.replace(day=number)) for month in months if 1 <= number <= month.last.day]
    is_on = "on" in match.groupdict() and (match["on"] or scene.word_before(match.start()) in _DAY_LEADS)
    return scene.nearest(days, scene.number_tense(*match.span(), is_on=bool(is_on)))


_PARTS = frozenset({"early", "mid", "late"})
_BY = 8  # characters
_SEASON_EDGES = frozenset("since until till by before after".split())
_SEASON_LEADS = frozenset("since until till by before after around for".split())


def season(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "in the spring", "since the summer" by the tense; skip statements about every spring."""
    tense = scene.tense(*match.span())
    lead = scene.word_before(match.start())
    if lead == "by" and re.search(r"ed by +\Z", scene.folded[max(0, match.start() - _BY) : match.start()]):
        return []  # "inspired by autumn"
    has_lead = match["lead"] or lead in _PARTS | _SEASON_EDGES or (match["the"] and lead in _SEASON_LEADS)
    if not has_lead or scene.is_habit(*match.span(), tense):
        return []
    return scene.nearest(yearly(match["name"], scene.day.year), scene.yearly_tense(*match.span()))


_HOLIDAY_LEADS = frozenset(
    "on at for over since until till by before after around during of this last next the our the".split()
)


def named_day(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "for Christmas" by the tense; skip statements about every Christmas."""
    tense = scene.tense(*match.span())
    has_lead = scene.word_before(match.start()) in _HOLIDAY_LEADS
    if (tense is Tense.OPEN and not has_lead) or scene.is_habit(*match.span(), tense):
        return []
    return scene.nearest(yearly(match["name"], scene.day.year), scene.yearly_tense(*match.span()))


def part_of_year_ago(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "March two years ago", "three years ago in the summer"."""
    low, high = amount(match["count"])
    year = scene.day.year - int(low)
    return [found for found in yearly(match["name"], year) if found.first.year == year and low == high]


def one_before(match: re.Match[str], scene: Scene) -> Iterator[Period]:
    """Read "the week before", counted from the time of speaking."""
    return nearby("day" if match["name"] == "night" else match["name"], -1, scene)


def any_weekday(match: re.Match[str], scene: Scene) -> list[Period]:
    """Return that weekday in the five weeks around the day of speaking."""
    first = week_of(scene.day).first + timedelta(days=WEEKDAY[match["name"]])
    return [single(first + timedelta(days=7 * weeks)) for weeks in (-2, -1, 0, 1, 2)]


def any_stepped(match: re.Match[str], scene: Scene) -> list[Period]:
    """Return everything that "last", "this", "next" or "following" can loosely mean."""
    step, name = STEPS[match["step"]], match["name"]
    if name in SEASONS or name in MONTH:
        return [period for period in yearly(name, scene.day.year) if abs(period.first.year - scene.day.year) <= 1]
    found = list(nearby(name, step, scene))
    if name == "week":
        found.append(Period(*sorted((scene.day, scene.day + timedelta(days=7 * step)))))
    elif name == "weekend":
        found.append(weekend_of(scene.day))
    return found


def any_named_day(match: re.Match[str], scene: Scene) -> list[Period]:
    """Return the holiday in the previous, this and the next year."""
    return [day for day in yearly(match["name"], scene.day.year) if abs(day.first.year - scene.day.year) <= 1]


def part_of_the(match: re.Match[str], scene: Scene) -> list[Period]:
    """Read "the end of the year" as the current one."""
    return part_within(match, next(nearby(match["name"], 0, scene)))


def nth_of_the(match: re.Match[str], scene: Scene) -> Iterator[Period]:
    """Read "the last Friday of the month" as the current one."""
    return nth_within(match, next(nearby(match["name"], 0, scene)))


def nth_within(match: re.Match[str], whole: Period) -> Iterator[Period]:
    """Read "the second Friday of", "the last week of", "the first weekend in" a period of a month or longer."""
    place = -1 if match["nth"] in ("last", "final") else count_of(match["nth"])
    return nth_parts(whole, place, match["unit"]) if whole.days >= 28 else iter(())


def part_within(match: re.Match[str], whole: Period) -> list[Period]:
    """Read "early", "mid", "the end of" a period; a period of at most two days is returned whole."""
    return [part_of(whole, match["part"] or match["side"]) if whole.days > 2 else whole]
