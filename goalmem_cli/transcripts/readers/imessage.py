"""Reads chats of iMessage as imessage-exporter writes them as text (ReagentX/imessage-exporter, 1.0 to 3.x, `-f txt`).

A message is a line with its time, a line with its sender, and the lines of its text up to the next time. Answers are
written twice: below the message that they answer, and at their own time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import stamp_from_text

TIME = r"(?P<time>[A-Z][a-z]{2} \d\d, \d{4} [ \d]\d:\d\d:\d\d [AP]M)"
"""How the exporter writes times: ``May 17, 2022  5:29:42 PM``."""

ANNOUNCEMENT = re.compile(rf"{TIME} (?P<what>.*\S)")
_ANSWER = re.compile(rf" {{4}}{TIME}(?: \(Read by [^()]*\))?", re.ASCII)
_EDIT = re.compile(r"Edited [^:]{1,60} later: ?(?P<text>.*)")
_TAPBACKS = frozenset({"Tapbacks:", "Reactions:"})
_TAPBACK = re.compile(r"\s*(?P<what>\S.{0,40}?) by (?P<who>.*\S)\s*")
_IS_ANSWER = "This message responded to an earlier message."
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


@dataclass(slots=True)
class Said:
    """What a sender said, in its last version.

    `answers` are the times and senders of the answers shown below it. `behind` are lines after these answers; here it
    is unknown whether they belong to the sender or to an answer.
    """

    text: str = ""
    is_cut: bool = False
    is_answer: bool = False
    is_edited: bool = False
    reactions: list[Reaction] = field(default_factory=list)
    answers: list[tuple[str, str]] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)

    def beside(self, reply_to: str | None) -> Mapping[str, object]:
        """Return the attributes of the message; `reply_to` is the id of the message that it answers."""
        return attributes(reply_to=reply_to, edited=self.is_edited, reactions=self.reactions)


def said_in(draft: Draft, lines: list[str]) -> Said:
    """Return what was said on the lines below a sender. `is_cut` says that some of the lines were the exporter's."""
    said = Said()
    kept: list[str] = []
    is_tapback = False
    for number, line in enumerate(lines):
        is_tapback = line.strip() in _TAPBACKS or (is_tapback and bool(line.strip()))
        if _ANSWER.fullmatch(line):
            draft.count("answers shown below what they answer left out")
            said.answers.extend(_answers(lines[number:]))
            said.is_answer = said.is_answer or _IS_ANSWER in lines[number:]
            said.behind.extend(_behind(lines[number:]))
            said.is_cut = True
            break
        if is_tapback:
            given = _TAPBACK.fullmatch(line)
            said.reactions.extend([Reaction(given["what"], (given["who"],))] if given else [])
        elif line == _IS_ANSWER:
            said.is_answer = True
        elif _DELETED.fullmatch(line):
            draft.count("deleted messages left out")
        elif _FILE.fullmatch(line) and _IN_ATTACHMENTS.search(line):
            draft.count("attachments left out")
        elif line not in _EFFECTS and line not in _NOTICES:
            kept.append(line)
            continue
        said.is_cut = True
    last = _last_version(kept)
    said.is_edited = last is not kept
    said.text = "\n".join(last).strip()
    return said


def _answers(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line, following in pairwise(lines):
        if answer := _ANSWER.fullmatch(line):
            yield answer["time"], following.strip()


def _behind(lines: list[str]) -> Iterator[str]:
    for before, line in pairwise(lines):
        if not before.strip() and line.strip() and not line.startswith(" ") and line != _IS_ANSWER:
            yield line


def _last_version(lines: list[str]) -> list[str]:
    """Return the lines from the last edit on. The first version follows its time, later ones follow `Edited`."""
    edits = [(number, match["text"]) for number, line in enumerate(lines) if (match := _EDIT.fullmatch(line))]
    if not edits or not ANNOUNCEMENT.fullmatch(lines[0]):
        return lines
    number, text = edits[-1]
    return [text, *lines[number + 1 :]]


_FIRST_LINES = 10
_HEADER = re.compile(rf"{TIME}(?: \(Read by [^()]*\))?", re.ASCII)


class ImessageReader(DraftReader):
    """Reads a file as one chat, named by the file. Times are local."""

    name = "imessage"
    suffixes = (".txt",)
    sign = "lines such as `May 17, 2022  5:29:42 PM`, with a sender below"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines is a time as the exporter writes it, and the next one a sender."""
        lines = glimpse.head.split("\n")[: 2 * _FIRST_LINES]
        return any(_HEADER.fullmatch(line) and after.strip() for line, after in pairwise(lines))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        draft = Draft()
        return draft.fill(_messages(source, draft))


def _messages(source: Source, draft: Draft) -> Iterator[Message]:
    """Yield what was said. An answer is known by its time and sender, which also stand below the message it answers."""
    ids = TurnIds()
    answered: dict[tuple[str, str], str] = {}
    behind: Counter[str] = Counter()
    for number, time, lines in _blocks(source, draft):
        try:
            stamp = stamp_from_text(time)
        except ValueError as error:
            raise source.error(f"line {number}", f"{time!r} is not a time ({error})") from error
        speaker, said = lines[0].strip(), said_in(draft, lines[1:])
        behind.update(said.behind)
        if not said.text:
            draft.count("blank messages left out", not said.is_cut)
            continue
        own_id = ids.of(Opening(speaker, stamp, said.text))
        answered |= dict.fromkeys(said.answers, own_id)
        reply_to = answered.get((time, speaker)) if said.is_answer else None
        if said.is_answer:
            behind -= Counter(said.text.split("\n"))
        yield Message(speaker, said.text, stamp, own_id, attributes=said.beside(reply_to))
    draft.count("lines behind answers left out, since nobody can tell whose they are", behind.total())


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
        elif is_after_blank and not following.strip() and ANNOUNCEMENT.fullmatch(line):
            draft.count("notices left out")
        elif begun is None:
            draft.count_stray(bool(line.strip()))
        else:
            lines.append(line)
            length += len(line) + 1
            source.check_length(number, length)
        is_after_blank = not line.strip()
    if begun is not None:
        yield *begun, lines
