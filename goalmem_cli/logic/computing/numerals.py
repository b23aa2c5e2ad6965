"""Normalise numbers as people write them: decide which marks group thousands and which one separates decimals.

"1,150.50", "1.150,50", "1 150,50" and "1'150.50" are one number. "1.150" is ambiguous; other numbers may decide it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from goalmem_cli.languages.patterns import late

_GAP = "[\u00a0\u202f\u2009\u2007]"
_JOINED = late(rf"(?<![\w.,'’])[1-9]\d{{0,2}}(?:{_GAP}\d{{3}})+(?!\d)")
_SPACED = late(
    r"(?<![\w.,'’])[1-9]\d{0,2}(?: \d{3})+(?!\d)(?P<part>[.,]\d{1,2}(?!\d))?(?P<sign>\s?[€$£¥₹])?", re.IGNORECASE
)
_SIGNED = late(r"[€$£¥₹] ?$")
_MARKED = late(r"(?<![\w.,'’])\d+(?:[.,'’]\d+)+(?![.,'’]?\d)")
_ROUND = late(r"(?<=\d),[-–—]+(?!\d)")
_UNIT = late(
    r"\s?(?:[€$£¥₹%]|(?:euros?|eur|dollars?|usd|pounds?|gbp|francs?|chf|kronor|kroner|k?g|k?m|[cm]m|m?l)\b)",
    re.IGNORECASE,
)
_INDIAN = late(r"\d{1,2}(?:,\d{2})+,\d{3}")


def plain_numerals(text: str) -> str:
    """Return the text with its numbers in plain digits and a decimal point: 1150.50.

    What may be several numbers, a date or a version is left unchanged. Ambiguous numbers are read as in English.
    """
    return _MARKED.sub(lambda found: _plain(found[0]), _without_gaps(_ROUND.sub(",00", text)))


def in_english(text: str) -> str:
    """Return the text with comma and point swapped in its ambiguous numbers: 1.150 -> 1,150."""
    swap = str.maketrans(".,", ",.")
    return _MARKED.sub(lambda found: found[0].translate(swap) if _is_ambiguous(found[0]) else found[0], text)


def has_decimal_comma(texts: Iterable[str]) -> bool | None:
    """Say whether the texts use a comma for decimals; None if their numbers do not tell.

    A number tells if it has several marks, or one or two decimals next to a unit; "rooms 4,5" may be two rooms.
    """
    told: set[bool] = set()
    for text in texts:
        plain = _without_gaps(_ROUND.sub(",00", text))
        for found in _MARKED.finditer(plain):
            mark = _decimal_mark(found[0])
            is_measure = re.search(r"[.,]\d\d?$", found[0]) and (
                _SIGNED.search(plain[: found.start()]) or _UNIT.match(plain, found.end())
            )
            if mark and (is_measure or len(re.findall(r"[.,'’]", found[0])) > 1):
                told.add(mark == ",")
    return told.pop() if len(told) == 1 else None


def _without_gaps(text: str) -> str:
    """Return the text without blanks that group digits; a plain blank may also separate two numbers."""
    joined = _JOINED.sub(lambda found: re.sub(_GAP, "", found[0]), text)

    def close(found: re.Match[str]) -> str:
        groups = found[0][: found.start("part") - found.start() if found["part"] else None].split()
        is_one = found["part"] or found["sign"] or len(groups) > 2 or any(group[0] == "0" for group in groups)
        is_one = is_one or _SIGNED.search(joined[: found.start()])
        return found[0].replace(" ", "") if is_one else found[0]

    return _SPACED.sub(close, joined)


def _plain(written: str) -> str:
    """Return a number in plain digits, or unchanged if its marks do not form a number."""
    mark = _decimal_mark(written)
    if not mark and _is_ambiguous(written):
        mark = "."
    head, point, tail = written.rpartition(mark) if mark and mark in written else (written, "", "")
    if not point:
        head, tail = written, ""
    return re.sub(r"[.,'’]", "", head) + (f".{tail}" if tail else "") if _is_grouped(head, mark) else written


def _is_grouped(head: str, mark: str) -> bool:
    """Say whether the digits before the decimal `mark` are ungrouped, or grouped by another mark.

    Groups have three digits. Unless the decimal mark is a comma, India's groups of two count too: 12,34,567.
    """
    if head.isdigit() or (mark != "," and _INDIAN.fullmatch(head)):
        return True
    marks = set(re.findall(r"[.,'’]", head))
    return len(marks - {mark}) == len(marks) == 1 and re.fullmatch(r"[1-9]\d{0,2}(?:\D\d{3})+", head) is not None


def _is_ambiguous(written: str) -> bool:
    return re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", written) is not None


def _decimal_mark(written: str) -> str:
    """Return the mark that certainly separates decimals in the language of this number, or "" if it does not tell."""
    marks = re.findall(r"[.,'’]", written)
    last, others = marks[-1], set(marks[:-1])
    if _is_ambiguous(written) or last in "'’":
        return ""
    if last not in others:
        is_number = not others or _is_grouped(written.rpartition(last)[0], last)
        return last if is_number else ""
    is_grouping = others == {last} and (_is_grouped(written, "") or _INDIAN.fullmatch(written))
    return {".": ",", ",": "."}[last] if is_grouping else ""
