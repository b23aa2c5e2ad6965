"""Say short values of other languages in English: a date, a number in words, a length of time, a sum of money.

"3. Mai" is "3 May", "zwei Dutzend Eier" is "24 eier", "drei Wochen" is "3 weeks", 1万2千円 is "12000 jpy". Where the
language is not known, words that English has too are left as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path

from goalmem_cli.languages.patterns import late
from goalmem_cli.languages.words import CODES, FOLDER
from goalmem_cli.logic.languages.numerals import kanji_number
from goalmem_cli.logic.languages.tables import english_words, folded, language, numerals_of, table, telling
from goalmem_cli.logic.languages.times import is_readable, short, whole_phrase

_MIXED = r"[\d.〇零一二两兩三四五六七八九十百千万萬億亿]"
_IN_KANJI = late(rf"(?<![\w.,])(?:\d[\d,]*)?{_MIXED}*[〇零一二两兩三四五六七八九十百千万萬億亿]{_MIXED}*")
_TOKEN = late(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:-[^\W\d_]+)*")
_PLAIN = late(r"\d{1,4}(?:[.,]\d{1,2})?")
_FEW_THOUSAND = late(
    r"(?<![$£\w.,])(?:\d{1,3}(?:[.,]\d)?|[a-z]+) mil(?=$| (?:de|euros?|reais|pesos|d[oó]lares|soles|libras|yenes)\b)"
)
_LINKS = frozenset({"y", "e", "et", "und"})
_HUNDRED, _THOUSAND, _MOST_TOKENS = 100, 1000, 3
_NAME = late(r"[A-ZÀ-Ý]\w+ [A-ZÀ-Ý]")  # "Tres Leches"
_HAN = late(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class _Words:
    """The words of a language without accents; `telling` are those that English does not have."""

    numbers: Mapping[str, int]
    scales: Mapping[str, int]
    measures: Mapping[str, str]
    measured: re.Pattern[str]
    about: re.Pattern[str]
    counters: str
    is_spaceless: bool
    telling: frozenset[str]


@lru_cache(maxsize=4096)  # the values of an answer are compared with one another
def value_in_english(value: str, code: str | None = None) -> str:
    """Return the value with its time, numbers, lengths of time and currencies in English; unchanged if it has none.

    `code` is the value's language as a short tag of BCP 47 if it is known. What is changed is in lower case.
    """
    lower = value.lower()
    if len(lower) != len(value) or (code is not None and not is_readable(code)):
        return value
    if (time := whole_phrase(value, code)) is not None:
        return time
    told = {_said(lower, _words(one)) for one in _codes(value, code)} - {lower}
    left = {one: sum(letter.isalpha() and letter in lower for letter in one) for one in told}
    best = [one for one in told if left[one] == min(left.values())]  # the language that has the most of its words
    return best[0] if len(best) == 1 else value


def write_keys(path: Path = FOLDER / "keys.json") -> None:
    """Write the file of `tables.keys` and `tables.telling`, gathered from all languages; raises OSError."""
    of = {code: language(code).rules for code in CODES if not language(code).is_spaceless}
    words = {code: {key for rule in of[code] for key in rule.keys} for code in of} | {"en": english_words()}
    times = {
        word: " ".join(sorted(code for code in words if word in words[code]))
        for word in sorted({word for code in of for word in words[code]})
    }
    values = sorted({word for code in CODES for word in _words(code).telling})
    content = json.dumps({"times": times, "values": "|".join(values)}, indent=0, ensure_ascii=False)
    path.write_text(f"{content}\n", "utf-8", newline="\n")


def numbers_in_english(text: str) -> str:
    """Return a text of any length with the numbers in it in digits, if they cannot be English."""
    lower = text.lower()
    if len(lower) != len(text):
        return text
    return next(
        (told for one in _codes(text, None) if (told := _said(lower, _words(one), is_text=True)) != lower), text
    )


def _codes(value: str, code: str | None) -> Iterator[str]:
    """Yield the languages to read the value in: the one given, or each that has a word of it that English has not."""
    if code is not None:
        yield short(code)
        return
    plain = folded(value.lower())
    words = frozenset(_TOKEN.findall(plain))
    is_many, is_han = _FEW_THOUSAND.search(plain) is not None, _HAN.search(plain) is not None
    if not is_many and not is_han and words.isdisjoint(telling()):
        return
    is_name = _NAME.match(value) is not None
    for one in CODES:
        if _words(one).is_spaceless:
            is_read = is_han
        else:
            is_read = not _words(one).telling.isdisjoint(words) or (is_many and "mil" in _words(one).scales)
        if is_read and (one == "de" or not is_name):
            yield one


def _said(lower: str, known: _Words, *, is_text: bool = False) -> str:
    """Return the text with its numbers in digits; in a value, those in words only if it begins with one."""
    told = _numbered(lower, known, is_text=is_text)
    told = _replaced(told, _IN_KANJI, lambda found: _in_digits(found, known.counters))
    return _replaced(told, known.measured, lambda found: f"{found['number']} {known.measures[found['measure']]}")


@cache
def _words(code: str) -> _Words:
    """Return the prepared words of a language: its numbers, units, currencies and patterns."""
    numerals = numerals_of(code)
    measures = {word: unit for word, unit in (_units(code) | _money(code)).items() if word not in english_words()}
    names = "|".join(sorted(map(re.escape, measures), key=len, reverse=True))
    return _Words(
        numerals.words, numerals.scales, measures,
        late(rf"(?P<number>\d)\s?(?P<measure>{names})(?![^\W\d_])"),
        late(folded(table()[code]["macros"].get("about", ""))), table()[code].get("counters", ""),
        bool(table()[code].get("is_spaceless")),
        frozenset({*numerals.words, *numerals.scales, *measures} - english_words()),
    )  # fmt: skip


def _units(code: str) -> dict[str, str]:
    """Return the words for lengths of time; of Chinese and Japanese those that no date has."""
    units = language(code).meanings["unit"]
    return {word: f"{unit}s" for word, unit in units.items() if len(word) > 1 or word in ("天", "週")}


def _money(code: str) -> dict[str, str]:
    money = table()[code].get("money", {})
    return {folded(word): sign.lower() for sign, form in money.items() for word in form.split("|")}


def _replaced(text: str, pattern: re.Pattern[str], read: Callable[[re.Match[str]], str]) -> str:
    """Return the text with each match of the pattern, which has no accents, replaced; the rest keeps its accents."""
    result, place = "", 0
    for found in pattern.finditer(folded(text)):
        result, place = result + text[place : found.start()] + read(found), found.end()
    return result + text[place:]


def _in_digits(found: re.Match[str], counters: str) -> str:
    """Return a number in digits if it ends the text or a counter follows it; otherwise return it unchanged."""
    after = found.string[found.end() : found.end() + 1]
    number = kanji_number(found[0])
    if number is None or (len(found[0]) == 1 and after and after not in counters):
        return found[0]
    return _written(number)


def _numbered(lower: str, known: _Words, *, is_text: bool) -> str:
    """Return the text with each run of number words in digits, or only the one with which it begins."""
    plain = folded(lower)
    about = known.about.match(plain)
    tokens = list(_TOKEN.finditer(plain, about.end() if about else 0))
    result, place, at = "", 0, 0
    while at < len(tokens):
        length, number = _run(plain, tokens[at:], known)
        if number is not None:
            result += lower[place : tokens[at].start()] + _written(number)
            place = tokens[at + length - 1].end()
        at += max(1, length)
        if not is_text:
            break
    return result + lower[place:]


def _run(plain: str, tokens: Sequence[re.Match[str]], known: _Words) -> tuple[int, Fraction | None]:
    """Return how many of the first tokens form a number in words, and the number; None if they form none."""
    near = 1
    while near < len(tokens) and plain[tokens[near - 1].end() : tokens[near].start()] == " ":
        near += 1
    words = [token[0] for token in tokens[:near]]
    total, current, at = Fraction(0), Fraction(0), 0
    while at < len(words):
        length, value = _next(words[at:], known)
        if value is not None and (not at or (value < (_HUNDRED if current else _THOUSAND) and current % _HUNDRED == 0)):
            current, at = current + value, at + length
        elif (at and words[at] in known.scales) or (not at and known.scales.get(words[at], 0) >= _HUNDRED):
            total, current = _scaled(total, current, known.scales[words[at]])
            at += 1
        elif at and words[at] in _LINKS and total + current >= _HUNDRED and _next(words[at + 1 :], known)[1]:
            at += 1
        else:
            break
    is_in_words = any(word in known.numbers or word in known.scales for word in (words[0], *words[1:at]) if at)
    if not is_in_words or (at == 1 and known.numbers.get(words[0]) == 1 and not _is_counted(plain, words, known)):
        return at, None
    return at, total + current


def _is_counted(plain: str, words: Sequence[str], known: _Words) -> bool:
    """Say whether a word for one counts ("eine Woche") and is no article ("ein Hund")."""
    return plain.strip() == words[0] or (len(words) > 1 and words[1] in known.measures)


def _scaled(total: Fraction, current: Fraction, scale: int) -> tuple[Fraction, Fraction]:
    if scale == _HUNDRED:
        return total, (current or Fraction(1)) * scale
    scaled = total + current * scale if current else (total or Fraction(1)) * scale
    return scaled, Fraction(0)


def _next(words: Sequence[str], known: _Words) -> tuple[int, Fraction | None]:
    """Return how many of the first words form one number word or digits, and their number; 0 and None if none do."""
    for length in range(min(_MOST_TOKENS, len(words)), 0, -1):
        if (number := known.numbers.get(" ".join(words[:length]))) is not None:
            return length, Fraction(number)
    if words and _PLAIN.fullmatch(words[0]):
        return 1, Fraction(words[0].replace(",", "."))
    return 0, None


def _written(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{Decimal(number.numerator) / number.denominator:f}"
