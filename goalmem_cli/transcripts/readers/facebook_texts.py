"""Reads parts of a message of Messenger or Instagram: texts whose UTF-8 was read as Latin-1, shares, reactions."""

from __future__ import annotations

from collections.abc import Iterator

from goalmem_cli.transcripts.readers.quotes import quote
from goalmem_cli.transcripts.reading.attributes import Reaction
from goalmem_cli.transcripts.reading.nodes import Node


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
