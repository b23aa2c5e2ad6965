"""What is reported of each file that was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalmem_cli.errors import InputError

if TYPE_CHECKING:
    from goalmem_cli.memory_records import Added


@dataclass(frozen=True, slots=True)
class Marked:
    """What a file says was forgotten where it comes from: how many turns, and all that comes of how many conversations
    and speakers; and whether there are turns that were stored without their secrets.
    """

    turns: int = 0
    always: int = 0
    has_secrets: bool = False

    def __bool__(self) -> bool:
        return self != Marked()


@dataclass(slots=True)
class FileReport:
    """What one file held, and how much of it was new; it grows while the store takes what the file holds."""

    path: str
    format: str = ""
    conversations: int = 0
    turns: int = 0
    new_turns: int = 0
    replaced: list[str] = field(default_factory=list)
    skipped: list[InputError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    overlaps: list[Added] = field(default_factory=list)
    missed: list[InputError] = field(default_factory=list)
    forgotten: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    secrets: Counter[str] = field(default_factory=Counter)
    marked: Marked = Marked()

    def ingested(self, error: InputError | None) -> Ingested:
        """Return it as it is at the end, with the error that refused the file or a part of it, if any."""
        return Ingested(
            self.path, self.format, self.conversations, self.turns, self.new_turns, tuple(self.replaced),
            tuple(self.skipped), tuple(self.notes), tuple(one.beside for one in self.overlaps if one.beside), error,
            self.forgotten, dict(self.redacted), dict(self.secrets),
            tuple(one.conversation for one in self.overlaps if one.is_joined), self.marked,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ingested:
    """What `ingest` did with one file, or with a path that leads to none.

    `new_turns` of its `turns` were not stored before; `replaced` names the turns whose stored text gave way; `skipped`
    has the records that could not be read and were left out; `notes` tell what was repaired; `beside` names the stored
    conversations of other files that tell the same in part, and were kept as others; `joined` names those that its own
    overlapped with by enough to go on with them. `forgotten` counts the turns that were forgotten once: left out now,
    or stored again where that is wanted; `redacted` counts secrets that were blacked out, by kind, and `secrets` those
    that an agent's log still has. `marked` is what the file says was forgotten where it comes from. `error` says why
    the file, or the first of its conversations that was not taken, was not.
    """

    path: str
    format: str = ""
    conversations: int = 0
    turns: int = 0
    new_turns: int = 0
    replaced: tuple[str, ...] = ()
    skipped: tuple[InputError, ...] = ()
    notes: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    error: InputError | None = None
    forgotten: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)
    secrets: Mapping[str, int] = field(default_factory=dict)
    joined: tuple[str, ...] = ()
    marked: Marked = Marked()
