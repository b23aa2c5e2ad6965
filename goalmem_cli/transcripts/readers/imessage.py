"""Reads chats of iMessage as imessage-exporter writes them (ReagentX/imessage-exporter), as text (1.0 to 3.x) or HTML.

In text, a message is a line with its time, a line with its sender, and the lines of its text up to the next time.
Answers are written twice: below the message that they answer, and at their own time. Both forms give a turn one id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, pairwise

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.html_text import Element, Pieces, parts_of_page
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import stamp_from_text, stamp_or_unread

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


_TIME, _SPEAKER, _TEXT, _TAPBACK_BOX, _EDITED, _APP = "time", "speaker", "text", "tapback", "edited", "app"
_UNSAID, _MESSAGE_BOX, _NOTICE_BOX = "", "message", "announcement"
_ROLES = {
    "timestamp": _TIME, "sender": _SPEAKER, "bubble": _TEXT, "subject": _TEXT, "edited": _EDITED, "app": _APP,
    "tapback": _TAPBACK_BOX, "reaction": _TAPBACK_BOX,
    **dict.fromkeys(("replies", "reply_anchor", "reply_context", "expressive", "translation"), _UNSAID),
}  # fmt: skip
_MEDIA = frozenset({"attachment", "sticker", "attachment_error"})
_DELETED_CLASSES = frozenset({"deleted", "unsent"})
_OF_EDITED, _OF_APP = "tfoot", frozenset({"caption", "subcaption"})
_LINK = re.compile(r"https?://\S+")
_REPLY = re.compile(r"(?:r-)?(\S+)")
_BLANKS = re.compile(r"[ \t\r\n\f\xa0]+")


@dataclass(slots=True)
class _Found:
    """A message as far as it was read. `parts` are its texts by role; `answers` are ids of answers shown below it."""

    guid: str
    is_edited: bool = False
    is_deleted: bool = False
    media: int = 0
    tapbacks: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    parts: dict[str, list[str]] = field(default_factory=dict)

    def joined(self, role: str) -> str:
        """Return the text of that role; of an edited part, the last version."""
        return "".join(self.parts.get(role, ())).strip()

    def put(self, role: str, text: str) -> None:
        """Add text to a part or to the last tapback."""
        if role == _TAPBACK_BOX:
            self.tapbacks[-1] += text
        else:
            self.parts.setdefault(role, []).append(text)


def _found_in(box: Element, pieces: Pieces) -> _Found:
    """Return what the message has. Line breaks outside of bubbles belong to the page's source."""
    guid = _REPLY.fullmatch(box.given.get("id", ""))
    found, box.role = _Found(guid[1] if guid else ""), _MESSAGE_BOX
    for element, text in pieces:
        if text:
            found.put(element.role, text if element.role == _TEXT else _BLANKS.sub(" ", text))
        elif element.is_void:
            found.put(element.inherited(), "\n" if element.tag == "br" else "")
        else:
            element.role = _role_within(found, element, element.inherited())
    return found


def _role_within(found: _Found, element: Element, above: str) -> str:
    """Return the role of the element's text. Everything in an unsaid element is unsaid."""
    classes = element.classes
    if above == _UNSAID:
        found.answers += [element.given.get("id", "").removeprefix("r-")] if "reply" in classes else []
        return _UNSAID
    if above == _TEXT:
        return _UNSAID if "timestamp" in classes else _TEXT
    if above in (_EDITED, _APP):
        return _role_of_part(found, element, above)
    found.is_deleted = found.is_deleted or not _DELETED_CLASSES.isdisjoint(classes)
    if not _MEDIA.isdisjoint(classes):
        found.media += 1
        return _UNSAID
    role = next((_ROLES[each] for each in classes if each in _ROLES), above)
    if role == _TEXT:
        found.put(_TEXT, "\n")
    elif role == _TAPBACK_BOX and above != _TAPBACK_BOX:
        found.tapbacks.append("")
    return role


def _role_of_part(found: _Found, element: Element, above: str) -> str:
    """Return the role of a text in a table of versions (its foot is the last one) or in what an app shows."""
    found.is_edited = found.is_edited or element.tag == _OF_EDITED
    found.is_deleted = found.is_deleted or not {_NOTICE_BOX, "unsent"}.isdisjoint(element.classes)
    if above == _APP and element.tag == "a" and _LINK.fullmatch(element.given.get("href", "")):
        found.put(_TEXT, "\n" + element.given["href"])
    is_text = (element.tag == "td" and element.is_in(_OF_EDITED)) or (
        above == _APP and not _OF_APP.isdisjoint(element.classes)
    )
    if is_text:
        found.put(_TEXT, "\n")
    return _TEXT if is_text else above


_MESSAGE = re.compile(
    r'<div class="message"[^<>]*>\s*<div class="(?:sent [^"<>]*|received)">\s*<p>\s*<span class="timestamp">'
)
_GIVEN = re.compile(r"\s*(\S.{0,60}?)\s+by\s+(.*\S)\s*", re.DOTALL)


class ImessageHtmlReader(DraftReader):
    """Reads a page as one chat, named by the file. Times are local."""

    name = "imessage-html"
    suffixes = (".html", ".htm")
    sign = 'pages with `<div class="message">` around `<div class="received">`'
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the page has a message as the exporter writes it."""
        return _MESSAGE.search(glimpse.head) is not None

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the page's conversation."""
        draft = Draft()
        answered: dict[str, str] = {}
        return draft.fill(source.readable(_found_on(source, draft), partial(_of_page, draft, TurnIds(), answered)))


def _begins(element: Element, part: Element | None) -> bool:
    """Say whether a message or a notice begins; a message may also begin in a notice that was not ended."""
    classes = element.classes
    if not classes or (part is not None and _MESSAGE_BOX in part.classes):
        return False
    return _MESSAGE_BOX in classes or (part is None and _NOTICE_BOX in classes)


def _found_on(source: Source, draft: Draft) -> Iterator[_Found]:
    notices = 0
    for part, pieces in parts_of_page(source.chunks(), _begins):
        if _MESSAGE_BOX in part.classes:
            yield _found_in(part, pieces)
        else:
            notices += 1
    draft.count("notices left out", notices)


def _of_page(draft: Draft, ids: TurnIds, answered: dict[str, str], found: _Found) -> Iterator[Message]:
    """Yield what the message says. `answered` maps the id of an answer to the message that it answers."""
    draft.count("attachments left out", found.media)
    draft.count("deleted messages left out", found.is_deleted)
    draft.count("answers shown below what they answer left out", len(found.answers))
    speaker, text = " ".join(found.joined(_SPEAKER).split()) or "unknown", found.joined(_TEXT)
    said = stamp_or_unread(" ".join(found.joined(_TIME).partition(" (")[0].split()))
    if not text:
        draft.count("blank messages left out", not (found.media or found.is_deleted))
        return
    own_id = ids.of(Opening(speaker, said, text))
    answered |= dict.fromkeys(found.answers, own_id)
    beside = attributes(
        reply_to=answered.get(found.guid) if found.guid else None,
        edited=found.is_edited,
        reactions=[Reaction(given[1], (given[2],)) for text in found.tapbacks if (given := _GIVEN.fullmatch(text))],
    )
    yield Message(speaker, text, said, own_id, attributes=beside)
