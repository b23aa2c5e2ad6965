"""Parses the messages in the XML of SMS Backup & Restore (versions 7 to 10) in pieces, without the media in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from xml.parsers import expat

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.reading.source import Source

_MESSAGES = frozenset({"sms", "mms"})
_REFERENCES = re.compile(r"(?:&#(?:[0-9]{1,7}|x[0-9a-fA-F]{1,6});)+")
_NUMBERS = re.compile(r"&#(x?)([0-9a-fA-F]+);")
_OF_REFERENCES = "&#xabcdefABCDEF0123456789;"
_ALLOWED = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML may refer to."""
_LAST = 0x10FFFF


@dataclass(slots=True)
class Element:
    """A message: its attributes, those of its parts without the content of media, and its addresses by type."""

    name: str
    place: str
    attributes: Mapping[str, str]
    parts: list[Mapping[str, str]] = field(default_factory=list)
    addresses: dict[str, list[str]] = field(default_factory=dict)

    def get(self, name: str) -> str:
        """Return an attribute, "" if it is missing."""
        return self.attributes.get(name, "")


def elements(source: Source) -> Iterator[Element]:
    """Yield each message when it is complete.

    Raises:
        InputError: the text is not XML, or defines entities; the place is the line and column.
    """
    reading = _Reading(source)
    for chunk in chain(_with_whole_characters(source), [""]):
        broken = reading.feed(chunk)
        yield from reading.take()
        if broken is not None:
            raise broken


class _Reading:
    """Parses the document as it is fed; `take` yields the complete messages."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._open: Element | None = None
        self._complete: list[Element] = []
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.EntityDeclHandler = self._refuse

    def feed(self, text: str) -> InputError | None:
        """Parse more text; "" ends the document. Return the error if the text is not XML, else None.

        Raises:
            InputError: the text defines entities.
        """
        try:
            self._parser.Parse(text, not text)
        except expat.ExpatError as error:
            place = f"line {error.lineno}, column {error.offset + 1}"
            reason = f"not XML ({expat.errors.messages[error.code]})"
            return self._source.error(place, reason, "export the messages again, or correct the file there")
        return None

    def take(self) -> Iterator[Element]:
        """Yield the messages that were completed since the last call."""
        complete, self._complete = self._complete, []
        yield from complete

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        """Begin a message, or add a part or an address to the open one."""
        if name in _MESSAGES:
            self._open = Element(name, f"line {self._parser.CurrentLineNumber}", attributes)
        elif self._open is not None and name == "part":
            self._open.parts.append({key: attributes.get(key, "") for key in ("ct", "text")})
        elif self._open is not None and name == "addr":
            self._open.addresses.setdefault(attributes.get("type", ""), []).append(attributes.get("address", ""))

    def _end(self, name: str) -> None:
        if self._open is not None and name == self._open.name:
            self._complete.append(self._open)
            self._open = None

    def _refuse(self, name: str, *_told: object) -> None:
        """Refuse a document that defines entities: no backup does.

        Raises:
            InputError: always.
        """
        place = f"line {self._parser.CurrentLineNumber}"
        reason, hint = f"defines an entity ({name[:40]!r})", "no backup does; take the definition out of the file"
        raise InputError(self._source.file, place, reason, hint)


def _with_whole_characters(source: Source) -> Iterator[str]:
    """Yield the text with emoji joined: the app refers to each half of a surrogate pair, which XML does not allow."""
    held = ""
    for chunk in source.chunks():
        text = held + chunk
        ready = text.rstrip(_OF_REFERENCES)
        held = text[len(ready) :]
        if ready:
            yield _REFERENCES.sub(_joined, ready)
    if held:
        yield _REFERENCES.sub(_joined, held)


def _joined(match: re.Match[str]) -> str:
    """Return references to the characters that the match means; U+FFFD for those that XML does not allow."""
    numbers = [int(digits, 16 if is_hex else 10) for is_hex, digits in _NUMBERS.findall(match[0])]
    halves = "".join(chr(number) if number <= _LAST else "\ufffd" for number in numbers)
    text = halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return "".join(f"&#{ord(each if _ALLOWED.match(each) else chr(0xFFFD))};" for each in text)
