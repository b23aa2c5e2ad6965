"""Who speaks in a memory: under which names and ids, what each is called, and whom a text names."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from goalmem_cli.memory_records import Voice
from goalmem_cli.store.people import People, Person

_NOT_A_LETTER = re.compile(r"[^\w]+")
_LONG_ID = 20
_OF_LONG_ID = 8


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

    @property
    def without_id(self) -> str:
        """What names this one alone among others of the name, who have ids; blank where this one has one too."""
        return "" if any(voice.id for voice in self.voices) else f"{self.name} (no id)"


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
                name = said.name if said else same_name(voice.name)
                labels[voice] = told_apart(name, theirs) if bearers[name] > 1 else name
            called = said.name if said else same_name(theirs[0].name)
            persons.append(Somebody(called, labels[theirs[0]], theirs, said))
        of_name: dict[str, set[str]] = {}
        for voice, label in labels.items():
            of_name.setdefault(same_name(voice.name), set()).add(label)
        return cls(tuple(persons), labels, {name: frozenset(shown) for name, shown in of_name.items()})

    def shown(self, voice: Voice) -> str:
        """Return what whoever speaks so is shown as: by the user's word, or told apart from another of the name.

        What was derived from turns has a name and no id: it is shown as one whose name is nobody else's.
        """
        if voice in self.labels:
            return self.labels[voice]
        labels = self.labels_of(voice.name)
        return next(iter(labels)) if len(labels) == 1 else voice.name

    def labels_of(self, name: str) -> frozenset[str]:
        """Return what those are shown as who speak under a name."""
        return self.of_name.get(same_name(name), frozenset())

    @cached_property
    def is_plain(self) -> bool:
        """Whether everybody is shown under the name that the transcripts have."""
        return all(voice.name == label for voice, label in self.labels.items())

    def called(self, text: str) -> list[Somebody]:
        """Return those whom a text names: by an id, by what they are shown as, else by any name or number of theirs.

        Of three Alexes the one without an id is shown as "Alex", which names all three; "Alex (no id)" is that one.
        """
        shown = {each.shown for each in self.persons}
        ways: Sequence[Callable[[Somebody], Iterable[str]]] = (
            lambda each: (*(voice.id for voice in each.voices), each.without_id),
            lambda each: {each.shown, each.name} & shown,
            lambda each: each.names,
            lambda each: (voice.id.rpartition("@")[0] for voice in each.voices),
        )
        for fold in FOLDS[:-1]:  # whoever is only spelled alike may be another
            wanted = fold(text)
            for way in ways if wanted else ():
                if found := [each for each in self.persons if wanted in map(fold, way(each))]:
                    return found
        return []

    def handle(self, one: Somebody) -> str:
        """Return what names this one alone: what they are shown as, else an id or another name."""
        ways = (one.shown, *(voice.id for voice in one.voices), *one.names, one.without_id)
        return next((way for way in ways if way and self.called(way) == [one]), one.shown)

    def share_names(self, persons: Iterable[Somebody]) -> bool:
        """Say whether somebody else speaks under a name of theirs."""
        chosen = list(persons)
        names = {name for each in chosen for name in each.names}
        return any(each not in chosen and not names.isdisjoint(each.names) for each in self.persons)

    def namesakes(self) -> dict[str, list[str]]:
        """Return each name that several people have -> what these are shown as."""
        return {name: sorted(labels) for name, labels in self.of_name.items() if len(labels) > 1}


def _names(voices: Iterable[Voice]) -> set[str]:
    return {same_name(voice.name) for voice in voices}


def _grouped(people: People, voices: Sequence[Voice]) -> list[tuple[Person | None, tuple[Voice, ...]]]:
    """Return the voices by whose they are, each group with what the user said of its person."""
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

    def by_name(self, told: Iterable[Voice]) -> None:
        """Join what has one name, but not where the ids of one format, or the user, say that it is several people's."""
        of_name: dict[str, list[Voice]] = {}
        for voice in self._heads:
            if voice.name:
                of_name.setdefault(same_name(voice.name), []).append(voice)
        heads = {self.of(voice) for voice in told}  # of those of whom the user said something
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
    """Return the name with what tells its bearer from others: an id, else another name."""
    id_ = next((voice.id.rpartition("@")[0] for voice in voices if voice.id), "")
    other = next((other for voice in voices if (other := same_name(voice.name)) != same_name(name)), "")
    mark = id_[:_OF_LONG_ID] if len(id_) > _LONG_ID else id_ or other
    return f"{name} ({mark})" if mark else name


def same_name(name: str) -> str:
    """Return a name in the one form of Unicode that tells names apart: some programs write an accent on its own."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def spelled(text: str) -> str:
    """Return the letters and digits of a name, without case and marks: names with the same are spelled alike."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return _NOT_A_LETTER.sub("", "".join(letter for letter in letters if not unicodedata.combining(letter)))


def _folded(text: str) -> str:
    return same_name(" ".join(text.casefold().split()))


def digits_of(text: str) -> str:
    """Return the digits of a telephone number, as it is dialled from abroad; nothing of any other text."""
    digits = "".join(letter for letter in text if letter.isascii() and letter.isdigit())
    is_number = len(digits) >= 7 and not any(letter.isalpha() for letter in text) and "@" not in text
    return digits.removeprefix("00") if is_number else ""


FOLDS: tuple[Callable[[str], str], ...] = (same_name, _folded, digits_of, spelled)
"""What makes two writings of a name or number the same, the narrowest first."""
