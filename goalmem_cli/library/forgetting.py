"""Forgetting for good: what goes leaves marks, so that reading its transcript again does not bring it back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goalmem_cli.errors import StoreError, UsageError
from goalmem_cli.library.reports import Marked
from goalmem_cli.memory_records import Voice
from goalmem_cli.records import Conversation, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from goalmem_cli.library.known import KnownMemory
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.memory_records import Forgotten, Selection
    from goalmem_cli.store.tombstones import Tombstones
    from goalmem_cli.transcripts.reading.nodes import Node

EXPORT = "goalmem"
"""The format of exported memories, in which alone marks stand."""


def forget(
    memory: KeptMemory,
    selection: Selection,
    shown: frozenset[str] | None = None,
    *,
    leaves_marks: bool = True,
    is_always: bool = False,
) -> Forgotten:
    """Delete the turns and all that came from them, and mark them as forgotten.

    With the ids of the turns that were `shown`, it is an error if others would go by now. With `is_always` what comes
    later of the same conversations and speakers is forgotten as well. What the user said of people who do not speak any
    more then goes last. The marks are written first: stopped between the two, nothing is lost, and the next forgetting
    deletes.

    Raises:
        UsageError: all that comes later cannot be forgotten before a time, or without a mark.
        StoreError: there is no memory, it cannot be used, or other turns would go than were shown.
    """
    refuse_always(is_always=is_always, has_end=selection.before is not None, leaves_marks=leaves_marks)
    gone = memory.forgettable(selection).ids if leaves_marks else frozenset[str]()
    if gone and shown in (None, gone):
        told = [turn for turn in memory.turns(selection.conversations) if turn.id in gone]
        _mark(memory, selection, told, is_always=is_always)
    return memory.forget(selection, shown)


def _mark(memory: KeptMemory, selection: Selection, told: Sequence[Turn], *, is_always: bool) -> None:
    """Write the marks of the turns, and with `is_always` of what comes later."""
    from goalmem_cli.store.tombstones import Tombstones, rooms_of_stored

    stored = memory.conversations()
    rooms = {each.name: rooms_of_stored(each) for each in stored}
    named = selection.conversations
    chosen = None if named is None else [rooms[name] for name in named]
    names, voices = selection.speakers, selection.voices or frozenset[Voice]()
    if names is not None and voices:
        others = {one.name for each in stored for one in each.speakers if one.voice not in voices}
        names = tuple(name for name in names if name not in others)
        voices = frozenset(voice for voice in voices if voice.id or voice.name in others)
    with memory.keeping() as written:  # others may take marks over meanwhile
        marks = Tombstones.of_folder(memory.path).with_turns(told, rooms)
        if is_always:
            marks = marks.with_always(chosen, names, sorted(voices))
        marks.keep(memory.path, written)


def exported(memory: KeptMemory, *, with_forgotten: bool) -> Iterator[dict[str, object]]:
    """Yield the memory as JSON documents that `ingest` reads back, with the marks of what was forgotten if so wanted.

    Raises:
        StoreError: there is no memory, it cannot be used, or the marks are damaged or too many.
    """
    if not with_forgotten:
        yield from memory.export()
        return
    from goalmem_cli.store.tombstones import Tombstones

    Tombstones.of_folder(memory.path).documents()  # what cannot be exported is said before anything is written
    yield from memory.export()
    if marks := Tombstones.of_folder(memory.path).documents():  # with those of what was forgotten meanwhile
        yield {"forgotten": marks}


def write_export(memory: KeptMemory, file: Path, *, with_forgotten: bool) -> int:
    """Write `exported` into a file, which only its owner can read where it has a key; return how many lines that are.

    Raises:
        StoreError: as `exported`, or the file cannot be written.
    """
    if not with_forgotten:
        return memory.export_file(file)
    from goalmem_cli.store.changes.exporting import write_lines

    return write_lines(exported(memory, with_forgotten=True), file, is_private=True)


def marks_in(node: Node) -> tuple[Tombstones, ...]:
    """Return the marks that an exported memory has.

    Raises:
        InputError: they are not as goalmem writes them.
    """
    from goalmem_cli.store.tombstones import Tombstones

    try:
        return Tombstones.from_documents(node.value)
    except (ValueError, StoreError) as error:
        raise node.error("these are not marks that goalmem exports, or too many", "export the memory again") from error


def refuse_always(*, is_always: bool, has_end: bool, leaves_marks: bool) -> None:
    """Refuse to forget all that comes later before a time, or without a mark.

    Raises:
        UsageError: that is what was asked for.
    """
    if is_always and (has_end or not leaves_marks):
        why = "always is about what comes later, and needs marks: it goes neither with a time nor without marks"
        raise UsageError(why, "give one of the two")


@dataclass(frozen=True, slots=True)
class Sifted:
    """What is left of a conversation: None where all of it was forgotten.

    `known` counts the turns that were forgotten once, `left_out` are those that are therefore left out; `is_another`
    says that it does not go on with the conversation before it.
    """

    kept: Conversation | None
    known: int
    left_out: Sequence[Turn]
    is_another: bool


class Sieve:
    """Leaves out of what is read what was forgotten; or, if it `restores`, notes what of it comes back.

    What exported memories say was forgotten there is left out behind them too, if it `takes` that.
    """

    def __init__(self, *, restores: bool, takes: bool) -> None:
        self._restores = restores
        self._takes = takes
        self._restored: set[str] = set()
        self._known: KnownMemory | None = None

    def take(self, known: KnownMemory) -> None:
        """Go by the marks of a memory from now on."""
        self._known = known

    def hear(self, told: Node) -> Marked:
        """Take over what an exported memory says was forgotten there, if that is wanted; return how much it is.

        Raises:
            InputError: it is not as goalmem writes it.
        """
        from goalmem_cli.store.tombstones import Tombstones

        others = marks_in(told)
        if self._takes and self._known is not None:
            try:
                self._known.carry(others)
            except StoreError as error:
                raise told.error(error.message, error.hint) from error
        together = Tombstones(b"").with_those_of(others)
        return Marked(*together.counts, together.knows_secrets)

    def settle(self) -> None:
        """Write what was taken over, and take away the marks of what came back.

        Raises:
            StoreError: it cannot be written.
        """
        if self._known is not None:
            self._known.settle(self._restored)

    def sifted(self, conversations: Iterable[Conversation]) -> Iterator[Sifted]:
        """Yield what is left of each conversation of a file, in order.

        What an exported store derived from a turn that is left out is left out with it.
        """
        from goalmem_cli.store.tombstones import without_resting_on

        has_begun, gone = False, set[str]()
        for conversation in conversations:
            forgotten = self._forgotten(conversation)
            kept, left = conversation, list[Turn]()
            if self._restores:
                self._restored.update(*forgotten.values())
            elif forgotten or gone:
                left = [turn for turn in conversation.turns if turn.id in forgotten]
                stay = tuple(turn for turn in conversation.turns if turn.id not in forgotten)
                kept = without_resting_on(replace(conversation, turns=stay), left, gone)
            has_begun &= conversation.continues
            if conversation.turns and not kept.turns:
                yield Sifted(None, len(forgotten), left, not conversation.continues)
                continue
            if conversation.continues and not has_begun:  # what came before it was left out
                kept = replace(kept, continues=False)
            has_begun = True
            yield Sifted(kept, len(forgotten), left, not conversation.continues)

    def _forgotten(self, conversation: Conversation) -> dict[str, frozenset[str]]:
        """Return the forgotten turns' ids -> the marks by which they are known; what is stored was not forgotten."""
        if self._known is None or self._known.marks.is_empty:
            return {}
        from goalmem_cli.store.tombstones import rooms_of

        marks, rooms = self._known.marks, rooms_of(conversation)
        known = {turn: found for turn in conversation.turns if (found := marks.forgotten(turn, rooms))}
        stored = self._known.stored(conversation, list(known))
        return {turn.id: found for turn, found in known.items() if turn not in stored}
