"""Parses the messages on a page of imessage-exporter's HTML (1.0 to 4.x) by its classes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from goalmem_cli.transcripts.reading.html_text import VOID, MessagePage

_TIME, _SPEAKER, _TEXT, _TAPBACK, _UNSAID, _EDITED, _APP = "time", "speaker", "text", "tapback", "", "edited", "app"
_ROLES = {
    "timestamp": _TIME, "sender": _SPEAKER, "bubble": _TEXT, "subject": _TEXT, "edited": _EDITED, "app": _APP,
    "tapback": _TAPBACK, "reaction": _TAPBACK,
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
        elif role == _TAPBACK and self.role != _TAPBACK:
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
        if self._found is None:
            return
        if self.role == _TAPBACK:
            self._found.tapbacks[-1] += text
        elif self.role in (_TIME, _SPEAKER, _TEXT):
            self._found.parts.setdefault(self.role, []).append(text)

    def end_message(self) -> None:
        """Complete the message that is open, if there is one."""
        if self._found is not None:
            self.complete.append(self._found)
        self._found = None
