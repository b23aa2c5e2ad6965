"""Reads chats of Instagram and Messenger as Meta's "Download your information" writes them as HTML (2023 to 2026).

A chat is a folder of `message_1.html` (the newest), `message_2.html` and so on, each with its newest message first.
Times have no offset. The download as JSON holds more; the reader `facebook` reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.facebook_notices import tells_of_a_reaction, tells_of_something_sent
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.day_orders import Order
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.html_text import Element, Pieces, parts_of_page
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.parts import glimpse_of_first, oldest_first, parts_in
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_from_text
from goalmem_cli.transcripts.reading.written_times import written_from_text

_SPEAKER, _TEXT, _TIME, _REACTION_BOX, _UNSEEN = "speaker", "text", "time", "reactions", "unseen"
_MESSAGE_BOX = "_a6-g"
_ROLES = {"_a6-h": _SPEAKER, "_a6-p": _TEXT, "_a6-o": _TIME, "_a6-q": _REACTION_BOX}
_HEADINGS = ("h1", "title")
_BLOCKS = frozenset({"div", "p", "br", "li"})
_MEDIA = frozenset({"img", "video", "audio"})
_HIDDEN = frozenset({"style", "script", "video", "audio"})
_NO_NAMES = frozenset({"instagram", "facebook", "messenger", "messages"})
_BLANKS = re.compile(r"[ \t\r\n\f\xa0]+")
_LINES = re.compile(r" ?\n[ \n]*")
_FIRST = "message_1.html"
_FILE = re.compile(r"message_(\d{1,6})\.html", re.ASCII)
_BOXES = frozenset({"inbox", "archived_threads", "message_requests", "filtered_threads", "e2ee_cutover"})
_MESSAGE = re.compile(r'_a6-h.{0,400}?_a6-p"[^<>]*>\s*<div>\s*<div>\s*</div>\s*<div>', re.DOTALL)
"""How a message begins; nothing else in these downloads matches. Long styles may keep it out of a page's beginning."""
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
        is_called_so = _FILE.fullmatch(Path(glimpse.file).name) is not None and _MESSAGE_BOX in glimpse.head
        return is_called_so or _MESSAGE.search(glimpse.head) is not None

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the chat of a folder of pages, oldest page first, or of a single page."""
        files = [] if source.folder is None else parts_in(source.folder, _FILE)
        folder = Path(source.file) if files else Path(source.file).parent
        is_chat = folder.parent.name in _BOXES
        draft, ids = Draft(f"{folder.parent.name}/{folder.name}" if is_chat else None), TurnIds()
        pages = map(source.part, reversed(files)) if files else iter([source])
        found = ((page, oldest_first(_found_on(draft, page), "time")) for page in pages)
        said = (page.readable(nodes, partial(_messages, draft, ids)) for page, nodes in found)
        return draft.fill(chain.from_iterable(said))


def _found_on(draft: Draft, source: Source) -> Iterator[Node]:
    """Yield the page's messages as nodes, and title the draft by the page's heading, else by its title."""
    names: dict[str, str] = {}
    found: list[dict[str, object]] = []
    for part, pieces in parts_of_page(source.chunks(), _begins):
        if part.tag in _HEADINGS:
            shown = (text for element, text in pieces if element.tag not in _HIDDEN)
            names[part.tag] = names.get(part.tag, "") + "".join(shown)
        elif (message := _found_in(pieces)) is not None:
            found.append(message)
    told = (" ".join(names.get(tag, "").split()) for tag in _HEADINGS)
    title = next((name for name in told if name and name.casefold() not in _NO_NAMES), "")
    draft.title = draft.title or title or None
    for number, message in enumerate(found, 1):
        yield Node(message, source.file, f"message {number}")


def _begins(element: Element, part: Element | None) -> bool:
    """Say whether a message or a heading begins; a message may also begin in a heading that was not ended."""
    if part is not None and part.tag not in _HEADINGS:
        return False
    return _MESSAGE_BOX in element.classes or (part is None and element.tag in _HEADINGS)


def _found_in(pieces: Pieces) -> dict[str, object] | None:
    """Return the speaker, text, time, media and reactions of a message, as written.

    A box without a time is none: it lists the participants, or says that a request is pending.
    """
    parts: dict[str, list[str]] = {}
    media: list[str] = []
    reactions: list[str] = []
    for element, text in pieces:
        if text and element.role == _REACTION_BOX:
            reactions[-1:] = [each + _BLANKS.sub(" ", text) for each in reactions[-1:]]
        elif text:  # line breaks in it belong to the page's source
            parts.setdefault(element.role, []).append(_BLANKS.sub(" ", text))
        else:
            role = element.inherited()
            if role == _TEXT:
                parts.setdefault(_TEXT, []).extend(["\n"] * (element.tag in _BLOCKS))
                media += [element.tag] * (element.tag in _MEDIA)
            if not element.is_void:
                role = next((_ROLES[each] for each in element.classes if each in _ROLES), role)
                parts.setdefault(role, [])
                reactions += [""] * (role == _REACTION_BOX and element.tag == "li")
                element.role = _UNSEEN if element.tag in _HIDDEN else role
    if _TIME not in parts:
        return None
    told = {role: _LINES.sub("\n", "".join(parts.get(role, ()))).strip() for role in (_SPEAKER, _TEXT, _TIME)}
    return {**told, "media": media, "reactions": [given for text in reactions if (given := text.strip())]}


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
