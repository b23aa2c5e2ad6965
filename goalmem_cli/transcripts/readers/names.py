"""Reads plain texts with a name and a colon before each speech, as in scripts and interviews."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from goalmem_cli.logic.roles import role_of
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.document_words import are_parts
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import NearMisses, Opening, are_log_levels, openings_with_text
from goalmem_cli.transcripts.reading.source import Source

_SPEECH = re.compile(r"(?P<name>[^\W_][^:\n]{0,39}?) ?:(?:[ \t]+(?P<text>\S.*))?")
_NEARLY = re.compile(r"[^\W\d_][^:\n]{0,39}: \S")
_FEWEST = 3
_FEW_WORDS = 4
_MOST_LINES = 10
_LONGEST_NAME = 4
# Words before a colon that name no speaker.
_NOBODY = frozenset(
    "note notes ps p.s. edit update todo warning info debug error example from to cc bcc subject date re fwd reply-to"
    " sent received http https file title author version url name description status type summary".split()
)


class NamesReader:
    """Reads a file as one conversation, without times. A name speaks if it recurs or has the form of a name."""

    name = "names"
    suffixes = (".txt", ".md", ".markdown")
    sign = "lines `Name: text`, where one name comes back"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the text begins with a name, two names occur, one recurs, and their lines are speech."""
        lines = [line.strip() for line in glimpse.head.split("\n") if line.strip()]
        spoken = [match for line in lines if (match := _SPEECH.fullmatch(line)) and _may_speak(match["name"])]
        counts = Counter(match["name"] for match in spoken)
        if len(counts) < 2 or max(counts.values()) < 2 or not lines[0].startswith(spoken[0]["name"]):
            return False
        speakers = _speakers(lines)
        said = [match["text"] or "" for match in spoken if match["name"] in speakers]
        return (
            len(said) >= max(_FEWEST, len(lines) // _MOST_LINES)
            and 2 * len(said) >= len(spoken)
            and 3 * sum(map(_is_like_speech, said)) >= len(said)
            and not are_log_levels(counts)
            and not are_parts([match["name"] for match in spoken if role_of(match["name"]) is None])
        )

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversation.

        Raises:
            InputError: nobody speaks in it, or it cannot be read.
        """
        form = "write who speaks before each message (Ann: Hello.)"
        return conversations_from_drafts(source, self.name, _drafts(source), form)


def _drafts(source: Source) -> Iterator[Draft]:
    """Yield the conversation; lines that look like a speaker's but are none are counted."""
    draft = Draft()
    speakers = _speakers(line for _, line in source.lines())
    near_misses = NearMisses(draft, _NEARLY)

    def opening_of(line: str) -> Opening | None:
        """Return the message that begins on the line, None if no known speaker does."""
        match = _SPEECH.fullmatch(line.strip())
        if match is not None and match["name"] in speakers:
            return Opening(match["name"], None, match["text"] or "")
        near_misses.look_at(line)
        return None

    openings = openings_with_text(source, opening_of, lambda: draft.count("lines outside any message left out"))
    return draft.fill(_message(opening) for opening in openings)


def _message(opening: Opening) -> Message:
    return Message(opening.speaker, opening.text.strip(), role=role_of(opening.speaker))


def _speakers(lines: Iterable[str]) -> set[str]:
    """Return the names before a colon that recur, or that have the form of a name."""
    counts = Counter(match["name"] for line in lines if (match := _SPEECH.fullmatch(line.strip())))
    return {name for name, count in counts.items() if _may_speak(name) and (count > 1 or _is_like_a_name(name))}


def _is_like_speech(text: str) -> bool:
    """Say whether the text ends like a sentence or has four words; values of settings and records do not."""
    return text.endswith((".", "!", "?", "…", "。", "！", "？")) or len(text.split()) >= _FEW_WORDS


def _may_speak(name: str) -> bool:
    return name.casefold() not in _NOBODY and len(name.split()) <= _LONGEST_NAME and not name[0].isdigit()


def _is_like_a_name(name: str) -> bool:
    return all(not word[0].islower() for word in name.split()) and not any(letter.isdigit() for letter in name)
