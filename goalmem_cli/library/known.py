"""A memory's marks of forgotten turns, and its conversations, while transcripts are read into it.

A transcript's conversation is found by its own id, its file or its name. The store also compares turns, but this module
does not: a conversation that it cannot find counts as not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC
from functools import cached_property
from typing import TYPE_CHECKING

from goalmem_cli.errors import InputError
from goalmem_cli.memory_records import Selection
from goalmem_cli.records import Conversation, Turn, content_hash, zone_in

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.store.people import People
    from goalmem_cli.store.tombstones import Tombstones


class KnownMemory:
    """A memory as it is when the reading begins; with `is_dry` it is not changed."""

    def __init__(self, memory: KeptMemory, *, is_dry: bool) -> None:
        from goalmem_cli.store.people import People
        from goalmem_cli.store.tombstones import Tombstones

        self._memory = memory
        self._is_dry = is_dry
        self._carried: tuple[Tombstones, ...] = ()
        self.marks = Tombstones.of_folder(memory.path)
        self._chats = self._chats_stored() if self.marks.chats and memory.exists else {}
        self._losses = {name: frozenset(self.marks.chats.get(mark, ())) for name, mark in self._chats.items()}
        if self.marks.knows_secrets or not self.marks.is_empty:
            self.people = People.of_folder(memory.path)  # without these notes, forgotten turns may come back

    @cached_property
    def people(self) -> People:
        """The user's notes on people."""
        from goalmem_cli.store.people import People

        return People.of_folder(self._memory.path)

    @cached_property
    def _names(self) -> dict[str, str]:
        """The keys of stored conversations (see `rooms_of_stored`) -> their names."""
        from goalmem_cli.store.recognising import rooms_of_stored

        if not self._memory.exists:
            return {}
        told = [(room, each.name) for each in self._memory.conversations() for room in rooms_of_stored(each)]
        return dict(sorted(told, key=lambda pair: len(pair[1]), reverse=True))  # prefer the name without a number

    def change(self, changed: Callable[[Tombstones], Tombstones]) -> None:
        """Change the marks, and write them together with those that another process wrote meanwhile.

        Raises:
            StoreError: the marks cannot be written.
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
        """Apply the marks of other memories too from now on; `settle` writes them.

        Raises:
            StoreError: there are too many marks.
        """
        self.marks = self.marks.with_those_of(others)
        self._carried += tuple(others)

    def settle(self, restored: Collection[str] = ()) -> None:
        """Write the marks of other memories, and remove the `restored` marks.

        Call it last: if a reading is interrupted before, its repetition leaves out the same turns.

        Raises:
            StoreError: the marks cannot be written.
        """
        if self._is_dry:
            return
        moved, gone = self._moved()
        if not (self._carried or restored or moved or gone):
            return
        from goalmem_cli.store.privacy import FORGOTTEN
        from goalmem_cli.store.tombstones import Tombstones

        folder = self._memory.path
        with self._alone() as written:
            there = Tombstones.of_folder(folder) if (folder / FORGOTTEN).exists() else self.marks
            self.marks = there.with_chats(moved, gone).with_those_of(self._carried).without(restored)
            self.marks.keep(folder, written)
        self._carried = ()

    def _chats_stored(self) -> dict[str, str]:
        """Return the stored conversations by name -> their marks."""
        from goalmem_cli.store.recognising import chat_of

        return {each.name: self.marks.mark(*chat_of(each)) for each in self._memory.conversations()}

    def _moved(self) -> tuple[dict[str, str], frozenset[str]]:
        """Return old mark -> new one of conversations that were read from another file now, and marks of nothing.

        A mark that was of no conversation when the reading began is of none that is read now.
        """
        from goalmem_cli.store.recognising import CHAT_UNKNOWN

        told = self.marks.chats.keys() - {self.marks.mark(*CHAT_UNKNOWN)}
        if not told:
            return {}, frozenset()
        now = self._chats_stored()
        before = {mark: name for name, mark in self._chats.items() if mark in told}
        moved = {mark: now[name] for mark, name in before.items() if name in now and now[name] != mark}
        return moved, frozenset(told - {mark for mark, name in before.items() if name in now})

    def holders(self, conversation: Conversation, turns: Sequence[Turn]) -> tuple[tuple[Turn, frozenset[str]], ...]:
        """Return these forgotten turns of a transcript, each with the names of the conversations that lost it."""
        if conversation.own_id is not None or conversation.is_exported or not self.marks.chats:
            return ()
        from goalmem_cli.store.recognising import CHAT_UNKNOWN

        losses = {**self._losses, "": frozenset(self.marks.chats.get(self.marks.mark(*CHAT_UNKNOWN), ()))}
        found = []
        for turn in turns:
            number = self.marks.number_of(turn)
            found.append((turn, frozenset(name for name, lost in losses.items() if number in lost)))
        return tuple(found)

    def _alone(self) -> AbstractContextManager[Callable[[str], None]]:
        """Hold the lock for writing; a memory that does not exist yet needs none."""
        from goalmem_cli.store.files import unwatched

        return self._memory.keeping() if self._memory.exists else nullcontext(unwatched)

    def stored(self, conversation: Conversation, turns: Sequence[Turn]) -> list[Turn]:
        """Return which of these turns of a transcript are stored unchanged."""
        names = self._called(conversation)
        if not names or not turns:
            return []
        selection = Selection(tuple(names), content_keys=frozenset(turn.content_key for turn in turns))
        ids = self._memory.forgettable(selection).ids
        return [turn for turn in turns if any(content_hash(name, turn.content_key) in ids for name in names)]

    def zones_of(self, conversation: Conversation, turns: Sequence[Turn]) -> dict[str, dict[str, object]]:
        """Return the content keys of these turns of a transcript -> the zone that they are stored with, if any."""
        keys = {turn.content_key for turn in turns if turn.said is not None and turn.said.tzinfo is UTC}
        if not keys or not self._names:
            return {}
        names = sorted({*(self._called(conversation) or self._previewed(conversation))} & set(self._names.values()))
        stored = [turn for turn in self._memory.turns(names) if turn.content_key in keys] if names else []
        return {turn.content_key: zone for turn in stored if (zone := zone_in(turn.attributes))}

    def take_out(
        self, plain: Sequence[tuple[Conversation, Sequence[Turn]]], note: Callable[[str], None]
    ) -> tuple[int, list[str]]:
        """Delete these turns of transcripts from the memory, and return how many were stored.

        `note` says first what is deleted. No file of it holds their text afterwards. A dry reading only counts them. A
        transcript that cannot be found, such as a copy under another name, is compared with what is stored; for each
        transcript the name of the one stored conversation that was found so is returned, else "".

        Raises:
            StoreError: they cannot be deleted.
        """
        windows = [""] * len(plain)
        if not self._names:
            return 0, windows
        stored, names, keys = set(self._names.values()), set[str](), set[str]()
        for place, (conversation, turns) in enumerate(plain):
            called = self._called(conversation)
            found_as = [] if called else [name for name in self._previewed(conversation) if name in stored]
            windows[place] = found_as[0] if len(found_as) == 1 and not conversation.continues else ""
            names |= {*called, *found_as} & stored
            keys.update(turn.content_key for turn in turns)
        selection = Selection(tuple(sorted(names)), content_keys=frozenset(keys))
        found = self._memory.forgettable(selection).turns if selection.conversations else 0
        if found and not self._is_dry:
            what = "1 stored turn that has secrets" if found == 1 else f"{found} stored turns that have secrets"
            note(f"replacing {what}, and deleting the kept proofs that quote them, which cannot be undone")
            self._memory.forget(selection)
        return found, windows

    def _previewed(self, conversation: Conversation) -> list[str]:
        """Return the names that the conversation would get; empty if it cannot be stored, which storing it reports."""
        try:
            return [added.conversation for added in self._memory.preview_all([conversation])]
        except InputError:
            return []

    def _called(self, conversation: Conversation) -> list[str]:
        """Return the names of the conversation in the memory; empty if it is not found."""
        from goalmem_cli.store.recognising import rooms_of

        return sorted({self._names[room] for room in rooms_of(conversation) if room in self._names})
