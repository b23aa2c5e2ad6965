"""Reads what Signal itself exports (Signal Desktop and Android of 2026): `main.jsonl`, one frame of its backup a line.

Frames are those of `Backups.proto` (signalapp/Signal-Desktop) as JSON: people, groups and chats, then the messages of
all chats in order of arrival. The numbers of people and chats are valid in one export only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.reading.attributes import attributes, edited_at, objects_in, reactions_in
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node, json_lines
from goalmem_cli.transcripts.reading.source import Source

_GONE = {
    "remoteDeletedMessage": "deleted messages", "updateMessage": "calls and notices of Signal",
    "stickerMessage": "stickers", "contactMessage": "shared contacts", "viewOnceMessage": "media to be seen once",
    "paymentNotification": "payments and gifts", "giftBadge": "payments and gifts",
}  # fmt: skip
"""The kinds of items in which nobody says anything, and what each is counted as."""
_TEXTS = {"standardMessage": ("text.body",), "directStoryReplyMessage": ("textReply.text.body", "emoji")}
"""Where the kinds of items have their texts; mentions stand beside the first."""
_NAMES = (
    "nickname.given nickname.family", "systemGivenName systemFamilyName", "profileGivenName profileFamilyName",
    "username",
)  # fmt: skip
"""Where a person's name may be; the name that the owner chose comes first."""
_UNKNOWN = "unknown"
_MENTION = "\ufffc"
"""The character in a text that stands for the name of a person who is mentioned."""


class SignalJsonlReader(RecordReader):
    """Reads a conversation from each chat, named by its person or group. Message ids are times of sending, in UTC."""

    name = "signal-jsonl"
    suffixes = (".jsonl",)
    sign = "lines of `recipient`, `chat` and `chatItem` with `chatId`"
    is_of_people = True

    def _is_meant(self, line: Node) -> bool:
        return line.has("backupTimeMs") or line.child("chatItem").has("chatId")

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield a conversation for each chat of the export."""
        export = _Export()
        for frame in json_lines(source):
            source.is_readable(partial(export.take, frame))
        for draft, messages in export.chats.values():
            yield from draft.fill(messages)


@dataclass(frozen=True, slots=True)
class Person:
    """A person or group. The `account` id is the same in every export; a `telephone` that is the name is left out."""

    name: str
    account: str | None = None
    telephone: str = ""

    @classmethod
    def from_frame(cls, recipient: Node, owner: str) -> Person:
        """Return the person in the frame; raises an InputError if it does not have the layout."""
        contact = recipient.child("contact")
        name = owner if recipient.has("self") else "Signal" if recipient.has("releaseNotes") else ""
        name = name or recipient.at(("group", "snapshot", "title", "title")).optional_text()
        number, account = (
            node.optional_name() if type(node.value) in (str, int) else None  # one of another kind costs no name
            for node in (contact.at(("e164",)), contact.at(("aci",)))
        )
        telephone = f"+{number.lstrip('+')}" if number else ""
        name = name or next((found for ways in _NAMES if (found := _joined(contact, ways))), telephone)
        return cls(name or _UNKNOWN, account, "" if telephone == name else telephone)


class _Export:
    """What was read so far: people and groups by number, names by account, and the messages of each chat."""

    def __init__(self) -> None:
        self.chats: dict[str, tuple[Draft, list[Message]]] = {}
        self._people: dict[str, Person] = {}
        self._accounts: dict[str, str] = {}
        self._owner = "Me"

    def take(self, frame: Node) -> None:
        """Take a line; raises an InputError if it does not have the layout."""
        keys = frame.keys()
        if "account" in keys:
            self._owner = _joined(frame.child("account"), "givenName familyName") or self._owner
        elif "recipient" in keys:
            number = frame.child("recipient").required("id").optional_name() or ""
            self._people[number] = one = Person.from_frame(frame.child("recipient"), self._owner)
            self._accounts |= {one.account: one.name} if one.account else {}
        elif "chat" in keys:
            chat = frame.child("chat")
            self._chat(chat.required("id"))[0].title = self._person(chat.child("recipientId").optional_name()).name
        elif "chatItem" in keys:
            self._hear(frame.child("chatItem"))

    def _chat(self, number: Node) -> tuple[Draft, list[Message]]:
        key = number.optional_name() or ""
        if key not in self.chats:
            self.chats[key] = Draft(place=f"chat {key}"), []
        return self.chats[key]

    def _person(self, number: str | None) -> Person:
        return self._people.get(number or "", Person(_UNKNOWN))

    def _hear(self, item: Node) -> None:
        """Take a message with its attributes; count an item that is no message."""
        draft, messages = self._chat(item.required("chatId"))
        kind = next((key for key in (*_GONE, "poll", *_TEXTS) if item.has(key)), "")
        if kind in _GONE or not kind:
            draft.count(f"{_GONE.get(kind, 'items of unknown kinds')} left out")
            return
        message = item.child(kind)
        text = self._poll(message) if kind == "poll" else self._text(message, *_TEXTS[kind])
        media = len(objects_in(message.child("attachments")))
        draft.count("media left out", media)
        draft.count("long texts whose end is in another file, cut off", message.child("longText").value is not None)
        if text or not media:
            messages.append(self._message(item, message, text))

    def _message(self, item: Node, message: Node, text: str) -> Message:
        """Return the message. An edited message has the time of its first version."""
        versions, author = objects_in(item.child("revisions")), self._person(item.child("authorId").optional_name())
        sent = (versions[0] if versions else item).child("dateSent")
        answered = message.at(("quote", "targetSentTimestamp")).optional_name()
        beside = attributes(
            reply_to=answered, quoted="" if answered else _joined(message, "quote.text.body"),
            edited=edited_at(item.child("dateSent")) if versions else None,
            reactions=reactions_in(message, "emoji", "authorId", lambda number: self._person(number).name),
            speaker=(author.account, "signal"), number=author.telephone,
        )  # fmt: skip
        return Message(author.name, text, sent.stamp(), sent.optional_name(), attributes=beside)

    def _text(self, message: Node, *ways: str) -> str:
        """Return the text with the names of the people mentioned, in the order of their positions."""
        text = next((text for way in ways if (text := _joined(message, way))), "")
        ranges = objects_in(message.at(ways[0].replace("body", "bodyRanges").split(".")))
        mentions = [(one.child("start").value, one.child("mentionAci")) for one in ranges if one.has("mentionAci")]
        mentions.sort(key=lambda one: one[0] if isinstance(one[0], (int, float)) else 0)
        accounts = (account.optional_name() or "" for _, account in mentions)
        first, *others = text.split(_MENTION)
        names = chain((f"@{self._accounts.get(account, _UNKNOWN)}" for account in accounts), repeat(_MENTION))
        return first + "".join(name + piece for name, piece in zip(names, others, strict=False))

    def _poll(self, poll: Node) -> str:
        """Return the question, and below it each option with its voters."""
        lines = [poll.child("question").optional_text()]
        for option in objects_in(poll.child("options")):
            votes = (one.child("voterId").optional_name() for one in objects_in(option.child("votes")))
            voters = ", ".join(self._person(voter).name for voter in votes)
            lines.append(f"- {option.child('option').optional_text()}{f': {voters}' if voters else ''}")
        return "\n".join(lines)


def _joined(node: Node, ways: str) -> str:
    """Return the texts to which the ways lead, separated by blanks."""
    return " ".join(part for way in ways.split() if (part := node.at(way.split(".")).optional_text()))
