"""Forget turns for good, and leave marks, so that reading their transcript again does not bring them back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goalmem_cli.errors import StoreDamaged, StoreError, StoreNewer, UsageError
from goalmem_cli.library.reports import Marked
from goalmem_cli.memory_records import Voice
from goalmem_cli.records import Conversation, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from goalmem_cli.library.known import KnownMemory
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.memory_records import ConversationSummary, Forgotten, Selection
    from goalmem_cli.store.people import People, Person
    from goalmem_cli.store.tombstones import Tombstones
    from goalmem_cli.transcripts.reading.nodes import Node

EXPORT = "goalmem"
"""The format of exported memories; no other format has marks."""


def forget(
    memory: KeptMemory,
    selection: Selection,
    shown: frozenset[str] | None = None,
    *,
    leaves_marks: bool = True,
    is_always: bool = False,
) -> Forgotten:
    """Delete the selected turns and all that came from them, and mark them as forgotten.

    `shown` are the ids of the turns that the user saw; the call fails if it would delete others. With `is_always`,
    later turns of the same conversations and speakers are forgotten too. The user's notes on people who no longer speak
    are deleted last. The marks are written first: after an interruption the next call deletes the turns.

    Raises:
        UsageError: `is_always` is given with a time or without marks.
        StoreError: there is no memory, it cannot be used, or the turns differ from those that were `shown`.
    """
    from goalmem_cli.store.people import People

    refuse_always(is_always=is_always, has_end=selection.before is not None, leaves_marks=leaves_marks)
    people = People.of_folder(memory.path)  # notes that cannot be read stop it before anything is deleted
    going = memory.forgettable(selection)
    if (going.ids or is_always) and shown in (None, going.ids):
        if leaves_marks:
            told = [turn for turn in memory.turns(selection.conversations) if turn.id in going.ids]
            _mark(memory, selection, told, people, is_always=is_always)
        _part(memory, going.conversations)
    return memory.forget(selection, shown)


def _part(memory: KeptMemory, names: Sequence[str]) -> None:
    """Delete the marks of these conversations, all turns of which are being deleted: others may get their files."""
    from goalmem_cli.store.privacy import FORGOTTEN
    from goalmem_cli.store.recognising import CHAT_UNKNOWN, chat_of
    from goalmem_cli.store.tombstones import Tombstones

    if not names or not (memory.path / FORGOTTEN).exists():
        return
    chats = {chat_of(each) for each in memory.conversations() if each.name in set(names)} - {CHAT_UNKNOWN}
    with memory.keeping() as written, suppress(StoreDamaged, StoreNewer):  # marks that cannot be read join nothing
        marks = Tombstones.of_folder(memory.path)
        if gone := marks.chats.keys() & {marks.mark(*chat) for chat in chats}:
            marks.with_chats({}, gone).keep(memory.path, written)


def _mark(memory: KeptMemory, selection: Selection, told: Sequence[Turn], people: People, *, is_always: bool) -> None:
    """Write the marks of the turns, and with `is_always` those of later turns; `people` are the user's notes."""
    from goalmem_cli.store.recognising import chat_of, rooms_called, rooms_of_stored
    from goalmem_cli.store.tombstones import Tombstones

    stored = memory.conversations()
    rooms = {each.name: rooms_of_stored(each) for each in stored}
    named = selection.conversations
    chosen = None if named is None else [rooms.get(name) or rooms_called(name) for name in named]
    names, voices = selection.speakers, selection.voices or frozenset[Voice]()
    given = [one for one in people.of(voices or map(Voice, names or ())) if one.name not in (names or ())]
    if names is not None and voices:
        others = {one.name for each in stored for one in each.speakers if one.voice not in voices}
        names = tuple(name for name in names if name not in others)
        voices = frozenset(voice for voice in voices if voice.id or voice.name in others)
    with memory.keeping() as written:  # another process may import marks meanwhile
        chats = {each.name: chat_of(each) for each in stored}
        marks = Tombstones.of_folder(memory.path).with_turns(told, rooms, people, chats)
        if is_always:
            marks = marks.with_always(chosen, names, sorted(voices))
            for one in given:  # a later export may have the name that the user gave
                there = [
                    rooms[each.name] for each in stored if named is None or each.name in named if _is_only(one, each)
                ]
                marks = marks.with_always(there, [one.name])
        marks.keep(memory.path, written)


def _is_only(person: Person, conversation: ConversationSummary) -> bool:
    """Say whether the person speaks there, has no id, and nobody else there has the name that the user gave."""
    theirs = {one.voice for one in conversation.speakers if one.voice in person.voices}
    others = {one.name for one in conversation.speakers if one.voice not in theirs}
    return bool(theirs) and not any(voice.id for voice in person.voices) and person.name not in others


def exported(
    memory: KeptMemory, unread: list[StoreError] | None = None, *, with_forgotten: bool
) -> Iterator[dict[str, object]]:
    """Yield the memory as JSON documents that `ingest` reads back; `with_forgotten` adds the marks.

    For `unread` see `SupportsExporting`.

    Raises:
        StoreError: there is no memory, it cannot be used, or the marks are damaged or too many.
    """
    if not with_forgotten:
        yield from memory.export(unread)
        return
    from goalmem_cli.store.tombstones import Tombstones

    Tombstones.of_folder(memory.path).documents()  # raises before anything is written
    yield from memory.export(unread)
    if marks := Tombstones.of_folder(memory.path).documents():  # with marks that were added meanwhile
        yield {"forgotten": marks}


def write_export(
    memory: KeptMemory, file: Path, unread: list[StoreError] | None = None, *, with_forgotten: bool
) -> int:
    """Write `exported` into a file and return the number of lines; with a key in it, only the owner can read the file.

    Raises:
        StoreError: as `exported`, or the file cannot be written.
    """
    if not with_forgotten:
        return memory.export_file(file, unread)
    from goalmem_cli.store.changes.exporting import write_lines

    return write_lines(exported(memory, unread, with_forgotten=True), file, is_private=True)


def marks_in(node: Node) -> tuple[Tombstones, ...]:
    """Return the marks of an exported memory.

    Raises:
        InputError: they do not have goalmem's form, or are too many.
    """
    from goalmem_cli.store.tombstones import Tombstones

    try:
        return Tombstones.from_documents(node.value)
    except (ValueError, StoreError) as error:
        raise node.error("these are not marks that goalmem exports, or too many", "export the memory again") from error


def refuse_always(*, is_always: bool, has_end: bool, leaves_marks: bool) -> None:
    """Raise a UsageError if `is_always` was asked for together with a time or without marks."""
    if is_always and (has_end or not leaves_marks):
        why = "always is about what comes later, and needs marks: it goes neither with a time nor without marks"
        raise UsageError(why, "give one of the two")


@dataclass(frozen=True, slots=True)
class Sifted:
    """A conversation without its forgotten turns; `kept` is None if no turn is left.

    `known` counts the turns that are marked as forgotten. `left_out` are those that were left out. `is_another` says
    that it does not continue the conversation before it. `unquoted` are the ids of replies that lost their quote of a
    turn that was left out.
    """

    kept: Conversation | None
    known: int
    left_out: Sequence[Turn]
    is_another: bool
    unquoted: frozenset[str] = frozenset()


class Sieve:
    """Leaves forgotten turns out of what is read or, if it `restores` them, notes which come back.

    If it `takes` marks, it also applies the marks of the exported memories that it reads.
    """

    def __init__(self, *, restores: bool, takes: bool) -> None:
        self._restores = restores
        self._takes = takes
        self._restored: set[str] = set()
        self._known: KnownMemory | None = None

    def take(self, known: KnownMemory) -> None:
        """Apply the marks of this memory from now on."""
        self._known = known

    def hear(self, told: Node) -> Marked:
        """Return the counts of an exported memory's marks, and import the marks if that is wanted.

        Raises:
            InputError: they do not have goalmem's form, or are too many.
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

    def settle(self) -> int:
        """Write the imported marks, and remove those of restored turns; return how many `always` rules were removed.

        Raises:
            StoreError: they cannot be written.
        """
        if self._known is None:
            return 0
        _, before = self._known.marks.counts
        self._known.settle(self._restored)
        return before - self._known.marks.counts[1]

    def sifted(self, conversations: Iterable[Conversation]) -> Iterator[Sifted]:
        """Yield each conversation of a file without its forgotten turns, in order.

        Whatever an exported store derived from a forgotten turn is left out too, and so are quotes of it in replies.
        """
        from goalmem_cli.store.recognising import without_quotes
        from goalmem_cli.store.tombstones import without_resting_on

        has_begun, gone, recognised, unsaid = False, set[str](), set[str](), list[Turn]()
        for conversation in conversations:
            if not conversation.continues:
                recognised.clear()
                unsaid.clear()
            forgotten = self._forgotten(conversation, recognised)
            kept, left, changed = conversation, list[Turn](), frozenset[str]()
            if self._restores:
                self._restored.update(*forgotten.values())
            elif forgotten or gone:
                left = [turn for turn in conversation.turns if turn.id in forgotten]
                unsaid += left
                stay = [turn for turn in conversation.turns if turn.id not in forgotten]
                told = without_quotes(stay, unsaid)
                changed = frozenset(turn.id for turn, before in zip(told, stay, strict=True) if turn is not before)
                missing = () if self._known is None else self._known.holders(conversation, left)
                kept = without_resting_on(replace(conversation, turns=tuple(told), missing=missing), left, gone)
            has_begun &= conversation.continues
            if conversation.turns and not kept.turns:
                yield Sifted(None, len(forgotten), left, not conversation.continues)
                continue
            if conversation.continues and not has_begun:  # what came before it was left out
                kept = replace(kept, continues=False)
            has_begun = True
            yield Sifted(kept, len(forgotten), left, not conversation.continues, changed)

    def _forgotten(self, conversation: Conversation, recognised: set[str]) -> dict[str, frozenset[str]]:
        """Return the ids of forgotten turns -> their marks; a turn that is stored is not forgotten.

        `recognised` are the speakers whose turns were forgotten under another name; further ones are added.
        """
        if self._known is None or self._known.marks.is_empty:
            return {}
        from goalmem_cli.store.recognising import rooms_of
        from goalmem_cli.store.tombstones import under_another_name

        marks, people, rooms = self._known.marks, self._known.people, rooms_of(conversation)
        known, others = dict[Turn, frozenset[str]](), dict[Turn, frozenset[str]]()
        for turn in conversation.turns:
            if found := marks.forgotten(turn, rooms, people):
                known[turn] = found
            elif by_somebody := marks.said_by_somebody(turn):
                others[turn] = by_somebody
        there, wanted = (frozenset[str]().union(*each.values()) for each in (known, others))
        old = marks.used_up(there, wanted)
        renamed = under_another_name(others, old, recognised)
        recognised.update(turn.speaker for turn in renamed)
        known |= renamed
        stored = self._known.stored(conversation, list(known))
        return {turn.id: found for turn, found in known.items() if turn not in stored}
