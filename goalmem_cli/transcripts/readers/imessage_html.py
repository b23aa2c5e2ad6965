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
from goalmem_cli.transcripts.reading.html_text import VOID, MessagePage
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import stamp_or_unread

_TIME, _SPEAKER, _TEXT, _TAPBACK_BOX, _UNSAID, _EDITED, _APP = "time", "speaker", "text", "tapback", "", "edited", "app"
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
class Found:
    """A message as far as it was read. `parts` are its texts by role; `answers` are ids of answers shown below it."""

    guid: str = ""
    is_reply: bool = False
    is_edited: bool = False
    is_deleted: bool = False
    media: int = 0
    tapbacks: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    parts: dict[str, list[str]] = field(default_factory=dict)

    @property
    def time(self) -> str:
        """The time as written."""
        return " ".join("".join(self.parts.get(_TIME, ())).partition(" (")[0].split())

    @property
    def speaker(self) -> str:
        """The sender's name."""
        return " ".join("".join(self.parts.get(_SPEAKER, ())).split())

    @property
    def text(self) -> str:
        """The text; of an edited part, the last version."""
        return "".join(self.parts.get(_TEXT, ())).strip()


class Page(MessagePage[Found]):
    """Parses a page of messages; `notices` is the number of notices."""

    def __init__(self) -> None:
        super().__init__()
        self.notices = 0
        self._found: Found | None = None
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element."""
        given = {name: value or "" for name, value in attrs}
        if tag in VOID:
            self._put("\n" if tag == "br" else "")
            return
        classes, role = given.get("class", "").split(), self.role
        if self._found is None:
            self.notices += "announcement" in classes
            if "message" in classes:
                guid = _REPLY.fullmatch(given.get("id", ""))
                self._found, self._depth, role = Found(guid[1] if guid else ""), len(self.opened), "message"
        else:
            role = self._role_within(self._found, tag, classes, given)
        self.opened.append((tag, role))

    def handle_left(self) -> None:
        """End the message whose element was left."""
        if self._found is not None and len(self.opened) == self._depth:
            self.end_message()

    def handle_data(self, data: str) -> None:
        """Take text; line breaks outside of bubbles belong to the page's source, not to the message."""
        self._put(data if self.role == _TEXT else _BLANKS.sub(" ", data))

    def _role_within(self, found: Found, tag: str, classes: list[str], given: dict[str, str]) -> str:
        """Return the role of the element's text. Everything in an unsaid element is unsaid."""
        if self.role == _UNSAID:
            found.answers += [given.get("id", "").removeprefix("r-")] if "reply" in classes else []
            return _UNSAID
        if self.role == _TEXT:
            return _UNSAID if "timestamp" in classes else _TEXT
        if self.role in (_EDITED, _APP):
            return self._role_of_part(found, tag, classes, given)
        found.is_reply = found.is_reply or "reply_context" in classes
        found.is_deleted = found.is_deleted or not _DELETED.isdisjoint(classes)
        if not _MEDIA.isdisjoint(classes):
            found.media += 1
            return _UNSAID
        role = next((_ROLES[each] for each in classes if each in _ROLES), self.role)
        if role == _TEXT:
            self._begin_line(found)
        elif role == _TAPBACK_BOX and self.role != _TAPBACK_BOX:
            found.tapbacks.append("")
        return role

    def _role_of_part(self, found: Found, tag: str, classes: list[str], given: dict[str, str]) -> str:
        """Return the role of a text in a table of versions (its foot is the last one) or in what an app shows."""
        is_last = any(entered == _OF_EDITED for entered, _ in self.opened)
        found.is_edited = found.is_edited or tag == _OF_EDITED
        found.is_deleted = found.is_deleted or not {"announcement", "unsent"}.isdisjoint(classes)
        if self.role == _APP and tag == "a" and _LINK.fullmatch(given.get("href", "")):
            self._begin_line(found)
            found.parts[_TEXT].append(given["href"])
        is_text = (is_last and tag == "td") or (self.role == _APP and not _OF_APP.isdisjoint(classes))
        if is_text:
            self._begin_line(found)
        return _TEXT if is_text else self.role

    def _begin_line(self, found: Found) -> None:
        found.parts.setdefault(_TEXT, []).append("\n")

    def _put(self, text: str) -> None:
        """Add text to the open part or tapback of the message."""
        if self._found is None:
            return
        if self.role == _TAPBACK_BOX:
            self._found.tapbacks[-1] += text
        elif self.role in (_TIME, _SPEAKER, _TEXT):
            self._found.parts.setdefault(self.role, []).append(text)

    def end_message(self) -> None:
        """Complete the message that is open, if there is one."""
        if self._found is not None:
            self.complete.append(self._found)
        self._found = None


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


def _found_on(source: Source, draft: Draft) -> Iterator[Found]:
    page = Page()
    yield from page.messages(source.chunks())
    draft.count("notices left out", page.notices)


def _messages(draft: Draft, ids: TurnIds, answered: dict[str, str], found: Found) -> Iterator[Message]:
    """Yield what the message says. `answered` maps the id of an answer to the message that it answers."""
    draft.count("attachments left out", found.media)
    draft.count("deleted messages left out", found.is_deleted)
    draft.count("answers shown below what they answer left out", len(found.answers))
    speaker, said = found.speaker or "unknown", stamp_or_unread(found.time)
    if not found.text:
        draft.count("blank messages left out", not (found.media or found.is_deleted))
        return
    own_id = ids.of(Opening(speaker, said, found.text))
    answered |= dict.fromkeys(found.answers, own_id)
    beside = attributes(
        reply_to=answered.get(found.guid) if found.guid else None,
        edited=found.is_edited,
        reactions=[Reaction(given[1], (given[2],)) for text in found.tapbacks if (given := _TAPBACK.fullmatch(text))],
    )
    yield Message(speaker, found.text, said, own_id, attributes=beside)
