"""Recognise forgotten turns when a transcript brings them back, by keyed hashes (marks) that do not reveal the text.

`recognising.py` says what identifies a turn. The key is in a file of the store's folder that only the owner can read.
An export has it only on request. Marks of another memory are kept with that memory's key.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from goalmem_cli.errors import StoreDamaged, StoreError
from goalmem_cli.logic.moments import Moment
from goalmem_cli.memory_records import Voice, voice_of
from goalmem_cli.records import Conversation, Turn, encodable
from goalmem_cli.store.files import Written, content_if_there, replace_file, unwatched
from goalmem_cli.store.people import People
from goalmem_cli.store.privacy import FORGOTTEN, make_private, remove_leftovers
from goalmem_cli.store.recognising import (
    folded,
    looked_for,
    looked_for_by_minute,
    marked_by_minute,
    sources_of,
    told_of,
    told_of_source,
    told_to_copies,
    told_without_name,
    with_rooms_called,
    without_secrets,
)
from goalmem_cli.store.units import units_from_turns

_OWN_ALONE, SCHEMA_VERSION = 1, 2
"""The file's version without and with marks of other memories; older versions of goalmem refuse the second."""
_KEY_BYTES = 32
_SHOWN = 32
"""A mark has 32 hexadecimal digits, which are 128 bits."""
_MARK = re.compile(f"[0-9a-f]{{{_SHOWN}}}")
MOST_MARKS, MOST_MEMORIES = 1_000_000, 100
"""The most marks, and memories with marks, in an export or import, so that its line and reading stay fast."""
_ALWAYS = "always"
_NOBODY = People()
_TEXTS_OF_ONE, _WORDS_OF_ONE = 2, 8
"""The fewest texts and words that make two names one person's."""


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The marks of forgotten turns, and of conversations and speakers whose later turns are forgotten too (`always`).

    All marks of one turn, or of one `always` rule, have the same number. `redacted` are the marks of redacted turns.
    `carried` are the marks of other memories, each with its own key, which apply here too. `until` has the time of the
    copy for marks of turns that were copied from another conversation: a turn said there later is another turn.
    `somebody` has the marks without a speaker, with the numbers in `turns` of all who said that text then. `minutes`
    has those of a speaker's text without seconds, with the numbers of its turns of that minute that have seconds.
    `chats` has those of stored conversations (`chat_of`), with the numbers of the turns that each has lost. They are
    this folder's alone: no export has them.
    """

    key: bytes
    turns: Mapping[str, int] = field(default_factory=dict)
    always: Mapping[str, int] = field(default_factory=dict)
    redacted: frozenset[str] = frozenset()
    carried: tuple[Tombstones, ...] = ()
    until: Mapping[str, int] = field(default_factory=dict)
    somebody: Mapping[str, Sequence[int]] = field(default_factory=dict)
    minutes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    chats: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there are no marks of forgotten turns or rules."""
        return not any(one.turns or one.always for one in (self, *self.carried))

    @property
    def knows_secrets(self) -> bool:
        """Whether there are turns that must always be redacted."""
        return any(one.redacted for one in (self, *self.carried))

    @property
    def counts(self) -> tuple[int, int]:
        """The number of forgotten turns, and of `always` rules for conversations and speakers.

        A turn that two memories forgot counts twice, as marks with different keys cannot be compared.
        """
        each = (self, *self.carried)
        return sum(len(set(one.turns.values())) for one in each), sum(len(set(one.always.values())) for one in each)

    @classmethod
    def of_folder(cls, folder: Path) -> Tombstones:
        """Return the marks in the folder; if there is no file, none with a new key.

        Raises:
            StoreDamaged: the file does not have this form.
            StoreError: the file cannot be read.
        """
        content = content_if_there(folder / FORGOTTEN)
        if content is None:
            return cls(secrets.token_bytes(_KEY_BYTES))
        try:
            document = json.loads(content)
            if document["schema_version"] not in (_OWN_ALONE, SCHEMA_VERSION):
                raise ValueError(document["schema_version"])
            return replace(cls.of_document(document), carried=tuple(map(cls.of_document, document.get("carried", ()))))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreDamaged(
                f"{folder / FORGOTTEN} cannot be read: nobody knows what was forgotten",
                "move it away, and forget again what is not to come back",
            ) from error

    def keep(self, folder: Path, written: Written = unwatched) -> None:
        """Write the marks into the folder atomically; the caller holds the lock for writing.

        Raises:
            StoreError: the file cannot be written.
        """
        chats = {"chats": _briefly(self.chats)} if self.chats else {}
        document = {"schema_version": _OWN_ALONE, **self.document(), **chats}
        if self.carried:
            carried = [one.document() for one in self.carried]
            document |= {"schema_version": SCHEMA_VERSION, "carried": carried}
        make_private(folder)
        remove_leftovers(folder, FORGOTTEN)
        replace_file(folder / FORGOTTEN, json.dumps(document, indent=0).encode(), written)

    @classmethod
    def from_documents(cls, told: Any) -> tuple[Tombstones, ...]:
        """Return the marks in an export, one item for each memory.

        Raises:
            ValueError: they do not have this form, or a rule would leave out everything.
            StoreError: there are too many.
        """
        try:
            found = tuple(cls.of_document(document) for document in told)
        except (KeyError, TypeError) as error:
            raise ValueError("not the marks of an export") from error
        if any(one.mark(_ALWAYS, None, None) in one.always for one in found):
            raise ValueError("a wish to have everything left out")
        return _checked(found)

    def documents(self) -> list[dict[str, object]]:
        """Return the marks for an export, one document for each memory that has any; `from_documents` reads them.

        Raises:
            StoreError: there are too many.
        """
        return [one.document() for one in _checked([one for one in (self, *self.carried) if one.size])]

    def with_those_of(self, others: Iterable[Tombstones]) -> Tombstones:
        """Return the marks together with those of other memories; marks with the same key are merged.

        Raises:
            StoreError: there are too many.
        """
        known = {one.key: one for one in (replace(self, carried=()), *self.carried)}
        for other in others:
            for one in (replace(other, carried=()), *other.carried):
                known[one.key] = known[one.key].joined(one) if one.key in known else one
        own, *carried = known.values()
        return replace(own, carried=_checked([one for one in carried if one.size]))

    def with_turns(
        self,
        turns: Iterable[Turn],
        rooms: Mapping[str, Sequence[str]],
        people: People = _NOBODY,
        chats: Mapping[str, Sequence[str]] | None = None,
    ) -> Tombstones:
        """Return the marks with those of stored turns, under all names of their speakers in the notes `people`.

        `rooms` are conversation name -> `rooms_of_stored`; `chats` are name -> `chat_of`, for those that stay.
        """
        told = [(turn, rooms[turn.conversation]) for turn in turns]
        until = {mark: copied for mark, copied in self.until.items() if mark in self.turns}
        unlimited = self.turns.keys() - until.keys()
        for turn, there in told:
            copied = _instant(turn)
            named = (told for each in under_names(turn, people) for told in told_of_source(each, there))
            for mark in self.marks(named) - unlimited:
                if copied is None:
                    unlimited.add(mark)
                    until.pop(mark, None)
                else:
                    until[mark] = max(copied, until.get(mark, copied))
        groups = [
            frozenset[str]().union(*(self.of_turn(each, there) for each in under_names(turn, people)))
            for turn, there in told
        ]
        numbered = _more(self.turns, groups)
        somebody, minutes, lost = list[tuple[str, int]](), list[tuple[str, int]](), list[tuple[str, int]]()
        keys = {name: self.mark(*told) for name, told in (chats or {}).items()}
        for (turn, _), group in zip(told, groups, strict=True):
            number = numbered[next(iter(group))]
            unnamed = [*told_without_name(turn), *marked_by_minute(turn, is_named=False)]
            somebody += [(mark, number) for mark in self.marks(unnamed)]
            named = (told for each in under_names(turn, people) for told in marked_by_minute(each, is_named=True))
            minutes += [(mark, number) for mark in self.marks(named)]
            lost += [(keys[turn.conversation], number)] if turn.conversation in keys else []
        return replace(
            self,
            turns=numbered,
            until=until,
            somebody=_numbers(numbered, _pairs(self.somebody), somebody),
            minutes=_numbers(numbered, _pairs(self.minutes), minutes),
            chats=_numbers(numbered, _pairs(self.chats), lost),
        )

    def with_chats(self, moved: Mapping[str, str], gone: Collection[str]) -> Tombstones:
        """Return the marks without those of the conversations that are `gone`; `moved` are old mark -> new one."""
        left = [(moved.get(mark, mark), number) for mark, number in _pairs(self.chats) if mark not in gone]
        return replace(self, chats=_numbers(self.turns, left))

    def number_of(self, turn: Turn) -> int | None:
        """Return the number of a turn that this memory forgot, known by its speaker, instant and text; else None."""
        told = [] if turn.said is None else told_of(turn, (), without_secrets(turn.text))
        return next((number for mark in self.marks(told) if (number := self.turns.get(mark)) is not None), None)

    def with_always(
        self,
        conversations: Iterable[Sequence[str]] | None,
        speakers: Iterable[str] | None,
        voices: Iterable[Voice] = (),
    ) -> Tombstones:
        """Return the marks with rules that forget all later turns of these speakers in these conversations.

        Each conversation is given by its rooms; None means any. A speaker who shares a name is given as a voice.
        """
        told: list[Sequence[str | None]] = [[None]] if conversations is None else list(conversations)
        people: list[tuple[str, str | None]] = [_by_voice(voice) for voice in voices]
        people += [(_ALWAYS, one) for one in ([None] if speakers is None else speakers)]
        wishes = (self.marks((kind, room, one) for room in rooms) for rooms in told for kind, one in people)
        return replace(self, always=_more(self.always, wishes))

    def with_redacted(self, marks: Iterable[str]) -> Tombstones:
        """Return the marks with those of turns that must always be redacted."""
        return replace(self, redacted=self.redacted.union(marks))

    def without(self, marks: Iterable[str]) -> Tombstones:
        """Return the marks without these marks of forgotten turns and rules."""
        gone = set(marks)
        carried = tuple(left for one in self.carried if (left := one._without(gone)).size)
        return replace(self._without(gone), carried=carried)

    def _without(self, gone: set[str]) -> Tombstones:
        """Return this memory's own marks without these and all that mark the same turns.

        A mark without a speaker stands for the one turn that is left under it; if two or more are left, nobody knows
        which of them came back, and all stay forgotten.
        """
        turns = _fewer(self.turns, gone, self._of_minutes(gone))
        left = _numbers(turns, _pairs(self.somebody))
        restored = {numbers[0] for mark, numbers in left.items() if mark in gone and len(numbers) == 1}
        turns = {mark: number for mark, number in turns.items() if number not in restored}
        somebody, minutes = _numbers(turns, _pairs(left)), _numbers(turns, _pairs(self.minutes))
        chats = _numbers(turns, _pairs(self.chats))
        always = _fewer(self.always, gone)
        return replace(self, turns=turns, always=always, somebody=somebody, minutes=minutes, chats=chats)

    def _of_minutes(self, marks: Iterable[str]) -> set[int]:
        """Return the numbers of the turns that these marks without seconds mark."""
        return {number for mark in marks for number in self.minutes.get(mark, ())}

    def forgotten(self, turn: Turn, rooms: Sequence[str], people: People = _NOBODY) -> frozenset[str]:
        """Return the marks that say that a turn of a transcript is forgotten; empty if it is not.

        The turn is looked for under all names of its speaker in the notes `people`; for rules without the name that
        the user gave: somebody who is called Nora now is not the Nora whom a rule forgets.
        """
        found = set[str]()
        each = (self, *self.carried)
        if of_turns := [one for one in each if one.turns]:
            names = under_names(turn, people)
            told = [parts for named in names for parts in looked_for(named, rooms)]
            minute = [parts for named in names for parts in looked_for_by_minute(named, is_named=True)]
            for one in of_turns:
                exactly = one.without_later(one.turns.keys() & one.any_marks(told), turn)
                found |= exactly or {mark for mark in one.any_marks(minute) if mark in one.turns or mark in one.minutes}
        if any(one.always for one in each):
            found.update(*(self._always(named, rooms) for named in under_names(turn, people, is_given=False)))
        return frozenset(found)

    def said_by_somebody(self, turn: Turn) -> frozenset[str]:
        """Return the marks of forgotten turns with this turn's instant and text, whoever the speaker was."""
        each = [one for one in (self, *self.carried) if one.somebody]
        told, minute = (told_without_name(turn), looked_for_by_minute(turn, is_named=False)) if each else ([], [])
        found = (
            one.somebody.keys() & one.any_marks(told) or one.somebody.keys() & one.any_marks(minute) for one in each
        )
        return frozenset[str]().union(*found)

    def used_up(self, found: Collection[str], marks: Set[str]) -> frozenset[str]:
        """Return those of these marks without a speaker all of whose turns have one of the `found` marks."""
        used = set[str]()
        for one in (self, *self.carried):
            numbers = {one.turns[mark] for mark in one.turns.keys() & found} | one._of_minutes(found)
            used.update(mark for mark in one.somebody.keys() & marks if numbers.issuperset(one.somebody[mark]))
        return frozenset(used)

    def without_later(self, marks: Iterable[str], turn: Turn) -> set[str]:
        """Return these marks without those of copied turns that were copied before this turn was said."""
        said = None if turn.copied_from or not self.until else _instant(turn)
        return {mark for mark in marks if said is None or said <= self.until.get(mark, said)}

    def _always(self, turn: Turn, rooms: Sequence[str]) -> set[str]:
        """Return the marks of the rules that forget a turn: by its conversation, its speaker, or all its sources."""
        people = ((_ALWAYS, None), (_ALWAYS, turn.speaker), _by_voice(voice_of(turn)))
        each = [one for one in (self, *self.carried) if one.always]

        def of_room(room: str | None) -> set[str]:
            rules = [(kind, room, who) for kind, who in people]
            return set[str]().union(*(one.always.keys() & one.any_marks(rules) for one in each))

        sources = [of_room(source) for source in sources_of(turn, rooms)]
        return set[str]().union(*map(of_room, (None, *with_rooms_called(rooms))), *(sources if all(sources) else ()))

    def is_redacted(self, turn: Turn, rooms: Sequence[str]) -> bool:
        """Say whether a turn of a transcript was redacted once and must be redacted again."""
        told = [*looked_for(turn, rooms), *told_without_name(turn)]
        told += [parts for is_named in (True, False) for parts in looked_for_by_minute(turn, is_named=is_named)]
        each = (one for one in (self, *self.carried) if one.redacted)
        return any(not one.redacted.isdisjoint(one.any_marks(told)) for one in each)

    def of_turn(self, turn: Turn, rooms: Sequence[str]) -> frozenset[str]:
        """Return the marks of a turn in a conversation with these rooms, made with this memory's key."""
        text = without_secrets(turn.text)
        return self.marks([*told_of(turn, rooms, text), *told_to_copies(turn, rooms, text)])

    def of_redacted(self, turn: Turn, rooms: Sequence[str]) -> frozenset[str]:
        """Return the marks by which a turn is redacted again, whatever its speaker is called then."""
        minute = [parts for is_named in (True, False) for parts in marked_by_minute(turn, is_named=is_named)]
        return self.of_turn(turn, rooms) | self.marks([*told_without_name(turn), *minute])

    @classmethod
    def of_document(cls, document: Any) -> Tombstones:
        """Return the marks of one memory from a JSON object.

        Raises:
            ValueError: a value does not have the right form.
            KeyError: a field is missing.
            TypeError: a value has the wrong type.
        """
        key, redacted_ = bytes.fromhex(document["key"]), frozenset(document["redacted"])
        turns, always = dict(document["turns"]), dict(document["always"])
        until = {mark: told for mark, told in dict(document.get("until", {})).items() if mark in turns}
        said, minutes, lost = (
            _pairs(
                {
                    mark: told if isinstance(told, list) else [told]
                    for mark, told in dict(document.get(name, {})).items()
                }
            )
            for name in ("somebody", "minutes", "chats")
        )
        if not all(type(told) is int for told in until.values()):
            raise ValueError("no times")
        if len(key) != _KEY_BYTES or not all(
            map(_is_number, (*turns.values(), *always.values(), *(told for _, told in (*said, *minutes, *lost))))
        ):
            raise ValueError("no key, or no numbers")
        somebody, whole, chats = (_numbers(turns, told) for told in (said, minutes, lost))
        given = (*turns, *always, *redacted_, *somebody, *whole, *chats)
        if not all(isinstance(mark, str) and _MARK.fullmatch(mark) for mark in given):
            raise ValueError("no marks")
        return cls(key, turns, always, redacted_, until=until, somebody=somebody, minutes=whole, chats=chats)

    def document(self) -> dict[str, object]:
        """Return the marks as a JSON object without `carried` and `chats`; `of_document` reads it."""
        numbered = {
            name: _briefly(marks) for name, marks in (("somebody", self.somebody), ("minutes", self.minutes)) if marks
        }
        return {
            "key": self.key.hex(),
            "turns": dict(self.turns),
            "always": dict(self.always),
            "redacted": sorted(self.redacted),
            **({"until": dict(self.until)} if self.until else {}),
            **numbered,
        }

    @property
    def size(self) -> int:
        """The number of marks without `carried`."""
        return len(self.turns) + len(self.always) + len(self.redacted) + len(self.somebody) + len(self.minutes)

    def joined(self, other: Tombstones) -> Tombstones:
        """Return the marks merged with others of the same key."""
        turns, always = (
            _more(ours, _grouped(theirs)) for ours, theirs in ((self.turns, other.turns), (self.always, other.always))
        )
        both = self.turns.keys() & other.turns.keys()
        until = {
            mark: max(one.until.get(mark, told) for one in (self, other))
            for mark, told in (*self.until.items(), *other.until.items())
            if mark not in both or (mark in self.until and mark in other.until)
        }
        now = {number: turns[mark] for mark, number in other.turns.items()}
        somebody, minutes = (
            _numbers(turns, _pairs(ours), [(mark, now[number]) for mark, number in _pairs(theirs)])
            for ours, theirs in ((self.somebody, other.somebody), (self.minutes, other.minutes))
        )
        return replace(
            self,
            turns=turns,
            always=always,
            redacted=self.redacted | other.redacted,
            until=until,
            somebody=somebody,
            minutes=minutes,
            chats=_numbers(turns, _pairs(self.chats)),
        )

    def marks(self, told: Iterable[Sequence[str | None]]) -> frozenset[str]:
        """Return the mark of each tuple, made with this key; texts that look alike have the same."""
        return frozenset(self.mark(*folded(parts)) for parts in told)

    def any_marks(self, told: Iterable[Sequence[str | None]]) -> frozenset[str]:
        """Return the marks that each tuple may have; earlier versions made them of the text as it was written."""
        return frozenset(self.mark(*parts) for one in told for parts in {tuple(one), folded(one)})

    def mark(self, *parts: str | None) -> str:
        """Return the mark of these parts: their hash with this key."""
        told = json.dumps([part if part is None else encodable(part) for part in parts])
        return hmac.digest(self.key, told.encode(), "sha256").hex()[:_SHOWN]


def _checked(found: Sequence[Tombstones]) -> tuple[Tombstones, ...]:
    """Return the marks of several memories unchanged if they are not too many.

    Raises:
        StoreError: they are too many.
    """
    if len(found) > MOST_MEMORIES or sum(one.size for one in found) > MOST_MARKS:
        most = f"more than {MOST_MARKS}, or those of more than {MOST_MEMORIES} memories"
        raise StoreError(f"the marks of what was forgotten are too many: {most}", "go on without these marks")
    return tuple(found)


def under_names(turn: Turn, people: People, *, is_given: bool = True) -> list[Turn]:
    """Return the turn under each name of its speaker in the user's notes, first as it is (see `other_names`)."""
    if not people.persons:
        return [turn]
    names = people.other_names(voice_of(turn), is_given=is_given)
    return [turn, *(replace(turn, speaker=name) for name in sorted(names))]


def under_another_name(
    said: Mapping[Turn, frozenset[str]], known: frozenset[str], recognised: Collection[str] = ()
) -> dict[Turn, frozenset[str]]:
    """Return those of a transcript's turns that were forgotten under another name of their speaker -> their marks.

    `said` are turns -> `said_by_somebody`, and `known` the marks that the turns under their old names use up. A
    speaker is known by two texts or more with eight words or more, said at the same instants, or is among those that
    were `recognised` so in an earlier piece of the conversation.
    """
    found: dict[str, dict[Turn, frozenset[str]]] = {}
    for turn, marks in said.items():
        if not marks <= known:
            found.setdefault(turn.speaker, {})[turn] = marks
    telling = (theirs for speaker, theirs in found.items() if speaker in recognised or _is_telling(theirs))
    return {turn: marks for theirs in telling for turn, marks in theirs.items()}


def _is_telling(turns: Iterable[Turn]) -> bool:
    texts = {turn.text for turn in turns}
    return len(texts) >= _TEXTS_OF_ONE and sum(len(text.split()) for text in texts) >= _WORDS_OF_ONE


def _instant(turn: Turn) -> int | None:
    return None if turn.said is None else Moment.from_datetime(turn.said).instant


def _is_number(found: object) -> bool:
    return type(found) is int and 0 <= found < 2**31


def _grouped(numbered: Mapping[str, int]) -> list[list[str]]:
    """Return the marks grouped by number."""
    groups: dict[int, list[str]] = {}
    for mark, number in numbered.items():
        groups.setdefault(number, []).append(mark)
    return list(groups.values())


def _pairs(numbered: Mapping[str, Iterable[int]]) -> list[tuple[str, int]]:
    return [(mark, number) for mark, numbers in numbered.items() for number in numbers]


def _briefly(numbered: Mapping[str, Sequence[int]]) -> dict[str, int | list[int]]:
    """Return each mark with its one number or, if several turns have it, with a list."""
    return {mark: told[0] if len(told) == 1 else list(told) for mark, told in numbered.items()}


def _numbers(turns: Mapping[str, int], *told: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Return each mark without a speaker -> the numbers that it is told to have, those that `turns` has too."""
    there, found = set(turns.values()), dict[str, dict[int, None]]()
    for mark, number in chain(*told):
        if number in there:
            found.setdefault(mark, {})[number] = None
    return {mark: list(numbers) for mark, numbers in found.items()}


def _by_voice(voice: Voice) -> tuple[str, str | None]:
    """Return the kind and value of a rule on one voice, which does not apply to namesakes."""
    return ("always id", voice.id) if voice.id else ("always without id", voice.name)


def _more(numbered: Mapping[str, int], groups: Iterable[Iterable[str]]) -> dict[str, int]:
    """Return the marks with further groups; a group gets a new number, or that of a mark that is there already."""
    found = dict(numbered)
    following = max(found.values(), default=0) + 1
    for group in groups:
        marks = list(group)
        number = next((found[mark] for mark in marks if mark in found), following)
        following += number == following
        found |= dict.fromkeys(marks, number)
    return found


def _fewer(numbered: Mapping[str, int], gone: set[str], others: Iterable[int] = ()) -> dict[str, int]:
    """Return the marks without all marks that share a number with a mark in `gone`, or have one of the `others`."""
    numbers = {numbered[mark] for mark in gone & numbered.keys()}.union(others)
    return {mark: number for mark, number in numbered.items() if number not in numbers}


def without_resting_on(conversation: Conversation, turns: Sequence[Turn], gone: set[str]) -> Conversation:
    """Return a conversation of an exported store without what was derived from left-out turns.

    `gone` are the ids of turns and units that were left out before; new ones are added to it.
    """
    gone.update(unit.id for unit in units_from_turns(turns))
    if not gone or not (conversation.derived or conversation.edges or conversation.ledger):
        return conversation
    gone.update(unit.id for unit in conversation.derived if not gone.isdisjoint(unit.turns))
    return replace(
        conversation,
        derived=tuple(unit for unit in conversation.derived if unit.id not in gone),
        edges=tuple(edge for edge in conversation.edges if gone.isdisjoint((edge.source, edge.target))),
        ledger=tuple(line for line in conversation.ledger if gone.isdisjoint((*line.turns, *line.units))),
    )
