"""The standard written form of times, and comparison of times in different forms.

A date is written at its precision: ``7 May 2023``, ``July 2023``, ``2023``. A time relative to another date keeps its
words, with that date in standard form: ``the week before 15 April 2022``, ``two days after 3 May 2023``. A span has
both ends, ``from 2016 to 2019``, or its start, ``since 2016``. A length of time is a number and a unit, ``12 days``. An
age stays as it was said, ``when she was 10``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.computing.amounts import DAY, read_amount
from goalmem_cli.logic.computing.amounts import MONTH as MONTHS
from goalmem_cli.logic.dates import annotate, parse_date, say_period, spoken_in
from goalmem_cli.logic.days import MONTH, WEEKDAYS, Period, single
from goalmem_cli.logic.languages.values import value_in_english
from goalmem_cli.logic.normal import SENTENCE_END, words
from goalmem_cli.logic.relative import Bound, Expression

_NAME = "|".join(sorted(MONTH, key=len, reverse=True))
_TH = "(?:st|nd|rd|th)?"
_DATE = late(
    rf"\b(?:(?:{_NAME})\.? \d{{1,2}}{_TH},? \d{{4}}|\d{{1,2}}{_TH} (?:of )?(?:{_NAME})\.?,? \d{{4}}"
    rf"|\d{{4}}-\d{{2}}-\d{{2}}|(?:{_NAME})\.?,? \d{{4}})\b",
    re.IGNORECASE,
)
_SPAN = late(r"from (.+) to (.+)")
_DAYS = late(rf"\d{{1,2}} ?[-–] ?\d{{1,2}} (?:{_NAME}) \d{{4}}", re.IGNORECASE)
_WEEKDAY = late(r"^(?:mon|tues|wednes|thurs|fri|satur|sun)day,? (?=\d|[A-Z])", re.IGNORECASE)
_YEAR = late(r"\b\d{4}\b")
_AGE = late(
    r"(?:(?:when|as) .{1,40}\b(?:was|were|turned|is)\b(?: about| around)? \S+(?: years old)?"
    r"|(?:at|from) (?:the )?age (?:of )?\S+|in (?:her|his|their|my|our) (?:\w+ )?(?:teens|twenties|thirties|forties"
    r"|fifties|sixties|seventies|eighties|nineties|childhood|youth))",
    re.IGNORECASE,
)
_RELATIVE = frozenset("ago before after later earlier since last next until".split())
_LENGTHS = frozenset({DAY.key, MONTHS.key})


def standard_time(text: str) -> str:
    """Return the text with its dates in standard form; everything else stays as it was said."""
    plain = _WEEKDAY.sub("", text) if parse_date(text) is not None else text
    return _DATE.sub(lambda match: _standard(match[0]), plain)


def time_around(day: str, text: str, said: datetime | None) -> str | None:
    """Return the multi-day time in the text that begins or ends on `day`, in standard form; None if there is none.

    Example: "last week", said on 2 July 2023, is shown to the model as 19-25 June 2023. A small model may answer one of
    these days alone; this returns "the week before 2 July 2023".
    """
    when = parse_date(day)
    named = when.within(when.year) if when is not None and when.year is not None else None
    if named is None or said is None:
        return None
    for annotation in annotate(text, said):
        first, last = annotation.first, annotation.last or annotation.begun_by
        if first is not None and last is not None and named in (single(first), single(last)):
            told = Period(first, last)
            return next((form for form in _forms(annotation.text, told, said) if days_of(form) == told), None)
    return None


def days_of(text: str) -> Period | None:
    """Return the days that the whole text means, or None; a time inside a longer phrase does not count."""
    found = _whole(text)
    return found.readings[0] if found is not None and found.bound is Bound.ON else None


def time_in(text: str, language: str) -> str:
    """Return an English date, or the two ends of a span, as a language (ISO 639, one of CLDR's) writes them.

    Anything else stays as it is, such as "around May 2023". "2 November 2023" is "2023年11月2日" in Japanese.
    """
    span = _SPAN.fullmatch(text)
    ends = span.groups() if span is not None else (text,)
    if all(_DATE.fullmatch(end) for end in ends):
        return " – ".join(_date_in(end, language) for end in ends)
    days = days_of(text) if _DAYS.fullmatch(text) else None
    told = () if days is None else (days.first, days.last)
    return " – ".join(_date_in(say_period(single(day)), language) for day in told) or text


def weekday_of(text: str) -> str:
    """Return the weekday of a date with its year, such as "Friday" for "13 November 2026"; other texts stay."""
    days = days_of(text) if _DATE.fullmatch(text) else None
    return WEEKDAYS[days.first.weekday()].capitalize() if days is not None and days.first == days.last else text


def _date_in(text: str, language: str) -> str:
    """Return a date with its year, a day or a month, as a language writes it."""
    from babel.dates import format_skeleton

    days = days_of(text)
    if days is None:
        return text
    return format_skeleton("yMMMMd" if days.first == days.last else "yMMMM", days.first, locale=language)


_HOUR = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_CLOCK = late(
    rf"(?:(?:at|about|around|from)\s+)*(?P<clock>(?:half|quarter)\s+(?:past|to)\s+(?:{_HOUR}|1?\d)|{_HOUR}(?:\s+o['’]clock)?"
    r"|(?:1?\d|2[0-3])(?:[:.][0-5]\d(?:\s?[ap]\.?m\b\.?)?|\s?[ap]\.?m\b\.?|\s+o['’]clock)|noon|midnight)",
    re.IGNORECASE,
)
_WEEKDAYS = rf"(?:(?:next|this)\s+)?(?:{'|'.join(WEEKDAYS)})s?(?:\s+(?:morning|afternoon|evening|night)s?)?"
_TIME_TOLD = late(rf"\b{_WEEKDAYS}\b|(?<![\w:.,]){_CLOCK.pattern}(?!\w)", re.IGNORECASE)
_SEVERAL = late(
    r"\b(?:to|until|till?|through|from|between|and|or|except|unless|if|but|not|no|never|every|each|daily|week(?:day|end)s?"
    r"|mon|tues?|wed|thurs?|fri|sat|sun|clos\w+|cancel\w+|moved?|instead|was|were|skip"
    r"|full|busy|booked|before|after|since|by|rest|other\w*)\b|n['’]t\b|[-–—/&+?]",
    re.IGNORECASE,
)
"""What a sentence may have beside a weekday and an hour, so that the two need not be one time."""


def with_its_day(clock: str, texts: Iterable[str]) -> str:
    """Return a time of day with the weekday right beside it, in the words of the texts; or unchanged.

    It is unchanged if the texts tell any other time or weekday, or if its sentence is about several times.
    """
    found = _CLOCK.fullmatch(clock.strip(" ."))
    told = [part for text in texts for part in SENTENCE_END.split(text) if _TIME_TOLD.search(part)]
    if found is None or len(told) != 1 or len(_TIME_TOLD.findall(told[0])) != 2:
        return clock
    hour = re.escape(found["clock"])
    beside = re.compile(
        rf"\b{_WEEKDAYS}(?:,|\s+(?:at|about|around))*\s+{hour}(?!\w)|\b{hour}(?:\s+(?:on|in\s+the\s+\w+))*\s+{_WEEKDAYS}\b",
        re.IGNORECASE,
    )
    whole = beside.search(told[0])
    return clock if whole is None or _SEVERAL.search(told[0].replace(whole[0], "")) else whole[0]


def is_length(text: str) -> bool:
    """Say whether the text is a length of time and not a point in time: "two weeks", "about 3 months"."""
    text = value_in_english(text)
    if _RELATIVE & set(words(text)):
        return False
    amount = read_amount(re.sub(r"^for ", "", text.strip(), flags=re.IGNORECASE))
    return amount is not None and amount.unit.key in _LENGTHS


def is_age(text: str) -> bool:
    """Say whether the text dates something by somebody's age: "when she was 10", "at the age of six"."""
    return _AGE.fullmatch(text.strip()) is not None


def are_one_time(left: str, right: str) -> bool:
    """Say whether two texts, both with a year, mean the same days; one may be relative to a date."""
    if not (_YEAR.search(left) and _YEAR.search(right)):
        return False
    one, other = _whole(left), _whole(right)
    if one is None or other is None or one.bound != other.bound:
        return False
    return one.readings[0] in other.readings or other.readings[0] in one.readings


def _forms(text: str, period: Period, said: datetime) -> Iterator[str]:
    """Yield rewordings of a time expression that need no context: "a day ago" -> "a day before 8 May 2023".

    `text` is the expression, `period` the days that it means, `said` when it was said. Not all of them mean `period`.
    """
    day, start = say_period(single(said.date())), say_period(single(period.first))
    words_said = " ".join(text.split())
    yield re.sub(r" ago$", f" before {day}", words_said[:1].lower() + words_said[1:])
    for unit in ("week", "weekend"):
        yield from (f"the {unit} {place} {day}" for place in ("before", "of", "after"))
        yield f"the {unit} of {start}"
    yield say_period(period)


def _standard(written: str) -> str:
    """Return a full date in the standard form; other texts unchanged."""
    when = parse_date(written)
    if when is None or when.year is None:
        return written
    period = when.within(when.year)
    return say_period(period) if period is not None else written


def _whole(text: str) -> Expression | None:
    """Return the time expression that the whole text is, or None."""
    plain = re.sub(r"^(?:in|on|at|during|the|around) ", "", text.strip().casefold())
    found = spoken_in(plain, None)
    return found[0] if len(found) == 1 and (found[0].start, found[0].end) == (0, len(plain)) else None
