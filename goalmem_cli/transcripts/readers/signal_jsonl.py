"""Reads what Signal itself exports (Signal Desktop and Android of 2026): `main.jsonl`, one frame of its backup a line.

Frames are those of `Backups.proto` (signalapp/Signal-Desktop) as JSON: people, groups and chats, then the messages of
all chats in order of arrival. The numbers of people and chats are valid in one export only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.readers.signal_frames import GONE, People, reactions_to, said_in
from goalmem_cli.transcripts.reading.attributes import attributes, edited_at, objects_in
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node, json_lines
from goalmem_cli.transcripts.reading.source import Source


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


class _Export:
    """What was read so far: the people, and the messages of each chat."""

    def __init__(self) -> None:
        self.chats: dict[str, tuple[Draft, list[Message]]] = {}
        self._people = People()

    def take(self, frame: Node) -> None:
        """Take a line of the export.

        Raises:
            InputError: it does not have the layout.
        """
        keys = frame.keys()
        if "account" in keys:
            self._people.is_exported_by(frame.child("account"))
        elif "recipient" in keys:
            self._people.meet(frame.child("recipient"))
        elif "chat" in keys:
            chat = frame.child("chat")
            self._chat(chat.required("id")).title = self._people.name(chat.child("recipientId"))
        elif "chatItem" in keys:
            self._hear(frame.child("chatItem"))

    def _chat(self, number: Node) -> Draft:
        key = number.optional_name() or ""
        if key not in self.chats:
            self.chats[key] = Draft(place=f"chat {key}"), []
        return self.chats[key][0]

    def _hear(self, item: Node) -> None:
        """Take a message with its attributes; count an item that is no message."""
        number = item.required("chatId")
        draft = self._chat(number)
        if gone := next((what for key, what in GONE.items() if item.has(key)), None):
            draft.count(gone)
            return
        said = said_in(item, self._people)
        if said is None:
            draft.count("items of unknown kinds left out")
            return
        text, message = said
        media = len(objects_in(message.child("attachments")))
        draft.count("media left out", media)
        draft.count("long texts whose end is in another file, cut off", message.child("longText").value is not None)
        if text or not media:
            _, messages = self.chats[number.optional_name() or ""]
            messages.append(self._message(item, message, text))

    def _message(self, item: Node, message: Node, text: str) -> Message:
        """Return the message. An edited message has the time of its first version."""
        versions = objects_in(item.child("revisions"))
        sent = (versions[0] if versions else item).child("dateSent")
        answered = message.at(("quote", "targetSentTimestamp")).optional_name()
        return Message(
            self._people.name(item.child("authorId")),
            text,
            sent.stamp(),
            sent.optional_name(),
            attributes=attributes(
                reply_to=answered,
                quoted="" if answered else message.at(("quote", "text", "body")).optional_text(),
                edited=edited_at(item.child("dateSent")) if versions else None,
                reactions=reactions_to(message, self._people),
                speaker=(self._people.account(item.child("authorId")), "signal"),
                number=self._people.telephone(item.child("authorId")),
            ),
        )
