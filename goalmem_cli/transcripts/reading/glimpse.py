"""What detection sees of a file: its name, its beginning, and the beginning of the JSON in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import setitem
from typing import Any

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.nodes import Node, node_from_text, unwrapped
from goalmem_cli.transcripts.reading.source import HEAD_CHARACTERS, Source
from goalmem_cli.transcripts.reading.zipped import Place

_ELEMENTS = 20
_DEPTH = 5
_CHARACTERS = 2**22
_LINES = 20


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The beginning of a file or folder.

    `head` is its first 65,536 characters. `document` is the JSON document as far as it was read, with the first
    elements of every array; it is None if the text is not a single JSON document. `lines` are the first lines that are
    JSON, each a document; a first line that is too long is there as far as it was read. `folder` is set for a folder.
    """

    file: str
    suffix: str
    head: str
    document: Node | None = None
    lines: tuple[Node, ...] = ()
    folder: Place | None = None

    @classmethod
    def from_source(cls, source: Source) -> Glimpse:
        """Look at the source's beginning, once for each source.

        Raises:
            InputError: it cannot be read, is blank, or is not text.
        """
        if source.glimpse is None:
            first, is_only = _first_value(source) if source.looks_like_json else (None, False)
            lines = _lines(source, first) if source.looks_like_json else ()
            document = first if is_only else None
            source.glimpse = cls(source.file, source.suffix, source.head, document, lines, source.folder)
        return source.glimpse

    @property
    def records(self) -> list[Node]:
        """The first records of the JSON document: the elements of its array, else the document and what it wraps.

        Empty if the text is not one JSON document.
        """
        if self.document is None:
            return []
        if isinstance(self.document.value, list):
            return self.document.elements()
        inner = unwrapped(self.document)
        return inner if inner[0] is self.document else [self.document, *inner]

    def has_record(self, is_meant: Callable[[Node], bool]) -> bool:
        """Return whether one of the records is meant for a format; a record at which `is_meant` raises is not."""
        return any(_says(is_meant, record) for record in self.records)

    def has_line(self, is_meant: Callable[[Node], bool]) -> bool:
        """Return whether one of the lines is meant for a format."""
        return any(_says(is_meant, line) for line in self.lines)


def _says(is_meant: Callable[[Node], bool], node: Node) -> bool:
    try:
        return is_meant(node)
    except InputError:
        return False


def _lines(source: Source, first: Node | None) -> tuple[Node, ...]:
    """Return the first lines that are JSON; if the first is too long to read, the part of it that `first` has."""
    found: list[Node] = []
    characters = 0
    try:
        for number, line in islice(source.lines(_CHARACTERS), _LINES):
            characters += len(line)
            if line.strip():
                found.append(node_from_text(line, source.file, number))
            if characters > _CHARACTERS:
                break
    except InputError:
        is_long = not found and len(source.head) == HEAD_CHARACTERS and "\n" not in source.head.strip()
        return (first,) if is_long and first is not None else tuple(found)
    return tuple(found)


class _Enough(Exception):
    """Enough was read; the rest does not matter."""


def _first_value(source: Source) -> tuple[Node | None, bool]:
    """Return the beginning of the text's first JSON value, and whether it is the only one, as far as was read."""
    text = JsonText(source, source.chunks())
    built: list[Any] = []
    try:
        _look(text, built.append, _DEPTH)
    except (InputError, _Enough):
        return (Node(built[0], source.file) if built else None), True
    try:
        text.finish()
    except InputError:
        return Node(built[0], source.file), False
    return Node(built[0], source.file), True


def _look(text: JsonText, put: Callable[[Any], None], depth: int) -> None:
    """Put the next value in its place before it is filled, so that a part of it stays after an error."""
    if text.consumed > _CHARACTERS:
        raise _Enough
    kind = text.peek() if depth else ""
    if kind == "{":
        members: dict[str, Any] = {}
        put(members)
        for key in text.members():
            _look(text, partial(setitem, members, key), depth - 1)
    elif kind == "[":
        elements: list[Any] = []
        put(elements)
        for index in text.elements():
            _look(text, elements.append if index < _ELEMENTS else _forget, depth - 1)
    else:
        put(text.value())


def _forget(_value: object) -> None:
    """Drop a value."""
