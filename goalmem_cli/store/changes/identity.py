"""Decide which stored conversation a transcript belongs to, and what it changes there (DESIGN section 7)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from operator import attrgetter

from goalmem_cli.memory_records import DIALOGUE
from goalmem_cli.records import BLOCKS, CUT_AT, STANDARD_INPUT, Conversation, Derived, Edge, Turn, Unit
from goalmem_cli.store.changes.clocks import under_stored_zones, under_zones_of
from goalmem_cli.store.changes.overlapping import LEAST_TURNS, LEAST_WORDS, Windows, as_called, newly_joined, once
from goalmem_cli.store.changes.placing import are_numbered_alike, joined, merged_in_part, place_of
from goalmem_cli.store.changes.restoring import Renaming
from goalmem_cli.store.changes.storable import cut_as
from goalmem_cli.store.database import overlaps, tables
from goalmem_cli.store.database.access import Connection
from goalmem_cli.store.database.overlaps import Overlap
from goalmem_cli.store.units import NEIGHBOURS, UnitEntry, entries_from_units, units_from_turns

DIALOGUE_FORMAT = "turns"
"""The format of turns without a transcript."""
_TITLED = "whatsapp"
"""The format in which a conversation's own id is its title, so that another conversation may have the same one."""
_MARK = f'"{CUT_AT}": "{BLOCKS}"'
"""The mark of a turn that is cut at blocks, as attributes are stored."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a transcript changes in the conversation `name`.

    `gone_turns` and `gone_units` are ids to delete. `turns` and `units` are rows to write, new or moved. `moved_turns`
    and `moved_units` are the ids whose rows they replace. `entries` are units with new or changed texts to index.
    `unindexed` are ids of turns that lose their index entry because passages replace it. `derived`, `edges` and
    `ledger` come from an exported store, and so does `joined`: what was joined by command there. `beside` are
    conversations that overlap, but not enough to be the same one.
    `is_joined` says that a transcript of another file shared enough turns to be joined, `by_title` that it shares none
    and has only the title. `shift` is to be added to the session and ordinal of the transcript's next part. `is_gone`
    says that no turn is left, and that the conversation is to be deleted.
    """

    name: str
    is_new: bool
    new_turns: int
    replaced: tuple[str, ...]
    gone_turns: tuple[str, ...]
    gone_units: tuple[str, ...]
    turns: tuple[Turn, ...]
    units: tuple[Unit, ...]
    entries: tuple[UnitEntry, ...]
    moved_turns: tuple[str, ...] = ()
    moved_units: tuple[str, ...] = ()
    unindexed: tuple[str, ...] = ()
    derived: tuple[Unit, ...] = ()
    edges: tuple[Edge, ...] = ()
    ledger: tuple[Derived, ...] = ()
    beside: tuple[str, ...] = ()
    is_joined: bool = False
    by_title: bool = False
    shift: tuple[int, int] = (0, 0)
    is_gone: bool = False
    joined: tuple[str, ...] = ()
    called: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether the store already holds all of it."""
        is_same = not (self.is_new or self.gone_turns or self.turns or self.entries)
        return is_same and not (self.derived or self.edges or self.ledger or self.joined)


def _under(name: str, turn: Turn) -> Turn:
    return turn if turn.conversation == name else replace(turn, conversation=name)


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a transcript in the store, whether it is new there, and overlapping conversations (`beside`).

    If windows of one conversation overlap, `places` has the index of the stored turn for each turn, None for new ones.
    `is_joined` says that the conversation is of another file, and was found because both begin alike.
    """

    name: str
    is_new: bool
    beside: tuple[str, ...] = ()
    places: Sequence[int | None] = ()
    is_joined: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """The stored conversations that the transcripts of a batch may belong to.

    `names` are all names in use. `by_own_id` are format and own id -> name. `overlaps` are conversations without an own
    id that share turns with a transcript, given by its place in the batch. `proved` are (place, name) of those that
    share enough turns, which no third one has, to be the same. `begins` are format and name -> first ordinal, for
    conversations of a transcript's name whose beginning was forgotten. `windows` are overlapping conversations for the
    transcripts that match none of these.
    """

    names: set[str]
    by_own_id: Mapping[tuple[str, str], str]
    overlaps: Sequence[Overlap] = ()
    begins: Mapping[tuple[str, str], int] = field(default_factory=dict)
    proved: Set[tuple[int, str]] = frozenset()
    windows: Windows = field(default_factory=Windows)

    @classmethod
    def from_store(cls, connection: Connection, conversations: Sequence[Conversation], stretched: str = "") -> Known:
        """Look up the stored conversations for this batch; `stretched` is the one that a `continues` part continues."""
        nameless = {
            place: conversation
            for place, conversation in enumerate(conversations)
            if conversation.own_id is None and conversation.turns and not conversation.continues
        }
        found = overlaps.load_overlaps(connection, {place: said.turns for place, said in nameless.items()})
        known = cls(
            set(tables.conversation_names(connection)),
            tables.names_of_own_ids(connection),
            found,
            overlaps.late_beginnings(connection, [conversation.name for conversation in nameless.values()]),
            {(one.place, one.name) for one in found if _is_proved(connection, one, nameless[one.place])},
        )
        unknown = {place: said for place, said in enumerate(conversations) if _is_unknown(known, place, said)}
        return replace(known, windows=Windows.from_store(connection, unknown, stretched))


def _is_unknown(known: Known, place: int, conversation: Conversation) -> bool:
    """Say whether no stored conversation was found yet that a transcript belongs to."""
    if not conversation.turns or conversation.is_exported or conversation.is_named or conversation.shares_ids:
        return False
    if conversation.own_id is not None:
        return (conversation.format, conversation.own_id) not in known.by_own_id
    return conversation.continues or _best_match(known, place, conversation, frozenset()) is None


def _is_proved(connection: Connection, overlap: Overlap, conversation: Conversation) -> bool:
    """Say whether a transcript of another file shares enough with a stored conversation to be the same one."""
    if conversation.is_apart or overlap.shared < LEAST_TURNS or not _may_be_another_file(overlap, conversation):
        return False
    texts = {turn.content_key: turn.text for turn in conversation.turns}
    shared = overlaps.shared_by_none_but(connection, overlap.name, list(texts))
    return len(shared) >= LEAST_TURNS and sum(len(texts[key].split()) for key in shared) >= LEAST_WORDS


def _may_be_another_file(overlap: Overlap, conversation: Conversation) -> bool:
    """Say whether the transcript has a file that may differ from the stored conversation's file.

    Conversations of older versions have no file; their names are compared instead, without an added number.
    """
    if conversation.file is None or conversation.is_exported:
        return False
    if overlap.file is None:
        return not re.fullmatch(rf"{re.escape(conversation.name)}(?:-\d+)?", overlap.name)
    return overlap.file != conversation.file or conversation.file == STANDARD_INPUT


def resolve_name(
    known: Known, place: int, conversation: Conversation, *, by_name: bool, given: Set[str] = frozenset()
) -> Named:
    """Return the present or future name of the conversation in the store, and whether it is new there.

    `place` is its place in the batch. With `by_name` the name alone decides; else its own id or its turns do. A
    conversation of an exported store keeps its old name if that is free. `given` are the names of other conversations
    of the same file, which cannot be the same by their turns.
    """
    if by_name:
        beside = tuple(known.windows.beside.get(place, ()))
        return Named(conversation.name, conversation.name not in known.names, beside)
    windows = known.windows
    if conversation.own_id is not None:
        name = known.by_own_id.get((conversation.format, conversation.own_id))
    elif conversation.is_exported and conversation.name not in known.names:
        name = None
    else:
        name = _best_match(known, place, conversation, given)
    if name is not None:
        files = {one.file for one in known.overlaps if (one.place, one.name) == (place, name)} - {conversation.file}
        beside = tuple(each for each in _alike(known, place, conversation) if each != name and each not in given)
        return Named(name, False, beside, is_joined=bool(files) and (place, name) in known.proved)
    joining = {one: places for one, places in windows.joining.get(place, {}).items() if one not in given}
    others = [*list(joining)[1:], *(one for one in windows.beside.get(place, ()) if one not in given)]
    if joining:
        name, places = next(iter(joining.items()))
        return Named(name, False, tuple(others), places)
    beside = tuple(dict.fromkeys([*_alike(known, place, conversation), *others]))
    wanted = conversation.name if conversation.own_id is None or conversation.is_exported else conversation.own_id
    taken = known.names if conversation.format == DIALOGUE_FORMAT else known.names | {DIALOGUE}
    names = (wanted if count == 1 else f"{wanted}-{count}" for count in range(1, len(taken) + 2))
    return Named(next(name for name in names if name not in taken), True, beside)


def _alike(known: Known, place: int, conversation: Conversation) -> list[str]:
    """Return the stored conversations of other files that begin the transcript or begin with it."""
    whole, looked_for = len(conversation.turns), (place, conversation.format)
    return sorted(
        one.name for one in known.overlaps if (one.place, one.format) == looked_for and one.shared in (one.begun, whole)
    )


def _best_match(known: Known, place: int, conversation: Conversation, given: Set[str]) -> str | None:
    """Return the longest conversation that the transcript contains, else one that contains the transcript.

    It must be of the same file, or share enough turns to be the same one. Only its turns up to the transcript's last
    ordinal count, as the transcript may be the first part of a longer one. Forgotten turns make no difference. A stored
    conversation of the same name that begins after the transcript is its continuation. Among equals, the same name
    wins, then the shortest and first name.
    """
    looked_for = (place, conversation.format)
    mine = [
        one
        for one in known.overlaps
        if (one.place, one.format) == looked_for
        and one.name not in given
        and (not _may_be_another_file(one, conversation) or (place, one.name) in known.proved)
    ]
    within = {overlap.name: overlap.begun for overlap in mine if overlap.shared == overlap.begun}
    around = [overlap.name for overlap in mine if overlap.shared == len(conversation.turns)]
    begin = known.begins.get((conversation.format, conversation.name), 0)
    is_behind = begin > conversation.turns[-1].ordinal and conversation.name not in given
    if (conversation.goes_on and is_behind) or conversation.name in (within if conversation.is_exported else ()):
        return conversation.name
    if not within:
        return min(around, default=None)
    return min(within, key=lambda name: (-within[name], name != conversation.name, len(name), name))


def plan_changes(
    connection: Connection | None,
    named: Sequence[Named],
    conversations: Sequence[Conversation],
    renaming: Renaming,
) -> list[Change]:
    """Return the change by each conversation under its name; without a store all are new."""
    turns = [
        tuple(_under(one.name, turn) for turn in conversation.turns)
        for one, conversation in zip(named, conversations, strict=True)
    ]
    old = [turn.id for one, group in zip(named, turns, strict=True) if not one.is_new for turn in group]
    stored = tables.places_of_turns(connection, old) if connection is not None and old else {}
    changes = []
    for one, group, conversation in zip(named, turns, conversations, strict=True):
        group = tuple(
            cut_as(turn, at_blocks=_MARK in (stored[turn.id][2] or "")) if turn.id in stored else turn for turn in group
        )
        if one.is_new or connection is None:
            change = plan_change(one.name, one.is_new, {}, group)
        elif one.places:
            kept = tables.load_turns(connection, [one.name])
            if conversation.is_zone_assumed:
                group = under_zones_of(list(kept.values()), group, one.places)
            change = plan_joined(one.name, kept, as_called(list(kept.values()), group), one.places)
        else:
            if conversation.is_zone_assumed:
                group = under_stored_zones(group, stored)
            if conversation.is_named and not conversation.continues:
                group = _behind(connection, one.name, group)
            change = _plan_more(connection, one.name, group, stored, has_gaps=conversation.is_exported)
        derived, edges, ledger = renaming.restored(connection, one.name, conversation)
        if not (conversation.turns or conversation.is_exported):  # all turns were copies
            change = replace(change, is_new=False)
        told = newly_joined(connection, conversation)
        change = replace(change, derived=derived, edges=edges, ledger=ledger, beside=one.beside, joined=told)
        by_title = not one.places and _is_by_title(connection, change, conversation)
        changes.append(replace(change, is_joined=change.is_joined or one.is_joined, by_title=by_title))
    return changes


def _is_by_title(connection: Connection | None, change: Change, conversation: Conversation) -> bool:
    """Say whether a transcript has only the title of a stored chat, whose file is another and which has no turn of it.

    Only then the store is asked for the file.
    """
    is_titled = conversation.format == _TITLED and conversation.own_id is not None and not conversation.continues
    are_new = change.new_turns == len(conversation.turns) > 0
    if connection is None or change.is_new or not is_titled or not are_new:
        return False
    return any(file != conversation.file for *_, file in tables.load_conversation_rows(connection, [change.name]))


def _behind(connection: Connection, name: str, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Return the turns numbered after the stored ones, unless they overlap with its beginning or have own ids."""
    stored = {turn.content_key for turn in tables.load_turns(connection, [name], last=turns[-1].ordinal).values()}
    incoming = {turn.content_key for turn in turns}
    if stored <= incoming or incoming <= stored or any(turn.own_id is not None for turn in turns):
        return turns
    session, ordinal = tables.end_of_conversation(connection, name)
    return tuple(
        replace(turn, session=turn.session + session + 1, ordinal=turn.ordinal + ordinal + 1) for turn in turns
    )


def _plan_more(
    connection: Connection,
    name: str,
    turns: Sequence[Turn],
    stored: Mapping[str, tuple[int, int, str | None]],
    *,
    has_gaps: bool,
) -> Change:
    """Return what the turns change in a stored conversation, and read no more of it than needed.

    Most transcripts are stored already or continue at the end; for others the whole conversation is compared. With
    `has_gaps`, for exported stores, forgotten turns may be missing.
    """
    fresh = [turn for turn in turns if stored.get(turn.id) != tables.place_and_attributes(turn)]
    if not fresh:
        return Change(name, False, 0, (), (), (), (), (), ())
    session, ordinal = tables.end_of_conversation(connection, name)
    ordinals = [turn.ordinal for turn in fresh]
    is_behind = ordinals[0] > ordinal and ordinals == sorted(set(ordinals))
    goes_on = (
        (is_behind if has_gaps else ordinals == list(range(ordinal + 1, ordinal + 1 + len(fresh))))
        and fresh[0].session >= session
        and not tables.has_own_ids(connection, name, [turn.own_id for turn in fresh if turn.own_id is not None])
    )
    if not goes_on:
        held = tables.load_turns(connection, [name])
        if has_gaps:
            return plan_change(name, False, held, turns)
        turns, called = once(list(held.values()), turns)
        return replace(plan_change(name, False, held, turns), called=called)
    tail = tables.load_turns(connection, [name], first=ordinal + 1 - 2 * NEIGHBOURS)
    return plan_change(name, False, tail, [*tail.values(), *fresh])


def plan_change(name: str, is_new: bool, stored: Mapping[str, Turn], turns: Sequence[Turn]) -> Change:
    """Return what the transcript's turns change in the stored ones (stored id -> turn, in order).

    Turns are the same if their own ids are equal or, without own ids, their ordinals. A different text replaces the
    stored one. Turns that the transcript lacks are kept, as it may be an older copy.
    """
    incoming = {place_of(turn): _under(name, turn) for turn in turns}
    before = list(stored.values())
    known = {place_of(turn): turn for turn in before}
    replaced = [turn for place, turn in incoming.items() if place in known and known[place].id != turn.id]
    change = _changed(name, stored, _merged(before, incoming))
    new = sum(place not in known for place in incoming)
    return replace(change, is_new=is_new, new_turns=new, replaced=tuple(turn.label for turn in replaced))


def plan_joined(name: str, stored: Mapping[str, Turn], turns: Sequence[Turn], places: Sequence[int | None]) -> Change:
    """Return the change by turns that overlap with the stored ones; `places` has the index of each turn's stored turn.

    Turns that only one side has are kept in their places. Stored turns without own ids get new ordinals, and so new
    ids, if new turns come before them.
    """
    after, last = joined(list(stored.values()), turns, places)
    change = _changed(name, stored, after)
    shift = (last.session - turns[-1].session, last.ordinal - turns[-1].ordinal)
    return replace(change, new_turns=places.count(None), is_joined=True, shift=shift)


def plan_without(name: str, stored: Mapping[str, Turn], gone: Set[str]) -> Change:
    """Return the change that removes the `gone` turns from the stored ones (stored id -> turn, in order)."""
    after = [turn for id_, turn in stored.items() if id_ not in gone]
    return replace(_changed(name, stored, after), is_gone=not after)


def _changed(name: str, stored: Mapping[str, Turn], after: Sequence[Turn]) -> Change:
    """Return the change from the stored turns (stored id -> turn, in order) to those in `after`."""
    before = list(stored.values())
    after = [
        cut_as(turn, at_blocks=CUT_AT in stored[turn.id].attributes) if turn.id in stored else turn for turn in after
    ]
    after_ids = {turn.id for turn in after}
    unchanged = set(before)
    old_units = units_from_turns(before)
    old_entries = {entry.unit.id: entry for entry in entries_from_units(old_units)}
    new_units = units_from_turns(after)
    new_ids = {unit.id for unit in new_units}
    written = tuple(turn for turn in after if turn not in unchanged)
    written_ids = {turn.id for turn in written}
    held = {unit.id: unit for unit in old_units}
    entries = entries_from_units(new_units)
    indexed = {entry.unit.id for entry in entries}
    units = tuple(unit for unit in new_units if unit.turns[0] in written_ids or held.get(unit.id) != unit)
    return Change(
        name=name,
        is_new=False,
        new_turns=0,
        replaced=(),
        gone_turns=tuple(turn.id for turn in before if turn.id not in after_ids),
        gone_units=tuple(unit.id for unit in old_units if unit.id not in new_ids),
        turns=written,
        units=units,
        entries=tuple(entry for entry in entries if not _is_same(entry, old_entries)),
        moved_turns=tuple(id_ for id_ in written_ids if id_ in stored),
        moved_units=tuple(unit.id for unit in units if unit.id in held),
        unindexed=tuple(id_ for id_ in old_entries if id_ in new_ids and id_ not in indexed),
    )


def _merged(stored: Sequence[Turn], incoming: Mapping[str, Turn]) -> list[Turn]:
    """Return the merged turns of the conversation, in order.

    A transcript that has every stored turn decides the order. Otherwise its new turns are fitted into the stored order.
    """
    if all(place_of(turn) in incoming for turn in stored):
        return sorted(incoming.values(), key=attrgetter("order"))
    if are_numbered_alike(stored, incoming):
        return sorted(({place_of(turn): turn for turn in stored} | dict(incoming)).values(), key=attrgetter("order"))
    return sorted(merged_in_part(stored, list(incoming.values())), key=attrgetter("order"))


def _is_same(entry: UnitEntry, old: Mapping[str, UnitEntry]) -> bool:
    earlier = old.get(entry.unit.id)
    return earlier is not None and _indexed(earlier) == _indexed(entry)


def _indexed(entry: UnitEntry) -> tuple[str, str, str | None]:
    """Return the content of an entry in the indexes that may change; its time is compared as written, with offset."""
    said = entry.unit.said
    return entry.text, entry.context, None if said is None else said.isoformat()
