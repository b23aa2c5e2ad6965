"""What the user said of people: who speaks under which names, and what each is called. The turns stay as they are.

It lies in a small file of the store's folder, and nothing else knows of it: taking it back makes all as it was.
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
"""So many words about a person can be taken back one after another; what was said before these goes with the last."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody of whom the user said something: what they are called, and under what they speak.

    A voice with an id, which is kept without its name, stands for all that was said under this id; one without for the
    name. `before` is what was said of them until then: whom they were merged of, or what they were called.
    """

    name: str
    voices: tuple[Voice, ...]
    before: tuple[Person, ...] = ()

    def document(self) -> dict[str, object]:
        """Return the person in JSON."""
        told: dict[str, object] = {"name": self.name, "voices": [[voice.name, voice.id] for voice in self.voices]}
        return told | ({"before": [each.document() for each in self.before]} if self.before else {})

    def is_like(self, other: Person) -> bool:
        """Say whether the same is said of both, whatever was said before."""
        return self.name == other.name and set(self.voices) == set(other.voices)

    def without(self, gone: set[Voice]) -> Person | None:
        """Return the person without these voices, also before; None where none is left, or only the own name."""
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
        """Return the person with what was said before, but not more than so many words of it after one another."""
        if not self.before:
            return self
        return replace(self, before=tuple(each.shallow(depth - 1) for each in self.before) if depth else ())


@dataclass(frozen=True)
class People:
    """All of whom the user said something, in the order in which it was said."""

    persons: tuple[Person, ...] = ()

    @classmethod
    def of_folder(cls, folder: Path) -> People:
        """Return those kept in the folder, none where there is no such file.

        Raises:
            StoreNewer: a newer goalmem wrote the file.
            StoreDamaged: the file is not of this form.
            StoreError: it cannot be read.
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
        """Return those that JSON tells of.

        Raises:
            ValueError, KeyError, TypeError: it does not have the form.
        """
        return cls(tuple(_person(each, _MOST_BEFORE) for each in documents))

    def documents(self) -> list[dict[str, object]]:
        """Return them in JSON."""
        return [person.document() for person in self.persons]

    @cached_property
    def digest(self) -> str:
        """What tells them from others."""
        return content_hash(json.dumps(self.documents())) if self.persons else ""

    def keep(self, folder: Path, written: Written = unwatched) -> None:
        """Write them into the folder, whole or not at all; where there are none, there is no file.

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
        """Return those who speak under one of the voices."""
        asked = set(map(kept_as, voices))
        return [person for person in self.persons if not asked.isdisjoint(person.voices)]

    def with_person(self, name: str, voices: Iterable[Voice]) -> People:
        """Return them with one who is called so and speaks under all these voices, in place of any who do so now.

        Where that is what was said of them before, it is taken back instead.
        """
        given = list(voices)
        told = tuple(dict.fromkeys(map(kept_as, given)))
        before = tuple(self.of(told))
        rest = tuple(person for person in self.persons if person not in before)
        if len(told) == 1 and given[0].name == name:  # as the transcript calls them: there is nothing to say
            return People(rest)
        one = Person(name, told, before)
        known = (*before, *before[0].before) if len(before) == 1 else ()
        return People((*rest, next((each for each in known if each.is_like(one)), one.shallow())))

    def parted(self, *persons: Person) -> People:
        """Return them with these, who are several people though they have one name."""
        return People((*self.persons, *persons))

    def taken_back(self, voices: Iterable[Voice]) -> People:
        """Return them without what was said last of those who speak under these voices."""
        last = self.of(voices)
        return People(tuple(one for person in self.persons for one in (person.before if person in last else (person,))))

    def without(self, voices: Iterable[Voice]) -> People:
        """Return them without these voices; who has none left, or only the own name, goes."""
        gone = set(voices)
        left = [person.without(gone) for person in self.persons]
        return People(tuple(person for person in left if person is not None))

    def spoken(self, voices: Iterable[Voice]) -> People:
        """Return them without the voices under which nobody speaks any more: those are all that there are."""
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
        """Return them with others, of whom those are left out of whom something is said here already."""
        persons, known = list(self.persons), {voice for person in self.persons for voice in person.voices}
        for each in others.persons:
            if known.isdisjoint(each.voices):
                persons.append(each)
                known.update(each.voices)
        return People(tuple(persons))


def kept_as(voice: Voice) -> Voice:
    """Return what is kept of a voice: its id, whatever the name; where it has none, the name."""
    return Voice("", voice.id) if voice.id else voice


def _person(document: Any, depth: int) -> Person:
    name, voices = document["name"], tuple(Voice(name, id_) for name, id_ in document["voices"])
    if not isinstance(name, str) or not voices or not all(isinstance(part, str) for each in voices for part in each):
        raise TypeError(name)
    called, kept = given_name(encodable(name))[:LONGEST_NAME].strip(), tuple(dict.fromkeys(map(kept_as, voices)))
    if not called:
        raise ValueError(name)
    before = [_person(each, depth - 1) for each in document.get("before", ())] if depth else []
    if any(not set(each.voices).issubset(kept) for each in before):  # nothing stands there that is not here
        raise ValueError(name)
    return Person(called, kept, tuple(before))


def prune(folder: Path, voices: Callable[[], Iterable[Voice]], written: Written = unwatched) -> None:
    """Take out of the file under what nobody speaks any more; `voices` gives all that there are.

    Raises:
        StoreError: the file cannot be read or written.
    """
    remove_leftovers(folder, PEOPLE)
    people = People.of_folder(folder)
    if people.persons:
        left = people.spoken(voices())
        if left != people:
            left.keep(folder, written)
