"""What is known of a memory while transcripts are read into it: its marks, and which conversation a transcript is.

The store tells that by what is said in it too; here its own id, its file or its name has to do, and where they do not,
nothing is taken out, and nothing is taken for stored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING

from goalmem_cli.memory_records import Selection
from goalmem_cli.records import Conversation, Turn, content_hash

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.store.tombstones import Tombstones


class KnownMemory:
    """A memory at the time when the reading begins; with `is_dry` nothing of it is changed."""

    def __init__(self, memory: KeptMemory, *, is_dry: bool) -> None:
        from goalmem_cli.store.tombstones import Tombstones

        self._memory = memory
        self._is_dry = is_dry
        self._carried: tuple[Tombstones, ...] = ()
        self.marks = Tombstones.of_folder(memory.path)

    @cached_property
    def _names(self) -> dict[str, str]:
        """What stored conversations are known by -> their names."""
        from goalmem_cli.store.tombstones import rooms_of_stored

        if not self._memory.exists:
            return {}
        told = [(room, each.name) for each in self._memory.conversations() for room in rooms_of_stored(each)]
        return dict(sorted(told, key=lambda pair: len(pair[1]), reverse=True))  # of two, the one without a number

    def change(self, changed: Callable[[Tombstones], Tombstones]) -> None:
        """Change the marks, and write them with those that another process has written meanwhile.

        Raises:
            StoreError: they cannot be written.
        """
        from goalmem_cli.store.privacy import FORGOTTEN
        from goalmem_cli.store.tombstones import Tombstones

        folder = self._memory.path
        if self._is_dry:
            self.marks = changed(self.marks)
            return
        with self._alone() as written:
            there = Tombstones.of_folder(folder) if (folder / FORGOTTEN).exists() else Tombstones(self.marks.key)
            if there.key == self.marks.key:
                there = changed(there)
                there.keep(folder, written)
                self.marks = there.with_those_of(self._carried)
            else:
                self.marks = changed(self.marks)

    def carry(self, others: Sequence[Tombstones]) -> None:
        """Go by the marks of other memories as well from now on; `settle` writes them.

        Raises:
            StoreError: they are too many.
        """
        self.marks = self.marks.with_those_of(others)
        self._carried += tuple(others)

    def settle(self, restored: Collection[str] = ()) -> None:
        """Write the marks of others that were taken over, and take away those of what came back.

        The last of all: stopped before, the same reading leaves out nothing that it would not have left out at first.

        Raises:
            StoreError: they cannot be written.
        """
        if self._is_dry or not (self._carried or restored):
            return
        from goalmem_cli.store.privacy import FORGOTTEN
        from goalmem_cli.store.tombstones import Tombstones

        folder = self._memory.path
        with self._alone() as written:
            there = Tombstones.of_folder(folder) if (folder / FORGOTTEN).exists() else self.marks
            self.marks = there.with_those_of(self._carried).without(restored)
            self.marks.keep(folder, written)
        self._carried = ()

    def _alone(self) -> AbstractContextManager[Callable[[str], None]]:
        """Be the only one who writes; where there is no memory yet, nobody does."""
        from goalmem_cli.store.files import unwatched

        return self._memory.keeping() if self._memory.exists else nullcontext(unwatched)

    def stored(self, conversation: Conversation, turns: Sequence[Turn]) -> list[Turn]:
        """Return which of these turns of a transcript are stored, just as they are."""
        names = self._called(conversation)
        if not names or not turns:
            return []
        selection = Selection(tuple(names), content_keys=frozenset(turn.content_key for turn in turns))
        ids = self._memory.forgettable(selection).ids
        return [turn for turn in turns if any(content_hash(name, turn.content_key) in ids for name in names)]

    def take_out(self, conversation: Conversation, turns: Sequence[Turn]) -> None:
        """Forget these turns of a transcript as they were stored: no file of the memory holds their text afterwards.

        Raises:
            StoreError: they cannot be taken out.
        """
        if self._is_dry or not self.stored(conversation, turns):
            return
        names = tuple(self._called(conversation))
        self._memory.forget(Selection(names, content_keys=frozenset(turn.content_key for turn in turns)))

    def _called(self, conversation: Conversation) -> list[str]:
        """Return what the conversation is called in the memory; nothing where it is not known."""
        from goalmem_cli.store.tombstones import rooms_of

        return sorted({self._names[room] for room in rooms_of(conversation) if room in self._names})
