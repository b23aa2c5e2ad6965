"""Read units in spans, so that long conversations fit into memory; all indexed content is read with this module.

A span is a run of turns of one conversation. Units are read together with the neighbours in their contexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from goalmem_cli.errors import StoreDamaged
from goalmem_cli.records import Turn, Unit
from goalmem_cli.store.database import tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.languages import other_languages
from goalmem_cli.store.indexes.derived import Indexed
from goalmem_cli.store.units import NEIGHBOURS, UnitEntry, entries_from_units, units_from_turns

_BLOCK = 1_000
_PAGE = 5_000
_GAP = 1_000
"""Spans nearer than this are read as one, as reading some more units is cheaper than finding many spans."""


@dataclass(frozen=True, slots=True)
class Span:
    """The turns of a conversation whose ordinals are from `first` to `last`, both included."""

    conversation: str
    first: int
    last: int


def pages(connection: Connection) -> Iterator[list[Span]]:
    """Yield spans that together hold every unit, a few thousand units at a time."""
    return _pages(connection, "SELECT conversation, ordinal FROM units")


def pages_of_turns_and_units(connection: Connection) -> Iterator[list[Span]]:
    """Yield spans that together hold every turn and every unit, also turns without units and the reverse."""
    return _pages(
        connection, "SELECT conversation, ordinal FROM units UNION ALL SELECT conversation, ordinal FROM turns"
    )


def _pages(connection: Connection, places: str) -> Iterator[list[Span]]:
    """Yield the spans of units at the places, in pages of about `_PAGE` units."""
    page: list[Span] = []
    size = 0
    for conversation, _, first, last, count in connection.rows(
        f"""SELECT conversation, ordinal // ?, min(ordinal), max(ordinal), count(*) FROM ({places})
        GROUP BY ALL ORDER BY ALL""",
        [_BLOCK],
    ):
        if page and size + count > _PAGE:
            yield page
            page, size = [], 0
        page.append(Span(conversation, first, last))
        size += count
    if page:
        yield page


def spans_around(places: Iterable[tuple[str, int]], reach: int = 0) -> list[Span]:
    """Return spans that hold every turn within `reach` of one of the places (conversation, ordinal), merged if near."""
    return _joined((Span(conversation, at - reach, at + reach) for conversation, at in sorted(set(places))), _GAP)


def turns_and_units(connection: Connection, spans: Sequence[Span]) -> tuple[dict[str, Turn], list[Unit]]:
    """Return id -> turn of the spans, and the units that this version makes of them and the turns before."""
    wider = tables.load_turns_within(connection, [(span.conversation, span.first - 1, span.last) for span in spans])
    inside: dict[str, list[Span]] = {}
    for span in spans:
        inside.setdefault(span.conversation, []).append(span)
    turns = {
        id_: turn
        for id_, turn in wider.items()
        if any(span.first <= turn.ordinal <= span.last for span in inside[turn.conversation])
    }
    return turns, units_from_turns(wider.values(), turns)


def entries_within(connection: Connection, spans: Iterable[Span], without: Set[str] = frozenset()) -> list[UnitEntry]:
    """Return the entries of the units in the spans, with neighbours in and outside of the spans.

    The units in `without` are ignored, also as neighbours.
    """
    wanted: dict[str, list[Span]] = {}
    for span in spans:
        wanted.setdefault(span.conversation, []).append(span)
    ordered = sorted(
        (span for of_one in wanted.values() for span in of_one), key=lambda span: (span.conversation, span.first)
    )
    wider = _joined((Span(span.conversation, span.first - NEIGHBOURS, span.last + NEIGHBOURS) for span in ordered), 0)
    units = unit_rows.load_units_within(connection, [(span.conversation, span.first, span.last) for span in wider])
    return [
        entry
        for entry in entries_from_units([unit for unit in units if unit.id not in without])
        if any(span.first <= entry.unit.ordinal <= span.last for span in wanted[entry.unit.conversation])
    ]


def indexed_within(connection: Connection, spans: Iterable[Span], only: Set[str] | None = None) -> list[Indexed]:
    """Return the entries of the spans with their vectors; with `only`, just the entries of these units.

    Raises:
        StoreDamaged: a unit has no vector.
    """
    wanted = [entry for entry in entries_within(connection, spans) if only is None or entry.unit.id in only]
    vectors = unit_rows.load_vectors(connection, [entry.unit.id for entry in wanted])
    missing = [entry.unit for entry in wanted if entry.unit.id not in vectors]
    if missing:
        raise StoreDamaged(
            f"{missing[0].conversation}: {len(missing)} units have no vector, {missing[0].id} among them",
            "`goalmem embedder use NAME` embeds everything again",
        )
    spoken = other_languages(connection)
    return [Indexed(entry, vectors[entry.unit.id], spoken.get(entry.unit.conversation, "")) for entry in wanted]


def _joined(spans: Iterable[Span], gap: int) -> list[Span]:
    """Return the sorted spans with those merged that are at most `gap` turns apart."""
    found: list[Span] = []
    for span in spans:
        before = found[-1] if found else None
        if before is None or before.conversation != span.conversation or span.first > before.last + gap + 1:
            found.append(span)
        else:
            found[-1] = Span(span.conversation, before.first, max(before.last, span.last))
    return found
