"""The class `Memory`, with which a program reads transcripts, searches them and asks questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from goalmem_cli.config import Parameters, Settings, given_settings, load_settings
from goalmem_cli.errors import UsageError
from goalmem_cli.library import people as of_people
from goalmem_cli.library.answering import Asking, Kind, Parts, Terms, local_now, one_line, refuse_empty
from goalmem_cli.library.hearing import Listener, Logged
from goalmem_cli.library.people import Listed, Settled, retrieved
from goalmem_cli.library.scope import (
    Names,
    chosen_conversations,
    chosen_speakers,
    left_out_in_words,
    refuse_reversed,
    selected,
)  # fmt: skip
from goalmem_cli.records import Query, encodable
from goalmem_cli.store.people import People

if TYPE_CHECKING:
    from goalmem_cli.library.goals.keeping import Goals
    from goalmem_cli.library.reports import Ingested
    from goalmem_cli.loading import DeferredModel, LoadedModel
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.memory_records import ConversationSummary, Forgotten, Stats
    from goalmem_cli.ports import Completion, Indexed, LanguageModel, Observer, PartDone, Request
    from goalmem_cli.records import Hit, Turn
    from goalmem_cli.trace import Trace
    from goalmem_cli.transcripts import Order
    from goalmem_cli.wiring import Factories


LONGEST_HELD = 5.0
"""The most seconds that an `is_brief` memory stays open while a model loads; some are first joined from parts."""


class Words(TypedDict, total=False):
    """The settings that `open` takes, by the names and with the meanings of `goalmem_cli.config.Settings`."""

    embedder: str | None
    model: str
    context: int | None
    threads: int | None
    seed: int
    backbone: str
    backbones: Parameters
    reasoner: str
    reasoners: Parameters
    planning: str | None
    max_breadth: int
    max_depth: int
    max_subgoals: int
    max_steps: int
    certainty: int | None
    budget: int
    fact_tokens: int | None
    strict: bool | None
    checks: bool
    sift: bool
    lean: bool
    rules: bool | None
    keep_prompts: bool
    redact: bool
    timezone: str | None
    prompts: str | Path | None
    parallel: int
    timeout: int
    model_cache: int
    adapter: str | None
    trust_remote_code: bool


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of a search, best first, and how many turns without a time its time filter left out."""

    hits: list[Hit]
    left_out: int


class _Closing:
    """A model that closes the store before it replies, as others may write while it works."""

    def __init__(self, opened: ExitStack, model: LanguageModel) -> None:
        self._opened = opened
        self._model = model

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the model's completions."""
        self._opened.close()
        return self._model.complete(requests)


def opened(
    store: str | Path,
    *,
    reads_settings: bool = False,
    factories: Factories | None = None,
    listener: Listener | None = None,
    **settings: Unpack[Words],
) -> Memory:
    """Open the memory at `store`, a folder or a `milvus:` address; a new folder is made at the first write.

    Settings have the same defaults as in the command. Settings files and the environment are ignored; with
    `reads_settings` they count as in the command, but settings that are given here come first. Secrets, such as the key
    of a server, are always taken from the environment. `factories` build the model and the embedder if goalmem's are
    not wanted. `listener` receives messages that otherwise go to `logging`, under the name ``goalmem_cli``.

    Raises:
        UsageError: a setting is unknown or wrong.
        StoreError: the store cannot be read.
        ModelError: the named embedder cannot be loaded.
    """
    from goalmem_cli.wiring import Factories

    given: dict[str, Any] = {**settings, "store": store}
    told = load_settings(given, os.environ) if reads_settings else given_settings(given)
    heard = listener or Logged()
    return Memory(told, factories or Factories.announcing(told, heard.note), heard)


class Memory:
    """An open memory, as `goalmem_cli.open` returns it.

    Use it in one thread at a time. As a context manager it frees the model's memory at the end. Times are `datetime`s,
    without an offset if the transcript has none. Every error is a `goalmem_cli.errors.GoalmemError`, with a `message`
    and a `hint`. If there is no store yet, `ingest` and `remember` make one, `traces` is empty, and other methods that
    read it raise `StoreError`.
    """

    def __init__(
        self,
        settings: Settings,
        factories: Factories,
        listener: Listener,
        *,
        names: Names | None = None,
        model: DeferredModel | None = None,
        is_brief: bool = False,
    ) -> None:
        """Open the store of the settings.

        `names` are the words that errors use for the parameters. `model` is a shared model, which the caller closes.
        With `is_brief` the store's file is opened once, and stays locked for reading, until a model is called, or is
        loaded for longer than `LONGEST_HELD` seconds, or this is closed.

        Raises:
            StoreError: the store cannot be read.
            ModelError: the named embedder cannot be loaded.
        """
        from goalmem_cli.wiring import DeferredModel, open_store

        with ExitStack() as opening:
            kept = open_store(settings, factories, listener.note, opening if is_brief else None)
            self._opened = opening.pop_all()
        self._own = DeferredModel(self._load_with_store_open if is_brief else self._load)
        self._parts = Parts(settings, factories, listener, kept, model or self._own, names or Names())
        self.last_trace: str | None = None
        """The id of the trace that the last `ask` saved; None before that, or if it could not be saved."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the model's memory, and close the store if it `is_brief`; the next question loads the model again.

        Nothing else stays open between calls.
        """
        self._opened.close()
        self._own.close()

    def _load(self) -> LoadedModel:
        parts = self._parts
        loaded = parts.factories.answering(parts.settings)
        parts.listener.detail(f"model {loaded.name}, {loaded.profile} prompts, {loaded.context} tokens of context")
        return loaded

    def _load_with_store_open(self) -> LoadedModel:
        """Load the model while the store is open, but not for long, and close the store when the model is called."""
        late = Timer(LONGEST_HELD, self._opened.close)
        late.start()
        try:
            loaded = self._load()
        finally:
            late.cancel()
        if loaded.suits is not None:  # it may be tried out before it is asked
            self._opened.close()
        return replace(loaded, model=_Closing(self._opened, loaded.model))

    @property
    def kept(self) -> KeptMemory:
        """The store itself, for operations that `Memory` lacks; `goalmem_cli.memory_ports` describes it."""
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
        language: str = "",
        tools: bool = False,
        is_dry: bool = False,
    ) -> list[Ingested]:
        """Read files, folders and zips of transcripts. A file that cannot be read does not stop the others.

        Args:
            format: the format of the files; None recognises it.
            sources: programs whose chats on this machine are read too.
            order: whether 05/03 is May or March; chats that leave it open are refused without it.
            columns: fields of a table -> their columns.
            is_strict: refuse a file in which one record cannot be read.
            restores_forgotten: store forgotten turns again instead of leaving them out.
            takes_forgotten: import the marks of forgotten turns from exported memories.
            redacts: black out secrets; None does as the settings say.
            apart: do not join files with stored conversations that they overlap with.
            timezone: an IANA name, for times that are given only in UTC; None takes the settings', else the machine's.
            language: the code of the conversations' language, as de; "" finds it.
            tools: also read the tool calls of coding agents, and black out secrets.
            is_dry: store nothing.

        Returns:
            Records of the files that were read, then of the files and folders that could not, each with the error.

        Raises:
            UsageError: a source, format, time zone or column is unknown.
            StoreError: the store cannot be written.
        """
        blacks_out = self._parts.settings.redact if redacts is None else redacts
        from goalmem_cli.library.hearing import Unattended
        from goalmem_cli.library.ingesting import Told, read_all  # only here, as searching does without its imports

        told = Told(
            format, order, columns or {}, is_strict, None, restores_forgotten, takes_forgotten, blacks_out, apart,
            timezone or self._parts.settings.timezone, language, tools,
            self._parts.settings.place,
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
        tools: bool = False,
    ) -> list[Hit]:
        """Return the `k` best units (turns, or what the backbone derived from turns) for the query, best first.

        None restricts nothing; an empty list finds nothing. Times are inclusive, and hide units without a time. A hit
        has its `unit`, its `score`, its neighbours, and as `moved_on` a later turn that changes what it says, if any.
        Outputs of coding agents' tools are found only with `tools`, or if `speakers` name the tools.

        Raises:
            UsageError: the query is empty, `k` is below 1, or a conversation or speaker is not in the store.
            StoreError: the memory cannot be read, or nothing was indexed for the backbone.
        """
        found = self.retrieve(
            query, k, conversations=conversations, speakers=speakers, since=since, until=until, tools=tools
        )
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
        tools: bool = False,
    ) -> Found:
        """As `search`, but return the number of turns that the time filter left out instead of reporting it."""
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
        wanted = Query(encodable(query), scope, names, since, until, asked=until or local_now(), tools=tools)
        backbone = open_backbone(parts.settings, kept, parts.factories, parts.model.loaded)
        depth = max(k, POOL) if parts.settings.backbone == RERANKED else k  # the reranker always sees POOL messages
        hits = retrieved(backbone, wanted, depth, heard)
        return Found(marked(hits[:k], [hit.unit for hit in hits[k:]]), kept.count_without_time(wanted))

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
        """Answer a question and return its trace: `status`, `answer`, `certainty` (from 0 to 1) and supporting facts.

        `asker` is who "I" is, by default the user if there is exactly one. `as_of` hides later turns. `since` and
        `until` restrict the time of turns. `wants_all` looks for all items of a list. `observer` sees each step. The
        trace is saved; `last_trace` is its id.

        Raises:
            UsageError: the question is empty, or a conversation or the asker is not in the store.
            StoreError: the store is empty or cannot be read.
            ModelError: the model cannot be loaded or used.
        """
        asking = self.asking(Terms(conversations, asker, as_of, wants_all=wants_all, since=since, until=until))
        self.last_trace = None
        trace = asking.answer(asking.question(question), observer)
        self.last_trace = asking.keep(trace)
        return trace

    def asking(self, terms: Terms) -> Asking:
        """Return an object that asks with these options step by step, to show something between the steps of `ask`."""
        return Asking(self._parts, terms)

    def remember(self, text: str, *, asker: str | None = None) -> Turn:
        """Store the text as the next turn of the conversation ``goalmem``, said now by `asker` (by default the user).

        Raises:
            UsageError: the text is empty.
            StoreError: the store cannot be written.
        """
        refuse_empty(text, Kind.STATEMENT)
        asking = self.asking(Terms(is_remembered=True))
        said = asking.statement(text)
        return asking.remember(said if asker is None else replace(said, asker=one_line(asker)))

    @property
    def goals(self) -> Goals:
        """The questions whose answers are kept true while the memory changes."""
        from goalmem_cli.library.goals.keeping import Goals

        return Goals(self._parts)

    def conversations(self) -> list[ConversationSummary]:
        """Return a summary of each stored conversation, sorted by name."""
        return self.kept.conversations()

    def people(self) -> list[Listed]:
        """Return all speakers, sorted by name, with their names, ids and conversations."""
        return of_people.listed(self.kept)

    def merge_people(self, *names: str) -> Settled:
        """Note that these names, numbers or ids are one person, who gets the last one's name.

        Raises:
            UsageError: a name belongs to nobody or to several people, or all are one person already.
            StoreError: the store cannot be written.
        """
        return of_people.merge(self.kept, names)

    def name_person(self, who: str, called: str) -> Settled:
        """Give a person a name; raises as `merge_people`."""
        return of_people.name(self.kept, who, called)

    def split_person(self, who: str, *parts: str) -> Settled:
        """Undo the last note on a person, or separate only these names or ids; raises as `merge_people`."""
        return of_people.split(self.kept, who, parts)

    def turns(self, conversation: str) -> list[Turn]:
        """Return the turns of a conversation, in their order.

        Raises:
            UsageError: the conversation is not in the store.
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
        """Delete turns and all that came from them for good.

        Turns have to match all of `conversations` (a name or a list), `speakers` and `before`. Empty lists are refused.
        With `leaves_marks`, `ingest` recognises the turns and leaves them out. With `is_always`, it also leaves out
        later turns of the same conversations and speakers. Returns the counts of what was, or if `is_dry` would be,
        deleted.

        Raises:
            UsageError: nothing is selected, or a selected name is not in the store.
            StoreError: the store cannot be written.
        """
        from goalmem_cli.library.forgetting import forget

        named = [conversations] if isinstance(conversations, str) else conversations
        selection = selected(self.kept, named, speakers, before, self._parts.names, is_always=is_always)
        if is_dry:
            return self.kept.forgettable(selection)
        return forget(self.kept, selection, leaves_marks=leaves_marks, is_always=is_always)

    def index(self, backbone: str, report: Callable[[PartDone], None] = lambda _: None) -> Indexed:
        """Build a structured backbone from the turns that it has not processed yet, with the model.

        `report` gets each part once it is stored; after an interruption the next call continues.

        Raises:
            UsageError: the backbone is unknown or needs no indexing.
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
        """Return the trace of a past question, by its id or a unique beginning of it.

        Raises:
            UsageError: no trace, or more than one, has such an id.
            StoreDamaged: the trace cannot be read.
        """
        from goalmem_cli.wiring import open_traces

        return open_traces(self._parts.settings).load(id_)

    def export(self, path: str | Path, *, with_forgotten: bool = False) -> int:
        """Write the whole memory as JSONL, which `ingest` reads back, and return the number of lines.

        `with_forgotten` adds the marks of forgotten turns and their key, so that `ingest` can leave these turns out.

        Raises:
            StoreError: a goal cannot be read, the file cannot be written, or the marks are damaged.
        """
        from goalmem_cli.library.forgetting import write_export

        return write_export(self.kept, Path(path), with_forgotten=with_forgotten)

    def stats(self) -> Stats:
        """Return the memory in numbers: conversations, sessions, turns, units by kind, bytes on disk."""
        return self.kept.stats()
