"""Reads direct messages in the archive that X, once Twitter, gives its users (2019 to 2026): `data/direct-messages.js`.

Each file assigns JSON: `window.YTD.direct_messages.part0 = [...]`. A conversation's newest message comes first. Large
archives have further parts, and groups have a file of their own. Only the owner of the account has a name in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import attributes, objects_in, reactions_in
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.parts import oldest_first
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import in_utc_alone
from goalmem_cli.transcripts.reading.zipped import Place

_MESSAGES = re.compile(r"\s*window\.YTD\.direct_messages?(?:_group)?\.part\d+\s*=\s*(?=\[)", re.ASCII)
_ASSIGNED = re.compile(r"\s*[\w.]+\s*=\s*(?=\[)", re.ASCII)
_FILE = re.compile(r"direct-messages?(?:-group)?(?:-part\d+)?\.js", re.ASCII)
_MEDIA = re.compile(r"https?://(?:twitter|x)\.com/messages/media/\d+", re.ASCII)
_ACCOUNT, _DATA, _OWNER = "account.js", "data", "Me"


class XArchiveReader(DraftReader):
    """Reads a conversation for each id in an archive, in its folder `data` or in one file; times are UTC."""

    name = "x-archive"
    suffixes = ()
    sign = "`window.YTD.direct_messages.part0 = [`; a folder with `direct-messages.js`"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the folder has such files, or the file assigns messages as X does."""
        if glimpse.folder is not None:
            return bool(_files_in(glimpse.folder)[1])
        return _MESSAGES.match(glimpse.head) is not None

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield a conversation for each id, its messages oldest first."""
        place, files = (None, []) if source.folder is None else _files_in(source.folder)
        owner = {} if place is None else _owner_in(source.part(place / _ACCOUNT), place / _ACCOUNT)
        chats: dict[str, tuple[Draft, list[Node]]] = {}
        for part in map(source.part, files) if files else iter([source]):
            for entry in _assigned(part):
                source.is_readable(partial(_take, chats, entry))
        for draft, events in chats.values():
            listed = oldest_first(iter(events), "createdAt")
            yield from draft.fill(source.readable(listed, partial(_messages, draft, owner)))


def _files_in(folder: Place) -> tuple[Place | None, list[Place]]:
    """Return the folder of an archive's files, and those with messages."""
    try:
        for place in (folder / _DATA, folder):
            files = [file for file in place.iterdir() if _FILE.fullmatch(file.name)] if place.is_dir() else []
            if files:
                return place, sorted(files, key=lambda file: file.name.removesuffix(".js"))
    except OSError:
        pass  # the reader will say why it cannot be read
    return None, []


def _assigned(source: Source) -> Iterator[Node]:
    """Yield the elements of the array that the file assigns.

    Raises:
        InputError: it assigns none.
    """
    chunks = source.chunks()
    first = next(chunks, "")
    start = _ASSIGNED.match(first)
    if start is None:
        raise source.error("", "it assigns no array", "an archive of X has `window.YTD.direct_messages.part0 = [`")
    text = JsonText(source, chain([first[start.end() :]], chunks))
    for index in text.elements():
        yield Node(text.value(), source.file, f"[{index}]")


def _owner_in(source: Source, file: Place) -> dict[str, str]:
    """Return the name of the archive's owner by account id; empty if the archive does not give it."""
    names: dict[str, str] = {}

    def look() -> None:
        for entry in _assigned(source):
            account = entry.child("account")
            name = account.child("accountDisplayName").optional_text() or account.child("username").optional_text()
            names[account.child("accountId").optional_name() or ""] = name or _OWNER

    if file.is_file():
        source.is_readable(look)
    return names


def _take(chats: dict[str, tuple[Draft, list[Node]]], entry: Node) -> None:
    """Keep the messages of a conversation; an archive may have several pieces of it."""
    chat = entry.required("dmConversation")
    own_id = chat.required("conversationId").filled_text()
    draft, events = chats.setdefault(own_id, (Draft(own_id, place=entry.place), []))
    for event in chat.required("messages").elements():
        if event.has("messageCreate"):
            events.append(event.child("messageCreate"))
        else:
            draft.count("notices left out")


def _messages(draft: Draft, owner: dict[str, str], node: Node) -> Iterator[Message]:
    """Yield what the message says, with its links as they were written; media are counted."""
    sender, text = node.required("senderId").optional_name() or "unknown", node.child("text").optional_text()
    for link in objects_in(node.child("urls")):
        short, meant = link.child("url").optional_text(), link.child("expanded").optional_text()
        if short and meant:
            text = text.replace(short, "" if _MEDIA.match(meant) else meant).strip()
    media = node.child("mediaUrls")
    shown = 0 if media.value is None else len(media.elements())
    draft.count("media left out", shown)
    if text or not shown:
        beside = attributes(
            edited=bool(node.child("editHistory").value),
            reactions=reactions_in(node, "reactionKey", "senderId", lambda giver: owner.get(giver, giver)),
            speaker=(sender, "x"),
        )
        said, own_id = in_utc_alone(node.child("createdAt").stamp()), node.child("id").optional_name()
        yield Message(owner.get(sender, sender), text, said, own_id, attributes=beside)
