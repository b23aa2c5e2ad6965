"""Ask a memory in steps: check the question, answer it, save the trace, store both as turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    from goalmem_cli.library.hearing import Listener
    from goalmem_cli.loading import DeferredModel, LoadedModel
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.memory_records import ConversationSummary
    from goalmem_cli.ports import Observer
    from goalmem_cli.reasoners.goal_mem.records import Begun
    from goalmem_cli.records import Turn
    from goalmem_cli.trace import Fact, Trace
    from goalmem_cli.wiring import Factories


def one_line(text: str) -> str:
    """Return the text on one line and without lone surrogates, as it is asked and stored."""
    return " ".join(encodable(text).split())


class Kind(Enum):
    """What a text is for, with the error and the hint that an empty text gets."""

    QUESTION = ("the question is empty", "ask something")
    QUERY = ("the query is empty", "say what to look for")
    STATEMENT = ("there is nothing to remember", "say something")


def refuse_empty(text: str, kind: Kind) -> None:
    """Refuse an empty text; clients call it too, before they open a store or wait for a lock.

    Raises:
        UsageError: the text is empty or blank.
    """
    if not text.strip():
        raise UsageError(*kind.value)


def local_now() -> datetime:
    """Return this machine's local time to the second, without an offset, as in most transcripts."""
    return datetime.now().astimezone().replace(tzinfo=None, microsecond=0)


def _nothing() -> None:
    """Do nothing when the model is loaded."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The options of questions.

    `conversations`, `asker` and `as_of` are as given, None by default. `besides` are conversations that are always in
    scope. `since` and `until` hide what was said before and after. `is_remembered` says that questions become turns,
    which need an asker. `wants_all` is as in `Question`.
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
    """The parts of a memory: settings, factories of the expensive parts, listener, store and model.

    The first question loads the model. `names` are the words that errors use for the parameters.
    """

    settings: Settings
    factories: Factories
    listener: Listener
    kept: KeptMemory
    model: DeferredModel
    names: Names


class Asking:
    """Asks questions with the same options, step by step, so that a client can show progress between the steps."""

    def __init__(self, parts: Parts, terms: Terms, *, may_try_rules: bool = True) -> None:
        """Take the memory's parts and the options; a kept goal has a plan of its own, so it tries no rules."""
        self._parts = parts
        self._terms = terms
        self._stored: Sequence[ConversationSummary] = ()
        self._may_try_rules = may_try_rules
        self._began: tuple[int, object | None] = (-1, None)

    def question(self, text: str) -> Question:
        """Return the question with its scope, checked against the store.

        Raises:
            StoreError: the store is empty.
            UsageError: the question is empty, a conversation or the asker is not in the store, or `since` is after
                `until`.
        """
        from goalmem_cli.backbones.scope import scope_of

        refuse_empty(text, Kind.QUESTION)
        for ended in (self._terms.until, self._terms.as_of):
            refuse_reversed(self._terms.since, ended)
        parts = self._parts
        stored = self._stored = parts.kept.conversations()
        if not stored:
            raise StoreError(
                f"the store {parts.settings.place} is empty", "`goalmem ingest PATH` reads a transcript into it"
            )
        said = self._said(text, stored)
        if left_out := parts.kept.count_without_time(scope_of(said)):
            parts.listener.note(left_out_in_words(left_out))
        return said

    def statement(self, text: str) -> Question:
        """Return a statement in the form of a question; the store may be empty.

        Raises:
            UsageError: a conversation or the asker is not in the store.
        """
        kept = self._parts.kept
        return self._said(text, kept.conversations() if kept.exists else [])

    def answer(
        self,
        question: Question,
        observer: Observer | None = None,
        loaded: Callable[[], None] = _nothing,
        begun: Begun | None = None,
    ) -> Trace:
        """Answer the question and return the trace.

        `observer` sees each step. `loaded` is called once the model is loaded. With `begun`, only that earlier proof is
        tried again.

        Raises:
            UsageError: the settings name an unknown backbone or reasoner.
            ModelError: the model cannot be loaded or used.
            StoreError: the memory cannot be read.
        """
        from goalmem_cli.library.languages import InLanguages
        from goalmem_cli.wiring import build_reasoner, check_backbone, reasoner_entry

        parts = self._parts
        check_backbone(parts.settings, parts.kept, parts.factories)  # before the model is loaded, which takes longer
        reasoner_entry(parts.settings.reasoner)
        with parts.kept.reading() as reader:  # an earlier proof has facts that were read before
            self._began = reader.generation, parts.kept.state if begun is None else None
        with watching(keeps_prompts=parts.settings.keep_prompts):
            model = parts.model.loaded()
            loaded()
            settings = replace(parts.settings, rules=self._tries_rules(model))
            reasoner = build_reasoner(settings, parts.kept, model, observer, factories=parts.factories, begun=begun)
            stored = self._stored or parts.kept.conversations()
            trace = InLanguages(reasoner, model, stored).answer(question)
        return of_namesakes(_with_later(trace, question, parts.kept), parts.kept)

    def _tries_rules(self, model: LoadedModel) -> bool:
        """Say whether rules are tried: as the settings say, else if no certainty is fitted to the model's own plans."""
        told, fitted = self._parts.settings.rules, self._parts.settings.reasoner in model.fitted.weights
        return self._may_try_rules and (not fitted if told is None else told)

    def keep(self, trace: Trace) -> str | None:
        """Save the trace and return its id, or warn and return None, so that the user still gets the answer.

        A trace is not kept if a fact in it was forgotten while the model answered. If the memory changed meanwhile in
        any way, it is kept without prompts and neighbouring turns, which may have been forgotten too. Both are checked
        after saving, since forgetting deletes rows first and traces then. A memory in its old state is not opened.
        """
        from goalmem_cli.store.traces import shown_by
        from goalmem_cli.wiring import open_traces

        parts = self._parts
        traces = open_traces(parts.settings)
        try:
            saved = traces.save(trace)
            generation, state = self._began
            is_whole = False
            try:
                if not (is_whole := state is not None and parts.kept.state == state):
                    with parts.kept.reading() as reader:
                        if reader.generation != generation:
                            traces.strip(saved, trace)
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
        """Store the text as a turn, and the answer of its trace if given; return the turn.

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
        """Return the text on one line as a question, with asker, time and scope.

        If it is to be remembered and has no asker, the asker is the user. Its secrets are blacked out if the settings
        say so, as the proof of its answer is kept.
        """
        if self._parts.settings.redact:
            text = self._without_secrets(text)
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

    def _without_secrets(self, text: str) -> str:
        from goalmem_cli.store.redaction import kinds_in_words, redacted

        left, found = redacted(text)
        if found:
            self._parts.listener.note(f"redacted: {kinds_in_words(found)}")
        return left


def generation_of(kept: KeptMemory) -> int:
    """Return the number of changes of the memory so far; raises StoreError."""
    with kept.reading() as reader:
        return reader.generation


def _with_later(trace: Trace, question: Question, kept: KeptMemory) -> Trace:
    """Return the trace with later turns that change the facts which support its answer.

    If the memory cannot be read any more, the trace is returned as it is.
    """
    from goalmem_cli.backbones.later import looked_up, marked
    from goalmem_cli.backbones.scope import scope_of
    from goalmem_cli.reasoners.facts import as_fact

    seen = {fact.unit: number for number, fact in trace.facts.items()}
    trace = replace(trace, facts={number: _numbered(fact, seen) for number, fact in trace.facts.items()})
    numbers = {trace.facts[each].unit: each for each in _evidence(trace) if each in trace.facts}
    if not numbers:
        return trace
    lasting = {fact.moved_on.unit for fact in trace.facts.values() if fact.moved_on is not None}
    try:
        with kept.reading() as reader:
            found = reader.hits(list(numbers)).values()
            hits = [replace(hit, holds=hit.unit.id in lasting) for hit in found]
            marks = marked(hits, looked_up(reader, hits, scope_of(question)))
    except StoreError:
        return trace
    noted = {}
    for hit in marks:
        fact, later = trace.facts[numbers[hit.unit.id]], hit.moved_on
        moved_on = fact.moved_on
        if moved_on is None and later is not None:
            moved_on = as_fact(Hit(later, 0.0), seen.get(later.id, ""))
        if moved_on is not fact.moved_on or hit.change != fact.change:
            noted[fact.number] = replace(fact, moved_on=moved_on, change=hit.change)
    return replace(trace, facts={**trace.facts, **noted})


def _numbered(fact: Fact, seen: Mapping[str, str]) -> Fact:
    """Return the fact; if the later turn that replaces it is a fact too, that turn gets its fact number."""
    later = fact.moved_on
    return fact if later is None else replace(fact, moved_on=replace(later, number=seen.get(later.unit, "")))


def _evidence(trace: Trace) -> tuple[str, ...]:
    return trace.guess.evidence if trace.guess is not None else trace.evidence
