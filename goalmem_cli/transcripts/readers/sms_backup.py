"""Reads what SMS Backup & Restore saves (SyncTech, Android, versions 7 to 10): XML with an element a message.

`contact_name` is the name for the number. Text messages have their text as `body`. Multimedia messages have parts, and
the numbers of a group with `~` between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.sms_elements import Element, elements
from goalmem_cli.transcripts.reading.attributes import attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import quoted
from goalmem_cli.transcripts.reading.told_times import stamp_or_unread

_ROOT = re.compile(r"<smses[\s>]")
_RECEIVED, _UNSENT = "1", ("3", "5")
"""The types of messages (1 to 6) that were received, and of those that are drafts or failed."""
_FROM = "137"
"""The type of the sender's address in a multimedia message."""
_LAYOUT, _TEXT = "application/smil", "text/plain"
_NOTHING = ("", "null", "(Unknown)")
_ME = "Me"


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
    """What was read so far: the names for numbers, and the messages of each conversation."""

    def __init__(self, source: Source) -> None:
        self.chats: dict[str, tuple[Draft, list[Opening]]] = {}
        self.names: dict[str, str] = {}
        self._source = source

    def read(self) -> None:
        """Read all messages; one that cannot be read is skipped.

        Raises:
            InputError: the document cannot be read on, or a message may not be skipped.
        """
        for element in elements(self._source):
            self._source.is_readable(partial(self._take, element))

    def _take(self, element: Element) -> None:
        """Take a message; one that was not sent is only counted.

        Raises:
            InputError: it has no number.
        """
        numbers = [number for number in re.split("[~,;]", element.get("address")) if number.strip()]
        if not numbers:
            raise self._source.error(element.place, f"a message without an address, of {quoted(element.get('date'))}")
        if len(numbers) == 1 and (name := element.get("contact_name")) not in _NOTHING:
            self.names[numbers[0]] = name
        key = "~".join(sorted(numbers))
        if key not in self.chats:
            self.chats[key] = Draft(key, place=element.place), []
        draft, openings = self.chats[key]
        kind = element.get("type" if element.name == "sms" else "msg_box")
        if kind in _UNSENT:
            draft.count("drafts and messages that were not sent left out")
            return
        sender = numbers[0] if len(numbers) == 1 else next(iter(element.addresses.get(_FROM, ())), "")
        text, media = self._text(element)
        draft.count("media left out", media)
        if text or not media:
            said = stamp_or_unread(element.get("date"))
            openings.append(Opening(sender if kind == _RECEIVED else _ME, said, text))

    def _text(self, element: Element) -> tuple[str, int]:
        """Return the message's text, and the number of its media."""
        if element.name == "sms":
            body = element.get("body").strip()
            return "" if body == "null" else body, 0
        subject, parts = element.get("subject").strip(), [part for part in element.parts if part.get("ct") != _LAYOUT]
        texts = [part.get("text", "").strip() for part in parts if part.get("ct") == _TEXT]
        said = [text for text in (subject, *texts) if text not in _NOTHING]
        return "\n".join(dict.fromkeys(said)), len(parts) - len(texts)


def _message(ids: TurnIds, names: dict[str, str], opening: Opening) -> Message:
    """Return the message; the speaker is the name for its number."""
    own_id = ids.of(opening) if opening.text else None
    name = names.get(opening.speaker, "")
    return Message(
        name or opening.speaker or "unknown", opening.text, opening.said, own_id,
        attributes=attributes(number=opening.speaker if name else ""),
    )  # fmt: skip
