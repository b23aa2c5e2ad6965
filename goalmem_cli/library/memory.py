"""A memory, opened for a program: reads transcripts into it, searches it, and answers questions from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from goalmem_cli.config import Settings, given_settings, load_settings
from goalmem_cli.errors import UsageError
from goalmem_cli.library import people as of_people
from goalmem_cli.library.answering import Asking, Kind, Parts, Terms, local_now, one_line, refuse_empty
from goalmem_cli.library.forgetting import forget, write_export
from goalmem_cli.library.hearing import Unattended
from goalmem_cli.library.ingesting import Told, read_all
from goalmem_cli.library.listening import Listener, Logged
from goalmem_cli.library.people import Listed, Settled, retrieved
from goalmem_cli.library.reports import Ingested
from goalmem_cli.library.scope import (
    Names,
    chosen_conversations,
    chosen_speakers,
    left_out_in_words,
    refuse_reversed,
    selected,
)  # fmt: skip
from goalmem_cli.library.words import Words
from goalmem_cli.records import Query, encodable
from goalmem_cli.store.people import People

if TYPE_CHECKING:
    from goalmem_cli.loading import DeferredModel, LoadedModel
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.memory_records import ConversationSummary, Forgotten, Stats
    from goalmem_cli.ports import Indexed, Observer, PartDone
    from goalmem_cli.records import Hit, Turn
    from goalmem_cli.trace import Trace
    from goalmem_cli.transcripts import Order
    from goalmem_cli.wiring import Factories


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, best first, and how many turns its time filter left out for having no time."""

    hits: list[Hit]
    left_out: int


def opened(
    store: str | Path,
    *,
    reads_settings: bool = False,
    factories: Factories | None = None,
    listener: Listener | None = None,
    **settings: Unpack[Words],
) -> Memory:
    """Open the memory at `store`, a folder or a `milvus:` address; a new folder is made at the first write.

    What is not given has the default that the command has. Settings files and the environment do not count, unless
    `reads_settings`: then they do as for the command, below what is given here. Secrets, such as the key of a server,
    are always taken from the environment. `factories` build the model and the embedder where others than goalmem's are
    wanted; `listener` hears what else goes to `logging`, under the name ``goalmem_cli``.

    Raises:
        UsageError: a setting is unknown or wrong.
        StoreError: what is there cannot be read.
        ModelError: the embedder that was named cannot be loaded.
    """
    from goalmem_cli.wiring import Factories, kept_warm, load_embedder, load_model

    given: dict[str, Any] = {**settings, "store": store}
    told = load_settings(given, os.environ) if reads_settings else given_settings(given)
    heard = listener or Logged()
    if factories is None:
        factories = Factories(
            embedder=partial(load_embedder, timeout=told.timeout),
            model=partial(load_model, announce=heard.note),
            warm=partial(kept_warm, announce=heard.note),
        )
    return Memory(told, factories, heard)


class Memory:
    """A memory that is open: `goalmem_cli.open` gives one.

    It is for one thread at a time. As a context manager it gives the model's memory back at the end. Times are
    `datetime`s, without an offset where the transcripts have none. Every error of goalmem is a
    `goalmem_cli.errors.GoalmemError`, with a `message` and a `hint`. Where there is no store yet, `ingest` and
    `remember` make one, there are no traces, and whatever else looks into it raises `StoreError`.
    """

    def __init__(
        self,
        settings: Settings,
        factories: Factories,
        listener: Listener,
        *,
        names: Names | None = None,
        model: DeferredModel | None = None,
    ) -> None:
        """Open the store of the settings; `names` are what errors call things, and `model` is one that several share,
        and that whoever gives it closes.

        Raises:
            StoreError: what is there cannot be read.
            ModelError: the embedder that was named cannot be loaded.
        """
        from goalmem_cli.wiring import DeferredModel, open_store

        kept = open_store(settings, factories, listener.note)
        self._own = DeferredModel(self._load)
        self._parts = Parts(settings, factories, listener, kept, model or self._own, names or Names())
        self.last_trace: str | None = None
        """The id of the trace that the last `ask` saved; None before, and where it could not be kept."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the model's memory back. Nothing else stays open between calls; another question loads it anew."""
        self._own.close()

    def _load(self) -> LoadedModel:
        parts = self._parts
        loaded = parts.factories.answering(parts.settings)
        parts.listener.detail(f"model {loaded.name}, {loaded.profile} prompts, {loaded.context} tokens of context")
        return loaded

    @property
    def kept(self) -> KeptMemory:
        """The store itself, for what is not offered here; `goalmem_cli.memory_ports` says what it can do."""
        return self._parts.kept

    def ingest(
        self,
        *paths: str | Path,
        format: str | None = None,  # noqa: A002 - as the command calls it
        sources: Sequence[str] = (),
        order: Order | None = None,
        columns: dict[str, str] | None = None,
        is_strict: bool = False,
        restores_forgotten: bool = False,
        takes_forgotten: bool = False,
        redacts: bool | None = None,
        apart: bool = False,
        timezone: str | None = None,
        is_dry: bool = False,
    ) -> list[Ingested]:
        """Read transcripts into the memory: files, folders, zips, and what the programs `sources` keep on this machine.

        A file that cannot be read does not stop the others: its record has the error, and a log a warning. What is
        stored already stays as it is. `order` says whether 05/03 is May or March in chats that leave it open, which are
        refused without it; `columns` names the columns of a table by what they hold; a file in which one record cannot
        be read is refused if `is_strict`; what was forgotten is left out unless `restores_forgotten`; what an exported
        memory says was forgotten there is forgotten here too if it `takes_forgotten` marks; secrets are blacked out if
        it `redacts` (None: as the settings say); files that overlap with stored conversations are not joined with them
        if they are kept `apart`; `timezone`, an IANA name, says whose day it is where a file gives times in UTC alone
        (None: as the settings say, else the machine's); nothing is stored if `is_dry`.

        Returns:
            A record for each file that was read, then one for each file and folder that could not be.

        Raises:
            UsageError: there is no such source, format or time zone, or a table has no such columns.
            StoreError: the store cannot be written.
        """
        blacks_out = self._parts.settings.redact if redacts is None else redacts
        told = Told(
            format, order, columns or {}, is_strict, None, restores_forgotten, takes_forgotten, blacks_out, apart,
            timezone or self._parts.settings.timezone,
        )  # fmt: skip
        return read_all(map(Path, paths), sources, self.kept, told, Unattended(self._parts.listener), is_dry=is_dry)

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        conversations: Sequence[str] | None = None,
        speakers: Sequence[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Hit]:
        """Return at most `k` units (turns, or what the backbone derived from turns) that the query finds, best first.

        None restricts nothing, and an empty list lets nothing through; times are inclusive, and hide what has no time.
        A hit has its `unit`, its `score`, its neighbours, and `moved_on`, a later turn that moves on from it, if any.

        Raises:
            UsageError: the query is empty, `k` is below 1, or a conversation or speaker is not in the store.
            StoreError: the memory cannot be read, or nothing was indexed for the backbone.
        """
        found = self.retrieve(query, k, conversations=conversations, speakers=speakers, since=since, until=until)
        if found.left_out:
            self._parts.listener.note(left_out_in_words(found.left_out))
        return found.hits

    def retrieve(
        self,
        query: str,
        k: int = 10,
        *,
        conversations: Sequence[str] | None = None,
        speakers: Sequence[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Found:
        """As `search`, and count what the time filter left out instead of saying it."""
        from goalmem_cli.backbones.flat import RERANKED
        from goalmem_cli.backbones.later import marked
        from goalmem_cli.backbones.relevance import POOL
        from goalmem_cli.wiring import open_backbone

        refuse_empty(query, Kind.QUERY)
        refuse_reversed(since, until)
        if k < 1:
            raise UsageError(f"k: {k} is below 1", "ask for at least one hit")
        parts, kept = self._parts, self.kept
        stored = [] if conversations is None and speakers is None else kept.conversations()
        scope = chosen_conversations(conversations, stored, parts.names.conversations)
        people = People() if speakers is None else People.of_folder(kept.path)
        heard = chosen_speakers(speakers, stored, scope, parts.names.speakers, people)
        if scope == () or (heard is not None and not heard.names):
            return Found([], 0)
        names = None if heard is None else heard.all_names
        wanted = Query(encodable(query), scope, names, since, until, asked=until or local_now())
        backbone = open_backbone(parts.settings, kept, parts.factories, parts.model.loaded)
        depth = max(k, POOL) if parts.settings.backbone == RERANKED else k  # so many are in view there whatever `k` is
        hits = retrieved(backbone, wanted, depth, heard)
        return Found(marked(hits[:k], hits[k:]), kept.count_without_time(wanted))

    def ask(
        self,
        question: str,
        *,
        conversations: Sequence[str] | None = None,
        asker: str | None = None,
        as_of: datetime | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        wants_all: bool = False,
        observer: Observer | None = None,
    ) -> Trace:
        """Answer a question: the trace has `status`, `answer`, `certainty` (from 0 to 1) and the facts it rests on.

        `asker` is who "I" is, by default the user where there is exactly one; `as_of` hides what was said later;
        only what was said from `since` to `until` is looked at; `wants_all` looks for all of a list.
        `observer` sees each step. The trace is saved, under the id `last_trace`.

        Raises:
            UsageError: nothing is asked, or a conversation or the asker is not in the store.
            StoreError: the store is empty or cannot be read.
            ModelError: the model cannot be loaded or used.
        """
        asking = self.asking(Terms(conversations, asker, as_of, wants_all=wants_all, since=since, until=until))
        self.last_trace = None
        trace = asking.answer(asking.question(question), observer)
        self.last_trace = asking.keep(trace)
        return trace

    def asking(self, terms: Terms) -> Asking:
        """Return what asks on these terms step by step, for who shows something between the steps of `ask`."""
        return Asking(self._parts, terms)

    def remember(self, text: str, *, asker: str | None = None) -> Turn:
        """Store what `asker` (by default the user) says now as the next turn of the conversation ``goalmem``.

        Raises:
            UsageError: the text is empty.
            StoreError: the store cannot be written.
        """
        refuse_empty(text, Kind.STATEMENT)
        asking = self.asking(Terms(is_remembered=True))
        said = asking.statement(text)
        return asking.remember(said if asker is None else replace(said, asker=one_line(asker)))

    def conversations(self) -> list[ConversationSummary]:
        """Return each stored conversation at a glance, by name."""
        return self.kept.conversations()

    def people(self) -> list[Listed]:
        """Return everybody who speaks, by name, with all their names, ids and conversations."""
        return of_people.listed(self.kept)

    def merge_people(self, *names: str) -> Settled:
        """Note that those of these names, numbers or ids are one person, called as the last of them is.

        Raises:
            UsageError: a name is nobody's, or several people's; or they are one person already.
            StoreError: the store cannot be written.
        """
        return of_people.merge(self.kept, names)

    def name_person(self, who: str, called: str) -> Settled:
        """Note what somebody is called; raises as `merge_people`."""
        return of_people.name(self.kept, who, called)

    def split_person(self, who: str, *parts: str) -> Settled:
        """Take back what was said of somebody, or only that these names or ids are theirs; raises as `merge_people`."""
        return of_people.split(self.kept, who, parts)

    def turns(self, conversation: str) -> list[Turn]:
        """Return the turns of a conversation, in their order.

        Raises:
            UsageError: it is not in the store.
        """
        stored = self.kept.conversations()
        return self.kept.turns(chosen_conversations([conversation], stored, self._parts.names.conversations))

    def forget(
        self,
        conversations: str | Sequence[str] | None = None,
        *,
        speakers: Sequence[str] | None = None,
        before: datetime | None = None,
        leaves_marks: bool = True,
        is_always: bool = False,
        is_dry: bool = False,
    ) -> Forgotten:
        """Delete turns and all that came from them for good; what is given together narrows.

        One conversation may be given by its name alone. An empty list is refused: it names nothing. Unless it leaves no
        marks, `ingest` knows the turns again and leaves them out; with `is_always` also what comes later of the same
        conversations and speakers.

        Returns:
            What was deleted, or would be if `is_dry`.

        Raises:
            UsageError: nothing says what to forget, or it is not in the store.
            StoreError: the store cannot be written.
        """
        named = [conversations] if isinstance(conversations, str) else conversations
        selection = selected(self.kept, named, speakers, before, self._parts.names)
        if is_dry:
            return self.kept.forgettable(selection)
        return forget(self.kept, selection, leaves_marks=leaves_marks, is_always=is_always)

    def index(self, backbone: str, report: Callable[[PartDone], None] = lambda _: None) -> Indexed:
        """Have the model derive what a structured backbone keeps of the turns that it has not derived from yet.

        Each part that is safe is told to `report`; interrupted, the next call goes on.

        Raises:
            UsageError: there is no such backbone, or it needs no indexing.
            ModelError: the model cannot be loaded or used.
            StoreError: the store cannot be written.
        """
        from goalmem_cli.wiring import open_structured

        parts = self._parts
        settings = replace(parts.settings, backbone=backbone)
        return open_structured(settings, self.kept, parts.factories, parts.model.loaded).index(report)

    def traces(self) -> list[str]:
        """Return the ids of the traces of past questions, oldest first."""
        from goalmem_cli.wiring import open_traces

        return open_traces(self._parts.settings).ids()

    def trace(self, id_: str) -> Trace:
        """Return the trace of a past question, by its id or by how only this one begins.

        Raises:
            UsageError: there is none, or more than one.
            StoreDamaged: it cannot be read.
        """
        from goalmem_cli.wiring import open_traces

        return open_traces(self._parts.settings).load(id_)

    def export(self, path: str | Path, *, with_forgotten: bool = False) -> int:
        """Write all of the memory as JSONL, which `ingest` reads back, and return how many lines that are.

        It is written `with_forgotten` marks and their key where `ingest` is to leave out what was forgotten here.

        Raises:
            StoreError: the file cannot be written, or the marks are damaged.
        """
        return write_export(self.kept, Path(path), with_forgotten=with_forgotten)

    def stats(self) -> Stats:
        """Return the memory in numbers: conversations, sessions, turns, units by kind, bytes on disk."""
        return self.kept.stats()
