"""What the user said of people: who speaks under which names, and what each is called. The turns stay as they are.

It lies in a small file of the store's folder, and nothing else knows of it: taking it back makes all as it was.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from goalmem_cli.errors import StoreDamaged
from goalmem_cli.memory_records import Voice
from goalmem_cli.records import content_hash
from goalmem_cli.store.files import Written, content_if_there, replace_file, reporting, unwatched
from goalmem_cli.store.privacy import PEOPLE, make_private, remove_leftovers

SCHEMA_VERSION = 1
_LONG_ID = 20
_OF_LONG_ID = 8


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody of whom the user said something: what they are called, and under what they speak.

    A voice with an id, which is kept without its name, stands for all that was said under this id; one without for the
    name.
    """

    name: str
    voices: tuple[Voice, ...]

    def document(self) -> dict[str, object]:
        """Return the person in JSON."""
        return {"name": self.name, "voices": [[voice.name, voice.id] for voice in self.voices]}


@dataclass(frozen=True, slots=True)
class People:
    """All of whom the user said something, in the order in which it was said."""

    persons: tuple[Person, ...] = ()

    @classmethod
    def of_folder(cls, folder: Path) -> People:
        """Return those kept in the folder, none where there is no such file.

        Raises:
            StoreDamaged: the file is not of this form.
            StoreError: it cannot be read.
        """
        content = content_if_there(folder / PEOPLE)
        if content is None:
            return cls()
        try:
            document = json.loads(content)
            if document["schema_version"] != SCHEMA_VERSION:
                raise ValueError(document["schema_version"])
            return cls.from_documents(document["people"])
        except (ValueError, KeyError, TypeError) as error:
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
        return cls(tuple(_person(each) for each in documents))

    def documents(self) -> list[dict[str, object]]:
        """Return them in JSON."""
        return [person.document() for person in self.persons]

    @property
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
        """Return them with one who is called so and speaks under all these voices, in place of any who do so now."""
        given = list(voices)
        told = list(dict.fromkeys(map(kept_as, given)))
        rest = tuple(person for person in self.persons if person not in self.of(told))
        if len(told) == 1 and given[0].name == name:  # as the transcript calls them: there is nothing to say
            return People(rest)
        return People((*rest, Person(name, tuple(told))))

    def without(self, voices: Iterable[Voice]) -> People:
        """Return them without these voices; who has none left, or only the own name, goes."""
        gone = set(voices)
        left = [(each, tuple(voice for voice in each.voices if voice not in gone)) for each in self.persons]
        return People(tuple(Person(each.name, stay) for each, stay in left if stay and stay != (Voice(each.name),)))

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
        known = {voice for person in self.persons for voice in person.voices}
        return People((*self.persons, *(each for each in others.persons if known.isdisjoint(each.voices))))


def kept_as(voice: Voice) -> Voice:
    """Return what is kept of a voice: its id, whatever the name; where it has none, the name."""
    return Voice("", voice.id) if voice.id else voice


def _person(document: Any) -> Person:
    name, voices = document["name"], tuple(Voice(name, id_) for name, id_ in document["voices"])
    if not isinstance(name, str) or not voices or not all(isinstance(part, str) for each in voices for part in each):
        raise TypeError(name)
    return Person(name, tuple(dict.fromkeys(map(kept_as, voices))))


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


@dataclass(frozen=True)
class Somebody:
    """One person of a memory: what they are called and shown as, and under what they speak there.

    `shown` is `name` with what tells two of one name apart; `said` is what the user said of them.
    """

    name: str
    shown: str
    voices: tuple[Voice, ...]
    said: Person | None = None

    @property
    def names(self) -> list[str]:
        """Every name of theirs, each once, as transcripts have them."""
        return list(dict.fromkeys(voice.name for voice in self.voices))


@dataclass(frozen=True)
class Roster:
    """Who speaks in a memory. Two with one name are two where the ids of one format tell them apart, else one.

    `labels` are what whoever speaks so is shown as, and `of_name` the same by the name alone.
    """

    persons: tuple[Somebody, ...] = ()
    labels: Mapping[Voice, str] = field(default_factory=dict)
    of_name: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, people: People, voices: Iterable[Voice]) -> Roster:
        """Return who speaks under the voices, after what the user said of people."""
        persons: list[Somebody] = []
        labels: dict[Voice, str] = {}
        found = _grouped(people, list(dict.fromkeys(voices)))
        bearers = Counter(name for said, theirs in found for name in ({said.name} if said else _names(theirs)))
        for said, theirs in found:
            for voice in theirs:
                name = said.name if said else voice.name
                labels[voice] = _told_apart(name, theirs) if bearers[name] > 1 else name
            persons.append(Somebody(said.name if said else theirs[0].name, labels[theirs[0]], theirs, said))
        of_name: dict[str, set[str]] = {}
        for voice, label in labels.items():
            of_name.setdefault(voice.name, set()).add(label)
        return cls(tuple(persons), labels, {name: frozenset(shown) for name, shown in of_name.items()})

    def shown(self, voice: Voice) -> str:
        """Return what whoever speaks so is shown as: by the user's word, or told apart from another of the name.

        What was derived from turns has a name and no id: it is shown as one whose name is nobody else's.
        """
        if voice in self.labels:
            return self.labels[voice]
        labels = self.of_name.get(voice.name, frozenset())
        return next(iter(labels)) if len(labels) == 1 else voice.name

    @cached_property
    def is_plain(self) -> bool:
        """Whether everybody is shown under the name that the transcripts have."""
        return all(voice.name == label for voice, label in self.labels.items())

    def called(self, text: str) -> list[Somebody]:
        """Return those whom a text names: by an id, by what they are shown as, else by any name or number of theirs.

        Of three Alexes the one without an id is shown as "Alex", and that names all three.
        """
        shown = {each.shown for each in self.persons}
        ways: Sequence[Callable[[Somebody], Iterable[str]]] = (
            lambda each: (voice.id for voice in each.voices),
            lambda each: {each.shown, each.name} & shown,
            lambda each: each.names,
            lambda each: (voice.id.rpartition("@")[0] for voice in each.voices),
        )
        for fold in (_as_it_is, str.casefold, digits_of):
            wanted = fold(text)
            for way in ways if wanted else ():
                if found := [each for each in self.persons if wanted in {fold(name) for name in way(each)}]:
                    return found
        return []

    def share_names(self, persons: Iterable[Somebody]) -> bool:
        """Say whether somebody else speaks under a name of theirs."""
        chosen = list(persons)
        names = {name for each in chosen for name in each.names}
        return any(each not in chosen and not names.isdisjoint(each.names) for each in self.persons)

    def namesakes(self) -> dict[str, list[str]]:
        """Return each name that several people have -> what these are shown as."""
        return {name: sorted(labels) for name, labels in self.of_name.items() if len(labels) > 1}


def _names(voices: Iterable[Voice]) -> set[str]:
    return {voice.name for voice in voices}


def _grouped(people: People, voices: Sequence[Voice]) -> list[tuple[Person | None, tuple[Voice, ...]]]:
    """Return the voices by whose they are, each group with what the user said of its person."""
    claimed = {voice for person in people.persons for voice in person.voices}
    own = {person: [voice] for person in people.persons if (voice := Voice(person.name)) not in claimed}
    groups = _Groups([*voices, *claimed, *(voice for theirs in own.values() for voice in theirs)])
    groups.by_id()
    for person in people.persons:
        groups.join([*person.voices, *own.get(person, ())])
    groups.by_name([person.voices[0] for person in people.persons])
    said = {groups.of(person.voices[0]): person for person in people.persons}
    members: dict[Voice, list[Voice]] = {}
    for voice in voices:
        members.setdefault(groups.of(voice), []).append(voice)
    return [(said.get(head), tuple(theirs)) for head, theirs in members.items()]


class _Groups:
    """Voices, of which those that are one person's get one head."""

    def __init__(self, voices: Iterable[Voice]) -> None:
        self._heads = {voice: voice for voice in voices}
        self._formats = {voice: {voice.id.rpartition("@")[2]} if voice.id else set() for voice in self._heads}

    def of(self, voice: Voice) -> Voice:
        while (head := self._heads[voice]) != voice:
            voice = head
        return voice

    def join(self, voices: Sequence[Voice]) -> None:
        for voice in voices[1:]:
            one, other = self.of(voices[0]), self.of(voice)
            if one != other:
                self._heads[other] = one
                self._formats[one] |= self._formats.pop(other)

    def by_id(self) -> None:
        """Join what has one id."""
        of_id: dict[str, list[Voice]] = {}
        for voice in self._heads:
            if voice.id:
                of_id.setdefault(voice.id, []).append(voice)
        for same in of_id.values():
            self.join(same)

    def by_name(self, told: Sequence[Voice]) -> None:
        """Join what has one name, but not where the ids of one format, or the user, say that it is several people's."""
        of_name: dict[str, list[Voice]] = {}
        for voice in self._heads:
            if voice.name:
                of_name.setdefault(voice.name, []).append(voice)
        for same in of_name.values():
            groups = {self.of(voice) for voice in same}
            formats = Counter(name for group in groups for name in self._formats[group])
            if len(groups & {self.of(voice) for voice in told}) <= 1 and max(formats.values(), default=1) == 1:
                self.join(same)


def _told_apart(name: str, voices: Sequence[Voice]) -> str:
    """Return the name with what tells its bearer from others: an id, else another name."""
    id_ = next((voice.id.rpartition("@")[0] for voice in voices if voice.id), "")
    other = next((voice.name for voice in voices if voice.name != name), "")
    mark = id_[:_OF_LONG_ID] if len(id_) > _LONG_ID else id_ or other
    return f"{name} ({mark})" if mark else name


def _as_it_is(text: str) -> str:
    return text


def digits_of(text: str) -> str:
    """Return the digits of a telephone number, as it is dialled from abroad; nothing of any other text."""
    digits = "".join(letter for letter in text if letter.isascii() and letter.isdigit())
    is_number = len(digits) >= 7 and not any(letter.isalpha() for letter in text) and "@" not in text
    return digits.removeprefix("00") if is_number else ""
