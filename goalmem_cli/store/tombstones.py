"""What was forgotten is known again when a transcript brings it back: by keyed hashes, which tell nobody what it was.

A turn is known by its speaker, its instant and its text; one without a time by its conversation in place of the
instant. The key lies in the store's folder, in a file that its owner alone can read, and no export carries it.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from goalmem_cli.errors import StoreDamaged
from goalmem_cli.logic.moments import Moment
from goalmem_cli.records import Conversation, Turn, encodable
from goalmem_cli.store.files import content_if_there, replace_file
from goalmem_cli.store.secrets import redacted
from goalmem_cli.store.units import units_from_turns

FILE = "forgotten.json"
SCHEMA_VERSION = 1
_KEY_BYTES = 32
_SHOWN = 32
"""Hexadecimal digits of a mark: 128 bits."""


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The marks of what was forgotten: of single turns, and of what is never to be stored (`always`)."""

    key: bytes
    turns: frozenset[str] = frozenset()
    always: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """True where nothing was forgotten."""
        return not (self.turns or self.always)

    @classmethod
    def of_folder(cls, folder: Path) -> Tombstones:
        """Return those kept in the folder, none with a new key where there is no such file.

        Raises:
            StoreDamaged: the file is not of this form.
            StoreError: it cannot be read.
        """
        content = content_if_there(folder / FILE)
        if content is None:
            return cls(secrets.token_bytes(_KEY_BYTES))
        try:
            document = json.loads(content)
            if document["schema_version"] != SCHEMA_VERSION:
                raise ValueError(document["schema_version"])
            return cls(bytes.fromhex(document["key"]), frozenset(document["turns"]), frozenset(document["always"]))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreDamaged(
                f"{folder / FILE} cannot be read: nobody knows what was forgotten",
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
            "turns": sorted(self.turns),
            "always": sorted(self.always),
        }
        replace_file(folder / FILE, json.dumps(document, indent=0).encode())

    def with_turns(self, turns: Iterable[Turn]) -> Tombstones:
        """Return them with the marks of stored turns."""
        return replace(self, turns=self.turns | {self._of_turn(turn, turn.conversation) for turn in turns})

    def with_always(self, conversations: Iterable[str] | None, speakers: Iterable[str] | None) -> Tombstones:
        """Return them with marks of all that these speakers say in these conversations; None stands for any."""
        rooms = [None] if conversations is None else list(conversations)
        people = [None] if speakers is None else list(speakers)
        return replace(self, always=self.always | {self._of_any(room, one) for room in rooms for one in people})

    def without(self, marks: Iterable[str]) -> Tombstones:
        """Return them without these marks."""
        return replace(self, turns=self.turns.difference(marks), always=self.always.difference(marks))

    def sifter(self) -> Callable[[Conversation], tuple[Conversation, frozenset[str], int]]:
        """Return what leaves forgotten turns out of the conversations of one file, in their order.

        It gives a conversation without them, the marks that they were known by, and how many they are. What an exported
        store derived from such a turn is left out with it.
        """
        gone: set[str] = set()

        def sift(conversation: Conversation) -> tuple[Conversation, frozenset[str], int]:
            known = {turn.id: marks for turn in conversation.turns if (marks := self._marks_of(conversation, turn))}
            if known:
                left_out = [turn for turn in conversation.turns if turn.id in known]
                gone.update(known, (unit.id for unit in units_from_turns(left_out)))
                kept = tuple(turn for turn in conversation.turns if turn.id not in known)
                conversation = replace(conversation, turns=kept)
            return without_resting_on(conversation, gone), frozenset().union(*known.values()), len(known)

        return sift

    def _marks_of(self, conversation: Conversation, turn: Turn) -> frozenset[str]:
        """Return the marks by which a turn of a transcript is known as forgotten; none where it is not."""
        room = conversation.name if conversation.own_id is None else conversation.own_id
        by_rule = frozenset[str]()
        if self.always:
            rules = ((room, None), (None, turn.speaker), (room, turn.speaker))
            by_rule = self.always & {self._of_any(*rule) for rule in rules}
        return by_rule | (self.turns & {self._of_turn(turn, room)})

    def _of_turn(self, turn: Turn, room: str) -> str:
        text = redacted(turn.text)[0]  # the same, whether it is stored with or without `--redact`
        if turn.said is None:
            return self._mark("told", room, turn.speaker, text)
        moment = Moment.from_datetime(turn.said)
        clock = f"clock {moment.clock}" if moment.instant is None else f"instant {moment.instant}"
        return self._mark("said", clock, turn.speaker, text)

    def _of_any(self, room: str | None, speaker: str | None) -> str:
        return self._mark("always", room, speaker)

    def _mark(self, *parts: str | None) -> str:
        told = json.dumps([part if part is None else encodable(part) for part in parts])
        return hmac.new(self.key, told.encode(), "sha256").hexdigest()[:_SHOWN]


def without_resting_on(conversation: Conversation, gone: set[str]) -> Conversation:
    """Return a conversation of an exported store without what rests on turns or units that are left out."""
    if not gone or not (conversation.derived or conversation.edges or conversation.ledger):
        return conversation
    gone.update(unit.id for unit in conversation.derived if not gone.isdisjoint(unit.turns))
    return replace(
        conversation,
        derived=tuple(unit for unit in conversation.derived if unit.id not in gone),
        edges=tuple(edge for edge in conversation.edges if gone.isdisjoint((edge.source, edge.target))),
        ledger=tuple(line for line in conversation.ledger if gone.isdisjoint((*line.turns, *line.units))),
    )
