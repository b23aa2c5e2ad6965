"""What both domains' realisations share: numbers in words, capitals, and a template filled from its choices."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth""".split()
_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?] ))[a-z]")


def ordinal(number: int) -> str:
    """Return the number's ordinal: a word up to twelve, digits from there on."""
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def filled(templates: Sequence[str], chance: random.Random, **words: str) -> str:
    """Return one of the templates with the words in place, every sentence of it with a capital."""
    return sentences(chance.choice(templates).format(**words))


def sentences(text: str) -> str:
    """Return the text with a capital at the start of every sentence."""
    return _SENTENCE_START.sub(lambda match: match[0].upper(), text)


def listed(items: Sequence[str]) -> str:
    """Return the items as words: with commas, and with "and" before the last."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
