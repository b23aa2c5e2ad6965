"""Reads what SMS Backup & Restore saves (SyncTech, Android, versions 7 to 10): XML with an element a message.

`contact_name` is the name for the number. Text messages have their text as `body`. Multimedia messages have parts, and
the numbers of a group with `~` between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from goalmem_cli.languages.patterns import late
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import quoted
from goalmem_cli.transcripts.reading.told_times import stamp_or_unread
from goalmem_cli.transcripts.reading.xml_text import XmlElement, xml_elements

_ROOT = late(r"<smses[\s>]")
_MESSAGES = frozenset({"sms", "mms"})
_RECEIVED, _UNSENT = "1", ("3", "5")
"""The types of messages (1 to 6) that were received, and of those that are drafts or failed."""
_SENDER = "137"
"""The type of the sender's address in a multimedia message."""
_LAYOUT, _TEXT = "application/smil", "text/plain"
_NOTHING = ("", "null", "(Unknown)")


class SmsBackupReader(DraftReader):
    """Reads the messages with a number, or with a group of them, as a conversation. Times are UTC; turns have ids."""

    name = "sms-backup"
    suffixes = (".xml",)
    sign = "XML whose root is `<smses>`"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the document's root is that of a backup."""
        return glimpse.head.lstrip().startswith("<") and _ROOT.search(glimpse.head) is not None

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the file's conversations. All texts are held in memory, since the numbers alternate."""
        backup = _Backup(source)
        source.is_readable(backup.read)
        for draft, openings in backup.chats.values():
            yield from draft.fill(map(partial(_message, TurnIds(), backup.names), openings))


class _Backup:
    """What a backup has: the names for numbers, and the messages of each conversation, without media."""

    def __init__(self, source: Source) -> None:
        self.chats: dict[str, tuple[Draft, list[Opening]]] = {}
        self.names: dict[str, str] = {}
        self._source = source

    def read(self) -> None:
        """Read all messages; one that cannot be read is skipped.

        Raises:
            InputError: the text is not XML, or defines entities, or a message may not be skipped.
        """
        for element in xml_elements(self._source, _MESSAGES):
            self._source.is_readable(partial(self._take, element))

    def _take(self, element: XmlElement) -> None:
        """Take a message; one that was not sent is only counted. Raises an InputError if it has no number."""
        given = element.given
        numbers = [number for number in re.split("[~,;]", given.get("address", "")) if number.strip()]
        if not numbers:
            when = quoted(given.get("date", ""))
            raise self._source.error(element.place, f"a message without an address, of {when}")
        if len(numbers) == 1 and (name := given.get("contact_name", "")) not in _NOTHING:
            self.names[numbers[0]] = name
        key = "~".join(sorted(numbers))
        if key not in self.chats:
            self.chats[key] = Draft(key, place=element.place), []
        draft, openings = self.chats[key]
        kind = given.get("type" if element.name == "sms" else "msg_box")
        if kind in _UNSENT:
            draft.count("drafts and messages that were not sent left out")
            return
        sender = numbers[0] if len(numbers) == 1 else _sender_of(element)
        text, media = _said_in(element)
        if draft.says(text, media):
            said = stamp_or_unread(given.get("date", ""))
            openings.append(Opening(sender if kind == _RECEIVED else "Me", said, text))


def _sender_of(element: XmlElement) -> str:
    addresses = (given for name, given in element.inner if name == "addr" and given.get("type") == _SENDER)
    return next(addresses, {}).get("address", "")


def _said_in(element: XmlElement) -> tuple[str, int]:
    """Return the message's text, and the number of its media."""
    if element.name == "sms":
        body = element.given.get("body", "").strip()
        return "" if body == "null" else body, 0
    parts = [given for name, given in element.inner if name == "part" and given.get("ct", "") != _LAYOUT]
    texts = [given.get("text", "").strip() for given in parts if given.get("ct") == _TEXT]
    said = [text for text in (element.given.get("subject", "").strip(), *texts) if text not in _NOTHING]
    return "\n".join(dict.fromkeys(said)), len(parts) - len(texts)


def _message(ids: TurnIds, names: dict[str, str], opening: Opening) -> Message:
    """Return the message; the speaker is the name for its number."""
    own_id, name = ids.of(opening) if opening.text else None, names.get(opening.speaker, "")
    beside = attributes(number=opening.speaker if name else "")
    return Message(name or opening.speaker or "unknown", opening.text, opening.said, own_id, attributes=beside)
