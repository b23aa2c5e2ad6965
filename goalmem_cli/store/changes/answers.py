"""Store goalmem's own answers as units of a separate backbone, so that they are not ranked with turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from goalmem_cli.errors import StoreError
from goalmem_cli.records import Turn, Unit, content_hash, encodable
from goalmem_cli.store.changes.forgetting import catch_up
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.changes.writing import write_derived
from goalmem_cli.store.database import tables, unit_rows
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.indexes import consistency
from goalmem_cli.store.queries.reader import check_embedder
from goalmem_cli.store.units import entries_from_units

BACKBONE, KIND, SPEAKER = "answers", "answer", "goalmem"

_HINT = "ask again"


def add_answer(parts: Parts, text: str, question: Turn, cited: Sequence[str], attributes: Mapping[str, object]) -> Unit:
    """Store an answer at the place of its question; its sources are the turns of the cited units and the question.

    The answer is embedded without a lock. The transaction that writes it checks that its sources still exist, so that
    no answer outlives them.

    Raises:
        StoreError: the question or a cited unit is no longer stored, or the store cannot be used.
        ModelError: the embedder cannot be used.
    """
    parts.require()
    told = encodable(text)
    bare = Unit(
        id=content_hash(question.id, KIND, told), kind=KIND, text=told, conversation=question.conversation,
        speaker=SPEAKER, said=question.said, turns=(), labels=(), backbone=BACKBONE, attributes=attributes,
    )  # fmt: skip
    with parts.database.reading() as connection:
        meta = tables.load_meta(connection)
    check_embedder(meta, parts.embedder)
    parts.fingerprint.check(meta)
    vectors = parts.embed(entries_from_units([bare]))
    with parts.database.writing() as connection:
        check_embedder(tables.load_meta(connection), parts.embedder)
        unit = _sourced(connection, bare, question, cited)
        with connection.transaction():
            consistency.prune_outbox(connection, (parts.text, parts.vectors))
            write_derived(connection, [unit])
            unit_rows.replace_vectors(connection, vectors)
            consistency.record_change(connection, [unit.id])
    catch_up(parts)
    return unit


def _sourced(connection: Connection, unit: Unit, question: Turn, cited: Sequence[str]) -> Unit:
    """Return the unit with the place of its question, and with its source turns, the cited ones first."""
    places = tables.places_of_turns(connection, [question.id])
    known = {each.id: each for each in unit_rows.load_units(connection, ids=list(cited))}
    if not places or not known.keys() >= set(cited):
        raise StoreError("what the answer came from was forgotten or replaced meanwhile, so it was not kept", _HINT)
    session, ordinal, _ = places[question.id]
    sources = {
        turn: label for id_ in cited for turn, label in zip(known[id_].turns, known[id_].labels, strict=True)
    } | {question.id: question.label}
    return replace(unit, turns=tuple(sources), labels=tuple(sources.values()), session=session, ordinal=ordinal)
