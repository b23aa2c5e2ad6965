"""Reads chats of iMessage as imessage-exporter writes them as text (ReagentX/imessage-exporter, 1.0 to 3.x, `-f txt`).

A message is the line of its time, the line of its sender, and the lines of its text up to the next time. Answers are
written twice, below what they answer and at their own time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.reading.drafts import Draft, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, messages_from_openings
from goalmem_cli.transcripts.reading.source import LONGEST_LINE, Source
from goalmem_cli.transcripts.reading.times import stamp_from_text

_FIRST_LINES = 10
_TIME = r"(?P<time>[A-Z][a-z]{2} \d\d, \d{4} [ \d]\d:\d\d:\d\d [AP]M)"
_HEADER = re.compile(rf"{_TIME}(?: \(Read by [^()]*\))?", re.ASCII)
_ANNOUNCEMENT = re.compile(rf"{_TIME} (?P<what>.*\S)")
_ANSWER = re.compile(rf" {{4}}{_TIME}(?: \(Read by [^()]*\))?", re.ASCII)
_EDIT = re.compile(r"Edited [^:]{1,60} later: ?(?P<text>.*)")
_TAPBACKS = frozenset({"Tapbacks:", "Reactions:"})
_ANSWERS = "This message responded to an earlier message."
_DELETED = re.compile(
    r"This message was deleted from the conversation!"
    r"|.{1,60} (?:deleted a message\.|unsent (?:a|this) message(?: part)?.*)"
)
_FILE = re.compile(
    r"(?:attachments/|~/|/|[A-Z]:\\)(?:[^\n]*[/\\])?(?:[^/\n]*\.\w{2,5}|[^/\n]*)|Attachment missing!"
    r"|(?:\w+ )?Sticker from .{1,60}(?:: .+| not found!)"
)
_IN_ATTACHMENTS = re.compile(r"attachments/|[/\\]Attachments[/\\]|Attachment missing!|Sticker from ")
_EFFECTS = frozenset(
    f"Sent with {effect}"
    for effect in (
        "Confetti", "Echo", "Fireworks", "Balloons", "Heart", "Lasers", "Shooting Star", "Sparkles", "Spotlight",
        "Slam", "Loud", "Gentle", "Invisible Ink",
    )
)  # fmt: skip
_NOTICES = frozenset({"SharePlay Message", "Handwritten messages are not yet supported!"})


class ImessageReader:
    """A file is one chat, named after the file. Times are local."""

    name = "imessage"
    suffixes = (".txt",)
    sign = "lines such as `May 17, 2022  5:29:42 PM`, with a sender below"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines is a time as the exporter writes it, and the next one a sender."""
        lines = glimpse.head.split("\n")[: 2 * _FIRST_LINES]
        return any(_HEADER.fullmatch(line) and after.strip() for line, after in pairwise(lines))

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversation.

        Raises:
            InputError: nothing in it is a message, or a time is none; the place is the line.
        """
        return conversations_from_drafts(source, self.name, _drafts(source))


def _drafts(source: Source) -> Iterator[Draft]:
    draft = Draft()
    return draft.fill(messages_from_openings(draft, _openings(source, draft)))


def _openings(source: Source, draft: Draft) -> Iterator[Opening]:
    for number, time, lines in _blocks(source, draft):
        try:
            said = stamp_from_text(time)
        except ValueError as error:
            raise source.error(f"line {number}", f"{time!r} is not a time ({error})") from error
        body = _Body(draft, lines[1:])
        text = body.text()
        if text or not body.is_cut:
            yield Opening(lines[0].strip(), said, text)


def _blocks(source: Source, draft: Draft) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each message's line number, its time, and the lines below it: its sender and its text."""
    begun: tuple[int, str] | None = None
    lines: list[str] = []
    length, is_after_blank = 0, True
    for (number, line), (_, following) in pairwise(chain(source.lines(), [(0, "")])):
        found = _HEADER.fullmatch(line) if is_after_blank and following.strip() else None
        if found:
            if begun is not None:
                yield *begun, lines
            begun, lines, length = (number, found["time"]), [], 0
        elif is_after_blank and not following.strip() and _ANNOUNCEMENT.fullmatch(line):
            draft.count("notices left out")
        elif begun is None:
            draft.count("lines outside any message left out", bool(line.strip()))
        else:
            lines.append(line)
            length += len(line) + 1
            if length > LONGEST_LINE:
                reason = f"a message of over {LONGEST_LINE} characters ends here"
                raise source.error(f"line {number}", reason, "no message is that long")
        is_after_blank = not line.strip()
    if begun is not None:
        yield *begun, lines


class _Body:
    """The lines below a message's sender, of which some are the exporter's. `is_cut` says that any were."""

    def __init__(self, draft: Draft, lines: list[str]) -> None:
        self._draft = draft
        self._lines = lines
        self.is_cut = False

    def text(self) -> str:
        """Return what the sender said, in its last version."""
        kept: list[str] = []
        is_tapback = False
        for line in self._lines:
            is_tapback = line.strip() in _TAPBACKS or (is_tapback and bool(line.strip()))
            if _ANSWER.fullmatch(line):
                self._cut("answers shown below what they answer left out")
                break
            if is_tapback:
                self._cut("reactions left out", line.strip() not in _TAPBACKS)
            elif line == _ANSWERS or line in _EFFECTS or line in _NOTICES:
                self.is_cut = True
            elif _DELETED.fullmatch(line):
                self._cut("deleted messages left out")
            elif _FILE.fullmatch(line) and _IN_ATTACHMENTS.search(line):
                self._cut("attachments left out")
            else:
                kept.append(line)
        return "\n".join(self._last_version(kept)).strip()

    def _last_version(self, lines: list[str]) -> list[str]:
        """Return the lines from the last edit on; the first stands behind its time, others behind `Edited`."""
        edits = [(number, match["text"]) for number, line in enumerate(lines) if (match := _EDIT.fullmatch(line))]
        first = _ANNOUNCEMENT.fullmatch(lines[0]) if lines else None
        if not edits or first is None:
            return lines
        self._draft.count("earlier versions of edited messages left out")
        number, text = edits[-1]
        return [text, *lines[number + 1 :]]

    def _cut(self, what: str, times: int = 1) -> None:
        self.is_cut = True
        self._draft.count(what, times)
