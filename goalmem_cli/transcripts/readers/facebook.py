"""Reads chats of Facebook Messenger and Instagram as Meta's "Download your information" writes them (JSON, 2018-2025).

A chat is a folder of `message_1.json` (the newest), `message_2.json` and so on. Each has its newest message first, and
its UTF-8 was read as Latin-1. The download of Messenger's encrypted chats (since 2024; `threadName`, `senderName`) has
one file for each chat, in the order of time and in correct UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.facebook_notices import tells_of_a_reaction, tells_of_something_sent
from goalmem_cli.transcripts.readers.quotes import quote
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.nodes import Listing, Node
from goalmem_cli.transcripts.reading.parts import glimpse_of_first, oldest_first, oldest_parts_first, parts_in
from goalmem_cli.transcripts.reading.source import Source


def is_encrypted(node: Node) -> bool:
    """Say whether the message is from the download of encrypted chats, whose texts need no repair."""
    return node.has("senderName")


def speaker_and_text(node: Node) -> tuple[str, str]:
    """Return the speaker and the text, in correct UTF-8."""
    if is_encrypted(node):
        speaker, text = node.child("senderName").text(), node.child("text").optional_text()
    else:
        speaker, text = (
            repaired(given.optional_text()) for given in (node.required("sender_name"), node.child("content"))
        )
    return speaker or "unknown", text


def shared_in(node: Node) -> list[str]:
    """Return the text and the link of what the message shares."""
    share = node.child("share")
    if not isinstance(share.value, dict):
        return []
    told = (repaired(share.child(key).optional_text()) for key in ("share_text", "link"))
    return [part for part in told if part]


def quotes_of_share(node: Node, text: str, shared: list[str]) -> list[dict[str, object]]:
    """Return the shared part at the end of the text as a quote of its owner; a link alone is no quote."""
    share, told = node.child("share"), "\n".join(shared)
    if not isinstance(share.value, dict) or shared == [share.child("link").value] or not told:
        return []
    return [quote(len(text) - len(told), len(text), repaired(share.child("original_content_owner").optional_text()))]


def reactions_to(node: Node) -> Iterator[Reaction]:
    """Yield the reactions to the message."""
    reactions = node.child("reactions")
    for reaction in [] if reactions.value is None else reactions.elements():
        what, who = (reaction.child(key).optional_text() for key in ("reaction", "actor"))
        yield Reaction(what, (who,)) if is_encrypted(node) else Reaction(repaired(what), (repaired(who),))


def repaired(text: str) -> str:
    """Return the text as it was before its UTF-8 was read as Latin-1; unchanged if it never was."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


_FIRST = "message_1.json"
_FILE = re.compile(r"message_(\d{1,6})\.json", re.ASCII)
_MEDIA = ("photos", "videos", "audio_files", "gifs", "files", "sticker", "media")
_NOTICES = ("Call", "Subscribe", "Unsubscribe", "placeholder")


class FacebookReader(DraftReader):
    """Reads a folder of numbered files, or one such file, as a chat, named by the id in its path. Times are exact."""

    name = "facebook"
    suffixes = (".json",)
    sign = "`participants`, and messages with `sender_name` and `timestamp_ms`; a folder with `message_1.json`"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the document, or the folder's first file, lists messages with a sender as Meta names it."""
        if glimpse.folder is not None:
            first = glimpse_of_first(glimpse.folder, _FIRST)
            return first is not None and self.recognises(first)
        return glimpse.has_record(lambda record: any(map(_is_message, record.child("messages").elements())))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the chat. Each file is read whole into memory, since its newest message comes first."""
        files = [] if source.folder is None else parts_in(source.folder, _FILE)
        draft, ids = Draft(), TurnIds()
        parts = map(source.part, oldest_parts_first(files)) if files else iter([source])
        return draft.fill(message for part in parts for message in _messages_of_file(draft, ids, part))


def _is_message(node: Node) -> bool:
    return (node.has("sender_name") and node.has("timestamp_ms")) or (node.has("senderName") and node.has("isUnsent"))


def _messages_of_file(draft: Draft, ids: TurnIds, source: Source) -> Iterator[Message]:
    text = JsonText(source, source.chunks())
    listing = Listing(text, source.file, "", "messages")
    yield from source.readable(_in_order(draft, listing), partial(_messages, draft, ids))
    text.finish()


def _in_order(draft: Draft, listing: Listing) -> Iterator[Node]:
    """Yield the messages in the order of time; name the draft when the whole document has been read."""
    for node in _oldest_first(listing):
        if draft.own_id is None and draft.title is None:
            about = listing.about
            path = about.child("thread_path").optional_text() or about.child("threadName").optional_text()
            draft.own_id = path or None
            draft.title = repaired(about.child("title").optional_text()) or None
        yield node


def _oldest_first(listing: Listing) -> Iterator[Node]:
    """Yield the messages by time; the download of encrypted chats has another key for the time."""
    items = listing.items()
    first = next(items, None)
    if first is None:
        return iter(())
    has_own_order = is_encrypted(first)
    return oldest_first(chain([first], items), _time_key(first), lambda _: not has_own_order)


def _time_key(node: Node) -> str:
    return "timestamp" if is_encrypted(node) else "timestamp_ms"


def _messages(draft: Draft, ids: TurnIds, node: Node) -> Iterator[Message]:
    """Yield what the message says, unless it says nothing."""
    if node.child("is_unsent").value is True or node.child("isUnsent").value is True:
        draft.count("deleted messages left out")
        return
    speaker, text = speaker_and_text(node)
    if node.has("call_duration") or node.child("type").value in _NOTICES:
        draft.count("calls and notices left out")
        return
    if tells_of_a_reaction(text):
        draft.count("notices of reactions left out")
        return
    media, shared = sum(_number(node.child(key)) for key in _MEDIA), shared_in(node)
    draft.count("media left out", media)
    is_notice = tells_of_something_sent(text, speaker, is_beside_it=bool(media or shared))
    draft.count("notices of something sent left out", is_notice)
    added = [part for part in shared if part not in text]
    text = "\n".join([text] * bool(text and not is_notice) + added)
    if text or not (media or is_notice):
        said = node.child(_time_key(node)).stamp()
        own_id = ids.of(Opening(speaker, said, text))
        beside = attributes(reactions=reactions_to(node), quotes=quotes_of_share(node, text, added))
        yield Message(speaker, text, said, own_id, attributes=beside)


def _number(node: Node) -> int:
    return len(node.value) if isinstance(node.value, list) else int(node.value is not None)
