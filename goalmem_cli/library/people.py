"""List and change the people of a memory: one person with several names, or several people with one name.

What takes a memory raises StoreError if there is none, or if it or the note cannot be read or written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from goalmem_cli.errors import StoreError, UsageError
from goalmem_cli.library.scope import several
from goalmem_cli.logic.moments import Moment
from goalmem_cli.memory_records import ConversationSummary, Voice, voice_of
from goalmem_cli.records import SPEAKER_ID, encodable, given_name, plain_name
from goalmem_cli.store.people import LONGEST_NAME, People, Person, kept_as, prune
from goalmem_cli.store.roster import FOLDS, Roster, Somebody, same_name, told_apart

if TYPE_CHECKING:
    from goalmem_cli.library.scope import Heard
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.ports import Backbone
    from goalmem_cli.records import Hit, Query, Turn
    from goalmem_cli.trace import Trace

WHO = "people"
"""How errors call the parameter that names a person."""
_DEEPER = 4


@dataclass(frozen=True, slots=True)
class Listed:
    """A summary of a person: the shown name, all names and ids, and where, how often and when they speak.

    `is_told` says that the user noted something on this person. `numbers` are telephone numbers that transcripts give
    beside the name.
    """

    name: str
    names: tuple[str, ...]
    ids: tuple[str, ...]
    conversations: tuple[str, ...]
    turns: int
    first_said: datetime | None = None
    last_said: datetime | None = None
    is_told: bool = False
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of a note on a person: the person's shown name now.

    `parts` are the shown names of those who were merged or separated. `undo` are the commands of `goalmem people`, each
    as words, that restore the former state if run in this order.
    """

    name: str
    parts: tuple[str, ...]
    undo: tuple[tuple[str, ...], ...] = ()


def roster_of(memory: KeptMemory, stored: Sequence[ConversationSummary] | None = None) -> Roster:
    """Return the roster of the memory's speakers; `stored` are its conversations, None loads them."""
    stored = memory.conversations() if stored is None else stored
    return Roster.of_stored(People.of_folder(memory.path), stored)


def shown_names(memory: KeptMemory, turns: Iterable[Turn]) -> Callable[[Turn], str]:
    """Return a function from a turn to the shown name of its speaker; the roster is loaded only if it is needed."""
    if not People.of_folder(memory.path).persons and not any(SPEAKER_ID in turn.attributes for turn in turns):
        return lambda turn: turn.speaker
    roster = roster_of(memory)
    return lambda turn: roster.shown(voice_of(turn))


def _voices(stored: Iterable[ConversationSummary]) -> list[Voice]:
    return [speaker.voice for each in stored for speaker in each.speakers]


def listed(memory: KeptMemory) -> list[Listed]:
    """Return all speakers of the memory, sorted by name."""
    stored = memory.conversations()
    found = [_listed(one, stored) for one in roster_of(memory, stored).persons if any(one.names)]
    return sorted(found, key=lambda one: one.name.casefold())


def _listed(one: Somebody, stored: Sequence[ConversationSummary]) -> Listed:
    """Return a person's summary, with the number of turns and the first and last time from the stored conversations."""
    voices = set(one.voices)
    spoken = [(each.name, speaker) for each in stored for speaker in each.speakers if speaker.voice in voices]
    times = [speaker.first_said for _, speaker in spoken], [speaker.last_said for _, speaker in spoken]
    first, last = (sorted((time for time in found if time is not None), key=clock_of) for found in times)
    return Listed(
        one.shown,
        tuple(dict.fromkeys(map(same_name, one.names))),
        tuple(dict.fromkeys(voice.id for voice in one.voices if voice.id)),
        tuple(dict.fromkeys(name for name, _ in spoken)),
        sum(speaker.turns for _, speaker in spoken),
        first[0] if first else None,
        last[-1] if last else None,
        is_told=one.said is not None,
        numbers=one.numbers,
    )


def clock_of(time: datetime) -> int:
    """Return a sort key for times with and without an offset."""
    return Moment.from_datetime(time).clock


# The user's notes


def merge(memory: KeptMemory, names: Sequence[str]) -> Settled:
    """Note that these names are one person, who gets the last one's name; no turn changes.

    Raises:
        UsageError: a name belongs to nobody or to several people, or all are one person already.
    """
    roster = roster_of(memory)
    persons = list(dict.fromkeys(_one(roster, each) for each in names))
    if len(persons) < 2:
        several = " and ".join(map(repr, names))
        raise UsageError(f"{WHO}: {several} are one person already", "`goalmem people` lists who speaks")
    called = persons[-1].name
    return Settled(called, tuple(one.shown for one in persons), _call(memory, persons, called))


def name(memory: KeptMemory, who: str, called: str) -> Settled:
    """Give a person a name, and return it with the one shown before and the commands that undo it.

    For a person with one voice, the transcript's own name takes the given one back.

    Raises:
        UsageError: `who` names nobody or several people, or the name is empty, too long or another person's alone.
    """
    roster = roster_of(memory)
    person, wanted = _one(roster, who), given_name(encodable(called))
    if not wanted:
        raise UsageError(f"{WHO}: the name is empty", "give a name")
    if len(wanted) > LONGEST_NAME:
        raise UsageError(f"{WHO}: the name has more than {LONGEST_NAME} characters", "give a shorter one")
    others = [one for one in roster.persons if one != person and _has_name(one, wanted)]
    if others and not _has_name(person, wanted):
        hint = "if they are one person, `goalmem people merge` says so; else take another name"
        raise UsageError(f"{WHO}: somebody else is called {wanted!r}", hint)
    return Settled(wanted, (person.shown,), _call(memory, [person], wanted))


def _call(memory: KeptMemory, persons: Sequence[Somebody], called: str) -> tuple[tuple[str, ...], ...]:
    """Note that these are one person with this name, and return the commands that undo it."""
    voices = {kept_as(voice) for one in persons for voice in one.voices}
    former = People.of_folder(memory.path).of(voices)
    _change(memory, lambda people: people.with_person(called, _all_voices(people, persons)))
    roster = roster_of(memory)
    now = next((one for one in roster.persons if not voices.isdisjoint(map(kept_as, one.voices))), None)
    if now is None or (now.said in former if former else now.said is None):  # forgotten meanwhile, or unchanged
        return ()
    if now.said is None or any(now.said in each.before for each in former):  # an earlier note was undone
        return (("name", roster.handle(now), former[0].name),)
    return (("split", roster.handle(now)),)


def _has_name(one: Somebody, name: str) -> bool:
    return same_name(name) in map(same_name, (one.name, one.shown, *one.names))


def split(memory: KeptMemory, who: str, parts: Sequence[str] = ()) -> Settled:
    """Undo the last note on a person, a merge or a name; with `parts`, separate only these names or ids.

    If the person has no note, `parts` are ids of somebody else with the same name.

    Raises:
        UsageError: `who` names nobody or several people, there is no note, or a part is not theirs.
    """
    person = _one(roster_of(memory), who)
    voices = tuple(dict.fromkeys(map(kept_as, person.voices)))
    if person.said is None and (not parts or len(voices) == 1):
        hint = "name an id after it that is somebody else's" if len(voices) > 1 else "`goalmem people` lists who speaks"
        raise UsageError(f"{WHO}: nothing was said of {person.shown!r}", hint)
    told = voices if person.said is None else person.said.voices
    leaving = {voice for part in parts for voice in _meant(part, person, told)} if parts else set(told)
    if person.said is None and len(leaving) == len(voices):
        raise UsageError(f"{WHO}: all of {person.shown!r} is that", "name an id that is somebody else's")

    def change(people: People) -> People:
        """Return the notes without the last merge or name, or without the parts that leave."""
        if person.said is None:
            return people.parted(*_sides(person, leaving))
        if not parts:
            return people.taken_back(told)
        stay = [voice for voice in person.voices if kept_as(voice) in told and kept_as(voice) not in leaving]
        left, called = people.without(leaving), _called_then(person, stay)
        return left.with_person(called, stay) if called else left

    _change(memory, change)
    after = roster_of(memory)
    found = [one for one in after.persons if any(kept_as(voice) in told for voice in one.voices)]
    parted = [one for one in found if any(kept_as(voice) in leaving for voice in one.voices)]
    return Settled(person.shown, tuple(one.shown for one in parted), _saying_again(after, found, person.name))


def _sides(person: Somebody, leaving: set[Voice]) -> list[Person]:
    """Return the two people who were taken for one because of their name."""
    sides: list[list[Voice]] = [
        [voice for voice in person.voices if (kept_as(voice) in leaving) is is_other] for is_other in (False, True)
    ]
    return [Person(same_name(side[0].name), tuple(dict.fromkeys(map(kept_as, side)))) for side in sides]


def _meant(part: str, person: Somebody, told: Sequence[Voice]) -> set[Voice]:
    """Return those of the voices `told` that `part` names, in any spelling.

    Raises:
        UsageError: there is none.
    """
    known = [
        (voice, (*_ways_to_name(voice), voice.name)) for voice in (*person.voices, *told) if kept_as(voice) in told
    ]
    for fold in FOLDS:
        wanted = fold(encodable(part))
        found = {kept_as(voice) for voice, ways in known if wanted and wanted in map(fold, ways)}
        if found:
            return found
    names = ", ".join(repr(voice.id or voice.name) for voice in told)
    raise UsageError(f"{WHO}: {part!r} was not said to be {person.shown!r}", f"that was said of {names}")


def _ways_to_name(voice: Voice) -> tuple[str, ...]:
    id_ = voice.id
    return (voice.name, *((id_, id_.rpartition("@")[0], told_apart(voice.name, [voice])) if id_ else ()))


def _called_then(person: Somebody, stay: Sequence[Voice]) -> str:
    """Return the person's new name if only these voices stay and the old name leaves; "" if no new one is needed."""
    said, names = person.said, {same_name(voice.name) for voice in stay}
    if said is None or not stay or same_name(said.name) in names:
        return ""
    if same_name(said.name) not in map(same_name, person.names):  # the user gave the name
        return ""
    kept = set(map(kept_as, stay))
    before = [each.name for each in said.before if not kept.isdisjoint(each.voices)]
    return before[0] if len(before) == 1 else stay[0].name


def _saying_again(roster: Roster, found: Sequence[Somebody], name: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands that make all these one person with this name again."""
    ordered = sorted(found, key=lambda one: one.name == name)
    if not ordered:
        return ()
    handles = [roster.handle(one) for one in ordered]
    merged = (("merge", *handles),) if len(handles) > 1 else ()
    return merged if ordered[-1].name == name else (*merged, ("name", handles[-1], name))


def adopt(memory: KeptMemory, documents: Iterable[object]) -> int:
    """Import notes on people from an exported store, and return how many were added.

    People who have notes here keep theirs. Malformed documents are ignored.
    """
    others: list[Person] = []
    for document in documents:
        with suppress(ValueError, KeyError, TypeError):
            others += People.from_documents([document]).persons
    before, told = People.of_folder(memory.path), People(tuple(others))
    if before.plus(told) == before:
        return 0
    _change(memory, lambda people: people.plus(told))
    return max(0, len(People.of_folder(memory.path).persons) - len(before.persons))


def _change(memory: KeptMemory, change: Callable[[People], People]) -> None:
    """Change the notes on people under the lock; then remove people whose turns were forgotten meanwhile."""
    with memory.keeping() as written:
        change(People.of_folder(memory.path)).keep(memory.path, written)
    people, spoken = People.of_folder(memory.path), _voices(memory.conversations())
    if people.spoken(spoken) != people:
        with memory.keeping() as written:
            prune(memory.path, lambda: spoken, written)


def _one(roster: Roster, text: str) -> Somebody:
    """Return the only person whom the text names.

    Raises:
        UsageError: it names nobody or several people.
    """
    found = roster.called(plain_name(encodable(text)))
    if not found:
        hint = "`goalmem people` lists who speaks; `goalmem people name` gives somebody a name"
        raise UsageError(f"{WHO}: nobody is called {text!r}", hint)
    if len(found) > 1:
        raise several(text, found, WHO)
    return found[0]


def _all_voices(people: People, persons: Sequence[Somebody]) -> list[Voice]:
    """Return all voices of these people, those with ids and those with names only, with the voices in their notes."""
    told = [voice for each in people.of(voice for one in persons for voice in one.voices) for voice in each.voices]
    by_id = {voice.id: voice for one in persons for voice in one.voices if voice.id}
    named = [voice for one in persons for voice in one.voices if not voice.id]
    return list(dict.fromkeys((*told, *by_id.values(), *named)))


# Searching


def retrieved(backbone: Backbone, query: Query, depth: int, heard: Heard | None) -> list[Hit]:
    """Return the backbone's hits within the query's times, from the speakers in `heard` (None: all).

    If other people share these speakers' names, it asks for more hits until enough are from the right people.
    """
    from goalmem_cli.backbones.scope import hits_within

    wanted = depth
    while True:
        found = backbone.retrieve(query, wanted)
        hits = hits_within(found, query)
        if heard is None or not heard.is_shared:
            return hits
        theirs = [hit for hit in hits if hit.unit.speaker in heard.shown]
        if len(theirs) >= depth or len(found) < wanted:
            return theirs[:depth]
        wanted *= _DEEPER


# Answering


def of_namesakes(trace: Trace, memory: KeptMemory) -> Trace:
    """Return the trace with a note on whom its answer is about, if several people have a name in the question.

    If the memory cannot be read any more, the trace is returned as it is.
    """
    told = [trace.facts[number].speaker for number in trace.facts]
    try:
        if not any(name.endswith(")") for name in told) and not People.of_folder(memory.path).persons:
            return trace  # labels of namesakes end with ")", unless the user named one
        shared = roster_of(memory).namesakes()
    except StoreError:
        return trace
    asked = [(name, labels) for name, labels in shared.items() if _is_asked(trace.question, name, labels)]
    if not asked:
        return trace
    notes = tuple(f"{len(labels)} people are called {name}: {', '.join(labels)}" for name, labels in asked)
    who = {trace.facts[number].speaker for number in trace.evidence if number in trace.facts}
    meant = [label for _, labels in asked for label in labels if label in who]
    answer = trace.answer
    if answer is not None and len(meant) == 1 and meant[0] not in answer:
        answer = f"{meant[0]}: {answer}"
    return replace(trace, answer=answer, notes=(*trace.notes, *notes))


def _is_asked(question: str, name: str, labels: Iterable[str]) -> bool:
    """Say whether the question has the name, but no label that tells which person is meant."""
    is_in = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE)
    return is_in is not None and not any(label != name and label in question for label in labels)
