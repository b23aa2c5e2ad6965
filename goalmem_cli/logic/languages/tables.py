"""Patterns of each language's times and numbers, from its file, with their meaning in English.

The names of days and months come from CLDR (`cldr.py`); a file has only further spellings. In a file's patterns,
`{span}` is one week, weekend, month, year or decade; `{unit}` any unit in singular or plural; `{n}` a count; `{month}`
a month's full name, `{mon}` a short one too. Other words in braces are the language's own macros. Texts are matched in
lower case without accents (`folded`), because people leave accents out. A language is prepared when a text first has
one of its words.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from goalmem_cli.languages.patterns import late
from goalmem_cli.languages.words import CODES, FOLDER, part_of
from goalmem_cli.logic.days import MONTHS, WEEKDAYS
from goalmem_cli.logic.languages import cldr
from goalmem_cli.logic.languages.numerals import KANJI, Numerals

SPANS = ("week", "weekend", "month", "year", "decade")
_ACCENTS = str.maketrans(
    {
        letter: plain[0]
        for letter in map(chr, range(0xC0, 0x250))
        if (plain := unicodedata.normalize("NFD", letter))[0].isascii() and len(plain) > 1 and letter.islower()
    }
    | {"’": "'"}
)
_MOST_COUNTED, _LAST_DAY = 100, 31
_YEAR = r"(?:1[89]|20|21)\d\d"
_BLANK = late(r"(\(\?<[!=][^)]*\))| ")
_AT_END = late(r"\(\?[=!].*")
_AROUND = late(r"\(\?<?[!=].*?\)")
_PART = late(r"\{([a-z]+)\}")
_NUMBERS = ("{n}", "{day}", "{number}", "{year}")
_WORD = late(r"[^\W\d_]+")
_ON_WIDTHS = late(r"\s+(?=\|)")


@dataclass(frozen=True)
class Rule:
    """A pattern, and the English of its matches, with placeholders for the pattern's groups.

    Every text that matches has one of the words in `keys`. `is_bare`: a day or month without a word for past or future;
    the rest of the sentence decides.
    """

    written: str
    english: str
    keys: frozenset[str]
    is_bare: bool

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern; compiling all of a language takes a fifth of a second, and few texts need them."""
        return _pattern(self.written)


@dataclass(frozen=True)
class Language:
    """A language's patterns; `meanings` maps a group of a pattern, and a word that it matched, to English."""

    code: str
    is_spaceless: bool
    rules: tuple[Rule, ...]
    bounds: Mapping[str, re.Pattern[str]]
    past: re.Pattern[str]
    future: re.Pattern[str]
    habit: re.Pattern[str]
    meanings: Mapping[str, Mapping[str, str]]
    eras: Mapping[str, int]
    numerals: Numerals

    def meaning(self, group: str, word: str) -> str | None:
        """Return the English of a word that a group of a pattern matched."""
        return self.meanings[group].get(" ".join(word.split()))


def folded(text: str) -> str:
    """Return a lower-case text without accents, of the same length."""
    return text if text.isascii() else text.translate(_ACCENTS)


@cache
def table() -> Mapping[str, Any]:
    """Return both parts of the languages' files, by code."""
    return {code: {**part_of(code, 0), **part_of(code, 1)} for code in CODES}


@cache
def english_words() -> frozenset[str]:
    """Return common English words, without accents; they do not show that a text is in another language."""
    return frozenset(folded(part_of("en", 0)["english"]).split())


@cache
def _in_file() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((FOLDER / "keys.json").read_text(encoding="utf-8"))
    return found


@cache
def telling() -> frozenset[str]:
    """Return the words of numbers, lengths of time and currencies that English has not, of all languages."""
    return frozenset(_in_file()["values"].split("|"))


@cache
def keys() -> Mapping[str, frozenset[str]]:
    """Return word -> languages whose time expressions have it, and ``en`` if it is also a common English word.

    Languages that are written without spaces are left out. The `keys` of all rules are in a file, as gathering them
    takes as long as the rest of a search.
    """
    return {word: frozenset(codes.split()) for word, codes in _in_file()["times"].items()}


@cache
def triggers() -> Mapping[str, frozenset[str]]:
    """Return the `keys` that are no common English words."""
    return {word: codes for word, codes in keys().items() if "en" not in codes}


@cache
def numerals_of(code: str) -> Numerals:
    """Return the number words of a language."""
    return Numerals.of(table()[code], folded)


@cache
def language(code: str) -> Language:
    """Return the patterns of a language, one of `CODES`."""
    words = table()[code]
    is_spaceless = bool(words.get("is_spaceless"))
    meanings = _meanings(code, words)
    parts = _parts(words, meanings, numerals_of(code), is_spaceless=is_spaceless)
    rules = tuple(
        _rule(written, english, parts, meanings, is_bare=is_bare, is_spaceless=is_spaceless)
        for kind, is_bare in ((words["phrases"] | _in_digits(is_spaceless=is_spaceless), False), (words["bare"], True))
        for written, english in kind.items()
    )
    edge = "" if is_spaceless else r"(?<![\w-])"
    return Language(
        code=code,
        is_spaceless=is_spaceless,
        rules=rules,
        bounds={bound: _pattern(rf"{edge}(?:{form})\Z") for bound, form in words.get("bounds", {}).items()},
        past=_cue(words["past"]),
        future=_cue(words["future"]),
        habit=_cue(words["habit"]),
        meanings=meanings,
        eras=words.get("eras", {}),
        numerals=numerals_of(code),
    )


def _in_digits(*, is_spaceless: bool) -> dict[str, str]:
    """Return the patterns of whole dates in digits: the year is first without spaces, else the day, never the month."""
    if is_spaceless:
        return {r"{year}[./-]{number}[./-]{day}(?!\d)": "{day} {month} {year}"}
    day_first = "{day}[./-]{number}[./-]{year}"
    return dict.fromkeys((day_first, "{weekday},? (?:(?:den|dem|el|le|dia) )?" + day_first), "{day} {month} {year}")


def _cue(written: str) -> re.Pattern[str]:
    """Return the pattern of words that tell the tense, which keeps accents: Spanish "llego" and "llegó" differ."""
    return late(_ON_WIDTHS.sub("", written))


def _pattern(written: str) -> re.Pattern[str]:
    return late(_BLANK.sub(lambda found: found[1] or r"\s+", folded(written)))


def _rule(
    written: str, english: str, parts: Mapping[str, str], meanings: Mapping[str, Mapping[str, str]],
    *, is_bare: bool, is_spaceless: bool,
) -> Rule:  # fmt: skip
    """Return the rule for a pattern `written` with parts in braces; `meanings` has the words of each part."""
    before, after = (r"(?<![\w-])(?<!\d[.,])", r"(?![\w]|-\w)") if not is_spaceless else ("", "")
    if is_spaceless and written.startswith(_NUMBERS):
        before = rf"(?<![\d.{KANJI}几幾数])"
    form = _filled(_filled(written, parts), parts)  # macros have parts in them
    return Rule(f"{before}(?:{form}){after}", english, _keys(written, meanings), is_bare)


def _filled(written: str, parts: Mapping[str, str]) -> str:
    return _PART.sub(lambda place: parts[place[1]], written)


def _keys(written: str, meanings: Mapping[str, Mapping[str, str]]) -> frozenset[str]:
    """Return the words of which every matching text has one: the names in the pattern, else its first words."""
    groups = [_KEYS[part] for part in _PART.findall(written) if part in _KEYS]
    names = [folded(word) for group in groups for name in meanings[group] for word in _WORD.findall(name)]
    ways = _PART.sub(" ", _AROUND.sub(" ", folded(written))).split("|")
    return frozenset(names or (word for way in ways for word in _WORD.findall(way)[:1]))


_SURE_IN_SHORT = frozenset({"zh"})
"""Languages whose short names of days are no other words."""
_KEYS = {"weekday": "weekday", "month": "month", "mon": "month", "season": "season", "span": "unit", "unit": "unit"}
"""The parts of a pattern that need one of the language's own words, with the group that they fill."""


def _meanings(code: str, words: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return group -> word -> English for weekdays, months, seasons, units and counts; words have no accents."""
    widths = {"wide", "abbreviated"} if code in _SURE_IN_SHORT else {"wide"}
    days = [(WEEKDAYS[number], name) for number, name in cldr.weekdays(code, widths)]
    days += [(day, name + ending) for day, name in days for ending in words.get("day_endings", ())]
    days += [(day, _AT_END.sub("", name)) for day, name in _listed(words["weekdays"])]
    months = [(MONTHS[number - 1], name.rstrip(".")) for number, name in cldr.months(code, {"wide", "abbreviated"})]
    units = [(unit, name) for unit, forms in words["units"].items() for form in forms for name in form.split("|")]
    return {
        "weekday": _folded_words(days),
        "month": _folded_words(months),
        "season": _folded_words(_listed(words["seasons"])),
        "unit": _folded_words(units),
        "n": _folded_words(_listed(words["counts"])),
    }


def _listed(table: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each word of a table of words that are divided by "|", with its meaning."""
    return ((meaning, word) for meaning, written in table.items() for word in written.split("|"))


def _folded_words(words: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {folded(word.lower()): meaning for meaning, word in words if word}


def _one_of(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True)).replace(r"\ ", " ").replace(r"\-", "-")


def _parts(
    words: Mapping[str, Any], meanings: Mapping[str, Mapping[str, str]], numerals: Numerals, *, is_spaceless: bool
) -> dict[str, str]:
    """Return the pattern of each part of a written pattern."""
    full = _folded_words((str(number), name) for number, name in cldr.months(_code_of(words), {"wide"}))
    spans = [form for unit in SPANS for form in words["units"].get(unit, [""])[0].split("|") if form]
    return {
        **words.get("macros", {}),
        "lower": "(?P<lower>)",
        "weekday": f"(?P<weekday>{_days(words, meanings)})",
        "month": f"(?P<month>{_one_of(full)})",
        "mon": f"(?P<month>{_one_of(meanings['month'])})",
        "season": f"(?P<season>{_one_of(meanings['season'])})",
        "unit": f"(?P<unit>{_one_of(meanings['unit'])})",
        "span": f"(?P<unit>{_one_of(map(folded, spans))})",
        **(_kanji_parts(words, meanings) if is_spaceless else _word_parts(words, meanings, numerals)),
    }


def _days(words: Mapping[str, Any], meanings: Mapping[str, Mapping[str, str]]) -> str:
    """Return the pattern of the days; a short name ("sexta", sixth) counts only before certain words."""
    own = [name for _, name in _listed(words["weekdays"])]
    ends = "".join(found[0] for name in own if (found := _AT_END.search(name)))
    if "weekday_ends" not in words:
        return f"(?:{_one_of(meanings['weekday'])}){ends}"
    short = set(map(folded, own))
    return f"{_one_of(set(meanings['weekday']) - short)}|(?:{_one_of(short)}){words['weekday_ends']}"


def _word_parts(
    words: Mapping[str, Any], meanings: Mapping[str, Mapping[str, str]], numerals: Numerals
) -> dict[str, str]:
    """Return the patterns of numbers in a language with blanks between words."""
    counts = [*meanings["n"], *(word for word, number in numerals.words.items() if number <= _MOST_COUNTED)]
    days = [*words.get("first", "").split(), *(word for word, number in numerals.words.items() if number <= _LAST_DAY)]
    return {
        "n": rf"(?P<n>\d{{1,4}}(?:[.,]5)?|{_one_of(counts)})",
        "number": r"(?P<number>1[0-2]|0?[1-9])",
        "day": rf"(?P<day>[12]\d|3[01]|0?[1-9]|{_one_of(days)})",
        "year": f"(?P<year>{_YEAR})",
    }


def _kanji_parts(words: Mapping[str, Any], meanings: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return the patterns of numbers in Chinese and Japanese."""
    era = f"|(?:{'|'.join(words['eras'])})(?:\\d{{1,2}}|元|[{KANJI}]{{1,3}})" if "eras" in words else ""
    return {
        "n": rf"(?P<n>\d{{1,4}}|[{KANJI}]{{1,5}}|{_one_of(meanings['n'])})",
        "number": r"(?P<number>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])",
        "day": rf"(?P<day>[12]\d|3[01]|0?[1-9]|[{KANJI}]{{1,3}})",
        "year": rf"(?P<year>{_YEAR}|[〇零一二三四五六七八九]{{4}}{era})",
    }


def _code_of(words: Mapping[str, Any]) -> str:
    return next(code for code in CODES if table()[code] is words)
