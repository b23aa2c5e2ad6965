"""The names of days and months, and other words of time, in every language of CLDR (through babel)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

_COMMON = 10
"""From this percentage of a country's people on, a language counts as spoken there."""
_WIDTHS = ("wide", "abbreviated", "short")


def words_of(language: str) -> Mapping[str, Any]:
    """Return CLDR's tables for a language (``de``, ``zh_Hant``).

    Raises:
        FileNotFoundError: CLDR lacks the language.
    """
    from babel import localedata

    raw: Any = localedata.load(language)  # declared with other keys than LocaleDataDict takes
    return localedata.LocaleDataDict(raw)


def all_languages() -> list[str]:
    """Return the languages for which CLDR has words, those of the most countries first; countries are left out."""
    from babel import core, localedata

    spoken: Counter[str] = Counter()
    for languages in core.get_global("territory_languages").values():
        is_common = (
            (language, bool(about.get("official_status")) or about["population_percent"] >= _COMMON)
            for language, about in languages.items()
        )
        spoken.update(language for language, is_so in is_common if is_so)
    return sorted(sorted(filter(_is_language, localedata.locale_identifiers())), key=lambda one: -spoken[one])


def _is_language(identifier: str) -> bool:
    language, _, script = identifier.partition("_")
    return 2 <= len(language) <= 3 and (not script or (len(script) == 4 and script.istitle() and script.isalpha()))


def spelled(
    contexts: Mapping[str, Mapping[str, object]], widths: Collection[str] = _WIDTHS
) -> Iterator[tuple[object, str]]:
    """Yield (meaning, word) of a table, in these widths; by default not single letters, which have several meanings."""
    for table in contexts.values():
        for width, words in table.items():
            if width in widths and isinstance(words, Mapping):
                yield from words.items()


def months(language: str, widths: Collection[str] = _WIDTHS) -> Iterator[tuple[int, str]]:
    """Yield the names of the months, numbered from 1."""
    return ((int(str(number)), name) for number, name in spelled(words_of(language).get("months", {}), widths))


def weekdays(language: str, widths: Collection[str] = _WIDTHS) -> Iterator[tuple[int, str]]:
    """Yield the names of the days, numbered from 0 for Monday."""
    return ((int(str(number)), name) for number, name in spelled(words_of(language).get("days", {}), widths))
