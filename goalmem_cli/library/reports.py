"""Reports on files that were read."""

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
    """Counts of the marks in an exported memory.

    `turns` counts its forgotten turns. `always` counts its conversations and speakers whose later turns are forgotten
    too. `has_secrets` says that it has marks of redacted turns.
    """

    turns: int = 0
    always: int = 0
    has_secrets: bool = False

    def __bool__(self) -> bool:
        return self != Marked()


@dataclass(slots=True)
class FileReport:
    """Counts of one file: its conversations and turns, and how many were new; they grow while the file is stored."""

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
        """Return the final record, with the error that refused the file or a part of it, if any."""
        return Ingested(
            self.path, self.format, self.conversations, self.turns, self.new_turns, tuple(self.replaced),
            tuple(self.skipped), tuple(self.notes), tuple(name for one in self.overlaps for name in one.beside), error,
            self.forgotten, dict(self.redacted), dict(self.secrets),
            tuple(one.conversation for one in self.overlaps if one.is_joined), self.marked,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ingested:
    """What `ingest` did with one file, or with a path that leads to no file.

    `new_turns` of its `turns` were not stored before. `replaced` names the turns whose stored text was replaced.
    `skipped` has the unreadable records. `notes` say what was repaired. `beside` names overlapping conversations of
    other files, which were kept apart. `joined` names overlapping conversations that the file continued. `forgotten`
    counts turns that are marked as forgotten; they were left out, or stored again on request. `redacted` counts secrets
    that were blacked out, by kind. `secrets` counts those that remain in an agent's log. `marked` counts an exported
    memory's marks. `error` says why the file, or the first of its conversations that failed, was refused.
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
