"""The meaning of words for halves of a day, months and weekdays in every language of CLDR (through babel).

Languages are loaded one after another, those of the most countries first, until one knows the word. English needs none
of them. A word of no language costs a second, once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

_NOON, _MIDNIGHT = 12 * 3600, 24 * 3600
_HALVES = {"am": ((0, _NOON),), "pm": ((_NOON, _MIDNIGHT),)}
_IGNORED = re.compile(r"[\s.'’\u200b-\u200f\u070f]+")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:_[A-Z][a-z]{3})?")
_COMMON = 10
"""From this percentage of a country's people on, a language counts as spoken there."""

Seconds = tuple[tuple[int, int], ...]
"""Parts of a day, each from one second to before another."""


@lru_cache(maxsize=4096)
def hour_in_half(hour: int, word: str) -> int | None:
    """Return the hour of the day (0 to 23) of an hour from 1 to 12 with the word beside it (``μ.μ.``, ``晚上``).

    None if no language knows the word, or no clock has the hour.
    """
    stretches = _HALVES.get(_plain(word)) or _words().half(_plain(word))
    if stretches is None or hour > 12:
        return None
    hours = (hour % 12, hour % 12 + 12)
    meant = [one for one in hours if any(start <= one * 3600 < end for start, end in stretches)]
    return meant[0] if len(meant) == 1 else hours[stretches[0][0] >= _NOON]


def month_of(word: str) -> int | None:
    """Return the number of the month that the word means; None if it means none in any language."""
    return _words().month(_plain(word))


def weekday_of(word: str) -> int | None:
    """Return the weekday that the word means, from 0 for Monday; None if it means none in any language."""
    return _words().weekday(_plain(word))


def _plain(word: str) -> str:
    return _IGNORED.sub("", word.casefold())


@cache
def _words() -> _Words:
    return _Words()


class _Words:
    """The words of the languages loaded so far; a word of two languages has its meaning in the earlier one."""

    def __init__(self) -> None:
        self._halves: dict[str, Seconds] = {}
        self._months: dict[str, int] = {}
        self._weekdays: dict[str, int] = {}
        self._left = _languages()

    def half(self, word: str) -> Seconds | None:
        """Return the parts of the day that the word means."""
        while word not in self._halves and self._load():
            pass
        return self._halves.get(word)

    def month(self, word: str) -> int | None:
        """Return the number of the month that the word means."""
        while word not in self._months and self._load():
            pass
        return self._months.get(word)

    def weekday(self, word: str) -> int | None:
        """Return the number of the weekday that the word means."""
        while word not in self._weekdays and self._load():
            pass
        return self._weekdays.get(word)

    def _load(self) -> bool:
        from babel import localedata

        language = next(self._left, None)
        if language is None:
            return False
        raw: Any = localedata.load(language)  # declared with other keys than LocaleDataDict takes
        words = localedata.LocaleDataDict(raw)
        rules = (words.get("day_period_rules") or {}).get(None, {})
        for period, word in _spelled(words.get("day_periods", {})):
            stretches = _HALVES.get(str(period)) or tuple(
                (start, end) for rule in rules.get(period, ()) for start, end in _stretches(rule)
            )
            if stretches:
                self._halves.setdefault(_plain(word), stretches)
        for month, word in _spelled(words.get("months", {})):
            self._months.setdefault(_plain(word), int(str(month)))
        for day, word in _spelled(words.get("days", {})):
            self._weekdays.setdefault(_plain(word), int(str(day)))
        return True


def _languages() -> Iterator[str]:
    """Yield the languages for which CLDR has words, those of the most countries first."""
    from babel import core, localedata

    spoken: Counter[str] = Counter()
    for languages in core.get_global("territory_languages").values():
        is_common = (
            (language, bool(about.get("official_status")) or about["population_percent"] >= _COMMON)
            for language, about in languages.items()
        )
        spoken.update(language for language, is_so in is_common if is_so)
    known = sorted(language for language in localedata.locale_identifiers() if _LANGUAGE.fullmatch(language))
    yield from sorted(known, key=lambda language: -spoken[language])


def _spelled(contexts: Mapping[str, Mapping[str, object]]) -> Iterator[tuple[object, str]]:
    """Yield each word of a table with its meaning; single letters of the narrow column have too many meanings."""
    for widths in contexts.values():
        for width, words in widths.items():
            if width != "narrow" and isinstance(words, Mapping):
                yield from words.items()


def _stretches(rule: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Yield the parts of the day of a rule. A point of time means the hour after it; a night goes over midnight."""
    if "at" in rule:
        yield rule["at"], rule["at"] + 3600
    elif rule["from"] < rule["before"]:
        yield rule["from"], rule["before"]
    else:
        yield rule["from"], _MIDNIGHT
        yield 0, rule["before"]
