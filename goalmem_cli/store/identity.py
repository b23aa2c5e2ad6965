"""Which stored conversation a transcript is, and what it changes there (DESIGN section 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn, encodable
from goalmem_cli.store import tables
from goalmem_cli.store.database import Connection
from goalmem_cli.store.placing import merged_in_part, place_of
from goalmem_cli.store.units import Entry, entries_from_units, units_from_turns


@dataclass(frozen=True, slots=True)
class Change:
    """What a transcript changes in the conversation `name`.

    `gone_turns` and `gone_units` are ids that leave; `turns` and `units` are rows to write, new or moved, after the
    rows of the same id were deleted; `entries` are the units whose indexed texts are new or differ.
    """

    name: str
    is_new: bool
    new_turns: int
    replaced: tuple[str, ...]
    gone_turns: tuple[str, ...]
    gone_units: tuple[str, ...]
    turns: tuple[Turn, ...]
    entries: tuple[Entry, ...]

    @property
    def is_empty(self) -> bool:
        """True where the store already holds all of it."""
        return not (self.is_new or self.gone_turns or self.turns or self.entries)


def storable(conversation: Conversation) -> Conversation:
    """Return the conversation with lone surrogates, which no UTF-8 file can hold, replaced by question marks."""
    turns = tuple(
        replace(
            turn, text=encodable(turn.text), speaker=encodable(turn.speaker),
            own_id=None if turn.own_id is None else encodable(turn.own_id),
        )
        for turn in conversation.turns
    )  # fmt: skip
    own_id = None if conversation.own_id is None else encodable(conversation.own_id)
    return replace(conversation, name=encodable(conversation.name), own_id=own_id, turns=turns)


def resolve_name(connection: Connection, conversation: Conversation, *, by_name: bool) -> tuple[str, bool]:
    """Return the name the conversation has in the store, or will have, and whether it is new there.

    With `by_name` the name alone decides; else its own id does, or what it says.
    """
    taken = set(tables.conversation_names(connection))
    if by_name:
        return conversation.name, conversation.name not in taken
    if conversation.own_id is not None:
        name = tables.name_of_own_id(connection, conversation.format, conversation.own_id)
    else:
        keys = [turn.content_key for turn in conversation.turns]
        name = _best_match(keys, tables.content_keys(connection, conversation.format, keys[0]))
    if name is not None:
        return name, False
    wanted = conversation.own_id if conversation.own_id is not None else conversation.name
    names = (wanted if count == 1 else f"{wanted}-{count}" for count in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken), True


def _best_match(keys: Sequence[str], stored: Mapping[str, Sequence[str]]) -> str | None:
    """Return the conversation that the transcript equals, else extends the furthest, else is the beginning of."""
    extended = {name: len(theirs) for name, theirs in stored.items() if list(theirs) == list(keys[: len(theirs)])}
    if extended:
        return max(sorted(extended), key=lambda name: extended[name])
    longer = (name for name, theirs in stored.items() if list(theirs[: len(keys)]) == list(keys))
    return min(longer, default=None)


def plan_change(name: str, is_new: bool, stored: Mapping[str, Turn], turns: Sequence[Turn]) -> Change:
    """Return what the transcript's turns change in the stored ones (stored id -> turn, in order).

    Turns are the same where their own id is, or their ordinal where they have none; text that differs there replaces
    the stored one. Nothing is deleted because a transcript lacks it: an earlier copy of a chat is not a wish to forget.

    Raises:
        InputError: two turns of the transcript have one own id.
    """
    incoming = {place_of(turn): replace(turn, conversation=name) for turn in turns}
    if len(incoming) < len(turns):
        places = [place_of(turn) for turn in turns]
        twice = next(place for place in places if places.count(place) > 1)
        raise InputError(name, twice, "two turns have this id", "give each turn an id of its own, or none")
    before = list(stored.values())
    known = {place_of(turn): turn for turn in before}
    after = _merged(before, incoming)
    replaced = [turn for place, turn in incoming.items() if place in known and known[place].id != turn.id]
    after_ids = {turn.id for turn in after}
    unchanged = set(before)
    old_entries = {entry.unit.id: entry for entry in entries_from_units(units_from_turns(before))}
    new_units = units_from_turns(after)
    new_ids = {unit.id for unit in new_units}
    return Change(
        name=name,
        is_new=is_new,
        new_turns=sum(place not in known for place in incoming),
        replaced=tuple(turn.label for turn in replaced),
        gone_turns=tuple(turn.id for turn in before if turn.id not in after_ids),
        gone_units=tuple(unit.id for unit in units_from_turns(before) if unit.id not in new_ids),
        turns=tuple(turn for turn in after if turn not in unchanged),
        entries=tuple(entry for entry in entries_from_units(new_units) if not _is_same(entry, old_entries)),
    )


def _merged(stored: Sequence[Turn], incoming: Mapping[str, Turn]) -> list[Turn]:
    """Return the conversation's turns afterwards, in order.

    A transcript that has every stored turn decides the order; into one that lacks some, its new turns are fitted.
    """
    if all(place_of(turn) in incoming for turn in stored):
        return sorted(incoming.values(), key=_order)
    return sorted(merged_in_part(stored, list(incoming.values())), key=_order)


def _order(turn: Turn) -> tuple[int, int, str]:
    return (turn.session, turn.ordinal, turn.id)


def _is_same(entry: Entry, old: Mapping[str, Entry]) -> bool:
    earlier = old.get(entry.unit.id)
    return earlier is not None and (earlier.text, earlier.context) == (entry.text, entry.context)
