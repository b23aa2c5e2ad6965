"""The people of a memory: their names and ids, how they are shown, and whom a text names."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from goalmem_cli.memory_records import ConversationSummary, Voice
from goalmem_cli.store.people import People, Person

_NOT_A_LETTER = re.compile(r"[^\w]+")
_LONG_ID = 20
_OF_LONG_ID = 8


@dataclass(frozen=True)
class Somebody:
    """One person of a memory, with a name and the voices under which the person speaks.

    `shown` is the name, with an addition if several people have it. `said` is the user's note on the person, if any.
    `numbers` are telephone numbers that transcripts give beside the name.
    """

    name: str
    shown: str
    voices: tuple[Voice, ...]
    said: Person | None = None
    numbers: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All names of the person in transcripts, each once."""
        return list(dict.fromkeys(voice.name for voice in self.voices))

    @property
    def without_id(self) -> str:
        """A text that names this person among namesakes with ids, "Alex (no id)"; "" if this person has an id too."""
        return "" if any(voice.id for voice in self.voices) else f"{self.name} (no id)"


@dataclass(frozen=True)
class Roster:
    """All people of a memory. Speakers with one name are one person, unless ids of one format tell them apart.

    `labels` are voice -> shown name. `of_name` are name -> the shown names of all who have it.
    """

    persons: tuple[Somebody, ...] = ()
    labels: Mapping[Voice, str] = field(default_factory=dict)
    of_name: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of_stored(cls, people: People, stored: Iterable[ConversationSummary]) -> Roster:
        """Return the roster of the speakers of these conversations, with the user's notes applied."""
        speakers = [speaker for each in stored for speaker in each.speakers]
        numbers: dict[Voice, list[str]] = {}
        for speaker in speakers:
            numbers.setdefault(speaker.voice, []).extend(speaker.numbers)
        return cls.of(people, [speaker.voice for speaker in speakers], numbers)

    @classmethod
    def of(
        cls, people: People, voices: Iterable[Voice], numbers: Mapping[Voice, Iterable[str]] | None = None
    ) -> Roster:
        """Return the roster of these voices and their telephone numbers, with the user's notes applied."""
        persons: list[Somebody] = []
        labels: dict[Voice, str] = {}
        found = _grouped(people, list(dict.fromkeys(voices)))
        bearers = Counter(name for said, theirs in found for name in ({said.name} if said else _names(theirs)))
        for said, theirs in found:
            for voice in theirs:
                name = said.name if said else same_name(voice.name)
                labels[voice] = told_apart(name, theirs) if bearers[name] > 1 else name
            called = said.name if said else same_name(theirs[0].name)
            beside = dict.fromkeys(number for voice in theirs for number in (numbers or {}).get(voice, ()))
            persons.append(Somebody(called, labels[theirs[0]], theirs, said, tuple(beside)))
        of_name: dict[str, set[str]] = {}
        for voice, label in labels.items():
            of_name.setdefault(same_name(voice.name), set()).add(label)
        return cls(tuple(persons), labels, {name: frozenset(shown) for name, shown in of_name.items()})

    def shown(self, voice: Voice) -> str:
        """Return the shown name of a voice.

        Derived units have a name but no id; they get the shown name only if exactly one person has that name.
        """
        if voice in self.labels:
            return self.labels[voice]
        labels = self.labels_of(voice.name)
        return next(iter(labels)) if len(labels) == 1 else voice.name

    def labels_of(self, name: str) -> frozenset[str]:
        """Return the shown names of the people who have this name."""
        return self.of_name.get(same_name(name), frozenset())

    @cached_property
    def is_plain(self) -> bool:
        """Whether all shown names are those of the transcripts."""
        return all(voice.name == label for voice, label in self.labels.items())

    def called(self, text: str) -> list[Somebody]:
        """Return the people whom a text names: by id, by shown name, else by any of their names or numbers.

        If one of three Alexes has no id, it is shown as "Alex". That names all three; "Alex (no id)" names only this.
        """
        shown = {each.shown for each in self.persons}
        ways: Sequence[Callable[[Somebody], Iterable[str]]] = (
            lambda each: (*(voice.id for voice in each.voices), each.without_id),
            lambda each: {each.shown, each.name} & shown,
            lambda each: (*each.names, *each.numbers),
            lambda each: (voice.id.rpartition("@")[0] for voice in each.voices),
        )
        for fold in FOLDS[:-1]:  # similar spellings may be different people
            wanted = fold(text)
            for way in ways if wanted else ():
                if found := [each for each in self.persons if wanted in map(fold, way(each))]:
                    return found
        return []

    def handle(self, one: Somebody) -> str:
        """Return a text that names only this person: the shown name, else an id or another name."""
        ways = (one.shown, *(voice.id for voice in one.voices), *one.names, one.without_id)
        return next((way for way in ways if way and self.called(way) == [one]), one.shown)

    def share_names(self, persons: Iterable[Somebody]) -> bool:
        """Say whether other people have a name of these persons."""
        chosen = list(persons)
        names = {name for each in chosen for name in each.names}
        return any(each not in chosen and not names.isdisjoint(each.names) for each in self.persons)

    def namesakes(self) -> dict[str, list[str]]:
        """Return each name that several people have -> their shown names."""
        return {name: sorted(labels) for name, labels in self.of_name.items() if len(labels) > 1}


def _names(voices: Iterable[Voice]) -> set[str]:
    return {same_name(voice.name) for voice in voices}


def _grouped(people: People, voices: Sequence[Voice]) -> list[tuple[Person | None, tuple[Voice, ...]]]:
    """Return the voices grouped by person, each group with the user's note on the person, if any."""
    claimed = {voice for person in people.persons for voice in person.voices}
    own = {person: [voice] for person in people.persons if (voice := Voice(person.name)) not in claimed}
    groups = _Groups([*voices, *claimed, *(voice for theirs in own.values() for voice in theirs)])
    groups.by_id()
    for person in people.persons:
        groups.join([*person.voices, *own.get(person, ())])
    groups.by_name(person.voices[0] for person in people.persons)
    said = {groups.of(person.voices[0]): person for person in people.persons}
    members: dict[Voice, list[Voice]] = {}
    for voice in voices:
        members.setdefault(groups.of(voice), []).append(voice)
    return [(said.get(head), tuple(theirs)) for head, theirs in members.items()]


class _Groups:
    """A union-find of voices: the voices of one person have one head."""

    def __init__(self, voices: Iterable[Voice]) -> None:
        self._heads = {voice: voice for voice in voices}
        self._formats = {voice: {voice.id.rpartition("@")[2]} if voice.id else set() for voice in self._heads}

    def of(self, voice: Voice) -> Voice:
        while (head := self._heads[voice]) != voice:
            voice = head
        return voice

    def join(self, voices: Sequence[Voice]) -> None:
        """Put all these voices into one group."""
        for voice in voices[1:]:
            one, other = self.of(voices[0]), self.of(voice)
            if one != other:
                self._heads[other] = one
                self._formats[one] |= self._formats.pop(other)

    def by_id(self) -> None:
        """Join voices with the same id."""
        of_id: dict[str, list[Voice]] = {}
        for voice in self._heads:
            if voice.id:
                of_id.setdefault(voice.id, []).append(voice)
        for same in of_id.values():
            self.join(same)

    def by_name(self, told: Iterable[Voice]) -> None:
        """Join voices with the same name, unless ids of one format or the user's notes separate them."""
        of_name: dict[str, list[Voice]] = {}
        for voice in self._heads:
            if voice.name:
                of_name.setdefault(same_name(voice.name), []).append(voice)
        heads = {self.of(voice) for voice in told}  # people with notes
        for same in of_name.values():
            groups = {self.of(voice) for voice in same}
            formats = Counter(name for group in groups for name in self._formats[group])
            known = groups & heads
            if len(groups) > 1 and len(known) <= 1 and max(formats.values(), default=1) == 1:
                self.join(same)
                if known:
                    heads -= known
                    heads.add(self.of(same[0]))


def told_apart(name: str, voices: Sequence[Voice]) -> str:
    """Return the name with an id, else with another name, in brackets, to tell the person from namesakes."""
    id_ = next((voice.id.rpartition("@")[0] for voice in voices if voice.id), "")
    other = next((other for voice in voices if (other := same_name(voice.name)) != same_name(name)), "")
    mark = id_[:_OF_LONG_ID] if len(id_) > _LONG_ID else id_ or other
    return f"{name} ({mark})" if mark else name


def same_name(name: str) -> str:
    """Return a name in Unicode's form NFC, as some programs write accents as separate characters."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def spelled(text: str) -> str:
    """Return the letters and digits of a name in lower case without accents, to compare spellings."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return _NOT_A_LETTER.sub("", "".join(letter for letter in letters if not unicodedata.combining(letter)))


def _folded(text: str) -> str:
    return same_name(" ".join(text.casefold().split()))


def digits_of(text: str) -> str:
    """Return the digits of a telephone number without a leading 00; "" for any other text."""
    digits = "".join(letter for letter in text if letter.isascii() and letter.isdigit())
    is_number = len(digits) >= 7 and not any(letter.isalpha() for letter in text) and "@" not in text
    return digits.removeprefix("00") if is_number else ""


FOLDS: tuple[Callable[[str], str], ...] = (same_name, _folded, digits_of, spelled)
"""Functions that normalise a name or number for comparison, the strictest first."""
