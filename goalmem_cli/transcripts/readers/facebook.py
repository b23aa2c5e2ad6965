"""Reads chats of Facebook Messenger and Instagram as Meta's "Download your information" writes them (JSON, 2018-2025).

A chat is a folder of `message_1.json`, the newest, `message_2.json` and so on, each with its newest message first and
texts whose UTF-8 was read as Latin-1. The download of Messenger's encrypted chats (2024 on; `threadName`, `senderName`)
has one file a chat, in the order of time and in right UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.facebook_notices import tells_of_a_reaction, tells_of_something_sent
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.nodes import Listing, Node
from goalmem_cli.transcripts.reading.parts import glimpse_of_first, oldest_first, parts_in
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import clean
from goalmem_cli.transcripts.reading.zipped import Place

_FIRST = "message_1.json"
_FILE = re.compile(r"message_(\d{1,6})\.json", re.ASCII)
_MEDIA = ("photos", "videos", "audio_files", "gifs", "files", "sticker", "media")
_NOTICES = ("Call", "Subscribe", "Unsubscribe", "placeholder")


class FacebookReader:
    """A folder of numbered files, or one such file, is a chat, under the id in its path. Times are exact."""

    name = "facebook"
    suffixes = (".json",)
    sign = "`participants`, and messages with `sender_name` and `timestamp_ms`; a folder with `message_1.json`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the document, or the folder's first file, lists messages with a sender as Meta names it."""
        if glimpse.folder is not None:
            first = glimpse_of_first(glimpse.folder, _FIRST)
            return first is not None and self.recognises(first)
        return glimpse.has_record(lambda record: any(map(_is_message, record.child("messages").elements())))

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the chat; each of its files is wholly in memory, since its newest message comes first.

        Raises:
            InputError: a document does not have the layout; the place is the path to the value.
        """
        return conversations_from_drafts(source, self.name, _drafts(source))


def _is_message(node: Node) -> bool:
    return (node.has("sender_name") and node.has("timestamp_ms")) or (node.has("senderName") and node.has("isUnsent"))


def _drafts(source: Source) -> Iterator[Draft]:
    files = [] if source.folder is None else parts_in(source.folder, _FILE)
    draft, ids = Draft(), TurnIds()
    parts = map(source.part, _oldest_parts_first(files)) if files else iter([source])
    return draft.fill(message for part in parts for message in _messages_of_file(draft, ids, part))


def _oldest_parts_first(files: list[Place]) -> list[Place]:
    """Return a chat's files from the last to the first, as Meta numbers them; as they stand where times rise so."""
    times = [_first_time(file) for file in files]
    known = [time for time in times if time is not None]
    is_rising = len(files) > 1 and len(known) == len(files) and known == sorted(known)
    return files if is_rising else files[::-1]


def _first_time(file: Place) -> float | None:
    try:
        document = Glimpse.from_source(Source.from_path(file)).document
    except InputError:
        return None  # whoever reads it says why
    listed = None if document is None or not document.has("messages") else document.child("messages").value
    first = listed[0] if isinstance(listed, list) and listed else None
    time = first.get("timestamp_ms") if isinstance(first, dict) else None
    return float(time) if isinstance(time, (int, float)) else None


def _messages_of_file(draft: Draft, ids: TurnIds, source: Source) -> Iterator[Message]:
    text = JsonText(source, source.chunks())
    listing = Listing(text, source.file, "", "messages")
    yield from source.readable(_in_order(draft, listing), partial(_messages, draft, ids))
    text.finish()


def _in_order(draft: Draft, listing: Listing) -> Iterator[Node]:
    """Yield the messages in the order of time, and name the draft when all of the document is known."""
    for node in _oldest_first(listing):
        if draft.own_id is None and draft.title is None:
            about = listing.about
            path = about.child("thread_path").optional_text() or about.child("threadName").optional_text()
            draft.own_id = clean(path) or None
            draft.title = clean(_repaired(about.child("title").optional_text())) or None
        yield node


def _oldest_first(listing: Listing) -> Iterator[Node]:
    """Yield the messages by their times, which the download of encrypted chats has under another key."""
    items = listing.items()
    first = next(items, None)
    if first is None:
        return iter(())
    is_encrypted = _is_encrypted(first)
    return oldest_first(chain([first], items), _time_key(first), lambda _: not is_encrypted)


def _time_key(node: Node) -> str:
    return "timestamp" if _is_encrypted(node) else "timestamp_ms"


def _messages(draft: Draft, ids: TurnIds, node: Node) -> Iterator[Message]:
    """Yield what the message says, unless it says nothing."""
    if node.child("is_unsent").value is True or node.child("isUnsent").value is True:
        draft.count("deleted messages left out")
        return
    speaker, text = _speaker_and_text(node)
    if node.has("call_duration") or node.child("type").value in _NOTICES:
        draft.count("calls and notices left out")
        return
    if tells_of_a_reaction(text):
        draft.count("notices of reactions left out")
        return
    media, shared = sum(_number(node.child(key)) for key in _MEDIA), _shared(node)
    draft.count("media left out", media)
    is_notice = tells_of_something_sent(text, speaker, is_beside_it=bool(media or shared))
    draft.count("notices of something sent left out", is_notice)
    text = "\n".join([text] * bool(text and not is_notice) + [part for part in shared if part not in text])
    if text or not (media or is_notice):
        said = node.child(_time_key(node)).stamp()
        own_id = ids.of(Opening(speaker, said, text))
        yield Message(speaker, text, said, own_id, attributes=attributes(reactions=_reactions(node)))


def _is_encrypted(node: Node) -> bool:
    """Say whether the message is of the download of encrypted chats, in which texts are right."""
    return node.has("senderName")


def _speaker_and_text(node: Node) -> tuple[str, str]:
    if _is_encrypted(node):
        speaker, text = node.child("senderName").text(), node.child("text").optional_text()
    else:
        speaker, text = (
            _repaired(given.optional_text()) for given in (node.required("sender_name"), node.child("content"))
        )
    return speaker or "unknown", text


def _shared(node: Node) -> list[str]:
    """Return what is said of the thing that is shared in the message, and its link."""
    share = node.child("share")
    if not isinstance(share.value, dict):
        return []
    told = (_repaired(share.child(key).optional_text()) for key in ("share_text", "link"))
    return [part for part in told if part]


def _reactions(node: Node) -> Iterator[Reaction]:
    reactions = node.child("reactions")
    for reaction in [] if reactions.value is None else reactions.elements():
        what, who = (reaction.child(key).optional_text() for key in ("reaction", "actor"))
        yield Reaction(what, (who,)) if _is_encrypted(node) else Reaction(_repaired(what), (_repaired(who),))


def _number(node: Node) -> int:
    return len(node.value) if isinstance(node.value, list) else int(node.value is not None)


def _repaired(text: str) -> str:
    """Return the text as it was before its UTF-8 was read as Latin-1; one that is no such text as it is."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text
