"""Compare answers in scripts that put no blanks between words: by characters, as MLQA and CMRC 2018 do."""

from __future__ import annotations

import unicodedata

import regex  # type: ignore[import-untyped]

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}ー]"
_CHARACTER = regex.compile(_UNSPACED)
_COMMAS = str.maketrans("、，；;", ",,,,")
_MARKS = regex.compile(r"[\p{P}--[!-~]]", regex.V1)


def is_unspaced(text: str) -> bool:
    """Say whether the text has Chinese or Japanese characters."""
    return _CHARACTER.search(text) is not None


def spaced(text: str) -> str:
    """Return the text with blanks around each Chinese or Japanese character, so that scores of words count these.

    Runs of other letters and of digits stay words. Full-width forms become ordinary ones, marks that list things
    become commas, and other punctuation beyond ASCII blanks.
    """
    plain = unicodedata.normalize("NFKC", text).translate(_COMMAS)
    return " ".join(_CHARACTER.sub(r" \g<0> ", _MARKS.sub(" ", plain)).split())
