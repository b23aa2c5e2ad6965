"""Turns that a transcript copies from another conversation, as a fork does: they are stored once.

A turn is a copy where its own id stands for one turn everywhere, and another conversation has it; or where it is told
as copied, and a conversation that it may come from has it, with speaker and text: the date may be the copy's. A fork
that is stored before its source keeps its copies until the source comes. Of each text the first copies leave, as many
as the sources have of it, so that all orders end alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.records import Conversation, Turn
from goalmem_cli.store.changes.identity import Change, plan_without
from goalmem_cli.store.database import overlaps, tables
from goalmem_cli.store.database.access import Connection

ByOwnId = Mapping[tuple[str, str], str]
"""The names of stored conversations, by format and own id."""
Source = tuple[str, str]
"""Format and own id of a conversation that others copy from."""


@dataclass(frozen=True, slots=True)
class Parting:
    """What leaves a stored fork since its source comes, which has a place in its batch."""

    place: int
    fork: Conversation
    change: Change


def without_copies(
    connection: Connection, by_own_id: ByOwnId, names: Sequence[str], conversations: Sequence[Conversation]
) -> list[Conversation]:
    """Return the conversations, which have these names in the store, without what others there have.

    What was stored of one itself stays.
    """
    elsewhere = overlaps.names_of_keys(connection, _keys(conversations))
    found = []
    for name, said in zip(names, conversations, strict=True):
        sources = sorted({by_own_id[source] for source in sources_of(said) if source in by_own_id} - {name})
        originals = Counter(_told(turn) for turn in tables.load_turns(connection, sources).values()) if sources else {}
        copies = []
        for turn in said.turns:
            is_told = bool(turn.copied_from) and originals.get(_told(turn), 0) > 0
            if is_told:
                originals[_told(turn)] -= 1
            if is_told or (said.shares_ids and elsewhere.get(turn.content_key, set()) - {name}):
                copies.append(turn)
        ids = {replace(turn, conversation=name).id: turn for turn in copies}
        held = tables.places_of_turns(connection, list(ids)) if ids else {}
        gone = {turn.id for id_, turn in ids.items() if id_ not in held}
        kept = tuple(turn for turn in said.turns if turn.id not in gone) if gone else said.turns
        found.append(said if kept == said.turns else replace(said, turns=kept))
    return found


def holders(connection: Connection, by_own_id: ByOwnId, conversations: Sequence[Conversation]) -> set[str]:
    """Return the stored conversations that the transcripts may copy from."""
    names = set().union(*overlaps.names_of_keys(connection, _keys(conversations)).values())
    sources = set().union(*map(sources_of, conversations))
    return names | {by_own_id[source] for source in sources if source in by_own_id}


def sources_of(conversation: Conversation) -> set[Source]:
    """Return format and own id of the conversations that its turns are told as copied from."""
    return {(conversation.format, one) for turn in conversation.turns for one in turn.copied_from}


def stored_forks(connection: Connection, conversations: Iterable[Conversation]) -> dict[str, set[Source]]:
    """Return name -> sources, of the stored conversations with turns that are told as copied from one of these.

    Whoever copies from few comes first: a fork comes before its own forks.
    """
    wanted = {(said.format, said.own_id) for said in conversations if said.own_id is not None and not said.shares_ids}
    found: dict[str, set[Source]] = {}
    for name, form, told in overlaps.load_copied_from(connection, sorted({form for form, _ in wanted})):
        found.setdefault(name, set()).update((form, one) for one in told)
    forks = {name: sources for name, sources in found.items() if not wanted.isdisjoint(sources)}
    return dict(sorted(forks.items(), key=lambda fork: (len(fork[1]), fork[0])))


def plan_partings(
    connection: Connection, conversations: Sequence[Conversation], changes: Sequence[Change]
) -> list[Parting]:
    """Return what the conversations' changes take from stored forks of theirs, which kept it for want of a source."""
    places = {
        (said.format, said.own_id or ""): place
        for place, (said, change) in enumerate(zip(conversations, changes, strict=True))
        if change.new_turns or change.replaced
    }
    forks = stored_forks(connection, [conversations[place] for place in places.values()])
    if not forks:
        return []
    more = {source: _more(connection, changes[place]) for source, place in places.items()}
    rows = {row[0]: row for row in tables.load_conversation_rows(connection, list(forks))}
    partings = []
    for name, sources in forks.items():
        left = Counter[tuple[str, str]]()
        for source in sources & more.keys():
            left.update(more[source])
        stored = tables.load_turns(connection, [name])
        gone = set()
        for id_, turn in stored.items():
            if turn.copied_from and left[_told(turn)] > 0:
                left[_told(turn)] -= 1
                gone.add(id_)
        if gone:
            _, form, own_id, _ = rows[name]
            place = min(places[source] for source in sources & places.keys())
            partings.append(Parting(place, Conversation(name, form, (), own_id), plan_without(name, stored, gone)))
            more[form, own_id or ""] = Counter({_told(stored[id_]): 0 for id_ in gone})
            more[form, own_id or ""].subtract(_told(stored[id_]) for id_ in gone)
    return partings


def _more(connection: Connection, change: Change) -> Counter[tuple[str, str]]:
    """Return what a conversation has more of by a change, by speaker and text; less of is below zero."""
    moved = set(change.moved_turns)
    more = Counter(_told(turn) for turn in change.turns if turn.id not in moved)
    if change.gone_turns:
        stored = tables.load_turns(connection, [change.name])
        more.subtract(_told(stored[id_]) for id_ in change.gone_turns)
    return more


def _keys(conversations: Iterable[Conversation]) -> list[str]:
    return [turn.content_key for said in conversations if said.shares_ids for turn in said.turns if turn.own_id]


def _told(turn: Turn) -> tuple[str, str]:
    return turn.speaker, turn.text
