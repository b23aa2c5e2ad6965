"""Suggest which speakers may be one person, by the same turns, a telephone number or similar spellings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from goalmem_cli.library.people import clock_of, roster_of
from goalmem_cli.memory_records import ConversationSummary, Speaker, voice_of
from goalmem_cli.store.changes.clocks import told_as
from goalmem_cli.store.changes.overlapping import under_two_names
from goalmem_cli.store.roster import Roster, Somebody, digits_of, spelled

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.records import Turn

_OWNERS = frozenset(("me", "you", "user", "assistant"))
_END_OF_NUMBER = 9
"""Two numbers are compared by their last 9 digits, as only one of them may have a country code."""
MOST_COMPARED = 20_000
"""Most turns that are compared after files were read; `goalmem people` compares all."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two speakers who may be one person, as they are shown, and the reason; each handle names only one of them.

    `rooms` are the names of two conversations with the same turns by both, which may then be one chat; empty for other
    reasons.
    """

    one: str
    other: str
    reason: str
    handles: tuple[str, str]
    rooms: tuple[str, ...] = ()


def suggestions(memory: KeptMemory) -> list[Suggestion]:
    """Return the pairs of speakers who may be one person.

    The reasons are the same turns under two names, one telephone number, and names that are spelled alike.

    Raises:
        StoreError: there is no memory, or it cannot be read.
    """
    stored = memory.conversations()
    roster = roster_of(memory, stored)
    turns = ((turn.conversation, turn) for turn in memory.turns())
    ways = (_same_turns(turns, roster), _numbers(roster), _rooms_of_numbers(roster, stored), _spellings(roster))
    pairs = (each for way in ways for each in way)
    return _once((pair for pair in pairs if not _are_two(pair[0], pair[1])), roster)


def _once(pairs: Iterable[_Pair], roster: Roster) -> list[Suggestion]:
    """Return a suggestion for each pair of two speakers, with its first reason."""
    found: dict[frozenset[str], Suggestion] = {}
    for one, other, reason, rooms in pairs:
        if one != other:
            handles = roster.handle(one), roster.handle(other)
            suggestion = Suggestion(one.shown, other.shown, reason, handles, rooms)
            found.setdefault(frozenset((one.shown, other.shown)), suggestion)
    return list(found.values())


def said_elsewhere(memory: KeptMemory, ids: Set[str], conversations: Sequence[str] | None) -> dict[str, int]:
    """Return how many of the turns with these ids another conversation has too, by its name.

    The turns are in these `conversations`; with None, all are named, and there is no other. Turns are the same by
    speaker, instant and text. Only conversations with times and one of their speakers are compared. If there are more
    than `MOST_COMPARED` turns, the result is empty.

    Raises:
        StoreError: the memory cannot be read.
    """
    stored = memory.conversations() if ids and conversations is not None else []
    own = [each for each in stored if each.name in (conversations or ())]
    others = [each for each in stored if each not in own and any(_may_share(each, one) for one in own)]
    if not others or sum(each.turns for each in (*own, *others)) > MOST_COMPARED:
        return {}
    gone = {told_as(turn)[:3] for turn in memory.turns([each.name for each in own]) if turn.id in ids and turn.said}
    return dict(Counter(turn.conversation for turn in memory.turns([each.name for each in others])
                        if told_as(turn)[:3] in gone))  # fmt: skip


def _may_share(one: ConversationSummary, other: ConversationSummary) -> bool:
    """Say whether somebody speaks in both, and one of them has times."""
    names = {speaker.name for speaker in one.speakers}
    return one.first_said is not None and any(speaker.name in names for speaker in other.speakers)


def numbers_of(memory: KeptMemory, grown: Mapping[str, Sequence[Turn]]) -> list[Suggestion]:
    """Suggest whose telephone number is a speaker's name, for the conversations that have just `grown`.

    `grown` maps a conversation's name to its turns that are not stored: in a dry run the new ones, else none. Only
    conversations that overlap with these in time are compared. The result is empty if no speaker is named by a number,
    or if there are too many turns.

    Raises:
        StoreError: the memory cannot be read.
    """
    stored = memory.conversations() if grown and memory.exists else []
    held = [each.name for each in stored]
    stored += [_summary(name, turns) for name, turns in grown.items() if turns]
    if not any(digits_of(speaker.name) for each in stored for speaker in each.speakers):
        return []
    fresh = [each for each in stored if each.name in grown]
    near = [each for each in stored if any(_do_overlap(each, one) for one in fresh)]
    if sum(each.turns for each in near) > MOST_COMPARED:
        return []
    roster = roster_of(memory, stored)
    speak = {voice for each in fresh for voice in (speaker.voice for speaker in each.speakers)}
    compared = {each.name for each in near}
    kept = [name for name in held if name in compared]
    turns = [(each.conversation, each) for each in (memory.turns(kept) if kept else ())]
    turns += [(name, each) for name, told in grown.items() if name in compared for each in told]
    same = _same_turns(turns, roster)
    ways = (same, _numbers(roster), _rooms_of_numbers(roster, stored))
    return _once(
        (
            (one, other, reason, rooms)
            for one, other, reason, rooms in (each for way in ways for each in way)
            if not speak.isdisjoint((*one.voices, *other.voices)) and any(map(digits_of, one.names))
        ),
        roster,
    )


def _summary(name: str, turns: Sequence[Turn]) -> ConversationSummary:
    """Return the summary of a conversation that is not stored, as far as `numbers_of` needs it."""
    said = sorted((turn.said for turn in turns if turn.said is not None), key=clock_of)
    speakers = tuple(Speaker(voice.name, None, 0, voice.id) for voice in dict.fromkeys(map(voice_of, turns)))
    first, last = (said[0], said[-1]) if said else (None, None)
    return ConversationSummary(name, "", len(turns), 0, speakers, first, last)


def _do_overlap(one: ConversationSummary, other: ConversationSummary) -> bool:
    """Say whether two conversations overlap in time."""
    begun, ended = one.first_said, one.last_said
    since, until = other.first_said, other.last_said
    if begun is None or ended is None or since is None or until is None:
        return False
    return clock_of(begun) <= clock_of(until) and clock_of(since) <= clock_of(ended)


_Pair = tuple[Somebody, Somebody, str, tuple[str, ...]]
"""Two speakers, why they may be one, and the conversations that may then be one."""


def _are_two(one: Somebody, other: Somebody) -> bool:
    """Say whether both have ids of one transcript format, so that they must be two persons."""
    formats = [{voice.id.rpartition("@")[2] for voice in each.voices if voice.id} for each in (one, other)]
    return not formats[0].isdisjoint(formats[1])


def _same_turns(said: Iterable[tuple[str, Turn]], roster: Roster) -> Iterator[_Pair]:
    """Yield speakers who said the same at the same time in two conversations, which are two exports of one chat.

    `said` are the turns to compare, each with the name of its conversation.
    """
    of_voice = {voice: one for one in roster.persons for voice in one.voices}
    told = ((name, of_voice.get(voice_of(turn)), turn) for name, turn in said)
    for found in under_two_names((name, one, turn) for name, one, turn in told if one is not None):
        reason = f"the same {len(found.texts)} turns" if len(found.texts) > 1 else "the same turn"
        sides = zip((found.one, found.other), found.transcripts, strict=True)
        (one, room), (other, there) = sorted(sides, key=lambda side: _numbers_first(side[0]))
        yield one, other, reason, (room, there)


def _numbers_first(one: Somebody) -> tuple[bool, str]:
    return not any(map(digits_of, one.names)), one.shown


def _numbers(roster: Roster) -> Iterator[_Pair]:
    """Yield speakers with one telephone number, which is written in two ways or is part of a name."""
    numbers = [(number, one) for one in roster.persons for number in _numbers_of(one)]
    for (number, one), (same, other) in combinations(numbers, 2):
        if number[-_END_OF_NUMBER:] == same[-_END_OF_NUMBER:]:
            first, last = sorted((one, other), key=_numbers_first)
            yield first, last, "one number", ()
    for number, one in numbers:
        for other in roster.persons:
            if any(_holds(each, number) for each in other.names if not digits_of(each)):
                yield one, other, "the number in the name", ()


def _numbers_of(one: Somebody) -> list[str]:
    """Return the digits of the person's telephone numbers, which are names or given beside one."""
    return list(dict.fromkeys(number for each in (*one.names, *one.numbers) if (number := digits_of(each))))


def _holds(text: str, number: str) -> bool:
    """Say whether the text contains the end of the number."""
    digits = "".join(letter for letter in text if letter.isdecimal())
    return len(number) >= _END_OF_NUMBER and number[-_END_OF_NUMBER:] in digits


def _rooms_of_numbers(roster: Roster, stored: Sequence[ConversationSummary]) -> Iterator[_Pair]:
    """Yield a number and a speaker if the conversation is named after the number and only the user speaks besides."""
    numbers = [(number, one) for one in roster.persons for number in _numbers_of(one)]
    of_voice = {voice: one for one in roster.persons for voice in one.voices}
    for each in stored if numbers else ():
        people = {of_voice[speaker.voice] for speaker in each.speakers}
        others = [one for one in people if not any(name.casefold() in _OWNERS for name in one.names)]
        if len(others) == 1 and len(people) <= 2:
            for number, one in numbers:
                if _holds(each.name, number):
                    yield one, others[0], f"the number is what {each.name!r} is called after", ()


def _spellings(roster: Roster) -> Iterator[_Pair]:
    """Yield speakers whose names differ only in case, accents and punctuation."""
    alike: dict[str, list[Somebody]] = {}
    for one in roster.persons:
        for each in {spelled(name) for name in one.names} - {""}:
            alike.setdefault(each, []).append(one)
    for same in alike.values():
        for one, other in combinations(same, 2):
            if not (one.said and other.said and one.name == other.name):  # else the user told them apart
                yield one, other, "names spelled alike", ()
