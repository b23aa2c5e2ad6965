"""Reads dates with times of day as programs write them for people, in any language, if they are clear."""

from __future__ import annotations

import re
from datetime import time
from functools import cache, lru_cache

from goalmem_cli.transcripts.reading.day_orders import Style, Written
from goalmem_cli.transcripts.reading.locale_words import hour_in_half, month_of

MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""Characters without width that fix the direction of writing."""

_NO_MARKS = dict.fromkeys(map(ord, MARKS))
_EAST_ASIAN = re.compile(r"(\d{1,4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]")
_DATE = r"(?P<one>\d{1,4})(?P<mark>[-/.]) ?(?P<two>\d{1,2})(?P=mark) ?(?P<three>\d{1,4})"
_MONTH = r"(?P<month>[^\W\d_][^\d,]{1,20}?)\.?"
_NAMED = (
    rf"{_MONTH} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}})",
    rf"(?P<day>\d{{1,2}})\.? (?:de )?{_MONTH},? (?:de )?(?P<year>\d{{4}})",
)
_CLOCK = r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?"
_BEHIND = rf"(?P<before>\D{{1,40}}){_CLOCK}(?P<after>\D{{0,30}})"
_STAMPS = tuple(
    re.compile(form)
    for form in (
        _DATE + _BEHIND,
        rf"(?P<before>\D{{0,30}}){_CLOCK}(?P<after>\D{{1,30}}){_DATE}",
        *(date + _BEHIND for date in _NAMED),
    )
)
_CLOCK_FIRST = (*_STAMPS, re.compile(rf"(?P<before>){_CLOCK}(?P<after>\D{{1,30}}?){_NAMED[0]}"))
_NUMERIC = _STAMPS[:2]
_BLANKS = frozenset({"", " ", ", "})
_COMMAS = re.compile("[,،]")
# Eras, "at", and abbreviations of year and hour may be beside dates and clocks. Longer words must mean a half.
_FILLERS = frozenset({"be", "at", "um", "klo", "kl", "à", "às", "u", "о", "в", "г", "р", "ч", "h", "uhr", "น"})
_LONGEST_FILLER = 4
_NOON, _HOURS = 12, 24


@lru_cache(maxsize=4096)
def written_from_text(text: str, is_clock_first: bool = False) -> Written | None:
    """Return the date and time that the whole text states, or None; "9:46AM, March 5, 2014" if `is_clock_first`."""
    forms = _CLOCK_FIRST if is_clock_first else _STAMPS
    if not text.isascii():
        text = _EAST_ASIAN.sub(r"\1/\2/\3", text.translate(_NO_MARKS))
    text = " ".join(text.split())
    match = _STAMPS[0].fullmatch(text) or next((match for form in forms if (match := form.fullmatch(text))), None)
    if match is None:
        return None
    half = _half(match["before"], match["after"], int(match["hour"]))
    clock = None if half is None else _clock(match, half)
    if half is None or clock is None:
        return None
    has_seconds = match["second"] is not None
    if match.re not in _NUMERIC:
        month = month_of(match["month"])
        numbers = (int(match["year"]), month or 0, int(match["day"]))
        return None if month is None else Written(text, numbers, clock, True, _style("", half, False, has_seconds))
    one, two, three = match["one"], match["two"], match["three"]
    is_padded = any(len(number) == 2 and int(number) < 10 for number in (one, two))
    is_year_first = len(one) > 2 or len(three) == 1
    style = _style(match["mark"], half, is_padded, has_seconds)
    return Written(text, (int(one), int(two), int(three)), clock, is_year_first, style)


@cache
def _style(mark: str, half: str, is_padded: bool, has_seconds: bool) -> Style:
    return Style(mark, half, is_padded, has_seconds)


@lru_cache(maxsize=4096)
def _half(before: str, after: str, hour: int) -> str | None:
    """Return the word for the half of the day, empty if there is none; None if a word means something else."""
    half = ""
    for beside, is_behind in ((before, False), (after, True)):
        if beside in _BLANKS:
            continue
        for part in _COMMAS.split(beside):
            word = part.strip(" .")
            if not word or word.casefold() in _FILLERS:
                continue
            if not half and hour_in_half(hour % _NOON or _NOON, word) is not None:
                half = word
            elif is_behind or len(word) > _LONGEST_FILLER:
                return None
    return half


def _clock(found: re.Match[str], half: str) -> time | None:
    """Return the time of day of a match in the half of the day, None if there is no such time."""
    hour = int(found["hour"]) % _HOURS if int(found["hour"]) <= _HOURS else _HOURS  # midnight is 24 on some clocks
    if half and hour <= _NOON:
        hour = hour_in_half(hour, half) or 0
    try:
        return time(hour, int(found["minute"]), int(found["second"] or 0))
    except ValueError:
        return None
