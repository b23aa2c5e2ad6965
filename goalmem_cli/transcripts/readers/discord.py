"""Reads channels of Discord as DiscordChatExporter writes them (Tyrrrz/DiscordChatExporter, 2.30 to 2.47, JSON)."""

from __future__ import annotations

from collections.abc import Iterator

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.readers.quotes import quotes_in_discord
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes, edited_at, objects_in
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.listed import drafts_from_document
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.source import Source

_NOTICES = frozenset(
    {
        "RecipientAdd", "RecipientRemove", "Call", "ChannelNameChange", "ChannelIconChange", "ChannelPinnedMessage",
        "GuildMemberJoin", "ThreadCreated",
    }
) | {str(number) for number in range(1, 19)}  # fmt: skip
_REPLY = "Reply"
_BESIDE = ("attachments", "stickers", "embeds")


class DiscordReader(RecordReader):
    """Reads a channel, or a part of one, named by the channel's id. Speakers have their names on that server."""

    name = "discord"
    sign = "`guild`, `channel`, and messages with `author` and `timestampEdited`"
    is_of_people = True

    def _is_meant(self, record: Node) -> bool:
        return all(record.has(key) for key in ("guild", "channel", "messages"))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        return drafts_from_document(source, "messages", _messages, _identify)


def _identify(draft: Draft, about: Node) -> None:
    """Set the draft's id to the channel's, and its title to the names of server and channel."""
    names = (about.at((key, "name")).optional_text() for key in ("guild", "channel"))
    draft.own_id, draft.title = about.at(("channel", "id")).optional_name(), " - ".join(filter(None, names)) or None


def _messages(draft: Draft, node: Node) -> Iterator[Message]:
    """Yield what the message says, unless it says nothing."""
    kind = node.child("type").optional_text()
    if kind in _NOTICES:
        draft.count("notices of Discord left out")
        return
    forwarded = node.child("forwardedMessage")
    is_forwarded = isinstance(forwarded.value, dict)
    told = [node, forwarded] if is_forwarded else [node]
    said = [_said_in(draft, one) for one in told]
    text = "\n".join([said[0]] * bool(said[0]) + [f"[forwarded] {part}" for part in said[1:] if part])
    if not text and any(objects_in(one.child(key)) for one in told for key in _BESIDE):
        return
    reference = node.child("reference")
    is_reply = kind in ("", _REPLY) and isinstance(reference.value, dict) and not is_forwarded
    yield Message(
        _name(node.required("author")),
        text,
        node.child("timestamp").stamp(),
        node.child("id").optional_name(),
        attributes=attributes(
            reply_to=reference.child("messageId").optional_name() if is_reply else None,
            edited=edited_at(node.child("timestampEdited")),
            reactions=map(_reaction, objects_in(node.child("reactions"))),
            forwarded_from="" if is_forwarded and not said[0] else None,
            quotes=quotes_in_discord(text, len(said[0])) if said[0] else (),
            speaker=(node.child("author").child("id").optional_name(), DiscordReader.name),
        ),
    )


def _said_in(draft: Draft, node: Node) -> str:
    """Return a message's text with the texts of its embeds, which programs wrote; media are counted."""
    draft.count("media left out", sum(len(objects_in(node.child(key))) for key in ("attachments", "stickers")))
    content = node.child("content").optional_text()
    texts = [content]
    for embed in objects_in(node.child("embeds")):
        if content and embed.child("url").optional_text():
            draft.count("previews of links left out")
        else:
            texts.append(_embedded(embed))
    return "\n".join(text for text in texts if text)


def _embedded(embed: Node) -> str:
    """Return the text of an embed, a line each for author, title, description and fields."""
    lines = [embed.at(keys).optional_text() for keys in (("author", "name"), ("title",), ("description",))]
    fields = (
        [one.child(key).optional_text() for key in ("name", "value")] for one in objects_in(embed.child("fields"))
    )
    return "\n".join(filter(None, (*lines, *(": ".join(filter(None, texts)) for texts in fields))))


def _reaction(node: Node) -> Reaction:
    emoji, count = node.child("emoji"), node.child("count").value
    what = (emoji.child("name") if isinstance(emoji.value, dict) else emoji).optional_text()
    return Reaction(what, tuple(map(_name, objects_in(node.child("users")))), count if isinstance(count, int) else 1)


def _name(user: Node) -> str:
    return user.child("nickname").optional_text() or user.child("name").optional_text() or "unknown"
