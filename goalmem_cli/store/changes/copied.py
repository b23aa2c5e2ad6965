"""Turns that a transcript copies from another conversation, as a fork does: they are stored once.

A turn is a copy where its own id stands for one turn everywhere, and another conversation has it; or where it is told
as copied, and a conversation that it may come from has it, with speaker and text: the date may be the copy's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from goalmem_cli.records import COPIED_FROM, Conversation, Turn
from goalmem_cli.store.database import overlaps, tables
from goalmem_cli.store.database.access import Connection

ByOwnId = Mapping[tuple[str, str], str]
"""The names of stored conversations, by format and own id."""


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
            is_told = COPIED_FROM in turn.attributes and originals.get(_told(turn), 0) > 0
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


def sources_of(conversation: Conversation) -> set[tuple[str, str]]:
    """Return format and own id of the conversations that its turns are told as copied from."""
    told = next((turn.attributes[COPIED_FROM] for turn in conversation.turns if COPIED_FROM in turn.attributes), ())
    return {(conversation.format, str(one)) for one in told} if isinstance(told, Sequence) else set()


def _keys(conversations: Iterable[Conversation]) -> list[str]:
    return [turn.content_key for said in conversations if said.shares_ids for turn in said.turns if turn.own_id]


def _told(turn: Turn) -> tuple[str, str]:
    return turn.speaker, turn.text
