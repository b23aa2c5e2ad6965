"""Finds the speakers in a WhatsApp chat. Notices may hold a colon too; the whole chat tells them apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from goalmem_cli.transcripts.readers.whatsapp_lines import Header
from goalmem_cli.transcripts.reading.written_times import MARKS

_LONGEST_NAME = 100
_NO_MARKS = dict.fromkeys(map(ord, MARKS))
_QUOTES = ("“”", "«»", "「」", "『』", "‹›")
_GERMAN_QUOTES = ("„", "“”")
# The end of a sentence inside a text, after a word of some length: the "Dr." of a name does not match.
_SENTENCE = re.compile(r"\w{4,}[.!?] \w|[。！？]")
_SENTENCE_WORDS = 6
_WORDS_BEHIND_NAME = 4
_WORDS_OF_NAME = 4


class Speakers:
    """The names before the colons of a chat, and how often each occurs."""

    def __init__(self) -> None:
        self._spaced: Counter[str] = Counter()
        self._tight: Counter[str] = Counter()
        self._told: dict[str, str] = {}

    def heard_in(self, headers: Iterable[Header]) -> Iterator[Header]:
        """Yield the headers, and count the names in them."""
        for header in headers:
            name, colon, _ = _parted(header.rest)
            if colon:
                self._spaced[_plain(name)] += 1
            else:
                name, colon, _ = header.rest.partition(":")
                self._tight[_plain(name)] += bool(colon)
            yield header

    def speaker_and_text(self, header: Header) -> tuple[str, str]:
        """Return the speaker and the first line of the text; the speaker is "" if the line is a notice.

        All headers of the chat must have passed `heard_in` before.
        """
        rest = header.rest.strip()
        name, colon, text = _parted(rest)
        if not colon or ":" in name:
            first, tight, behind = rest.partition(":")
            if tight and self._speaks_without_blank(_plain(first), behind, _plain(name) if colon else ""):
                name, colon, text = first, tight, behind
        if not colon:
            return "", rest
        if name not in self._told:
            speaker = _plain(name)
            self._told[name] = "" if len(speaker) > _LONGEST_NAME or self._is_notice(speaker) else speaker
        return (self._told[name], text) if self._told[name] else ("", rest)

    def _speaks_without_blank(self, name: str, text: str, otherwise: str) -> bool:
        """Say whether Ben speaks in `Ben:text`: he speaks elsewhere, or no colon in the chat has a blank after it."""
        if not name or text.startswith("//") or self._spaced[otherwise] > 1:
            return False
        if otherwise or self._spaced[name]:
            return self._spaced[name] > 0
        return not self._spaced and (self._tight[name] > 1 or len(name.split()) <= _WORDS_OF_NAME)

    def _is_notice(self, name: str) -> bool:
        """Say whether the text before the colon is a notice: an open quote, sentences, or what somebody did.

        In most languages a group's name with a colon is in quotes. In the others, a notice begins with a name that
        speaks elsewhere, and only the number of words after that name shows that it is one.
        """
        if name.count('"') % 2 or any(name.count(pair[0]) > name.count(pair[1]) for pair in _QUOTES):
            return True
        opened, closed = _GERMAN_QUOTES
        if name.count(opened) > sum(map(name.count, closed)):
            return True
        if self._spaced[name] > 1:
            return False
        words = name.split()
        if _SENTENCE.search(name) and (len(words) >= _SENTENCE_WORDS or not name.isascii()):
            return True
        return any(self._spaced[" ".join(words[:count])] > 1 for count in range(1, len(words) - _WORDS_BEHIND_NAME + 1))


def _parted(rest: str) -> tuple[str, str, str]:
    """Split at the first colon that a blank follows, or at a colon at the end of the line."""
    name, colon, text = rest.partition(": ")
    if not colon and (stripped := rest.rstrip()).endswith(":"):
        return stripped[:-1], ":", ""
    return name, colon, text


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    return " ".join(name.translate(_NO_MARKS).split()).removeprefix("~").strip()
