"""Conversations on their way into the store: a batch is planned and embedded without a lock, then written at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from goalmem_cli.errors import InputError, StoreLocked
from goalmem_cli.memory_records import Added
from goalmem_cli.records import Conversation
from goalmem_cli.store.changes.forgetting import catch_up
from goalmem_cli.store.changes.identity import Change, Known, Named, plan_changes, resolve_name, storable
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.changes.restoring import Renaming
from goalmem_cli.store.changes.writing import write_changes
from goalmem_cli.store.database import tables
from goalmem_cli.store.database.tables import Meta
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.indexes import consistency
from goalmem_cli.store.queries.reader import check_embedder
from goalmem_cli.store.units import UnitEntry, entries_from_units

_BATCH_CONVERSATIONS = 1_000
_BATCH_TURNS = 8_000
_BATCH_CHARACTERS = 2**22
_CATCH_UP_UNITS = 20_000
_MAX_PLANS = 8

Report = Callable[[Added], None]


class Adding:
    """Adds conversations batch by batch; what was reported is safe, whatever happens to the next batch.

    With `by_name` a conversation is the one of its name, else the one that its own id or what it says tells. `is_dry`
    keeps the rows alone, for a scratch store that only has to tell what adding would do; `reserved` are names that it
    gives no conversation.
    """

    def __init__(
        self, parts: Parts, *, by_name: bool = False, is_dry: bool = False, reserved: Set[str] = frozenset()
    ) -> None:
        self._parts = parts
        self._by_name = by_name
        self._is_dry = is_dry
        self._reserved = reserved
        self._stretched = ""
        self._given = _Given()
        self._renaming = Renaming()
        self._waiting = 0

    def add(self, conversations: Iterable[Conversation], report: Report) -> None:
        """Store what is new, reporting each conversation or stretch of one when it is safe; the indexes follow.

        They also do when a later conversation fails, but not when the user interrupts: the next command does it then.

        Raises:
            InputError, EmbedderMismatch, StoreError: as `Store.add_all`.
        """
        try:
            for batch in batches(map(storable, conversations), by_name=self._by_name):
                for added in self.add_batch(batch):
                    report(added)
                if self._waiting >= _CATCH_UP_UNITS:
                    self._catch_up()
        except KeyboardInterrupt:
            raise
        except BaseException:
            self._catch_up()
            raise
        self._catch_up()
        if self._is_behind():  # an interrupted command left the indexes so
            catch_up(self._parts)

    @property
    def stretched(self) -> str:
        """The stored conversation that a transcript which `continues` goes on with; empty where there was none."""
        return self._stretched

    def add_batch(self, batch: Sequence[Conversation]) -> list[Added]:
        """Store what is new of a batch (see `batches`), and return what is to be reported; the indexes stay behind.

        Raises:
            EmbedderMismatch, StoreError: as `Store.add_all`.
        """
        return [_nothing(batch[0])] if _is_empty(batch[0]) else self._add(batch)

    def _catch_up(self) -> None:
        if self._waiting:
            catch_up(self._parts)
        self._waiting = 0

    def _is_behind(self) -> bool:
        parts = self._parts
        if not parts.database.exists:
            return False
        with parts.database.reading() as connection:
            return not consistency.is_current(connection, parts.indexes(connection))

    def _add(self, batch: Sequence[Conversation]) -> list[Added]:
        """Write if the store is still the one planned for, else plan again."""
        parts = self._parts
        for _ in range(_MAX_PLANS):
            changes, meta = self._planned(batch)
            changing = [
                (conversation, change)
                for conversation, change in zip(batch, changes, strict=True)
                if not change.is_empty
            ]
            if not changing:
                return self._done(batch, changes)
            entries = [entry for _, change in changing for entry in _entries(change)]
            vectors = {} if self._is_dry else self._embedded(entries, meta)
            with parts.database.writing() as connection:
                if tables.load_meta(connection).generation == meta.generation:
                    with connection.transaction():
                        if not self._is_dry:
                            parts.record_embedder(connection)
                        write_changes(
                            connection, changing, vectors, () if self._is_dry else (parts.text, parts.vectors)
                        )
                    self._waiting += len(changing) + len(entries)
                    return self._done(batch, changes)
        raise StoreLocked(f"{parts.path} keeps being changed by another process", "try again when it is done")

    def _embedded(self, entries: Sequence[UnitEntry], meta: Meta) -> dict[str, VectorPair]:
        parts = self._parts
        if entries:
            parts.fingerprint.check(meta)
        vectors = parts.embed(entries)
        if meta.embedder is None or meta.fingerprint is None:
            parts.fingerprint.text()  # once computed it is kept: no model works under the lock
        return vectors

    def _done(self, batch: Sequence[Conversation], changes: Sequence[Change]) -> list[Added]:
        self._stretched = changes[-1].name
        for conversation, change in zip(batch, changes, strict=True):
            self._given.beside(conversation).add(change.name)
        return _reports(batch, changes)

    def _planned(self, batch: Sequence[Conversation]) -> tuple[list[Change], Meta]:
        """Return what the conversations change, and the state of the store for which that is so."""
        parts = self._parts
        if not parts.database.exists:
            named = self._named(Known(set(), {}), batch)
            return plan_changes(None, named, batch, self._renaming), Meta("")
        with parts.database.reading() as connection:
            meta = tables.load_meta(connection)
            check_embedder(meta, parts.embedder)
            named = self._named(Known.from_store(connection, batch), batch)
            return plan_changes(connection, named, batch, self._renaming), meta

    def _named(self, known: Known, batch: Sequence[Conversation]) -> list[Named]:
        named: list[Named] = []
        known.names.update(self._reserved)
        given = replace(self._given, names=set(self._given.names))  # the plan may have to be made again
        for place, conversation in enumerate(batch):
            by_name = self._by_name or conversation.is_named or conversation.continues or not conversation.turns
            if conversation.continues:
                conversation = replace(conversation, name=self._stretched)
            elif not conversation.turns:  # what an export holds beside the turns of a conversation
                conversation = replace(
                    conversation, name=self._renaming.conversations.get(conversation.name, conversation.name)
                )
            beside = given.beside(conversation)
            named.append(resolve_name(known, place, conversation, by_name=by_name, given=beside))
            known.names.add(named[-1].name)
            beside.add(named[-1].name)
        return named


@dataclass(slots=True)
class _Given:
    """The names that the conversations of one file have in the store: no two of them are one."""

    file: str | None = None
    names: set[str] = field(default_factory=set)

    def beside(self, conversation: Conversation) -> set[str]:
        """Return the names of those that came before the conversation out of its file."""
        if conversation.file is None or conversation.file != self.file:
            self.file, self.names = conversation.file, set()
        return self.names


def _entries(change: Change) -> list[UnitEntry]:
    return [*change.entries, *entries_from_units(change.derived)]


def _reports(batch: Sequence[Conversation], changes: Sequence[Change]) -> list[Added]:
    return [
        Added(
            change.name,
            len(conversation.turns),
            change.new_turns,
            change.replaced,
            len(_entries(change)),
            change.beside,
        )
        for conversation, change in zip(batch, changes, strict=True)
    ]


def _nothing(conversation: Conversation) -> Added:
    return Added(conversation.name, 0)


def _is_empty(conversation: Conversation) -> bool:
    return not (conversation.turns or conversation.derived or conversation.edges or conversation.ledger)


def batches(conversations: Iterable[Conversation], *, by_name: bool) -> Iterator[list[Conversation]]:
    """Yield conversations that can be planned together: no two can be one, and none goes on with another.

    A conversation that holds nothing comes alone. Where reading fails, what was read before it comes first.
    """
    batch: list[Conversation] = []
    likeness = _Likeness(by_name=by_name)
    turns = characters = 0
    for conversation in _until_failure(conversations):
        if isinstance(conversation, InputError):
            if batch:
                yield batch
            raise conversation
        is_full = turns >= _BATCH_TURNS or characters >= _BATCH_CHARACTERS or len(batch) >= _BATCH_CONVERSATIONS
        stands_alone = conversation.continues or not conversation.turns or (batch and not batch[-1].turns)
        if batch and (is_full or stands_alone or likeness.is_to(conversation)):
            yield batch
            batch, turns, characters = [], 0, 0
            likeness = _Likeness(by_name=by_name)
        batch.append(conversation)
        likeness.add(conversation)
        turns += len(conversation.turns)
        characters += sum(len(turn.text) for turn in conversation.turns)
    if batch:
        yield batch


class _Likeness:
    """What the conversations of a batch would have in common with another transcript of one of them.

    That is a name or an own id; else the last turn of one stands in the other, as in `tables.load_overlaps`, and they
    are not of one file.
    """

    def __init__(self, *, by_name: bool) -> None:
        self._by_name = by_name
        self._names: set[tuple[str, ...]] = set()
        self._turns: set[str] = set()
        self._ends: set[str] = set()
        self._file: str | None = None
        self._file_turns: set[str] = set()
        self._file_ends: set[str] = set()

    def add(self, conversation: Conversation) -> None:
        """Take in a conversation of the batch."""
        self._names |= self._names_of(conversation)
        if conversation.turns:
            self._reach(conversation.file)
            self._file_turns.update(turn.content_key for turn in conversation.turns)
            self._file_ends.add(conversation.turns[-1].content_key)

    def is_to(self, conversation: Conversation) -> bool:
        """Return whether the conversation may be one of those of the batch."""
        names = self._names_of(conversation)
        if not self._names.isdisjoint(names):
            return True
        if self._by_name or conversation.own_id is not None or not conversation.turns:
            return False
        self._reach(conversation.file)
        keys = {turn.content_key for turn in conversation.turns}
        return conversation.turns[-1].content_key in self._turns or not keys.isdisjoint(self._ends)

    def _reach(self, file: str | None) -> None:
        """Begin another file: what came before it is compared from now on."""
        if file is None or file != self._file:
            self._turns |= self._file_turns
            self._ends |= self._file_ends
            self._file, self._file_turns, self._file_ends = file, set(), set()

    def _names_of(self, conversation: Conversation) -> set[tuple[str, ...]]:
        names: set[tuple[str, ...]] = set()
        if self._by_name or conversation.is_named or conversation.is_exported:
            names.add(("name", conversation.name))
        if conversation.own_id is not None:
            names.add(("id", conversation.format, conversation.own_id))
        return names


def _until_failure(conversations: Iterable[Conversation]) -> Iterator[Conversation | InputError]:
    """Yield the conversations, and then what is wrong with the next one, if anything is."""
    try:
        yield from conversations
    except InputError as error:
        yield error
