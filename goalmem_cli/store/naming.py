"""Show hits under the names of people, and add people's other names to queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from goalmem_cli.memory_records import Voice, voice_of
from goalmem_cli.records import FORWARDED_FROM, QUOTED_FROM, SPEAKER_ID, Hit, Query, Unit
from goalmem_cli.store.files import reporting
from goalmem_cli.store.people import People
from goalmem_cli.store.privacy import PEOPLE
from goalmem_cli.store.roster import Roster, Somebody, same_name

Voices: TypeAlias = Callable[[], Iterable[Voice]]
_WORD = re.compile(r"\w+")
_SHORTEST_NAME = 3
_NOBODYS = frozenset("i me my you user assistant unknown".split())
"""Words that some transcripts use as names, but that are seldom names in a question."""


@dataclass(frozen=True)
class _Known:
    """The roster of a memory, and the names of people with notes, by their folded and their written first words."""

    roster: Roster
    told: Sequence[Sequence[str]]
    by_word: Mapping[str, Sequence[tuple[str, int]]]
    by_first: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, roster: Roster) -> _Known:
        """Return the lookup tables for a roster."""
        told = [_names_of(person) for person in roster.persons if person.said is not None]
        by_word: dict[str, list[tuple[str, int]]] = {}
        by_first: dict[str, list[int]] = {}
        for number, names in enumerate(told):
            for name in names:
                if name.casefold() in _NOBODYS or not (folded := _WORD.findall(same_name(name).casefold())):
                    continue
                by_word.setdefault(folded[0], []).append((" ".join(folded), number))
                first = _WORD.findall(same_name(name))[0]
                if len(first) >= _SHORTEST_NAME and first.isalpha():
                    by_first.setdefault(first, []).append(number)
        return cls(roster, told, by_word, by_first)

    def more(self, text: str) -> list[str]:
        """Return the other names of people whom the text names, by a full name or by a first word in the same case."""
        text = same_name(text)
        words = _WORD.findall(text.casefold())
        folded = f" {' '.join(words)} "
        found = {number for word in words for name, number in self.by_word.get(word, ()) if f" {name} " in folded}
        found.update(number for word in _WORD.findall(text) for number in self.by_first.get(word, ()))
        return list(
            dict.fromkeys(name for number in sorted(found) for name in self.told[number] if not _is_in(name, folded))
        )


class Naming:
    """Caches the user's notes on people until their file changes, and the roster of a memory."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / PEOPLE
        self._read: tuple[tuple[int, ...], People] = ((), People())
        self._of: tuple[tuple[object, str], _Known] | None = None

    @property
    def people(self) -> People:
        """The user's present notes on people.

        Raises:
            StoreError: the file cannot be read.
        """
        with reporting(self._path):
            try:
                status = self._path.stat()
                state: tuple[int, ...] = (status.st_mtime_ns, status.st_size, status.st_ino)
            except (FileNotFoundError, NotADirectoryError):
                state = ()
        if state != self._read[0]:
            self._read = state, People.of_folder(self._path.parent)
        return self._read[1]

    def shown(self, hits: Mapping[str, Hit], generation: object, voices: Voices) -> dict[str, Hit]:
        """Return the hits under the shown names of their speakers.

        `voices` is called only if the user has notes on people, or if ids may tell people with one name apart.
        """
        if not self.people.persons and not any(map(_has_id, hits.values())):
            return dict(hits)
        roster = self._known(generation, voices).roster
        if roster.is_plain:
            return dict(hits)
        return {id_: _renamed(hit, roster) for id_, hit in hits.items()}

    def widened(self, query: Query, generation: object, voices: Voices) -> Query:
        """Return the query with the other names of the people whom it names, from the user's notes."""
        if not self.people.persons:
            return query
        more = self._known(generation, voices).more(query.text)
        return replace(query, text=f"{query.text} ({', '.join(more)})") if more else query

    def _known(self, generation: object, voices: Voices) -> _Known:
        state = generation, self.people.digest
        if self._of is None or self._of[0] != state:
            self._of = state, _Known.of(Roster.of(self.people, voices()))
        return self._of[1]


def _has_id(hit: Hit) -> bool:
    return any(SPEAKER_ID in unit.attributes for unit in (hit.unit, *hit.beside))


def _renamed(hit: Hit, roster: Roster) -> Hit:
    """Return the hit with the shown names of its speakers and its addressee."""
    unit, beside = _under_name(hit.unit, roster), tuple(_under_name(unit, roster) for unit in hit.beside)
    to = hit.to
    if to:  # `to` has names only: if several people share one, nobody knows who is meant
        is_known = len(roster.labels_of(to)) < 2 and len(roster.labels_of(hit.unit.speaker)) < 2
        to = roster.shown(Voice(to)) if is_known else ""
        to = "" if to == unit.speaker else to
    is_same = unit is hit.unit and to == hit.to and all(map(_is, beside, hit.beside))
    return hit if is_same else replace(hit, unit=unit, beside=beside, to=to)


def _is(one: object, other: object) -> bool:
    return one is other


def _under_name(unit: Unit, roster: Roster) -> Unit:
    """Return the unit with the shown names of its speaker and of quoted authors."""
    name = roster.shown(voice_of(unit)) if unit.speaker else ""
    authors = {
        key: known
        for key in (FORWARDED_FROM, QUOTED_FROM)
        if isinstance(author := unit.attributes.get(key), str) and (known := roster.shown(Voice(author))) != author
    }
    if authors:
        return replace(unit, speaker=name, attributes={**unit.attributes, **authors})
    return unit if name == unit.speaker else replace(unit, speaker=name)


def _names_of(person: Somebody) -> list[str]:
    return list(dict.fromkeys((person.name, *person.names)))


def _is_in(name: str, folded: str) -> bool:
    told = " ".join(_WORD.findall(same_name(name).casefold()))
    return bool(told) and f" {told} " in folded
