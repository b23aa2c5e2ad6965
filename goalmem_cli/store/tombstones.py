"""What was forgotten is known again when a transcript brings it back: by keyed hashes, which tell nobody what it was.

A turn is known by its speaker, its instant and its text; by its own id in its conversation; and, without a time, by its
place, speaker and text in its conversation. What is told as copied, with the copy's time, is known by the conversation
that it may come from, speaker and text. A conversation is known by its own id, else by its file, else by its name.
The key lies in the store's folder, in a file that its owner alone can read, and an export carries it only where that is
asked for. What another memory has forgotten is known by that one's key, which is kept beside this one's own.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from goalmem_cli.errors import StoreDamaged, StoreError
from goalmem_cli.logic.moments import Moment
from goalmem_cli.memory_records import ConversationSummary, Voice, voice_of
from goalmem_cli.records import STANDARD_INPUT, Conversation, Turn, encodable
from goalmem_cli.store.files import Written, content_if_there, replace_file, unwatched
from goalmem_cli.store.privacy import FORGOTTEN, make_private, remove_leftovers
from goalmem_cli.store.redaction import redacted
from goalmem_cli.store.units import units_from_turns

_OWN_ALONE, SCHEMA_VERSION = 1, 2
"""Without, and with marks of other memories: an older goalmem would lose them, and does not read the file."""
_KEY_BYTES = 32
_SHOWN = 32
"""Hexadecimal digits of a mark: 128 bits."""
_MARK = re.compile(f"[0-9a-f]{{{_SHOWN}}}")
MOST_MARKS, MOST_MEMORIES = 1_000_000, 100
"""So much an export can have, and be taken over from others: its line stays readable, and reading transcripts quick."""
_ALWAYS = "always"
_NUMBERED = re.compile(r"-\d+$")
_BY_ID = "id "


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The marks of what was forgotten: of single turns, and of what is never to be stored (`always`).

    The marks of one turn, or of one wish, have one number. `redacted` are those of turns that were stored without their
    secrets. `carried` are the marks of other memories, each under its own key: what these forgot is forgotten here too.
    """

    key: bytes
    turns: Mapping[str, int] = field(default_factory=dict)
    always: Mapping[str, int] = field(default_factory=dict)
    redacted: frozenset[str] = frozenset()
    carried: tuple[Tombstones, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True where nothing was forgotten."""
        return not any(one.turns or one.always for one in (self, *self.carried))

    @property
    def knows_secrets(self) -> bool:
        """True where turns are to be stored without their secrets, whoever reads them."""
        return any(one.redacted for one in (self, *self.carried))

    @property
    def counts(self) -> tuple[int, int]:
        """How many turns were forgotten, and of how many conversations and speakers all that comes is.

        What two memories have forgotten counts twice: under two keys, nobody can tell that it is the same.
        """
        each = (self, *self.carried)
        return sum(len(set(one.turns.values())) for one in each), sum(len(set(one.always.values())) for one in each)

    @classmethod
    def of_folder(cls, folder: Path) -> Tombstones:
        """Return those kept in the folder, none with a new key where there is no such file.

        Raises:
            StoreDamaged: the file is not of this form.
            StoreError: it cannot be read.
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
        """Write them into the folder, whole or not at all; whoever does is the only one who writes there.

        Raises:
            StoreError: the file cannot be written.
        """
        document = {"schema_version": _OWN_ALONE, **self.document()}
        if self.carried:
            carried = [one.document() for one in self.carried]
            document |= {"schema_version": SCHEMA_VERSION, "carried": carried}
        make_private(folder)
        remove_leftovers(folder, FORGOTTEN)
        replace_file(folder / FORGOTTEN, json.dumps(document, indent=0).encode(), written)

    @classmethod
    def from_documents(cls, told: Any) -> tuple[Tombstones, ...]:
        """Return the marks that an export holds, of one memory each; whatever it is, it is data.

        Raises:
            ValueError: they are not of this form, or would have everything left out.
            StoreError: they are too many.
        """
        try:
            found = tuple(cls.of_document(document) for document in told)
        except (KeyError, TypeError) as error:
            raise ValueError("not the marks of an export") from error
        if any(one.mark(_ALWAYS, None, None) in one.always for one in found):
            raise ValueError("a wish to have everything left out")
        return _checked(found)

    def documents(self) -> list[dict[str, object]]:
        """Return the marks for an export, of each memory that has any, from which `from_documents` makes them again.

        Raises:
            StoreError: they are too many for one.
        """
        return [one.document() for one in _checked([one for one in (self, *self.carried) if one.size])]

    def with_those_of(self, others: Iterable[Tombstones]) -> Tombstones:
        """Return them with the marks of other memories, each under its own key; those under one key are kept together.

        Raises:
            StoreError: these are too many.
        """
        known = {one.key: one for one in (replace(self, carried=()), *self.carried)}
        for other in others:
            for one in (replace(other, carried=()), *other.carried):
                known[one.key] = known[one.key].joined(one) if one.key in known else one
        own, *carried = known.values()
        return replace(own, carried=_checked([one for one in carried if one.size]))

    def with_turns(self, turns: Iterable[Turn], rooms: Mapping[str, Sequence[str]]) -> Tombstones:
        """Return them with the marks of stored turns; `rooms` are what their conversations, by name, are known by."""
        return replace(self, turns=_more(self.turns, (self.of_turn(turn, rooms[turn.conversation]) for turn in turns)))

    def with_always(
        self,
        conversations: Iterable[Sequence[str]] | None,
        speakers: Iterable[str] | None,
        voices: Iterable[Voice] = (),
    ) -> Tombstones:
        """Return them with marks of all that these speakers say in these conversations, each given by its rooms; None
        stands for any. Whose name is another's too is given by a voice: an id, or the name where it comes without one.
        """
        told: list[Sequence[str | None]] = [[None]] if conversations is None else list(conversations)
        people: list[tuple[str, str | None]] = [_by_voice(voice) for voice in voices]
        people += [(_ALWAYS, one) for one in ([None] if speakers is None else speakers)]
        wishes = ({self.mark(kind, room, one) for room in rooms} for rooms in told for kind, one in people)
        return replace(self, always=_more(self.always, wishes))

    def with_redacted(self, marks: Iterable[str]) -> Tombstones:
        """Return them with the marks of turns that are to be stored without their secrets, whoever reads them."""
        return replace(self, redacted=self.redacted.union(marks))

    def without(self, marks: Iterable[str]) -> Tombstones:
        """Return them without these marks of what was forgotten."""
        gone = set(marks)
        left = [replace(one, turns=_fewer(one.turns, gone), always=_fewer(one.always, gone)) for one in self.carried]
        carried = tuple(one for one in left if one.size)
        return replace(self, turns=_fewer(self.turns, gone), always=_fewer(self.always, gone), carried=carried)

    def forgotten(self, turn: Turn, rooms: Sequence[str]) -> frozenset[str]:
        """Return the marks by which a turn of a transcript is known as forgotten; none where it is not."""
        found = set[str]()
        each = (self, *self.carried)
        if of_turns := [one for one in each if one.turns]:
            told = [*_told_of(turn, rooms), *_told_elsewhere(turn, rooms)]
            found.update(*(one.turns.keys() & one.marks(told) for one in of_turns))
        if any(one.always for one in each):
            found |= self._always(turn, rooms)
        return frozenset(found)

    def _always(self, turn: Turn, rooms: Sequence[str]) -> set[str]:
        """Return the marks by which all is forgotten that comes of where a turn stands, of who says it, or of all that
        it may be copied from.
        """
        people = ((_ALWAYS, None), (_ALWAYS, turn.speaker), _by_voice(voice_of(turn)))
        each = [one for one in (self, *self.carried) if one.always]

        def of_room(room: str | None) -> set[str]:
            rules = [(kind, room, who) for kind, who in people]
            return set[str]().union(*(one.always.keys() & one.marks(rules) for one in each))

        sources = [of_room(source) for source in _sources_of(turn, rooms)]
        return set[str]().union(*map(of_room, (None, *rooms)), *(sources if all(sources) else ()))

    def is_redacted(self, turn: Turn, rooms: Sequence[str]) -> bool:
        """Say whether a turn of a transcript is to be stored without its secrets, since it was once."""
        told = [*_told_of(turn, rooms), *_told_elsewhere(turn, rooms)]
        each = (one for one in (self, *self.carried) if one.redacted)
        return any(not one.redacted.isdisjoint(one.marks(told)) for one in each)

    def of_turn(self, turn: Turn, rooms: Sequence[str]) -> frozenset[str]:
        """Return the marks of a turn in a conversation that is known by these rooms, under the key of this memory."""
        return self.marks([*_told_of(turn, rooms), *_told_to_copies(turn, rooms)])

    @classmethod
    def of_document(cls, document: Any) -> Tombstones:
        """Return the marks of one memory as a document tells them.

        Raises:
            ValueError: it is not of this form; so do the next two say.
            KeyError: something is missing.
            TypeError: something is of another kind.
        """
        key, redacted_ = bytes.fromhex(document["key"]), frozenset(document["redacted"])
        turns, always = dict(document["turns"]), dict(document["always"])
        if len(key) != _KEY_BYTES or not all(map(_is_number, (*turns.values(), *always.values()))):
            raise ValueError("no key, or no numbers")
        if not all(isinstance(mark, str) and _MARK.fullmatch(mark) for mark in (*turns, *always, *redacted_)):
            raise ValueError("no marks")
        return cls(key, turns, always, redacted_)

    def document(self) -> dict[str, object]:
        """Return them without those of others as a document, from which `of_document` makes them again."""
        return {
            "key": self.key.hex(),
            "turns": dict(self.turns),
            "always": dict(self.always),
            "redacted": sorted(self.redacted),
        }

    @property
    def size(self) -> int:
        """How many marks they are, without those of others."""
        return len(self.turns) + len(self.always) + len(self.redacted)

    def joined(self, other: Tombstones) -> Tombstones:
        """Return them with others under the same key."""
        turns, always = (
            _more(ours, _grouped(theirs)) for ours, theirs in ((self.turns, other.turns), (self.always, other.always))
        )
        return replace(self, turns=turns, always=always, redacted=self.redacted | other.redacted)

    def marks(self, told: Iterable[Sequence[str | None]]) -> frozenset[str]:
        """Return the marks under their key of each of what is told."""
        return frozenset(self.mark(*parts) for parts in told)

    def mark(self, *parts: str | None) -> str:
        """Return the mark under their key of what the parts tell."""
        told = json.dumps([part if part is None else encodable(part) for part in parts])
        return hmac.new(self.key, told.encode(), "sha256").hexdigest()[:_SHOWN]


def _told_of(turn: Turn, rooms: Sequence[str]) -> list[tuple[str, ...]]:
    """Return what a turn is known by in a conversation that is known by these rooms."""
    text = redacted(turn.text)[0]  # the same, whether it is stored with or without `--redact`
    told = [("id", room, turn.own_id) for room in rooms if turn.own_id is not None]
    if turn.said is None:
        return told + [("told", room, turn.own_id or str(turn.ordinal), turn.speaker, text) for room in rooms]
    moment = Moment.from_datetime(turn.said)
    clock = f"clock {moment.clock}" if moment.instant is None else f"instant {moment.instant}"
    return [*told, ("said", clock, turn.speaker, text)]


def _told_to_copies(turn: Turn, rooms: Sequence[str]) -> list[tuple[str, ...]]:
    """Return what copies of a turn will be known by; and, if it is a copy itself, what it was copied from."""
    copied = [("copied", room) for room in rooms if turn.own_id is None and room.startswith(_BY_ID)]
    copies = [("copy", source) for source in _sources_of(turn, rooms)]
    return [(*told, turn.speaker, redacted(turn.text)[0]) for told in (*copied, *copies)]


def _told_elsewhere(turn: Turn, rooms: Sequence[str]) -> list[tuple[str, ...]]:
    """Return what a turn is known by where it was forgotten in a conversation that it copies from, or in a copy."""
    sources = _sources_of(turn, rooms)
    if not sources and (turn.own_id is not None or not any(room.startswith(_BY_ID) for room in rooms)):
        return []
    text = redacted(turn.text)[0]
    told = [(kind, source) for kind in ("copied", "copy") for source in sources] or [("copy", room) for room in rooms]
    return [(*each, turn.speaker, text) for each in told]


def _sources_of(turn: Turn, rooms: Sequence[str]) -> list[str]:
    """Return what the conversations are known by that a turn is told as copied from: they have its format."""
    forms = [room.split(" ", 2)[1] for room in rooms if room.startswith(_BY_ID)] if turn.copied_from else []
    return [_room_of_id(form, source) for form in forms for source in turn.copied_from]


def _checked(found: Sequence[Tombstones]) -> tuple[Tombstones, ...]:
    """Return the marks of several memories.

    Raises:
        StoreError: they are too many.
    """
    if len(found) > MOST_MEMORIES or sum(one.size for one in found) > MOST_MARKS:
        most = f"more than {MOST_MARKS}, or those of more than {MOST_MEMORIES} memories"
        raise StoreError(f"the marks of what was forgotten are too many: {most}", "go on without these marks")
    return tuple(found)


def _is_number(found: object) -> bool:
    return type(found) is int and 0 <= found < 2**31


def _grouped(numbered: Mapping[str, int]) -> list[list[str]]:
    """Return the marks that have one number together."""
    groups: dict[int, list[str]] = {}
    for mark, number in numbered.items():
        groups.setdefault(number, []).append(mark)
    return list(groups.values())


def _by_voice(voice: Voice) -> tuple[str, str | None]:
    """Return what a wish is known by that is about a voice alone, and about nobody else of the name."""
    return ("always id", voice.id) if voice.id else ("always without id", voice.name)


def _more(numbered: Mapping[str, int], groups: Iterable[Iterable[str]]) -> dict[str, int]:
    """Return the marks with those of further groups, each of which gets a number, or keeps that of a mark it has."""
    found = dict(numbered)
    following = max(found.values(), default=0) + 1
    for group in groups:
        marks = list(group)
        number = next((found[mark] for mark in marks if mark in found), following)
        following += number == following
        found |= dict.fromkeys(marks, number)
    return found


def _fewer(numbered: Mapping[str, int], gone: set[str]) -> dict[str, int]:
    """Return the marks without those that have the number of one that goes."""
    numbers = {numbered[mark] for mark in gone & numbered.keys()}
    return {mark: number for mark, number in numbered.items() if number not in numbers}


def rooms_of_stored(conversation: ConversationSummary) -> tuple[str, ...]:
    """Return what a stored conversation is known by."""
    if conversation.own_id is not None:
        return (_room_of_id(conversation.format, conversation.own_id),)
    names = dict.fromkeys((conversation.name, _NUMBERED.sub("", conversation.name)))  # it may have got a number here
    return (f"stored {conversation.name}", *(_told_room(conversation.file, name) for name in names))


def rooms_of(conversation: Conversation) -> tuple[str, ...]:
    """Return what a conversation that is read is known by."""
    if conversation.own_id is not None:
        return (_room_of_id(conversation.format, conversation.own_id),)
    if conversation.is_exported or conversation.is_named:
        return (f"stored {conversation.name}",)
    rooms = (_told_room(conversation.file, conversation.name), _told_room(None, conversation.name))
    return tuple(dict.fromkeys(rooms))


def _room_of_id(form: str, own_id: str) -> str:
    return f"{_BY_ID}{form} {own_id}"


def _told_room(file: str | None, name: str) -> str:
    return f"name {name}" if file in (None, STANDARD_INPUT) else f"file {file} {name}"


def without_resting_on(conversation: Conversation, turns: Sequence[Turn], gone: set[str]) -> Conversation:
    """Return a conversation of an exported store without what rests on turns that are left out.

    `gone` are the ids of turns and units that went before; those that go now are added.
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
