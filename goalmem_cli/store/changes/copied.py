"""Store turns once that a transcript, such as a fork, copies from another conversation.

A turn is a copy in two cases. Its own id is globally unique, and another conversation has it. Or the transcript says
that it was copied, and a possible source has a turn with the same speaker and text; dates may differ. A fork that is
stored before its source keeps its copies until the source comes. For each text, as many copies are removed, first ones
first, as the sources have turns with it. So the order of reading does not matter.
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
    """The turns to remove from a stored fork because its source was read; `place` is the source's in the batch."""

    place: int
    fork: Conversation
    change: Change


def without_copies(
    connection: Connection, by_own_id: ByOwnId, names: Sequence[str], conversations: Sequence[Conversation]
) -> list[Conversation]:
    """Return the conversations without turns that are copies of turns in other stored conversations.

    `names` are their names in the store. Turns that are stored in the conversation itself stay.
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
    """Return the names of the stored conversations from which the transcripts may have copied turns."""
    names = set().union(*overlaps.names_of_keys(connection, _keys(conversations)).values())
    sources = set().union(*map(sources_of, conversations))
    return names | {by_own_id[source] for source in sources if source in by_own_id}


def sources_of(conversation: Conversation) -> set[Source]:
    """Return format and own id of the conversations from which its turns were copied."""
    return {(conversation.format, one) for turn in conversation.turns for one in turn.copied_from}


def stored_forks(connection: Connection, conversations: Iterable[Conversation]) -> dict[str, set[Source]]:
    """Return name -> sources for the stored conversations with turns copied from one of these.

    Conversations with few sources come first, so that a fork comes before its own forks.
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
    """Return the copied turns to remove from stored forks because the changes add their sources."""
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
    """Return by how many turns a change increases each pair of speaker and text; decreases are negative."""
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
