"""Reads chats of iMessage as imessage-exporter writes them as HTML (ReagentX/imessage-exporter, 1.0 to 4.x, `-f html`).

Answers are written twice, as in the exporter's text: below the message that they answer, and at their own time. The
reader `imessage` reads that text, and gives the same turns the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.html_text import Element, Pieces, parts_of_page
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import stamp_or_unread

_TIME, _SPEAKER, _TEXT, _TAPBACK_BOX, _EDITED, _APP = "time", "speaker", "text", "tapback", "edited", "app"
_UNSAID, _MESSAGE_BOX, _NOTICE_BOX = "", "message", "announcement"
_ROLES = {
    "timestamp": _TIME, "sender": _SPEAKER, "bubble": _TEXT, "subject": _TEXT, "edited": _EDITED, "app": _APP,
    "tapback": _TAPBACK_BOX, "reaction": _TAPBACK_BOX,
    **dict.fromkeys(("replies", "reply_anchor", "reply_context", "expressive", "translation"), _UNSAID),
}  # fmt: skip
_MEDIA = frozenset({"attachment", "sticker", "attachment_error"})
_DELETED = frozenset({"deleted", "unsent"})
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
    found.is_deleted = found.is_deleted or not _DELETED.isdisjoint(classes)
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
_TAPBACK = re.compile(r"\s*(\S.{0,60}?)\s+by\s+(.*\S)\s*", re.DOTALL)


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
        return draft.fill(source.readable(_found_on(source, draft), partial(_messages, draft, TurnIds(), answered)))


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


def _messages(draft: Draft, ids: TurnIds, answered: dict[str, str], found: _Found) -> Iterator[Message]:
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
        reactions=[Reaction(given[1], (given[2],)) for text in found.tapbacks if (given := _TAPBACK.fullmatch(text))],
    )
    yield Message(speaker, text, said, own_id, attributes=beside)
