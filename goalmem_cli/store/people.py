"""The user's notes on people: which names belong to one person, and what each person is called.

The notes are one small file in the store's folder. Turns do not change, so that every note can be undone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from goalmem_cli.errors import StoreDamaged, StoreNewer
from goalmem_cli.memory_records import Voice
from goalmem_cli.records import content_hash, encodable, given_name
from goalmem_cli.store.files import Written, content_if_there, replace_file, reporting, unwatched
from goalmem_cli.store.privacy import PEOPLE, make_private, remove_leftovers

SCHEMA_VERSION = 1
LONGEST_NAME = 200
_MOST_BEFORE = 20
"""How many earlier notes on a person can be undone one after another; older ones are lost."""


@dataclass(frozen=True, slots=True)
class Person:
    """A note on a person: the name that the user gave, and the voices under which the person speaks.

    A voice with an id has no name here and stands for all turns with that id. A voice without an id stands for all
    turns with its name. `before` are the earlier notes that this one replaced: the merged people, or the former name.
    """

    name: str
    voices: tuple[Voice, ...]
    before: tuple[Person, ...] = ()

    def document(self) -> dict[str, object]:
        """Return the person as a JSON object."""
        told: dict[str, object] = {"name": self.name, "voices": [[voice.name, voice.id] for voice in self.voices]}
        return told | ({"before": [each.document() for each in self.before]} if self.before else {})

    def is_like(self, other: Person) -> bool:
        """Say whether both have the same name and voices, regardless of earlier notes."""
        return self.name == other.name and set(self.voices) == set(other.voices)

    def without(self, gone: set[Voice]) -> Person | None:
        """Return the person without these voices, also in earlier notes; None if nothing but the own name is left."""
        stay = tuple(voice for voice in self.voices if voice not in gone)
        if stay == self.voices:
            return self
        if not stay or stay == (Voice(self.name),):
            return None
        left = [each.without(gone) for each in self.before]
        before = tuple(each for each in left if each is not None)
        one = replace(self, voices=stay, before=before)
        return before[0] if len(before) == 1 and before[0].is_like(one) else one

    def shallow(self, depth: int = _MOST_BEFORE) -> Person:
        """Return the person with at most `depth` levels of earlier notes."""
        if not self.before:
            return self
        return replace(self, before=tuple(each.shallow(depth - 1) for each in self.before) if depth else ())


@dataclass(frozen=True)
class People:
    """All notes on people, oldest first."""

    persons: tuple[Person, ...] = ()

    @classmethod
    def of_folder(cls, folder: Path) -> People:
        """Return the notes in the folder, none if there is no such file.

        Raises:
            StoreNewer: a newer goalmem wrote the file.
            StoreDamaged: the file does not have this form.
            StoreError: the file cannot be read.
        """
        content = content_if_there(folder / PEOPLE)
        if content is None:
            return cls()
        try:
            document = json.loads(content)
            version = document["schema_version"]
            if isinstance(version, int) and version > SCHEMA_VERSION:
                raise StoreNewer(f"{folder / PEOPLE} was written by a newer goalmem", "update goalmem")
            if version != SCHEMA_VERSION:
                raise ValueError(version)
            return cls.from_documents(document["people"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreDamaged(
                f"{folder / PEOPLE} cannot be read: nobody knows who is one person",
                "move it away, and say it again with `goalmem people merge`",
            ) from error

    @classmethod
    def from_documents(cls, documents: Any) -> People:
        """Return the notes from JSON objects.

        Raises:
            ValueError, KeyError, TypeError: an object does not have this form.
        """
        return cls(tuple(_person(each, _MOST_BEFORE) for each in documents))

    def documents(self) -> list[dict[str, object]]:
        """Return the notes as JSON objects."""
        return [person.document() for person in self.persons]

    @cached_property
    def digest(self) -> str:
        """The hash of the notes, "" if there are none."""
        return content_hash(json.dumps(self.documents())) if self.persons else ""

    def keep(self, folder: Path, written: Written = unwatched) -> None:
        """Write the notes into the folder atomically; if there are none, delete the file.

        Raises:
            StoreError: the file cannot be written.
        """
        remove_leftovers(folder, PEOPLE)
        if self.persons:
            make_private(folder)
            document = {"schema_version": SCHEMA_VERSION, "people": self.documents()}
            content = json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "replace")
            replace_file(folder / PEOPLE, content, written)
        elif (folder / PEOPLE).exists():
            with reporting(folder / PEOPLE):
                (folder / PEOPLE).unlink(missing_ok=True)
            written(PEOPLE)

    def of(self, voices: Iterable[Voice]) -> list[Person]:
        """Return the people who speak under one of the voices."""
        asked = set(map(kept_as, voices))
        return [person for person in self.persons if not asked.isdisjoint(person.voices)]

    def with_person(self, name: str, voices: Iterable[Voice]) -> People:
        """Return the notes with one on a person with this name and these voices, which replaces notes on these voices.

        If it equals an earlier note, that one is restored instead.
        """
        given = list(voices)
        told = tuple(dict.fromkeys(map(kept_as, given)))
        before = tuple(self.of(told))
        rest = tuple(person for person in self.persons if person not in before)
        if len(told) == 1 and given[0].name == name:  # the transcript's own name needs no note
            return People(rest)
        one = Person(name, told, before)
        known = (*before, *before[0].before) if len(before) == 1 else ()
        return People((*rest, next((each for each in known if each.is_like(one)), one.shallow())))

    def parted(self, *persons: Person) -> People:
        """Return the notes with these people, who are several although they have one name."""
        return People((*self.persons, *persons))

    def other_names(self, voice: Voice, *, is_given: bool = True) -> set[str]:
        """Return the other names of the person who speaks with this voice; with `is_given` also what the user said."""
        theirs = self.of([voice]) or [one for one in self.persons if one.name == voice.name and not voice.id]
        given = {one.name for one in theirs} if is_given else set[str]()
        return (given | {each.name for one in theirs for each in one.voices}) - {"", voice.name}

    def taken_back(self, voices: Iterable[Voice]) -> People:
        """Return the notes without the last note on the people with these voices."""
        last = self.of(voices)
        return People(tuple(one for person in self.persons for one in (person.before if person in last else (person,))))

    def without(self, voices: Iterable[Voice]) -> People:
        """Return the notes without these voices; people left with nothing but their own name are removed."""
        gone = set(voices)
        left = [person.without(gone) for person in self.persons]
        return People(tuple(person for person in left if person is not None))

    def spoken(self, voices: Iterable[Voice]) -> People:
        """Return the notes without voices that no longer speak; `voices` are all that do."""
        names, ids = set[str](), set[str]()
        for voice in voices:
            names.add(voice.name)
            ids.add(voice.id)
        silent = [
            voice
            for person in self.persons
            for voice in person.voices
            if (voice.id not in ids if voice.id else voice.name not in names)
        ]
        return self.without(silent) if silent else self

    def plus(self, others: People) -> People:
        """Return the notes with those of `others`, except on people who have notes here."""
        persons, known = list(self.persons), {voice for person in self.persons for voice in person.voices}
        for each in others.persons:
            if known.isdisjoint(each.voices):
                persons.append(each)
                known.update(each.voices)
        return People(tuple(persons))


def kept_as(voice: Voice) -> Voice:
    """Return a voice as notes have it: the id without the name, or the name if there is no id."""
    return Voice("", voice.id) if voice.id else voice


def _person(document: Any, depth: int) -> Person:
    """Return the note on a person with at most `depth` earlier notes; raises ValueError or TypeError."""
    name, voices = document["name"], tuple(Voice(name, id_) for name, id_ in document["voices"])
    if not isinstance(name, str) or not voices or not all(isinstance(part, str) for each in voices for part in each):
        raise TypeError(name)
    called, kept = given_name(encodable(name))[:LONGEST_NAME].strip(), tuple(dict.fromkeys(map(kept_as, voices)))
    if not called:
        raise ValueError(name)
    before = [_person(each, depth - 1) for each in document.get("before", ())] if depth else []
    if any(not set(each.voices).issubset(kept) for each in before):  # earlier notes have no other voices
        raise ValueError(name)
    return Person(called, kept, tuple(before))


def prune(folder: Path, voices: Callable[[], Iterable[Voice]], written: Written = unwatched) -> None:
    """Remove voices that no longer speak from the file; `voices` returns all that do.

    Raises:
        StoreError: the file cannot be read or written.
    """
    remove_leftovers(folder, PEOPLE)
    people = People.of_folder(folder)
    if people.persons:
        left = people.spoken(voices())
        if left != people:
            left.keep(folder, written)
