"""Write the units and edges of structured backbones: those of single parts, and nodes shared by several parts.

As with answers, texts are embedded without a lock. The transaction that writes them checks that their sources still
exist, so that nothing outlives its sources. What takes a store raises StoreError if it cannot be used, and ModelError
if its embedder cannot.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from goalmem_cli.errors import StoreError
from goalmem_cli.memory_records import Derivation
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Derived, Edge, Unit
from goalmem_cli.store.changes.forgetting import catch_up
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.changes.storable import storable_unit
from goalmem_cli.store.changes.writing import remove_units, write_derived
from goalmem_cli.store.database import ledger, tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.indexes import consistency
from goalmem_cli.store.queries.reader import check_embedder
from goalmem_cli.store.units import entries_from_units

_HINT = "index again"
_EDGE_GONE = "what an edge leads to was forgotten or replaced meanwhile, so it was not kept"


def derive(parts: Parts, backbone: str, derivations: Sequence[Derivation]) -> None:
    """Replace the units and edges derived from these parts, and their ledger lines, in one transaction.

    Edges of replaced units are deleted; the backbone has to call `share` again for edges of shared nodes. A part that
    failed without units keeps its former units if it has only grown since. Parts that follow from a changed part are
    deleted with their units.

    Raises:
        StoreError: a turn, a preceding part, or the end of an edge is no longer stored, or the store cannot be used.
        ValueError: a unit or an edge does not belong to its part and backbone.
    """
    if not derivations:
        return
    derivations = [_storable(derivation) for derivation in derivations]
    _check(backbone, derivations)
    units = [unit for derivation in derivations for unit in derivation.units]
    edges = [edge for derivation in derivations for edge in derivation.edges]
    vectors = _embedded(parts, units)
    with parts.database.writing() as connection:
        check_embedder(tables.load_meta(connection), parts.embedder)
        _check_sources(connection, [turn.id for derivation in derivations for turn in derivation.part.turns])
        lines = _lines(connection, backbone, derivations)
        kept = {unit for line in lines for unit in line.units}
        own = list(map(ledger.id_of, lines))
        outdated = _outdated(connection, lines)
        gone = [unit for unit in ledger.own_units(connection, [*own, *outdated]) if unit not in kept]
        with connection.transaction():
            consistency.prune_outbox(connection, (parts.text, parts.vectors))
            remove_units(connection, [*gone, *(unit.id for unit in units)])
            _write(connection, units, edges, vectors)
            ledger.delete_parts(connection, outdated)
            ledger.replace_parts(connection, lines)
            _check_followed(connection, lines)
            consistency.record_change(connection, [*gone, *vectors])
    catch_up(parts)


def drop_parts(parts: Parts, lines: Sequence[Derived]) -> None:
    """Delete the lines of parts that no longer exist, with the units derived from them."""
    if not lines:
        return
    ids = [ledger.id_of(line) for line in lines]
    with parts.database.writing() as connection, connection.transaction():
        gone = ledger.own_units(connection, ids)
        consistency.prune_outbox(connection, (parts.text, parts.vectors))
        remove_units(connection, gone)
        ledger.delete_parts(connection, ids)
        consistency.record_change(connection, gone)
    catch_up(parts)


def share(
    parts: Parts, backbone: str, kind: str, units: Sequence[Unit], edges: Sequence[Edge], links: Sequence[str]
) -> None:
    """Replace the backbone's nodes of a kind, and its edges of the kinds `links`, by these; write only differences.

    Raises:
        StoreError: a turn, or the end of an edge, is no longer stored, or the store cannot be used.
        ValueError: a unit is of another backbone or kind, or an edge of none of the kinds.
    """
    parts.require()
    wanted = {unit.id: _as_stored(storable_unit(unit)) for unit in units}
    linked = _each_once(edges)
    if any((unit.backbone, unit.kind) != (backbone, kind) for unit in wanted.values()):
        raise ValueError(f"a node is not of the backbone {backbone} and the kind {kind}")
    if not {edge.kind for edge in linked} <= set(links):
        raise ValueError(f"an edge is of none of the kinds {', '.join(links)}")
    with parts.database.reading() as connection:
        stored, generation = _nodes(connection, backbone, kind), tables.load_meta(connection).generation
    changed = [unit for unit in wanted.values() if stored.get(unit.id) != unit]
    vectors = _embedded(parts, changed)
    with parts.database.writing() as connection:
        meta = tables.load_meta(connection)
        check_embedder(meta, parts.embedder)
        if meta.generation != generation:
            stored = _nodes(connection, backbone, kind)
        unit_rows.want_edges(connection, linked)
        gone = [id_ for id_ in stored if id_ not in wanted]
        missing = [unit for unit in wanted.values() if stored.get(unit.id) != unit]
        if any(unit.id not in vectors for unit in missing):
            raise StoreError("the store was changed meanwhile, so nothing was linked", _HINT)
        if not (gone or missing or unit_rows.do_edges_differ(connection, backbone, links)):
            return
        with connection.transaction():
            consistency.prune_outbox(connection, (parts.text, parts.vectors))
            remove_units(connection, gone)
            new = {unit.id: vectors[unit.id] for unit in missing}
            _write(connection, missing, (), new)
            if not unit_rows.bring_edges(connection, backbone, links):
                raise StoreError(_EDGE_GONE, _HINT)
            consistency.record_change(connection, [*gone, *new])
    catch_up(parts)


def vectors_of(parts: Parts, units: Sequence[Unit]) -> Vectors:
    """Return the vectors of the units' texts, shape (units, dimension), as stored or else from the embedder."""
    parts.require()
    with parts.database.reading() as connection:
        check_embedder(tables.load_meta(connection), parts.embedder)
        held = {unit.id: unit for unit in unit_rows.load_units(connection, ids=[unit.id for unit in units])}
        stored = unit_rows.load_vectors(connection, list(held))
    known = {
        unit.id: stored[unit.id]
        for unit in units
        if unit.id in stored and (held[unit.id].text, held[unit.id].speaker) == (unit.text, unit.speaker)
    }
    known |= _embedded(parts, [storable_unit(unit) for unit in units if unit.id not in known])
    rows = [np.frombuffer(known[unit.id].text, dtype="<f4") for unit in units]
    return np.array(rows, dtype=np.float32).reshape(len(units), parts.embedder.dimension)


def _storable(derivation: Derivation) -> Derivation:
    """Return the derivation with each unit and edge once, as a model may repeat itself."""
    units = {unit.id: unit for unit in map(storable_unit, derivation.units)}
    return replace(derivation, units=tuple(units.values()), edges=_each_once(derivation.edges))


def _each_once(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    return tuple({(edge.source, edge.target, edge.kind): edge for edge in edges}.values())


def _as_stored(unit: Unit) -> Unit:
    """Return the unit as the database returns it, with attributes that went through JSON."""
    return replace(unit, attributes=json.loads(json.dumps(dict(unit.attributes)))) if unit.attributes else unit


def _check(backbone: str, derivations: Sequence[Derivation]) -> None:
    """Refuse units and edges that would be neither replaced nor forgotten with their part.

    Raises:
        ValueError: there is one.
    """
    ids = [unit.id for derivation in derivations for unit in derivation.units]
    names = [(derivation.part.conversation, derivation.part.name) for derivation in derivations]
    if len(set(ids)) < len(ids) or len(set(names)) < len(names):
        raise ValueError("two units have one id, or two parts one name")
    for derivation in derivations:
        own = {unit.id for unit in derivation.units}
        for unit in derivation.units:
            if (unit.backbone, unit.conversation) != (backbone, derivation.part.conversation) or not unit.turns:
                raise ValueError(
                    f"the unit {unit.id} is not of {backbone}, of {derivation.part.conversation} or a turn"
                )
        if any(edge.source not in own and edge.target not in own for edge in derivation.edges):
            raise ValueError(f"an edge of the part {derivation.part.name} touches none of its units")


def _check_sources(connection: Connection, turns: Sequence[str]) -> None:
    """Check that the source turns still exist; raises StoreError if one of them is gone."""
    if not tables.places_of_turns(connection, turns).keys() >= set(turns):
        raise StoreError("what a part came from was forgotten or replaced meanwhile, so it was not kept", _HINT)


def _check_followed(connection: Connection, lines: Sequence[Derived]) -> None:
    """Check that the parts from which these follow still exist; raises StoreError if one of them is gone."""
    wanted = {ledger.part_id(line.backbone, line.conversation, line.follows) for line in lines if line.follows}
    if len(ledger.load_ledger(connection, ids=sorted(wanted))) < len(wanted):
        raise StoreError("what a part follows from was forgotten or replaced meanwhile, so it was not kept", _HINT)


def _outdated(connection: Connection, lines: Sequence[Derived]) -> list[str]:
    """Return the parts that follow from a changed one of these, without these themselves."""
    own = {ledger.id_of(line): line for line in lines}
    before = ledger.load_ledger(connection, ids=list(own))
    changed = [ledger.id_of(line) for line in before if line.digest != own[ledger.id_of(line)].digest]
    return [id_ for id_ in ledger.with_followers(connection, changed) if id_ not in own] if changed else []


def _lines(connection: Connection, backbone: str, derivations: Sequence[Derivation]) -> list[Derived]:
    """Return the parts' new lines of the ledger."""
    ids = [ledger.part_id(backbone, each.part.conversation, each.part.name) for each in derivations]
    before = {ledger.id_of(line): line for line in ledger.load_ledger(connection, ids=ids)}
    lines = []
    for id_, each in zip(ids, derivations, strict=True):
        turns, units = tuple(turn.id for turn in each.part.turns), tuple(unit.id for unit in each.units)
        earlier = before.get(id_)
        if earlier is not None and each.problem is not None and not units and set(earlier.turns) <= set(turns):
            units = earlier.units
        part = each.part
        lines.append(Derived(backbone, part.conversation, part.name, turns, units, each.problem, part.follows))
    return lines


def _nodes(connection: Connection, backbone: str, kind: str) -> dict[str, Unit]:
    return {unit.id: unit for unit in unit_rows.load_units(connection, backbone=backbone, kinds=[kind])}


def _embedded(parts: Parts, units: Sequence[Unit]) -> dict[str, VectorPair]:
    """Return the vectors of the units by id; raises EmbedderMismatch or ModelError."""
    parts.require()
    with parts.database.reading() as connection:
        meta = tables.load_meta(connection)
    check_embedder(meta, parts.embedder)
    if units:
        parts.fingerprint.check(meta)
    return parts.embed(entries_from_units(units))


def _write(
    connection: Connection, units: Sequence[Unit], edges: Sequence[Edge], vectors: Mapping[str, VectorPair]
) -> None:
    """Write units, edges and vectors; the caller holds the transaction."""
    _check_sources(connection, [turn for unit in units for turn in unit.turns])
    write_derived(connection, units)
    unit_rows.replace_edges(connection, edges)
    unit_rows.replace_vectors(connection, vectors)
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    if len(unit_rows.known_units(connection, sorted(ends))) < len(ends):
        raise StoreError(_EDGE_GONE, _HINT)
