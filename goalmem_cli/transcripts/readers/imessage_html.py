"""Reads chats of iMessage as imessage-exporter writes them as HTML (ReagentX/imessage-exporter, 1.0 to 4.x, `-f html`).

Answers are written twice, as in the exporter's text: below the message that they answer, and at their own time. The
reader `imessage` reads that text, and gives the same turns the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.html_text import REACTION, Element, Pieces, Told, parts_of_page
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import stamp_or_unread

_TIME, _SPEAKER, _TEXT, _EDITED, _APP = "time", "speaker", "text", "edited", "app"
_UNSAID, _MESSAGE_BOX, _NOTICE_BOX = "", "message", "announcement"
_ROLES = {
    "timestamp": _TIME, "sender": _SPEAKER, "bubble": _TEXT, "subject": _TEXT, "edited": _EDITED, "app": _APP,
    "tapback": REACTION, "reaction": REACTION,
    **dict.fromkeys(("replies", "reply_anchor", "reply_context", "expressive", "translation"), _UNSAID),
}  # fmt: skip
_MEDIA = frozenset({"attachment", "sticker", "attachment_error"})
_DELETED = frozenset({"deleted", "unsent"})
_OF_EDITED, _OF_APP = "tfoot", frozenset({"caption", "subcaption"})
_LINK = re.compile(r"https?://\S+")
_REPLY = re.compile(r"(?:r-)?(\S+)")


class _Found(Told):
    """A message as far as it was read; `answers` are ids of answers shown below it. Line breaks in bubbles are text."""

    kept = _TEXT

    def __init__(self, box: Element, pieces: Pieces) -> None:
        guid = _REPLY.fullmatch(box.given.get("id", ""))
        self.guid, box.role = guid[1] if guid else "", _MESSAGE_BOX
        self.is_edited = self.is_deleted = False
        self.answers: list[str] = []
        super().__init__(pieces)

    def role_of(self, element: Element) -> str:
        """Return the role of the element's text. Everything in an unsaid element is unsaid."""
        classes, above = element.classes, element.inherited()
        if above == _UNSAID:
            self.answers += [element.given.get("id", "").removeprefix("r-")] if "reply" in classes else []
            return _UNSAID
        if above == _TEXT:
            return _UNSAID if "timestamp" in classes else _TEXT
        if above in (_EDITED, _APP):
            return self._role_of_part(element, above)
        self.is_deleted = self.is_deleted or not _DELETED.isdisjoint(classes)
        if not _MEDIA.isdisjoint(classes):
            self.media += 1
            return _UNSAID
        role = next((_ROLES[each] for each in classes if each in _ROLES), above)
        if role == _TEXT:
            self.put(element, _TEXT, "\n")
        elif role == REACTION and above != REACTION:
            self.given.append("")
        return role

    def _role_of_part(self, element: Element, above: str) -> str:
        """Return the role of a text in a table of versions (its foot is the last one) or in what an app shows."""
        self.is_edited = self.is_edited or element.tag == _OF_EDITED
        self.is_deleted = self.is_deleted or not {_NOTICE_BOX, "unsent"}.isdisjoint(element.classes)
        if above == _APP and element.tag == "a" and _LINK.fullmatch(element.given.get("href", "")):
            self.put(element, _TEXT, "\n" + element.given["href"])
        is_version = element.tag == "td" and element.is_in(_OF_EDITED)
        if not is_version and (above != _APP or _OF_APP.isdisjoint(element.classes)):
            return above
        self.put(element, _TEXT, "\n")
        return _TEXT


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
            yield _Found(part, pieces)
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
        reactions=[Reaction(given[1], (given[2],)) for text in found.given if (given := _TAPBACK.fullmatch(text))],
    )
    yield Message(speaker, text, said, own_id, attributes=beside)
