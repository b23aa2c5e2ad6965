"""Find overlapping windows of one chat, and decide whether they share enough turns to be joined.

Eight shared turns with 200 words are enough, unless one of several speakers says them all. For files of the same name,
all turns of one day are enough too, if there are at least two. Turns that a third conversation also has do not count.
Forgotten turns of a run count only where each stands at its place and was lost by just that conversation (`_lost`).
Two turns are the same if speaker, time, text and own id are equal, at any place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date, time
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import PurePath
from typing import Generic, TypeVar

from goalmem_cli.records import STANDARD_INPUT, Conversation, Turn, content_hash
from goalmem_cli.store.changes.clocks import Told, told_as
from goalmem_cli.store.changes.placing import base_of, place_of
from goalmem_cli.store.database import overlaps, tables
from goalmem_cli.store.database.access import Connection

Who = TypeVar("Who")

LEAST_TURNS, LEAST_WORDS = 8, 200
"""The fewest shared turns and words that make two transcripts one conversation."""
_LEAST_OF_A_DAY = 2
_LEAST_SHARED = 2
"""The fewest turns that both still have, for forgotten ones to count."""
_WORDS_OF_ONE = 8
"""The fewest words of shared texts that make two names one person's."""
_NUMBERED = re.compile(r"-\d+$")


@dataclass(frozen=True, slots=True)
class Windows:
    """Stored conversations that overlap with the transcripts of a batch, by the transcript's place in the batch.

    `joining` are place -> names of conversations to join, longest run first -> the index of the stored turn for each
    turn. `beside` are place -> names of conversations that overlap too little. `near` are all names that were compared.
    """

    joining: Mapping[int, Mapping[str, Sequence[int | None]]] = field(default_factory=dict)
    beside: Mapping[int, Sequence[str]] = field(default_factory=dict)
    near: Set[str] = frozenset()

    @classmethod
    def from_store(cls, connection: Connection, conversations: Mapping[int, Conversation], stretched: str) -> Windows:
        """Find overlaps for the conversations, by place; a part is not compared with its own `stretched`."""
        transcripts = {place: said.turns for place, said in conversations.items()}
        found = overlaps.load_neighbours(connection, transcripts) if transcripts else []
        pairs = [(place, name) for place, name in found if name != stretched or not conversations[place].continues]
        told = _told_to_be_one(connection, conversations)
        found_before = _found_before(connection, conversations)
        names = sorted({name for _, name in pairs} | {*told.values(), *found_before.values()})
        rows = {row[0]: row for row in tables.load_conversation_rows(connection, names)}
        turns: dict[str, list[Turn]] = {name: [] for name in names}
        for turn in tables.load_turns(connection, names).values() if names else ():
            turns[turn.conversation].append(turn)
        runs: dict[int, list[tuple[int, str, Sequence[int | None]]]] = {}
        beside: dict[int, list[str]] = {}
        near = set(names)
        for place, name in pairs:
            _, form, own_id, file = rows[name]
            said = conversations[place]
            if form != said.format:
                continue
            places = run_of(turns[name], said.turns)
            shared = [turn for turn, index in zip(said.turns, places, strict=True) if index is not None]
            if own_id is None and shared and _may_be_joined(said, turns[name], places):
                elsewhere = overlaps.load_elsewhere(connection, shared, name)
                near.update(other for _, other in elsewhere)
                third = {number for number, _ in elsewhere}
                own = [turn for number, turn in enumerate(shared) if number not in third]
                if (
                    (_is_much(own) and _is_talk(own, said, turns[name]))
                    or (_are_called_alike(said, name, file) and _has_whole_day(own, said, turns[name]))
                    or (not third and _is_enough_with_lost(connection, said, name, turns[name], places, near))
                ):
                    runs.setdefault(place, []).append((-len(shared), name, places))
                    continue
            if _is_worth_saying(shared or _common(turns[name], said.turns)):
                beside.setdefault(place, []).append(name)
        joining = {place: {name: places for _, name, places in sorted(each)} for place, each in runs.items()}
        for place, name in told.items():
            places = paired(turns[name], as_called(turns[name], conversations[place].turns))
            if conversations[place].own_id is not None or _is_known_again(places):
                joining[place] = {name: places}
        for place, name in found_before.items():
            joining[place] = {name: _aligned(turns[name], as_called(turns[name], conversations[place].turns))}
        return cls(joining, beside, near)


def alias_of(form: str, own_id: str | None, file: str | None, name: str) -> str | None:
    """Return a hash by which a joined conversation is recognised later; None if it cannot be."""
    if own_id is not None:
        return content_hash("id", form, own_id)
    return None if file in (None, STANDARD_INPUT) else content_hash("file", form, file, _NUMBERED.sub("", name))


def part(connection: Connection, names: Sequence[str]) -> None:
    """Delete the notes on joins with these conversations, which are being deleted."""
    before, gone = overlaps.load_joined(connection), set(map(target_of, names))
    if not gone.isdisjoint(before.values()):
        overlaps.write_joined(connection, {alias: target for alias, target in before.items() if target not in gone})


def newly_joined(connection: Connection | None, conversation: Conversation) -> tuple[str, ...]:
    """Return the joins of an exported conversation that this store does not have."""
    known = overlaps.load_joined(connection) if conversation.joined and connection is not None else {}
    return tuple(alias for alias in conversation.joined if alias not in known)


def note_joined(connection: Connection, joined: Mapping[str, Sequence[str]]) -> None:
    """Note the joins with these conversations, by name."""
    told = {alias: target_of(name) for name, aliases in joined.items() for alias in aliases}
    if told:
        overlaps.write_joined(connection, overlaps.load_joined(connection) | told)


def target_of(name: str) -> str:
    """Return the hash of a conversation with which others are joined."""
    return content_hash("joined", name)


def _told_to_be_one(connection: Connection, conversations: Mapping[int, Conversation]) -> dict[int, str]:
    """Return place -> the stored conversation that a command joined this one with."""
    joined = overlaps.load_joined(connection)
    if not joined:
        return {}
    names = {target_of(name): name for name in tables.conversation_names(connection)}
    found = {}
    for place, said in conversations.items():
        alias = None if said.continues else alias_of(said.format, said.own_id, said.file, said.name)
        if (name := names.get(joined.get(alias or "", ""))) is not None:
            found[place] = name
    return found


def _found_before(connection: Connection, conversations: Mapping[int, Conversation]) -> dict[int, str]:
    """Return place -> the stored conversation whose window it was while both had their secrets."""
    wanted = {place: said.window_of for place, said in conversations.items() if said.window_of and not said.is_apart}
    there = set(tables.conversation_names(connection)) if wanted else set[str]()
    return {place: name for place, name in wanted.items() if name in there}


def paired(stored: Sequence[Turn], incoming: Sequence[Turn]) -> list[int | None]:
    """Return for each incoming turn the index of the equal stored turn, for windows known to be of one conversation.

    It takes the longest run of equal turns or, if there is none, single turns with the same speaker, time and text.
    """
    places = run_of(stored, incoming)
    if any(index is not None for index in places):
        return places
    numbers: dict[tuple[str, str | None, str], list[int]] = {}
    for index, turn in enumerate(stored):
        numbers.setdefault(told_as(turn)[:3], []).append(index)
    found: list[int | None] = []
    for turn in incoming:
        same = numbers.get(told_as(turn)[:3], []) if turn.said is not None else []
        last = next((index for index in reversed(found) if index is not None), -1)
        found.append(next((index for index in same if index > last), None))
    return found


def _aligned(stored: Sequence[Turn], incoming: Sequence[Turn]) -> list[int | None]:
    """Return for each incoming turn the index of the equal stored turn, though turns between are missing or differ.

    For a window of which all turns were compared before: in two other windows, undated "ok"s may be two turns.
    """
    there, here = ([_unnumbered(turn) for turn in turns] for turns in (stored, incoming))
    places: list[int | None] = [None] * len(incoming)
    for block in SequenceMatcher(None, there, here, autojunk=False).get_matching_blocks():
        for step in range(block.size):
            places[block.b + step] = block.a + step
    return places


def as_called(stored: Sequence[Turn], incoming: Sequence[Turn]) -> list[Turn]:
    """Return the incoming turns with the speakers' names of the stored ones: a contact may have got another name."""
    called = _called(stored, incoming)
    return [replace(turn, speaker=called.get(turn.speaker, turn.speaker)) for turn in incoming]


def once(stored: Sequence[Turn], incoming: Sequence[Turn]) -> tuple[list[Turn], dict[str, str]]:
    """Return a stored conversation's new transcript, with stored turns for those of a speaker with another name now.

    Own ids that contain a speaker's name do not recognise such turns. Also returns new name -> stored name.
    """
    here, there, names = set(map(place_of, incoming)), set(map(place_of, stored)), {turn.speaker for turn in incoming}
    left = [turn for turn in stored if place_of(turn) not in here and turn.speaker not in names]
    strange = [turn for turn in incoming if turn.own_id is not None and place_of(turn) not in there]
    called = _called(left, strange, least=2)  # two people may say the same once
    same: dict[tuple[str, str | None, str], list[Turn]] = {}
    for turn in left if called else ():
        same.setdefault(told_as(turn)[:3], []).append(turn)
    found = list(incoming)
    for index, turn in enumerate(incoming):
        if place_of(turn) not in there and turn.speaker in called:
            alike = same.get(told_as(replace(turn, speaker=called[turn.speaker]))[:3], [])
            found[index] = replace(alike.pop(0), session=turn.session, ordinal=turn.ordinal) if alike else turn
    return found, called


def _called(stored: Iterable[Turn], incoming: Iterable[Turn], least: int = 1) -> dict[str, str]:
    """Return new name -> stored name of the speakers who are one person: both said `least` same texts or more."""
    sides = (("stored", stored), ("incoming", incoming))
    called: dict[str, str] = {}
    for found in under_two_names((side, turn.speaker, turn) for side, turns in sides for turn in turns):
        if len(found.texts) >= least and found.one not in called.values():
            called.setdefault(found.other, found.one)
    return called


@dataclass(frozen=True, slots=True)
class TwoNames(Generic[Who]):
    """Two speakers who are one person by what both said: the texts, and the transcript of each."""

    one: Who
    other: Who
    transcripts: tuple[str, str]
    texts: list[str] = field(default_factory=list)

    @property
    def words(self) -> int:
        """The number of words of the texts."""
        return sum(len(text.split()) for text in self.texts)


def under_two_names(said: Iterable[tuple[str, Who, Turn]]) -> list[TwoNames[Who]]:
    """Return the pairs of speakers who are one person under two names, those with most words first.

    `said` has transcript, speaker and turn. Both said the same texts at the same times of day in two transcripts, eight
    words or more, and each speaks in one of the two only. Short replies of one minute show nothing, and neither do
    turns that have a day only, or that several say in one transcript.
    """
    speakers: dict[str, set[Who]] = {}
    by_text: dict[tuple[str | None, str], dict[str, set[Who]]] = {}
    for transcript, who, turn in said:
        speakers.setdefault(transcript, set()).add(who)
        if turn.said is not None and turn.said.time() != time():  # a day alone is kept as its midnight
            by_text.setdefault((told_as(turn)[1], turn.text), {}).setdefault(transcript, set()).add(who)
    found: dict[tuple[Who, Who], TwoNames[Who]] = {}
    for (_, text), tellers in by_text.items():
        alone: dict[Who, str] = {}
        for transcript, (who, *others) in tellers.items():
            if not others:
                alone.setdefault(who, transcript)
        for (one, here), (other, there) in combinations(alone.items(), 2):
            if one not in speakers[there] and other not in speakers[here]:
                found.setdefault((one, other), TwoNames(one, other, (here, there))).texts.append(text)
    return sorted((each for each in found.values() if each.words >= _WORDS_OF_ONE), key=lambda each: -each.words)


def run_of(stored: Sequence[Turn], incoming: Sequence[Turn]) -> list[int | None]:
    """Return for each incoming turn the index of the equal stored turn in the longest run of equal turns, else None.

    The run has to be at the beginning of one of the two and at the end of one of them. Numbers in ids that readers made
    do not count: a window that begins between two equal turns counts from the second.
    """
    theirs, mine = list(map(_unnumbered, stored)), list(map(_unnumbered, incoming))
    best = (0, 0, 0)
    starts = [(0, index) for index, key in enumerate(theirs) if key == mine[0]]
    starts += [(index, 0) for index, key in enumerate(mine) if key == theirs[0]]
    for first, there in starts:
        length = min(len(mine) - first, len(theirs) - there)
        if length > best[0] and mine[first : first + length] == theirs[there : there + length]:
            best = (length, first, there)
    length, first, there = best
    return [there + index - first if first <= index < first + length else None for index in range(len(mine))]


def _is_enough_with_lost(
    connection: Connection,
    said: Conversation,
    name: str,
    stored: Sequence[Turn],
    places: Sequence[int | None],
    near: set[str],
) -> bool:
    """Say whether the shared turns are enough together with the forgotten ones, none of which another chat has.

    Conversations that have one of them are added to `near`.
    """
    lost = _lost(said, name, stored, places)
    both = [*(turn for turn, index in zip(said.turns, places, strict=True) if index is not None), *lost]
    if not lost or not (_is_much(both) and _is_talk(both, said, stored)):
        return False
    others = {other for _, other in overlaps.load_elsewhere(connection, lost, name)}
    near.update(others)
    return not others


def _lost(said: Conversation, name: str, stored: Sequence[Turn], places: Sequence[int | None]) -> list[Turn]:
    """Return the forgotten turns in and beside a run of two shared turns or more, if the stored chat lost just them.

    The numbers of the turns have to say so: between two shared turns, as many turns are missing in the store as were
    left out of the transcript. [] if anything differs, or a turn has no time.
    """
    pairs = [(turn, index) for turn, index in zip(said.turns, places, strict=True) if index is not None]
    left = {turn.ordinal: (turn, names) for turn, names in said.missing}
    if len(pairs) < _LEAST_SHARED or not left:
        return []
    (first, there), (last, end) = pairs[0], pairs[-1]
    shift = stored[there].ordinal - first.ordinal
    before, behind = (_theirs_beside(left, name, turn.ordinal, step) for turn, step in ((first, -1), (last, 1)))
    within = [told for number, told in left.items() if first.ordinal < number < last.ordinal]
    lost = [*before, *(turn for turn, _ in within), *behind]
    is_told = (
        all(stored[index].ordinal - turn.ordinal == shift for turn, index in pairs)
        and all(names == {name} for _, names in within)
        and last.ordinal - first.ordinal + 1 == len(pairs) + len(within)
        and _fills(left, before, said.turns[0] is first, first.ordinal, -1)
        and _fills(left, behind, said.turns[-1] is last, last.ordinal, 1)
        and len(before) <= stored[there].ordinal - (stored[there - 1].ordinal + 1 if there else 0)
        and (end + 1 == len(stored) or len(behind) < stored[end + 1].ordinal - stored[end].ordinal)
    )
    return lost if is_told and all(turn.said is not None for turn in (*lost, *(turn for turn, _ in pairs))) else []


def _theirs_beside(left: Mapping[int, tuple[Turn, frozenset[str]]], name: str, number: int, step: int) -> list[Turn]:
    """Return the left-out turns of this conversation that stand directly beside a number, in one direction."""
    found: list[Turn] = []
    while (told := left.get(number + step * (len(found) + 1))) is not None and told[1] == {name}:
        found.append(told[0])
    return found


def _fills(left: Iterable[int], found: Sequence[Turn], is_edge: bool, number: int, step: int) -> bool:
    """Say whether these are all turns that were left out on this side, if the run is at this edge of the transcript."""
    return not is_edge or len(found) == sum((other - number) * step > 0 for other in left)


def _unnumbered(turn: Turn) -> Told:
    speaker, said, text, own_id = told_as(turn)
    return speaker, said, text, base_of(own_id)


def _common(stored: Sequence[Turn], incoming: Sequence[Turn]) -> list[Turn]:
    known = set(map(told_as, stored))
    return [turn for turn in incoming if turn.said is not None and told_as(turn) in known]


def _is_known_again(places: Sequence[int | None]) -> bool:
    """Say whether a file still has the joined turns, as another chat may have been written into it."""
    return len(places) - places.count(None) >= min(LEAST_TURNS, (len(places) + 1) // 2)


def _is_worth_saying(shared: Sequence[Turn]) -> bool:
    return len(shared) > 1 or any(turn.said is not None for turn in shared)


def _may_be_joined(said: Conversation, stored: Sequence[Turn], places: Sequence[int | None]) -> bool:
    """Say whether a transcript may be joined by its turns, and no own id is used for two different turns."""
    if said.own_id is not None or said.file is None or said.is_exported or said.continues or said.is_apart:
        return False
    pairs = list(zip(said.turns, places, strict=True))
    shared = {base_of(turn.own_id) for turn, index in pairs if index is not None}
    alone = {place_of(turn) for turn, index in pairs if index is None and turn.own_id}
    return alone.isdisjoint(place_of(turn) for turn in stored if base_of(turn.own_id) not in shared)


def _is_much(shared: Sequence[Turn]) -> bool:
    return len(shared) >= LEAST_TURNS and sum(len(turn.text.split()) for turn in shared) >= LEAST_WORDS


def _is_talk(shared: Sequence[Turn], said: Conversation, stored: Sequence[Turn]) -> bool:
    """Say whether the shared turns are a talk, and not one person's or bot's broadcast to several groups."""
    speakers = {turn.speaker for turn in shared}
    return len(speakers) > 1 or {turn.speaker for turn in (*said.turns, *stored)} <= speakers


def _are_called_alike(said: Conversation, name: str, file: str | None) -> bool:
    """Say whether the files or the conversations have the same name, except for an added number."""
    if STANDARD_INPUT in (said.file, file):
        return False
    is_file_alike = None not in (said.file, file) and PurePath(said.file or "").name == PurePath(file or "").name
    return is_file_alike or re.fullmatch(rf"{re.escape(said.name)}(?:-\d+)?", name) is not None


def _has_whole_day(shared: Sequence[Turn], said: Conversation, stored: Sequence[Turn]) -> bool:
    """Say whether there is a day of which both have the same two or more turns and no others."""
    if any(turn.said is None for turn in shared):
        return False
    own, here, there = (Counter(_day_of(turn) for turn in turns) for turns in (shared, said.turns, stored))
    return any(count >= _LEAST_OF_A_DAY and count == here[day] == there[day] for day, count in own.items())


def _day_of(turn: Turn) -> date | None:
    return None if turn.local is None else turn.local.date()
