"""Parses the messages on a page of Meta's "Download your information" as HTML (2023 to 2026) by its classes."""

from __future__ import annotations

import re

from goalmem_cli.transcripts.reading.html_text import VOID, Elements

_NAME, _SPEAKER, _TEXT, _TIME, _REACTION, _UNSEEN = "name", "speaker", "text", "time", "reactions", "unseen"
_MESSAGE = "_a6-g"
_ROLES = {"_a6-h": _SPEAKER, "_a6-p": _TEXT, "_a6-o": _TIME, "_a6-q": _REACTION}
_BLOCKS = frozenset({"div", "p", "br", "li"})
_MEDIA = frozenset({"img", "video", "audio"})
_HIDDEN = frozenset({"style", "script", "video", "audio"})
_NO_NAMES = frozenset({"instagram", "facebook", "messenger", "messages"})
_BLANKS = re.compile(r"[ \t\r\n\f\xa0]+")
_LINES = re.compile(r" ?\n[ \n]*")


class Page(Elements):
    """Parses the page as it is fed: `found` has its messages in the page's order, `name` is the chat's name.

    A message has its `speaker`, `text` and `time` as written, its `media` and its `reactions`. An element built like a
    message but without a time is a heading: it lists the participants, or says that a request is pending.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, object]] = []
        self._parts: dict[str, list[str]] = {}
        self._names: dict[str, str] = {}
        self._depth: int | None = None

    @property
    def name(self) -> str:
        """The chat's name: its heading, or else the page's title."""
        names = (" ".join(self._names.get(tag, "").split()) for tag in ("h1", "title"))
        return next((name for name in names if name and name.casefold() not in _NO_NAMES), "")

    def close(self) -> None:
        """End the page; a message that breaks off counts as complete."""
        super().close()
        self._end_message()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element."""
        classes = (dict(attrs).get("class") or "").split()
        if self._depth is None and _MESSAGE in classes:
            self._depth, self._parts = len(self.opened), {_REACTION: []}
            self.opened.append((tag, ""))
            return
        if self.role == _TEXT:
            self._put("\n" if tag in _BLOCKS else "")
            self._parts.setdefault("media", []).extend([tag] * (tag in _MEDIA))
        if tag in VOID:
            return
        role = next((_ROLES[each] for each in classes if each in _ROLES), self.role)
        if self._depth is None:
            role = _NAME if tag in ("h1", "title") else role
        else:
            self._parts.setdefault(role, []).extend([""] * (role == _REACTION and tag == "li"))
        self.opened.append((tag, _UNSEEN if tag in _HIDDEN else role))

    def handle_left(self) -> None:
        """End the message whose element was left."""
        if len(self.opened) == self._depth:
            self._end_message()

    def handle_data(self, data: str) -> None:
        """Take text; line breaks in it belong to the page's source, not to the message."""
        self._put(_BLANKS.sub(" ", data))

    def _put(self, text: str) -> None:
        if self.role == _NAME:
            tag = self.opened[-1][0]
            self._names[tag] = self._names.get(tag, "") + text
        elif self.role == _REACTION:
            if self._parts.get(_REACTION):
                self._parts[_REACTION][-1] += text
        elif self._depth is not None and self.role:
            self._parts.setdefault(self.role, []).append(text)

    def _end_message(self) -> None:
        if self._depth is None:
            return
        self._depth = None
        if _TIME not in self._parts:
            return
        told: dict[str, object] = {
            role: _LINES.sub("\n", "".join(self._parts.get(role, ()))).strip() for role in (_SPEAKER, _TEXT, _TIME)
        }
        given = [text.strip() for text in self._parts[_REACTION] if text.strip()]
        self.found.append({**told, "media": self._parts.get("media", []), "reactions": given})
