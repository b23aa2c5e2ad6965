"""Finds the messages in text that is copied from Slack: a name, a time below it, and below that what is said.

The layout is that of the samples of amittell/obsidian-slack-formatter (1.1.3, 2025). Times are left unknown, since
Slack gives days as "Yesterday" or "Wednesday", or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.messenger import Opening

_EMOJI = r":[\w+'-]{1,60}:"
_TIME = re.compile(rf"(?:{_EMOJI})? {{2}}(?:[^\W\d_][^:\n]{{2,30}} at )?\d{{1,2}}:\d\d(?: [AP]M)?\s*")
_AGAIN = re.compile(r"\d{1,2}:\d\d\s*")
"""A time alone: the person above says more."""
_SIGN = re.compile(
    rf"\(edited\)|^(?:\d+ repl(?:y|ies)|Last reply .*|@[\w.-]+|was added to .*|{_EMOJI}(?: {{2}}.*)?)$", re.MULTILINE
)
_MENTION = re.compile(r" \n(@[^\s@]{1,80})\n")
_REACTIONS = re.compile(rf"^(?:{_EMOJI})+\n\d{{1,4}}(?:\n|\Z)", re.MULTILINE)
_BESIDE = re.compile(
    r"^(?:\d+ repl(?:y|ies)|Last reply .*|View thread|Also sent to the channel|replied to a thread:.*)(?:\n|\Z)",
    re.MULTILINE,
)
_NOTICE = re.compile(r"was added to .{1,100} by .{1,100}(?:\n\.)?|(?:joined|left) \S{1,80}\n\.")
_LONGEST_NAME, _FEWEST, _MOST_BEFORE = 80, 2, 2


class SlackHeads:
    """Finds the lines with which messages begin, if it is given all lines in order; `lines` are these lines too."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._following = iter(lines)
        next(self._following, None)
        self._speaker = ""
        self._may_begin = True

    def opening_of(self, line: str) -> Opening | None:
        """Return the message that begins on the line, None if none does. A name stands below a blank line."""
        name, below = line.strip(), next(self._following, "")
        is_head = self._may_begin and 0 < len(name) <= _LONGEST_NAME and _TIME.fullmatch(below) is not None
        self._may_begin = not name
        self._speaker = name if is_head else self._speaker
        return Opening(self._speaker, None, "") if is_head or (self._speaker and _AGAIN.fullmatch(line)) else None


def is_of_slack(head: str) -> bool:
    """Return whether the text begins with a message (the channel's name may precede it) and has another.

    Either somebody comes back, or words of Slack's own are there.
    """
    lines = head.split("\n")
    heads = SlackHeads(lines)
    openings = [(line, heads.opening_of(line)) for line in lines]
    found = [(line, opening.speaker if opening else "") for line, opening in openings if line.strip()]
    names = [name for _, name in found if name]
    before = [line for line, name in found[: _MOST_BEFORE + 1] if not name and ":" not in line]
    if len(names) < _FEWEST or not any(name for _, name in found[: len(before) + 1]):
        return False
    return len(set(names)) < len(names) or _SIGN.search(head) is not None


def said_in_slack(draft: Draft, openings: Iterable[Opening]) -> Iterator[Opening]:
    """Yield what people said; notices are counted, and reactions and counts of replies left out."""
    for opening in openings:
        first, _, rest = opening.text.lstrip("\n").partition("\n")
        text = _MENTION.sub(r" \1", rest if _TIME.fullmatch(first) else opening.text)
        text = _BESIDE.sub("", _REACTIONS.sub("", text)).strip().removesuffix("(edited)").strip()
        if _NOTICE.fullmatch(text):
            draft.count("notices left out")
        elif text:
            yield replace(opening, text=text)
        else:
            draft.count("messages of media alone left out")
