"""Reads chats of Instagram and Messenger as Meta's "Download your information" writes them as HTML (2023 to 2026).

A chat is a folder of `message_1.html` (the newest), `message_2.html` and so on, each with its newest message first.
Times have no offset. The download as JSON holds more; the reader `facebook` reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.facebook_notices import tells_of_a_reaction, tells_of_something_sent
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.day_orders import Order
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.html_text import VOID, Elements
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.parts import glimpse_of_first, oldest_first, parts_in
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import clean
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_from_text
from goalmem_cli.transcripts.reading.written_times import written_from_text

_NAME, _SPEAKER, _TEXT, _TIME, _REACTION_BOX, _UNSEEN = "name", "speaker", "text", "time", "reactions", "unseen"
_MESSAGE_BOX = "_a6-g"
_ROLES = {"_a6-h": _SPEAKER, "_a6-p": _TEXT, "_a6-o": _TIME, "_a6-q": _REACTION_BOX}
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
        if self._depth is None and _MESSAGE_BOX in classes:
            self._depth, self._parts = len(self.opened), {_REACTION_BOX: []}
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
            self._parts.setdefault(role, []).extend([""] * (role == _REACTION_BOX and tag == "li"))
        self.opened.append((tag, _UNSEEN if tag in _HIDDEN else role))

    def handle_left(self) -> None:
        """End the message whose element was left."""
        if len(self.opened) == self._depth:
            self._end_message()

    def handle_data(self, data: str) -> None:
        """Take text; line breaks in it belong to the page's source, not to the message."""
        self._put(_BLANKS.sub(" ", data))

    def _put(self, text: str) -> None:
        """Add text to the part of the message, or to the heading, that is open."""
        if self.role == _NAME:
            tag = self.opened[-1][0]
            self._names[tag] = self._names.get(tag, "") + text
        elif self.role == _REACTION_BOX:
            if self._parts.get(_REACTION_BOX):
                self._parts[_REACTION_BOX][-1] += text
        elif self._depth is not None and self.role:
            self._parts.setdefault(self.role, []).append(text)

    def _end_message(self) -> None:
        """Add the message to `found`; an element without a time is none."""
        if self._depth is None:
            return
        self._depth = None
        if _TIME not in self._parts:
            return
        told: dict[str, object] = {
            role: _LINES.sub("\n", "".join(self._parts.get(role, ()))).strip() for role in (_SPEAKER, _TEXT, _TIME)
        }
        given = [text.strip() for text in self._parts[_REACTION_BOX] if text.strip()]
        self.found.append({**told, "media": self._parts.get("media", []), "reactions": given})


_FIRST = "message_1.html"
_FILE = re.compile(r"message_(\d{1,6})\.html", re.ASCII)
_BOXES = frozenset({"inbox", "archived_threads", "message_requests", "filtered_threads", "e2ee_cutover"})
_MESSAGE = re.compile(r'_a6-h.{0,400}?_a6-p"[^<>]*>\s*<div>\s*<div>\s*</div>\s*<div>', re.DOTALL)
"""How a message begins; nothing else in these downloads matches. Long styles may keep it out of a page's beginning."""
_STYLE = "_a6-g"
_REACTION = re.compile(r"([^\w\s]+)\s*(.*?)(?:\s*\([^()]*\d:\d\d[^()]*\))?", re.DOTALL)


class FacebookHtmlReader(DraftReader):
    """Reads a folder of numbered pages, or one page, as a chat, named by its folder. Turns have ids as in WhatsApp."""

    name = "facebook-html"
    suffixes = (".html", ".htm")
    sign = 'pages with `<h2 class="_a6-h">` and `<div class="_a6-p">`; a folder with `message_1.html`'
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the page, or the folder's first one, has messages as Meta writes them."""
        if glimpse.folder is not None:
            first = glimpse_of_first(glimpse.folder, _FIRST)
            return first is not None and self.recognises(first)
        is_called_so = _FILE.fullmatch(Path(glimpse.file).name) is not None and _STYLE in glimpse.head
        return is_called_so or _MESSAGE.search(glimpse.head) is not None

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the chat of a folder of pages, oldest page first, or of a single page."""
        files = [] if source.folder is None else parts_in(source.folder, _FILE)
        folder = Path(source.file) if files else Path(source.file).parent
        is_chat = folder.parent.name in _BOXES
        draft, ids = Draft(f"{folder.parent.name}/{folder.name}" if is_chat else None), TurnIds()
        pages = map(source.part, reversed(files)) if files else iter([source])
        return draft.fill(message for page in pages for message in _messages_on(draft, ids, page))


def _messages_on(draft: Draft, ids: TurnIds, source: Source) -> Iterator[Message]:
    """Yield the page's messages, oldest first."""
    return source.readable(oldest_first(_found_on(draft, source), "time"), partial(_messages, draft, ids))


def _found_on(draft: Draft, source: Source) -> Iterator[Node]:
    """Yield the page's messages as nodes, and title the draft by the page."""
    page = Page()
    for chunk in source.chunks():
        page.feed(chunk)
    page.close()
    draft.title = draft.title or clean(page.name) or None
    for number, found in enumerate(page.found, 1):
        yield Node(found, source.file, f"message {number}")


def _messages(draft: Draft, ids: TurnIds, node: Node) -> Iterator[Message]:
    """Yield what the message says, unless it says nothing."""
    speaker, text = node.child("speaker").text() or "unknown", node.child("text").text()
    if tells_of_a_reaction(text):
        draft.count("notices of reactions left out")
        return
    media = sum(one.value is not None for one in node.child("media").elements())
    draft.count("media left out", media)
    first, _, rest = text.partition("\n")
    is_notice = tells_of_something_sent(first, speaker, is_beside_it=bool(media or rest))
    draft.count("notices of something sent left out", is_notice)
    text = rest if is_notice else text
    if text or not (media or is_notice):
        said = node.child("time").stamp(_stamp)
        reactions = [_reaction(one.text()) for one in node.child("reactions").elements()]
        own_id = ids.of(Opening(speaker, said, text)) if text else None
        yield Message(speaker, text, said, own_id, attributes=attributes(reactions=reactions))


def _stamp(text: str) -> Stamp | None:
    """Return the time. Its month is a word in the account's language; numbers alone could be read two ways."""
    written = None if (stamp := stamp_from_text(text)) is not None else written_from_text(text)
    moment = None if written is None or written.style.mark else written.moment(Order.YEAR_FIRST)
    return stamp if moment is None else Stamp(moment)


def _reaction(text: str) -> Reaction:
    """Return the reaction. The page writes its emoji, its author and, since 2023, its time as one text."""
    match = _REACTION.fullmatch(text)
    return Reaction(match[1], (match[2],) if match[2] else ()) if match else Reaction(text)
