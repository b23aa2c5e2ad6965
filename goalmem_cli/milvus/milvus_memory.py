"""The memory in Milvus, a `KeptMemory`; `memory_ports.py` describes its methods."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from goalmem_cli.addresses import MilvusAddress
from goalmem_cli.errors import StoreError
from goalmem_cli.memory_ports import unreported
from goalmem_cli.memory_records import Added, Capability, ConversationSummary, Forgotten, Joined, Selection, Stats
from goalmem_cli.milvus import adding, forgetting
from goalmem_cli.milvus.adding import names_with_answers_on
from goalmem_cli.milvus.changing import CONTENT, Wanted, bring, settle
from goalmem_cli.milvus.kept import Kept
from goalmem_cli.milvus.lookups import MilvusReader, both, passing
from goalmem_cli.milvus.milvus_engine import Engine
from goalmem_cli.milvus.rows import rows_of_said, rows_of_units
from goalmem_cli.milvus.schema import ID, TALK, Collection
from goalmem_cli.milvus.scratch import Scratch, write_languages_of
from goalmem_cli.ports import Embedder
from goalmem_cli.records import Conversation, Query, Turn, Unit, content_hash, encodable
from goalmem_cli.store.changes import joining
from goalmem_cli.store.changes.answers import BACKBONE, KIND, SPEAKER
from goalmem_cli.store.changes.exporting import head, heading, turn_document, unit_document, write_lines
from goalmem_cli.store.changes.overlapping import alias_of
from goalmem_cli.store.changes.refreshing import no_conversation
from goalmem_cli.store.database import languages, tables
from goalmem_cli.store.database.access import Database
from goalmem_cli.store.files import Written, reporting, unwatched
from goalmem_cli.store.indexes.fingerprint import Fingerprint
from goalmem_cli.store.naming import Naming
from goalmem_cli.store.privacy import FORGOTTEN, GOALS, LOCK, OWNER, PEOPLE, RULES, TRACES, remove_leftovers
from goalmem_cli.store.queries.reader import check_embedder


def joinable(kept: Kept, name: str, other: str) -> Joined:
    """Return what `join` would do; raises as `join`."""
    kept.require()
    with TemporaryDirectory(prefix="goalmem-") as folder:
        return joining.joinable(_filled(kept, Path(folder), name, other).parts, name, other)


def join(kept: Kept, name: str, other: str, shown: Joined) -> None:
    """Move the turns of the other conversation into the named one; see `SupportsJoining`."""
    kept.require()
    with TemporaryDirectory(prefix="goalmem-") as folder, kept.writing():
        kept.begin()
        settle(kept)
        scratch = _filled(kept, Path(folder), name, other)
        joining.join_rows(scratch.parts, name, other, shown)
        wanted, _ = scratch.changed(scratch.talks)
        wanted.sort(key=lambda each: each.talk.name == name)  # the last is written with the one that leaves
        kept.expect_joined()
        bring(kept, wanted, [scratch.talks[other]])


def _filled(kept: Kept, folder: Path, name: str, other: str) -> Scratch:
    """Return a scratch store with both conversations and those that the join may change too.

    These have answers that cite turns of the two, or were joined with one of the two transcripts before.
    """
    scratch = Scratch(kept, folder)
    both = kept.shown([name, other])
    scratch.bring(both.values())
    scratch.bring(kept.shown(names_with_answers_on(kept, scratch.turns_of(both))).values())
    aliases = [alias_of(talk.format, talk.own_id, talk.file, talk.name) for talk in both.values()]
    scratch.bring(kept.joined_with([alias for alias in aliases if alias is not None]))
    return scratch


_TABLES = ("conversations", "sessions", "turns")
_AT_ONCE = 100


class MilvusMemory:
    """A memory in a database of Milvus, with goalmem's own files in the folder `path`.

    Nothing is created before the first write. `patience` is the seconds to wait for other processes or for a server.
    `token` authenticates at a server. `shards` is the number of shards of new collections on a server. `written` is
    called after every step of a write.
    """

    def __init__(
        self,
        address: MilvusAddress,
        folder: Path,
        embedder: Embedder,
        *,
        announce: Callable[[str], None],
        token: str = "",
        shards: int = 1,
        patience: float = 30.0,
        written: Written = unwatched,
    ) -> None:
        """Take where the memory is and its options; nothing is opened yet."""
        self.path, self.announce = folder, announce
        engine = Engine(address, announce, token, patience, shards)
        self._naming = Naming(folder)
        self._kept = Kept(address, folder, engine, embedder, Fingerprint(embedder), announce, patience, written)

    def over(self, embedder: Embedder) -> Self:
        """Return the same memory with another embedder and the same connection; see `SupportsUpkeep`."""
        other = copy(self)
        other._kept = replace(self._kept, embedder=embedder, fingerprint=Fingerprint(embedder))
        return other

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The additional capabilities: none."""
        return frozenset()

    @property
    def exists(self) -> bool:
        """Whether anything was written yet."""
        return self._kept.engine.exists

    def close(self) -> None:
        """Close the database, so that another process can open an embedded one."""
        self._kept.engine.close()

    # Adding

    def add_all(
        self,
        conversations: Iterable[Conversation],
        *,
        by_name: bool = False,
        report: Callable[[Added], None] = unreported,
    ) -> list[Added]:
        """Store new turns batch by batch; see `SupportsAdding`."""
        done: list[Added] = []

        def take(added: Added) -> None:
            done.append(added)
            report(added)

        adding.add(self._kept, conversations, take, by_name=by_name)
        return done

    def preview_all(
        self, conversations: Iterable[Conversation], *, report: Callable[[Added], None] = unreported
    ) -> list[Added]:
        """Report what `add_all` would do with the conversations; see `SupportsAdding`."""
        done: list[Added] = []

        def take(added: Added) -> None:
            done.append(added)
            report(added)

        adding.preview(self._kept, conversations, take)
        return done

    def add_turns(self, turns: Iterable[Turn]) -> list[Added]:
        """Store turns in the conversations that they name; see `SupportsAdding`."""
        grouped: dict[str, list[Turn]] = {}
        for turn in turns:
            grouped.setdefault(turn.conversation, []).append(turn)
        named = (Conversation(name, "turns", tuple(members), own_id=name) for name, members in grouped.items())
        return self.add_all(named, by_name=True)

    def add_answer(self, text: str, question: Turn, cited: Sequence[str], attributes: Mapping[str, object]) -> Unit:
        """Store one of goalmem's own answers; see `SupportsAnswers`."""
        kept = self._kept
        kept.require()
        with kept.writing():
            meta = kept.begin()
            check_embedder(meta, kept.embedder)
            settle(kept)
            hits = MilvusReader(kept).hits([question.id, *cited])
            if not hits.keys() >= {question.id, *cited}:
                raise StoreError(
                    "what the answer came from was forgotten or replaced meanwhile, so it was not kept", "ask again"
                )
            told, asked = encodable(text), hits[question.id].unit
            sources = {
                turn: label
                for unit in (*(hits[id_].unit for id_ in cited), asked)
                for turn, label in zip(unit.turns, unit.labels, strict=True)
            }
            answer = Unit(
                content_hash(question.id, KIND, told), KIND, told, question.conversation, SPEAKER, question.said,
                tuple(sources), tuple(sources.values()), BACKBONE, asked.session, asked.ordinal, attributes=attributes,
            )  # fmt: skip
            (talk,) = kept.shown([question.conversation]).values()
            turns, answers = kept.said([talk])
            bring(kept, [Wanted(talk, list(turns.values()), [*(answers | {answer.id: answer}).values()])])
        return answer

    def joinable(self, name: str, other: str) -> Joined:
        """Return what `join` would do; see `SupportsJoining`."""
        return joinable(self._kept, name, other)

    def join(self, name: str, other: str, shown: Joined) -> None:
        """Move the turns of the other conversation into the named one; see `SupportsJoining`."""
        join(self._kept, name, other, shown)

    # Reading

    @contextmanager
    def reading(self) -> Iterator[MilvusReader]:
        """Open the memory for reading, without a lock; see `SupportsRanking`."""
        yield MilvusReader(self._kept, self._naming)

    def count_without_time(self, query: Query) -> int:
        """Return how many turns the query's time filter hides because they have no time; see `SupportsRanking`."""
        self._kept.require()
        if query.since is None and query.until is None:
            return 0
        timeless = passing(Query("", query.conversations, query.speakers))
        rows = self._kept.engine.rows(
            Collection.SAID, both(timeless, 'kind == "turn" and clock is null'), [TALK, "revision", "said_id"]
        )
        found = list(rows)
        talks = self._kept.behind(found)
        return len({row["said_id"] for row in found if row[TALK] in talks and talks[row[TALK]].shows(row)})

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return the stored turns of the conversations (None: all); see `SupportsLooking`."""
        self._kept.require()
        return list(self._kept.said(self._kept.shown(conversations).values())[0].values())

    def last_turn(self, conversation: str) -> Turn | None:
        """Return the last turn of a conversation, None if it is not stored; see `SupportsLooking`."""
        if not self.exists:
            return None
        return max(self.turns([conversation]), key=lambda turn: turn.ordinal, default=None)

    def are_stored(self, units: Sequence[str]) -> bool:
        """Return whether all of these units are stored; see `SupportsLooking`."""
        return not set(units) - MilvusReader(self._kept).hits(units).keys()

    def conversations(self) -> list[ConversationSummary]:
        """Return a summary of each stored conversation, sorted by name; see `SupportsListing`."""
        self._kept.require()
        return [talk.summary() for talk in self._kept.shown().values()]

    def stats(self) -> Stats:
        """Return counts and sizes of the memory; see `SupportsListing`."""
        meta = self._kept.require()
        talks = self._kept.shown().values()
        kinds, zones = Counter[str](), Counter[str]()
        for talk in talks:
            kinds.update(talk.units)
            zones.update(talk.timezones)
        return Stats(
            len(talks), sum(talk.sessions for talk in talks), sum(talk.turns for talk in talks),
            dict(sorted(kinds.items())), 0, meta.generation, meta.embedder or "", meta.dimension,
            self._kept.engine.size(), dict(sorted(zones.items())),
        )  # fmt: skip

    def embedded_with(self) -> tuple[str, int]:
        """Return the name and dimension of the memory's embedder; see `SupportsUpkeep`."""
        meta = self._kept.require()
        return meta.embedder or "", meta.dimension

    # Forgetting and exporting

    def forgettable(self, selection: Selection) -> Forgotten:
        """Return what `forget` would delete; see `SupportsForgetting`."""
        return forgetting.forgettable(self._kept, selection)

    def forget(self, selection: Selection, shown: frozenset[str] | None = None) -> Forgotten:
        """Delete the turns and all that came from them; see `SupportsForgetting`."""
        return forgetting.forget(self._kept, selection, shown)

    def export(self, unread: list[StoreError] | None = None) -> Iterator[dict[str, object]]:
        """Yield the memory as JSON documents; see `SupportsExporting`."""
        self._kept.require()
        yield heading(self.path, unread)
        talks = list(self._kept.shown().values())
        for talk in talks:
            yield head(talk.name, talk.format, talk.own_id, talk.joined, talk.told_language)
            for turn in self._kept.said([talk])[0].values():
                yield {"turn": turn_document(turn)}
        for talk in talks:
            if any(kind not in ("turn", "passage") for kind in talk.units):
                yield head(talk.name, talk.format, talk.own_id, talk.joined, talk.told_language)
                for unit in self._kept.said([talk])[1].values():
                    yield {"unit": unit_document(unit)}

    def export_file(self, file: Path, unread: list[StoreError] | None = None) -> int:
        """Write `export`'s documents into a file; see `SupportsExporting`."""
        return write_lines(self.export(unread), file)

    def export_tables(self, folder: Path) -> list[Path]:
        """Write conversations, sessions and turns into the folder as Parquet files; see `SupportsExporting`."""
        self._kept.require()
        talks = list(self._kept.shown().values())
        with TemporaryDirectory(prefix="goalmem-") as scratch:
            database = Database(Path(scratch) / "export.duckdb", self.announce, 0)
            with database.writing() as connection, connection.transaction():
                rows = [(talk.name, talk.format, talk.own_id, talk.file) for talk in talks]
                tables.insert_conversations(connection, rows)
                write_languages_of(connection, talks)
                for start in range(0, len(talks), _AT_ONCE):
                    turns, _ = self._kept.said(talks[start : start + _AT_ONCE])
                    tables.insert_turns(connection, list(turns.values()))
                tables.rewrite_sessions(connection, [talk.name for talk in talks])
            return database.export(folder, _TABLES)

    def tell_language(self, name: str, language: str | None) -> str:
        """Store a conversation's language, or find it again; see `SupportsLanguages`."""
        kept = self._kept
        kept.require()
        with TemporaryDirectory(prefix="goalmem-") as folder, kept.writing():
            kept.begin()
            settle(kept)
            if not (talks := kept.shown([name])):
                raise no_conversation(name)
            scratch = Scratch(kept, Path(folder))
            scratch.bring(talks.values())
            with scratch.parts.database.writing() as connection, connection.transaction():
                known = {name: language or None}
                languages.write_languages(connection, known, is_told=language is not None)
                languages.renew_languages(connection, [name], {})
            wanted, _ = scratch.changed([name])
            bring(kept, wanted)
            return kept.shown([name])[name].language

    # Upkeep

    @property
    def state(self) -> None:
        """None, as reading alone tells what others changed; see `AnyMemory`."""
        return

    def lingering(self) -> AbstractContextManager[None]:
        """Do nothing, as the connection stays open; see `SupportsUpkeep`."""
        return nullcontext()

    @contextmanager
    def keeping(self) -> Iterator[Written]:
        """Hold this folder's lock for writing; see `SupportsUpkeep`."""
        self._kept.require()
        with self._kept.writing():
            yield self._kept.written

    def verify(self) -> list[str]:
        """Return the problems found, one a line: unfinished changes, missing turns, and missing or surplus rows."""
        kept = self._kept
        check_embedder(kept.require(), kept.embedder)
        problems = [f"{talk.name}: a write to it is going on, or was interrupted" for talk in kept.changing()]
        for talk in kept.shown().values():
            turns, answers = kept.said([talk], may_lack=True)
            desired = {
                Collection.SAID: {row[ID] for row in rows_of_said(talk, turns.values(), answers.values())},
                Collection.UNITS: set(rows_of_units(talk, list(turns.values()), list(answers.values()))),
            }
            if len(turns) != talk.turns:
                problems.append(f"{talk.name}: {len(turns)} of {talk.turns} turns are there")
            for collection in CONTENT:
                rows = kept.engine.rows_of(collection, TALK, [talk.key], ["revision"])
                seen = {row[ID] for row in rows if talk.shows(row)}
                for what, ids in (("lacks", desired[collection] - seen), ("has too many", seen - desired[collection])):
                    if ids:
                        problems.append(f"{talk.name}: {collection} {what}: {len(ids)} rows")
        return problems

    def remove(self) -> None:
        """Delete the memory's collections, its traces, and its folder if nothing else is in it."""
        kept = self._kept
        kept.require()
        with kept.writing():
            kept.engine.remove()
            with reporting(self.path):
                for folder in (self.path / TRACES, self.path / GOALS):
                    if folder.is_dir():
                        shutil.rmtree(folder)
                (self.path / OWNER).unlink(missing_ok=True)
                for name in (FORGOTTEN, PEOPLE, RULES):
                    (self.path / name).unlink(missing_ok=True)
                remove_leftovers(self.path, FORGOTTEN, PEOPLE, RULES)
        (self.path / LOCK).unlink(missing_ok=True)
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()
