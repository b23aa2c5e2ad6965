"""The tables of words.yaml as patterns: for each language its time expressions with what they are in English.

All is matched in lower case without accents (`folded`), because people leave accents out. A language is prepared when a
text first has one of its words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

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
_YEAR = r"(?:1[89]|20|21)\d\d"
_BLANK = re.compile(r"(\(\?<[!=][^)]*\))| ")
_AT_END = re.compile(r"\(\?[=!].*")
_WORD = re.compile(r"[^\W\d_]+")
_ON_WIDTHS = re.compile(r"\s+(?=\|)")


@dataclass(frozen=True)
class Rule:
    """A pattern, its English with places for the groups, and words of which a text that matches has one.

    `is_bare`: a day or month without a word for past or future, which the rest of the sentence has to tell.
    """

    written: str
    english: str
    keys: frozenset[str]
    is_bare: bool

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern; compiling those of a language takes a fifth of a second, and few texts need them all."""
        return _pattern(self.written)


@dataclass(frozen=True)
class Language:
    """A language's patterns; `meanings` has the English word for each of its words, by the group of a pattern."""

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
    """Return the file of words."""
    import yaml

    text = files(__package__).joinpath("words.yaml").read_text("utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: Mapping[str, Any] = yaml.load(text, Loader=loader)  # noqa: S506  # a safe loader, the fast one where there is one
    return found


@cache
def codes() -> tuple[str, ...]:
    """Return the languages that can be read, beside English."""
    return tuple(code for code in table() if code != "english")


@cache
def english_words() -> frozenset[str]:
    """Return the words, without accents, that English texts have too."""
    return frozenset(folded(table()["english"]).split())


@cache
def triggers() -> Mapping[str, frozenset[str]]:
    """Return the words without one of which a text has no time expression that cannot be English, with their languages."""
    found: dict[str, set[str]] = {}
    for code in codes():
        if not table()[code].get("is_spaceless"):
            for word in {key for rule in language(code).rules for key in rule.keys} - english_words():
                found.setdefault(word, set()).add(code)
    return {word: frozenset(languages) for word, languages in found.items()}


@cache
def numerals_of(code: str) -> Numerals:
    """Return the number words of a language."""
    return Numerals.of(table()[code], folded)


@cache
def language(code: str) -> Language:
    """Return the patterns of a language, one of `codes()`."""
    words = table()[code]
    is_spaceless = bool(words.get("is_spaceless"))
    meanings = _meanings(code, words)
    parts = _parts(words, meanings, numerals_of(code), is_spaceless=is_spaceless)
    rules = tuple(
        _rule(written, english, parts, meanings, is_bare=is_bare, is_spaceless=is_spaceless)
        for kind, is_bare in (("phrases", False), ("bare", True))
        for written, english in words.get(kind, {}).items()
    )
    return Language(
        code, is_spaceless, rules,
        {bound: _pattern(rf"(?<![\w-])(?:{form})\Z" if not is_spaceless else rf"(?:{form})\Z")
         for bound, form in words.get("bounds", {}).items()},
        *(re.compile(_ON_WIDTHS.sub("", words[name])) for name in ("past", "future", "habit")),
        meanings, words.get("eras", {}), numerals_of(code),
    )  # fmt: skip


def _pattern(written: str) -> re.Pattern[str]:
    return re.compile(_BLANK.sub(lambda found: found[1] or r"\s+", folded(written)))


def _rule(
    written: str, english: str, parts: Mapping[str, str], meanings: Mapping[str, Mapping[str, str]],
    *, is_bare: bool, is_spaceless: bool,
) -> Rule:  # fmt: skip
    groups = set(re.findall(r"\{([a-z]+)\}", written)) & set(_KEYS)
    keys = [word for group in groups for name in meanings[_KEYS[group]] for word in _WORD.findall(name)]
    plain = re.sub(r"\{[a-z]+\}|\(\?<?!.*?\)", " ", written)
    first = [] if keys else _WORD.findall(folded(plain))[:1] + [_first(form) for form in plain.split("|")]
    form = re.sub(
        r"\{([a-z]+)\}", lambda place: parts[place[1]], re.sub(r"\{([a-z]+)\}", lambda p: parts[p[1]], written)
    )
    edges = (_before_spaceless(written), "") if is_spaceless else (r"(?<![\w-])(?<!\d[.,])", r"(?![\w]|-\w)")
    return Rule(f"{edges[0]}(?:{form}){edges[1]}", english, frozenset({*map(folded, keys), *first}) - {""}, is_bare)


def _first(form: str) -> str:
    return next(iter(_WORD.findall(folded(form))), "")


def _before_spaceless(written: str) -> str:
    is_number = written.startswith(("{n}", "{day}", "{number}", "{year}"))
    return rf"(?<![\d.{KANJI}几幾数])" if is_number else ""


_KEYS = {"weekday": "weekday", "month": "month", "mon": "month", "season": "season", "span": "unit", "unit": "unit"}
"""The parts of a pattern that need one of the language's own words, with the group that they fill."""


def _meanings(code: str, words: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    days = [(WEEKDAYS[number], name) for number, name in cldr.weekdays(code, {"wide", "abbreviated"})]
    if not words.get("is_spaceless"):
        days = [(WEEKDAYS[number], name) for number, name in cldr.weekdays(code, {"wide"})]
        days += [(day, name + ending) for day, name in days for ending in words.get("day_endings", ())]
    elif code == "ja":
        days = [(WEEKDAYS[number], name) for number, name in cldr.weekdays(code, {"wide"})]
    days += [(day, _AT_END.sub("", name)) for day, names in words["weekdays"].items() for name in names.split("|")]
    months = [(MONTHS[number - 1], name.rstrip(".")) for number, name in cldr.months(code, {"wide", "abbreviated"})]
    units = [(unit, name) for unit, forms in words["units"].items() for form in forms for name in form.split("|")]
    return {
        "weekday": _folded_words(days),
        "month": _folded_words(months),
        "season": _folded_words(
            (season, name) for season, form in words["seasons"].items() for name in form.split("|")
        ),
        "unit": _folded_words(units),
        "n": _folded_words((count, name) for count, form in words["counts"].items() for name in form.split("|")),
    }


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
    ends = words.get("weekday_ends", "")
    short = [folded(name) for names in words["weekdays"].values() for name in names.split("|")] if ends else []
    known = _one_of(set(meanings["weekday"]) - set(short))
    own = {name: _AT_END.search(name) for names in words["weekdays"].values() for name in names.split("|")}
    lookahead = "".join(found[0] for found in own.values() if found is not None)
    counts = [*meanings["n"], *(word for word in numerals.words if numerals.words[word] <= 100)]
    first = f"|{words['first']}" if "first" in words else ""
    return {
        **words.get("macros", {}),
        "lower": "(?P<lower>)",
        "weekday": rf"(?P<weekday>(?:{known}){lookahead}" + (rf"|(?:{_one_of(short)}){ends})" if short else ")"),
        "month": f"(?P<month>{_one_of(full)})",
        "mon": f"(?P<month>{_one_of(meanings['month'])})",
        "season": f"(?P<season>{_one_of(meanings['season'])})",
        "unit": f"(?P<unit>{_one_of(meanings['unit'])})",
        "span": f"(?P<unit>{_one_of(map(folded, spans))})",
        "number": rf"(?P<number>1[0-2]|0?[1-9]{'|十[一二]?|[一二三四五六七八九]' if is_spaceless else ''})",
        "n": (
            rf"(?P<n>\d{{1,4}}|[{KANJI}]{{1,5}}|{_one_of(meanings['n'])})" if is_spaceless
            else rf"(?P<n>\d{{1,4}}(?:[.,]5)?|{_one_of(counts)})"
        ),
        "day": (
            rf"(?P<day>[12]\d|3[01]|0?[1-9]|[{KANJI}]{{1,3}})" if is_spaceless
            else rf"(?P<day>[12]\d|3[01]|0?[1-9]|{_one_of(word for word, n in numerals.words.items() if n <= 31)}{first})"
        ),
        "year": _years(words) if is_spaceless else f"(?P<year>{_YEAR})",
    }  # fmt: skip


def _years(words: Mapping[str, Any]) -> str:
    era = f"|(?:{'|'.join(words['eras'])})(?:\\d{{1,2}}|元|[{KANJI}]{{1,3}})" if "eras" in words else ""
    return rf"(?P<year>{_YEAR}|[〇零一二三四五六七八九]{{4}}{era})"


def _code_of(words: Mapping[str, Any]) -> str:
    return next(code for code in codes() if table()[code] is words)
