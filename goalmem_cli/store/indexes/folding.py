"""Normalise texts for the text index, so that queries match texts that were typed differently.

Only the index uses this; stored and shown texts are unchanged.
"""

from __future__ import annotations

import unicodedata

from goalmem_cli.languages.patterns import late
from goalmem_cli.store.passages import UNSPACED

_LETTERS = f"{UNSPACED}\u3005-\u3007\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\U0001f1e6-\U0001f1ff"
_SIGNS = "\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
_LETTER = late(f"[{_LETTERS}]")
_LETTER_RUN = late(f"[{_LETTERS}]+")
_RUN = late(f"[{_LETTERS}{_SIGNS}]+")
_SIGN = late(f"[{_SIGNS}]")

# A joiner that Persian writes inside a word, where others write a space.
_ARABIC_JOINT = late("(?<=[\u0600-\u06ff])\u200c")
_ZERO_WIDTH_SPACE = 0x200B
# Combining classes of marks that may be left out: nukta, virama, the points of Hebrew, Arabic and Syriac, accents.
_OPTIONAL_MARKS = frozenset({1, 7, 9, *range(10, 37), *range(200, 241)})
_SAME_LETTER = {
    "\u0671": "\u0627", "\u0649": "\u064a", "\u06cc": "\u064a", "\u06a9": "\u0643",
    "\u0629": "\u0647", "\u06c1": "\u0647", "\u06be": "\u0647", "\u06d5": "\u0647",
}  # fmt: skip
_LEFT_OUT = late("[\u0640\ufe00-\ufe0f\U000e0100-\U000e01ef\U0001f3fb-\U0001f3ff]")  # tatweel, variants, tones


class _Folding(dict[int, str]):
    """Code point -> its replacement, computed at the first use, as there are too many to list."""

    def __missing__(self, code: int) -> str:
        self[code] = _folded(chr(code))
        return self[code]


def _folded(character: str) -> str:
    """Return the character in its searchable form: digits as 0 to 9, no optional marks, "" if it is left out."""
    if _LEFT_OUT.match(character):
        return ""
    category = unicodedata.category(character)
    if category == "Cf":
        return " " if ord(character) == _ZERO_WIDTH_SPACE else ""
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if unicodedata.combining(character) in _OPTIONAL_MARKS and not _LETTER.match(character):
        return ""
    return _SAME_LETTER.get(character, character)


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Return the text without typing differences: compatibility forms, case, accents, vowel points, tones.

    Arabic letters that are used interchangeably become one letter. Digits of every script become 0 to 9. ASCII text is
    returned unchanged, capitals included.
    """
    if text.isascii():
        return text
    if "\u200c" in text:
        text = _ARABIC_JOINT.sub(" ", text)
    # casefold before the accents go, since it makes some, and compose last, since Korean was taken apart
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text).casefold().translate(_FOLDING))


def with_accents(text: str) -> str:
    """Return the text without differences of form and case, but with its accents, which stemmers go by."""
    return text if text.isascii() else unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def spaced(folded: str) -> str:
    """Return the part of a folded text that is written with spaces between its words."""
    return folded if folded.isascii() else _LETTER_RUN.sub(" ", folded)


def runs(folded: str) -> list[str]:
    """Return the runs of a folded text that are written without spaces: certain scripts, and emoji."""
    return [] if folded.isascii() else _RUN.findall(folded)


def is_sign(gram: str) -> bool:
    """Return whether it is an emoji or the like, which has a meaning by itself, unlike a letter of a run."""
    return len(gram) == 1 and _SIGN.match(gram) is not None
