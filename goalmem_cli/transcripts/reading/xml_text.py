"""XML that is read element by element, in pieces, so that a file may have any length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from xml.parsers import expat

from goalmem_cli.languages.patterns import late
from goalmem_cli.transcripts.reading.source import Source

_REFERENCES = late(r"(?:&#(?:[0-9]{1,7}|x[0-9a-fA-F]{1,6});)+")
_NUMBERS = late(r"&#(x?)([0-9a-fA-F]+);")
_OF_REFERENCES = "&#xabcdefABCDEF0123456789;"
_ALLOWED = late("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML may refer to."""


@dataclass(slots=True)
class XmlElement:
    """An element: its name, place and attributes, and each element in it with its name and attributes."""

    name: str
    place: str
    given: dict[str, str]
    inner: list[tuple[str, dict[str, str]]] = field(default_factory=list)


def xml_elements(source: Source, names: frozenset[str]) -> Iterator[XmlElement]:
    """Yield the elements of these names, each when it ends.

    Raises:
        InputError: the text is not XML, or defines entities; the elements before that were yielded.
    """
    document = _Document(source, names)
    for text in chain(_with_whole_characters(source), [""]):
        try:
            document.parser.Parse(text, not text)
        except expat.ExpatError as error:
            yield from document.taken()
            place = f"line {error.lineno}, column {error.offset + 1}"
            reason = f"not XML ({expat.errors.messages[error.code]})"
            raise source.error(place, reason, "export the messages again, or correct the file there") from error
        yield from document.taken()


class _Document:
    def __init__(self, source: Source, names: frozenset[str]) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._refuse
        self._source = source
        self._names = names
        self._open: XmlElement | None = None
        self._complete: list[XmlElement] = []

    def taken(self) -> list[XmlElement]:
        """Return the elements that ended since the last call."""
        complete, self._complete = self._complete, []
        return complete

    def _start(self, name: str, given: dict[str, str]) -> None:
        if name in self._names:
            self._open = XmlElement(name, f"line {self.parser.CurrentLineNumber}", given)
        elif self._open is not None:
            self._open.inner.append((name, given))

    def _end(self, name: str) -> None:
        if self._open is not None and name == self._open.name:
            self._complete.append(self._open)
            self._open = None

    def _refuse(self, name: str, *_told: object) -> None:
        place, reason = f"line {self.parser.CurrentLineNumber}", f"defines an entity ({name[:40]!r})"
        raise self._source.error(place, reason, "no backup does; take the definition out of the file")


def _with_whole_characters(source: Source) -> Iterator[str]:
    """Yield the text with emoji joined: programs refer to each half of a surrogate pair, which XML does not allow."""
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
