"""Split long turns into passages that fit the embedder and the model's context.

Sentence splitters (NLTK, spaCy) need a download for each language, and exact ends of passages matter little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_TOKENS = 256

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
)
"""Scripts that are written with few or no spaces, as ranges for a character class of a regular expression."""

_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+|[^\w\s]")
_LETTERS_PER_TOKEN = 6
_PARAGRAPH_END = re.compile(r"(?<=\n)(?=\s*\n)|(?<=\n\n)")
_SENTENCE_END = re.compile(r"(?<=[.!?…])(?=\s)|(?<=[。！？])|(?<=\n)")
_WORD_END = re.compile(r"(?<=\s)(?=\S)")


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a subword tokenizer makes of the text: at least one per word."""
    return sum(-(-len(match.group()) // _LETTERS_PER_TOKEN) for match in _TOKEN.finditer(text))


def split_into_passages(text: str, limit: int = MAX_TOKENS) -> list[str]:
    """Return the text in consecutive passages of at most `limit` estimated tokens each.

    A passage ends at the end of a paragraph if possible, else of a sentence, else of a word, else anywhere. Together
    they have every character of the text except blanks between passages.
    """
    if len(text) <= limit:  # no token is shorter than a character
        return [text.strip()] if text.strip() else []
    passages: list[str] = []
    size = 0
    for piece in _pieces(text, limit, (_PARAGRAPH_END, _SENTENCE_END, _WORD_END)):
        tokens = estimate_tokens(piece)
        if passages and size + tokens <= limit:
            passages[-1] += piece
            size += tokens
        else:
            passages.append(piece)
            size = tokens
    return [passage.strip() for passage in passages if passage.strip()]


def _pieces(text: str, limit: int, ends: tuple[re.Pattern[str], ...]) -> Iterator[str]:
    """Yield pieces of the text within the limit; a piece that is too long is split at the next kind of end."""
    if estimate_tokens(text) <= limit:
        yield text
    elif ends:
        for piece in ends[0].split(text):
            yield from _pieces(piece, limit, ends[1:])
    else:
        # every token spans at least one character, so this many characters cannot be too many tokens
        yield from (text[start : start + limit] for start in range(0, len(text), limit))
