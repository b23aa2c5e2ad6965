"""Parses the messages on an HTML page of Telegram's export by its elements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from goalmem_cli.transcripts.reading.attributes import Reaction
from goalmem_cli.transcripts.reading.html_text import VOID, MessagePage

_MESSAGE = re.compile(r"message(-?\d{1,19})", re.ASCII)
_REPLY = re.compile(r"#go_to_message(\d{1,19})$", re.ASCII)
_BLANKS = re.compile(r"[ \t\r\n\f]+")
# The role that an element's class gives the text in it: part of a field, or nothing that anybody said.
SPEAKER, AUTHOR, TEXT, _TITLE = "speaker", "author", "text", "title"
_QUOTE = "blockquote"
_POLL, _ANSWER = "media_poll", "answer"
_VOTES = re.compile(r"^(- .*?) (\d+ votes?)(?:, chosen vote)?$", re.MULTILINE)
_EMOJI, _COUNT, _UNSAID = "emoji", "count", "unsaid"
_ROLES = {
    "text": TEXT, "question bold": TEXT, _ANSWER: TEXT, "from_name": SPEAKER, "emoji": _EMOJI, "count": _COUNT,
    **dict.fromkeys(
        (
            "reply_to details", "signature details", "reactions", "userpics", "pull_left userpic_wrap", "date details",
            "pull_left forwarded userpic_wrap", "pull_right date details", "media_wrap clearfix",
        ),
        _UNSAID,
    ),
}  # fmt: skip


@dataclass(slots=True)
class Found:
    """A message as far as it was read. `said` is the time as written; `parts` are the texts by role."""

    own_id: str
    is_service: bool
    said: str = ""
    reply_to: str | None = None
    is_forwarded: bool = False
    media: int = 0
    has_poll: bool = False
    reactions: list[Reaction] = field(default_factory=list)
    parts: dict[str, list[str]] = field(default_factory=dict)
    told: list[tuple[bool, list[str]]] = field(default_factory=list)

    def joined(self, role: str) -> str:
        """Return the text of that role: `SPEAKER`, `AUTHOR` (of what is forwarded) or `TEXT`."""
        text = _trimmed(self.parts.get(role, ()))
        return _VOTES.sub(r"\1 (\2)", text) if self.has_poll and role == TEXT else text

    @property
    def pieces(self) -> Iterator[tuple[str, bool]]:
        """The pieces of the text, each with whether it is marked as quoted."""
        return ((_trimmed(texts), is_quoted) for is_quoted, texts in self.told if not self.has_poll)

    def tell(self, text: str, *, is_quoted: bool) -> None:
        """Take a part of the text."""
        if not self.told or self.told[-1][0] != is_quoted:
            self.told.append((is_quoted, []))
        self.told[-1][1].append(text)


def _trimmed(pieces: Iterable[str]) -> str:
    return "\n".join(line.strip() for line in "".join(pieces).split("\n")).strip()


class Page(MessagePage[Found]):
    """Parses a page of messages; `title` is the chat's name."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self._found: Found | None = None
        self._message_depth = 0
        self._givers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element."""
        given = {name: value or "" for name, value in attrs}
        if tag in VOID:
            self._put("\n" if tag == "br" else "")
            return
        classes, role = given.get("class", ""), self.role
        match = _MESSAGE.fullmatch(given.get("id", "")) if classes.startswith("message ") else None
        if match:
            self.end_message()
            self._found = Found(match[1], is_service="service" in classes.split())
            self._message_depth, role = len(self.opened), ""
        elif self._found is not None:
            role = self._role_within(self._found, classes, given)
        elif classes == "text bold" and not self.title:
            role = _TITLE
        self.opened.append((tag, role))

    def handle_left(self) -> None:
        """End the message whose element was left."""
        if self._found is not None and len(self.opened) == self._message_depth:
            self.end_message()

    def handle_data(self, data: str) -> None:
        """Take text; line breaks in it belong to the page's source, not to the message."""
        self._put(_BLANKS.sub(" ", data))

    def _role_within(self, found: Found, classes: str, given: dict[str, str]) -> str:
        """Note what an element of a message tells, and return the role of the text in it."""
        if classes == "pull_right date details" and not found.said:
            found.said = given.get("title", "")
        elif classes == "forwarded body":
            found.is_forwarded = True
        elif classes == "media_wrap clearfix":
            found.media += 1
        elif classes == _POLL:
            found.media, found.has_poll = found.media - 1, True
        elif classes == _ANSWER:
            found.parts.setdefault(TEXT, []).append("\n")
        elif self.role == _UNSAID and (reply := _REPLY.search(given.get("href", ""))):
            found.reply_to = reply[1]
        elif classes.split()[:1] == ["reaction"]:
            self._end_reaction(found)
        elif given.get("title") and self.role == _UNSAID:
            self._givers.append(given["title"])
        role = _ROLES.get(classes, self.role)
        return AUTHOR if role == SPEAKER and found.is_forwarded else role

    def _put(self, text: str) -> None:
        """Add text to the part of the message, or to the title, that is open."""
        if self._found is not None:
            self._found.parts.setdefault(self.role, []).append(text)
            if self.role == TEXT:
                self._found.tell(text, is_quoted=(_QUOTE, TEXT) in self.opened)
        elif self.role == _TITLE:
            self.title = f"{self.title}{text}".strip()

    def _end_reaction(self, found: Found) -> None:
        """Keep the reaction that just ended, with the givers that the page shows."""
        text, count = found.joined(_EMOJI), found.joined(_COUNT)
        if text:
            found.reactions.append(Reaction(text, tuple(self._givers), int(count) if count.isdecimal() else 1))
        self._givers = []
        found.parts[_EMOJI], found.parts[_COUNT] = [], []

    def end_message(self) -> None:
        """Complete the message that is open, if there is one."""
        if self._found is not None:
            self._end_reaction(self._found)
            self.complete.append(self._found)
        self._found = None
