"""Change conversations in Milvus so that readers see each one before or after the change, and never a mixture.

New rows are written first, with a revision that readers do not see yet. Then the conversation's own row is replaced,
which makes the new rows visible and hides the old ones. Last, the old rows are deleted. An interruption leaves only
hidden rows, which the next writer deletes. Each function raises StoreError if the database cannot be used.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from goalmem_cli.errors import StoreError
from goalmem_cli.memory_records import Voice
from goalmem_cli.milvus.kept import Kept
from goalmem_cli.milvus.rows import Row, Talk, described, rows_of_said, rows_of_units
from goalmem_cli.milvus.schema import ID, TALK, Collection
from goalmem_cli.records import Turn, Unit
from goalmem_cli.store.indexes.vectors import sound
from goalmem_cli.store.people import prune
from goalmem_cli.store.units import UnitEntry

CONTENT = (Collection.SAID, Collection.UNITS)
MOST_RETIRED = 500
"""Most rows that a conversation can hide by id; if more are to go, all of its rows are written again."""

_EMBEDDED_AT_ONCE = 1_024
_ABANDONED_SECONDS = 3_600
_PAUSES = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The content that a conversation is to have; `talk` is the stored conversation, or a new one with revision 0.

    `becomes` is the conversation with a changed file or changed joins; readers see it together with the new content.
    """

    talk: Talk
    turns: Sequence[Turn]
    answers: Sequence[Unit] = ()
    becomes: Talk | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The rows to write and to delete for one conversation."""

    before: Talk
    after: Talk
    said: list[Row]
    units: list[tuple[Row, UnitEntry]]
    unseen: dict[Collection, list[str]]
    leaving: dict[Collection, list[str]]


def bring(kept: Kept, wanted: Sequence[Wanted], leaving: Sequence[Talk] = ()) -> int:
    """Give the conversations exactly the wanted content, and return how many units were written.

    The turns of conversations in `leaving` move to a wanted one. They are hidden in the same write that shows them
    there, and then deleted. The caller holds the lock for writing, and has called `settle`.

    Raises:
        ModelError: the embedder fails on a text.
    """
    if not (wanted or leaving):
        return 0
    stored = _stored(kept, [each.talk for each in wanted])
    owner = kept.owner
    plans = [_planned(each, stored.get(each.talk.key, {}), owner) for each in wanted]
    kept.expect_spoken({plan.after.language for plan in plans})
    rows = [pair for plan in plans for pair in plan.units]
    vectors = _vectors(kept, [entry for _, entry in rows])
    kept.put_talks([*_announced(leaving, owner), *(plan.before for plan in plans)])
    kept.written("conversations announced")
    for collection in CONTENT:
        kept.engine.drop_rows(collection, [id_ for plan in plans for id_ in plan.unseen[collection]])
    kept.engine.put(Collection.SAID, [row for plan in plans for row in plan.said])
    kept.written("turns written")
    kept.engine.put(
        Collection.UNITS,
        [
            {**row, "vector": own.tolist(), "context_vector": context.tolist()}
            for (row, _), (own, context) in zip(rows, vectors, strict=True)
        ],
    )
    kept.written("units written")
    kept.engine.flush(*CONTENT)
    kept.mark()
    hidden = _hidden(leaving, owner)
    kept.put_talks([*(plan.after for plan in plans), *hidden])  # in one write, so that each turn is seen exactly once
    kept.written("conversations published")
    step(kept)
    _sweep(kept, plans)
    if hidden:
        _remove(kept, hidden)
    return len(rows)


def drop(kept: Kept, talks: Sequence[Talk]) -> None:
    """Delete conversations with all their rows; readers stop seeing them at once."""
    kept.put_talks(_hidden(talks, kept.owner))
    kept.written("conversations hidden")
    step(kept)
    _remove(kept, talks)


def _announced(talks: Iterable[Talk], owner: str) -> list[Talk]:
    return [replace(talk, is_changing=True, changed=time.time(), owner=owner) for talk in talks]


def _hidden(talks: Iterable[Talk], owner: str) -> list[Talk]:
    return [replace(talk, revision=0) for talk in _announced(talks, owner)]


def _remove(kept: Kept, talks: Sequence[Talk]) -> None:
    """Delete hidden conversations with all their rows."""
    stored = _stored(kept, talks)
    _delete(kept, talks, {
        collection: {id_ for rows in stored.values() for id_ in rows.get(collection, {})} for collection in CONTENT
    })  # fmt: skip
    kept.written("rows deleted")
    kept.engine.drop_rows(Collection.TALKS, [talk.key for talk in talks])
    kept.engine.flush(Collection.TALKS)
    kept.written("conversations deleted")


def settle(kept: Kept) -> None:
    """Delete what an interrupted command left; the caller holds the lock for writing.

    Unfinished changes of another computer stay for an hour, as it may still be writing.
    """
    owner, now = kept.owner, time.time()
    left = [talk for talk in kept.changing() if talk.owner == owner or talk.changed < now - _ABANDONED_SECONDS]
    if left:
        _settle(kept, left)
    kept.renew()


def _settle(kept: Kept, left: Sequence[Talk]) -> None:
    """Finish interrupted changes of these conversations: delete invisible rows, and mark them as unchanging."""
    stored = _stored(kept, left)
    _delete(kept, left, {
        collection: {
            row[ID] for talk in left for row in stored.get(talk.key, {}).get(collection, {}).values()
            if not talk.shows(row)
        }
        for collection in CONTENT
    })  # fmt: skip
    kept.engine.drop_rows(Collection.TALKS, [talk.key for talk in left if not talk.revision])
    kept.put_talks([replace(talk, is_changing=False, retired=()) for talk in left if talk.revision])
    kept.engine.flush(Collection.TALKS)


def step(kept: Kept) -> None:
    """Increase the memory's generation, which counts its changes."""
    meta = kept.meta()
    kept.note(replace(meta, generation=meta.generation + 1))


def voices_of(kept: Kept) -> list[Voice]:
    """Return the voices of all speakers in the visible conversations."""
    return [speaker.voice for talk in kept.shown().values() for speaker in talk.summary().speakers]


def _stored(kept: Kept, talks: Sequence[Talk]) -> dict[str, dict[Collection, dict[str, Row]]]:
    """Return conversation key -> collection -> id -> row with its revision, also of hidden rows."""
    found: dict[str, dict[Collection, dict[str, Row]]] = {}
    keys = [talk.key for talk in talks]
    for collection in CONTENT:
        for row in kept.engine.rows_of(collection, TALK, keys, [TALK, "revision"]):
            found.setdefault(row[TALK], {}).setdefault(collection, {})[row[ID]] = row
    return found


def _planned(wanted: Wanted, stored: dict[Collection, dict[str, Row]], owner: str) -> _Plan:
    """Return the plan of a change; if too many rows leave, one that writes the conversation as a whole."""
    talk = wanted.talk
    plan = _plan(wanted, talk.since, stored, owner)
    if sum(map(len, plan.leaving.values())) > MOST_RETIRED:
        return _plan(wanted, talk.revision + 1, stored, owner)
    return plan


def _plan(wanted: Wanted, since: int, stored: dict[Collection, dict[str, Row]], owner: str) -> _Plan:
    """Return the plan that brings a conversation's rows to the wanted ones."""
    talk, now = wanted.talk, time.time()
    revision = talk.revision + 1
    under = replace(wanted.becomes or talk, since=since)
    said = {row[ID]: row for row in rows_of_said(under, wanted.turns, wanted.answers)}
    units = rows_of_units(under, wanted.turns, wanted.answers)
    desired = {Collection.SAID: said.keys(), Collection.UNITS: units.keys()}
    seen = {
        collection: {id_ for id_, row in stored.get(collection, {}).items() if talk.shows(row)}
        for collection in CONTENT
    }
    unseen = {collection: sorted(stored.get(collection, {}).keys() - seen[collection]) for collection in CONTENT}
    leaving = {collection: sorted(seen[collection] - desired[collection]) for collection in CONTENT}
    is_whole = since != talk.since
    retired = () if is_whole else tuple(id_ for collection in CONTENT for id_ in leaving[collection])
    after = replace(
        described(under, wanted.turns, wanted.answers),
        revision=revision, retired=retired, is_changing=any(leaving.values()), changed=now, owner=owner,
    )  # fmt: skip
    return _Plan(
        replace(talk, is_changing=True, changed=now, owner=owner),
        after,
        [{**row, "revision": revision} for id_, row in said.items() if id_ not in seen[Collection.SAID]],
        [
            ({ID: id_, **row, "revision": revision}, entry)
            for id_, (row, entry) in units.items()
            if id_ not in seen[Collection.UNITS]
        ],
        unseen,
        leaving,
    )


def _sweep(kept: Kept, plans: Sequence[_Plan]) -> None:
    """Delete the replaced rows, which are hidden from readers until they are gone."""
    left = [plan.after for plan in plans if plan.after.is_changing]
    if left:
        _delete(kept, left, {
            collection: {id_ for plan in plans for id_ in plan.leaving[collection]} for collection in CONTENT
        })  # fmt: skip
        kept.written("what was replaced is deleted")
        kept.put_talks([replace(talk, is_changing=False, retired=()) for talk in left])
    kept.engine.flush(Collection.TALKS, Collection.META)
    kept.written("conversations settled")


def _vectors(kept: Kept, entries: Sequence[UnitEntry]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Embed each entry's text and context, and return a pair of vectors for each entry.

    Raises:
        ModelError: the embedder fails, or a vector is unusable.
    """
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for start in range(0, len(entries), _EMBEDDED_AT_ONCE):
        batch = entries[start : start + _EMBEDDED_AT_ONCE]
        texts = [*(entry.text for entry in batch), *(entry.context for entry in batch)]
        rows = sound(kept.embedder.embed(texts), texts, kept.embedder.name)
        found += zip(rows[: len(batch)], rows[len(batch) :], strict=True)
    return found


def _delete(kept: Kept, talks: Sequence[Talk], ids: Mapping[Collection, Set[str]]) -> None:
    """Delete rows, wait until they are gone, and then delete the notes on people who no longer speak.

    Raises:
        StoreError: the rows are still there; they are hidden, and the next writer deletes them.
    """
    for collection in CONTENT:
        kept.engine.drop_rows(collection, sorted(ids[collection]))
    kept.engine.flush(*CONTENT)
    for pause in _PAUSES:
        time.sleep(pause)
        stored = _stored(kept, talks).values()
        left = sum(len(rows.get(collection, {}).keys() & ids[collection]) for rows in stored for collection in CONTENT)
        if not left:
            prune(kept.folder, lambda: voices_of(kept), kept.written)
            return
    raise StoreError(f"{kept.address} still has rows that were deleted ({left} of them)", "run the same command again")
