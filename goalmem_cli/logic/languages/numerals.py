"""The number words of other languages (drei, veinticinco, Dutzend, mil), and Chinese and Japanese numerals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

KANJI = "〇零一二两兩三四五六七八九十百"
_DIGITS = {
    digit: value for value, digits in enumerate("〇零 一 二两兩 三 四 五 六 七 八 九".split()) for digit in digits
}
_PLACES = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8}
_IN_KANJI = re.compile(r"(?:\d[\d,]*(?:\.\d+)?|[〇零一二两兩三四五六七八九十百千万萬億亿])+")


@dataclass(frozen=True)
class Numerals:
    """The number words of a language without accents, and its words for thousands, dozens and the like."""

    words: Mapping[str, int]
    scales: Mapping[str, int]

    @classmethod
    def of(cls, words: Mapping[str, Any], folded: Callable[[str], str]) -> Numerals:
        """Return the numerals of a language's table; 21 to 99 are put together from tens and ones."""
        known = {folded(word): value for value, written in words.get("numbers", {}).items() for word in written.split()}
        scales = {folded(word): scale for scale, form in words.get("scales", {}).items() for word in form.split("|")}
        joined: dict[str, int] = {}
        for ten, one in product(known, known):
            most = 20 if known[ten] in words.get("teens", ()) else 10
            if 20 <= known[ten] < 100 and known[ten] % 10 == 0 and 0 < known[one] < most:
                for join in words.get("joins", ()):
                    joined[join.format(ten=ten, one=one)] = known[ten] + known[one]
        return cls(joined | known, scales)


def kanji_number(written: str) -> Fraction | None:
    """Return the number in Chinese or Japanese numerals, also mixed with digits; None if they form none."""
    if not _IN_KANJI.fullmatch(written):
        return None
    if all(letter in _DIGITS for letter in written) and len(written) > 1:
        return Fraction("".join(str(_DIGITS[letter]) for letter in written))  # 二〇二四
    total = section = Fraction(0)
    current: Fraction | None = None
    for part in re.findall(r"\d[\d,]*(?:\.\d+)?|\D", written):
        if part in _PLACES:
            section, current = section + (1 if current is None else current) * _PLACES[part], None
        elif part in _MYRIADS:
            total, section, current = total + (section + (current or 0) or 1) * _MYRIADS[part], Fraction(0), None
        elif current:
            return None  # two digits beside each other
        else:
            current = Fraction(_DIGITS[part] if part in _DIGITS else part.replace(",", ""))
    return total + section + (current or 0)
