"""Make compressed keys by which segments are searched: the segment's text without its commonest words.

The original lets a classifier of 560 million parameters (LLMLingua-2) choose the tokens to keep. This replacement needs
no model: it drops function words first, then the words that most segments have. As in the original, line ends, full
stops and speakers' names stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from goalmem_cli.backbones.secom import KEY, NAME
from goalmem_cli.logic.normal import FUNCTION_WORDS, words
from goalmem_cli.records import Unit, content_hash

OF = "segment"
"""The attribute of a key that holds the id of its segment."""
_MARK = re.compile(r"[^\n]*?: ")


def key_units(segments: Sequence[Unit], rate: float) -> list[Unit]:
    """Return a key for each segment, which keeps the share `rate` of its words.

    The frequency of words is counted over these segments.
    """
    counts = Counter(word for segment in segments for word in set(words(segment.text)))
    return [_key(segment, compressed(segment.text, rate, counts)) for segment in segments]


def compressed(text: str, rate: float, counts: Counter[str]) -> str:
    """Return the text with the share `rate` of its words; the commonest by `counts` are dropped first."""
    lines = [(mark := _MARK.match(line), line[mark.end() if mark else 0 :].split()) for line in text.split("\n")]
    pieces = [(row, place, piece) for row, (_, found) in enumerate(lines) for place, piece in enumerate(found)]
    excess = len(pieces) - max(1, round(rate * len(pieces)))
    order = sorted(pieces, key=lambda each: _worth(each[2], counts))[:excess]
    gone = {(row, place) for row, place, _ in order}
    kept = []
    for row, (mark, found) in enumerate(lines):
        told = [_left(piece, (row, place) in gone) for place, piece in enumerate(found)]
        kept.append((mark[0] if mark else "") + " ".join(filter(None, told)))
    return "\n".join(kept)


def _worth(piece: str, counts: Counter[str]) -> tuple[bool, int]:
    """Return a sort key by information: function words come first, then common words."""
    found = words(piece)
    return any(word not in FUNCTION_WORDS for word in found), -min((counts[word] for word in found), default=0)


def _left(piece: str, is_gone: bool) -> str:
    """Return what stays of a word: all of it, or only its full stop if it is dropped."""
    return piece if not is_gone else "." if piece.endswith(".") else ""


def _key(segment: Unit, text: str) -> Unit:
    id_ = content_hash(NAME, KEY, segment.id, text)
    return replace(segment, id=id_, kind=KEY, text=text, attributes={OF: segment.id})
