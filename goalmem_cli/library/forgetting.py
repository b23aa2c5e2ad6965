"""Forgetting for good: what goes leaves marks, so that reading its transcript again does not bring it back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goalmem_cli.errors import UsageError
from goalmem_cli.records import Conversation

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import AnyMemory
    from goalmem_cli.memory_records import Forgotten, Selection
    from goalmem_cli.store.tombstones import Tombstones


def forget(
    memory: AnyMemory,
    selection: Selection,
    shown: frozenset[str] | None = None,
    *,
    leaves_marks: bool = True,
    is_always: bool = False,
) -> Forgotten:
    """Delete the turns and all that came from them, and mark them as forgotten.

    With the ids of the turns that were `shown`, it is an error if others would go by now. With `is_always` what comes
    later of the same conversations and speakers is forgotten as well. The marks are written first: stopped between the
    two, nothing is lost, and the next forgetting deletes.

    Raises:
        UsageError: all that comes later cannot be forgotten before a time, or without a mark.
        StoreError: there is no memory, it cannot be used, or other turns would go than were shown.
    """
    if is_always and (selection.before is not None or not leaves_marks):
        raise UsageError(
            "what comes later is neither before a time nor forgotten without a mark", "give one of the two alone"
        )
    if leaves_marks:
        from goalmem_cli.store.tombstones import Tombstones

        gone = memory.forgettable(selection).ids
        marks = Tombstones.of_folder(memory.path)
        marks = marks.with_turns(turn for turn in memory.turns(selection.conversations) if turn.id in gone)
        if is_always:
            marks = marks.with_always(selection.conversations, selection.speakers)
        if gone:
            marks.keep(memory.path)
    return memory.forget(selection, shown)


@dataclass(frozen=True, slots=True)
class Sifted:
    """What is left of a conversation: None where all of it was forgotten.

    `known` counts the turns that were forgotten once, `left_out` those that are therefore left out; `is_another` says
    that it does not go on with the conversation before it.
    """

    kept: Conversation | None
    known: int
    left_out: int
    is_another: bool


class Sieve:
    """Leaves out of what is read what was forgotten; or, if it `restores`, notes what of it comes back."""

    def __init__(self, *, restores: bool) -> None:
        self._restores = restores
        self._restored: set[str] = set()
        self._marks: Tombstones | None = None

    def take(self, folder: Path) -> None:
        """Read the marks that a memory's folder has.

        Raises:
            StoreError: they cannot be read.
        """
        from goalmem_cli.store.tombstones import Tombstones

        self._marks = Tombstones.of_folder(folder)

    def forget_restored(self, folder: Path) -> None:
        """Take away the marks of what came back.

        Raises:
            StoreError: they cannot be written.
        """
        from goalmem_cli.store.tombstones import Tombstones

        if self._restored:
            Tombstones.of_folder(folder).without(self._restored).keep(folder)

    def sifted(self, conversations: Iterable[Conversation]) -> Iterator[Sifted]:
        """Yield what is left of each conversation of a file, in order."""
        sift = None if self._marks is None or self._marks.is_empty else self._marks.sifter()
        has_begun = False
        for conversation in conversations:
            kept, known = conversation, 0
            if sift is not None:
                without, marks, known = sift(conversation)
                self._restored |= marks if self._restores else set()
                kept = conversation if self._restores else without
            left_out = len(conversation.turns) - len(kept.turns)
            has_begun &= conversation.continues
            if conversation.turns and not kept.turns:
                yield Sifted(None, known, left_out, not conversation.continues)
                continue
            if conversation.continues and not has_begun:  # what came before it was left out
                kept = replace(kept, continues=False)
            has_begun = True
            yield Sifted(kept, known, left_out, not conversation.continues)
