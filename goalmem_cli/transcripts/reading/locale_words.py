"""The meaning of words for halves of a day, months and weekdays in every language of CLDR (through babel).

Languages are loaded one after another, those of the most countries first, until one knows the word. English needs none
of them. A word of no language costs a second, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.languages.cldr import all_languages, months, spelled, weekdays, words_of

_NOON, _MIDNIGHT = 12 * 3600, 24 * 3600
_HALVES = {"am": ((0, _NOON),), "pm": ((_NOON, _MIDNIGHT),)}
_IGNORED = late(r"[\s.'’\u200b-\u200f\u070f]+")

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
        self._left = iter(all_languages())

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
        """Add the words of the next language; return False if none is left."""
        language = next(self._left, None)
        if language is None:
            return False
        words = words_of(language)
        rules = (words.get("day_period_rules") or {}).get(None, {})
        for period, word in spelled(words.get("day_periods", {})):
            stretches = _HALVES.get(str(period)) or tuple(
                (start, end) for rule in rules.get(period, ()) for start, end in _stretches(rule)
            )
            if stretches:
                self._halves.setdefault(_plain(word), stretches)
        for month, word in months(language):
            self._months.setdefault(_plain(word), month)
        for day, word in weekdays(language):
            self._weekdays.setdefault(_plain(word), day)
        return True


def _stretches(rule: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Yield the parts of the day of a rule. A point of time means the hour after it; a night goes over midnight."""
    if "at" in rule:
        yield rule["at"], rule["at"] + 3600
    elif rule["from"] < rule["before"]:
        yield rule["from"], rule["before"]
    else:
        yield rule["from"], _MIDNIGHT
        yield 0, rule["before"]
