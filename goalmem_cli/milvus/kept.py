"""The parts of a memory in Milvus that its modules share: the database, the folder beside it, the conversations."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from goalmem_cli.addresses import MilvusAddress
from goalmem_cli.config import command_for
from goalmem_cli.errors import StoreDamaged, StoreError, StoreLocked, StoreNewer
from goalmem_cli.languages.finding import ENGLISH
from goalmem_cli.logic.roles import TOOL
from goalmem_cli.milvus.milvus_engine import Engine
from goalmem_cli.milvus.rows import ANSWER, TURN, Row, Talk, answer_from, turn_from, whole
from goalmem_cli.milvus.schema import ID, TALK, VERSION, Collection
from goalmem_cli.ports import Embedder
from goalmem_cli.records import COPIED_FROM, Turn, Unit, content_hash
from goalmem_cli.store.database.tables import Meta
from goalmem_cli.store.files import Written, replace_file, reporting
from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.indexes.fingerprint import Fingerprint
from goalmem_cli.store.privacy import FILE_MODE, GOALS, LOCK, OWNER, TRACES, keep_private, make_private
from goalmem_cli.store.queries.reader import check_embedder
from goalmem_cli.store.traces import TraceFolder

_META_ID, _MARK_ID, _JOINED_ID = "meta", "mark", "joined"
_DELETED_ID, _SPOKEN_ID = "deleted", "languages"
_PAUSES = (0.0, 0.0, 0.0, 0.1, 0.2, 0.4, 0.8, 1.6)
SAID_FIELDS = (TALK, "revision", "said_id", "part", "kind", "document")


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory's database, the folder of its traces and locks, and the embedder of its vectors."""

    address: MilvusAddress
    folder: Path
    engine: Engine
    embedder: Embedder
    fingerprint: Fingerprint
    announce: Callable[[str], None]
    patience: float
    written: Written

    @property
    def traces(self) -> TraceFolder:
        """The traces of questions to this memory."""
        return TraceFolder(self.folder / TRACES, written=self.written)

    @property
    def goals(self) -> GoalFolder:
        """The kept goals of this memory."""
        return GoalFolder(self.folder / GOALS, self.written)

    @property
    def owner(self) -> str:
        """A random id that marks the writes of all processes that share this folder's lock."""
        path = self.folder / OWNER
        if not path.is_file():
            replace_file(path, uuid4().hex.encode(), self.written)
        with reporting(path):
            return path.read_text("utf-8")

    def require(self) -> Meta:
        """Return the memory's metadata; raises StoreError if there is no memory."""
        self._require_there()
        return self.meta()

    def _require_there(self) -> None:
        if not self.engine.exists:
            raise StoreError(
                f"there is no memory in {self.address} yet", command_for(str(self.address), "ingest", "PATH")
            )

    def meta(self) -> Meta:
        """Return the memory's metadata, with the defaults of `Meta` if none was written yet.

        Raises:
            StoreNewer: a newer goalmem wrote it.
            StoreDamaged: it does not have goalmem's form.
        """
        return self._meta_and_mark()[0]

    def require_marked(self) -> tuple[Meta, str]:
        """As `require`, with the mark of the last change that readers may see; "" if there was none."""
        self._require_there()
        return self._meta_and_mark()

    def mark(self) -> None:
        """Write a new mark, which says that a visible change is about to happen."""
        self.engine.put(Collection.META, [{ID: _MARK_ID, "document": uuid4().hex}])

    def _meta_and_mark(self) -> tuple[Meta, str]:
        """Return the memory's metadata and its last mark; raises StoreNewer or StoreDamaged."""
        rows = self.engine.rows_of(Collection.META, ID, [_META_ID, _MARK_ID], ["document"])
        documents = {row[ID]: row["document"] for row in rows}
        mark = documents.get(_MARK_ID, "")
        if _META_ID not in documents:
            return Meta(str(self.address)), mark
        try:
            told = json.loads(documents[_META_ID])
            version = told.pop("version", 0)
            if version > VERSION:
                raise StoreNewer(f"{self.address} was written by a newer goalmem", "install a newer goalmem")
            return Meta(str(self.address), **told), mark
        except (ValueError, TypeError, AttributeError) as error:
            raise StoreDamaged(f"{self.address} has another schema than goalmem's", "name another database") from error

    def note(self, meta: Meta) -> None:
        """Write the memory's metadata."""
        told = {
            "version": VERSION, "generation": meta.generation, "embedder": meta.embedder, "dimension": meta.dimension,
            "fingerprint": meta.fingerprint,
        }  # fmt: skip
        self.engine.put(Collection.META, [{ID: _META_ID, "document": json.dumps(told)}])

    def begin(self) -> Meta:
        """Make missing collections, check that this embedder may write, and return the metadata with it.

        Raises:
            EmbedderMismatch: the vectors come from another embedder.
        """
        if self.engine.exists:
            meta = self.meta()
            check_embedder(meta, self.embedder)
            self.fingerprint.check(meta)
            if meta.fingerprint is not None:
                return meta
        self.engine.create(self.embedder.dimension)
        meta = replace(
            self.meta(), embedder=self.embedder.name, dimension=self.embedder.dimension,
            fingerprint=self.fingerprint.text(),
        )  # fmt: skip
        self.note(meta)
        return meta

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold this folder's lock for writing.

        Raises:
            StoreLocked: another process held it for longer than `patience` seconds.
        """
        make_private(self.folder)
        keep_private(self.folder)
        lock = FileLock(self.folder / LOCK, mode=FILE_MODE)
        try:
            try:
                lock.acquire(timeout=0)
            except Timeout:
                self.announce(f"waiting: another process writes to {self.address}")
                lock.acquire(timeout=self.patience)
        except Timeout as error:
            raise StoreLocked(f"{self.address} is being written by another process", "try again later") from error
        try:
            if self.address.path is not None and self.address.path.is_dir():
                keep_private(self.address.path, is_all=True)
            yield
        finally:
            lock.release()

    def talks(self, names: Iterable[str] | None = None) -> dict[str, Talk]:
        """Return name -> conversation for these names (None: all), sorted by name, also for those not yet visible."""
        if names is None:
            found = self.engine.rows(Collection.TALKS, "", ["document"])
        else:
            found = self.talk_rows(ID, [content_hash(name) for name in names])
        talks = [Talk.from_row(row) for row in found]
        return {talk.name: talk for talk in sorted(talks, key=lambda talk: talk.name)}

    def talk_rows(self, field: str, values: Sequence[str]) -> Iterator[Row]:
        """Yield the rows of conversations whose field has one of the values."""
        return self.engine.rows_of(Collection.TALKS, field, values, ["document"])

    def behind(self, rows: Iterable[Row]) -> dict[str, Talk]:
        """Return key -> conversation, in its present state, for the conversations of these rows."""
        found = self.talk_rows(ID, [row[TALK] for row in rows])
        return {talk.key: talk for talk in map(Talk.from_row, found)}

    def shown(self, names: Iterable[str] | None = None) -> dict[str, Talk]:
        """Return name -> conversation, only of those that readers see."""
        return {name: talk for name, talk in self.talks(names).items() if talk.revision}

    def expect_joined(self) -> None:
        """Note that a command joined conversations here, or is about to."""
        self.engine.put(Collection.META, [{ID: _JOINED_ID, "document": ""}])

    def expect_deleted(self) -> None:
        """Note that rows of an embedded database are about to be deleted for good; `renew` removes the note."""
        if self.address.path is not None:
            self.engine.put(Collection.META, [{ID: _DELETED_ID, "document": ""}])
            self.engine.flush(Collection.META)

    def renew(self) -> None:
        """Rid the files of an embedded database of rows that were deleted for good, also by an interrupted command.

        Raises:
            StoreError: the database cannot be used, or the system refuses.
        """
        if self.address.path is None or not list(self.engine.rows_of(Collection.META, ID, [_DELETED_ID], [])):
            return
        self.engine.renew(self.meta().dimension, _DELETED_ID, self.written)

    def spoken(self) -> list[str]:
        """Return the languages of the conversations that are or were here, besides English and unknown ones."""
        rows = list(self.engine.rows_of(Collection.META, ID, [_SPOKEN_ID], ["document"]))
        return rows[0]["document"].split() if rows else []

    def tools(self) -> tuple[str, ...]:
        """Return the names of the tools of agents: of speakers whose role is always that of a tool.

        The conversations are read only if one of them may have a tool.
        """
        if not list(self.engine.rows(Collection.TALKS, f'document like "%{TOOL}%"', [])):
            return ()
        told = [(one.name, one.role) for talk in self.shown().values() for one in talk.summary().speakers]
        named = {name for name, role in told if role == TOOL}
        return tuple(sorted(named.difference(name for name, role in told if role != TOOL)))

    def expect_spoken(self, languages: Iterable[str]) -> None:
        """Note that conversations in these languages are here, or about to be."""
        known = set(self.spoken())
        if new := set(languages) - known - {"", ENGLISH}:
            self.engine.put(Collection.META, [{ID: _SPOKEN_ID, "document": " ".join(sorted(known | new))}])

    def joined_with(self, aliases: Sequence[str]) -> list[Talk]:
        """Return the conversations that a command joined with a transcript of one of these aliases.

        If nothing was ever joined here, it does not search the rows.
        """
        if not list(self.engine.rows_of(Collection.META, ID, [_JOINED_ID], [])):
            return []
        rows = self.engine.rows_of(Collection.SAID, "said_id", aliases, [TALK])
        return [talk for talk in self.behind(rows).values() if talk.revision and set(talk.joined) & set(aliases)]

    def forks_of(self, own_keys: Set[str]) -> set[str]:
        """Return the names of the conversations with turns copied from conversations with one of these keys."""
        found = self.engine.rows(Collection.TALKS, f'document like "%{COPIED_FROM}%"', ["document"]) if own_keys else ()
        return {talk.name for talk in map(Talk.from_row, found) if not own_keys.isdisjoint(talk.copied_from)}

    def changing(self) -> list[Talk]:
        """Return the conversations with an unfinished change."""
        return [Talk.from_row(row) for row in self.engine.rows(Collection.TALKS, "is_changing == 1", ["document"])]

    def put_talks(self, talks: Sequence[Talk]) -> None:
        """Write the rows of the conversations."""
        self.engine.put(Collection.TALKS, [talk.row() for talk in talks])

    def known_units(self, ids: Iterable[str]) -> set[str]:
        """Return which of these units are stored."""
        keys = sorted(filter(str.isalnum, ids))  # as all of ours; in a goal that was imported there may be anything
        fields = ((Collection.UNITS, "unit"), (Collection.SAID, "said_id"))
        return {row[field] for where, field in fields for row in self.engine.rows_of(where, field, keys, [field])}

    def said(self, talks: Iterable[Talk], *, may_lack: bool = False) -> tuple[dict[str, Turn], dict[str, Unit]]:
        """Return id -> turn and id -> answer, of the visible rows of the conversations, in their order.

        A conversation that changes meanwhile is read again.

        Raises:
            StoreDamaged: turns are missing, and `may_lack` is not set.
            StoreLocked: a conversation changed at every try.
        """
        by_key = {talk.key: talk for talk in talks}
        for pause in _PAUSES:
            time.sleep(pause)
            turns, answers = told(self.engine.rows_of(Collection.SAID, TALK, list(by_key), SAID_FIELDS), by_key)
            found = Counter(turn.conversation for turn in turns.values())
            short = [talk for talk in by_key.values() if found[talk.name] != talk.turns]
            fresh = {talk.key: talk for talk in self.shown([talk.name for talk in short]).values()} if short else {}
            steady = [talk for talk in short if fresh.get(talk.key) == talk]
            if steady and not may_lack:
                raise StoreDamaged(
                    f"{self.address}: {found[steady[0].name]} of {steady[0].turns} turns of {steady[0].name} came",
                    command_for(str(self.address), "stores", "verify"),
                )
            if len(steady) == len(short):
                return turns, answers
            by_key = {key: talk for key, talk in by_key.items() if talk not in short} | fresh
        raise StoreLocked(f"{self.address} changes faster than it can be read", "try again")


def told(rows: Iterable[Row], by_key: dict[str, Talk]) -> tuple[dict[str, Turn], dict[str, Unit]]:
    """Return id -> turn and id -> answer, from the visible rows of these conversations, in order."""
    found = whole(row for row in rows if row[TALK] in by_key and by_key[row[TALK]].shows(row))
    turns = [turn_from(by_key[row[TALK]].name, row["document"]) for row in found.values() if row["kind"] == TURN]
    answers = [
        answer_from(by_key[row[TALK]].name, id_, row["document"]) for id_, row in found.items() if row["kind"] == ANSWER
    ]
    turns.sort(key=lambda turn: (turn.conversation, turn.order))
    answers.sort(key=lambda unit: (unit.conversation, unit.session, unit.ordinal, unit.id))
    return {turn.id: turn for turn in turns}, {unit.id: unit for unit in answers}
