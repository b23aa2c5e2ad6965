"""Reads what SMS Backup & Restore saves (SyncTech, Android, versions 7 to 10): XML with an element a message.

`contact_name` is the name for the number. Text messages have their text as `body`. Multimedia messages have parts, and
the numbers of a group with `~` between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from xml.parsers import expat

from goalmem_cli.languages.patterns import late
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import quoted
from goalmem_cli.transcripts.reading.told_times import stamp_or_unread

_ROOT = late(r"<smses[\s>]")
_RECEIVED, _UNSENT = "1", ("3", "5")
"""The types of messages (1 to 6) that were received, and of those that are drafts or failed."""
_SENDER = "137"
"""The type of the sender's address in a multimedia message."""
_LAYOUT, _TEXT = "application/smil", "text/plain"
_NOTHING = ("", "null", "(Unknown)")
_REFERENCES = late(r"(?:&#(?:[0-9]{1,7}|x[0-9a-fA-F]{1,6});)+")
_NUMBERS = late(r"&#(x?)([0-9a-fA-F]+);")
_OF_REFERENCES = "&#xabcdefABCDEF0123456789;"
_ALLOWED = late("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML may refer to."""


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


@dataclass(slots=True)
class _Element:
    """A message: its attributes, type and text of its parts, and the first address of each type."""

    name: str
    place: str
    given: dict[str, str]
    parts: list[tuple[str, str]] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)


class _Backup:
    """Parses a backup in pieces: the names for numbers, and the messages of each conversation, without media."""

    def __init__(self, source: Source) -> None:
        self.chats: dict[str, tuple[Draft, list[Opening]]] = {}
        self.names: dict[str, str] = {}
        self._source = source
        self._open: _Element | None = None
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.EntityDeclHandler = self._refuse
        self._parser.AttlistDeclHandler = self._refuse

    def read(self) -> None:
        """Read all messages; one that cannot be read is skipped.

        Raises:
            InputError: the text is not XML, or defines entities or attributes, or a message may not be skipped.
        """
        for text in chain(_with_whole_characters(self._source), [""]):
            try:
                self._parser.Parse(text, not text)
            except expat.ExpatError as error:
                place = f"line {error.lineno}, column {error.offset + 1}"
                reason = f"not XML ({expat.errors.messages[error.code]})"
                hint = "export the messages again, or correct the file there"
                raise self._source.error(place, reason, hint) from error

    def _start(self, name: str, given: dict[str, str]) -> None:
        """Begin a message, or add a part or an address to the open one."""
        if name in ("sms", "mms"):
            self._open = _Element(name, f"line {self._parser.CurrentLineNumber}", given)
        elif self._open is not None and name == "part":
            self._open.parts.append((given.get("ct", ""), given.get("text", "")))
        elif self._open is not None and name == "addr":
            self._open.addresses.setdefault(given.get("type", ""), given.get("address", ""))

    def _end(self, name: str) -> None:
        if self._open is not None and name == self._open.name:
            self._source.is_readable(partial(self._take, self._open))
            self._open = None

    def _refuse(self, name: str, *_told: object) -> None:
        place, reason = f"line {self._parser.CurrentLineNumber}", f"defines an entity or attributes ({name[:40]!r})"
        raise self._source.error(place, reason, "no backup does; take the definition out of the file")

    def _take(self, element: _Element) -> None:
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
        sender = numbers[0] if len(numbers) == 1 else element.addresses.get(_SENDER, "")
        text, media = _said_in(element)
        draft.count("media left out", media)
        if text or not media:
            openings.append(
                Opening(sender if kind == _RECEIVED else "Me", stamp_or_unread(given.get("date", "")), text)
            )


def _said_in(element: _Element) -> tuple[str, int]:
    """Return the message's text, and the number of its media."""
    if element.name == "sms":
        body = element.given.get("body", "").strip()
        return "" if body == "null" else body, 0
    parts = [(kind, text.strip()) for kind, text in element.parts if kind != _LAYOUT]
    texts = [text for kind, text in parts if kind == _TEXT]
    said = [text for text in (element.given.get("subject", "").strip(), *texts) if text not in _NOTHING]
    return "\n".join(dict.fromkeys(said)), len(parts) - len(texts)


def _message(ids: TurnIds, names: dict[str, str], opening: Opening) -> Message:
    """Return the message; the speaker is the name for its number."""
    own_id, name = ids.of(opening) if opening.text else None, names.get(opening.speaker, "")
    beside = attributes(number=opening.speaker if name else "")
    return Message(name or opening.speaker or "unknown", opening.text, opening.said, own_id, attributes=beside)


def _with_whole_characters(source: Source) -> Iterator[str]:
    """Yield the text with emoji joined: the app refers to each half of a surrogate pair, which XML does not allow."""
    held = ""
    for chunk in chain(source.chunks(), [""]):
        text = held + chunk
        ready = text.rstrip(_OF_REFERENCES) if chunk else text
        held = text[len(ready) :]
        if ready:
            yield _REFERENCES.sub(_joined, ready)


def _joined(match: re.Match[str]) -> str:
    """Return references to the characters that the match means; U+FFFD for those that XML does not allow."""
    numbers = [int(digits, 16 if is_hex else 10) for is_hex, digits in _NUMBERS.findall(match[0])]
    halves = "".join(chr(number) if number <= 0x10FFFF else "\ufffd" for number in numbers)
    text = halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return "".join(f"&#{ord(each if _ALLOWED.match(each) else chr(0xFFFD))};" for each in text)
