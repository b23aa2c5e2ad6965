"""Reads what `goalmem stores export` writes, so that a store can be restored unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from goalmem_cli.records import Conversation, Derived, Edge, Turn, Unit
from goalmem_cli.transcripts.reading.drafts import STRETCH_CHARACTERS, STRETCH_TURNS
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import Node, node_from_text
from goalmem_cli.transcripts.reading.source import Source

SCHEMA_VERSION = 1

_ID = re.compile(r"[0-9a-f]{32}")


class GoalmemExportReader:
    """Reads JSONL: a first line that identifies the file, then for each conversation its name and its turns.

    After the turns, under the name again, comes what was derived from them. Then come the edges between derived units.
    The marks of what was forgotten come last, if they were exported.
    """

    name = "goalmem"
    suffixes = (".jsonl", ".ndjson")
    sign = "lines that goalmem exported"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the first line has the key `goalmem`."""
        return bool(glimpse.lines) and glimpse.lines[0].has("goalmem")

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the conversations under their stored names, a long one in several parts.

        Raises:
            InputError: the export is empty, or a line does not have the layout; the place is the line and the path.
        """
        # A skipped line could be the one that names the conversation of the next turns, so nothing is skipped here.
        lines = (node_from_text(line, source.file, number) for number, line in source.lines() if line.strip())
        first = next(lines)
        if first.required("goalmem").value != SCHEMA_VERSION:
            raise first.child("goalmem").error("not a version that this goalmem reads", "update goalmem")
        told = (_listed(first.child("people")), _listed(first.child("goals")))
        gathering: _Gathering | None = None
        begun: set[str] = set()
        for line in _before_marks(lines, source):
            if line.has("conversation"):
                if gathering is not None:
                    yield from gathering.stretch(begun)
                gathering, told = _Gathering(line, *told), ((), ())
                continue
            if gathering is None:
                raise line.error("a conversation has to come first")
            if gathering.take(line):
                yield from (replace(stretch, goes_on=True) for stretch in gathering.stretch(begun))
        if gathering is not None:
            yield from gathering.stretch(begun)
        elif source.forgotten is None:
            raise source.error("", "the export holds no conversation")


def _before_marks(lines: Iterator[Node], source: Source) -> Iterator[Node]:
    """Yield the lines before the marks of what was forgotten, and keep those marks in `source.forgotten`.

    Raises:
        InputError: the marks are not on the last line.
    """
    source.forgotten = None
    for line in lines:
        if source.forgotten is not None:
            raise line.error("nothing stands in an export behind the marks of what was forgotten")
        if line.has("forgotten"):
            source.forgotten = line.child("forgotten")
        else:
            yield line


class _Gathering:
    """Collects the lines of a conversation."""

    def __init__(self, line: Node, people: tuple[object, ...], goals: tuple[object, ...]) -> None:
        self._line = line
        self._head = Conversation(
            _string(line.child("conversation")),
            _string(line.required("format")),
            (),
            _optional(line.child("own_id")),
            is_exported=True,
            people=people,
            goals=goals,
            joined=_joined(line.child("joined")),
            language=_optional(line.child("language")) or "",
        )
        self._turns: list[Turn] = []
        self._units: list[Unit] = []
        self._edges: list[Edge] = []
        self._ledger: list[Derived] = []
        self._characters = 0

    def take(self, line: Node) -> bool:
        """Take one line; return whether enough has come in to yield a part of the conversation.

        Raises:
            InputError: the line does not have the layout.
        """
        if line.has("turn"):
            self._turns.append(_turn(line.child("turn"), self._head.name))
            self._characters += len(self._turns[-1].text)
        elif line.has("unit"):
            self._units.append(_unit(line.child("unit"), self._head.name))
        elif line.has("edge"):
            self._edges.append(_edge(line.child("edge")))
        elif line.has("part"):
            self._ledger.append(_part(line.child("part"), self._head.name))
        else:
            raise line.error("expected a conversation, a turn, a unit, a part or an edge")
        size = len(self._turns) + len(self._units) + len(self._edges) + len(self._ledger)
        return size >= STRETCH_TURNS or self._characters >= STRETCH_CHARACTERS

    def stretch(self, begun: set[str]) -> Iterator[Conversation]:
        """Yield the lines since the last part as the next part, if there are any.

        `begun` are the names of the conversations of which turns were yielded; this one's is added.

        Raises:
            InputError: what was derived from a conversation's turns comes before them.
        """
        if not (self._turns or self._units or self._edges or self._ledger):
            return
        if not self._turns and self._head.name not in begun:
            raise self._line.error("its turns have to come before what was derived from them")
        begun.add(self._head.name)
        yield replace(
            self._head, turns=tuple(self._turns), derived=tuple(self._units), edges=tuple(self._edges),
            ledger=tuple(self._ledger),
        )  # fmt: skip
        self._head = replace(self._head, continues=True, people=(), goals=(), joined=(), language="")
        self._turns, self._units, self._edges, self._ledger, self._characters = [], [], [], [], 0


def _listed(node: Node) -> tuple[object, ...]:
    return tuple(node.value) if isinstance(node.value, list) else ()


def _joined(node: Node) -> tuple[str, ...]:
    return () if node.value is None else tuple(_id(each) for each in node.elements())


def _turn(node: Node, conversation: str) -> Turn:
    """Return the exported turn."""
    return Turn(
        conversation,
        _count(node.required("session")),
        _count(node.required("ordinal")),
        _string(node.required("speaker")),
        _string(node.required("text")),
        _time(node.child("said")),
        _optional(node.child("own_id")),
        _optional(node.child("role")),
        _attributes(node),
    )


def _unit(node: Node, conversation: str) -> Unit:
    """Return the exported derived unit; it needs a label for each of its turns."""
    turns = [_id(each) for each in node.required("turns").elements()]
    labels = [_string(each) for each in node.required("labels").elements()]
    if len(turns) != len(labels) or not turns:
        raise node.child("labels").error("expected one label for each of at least one turn")
    return Unit(
        _id(node.required("id")),
        _string(node.required("kind")),
        _string(node.required("text")),
        conversation,
        _string(node.required("speaker")),
        _time(node.child("said")),
        tuple(turns),
        tuple(labels),
        _string(node.required("backbone")),
        _count(node.required("session")),
        _count(node.required("ordinal")),
        _time(node.child("event_from")),
        _time(node.child("event_to")),
        _attributes(node),
    )


def _attributes(node: Node) -> Mapping[str, object]:
    attributes = node.child("attributes").value
    return attributes if isinstance(attributes, dict) else {}


def _part(node: Node, conversation: str) -> Derived:
    """Return the exported line of the ledger."""
    return Derived(
        _string(node.required("backbone")),
        conversation,
        _string(node.required("name")),
        tuple(_id(each) for each in node.required("turns").elements()),
        tuple(_id(each) for each in node.required("units").elements()),
        _optional(node.child("problem")),
        _optional(node.child("follows")),
    )


def _edge(node: Node) -> Edge:
    """Return the exported edge."""
    weight = node.required("weight")
    return Edge(
        _id(node.required("source")),
        _id(node.required("target")),
        _string(node.required("kind")),
        float(weight.number_text()),
    )


def _id(node: Node) -> str:
    text = _string(node)
    if _ID.fullmatch(text) is None:
        raise node.error("expected an id of 32 hexadecimal digits")
    return text


def _count(node: Node) -> int:
    if type(node.value) is not int or not 0 <= node.value < 2**31:
        raise node.error("expected a whole number from 0 on")
    return node.value


def _string(node: Node) -> str:
    """Return the string unchanged: a store's texts were cleaned when they were first read."""
    if not isinstance(node.value, str):
        node.text()
    return str(node.value)


def _optional(node: Node) -> str | None:
    return None if node.value is None else _string(node)


def _time(node: Node) -> datetime | None:
    """Return the time in ISO form, None for null."""
    if node.value is None:
        return None
    try:
        return datetime.fromisoformat(_string(node))
    except ValueError as error:
        raise node.error(f"is not a time ({error})") from error
