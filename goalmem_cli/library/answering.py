"""Questions asked of a memory in steps: the question with its scope, its answer, and what is kept of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING

from goalmem_cli.errors import StoreError, UsageError
from goalmem_cli.library.people import of_namesakes
from goalmem_cli.library.scope import (
    USER_ROLE,
    Names,
    chosen_asker,
    chosen_conversations,
    left_out_in_words,
    refuse_reversed,
)  # fmt: skip
from goalmem_cli.records import Hit, Question, encodable
from goalmem_cli.stages import watching
from goalmem_cli.store.people import People

if TYPE_CHECKING:
    from goalmem_cli.config import Settings
    from goalmem_cli.library.listening import Listener
    from goalmem_cli.loading import DeferredModel
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.memory_records import ConversationSummary
    from goalmem_cli.ports import Observer
    from goalmem_cli.records import Turn
    from goalmem_cli.trace import Trace
    from goalmem_cli.wiring import Factories


def one_line(text: str) -> str:
    """Return what was asked or said as it is asked and remembered: on one line, without lone surrogates."""
    return " ".join(encodable(text).split())


class Kind(Enum):
    """What a text may be to a memory, with the error and the hint where there is nothing in it."""

    QUESTION = ("the question is empty", "ask something")
    QUERY = ("the query is empty", "say what to look for")
    STATEMENT = ("there is nothing to remember", "say something")


def refuse_empty(text: str, kind: Kind) -> None:
    """Refuse a text in which there is nothing; clients do so too, before they open a store or wait for their turn.

    Raises:
        UsageError: it is empty.
    """
    if not text.strip():
        raise UsageError(*kind.value)


def local_now() -> datetime:
    """Return the time by this machine's clock, to the second, without an offset, as most transcripts have it."""
    return datetime.now().astimezone().replace(tzinfo=None, microsecond=0)


def _nothing() -> None:
    """Hear that the model is there, and do nothing."""


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms questions are asked.

    `conversations`, `asker` and `as_of` are those given, None where they were not; `besides` are conversations that
    count whichever were chosen; `since` and `until` hide what was said before and after. `is_remembered` says
    that questions become turns, so that somebody has to have asked; `wants_all` is what a `Question` has.
    """

    conversations: Sequence[str] | None = None
    asker: str | None = None
    as_of: datetime | None = None
    besides: tuple[str, ...] = ()
    is_remembered: bool = False
    wants_all: bool = False
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """What a memory is made of: its settings, what builds the expensive parts, who hears of it, what keeps it, and the
    model, which is loaded at the first question. `names` are what errors call things.
    """

    settings: Settings
    factories: Factories
    listener: Listener
    kept: KeptMemory
    model: DeferredModel
    names: Names


class Asking:
    """Asks questions of a memory on terms that stay the same, step by step, for who shows what happens between."""

    def __init__(self, parts: Parts, terms: Terms) -> None:
        self._parts = parts
        self._terms = terms

    def question(self, text: str) -> Question:
        """Return the question with its scope, checked against what the store holds.

        Raises:
            StoreError: the store holds nothing.
            UsageError: nothing is asked, a conversation or the asker is not in the store, or the stretch of time is
                none.
        """
        from goalmem_cli.backbones.scope import scope_of

        refuse_empty(text, Kind.QUESTION)
        for ended in (self._terms.until, self._terms.as_of):
            refuse_reversed(self._terms.since, ended)
        parts = self._parts
        stored = parts.kept.conversations()
        if not stored:
            raise StoreError(
                f"the store {parts.settings.place} is empty", "`goalmem ingest PATH` reads a transcript into it"
            )
        said = self._said(text, stored)
        if left_out := parts.kept.count_without_time(scope_of(said)):
            parts.listener.note(left_out_in_words(left_out))
        return said

    def statement(self, text: str) -> Question:
        """Return what was said without asking anything, in the form of a question; the store may hold nothing yet.

        Raises:
            UsageError: a conversation or the asker is not in the store.
        """
        kept = self._parts.kept
        return self._said(text, kept.conversations() if kept.exists else [])

    def answer(
        self, question: Question, observer: Observer | None = None, loaded: Callable[[], None] = _nothing
    ) -> Trace:
        """Return the trace of the question; `observer` sees it grow, and `loaded` hears that the model is there.

        Raises:
            UsageError: there is no backbone or no reasoner of the name in the settings.
            ModelError: the model cannot be loaded or used.
            StoreError: the memory cannot be read.
        """
        from goalmem_cli.wiring import build_reasoner, check_backbone, reasoner_entry

        parts = self._parts
        check_backbone(parts.settings, parts.kept, parts.factories)  # before a model is loaded, which takes longer
        reasoner_entry(parts.settings.reasoner)
        with watching(keeps_prompts=parts.settings.keep_prompts):
            model = parts.model.loaded()
            loaded()
            reasoner = build_reasoner(parts.settings, parts.kept, model, observer, factories=parts.factories)
            trace = reasoner.answer(question)
        return of_namesakes(_with_later(trace, question, parts.kept), parts.kept)

    def keep(self, trace: Trace) -> str | None:
        """Save the trace and return its id; an answer is worth more than its record, so a failure is a warning.

        What was forgotten while the model was at work is not kept either: looked for after saving, since forgetting
        deletes the traces that it finds after the rows.
        """
        from goalmem_cli.store.traces import shown_by
        from goalmem_cli.wiring import open_traces

        parts = self._parts
        traces = open_traces(parts.settings)
        try:
            saved = traces.save(trace)
            is_whole = False
            try:
                is_whole = parts.kept.are_stored([fact.unit for fact in shown_by(trace)])
            finally:
                if not is_whole:
                    traces.remove(saved)
            if not is_whole:
                parts.listener.warn("the trace was not kept: something it shows was forgotten meanwhile")
                return None
        except StoreError as error:
            parts.listener.warn(f"the trace was not kept: {error.message}")
            return None
        parts.listener.detail(f"trace {saved}")
        return saved

    def remember(self, said: Question, trace: Trace | None = None, trace_id: str | None = None) -> Turn:
        """Remember what was said as a turn, which is returned, and the answer to it if there is one.

        Raises:
            StoreError: the memory cannot be written.
            ModelError: the embedder cannot be used.
        """
        from goalmem_cli.reasoners.remembering import remember_answer, remember_words
        from goalmem_cli.wiring import open_backbone

        parts = self._parts
        backbone = open_backbone(parts.settings, parts.kept, parts.factories, parts.model.loaded)
        turn = remember_words(said, backbone, parts.kept)
        parts.listener.detail(f"turn {turn.own_id} of {turn.conversation}, said by {turn.speaker}")
        if trace is not None:
            remember_answer(turn, trace, trace_id, parts.kept)
        return turn

    def _said(self, text: str, stored: Sequence[ConversationSummary]) -> Question:
        """Return the text, on one line, with who says it, when, and of which conversations.

        Whoever is remembered without a name is the user, also as the one who asks.
        """
        terms, names = self._terms, self._parts.names
        scope = chosen_conversations(terms.conversations, stored, names.conversations)
        if scope is not None:
            scope = tuple(dict.fromkeys((*scope, *terms.besides)))
        asker = chosen_asker(terms.asker, stored, scope, names.asker, People.of_folder(self._parts.kept.path))
        if asker is None and terms.is_remembered:
            asker = USER_ROLE
        return Question(
            one_line(text),
            terms.as_of or local_now(),
            asker,
            scope,
            terms.as_of,
            terms.wants_all,
            terms.since,
            terms.until,
        )


def _with_later(trace: Trace, question: Question, kept: KeptMemory) -> Trace:
    """Return the trace with what was said later than the facts that its answer rests on, and moves on from them.

    An answer is worth more than what is noted beside it: where memory cannot be read any more, there is no note.
    """
    from goalmem_cli.backbones.later import looked_up, marked
    from goalmem_cli.backbones.scope import scope_of
    from goalmem_cli.reasoners.facts import as_fact

    numbers = {trace.facts[each].unit: each for each in _evidence(trace) if each in trace.facts}
    if not numbers:
        return trace
    seen = {fact.unit: number for number, fact in trace.facts.items()}
    try:
        with kept.reading() as reader:
            hits = list(reader.hits(list(numbers)).values())
        found = marked(hits, looked_up(kept, hits, scope_of(question)))
    except StoreError:
        return trace
    noted = {
        numbers[hit.unit.id]: replace(
            trace.facts[numbers[hit.unit.id]],
            moved_on=None if (later := hit.moved_on) is None else as_fact(Hit(later, 0.0), seen.get(later.id, "")),
            change=hit.change,
        )
        for hit in found
        if hit.moved_on is not None or hit.change
    }
    return replace(trace, facts={**trace.facts, **noted})


def _evidence(trace: Trace) -> tuple[str, ...]:
    return trace.guess.evidence if trace.guess is not None else trace.evidence
