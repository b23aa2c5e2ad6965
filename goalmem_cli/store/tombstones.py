"""What was forgotten is known again when a transcript brings it back: by keyed hashes, which tell nobody what it was.

A turn is known by its speaker, its instant and its text; by its own id in its conversation; and, without a time, by its
place, speaker and text in its conversation. A conversation is known by its own id, else by its file, else by its name.
The key lies in the store's folder, in a file that its owner alone can read, and no export carries it.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from goalmem_cli.errors import StoreDamaged
from goalmem_cli.logic.moments import Moment
from goalmem_cli.memory_records import ConversationSummary, Voice, voice_of
from goalmem_cli.records import STANDARD_INPUT, Conversation, Turn, encodable
from goalmem_cli.store.files import content_if_there, replace_file
from goalmem_cli.store.privacy import FORGOTTEN
from goalmem_cli.store.redaction import redacted
from goalmem_cli.store.units import units_from_turns

SCHEMA_VERSION = 1
_KEY_BYTES = 32
_SHOWN = 32
"""Hexadecimal digits of a mark: 128 bits."""
_ALWAYS = "always"
_NUMBERED = re.compile(r"-\d+$")


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The marks of what was forgotten: of single turns, and of what is never to be stored (`always`).

    The marks of one turn, or of one wish, have one number. `redacted` are those of turns that were stored without their
    secrets.
    """

    key: bytes
    turns: Mapping[str, int] = field(default_factory=dict)
    always: Mapping[str, int] = field(default_factory=dict)
    redacted: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """True where nothing was forgotten."""
        return not (self.turns or self.always)

    @property
    def counts(self) -> tuple[int, int]:
        """How many turns were forgotten, and of how many conversations and speakers all that comes is."""
        return len(set(self.turns.values())), len(set(self.always.values()))

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
            if document["schema_version"] != SCHEMA_VERSION:
                raise ValueError(document["schema_version"])
            turns, always = dict(document["turns"]), dict(document["always"])
            return cls(bytes.fromhex(document["key"]), turns, always, frozenset(document["redacted"]))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreDamaged(
                f"{folder / FORGOTTEN} cannot be read: nobody knows what was forgotten",
                "move it away, and forget again what is not to come back",
            ) from error

    def keep(self, folder: Path) -> None:
        """Write them into the folder, whole or not at all.

        Raises:
            StoreError: the file cannot be written.
        """
        document = {
            "schema_version": SCHEMA_VERSION,
            "key": self.key.hex(),
            "turns": dict(self.turns),
            "always": dict(self.always),
            "redacted": sorted(self.redacted),
        }
        replace_file(folder / FORGOTTEN, json.dumps(document, indent=0).encode())

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
        wishes = ({self._mark(kind, room, one) for room in rooms} for rooms in told for kind, one in people)
        return replace(self, always=_more(self.always, wishes))

    def with_redacted(self, marks: Iterable[str]) -> Tombstones:
        """Return them with the marks of turns that are to be stored without their secrets, whoever reads them."""
        return replace(self, redacted=self.redacted.union(marks))

    def without(self, marks: Iterable[str]) -> Tombstones:
        """Return them without these marks of what was forgotten."""
        gone = set(marks)
        return replace(self, turns=_fewer(self.turns, gone), always=_fewer(self.always, gone))

    def forgotten(self, turn: Turn, rooms: Sequence[str]) -> frozenset[str]:
        """Return the marks by which a turn of a transcript is known as forgotten; none where it is not."""
        by_rule = frozenset[str]()
        if self.always:
            people = ((_ALWAYS, None), (_ALWAYS, turn.speaker), _by_voice(voice_of(turn)))
            rules = {self._mark(kind, room, one) for room in (None, *rooms) for kind, one in people}
            by_rule = frozenset(self.always.keys() & rules)
        return by_rule | (self.turns.keys() & self.of_turn(turn, rooms))

    def of_turn(self, turn: Turn, rooms: Sequence[str]) -> frozenset[str]:
        """Return the marks of a turn in a conversation that is known by these rooms."""
        text = redacted(turn.text)[0]  # the same, whether it is stored with or without `--redact`
        by_id = {self._mark("id", room, turn.own_id) for room in rooms if turn.own_id is not None}
        if turn.said is None:
            return frozenset(
                by_id
                | {self._mark("told", room, turn.own_id or str(turn.ordinal), turn.speaker, text) for room in rooms}
            )
        moment = Moment.from_datetime(turn.said)
        clock = f"clock {moment.clock}" if moment.instant is None else f"instant {moment.instant}"
        return frozenset(by_id | {self._mark("said", clock, turn.speaker, text)})

    def _mark(self, *parts: str | None) -> str:
        told = json.dumps([part if part is None else encodable(part) for part in parts])
        return hmac.new(self.key, told.encode(), "sha256").hexdigest()[:_SHOWN]


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
        return (f"id {conversation.format} {conversation.own_id}",)
    names = dict.fromkeys((conversation.name, _NUMBERED.sub("", conversation.name)))  # it may have got a number here
    return (f"stored {conversation.name}", *(_told_room(conversation.file, name) for name in names))


def rooms_of(conversation: Conversation) -> tuple[str, ...]:
    """Return what a conversation that is read is known by."""
    if conversation.own_id is not None:
        return (f"id {conversation.format} {conversation.own_id}",)
    if conversation.is_exported or conversation.is_named:
        return (f"stored {conversation.name}",)
    rooms = (_told_room(conversation.file, conversation.name), _told_room(None, conversation.name))
    return tuple(dict.fromkeys(rooms))


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
