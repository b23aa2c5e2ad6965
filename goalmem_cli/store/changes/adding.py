"""Add conversations: each batch is planned and embedded without a lock, and then written in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import takewhile

from goalmem_cli.errors import InputError, StoreLocked
from goalmem_cli.memory_records import Added
from goalmem_cli.records import Conversation, Turn, content_hash
from goalmem_cli.store.changes.clocks import by_stored_clocks
from goalmem_cli.store.changes.copied import Parting, plan_partings, sources_of, without_copies
from goalmem_cli.store.changes.forgetting import catch_up
from goalmem_cli.store.changes.identity import Change, Known, Named, plan_changes, resolve_name
from goalmem_cli.store.changes.parts import Parts
from goalmem_cli.store.changes.restoring import Renaming
from goalmem_cli.store.changes.storable import storable
from goalmem_cli.store.changes.writing import write_changes
from goalmem_cli.store.database import tables
from goalmem_cli.store.database.tables import Meta
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.indexes import consistency
from goalmem_cli.store.queries.reader import check_embedder
from goalmem_cli.store.tombstones import without_resting_on
from goalmem_cli.store.units import UnitEntry, entries_from_units

_BATCH_CONVERSATIONS = 1_000
_BATCH_TURNS = 8_000
_BATCH_CHARACTERS = 2**22
_CATCH_UP_UNITS = 20_000
_MAX_PLANS = 8

Report = Callable[[Added], None]


class Adding:
    """Adds conversations batch by batch; reported conversations stay stored if a later batch fails.

    With `by_name` the name alone decides which stored conversation one belongs to; else its own id or its turns do.
    `is_dry` writes only rows, for a scratch store that shows what adding would do. `reserved` are names that new
    conversations do not get.
    """

    def __init__(
        self, parts: Parts, *, by_name: bool = False, is_dry: bool = False, reserved: Set[str] = frozenset()
    ) -> None:
        self._parts = parts
        self._by_name = by_name
        self._is_dry = is_dry
        self._reserved = reserved
        self._stretched = ""
        self._shift = (0, 0)
        self._given = _Given()
        self._renaming = Renaming()
        self._copied: set[str] = set()
        self._waiting = 0

    def add(self, conversations: Iterable[Conversation], report: Report) -> None:
        """Store new turns, report each conversation or part of one once it is stored, and then update the indexes.

        The indexes are updated after an error too, but not after an interruption by the user; then the next command
        updates them.

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
        if not self._catch_up() and self._is_behind():  # because of an interrupted command
            catch_up(self._parts)

    @property
    def stretched(self) -> str:
        """The name of the stored conversation that a transcript with `continues` continues; "" if there was none."""
        return self._stretched

    def add_batch(self, batch: Sequence[Conversation]) -> list[Added]:
        """Store the new turns of a batch (see `batches`), and return the reports; the indexes are not updated.

        Raises:
            EmbedderMismatch, StoreError: as `Store.add_all`.
        """
        return [Added(batch[0].name, 0)] if _is_empty(batch[0]) else self._add(batch)

    def _catch_up(self) -> bool:
        """Update the indexes if anything was written since their last update; return whether it was."""
        has_changed = self._waiting > 0
        if has_changed:
            catch_up(self._parts)
        self._waiting = 0
        return has_changed

    def _is_behind(self) -> bool:
        """Return whether an index lacks changes of the database."""
        parts = self._parts
        if not parts.database.exists:
            return False
        with parts.database.reading() as connection:
            return not consistency.is_current(connection, parts.indexes(connection))

    def _add(self, conversations: Sequence[Conversation]) -> list[Added]:
        """Write the batch, in several transactions if some of its conversations turn out to be the same one."""
        done: list[Added] = []
        while len(done) < len(conversations):
            done += self._add_first(conversations[len(done) :])
        return done

    def _add_first(self, conversations: Sequence[Conversation]) -> list[Added]:
        """Plan the first conversations and write them; plan again if the store has changed meanwhile."""
        parts = self._parts
        for _ in range(_MAX_PLANS):
            changes, partings, meta = self._planned(conversations)
            batch = conversations[: len(changes)]
            changing = [
                (conversation, change)
                for conversation, change in zip(batch, changes, strict=True)
                if not change.is_empty
            ]
            if not changing:
                return self._done(batch, changes)
            changing += [(parting.fork, parting.change) for parting in partings]
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
                    return self._done(batch, changes, partings)
        raise StoreLocked(f"{parts.path} is constantly changed by another process", "try again when it is done")

    def _embedded(self, entries: Sequence[UnitEntry], meta: Meta) -> dict[str, VectorPair]:
        """Return the vectors of the entries by unit, and check that the store's embedder made them."""
        parts = self._parts
        if entries:
            parts.fingerprint.check(meta)
        vectors = parts.embed(entries)
        if meta.embedder is None or meta.fingerprint is None:
            parts.fingerprint.text()  # computed and cached here, so that no model runs under the lock
        return vectors

    def _done(
        self, batch: Sequence[Conversation], changes: Sequence[Change], partings: Sequence[Parting] = ()
    ) -> list[Added]:
        """Remember what later batches need to know of this one, and return its reports."""
        self._copied.update(id_ for parting in partings for id_ in parting.change.gone_units)
        self._stretched = changes[-1].name
        if not batch[-1].continues:
            self._shift = changes[-1].shift
        for conversation, change in zip(batch, changes, strict=True):
            self._given.beside(conversation).add(change.name)
        return _reports(batch, changes, partings)

    def _planned(self, batch: Sequence[Conversation]) -> tuple[list[Change], list[Parting], Meta]:
        """Return the changes by the first conversations and to stored forks, and the store's metadata at that time.

        It stops before a conversation that belongs to the same stored conversation as an earlier one.
        """
        parts = self._parts
        if not parts.database.exists:
            named = self._named(Known(set(), {}), batch)
            return plan_changes(None, named, batch, self._renaming), [], Meta("")
        with parts.database.reading() as connection:
            meta = tables.load_meta(connection)
            check_embedder(meta, parts.embedder)
            batch = by_stored_clocks(connection, batch)
            known = Known.from_store(connection, batch, self._stretched)
            named = _before_repeated(self._named(known, batch))
            batch = batch[: len(named)]
            fresh = without_copies(connection, known.by_own_id, [one.name for one in named], batch)
            fresh = [self._resting(one, said) for one, said in zip(fresh, batch, strict=True)]
            changes = plan_changes(connection, named, [self._shifted(one) for one in fresh], self._renaming)
            return changes, plan_partings(connection, batch, changes), meta

    def _resting(self, fresh: Conversation, said: Conversation) -> Conversation:
        """Return `fresh` without what was derived from turns of `said` that it leaves out as copies."""
        if not (said.is_exported or said.derived or said.edges or said.ledger):
            return fresh
        kept = set(fresh.turns)
        return without_resting_on(fresh, [turn for turn in said.turns if turn not in kept], self._copied)

    def _shifted(self, conversation: Conversation) -> Conversation:
        """Return a continuing part with the session and turn numbers of the stored conversation."""
        if not conversation.continues or self._shift == (0, 0):
            return conversation
        session, ordinal = self._shift
        return replace(conversation, turns=tuple(
            replace(turn, session=turn.session + session, ordinal=turn.ordinal + ordinal) for turn in conversation.turns
        ))  # fmt: skip

    def _named(self, known: Known, batch: Sequence[Conversation]) -> list[Named]:
        """Return the names that the batch's conversations have, or get, in the store."""
        named: list[Named] = []
        known.names.update(self._reserved)
        given = replace(self._given, names=set(self._given.names))  # a copy, as the plan may have to be made again
        for place, conversation in enumerate(batch):
            by_name = self._by_name or conversation.is_named or conversation.continues or not conversation.turns
            if conversation.continues:
                conversation = replace(conversation, name=self._stretched)
            elif not conversation.turns:  # derived units and edges of an export
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
    """The stored names of the conversations of one file, which must all differ."""

    file: str | None = None
    names: set[str] = field(default_factory=set)

    def beside(self, conversation: Conversation) -> set[str]:
        """Return the names of the earlier conversations of the same file."""
        if conversation.file is None or conversation.file != self.file:
            self.file, self.names = conversation.file, set()
        return self.names


def _before_repeated(named: Sequence[Named]) -> list[Named]:
    """Return the items before the first repeated name."""
    first = {one.name: place for place, one in reversed(list(enumerate(named)))}
    return [one for _, one in takewhile(lambda pair: first[pair[1].name] == pair[0], enumerate(named))]


def _entries(change: Change) -> list[UnitEntry]:
    return [*change.entries, *entries_from_units(change.derived)]


def _reports(batch: Sequence[Conversation], changes: Sequence[Change], partings: Sequence[Parting]) -> list[Added]:
    """Return a report for each conversation of the batch."""
    return [
        Added(
            change.name,
            len(conversation.turns),
            change.new_turns,
            change.replaced,
            len(_entries(change)),
            change.beside if change.new_turns else (),
            is_joined=change.is_joined and change.new_turns > 0,
            by_title=change.by_title,
            called=change.called if change.new_turns else {},
            copied={one.fork.name: len(one.change.gone_turns) for one in partings if one.place == place},
        )
        for place, (conversation, change) in enumerate(zip(batch, changes, strict=True))
    ]


def _is_empty(conversation: Conversation) -> bool:
    return not (conversation.turns or conversation.derived or conversation.edges or conversation.ledger)


def batches(conversations: Iterable[Conversation], *, by_name: bool) -> Iterator[list[Conversation]]:
    """Yield batches of conversations that can be planned together: no two may be the same, and none continues another.

    An empty conversation is a batch of its own. If reading fails, the conversations before the failure come first.
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
    """Detects whether a conversation may be the same as one in the batch.

    It may if the names or own ids are equal, or if it may have copied turns, in either order. It also may if one has
    the last turn of the other, and they are of different files.
    """

    def __init__(self, *, by_name: bool) -> None:
        self._by_name = by_name
        self._names: set[tuple[str, ...]] = set()
        self._sources: set[tuple[str, ...]] = set()
        self._ids: set[str] = set()
        self._turns: set[str] = set()
        self._ends: set[str] = set()
        self._file: str | None = None
        self._file_turns: set[str] = set()
        self._file_ends: set[str] = set()

    def add(self, conversation: Conversation) -> None:
        """Add a conversation of the batch."""
        self._names |= self._names_of(conversation)
        self._sources |= _sources_named(conversation)
        if conversation.shares_ids:
            self._ids.update(turn.content_key for turn in conversation.turns)
        elif conversation.turns:
            self._reach(conversation.file)
            marks = list(_marks(conversation))
            self._file_turns.update(marks)
            self._file_ends.add(marks[-1])

    def is_to(self, conversation: Conversation) -> bool:
        """Return whether the conversation may be the same as one in the batch, or a copy from it."""
        names = self._names_of(conversation)
        if not (self._names.isdisjoint(names | _sources_named(conversation)) and self._sources.isdisjoint(names)):
            return True
        if conversation.shares_ids:
            return not self._ids.isdisjoint(turn.content_key for turn in conversation.turns)
        if self._by_name or not conversation.turns:
            return False
        self._reach(conversation.file)
        marks = list(_marks(conversation))
        return marks[-1] in self._turns or not self._ends.isdisjoint(marks)

    def _reach(self, file: str | None) -> None:
        """Note the current file; turns of earlier files are compared from now on."""
        if file is None or file != self._file:
            self._turns |= self._file_turns
            self._ends |= self._file_ends
            self._file, self._file_turns, self._file_ends = file, set(), set()

    def _names_of(self, conversation: Conversation) -> set[tuple[str, ...]]:
        """Return the keys by which two conversations are the same: the name, if it counts, and the own id."""
        names: set[tuple[str, ...]] = set()
        if self._by_name or conversation.is_named or conversation.is_exported:
            names.add(("name", conversation.name))
        if conversation.own_id is not None:
            names.add(("id", conversation.format, conversation.own_id))
        return names


def _sources_named(conversation: Conversation) -> set[tuple[str, ...]]:
    return {("id", *source) for source in sources_of(conversation)}


def _marks(conversation: Conversation) -> Iterator[str]:
    """Yield a hash of each turn by which to find the turn in another export of a part of the chat.

    For a turn without a time, it includes the chat's own id and the text before.
    """
    before: Turn | None = None
    for turn in conversation.turns:
        if turn.said is not None:
            yield content_hash(turn.speaker, turn.said.isoformat(), turn.text)
        elif before is None:
            yield content_hash(conversation.own_id, turn.content_key)
        else:
            yield content_hash(conversation.own_id, before.text, turn.speaker, turn.text)
        before = turn


def _until_failure(conversations: Iterable[Conversation]) -> Iterator[Conversation | InputError]:
    """Yield the conversations, and the error if reading the next one fails."""
    try:
        yield from conversations
    except InputError as error:
        yield error
