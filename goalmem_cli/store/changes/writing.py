"""Write the changes of several conversations in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from goalmem_cli.logic.languages.times import is_readable
from goalmem_cli.records import Conversation, Derived, Unit
from goalmem_cli.store.changes.identity import Change
from goalmem_cli.store.changes.overlapping import note_joined
from goalmem_cli.store.database import languages, ledger, tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.indexes import consistency
from goalmem_cli.store.indexes.derived import DerivedIndex
from goalmem_cli.store.indexes.spans import Span, pages, spans_around, turns_and_units


def write_changes(
    connection: Connection,
    changes: Sequence[tuple[Conversation, Change]],
    vectors: Mapping[str, VectorPair],
    indexes: Sequence[DerivedIndex],
) -> None:
    """Write rows, vectors, generation and outbox; the caller holds the transaction, and updates the indexes later.

    Whatever backbones derived from a deleted turn is deleted too.
    """
    each = [change for _, change in changes]
    gone_turns = [id_ for change in each for id_ in change.gone_turns]
    consistency.prune_outbox(connection, indexes)
    files = {change.name: said.file for said, change in changes if not said.is_exported}  # else it is the export's
    tables.insert_conversations(
        connection,
        [(change.name, said.format, said.own_id, files.get(change.name)) for said, change in changes if change.is_new],
    )
    known = {change.name: file for _, change in changes if not change.is_new and (file := files.get(change.name))}
    if known:
        tables.update_files(connection, known)
    note_joined(connection, {change.name: change.joined for change in each})
    gone_units = {id_ for change in each for id_ in change.gone_units}
    derived_units, parts = ledger.leaving_with(connection, gone_turns)
    lines = [line for change in each for line in change.ledger]
    gone = sorted(gone_units.union(derived_units, _superseded(connection, lines)))
    remove_units(connection, gone)
    ledger.delete_parts(connection, parts)
    unit_rows.delete_units(connection, [id_ for change in each for id_ in change.moved_units])
    connection.delete("turns", "id", [*gone_turns, *(id_ for change in each for id_ in change.moved_turns)])
    tables.insert_turns(connection, [turn for change in each for turn in change.turns])
    unit_rows.insert_units(connection, [unit for change in each for unit in change.units])
    tables.rewrite_sessions(connection, [change.name for change in each])
    connection.delete("conversations", "name", [change.name for change in each if change.is_gone])
    derived = [unit for change in each for unit in change.derived]
    write_derived(connection, derived)
    unit_rows.replace_edges(connection, [edge for change in each for edge in change.edges])
    ledger.replace_parts(connection, lines)
    unit_rows.replace_vectors(connection, vectors)
    unindexed = [id_ for change in each for id_ in change.unindexed]
    unit_rows.delete_vectors(connection, unindexed)
    respelt = _respelt(connection, changes)
    consistency.record_change(connection, [*gone, *unindexed, *vectors, *(unit.id for unit in derived), *respelt])


def _respelt(connection: Connection, changes: Sequence[tuple[Conversation, Change]]) -> list[str]:
    """Find the languages of the conversations, and return the units that were indexed by the words of another one.

    The times are read again by the language: in what was written, or in all of a conversation that got another one or
    lost turns, on which the times after them may depend.
    """
    told = {change.name: said.language for said, change in changes if said.language}
    changed = languages.renew_languages(connection, [change.name for _, change in changes if not change.is_gone], told)
    earlier = set(changed).difference(change.name for _, change in changes if change.is_new)
    read = {name for name, language in languages.other_languages(connection).items() if is_readable(language)}
    whole = earlier | {change.name for _, change in changes if change.name in read and change.gone_turns}
    written = (unit for _, change in changes if change.name in read - whole for unit in change.units)
    renew_page(connection, spans_around(((unit.conversation, unit.ordinal) for unit in written), 1))
    renew_all_of(connection, whole)
    return languages.units_in(connection, sorted(earlier)) if earlier else []


def _superseded(connection: Connection, lines: Sequence[Derived]) -> set[str]:
    """Return the stored units of the lines' parts that the new lines no longer have."""
    before = ledger.own_units(connection, [ledger.id_of(line) for line in lines])
    return set(before).difference(unit for line in lines for unit in line.units)


def write_derived(connection: Connection, units: Sequence[Unit]) -> None:
    """Write derived units; each replaces an earlier one with the same id, also an earlier one in `units`."""
    last = {unit.id: unit for unit in units}
    unit_rows.delete_units(connection, list(last))
    unit_rows.insert_units(connection, list(last.values()))


def remove_units(connection: Connection, ids: Sequence[str]) -> None:
    """Delete the units with their vectors, and the edges from and to them."""
    unit_rows.delete_units(connection, ids)
    unit_rows.delete_vectors(connection, ids)
    for column in ("source", "target"):
        connection.delete("edges", column, ids)


def renew_units(connection: Connection) -> int:
    """Write the units again that this version derives differently from turns, mostly their times; return how many.

    Each page is a transaction of its own.
    """
    count = 0
    for page in pages(connection):
        with connection.transaction():
            count += renew_page(connection, page)
    return count


def renew_all_of(connection: Connection, names: Collection[str]) -> None:
    """As `renew_units`, for these conversations; the caller holds the transaction."""
    for page in pages(connection) if names else ():
        renew_page(connection, [span for span in page if span.conversation in names])


def renew_page(connection: Connection, page: Sequence[Span]) -> int:
    """As `renew_units`, for these spans; the caller holds the transaction."""
    if not page:
        return 0
    places = [(span.conversation, span.first, span.last) for span in page]
    present = {unit.id: unit for unit in unit_rows.load_units_within(connection, places)}
    stale = [unit for unit in turns_and_units(connection, page)[1] if present.get(unit.id, unit) != unit]
    if stale:
        unit_rows.delete_units(connection, [unit.id for unit in stale])
        unit_rows.insert_units(connection, stale)
    return len(stale)
