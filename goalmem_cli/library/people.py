"""Who speaks in a memory: one person under many names, two of one name, and what the user says of that."""

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
"""What errors call the place where somebody was named."""
_DEEPER = 4


@dataclass(frozen=True, slots=True)
class Listed:
    """A person at a glance: what they are shown as, every name and id, and where, how often and when they speak.

    `is_told` says that the user said who it is.
    """

    name: str
    names: tuple[str, ...]
    ids: tuple[str, ...]
    conversations: tuple[str, ...]
    turns: int
    first_said: datetime | None = None
    last_said: datetime | None = None
    is_told: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """What is known of a person after the user said something: what they are shown as, and each with what was before.

    `parts` are what those are shown as who are one person now, or are not any more. `undo` are the commands of
    `goalmem people`, each in words, that one after another make it as it was.
    """

    name: str
    parts: tuple[str, ...]
    undo: tuple[tuple[str, ...], ...] = ()


def roster_of(memory: KeptMemory, stored: Sequence[ConversationSummary] | None = None) -> Roster:
    """Return who speaks in the memory, which holds these conversations, if they are known.

    Raises:
        StoreError: there is no memory, or it cannot be read.
    """
    stored = memory.conversations() if stored is None else stored
    return Roster.of(People.of_folder(memory.path), _voices(stored))


def shown_names(memory: KeptMemory, turns: Iterable[Turn]) -> Callable[[Turn], str]:
    """Return what gives the name under which a turn's speaker is shown; nobody is looked up where names are enough.

    Raises:
        StoreError: the memory cannot be read.
    """
    if not People.of_folder(memory.path).persons and not any(SPEAKER_ID in turn.attributes for turn in turns):
        return lambda turn: turn.speaker
    roster = roster_of(memory)
    return lambda turn: roster.shown(voice_of(turn))


def _voices(stored: Iterable[ConversationSummary]) -> list[Voice]:
    return [speaker.voice for each in stored for speaker in each.speakers]


def listed(memory: KeptMemory) -> list[Listed]:
    """Return everybody who speaks in the memory, by name.

    Raises:
        StoreError: there is no memory, or it cannot be read.
    """
    stored = memory.conversations()
    found = [_listed(one, stored) for one in roster_of(memory, stored).persons if any(one.names)]
    return sorted(found, key=lambda one: one.name.casefold())


def _listed(one: Somebody, stored: Sequence[ConversationSummary]) -> Listed:
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
    )


def clock_of(time: datetime) -> int:
    """Return what sorts times, those with an offset and those without."""
    return Moment.from_datetime(time).clock


# What the user says


def merge(memory: KeptMemory, names: Sequence[str]) -> Settled:
    """Note that those are one person, who is called as the last of them is; their turns stay as they are.

    Raises:
        UsageError: a name is nobody's, or several people's, or all are one person already.
        StoreError: there is no memory, or the note cannot be written.
    """
    roster = roster_of(memory)
    persons = list(dict.fromkeys(_one(roster, each) for each in names))
    if len(persons) < 2:
        raise UsageError(f"{WHO}: {_all_of(names)} are one person already", "`goalmem people` lists who speaks")
    called = persons[-1].name
    return Settled(called, tuple(one.shown for one in persons), _call(memory, persons, called))


def name(memory: KeptMemory, who: str, called: str) -> Settled:
    """Note what somebody is called; their own name takes it back.

    Raises:
        UsageError: nobody, or several, are named so; or the name is empty, too long, or another's.
        StoreError: as `merge`.
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
    """Note that these are one person, who is called so, and return what takes it back."""
    voices = {kept_as(voice) for one in persons for voice in one.voices}
    former = People.of_folder(memory.path).of(voices)
    _change(memory, lambda people: people.with_person(called, _all_voices(people, persons)))
    roster = roster_of(memory)
    now = next((one for one in roster.persons if not voices.isdisjoint(map(kept_as, one.voices))), None)
    if now is None or (now.said in former if former else now.said is None):  # forgotten meanwhile, or as it was
        return ()
    if now.said is None or any(now.said in each.before for each in former):  # what was said before was taken back
        return (("name", roster.handle(now), former[0].name),)
    return (("split", roster.handle(now)),)


def _has_name(one: Somebody, name: str) -> bool:
    return same_name(name) in map(same_name, (one.name, one.shown, *one.names))


def split(memory: KeptMemory, who: str, parts: Sequence[str] = ()) -> Settled:
    """Take back what was said last of somebody: that several are one, or what they are called; or that parts, names or
    ids, are theirs. Of whom nothing was said, parts are somebody else's who has the same name.

    Raises:
        UsageError: nobody, or several, are named so; nothing was said of them, or a part is not theirs.
        StoreError: as `merge`.
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
    """Return the two people who were taken for one, since they have one name."""
    sides: list[list[Voice]] = [
        [voice for voice in person.voices if (kept_as(voice) in leaving) is is_other] for is_other in (False, True)
    ]
    return [Person(same_name(side[0].name), tuple(dict.fromkeys(map(kept_as, side)))) for side in sides]


def _meant(part: str, person: Somebody, told: Sequence[Voice]) -> set[Voice]:
    """Return what was said to be a person's that a text names, however that is spelled.

    Raises:
        UsageError: there is nothing of the kind.
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
    """Return what a person is called once only these voices stay, where their name was that of one who left."""
    said, names = person.said, {same_name(voice.name) for voice in stay}
    if said is None or not stay or same_name(said.name) in names:
        return ""
    if same_name(said.name) not in map(same_name, person.names):  # it was given
        return ""
    kept = set(map(kept_as, stay))
    before = [each.name for each in said.before if not kept.isdisjoint(each.voices)]
    return before[0] if len(before) == 1 else stay[0].name


def _saying_again(roster: Roster, found: Sequence[Somebody], name: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands that say of all these that they are one person, who is called so."""
    ordered = sorted(found, key=lambda one: one.name == name)
    if not ordered:
        return ()
    handles = [roster.handle(one) for one in ordered]
    merged = (("merge", *handles),) if len(handles) > 1 else ()
    return merged if ordered[-1].name == name else (*merged, ("name", handles[-1], name))


def adopt(memory: KeptMemory, documents: Iterable[object]) -> int:
    """Take over what an exported store tells of people of whom nothing is said here; return of how many that is.

    What is not of its form is passed over.

    Raises:
        StoreError: as `merge`.
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
    """Change what was said of people, while nobody else does; who was forgotten meanwhile is left out again."""
    with memory.keeping() as written:
        change(People.of_folder(memory.path)).keep(memory.path, written)
    people, spoken = People.of_folder(memory.path), _voices(memory.conversations())
    if people.spoken(spoken) != people:
        with memory.keeping() as written:
            prune(memory.path, lambda: spoken, written)


def _one(roster: Roster, text: str) -> Somebody:
    """Return the only one whom the text names.

    Raises:
        UsageError: it names nobody, or several.
    """
    found = roster.called(plain_name(encodable(text)))
    if not found:
        hint = "`goalmem people` lists who speaks; `goalmem people name` gives somebody a name"
        raise UsageError(f"{WHO}: nobody is called {text!r}", hint)
    if len(found) > 1:
        raise several(text, found, WHO)
    return found[0]


def _all_voices(people: People, persons: Sequence[Somebody]) -> list[Voice]:
    """Return what stands for these people: ids where there are any, and names; also what was said of them before."""
    told = [voice for each in people.of(voice for one in persons for voice in one.voices) for voice in each.voices]
    by_id = {voice.id: voice for one in persons for voice in one.voices if voice.id}
    named = [voice for one in persons for voice in one.voices if not voice.id]
    return list(dict.fromkeys((*told, *by_id.values(), *named)))


def _all_of(names: Sequence[str]) -> str:
    return " and ".join(repr(each) for each in names)


# Searching


def retrieved(backbone: Backbone, query: Query, depth: int, heard: Heard | None) -> list[Hit]:
    """Return what the backbone finds within the query's times, of whom is meant; their names may be others' too.

    Then it is asked for more until enough of theirs is among it.

    Raises:
        StoreError: the memory cannot be read.
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
    """Return the trace that says whom its answer is about, where several people have a name that the question has.

    An answer is worth more than what is noted beside it: where memory cannot be read any more, there is no note.
    """
    told = [trace.facts[number].speaker for number in trace.facts]
    try:
        if not any(name.endswith(")") for name in told) and not People.of_folder(memory.path).persons:
            return trace  # the names of such people end so, unless the user named one
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
    """Say whether a question names somebody so, and does not say which of them."""
    is_in = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE)
    return is_in is not None and not any(label != name and label in question for label in labels)
