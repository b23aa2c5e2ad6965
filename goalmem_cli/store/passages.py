"""Split long turns into passages that fit the embedder and the model's context.

Sentence splitters (NLTK, spaCy) need a download for each language, and exact ends of passages matter little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from goalmem_cli.languages.patterns import late

MAX_TOKENS = 256

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
)
"""Scripts that are written with few or no spaces, as ranges for a character class of a regular expression."""

_TOKEN = late(rf"[{UNSPACED}]|[^\W{UNSPACED}]+|[^\w\s]")
_LETTERS_PER_TOKEN = 6
_PARAGRAPH_END = late(r"(?<=\n)(?=\s*\n)|(?<=\n\n)")
_SENTENCE_END = late(r"(?<=[.!?…])(?=\s)|(?<=[。！？])|(?<=\n)")
_WORD_END = late(r"(?<=\s)(?=\S)")

_HEADING = late(r" {0,3}(?:(#{1,6})[ \t]+(.+)|\*\*([^*\n]{1,80})\*\*:?\s*$)")
_LONGEST_HEADING = 80
_BOLD_LEVEL = 7
"""The level of a line in bold: below that of every heading with `#`."""
_ITEM = late(r"(?:[-*+•]|\d{1,3}[.)])[ \t]")
_FENCE = late(r"[ \t]*(`{3,}|~{3,})")
_BLOCK = late(rf"^(?: {{0,3}}#{{1,6}}[ \t]|[ \t]*{_ITEM.pattern}|{_FENCE.pattern})", re.MULTILINE)

_AT_HEADING, _AT_PARAGRAPH, _AT_ITEM, _AT_LINE, _AFTER_LEAD, _IN_CODE, _IN_LINE = 0.0, 0.1, 0.15, 0.25, 0.6, 1.3, 2.0
"""What a cut costs: the share of a passage that may stay empty to avoid it. With these, passages of Markdown are as
long as those that `split_into_passages` makes."""


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


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line with the blank lines behind it, or a part of a long line.

    `cost` is that of a cut right before it. `heading` has the headings above it.
    """

    text: str
    tokens: int
    cost: float
    heading: str


def has_blocks(text: str) -> bool:
    """Say whether a text is longer than a passage and has a heading, a list or code in Markdown."""
    return len(text) > MAX_TOKENS and bool(_BLOCK.search(text)) and estimate_tokens(text) > MAX_TOKENS


def split_at_blocks(text: str, limit: int = MAX_TOKENS) -> list[tuple[str, str]]:
    """Return passages as `split_into_passages` does, but of Markdown, each with the headings that it stands under.

    A passage ends before a heading if possible, else where a paragraph, a code block, a list item or a line ends. A
    line is cut only if it alone is longer than a passage. The headings are joined to one text, "" if there are none.
    """
    pieces = list(_lines(text, limit))
    sizes = [0, *accumulate(piece.tokens for piece in pieces)]
    passages: list[tuple[str, str]] = []
    start = 0
    while start < len(pieces):
        end = _best_end(pieces, sizes, start, limit)
        if passage := "".join(piece.text for piece in pieces[start:end]).strip():
            passages.append((passage, pieces[start].heading))
        start = end
    return passages


def _best_end(pieces: Sequence[_Piece], sizes: Sequence[int], start: int, limit: int) -> int:
    """Return the end of the passage from `start`: the more it holds the better, less what the cut costs."""
    if sizes[-1] - sizes[start] <= limit:
        return len(pieces)
    best, most = start + 1, -_IN_LINE
    for end in range(start + 1, len(pieces)):
        size = sizes[end] - sizes[start]
        if size > limit:
            break
        if size / limit - pieces[end].cost >= most:
            best, most = end, size / limit - pieces[end].cost
    return best


def _lines(text: str, limit: int) -> Iterator[_Piece]:
    """Yield the lines of the text, long ones in parts."""
    above: list[tuple[int, str]] = []
    before = fence = ""
    for line in _with_blanks(text):
        found = None if fence else _HEADING.match(line.lstrip("\r\n"))
        level = len(found[1] or " " * _BOLD_LEVEL) if found else 0
        above = [one for one in above if not found or one[0] < level]
        heading, cost = " > ".join(title for _, title in above), _cost(before, line, is_code=bool(fence))
        for place, part in enumerate(_pieces(line, limit, (_SENTENCE_END, _WORD_END))):
            yield _Piece(part, estimate_tokens(part), _IN_LINE if place else cost, heading)
        if found:
            above.append((level, (found[2] or found[3]).strip("#*: \t\r\n")[:_LONGEST_HEADING]))
        before, fence = line, _fence_after(line, fence)


def _with_blanks(text: str) -> Iterator[str]:
    """Yield the lines of the text with their ends, each with the blank lines behind it."""
    held = ""
    for line in text.splitlines(keepends=True):
        if line.strip() and held.strip():
            yield held
            held = ""
        held += line
    yield held


def _cost(before: str, line: str, *, is_code: bool) -> float:
    """Return what a cut between two lines costs; `is_code` says that the code block of the first one goes on."""
    if is_code:
        return _IN_CODE
    if _HEADING.match(before) or before.rstrip().endswith(":"):
        return _AFTER_LEAD
    if _HEADING.match(line.lstrip("\r\n")):
        return _AT_HEADING
    if line.startswith((" ", "\t")):
        return _AT_LINE
    if _ITEM.match(line):
        return _AT_ITEM
    return _AT_PARAGRAPH if before.count("\n") > 1 or _FENCE.match(before) else _AT_LINE


def _fence_after(line: str, fence: str) -> str:
    """Return the mark of the code block that is open after a line, "" if none; `fence` is open before it."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    return "" if mark[1].startswith(fence) and line.strip() == mark[1] else fence
