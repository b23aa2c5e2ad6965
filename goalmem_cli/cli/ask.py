"""`goalmem ask`: answers a question from memory, and shows the proof. `goalmem chat` asks through here too."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.cli.invocation import STANDARD_INPUT, Invocation, begin, standard_input
from goalmem_cli.cli.scope import USER_ROLE, chosen_asker, chosen_conversations, say_left_out
from goalmem_cli.cli.times import latest, local_now
from goalmem_cli.errors import InputError, StoreError, UsageError
from goalmem_cli.records import Query, Question, encodable
from goalmem_cli.stages import watching

if TYPE_CHECKING:
    from goalmem_cli.memory import KeptMemory
    from goalmem_cli.ports import Observer
    from goalmem_cli.records import Turn
    from goalmem_cli.stored import ConversationSummary
    from goalmem_cli.trace import Guess, Trace
    from goalmem_cli.wiring import DeferredModel, LoadedModel

EXIT_CODES = {"answered": 0, "unknown": 1, "failed": 4}


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command(
        "ask",
        context_settings=CONTEXT,
        epilog=examples(
            'goalmem ask "Which drink did Alice order at Momoco?" --trace',
            'echo "Where do I work?" | goalmem ask - --asker Alice --json',
            'goalmem ask "When did Alice move?" --reasoner tiser',
            guide="proofs",
        ),
    )(ask)


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question, or - to read it.")],
    trace: options.Trace = False,
    json: options.Json = False,
    keep_prompts: options.KeepPrompts = None,
    remember: Annotated[
        bool,
        typer.Option("--remember", help="Remember the question, and the answer, in the conversation goalmem."),
    ] = False,
    reasoner: options.Reasoner = None,
    model: options.Model = None,
    adapter: options.Adapter = None,
    backbone: options.Backbone = None,
    planning: options.Planning = None,
    wants_all: options.All = False,
    max_breadth: options.MaxBreadth = None,
    max_depth: options.MaxDepth = None,
    max_steps: options.MaxSteps = None,
    certainty: options.Certainty = None,
    budget: options.Budget = None,
    strict: options.Strict = None,
    conversation: options.Conversations = None,
    asker: options.Asker = None,
    as_of: options.AsOf = None,
    seed: options.Seed = None,
    context_length: options.Context = None,
    threads: options.Threads = None,
    prompts: options.Prompts = None,
    store: options.Store = None,
    embedder: options.Embedder = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Answer a question from memory; the answer alone is on stdout. Exits with 1 when memory does not answer it."""
    text = _question_text(question)
    terms = Terms(conversation, asker, hidden_after(as_of), (), trace, remember, wants_all)
    run = begin(
        context, quiet=quiet, verbose=verbose, store=store, embedder=embedder, model=model, adapter=adapter,
        backbone=backbone, reasoner=reasoner, planning=planning, max_breadth=max_breadth, max_depth=max_depth,
        max_steps=max_steps,
        certainty=certainty, budget=budget, strict=strict, seed=seed, threads=threads, context=context_length,
        prompts=prompts, keep_prompts=keep_prompts,
    )  # fmt: skip
    with closing(Asking(run, terms)) as asking:
        asked = asking.question(text)
        outcome = asking.answer(asked)
    kept = asking.keep(outcome)
    show(run, outcome, is_json=json, is_traced=trace)
    if remember:
        asking.remember(asked, outcome, kept)
    return EXIT_CODES[outcome.status]


def one_line(text: str) -> str:
    """Return what was asked or said as it is asked and remembered: on one line, without lone surrogates."""
    return " ".join(encodable(text).split())


def hidden_after(as_of: str | None) -> datetime | None:
    """Return the time that --as-of names, None where it was not typed.

    Raises:
        UsageError: it is no time.
    """
    return None if as_of is None else latest(as_of, "--as-of")


def _question_text(typed: str) -> str:
    try:
        text = standard_input().decode("utf-8") if typed == STANDARD_INPUT else typed
    except UnicodeDecodeError as error:
        raise InputError(STANDARD_INPUT, f"byte {error.start}", "not UTF-8", "save the question as UTF-8") from error
    if not text.strip():
        raise UsageError("the question is empty", "ask something")
    return one_line(text)


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms questions are asked.

    `conversations`, `asker` and `as_of` are those typed, None where they were not; `besides` are conversations that
    count whichever were chosen. `is_remembered` says that questions become turns, so that somebody has to have asked;
    `wants_all` is what a `Question` has.
    """

    conversations: Sequence[str] | None = None
    asker: str | None = None
    as_of: datetime | None = None
    besides: tuple[str, ...] = ()
    is_traced: bool = False
    is_remembered: bool = False
    wants_all: bool = False


class Asking:
    """Asks questions of the run's store, on terms that stay the same; the model is loaded at the first one."""

    def __init__(self, run: Invocation, terms: Terms, model: DeferredModel | None = None) -> None:
        """Open the store; `model` is one that several share, and that whoever gives it closes.

        Raises:
            StoreError: what is there cannot be read.
            ModelError: the embedder that was named cannot be loaded.
        """
        from goalmem_cli.wiring import DeferredModel, open_store

        self._run = run
        self._terms = terms
        self._memory: KeptMemory = open_store(run.settings, run.factories, run.screen.note)
        self._own = DeferredModel(self._load)
        self._model = model or self._own

    def close(self) -> None:
        """Give the memory of its own model back."""
        self._own.close()

    def _load(self) -> LoadedModel:
        loaded = self._run.factories.model(self._run.settings)
        name, profile, context = loaded.name, loaded.profile, loaded.context
        self._run.screen.detail(f"model {name}, {profile} prompts, {context} tokens of context")
        return loaded

    def question(self, text: str) -> Question:
        """Return the question with its scope, checked against what the store holds.

        Raises:
            StoreError: the store holds nothing.
            UsageError: a conversation or the asker is not in it.
        """
        stored = self._memory.conversations()
        if not stored:
            raise StoreError(
                f"the store {self._run.settings.place} is empty", "`goalmem ingest PATH` reads a transcript into it"
            )
        said = self._said(text, stored)
        if said.as_of is not None:
            scope = Query(text, said.conversations, until=said.as_of)
            say_left_out(self._run.screen, self._memory.count_without_time(scope))
        return said

    def statement(self, text: str) -> Question:
        """Return what was said without asking anything, in the form of a question; the store may hold nothing yet.

        Raises:
            UsageError: a conversation or the asker is not in the store.
        """
        return self._said(text, self._memory.conversations() if self._memory.exists else [])

    def answer(self, question: Question, observer: Observer | None = None) -> Trace:
        """Return the trace of the question, drawing it on a terminal while it grows, unless `observer` sees it.

        Raises:
            ModelError: the model cannot be loaded or used.
            StoreError: the memory cannot be read.
        """
        from goalmem_cli.render.live import LiveTree
        from goalmem_cli.wiring import build_reasoner, check_backbone

        run = self._run
        check_backbone(run.settings, self._memory, run.factories)  # before a model is loaded, which takes longer
        with ExitStack() as stack:
            tree = None
            if observer is None and run.screen.is_live:
                tree = LiveTree(run.screen.notes, question.text, is_full=self._terms.is_traced)
                observer = stack.enter_context(tree)
            stack.enter_context(watching(keeps_prompts=run.settings.keep_prompts))
            loaded = self._model.loaded()
            if tree is not None:
                tree.loaded()
            reasoner = build_reasoner(run.settings, self._memory, loaded, observer, factories=run.factories)
            return reasoner.answer(question)

    def keep(self, trace: Trace) -> str | None:
        """Save the trace and return its id; an answer is worth more than its record, so a failure is a warning.

        What was forgotten while the model was at work is not kept either: looked for after saving, since forgetting
        deletes the traces that it finds after the rows.
        """
        from goalmem_cli.wiring import open_traces

        traces = open_traces(self._run.settings)
        try:
            kept = traces.save(trace)
            is_whole = False
            try:
                is_whole = self._memory.are_stored([fact.unit for fact in trace.facts.values()])
            finally:
                if not is_whole:
                    traces.remove(kept)
            if not is_whole:
                self._run.screen.warn("the trace was not kept: something it shows was forgotten meanwhile")
                return None
        except StoreError as error:
            self._run.screen.warn(f"the trace was not kept: {error.message}")
            return None
        self._run.screen.detail(f"trace {kept}")
        return kept

    def remember(self, said: Question, trace: Trace | None = None, trace_id: str | None = None) -> Turn:
        """Remember what was said as a turn, which is returned, and the answer to it if there is one.

        Raises:
            StoreError: the memory cannot be written.
            ModelError: the embedder cannot be used.
        """
        from goalmem_cli.reasoners.remembering import remember_answer, remember_words
        from goalmem_cli.wiring import open_backbone

        run = self._run
        backbone = open_backbone(run.settings, self._memory, run.factories, self._model.loaded)
        turn = remember_words(said, backbone, self._memory)
        self._run.screen.detail(f"turn {turn.own_id} of {turn.conversation}, said by {turn.speaker}")
        if trace is not None:
            remember_answer(turn, trace, trace_id, self._memory)
        return turn

    def _said(self, text: str, stored: Sequence[ConversationSummary]) -> Question:
        """Return the text with who says it, when, and of which conversations.

        Whoever is remembered without a name is the user, also as the one who asks.
        """
        terms = self._terms
        scope = chosen_conversations(terms.conversations, stored)
        if scope is not None:
            scope = tuple(dict.fromkeys((*scope, *terms.besides)))
        asker = chosen_asker(terms.asker, stored, scope)
        if asker is None and terms.is_remembered:
            asker = USER_ROLE
        return Question(text, terms.as_of or local_now(), asker, scope, terms.as_of, terms.wants_all)


def show(
    run: Invocation, trace: Trace, *, is_json: bool = False, is_traced: bool = False, is_worded: bool = False
) -> None:
    """Print the answer on stdout, or say on stderr why there is none; the proof beside it where it is wanted.

    That an answer is not sure is said with it on stderr, as a number or, where that `is_worded`, in words.
    """
    from goalmem_cli.reasoners.certainty import doubt_in_words
    from goalmem_cli.render.tree import UNCHECKED, reason_line
    from goalmem_cli.trace import as_document

    _draw(run, trace, is_traced=is_traced)
    if is_json:
        run.screen.document(as_document(trace))
    elif trace.answer is not None and EXIT_CODES[trace.status] == 0:
        for note in trace.notes if trace.actions and not is_traced else ():  # such as what was left out
            run.screen.note(note)
        run.screen.answer(one_line(trace.answer))
        if trace.is_unchecked:
            run.screen.note(f"unchecked: {UNCHECKED}")
        if trace.may_be_more:
            run.screen.note("there may be more")
        if doubt := doubt_in_words(trace.certainty):
            run.screen.note(doubt if is_worded else f"not sure: {trace.certainty or 0.0:.0%} certain")
    elif trace.status == "failed":
        run.screen.error(f"no usable reply: {reason_line(trace)}", "try another --model; --trace shows how far it came")
    else:
        if not is_traced:
            run.screen.note(f"unknown: {reason_line(trace)}")
        _show_guess(run, trace.guess, is_worded=is_worded)


def _draw(run: Invocation, trace: Trace, *, is_traced: bool) -> None:
    """Draw the proof where it is wanted, and with --verbose what took how long."""
    from goalmem_cli.render.nodes import BRIEF, FULL
    from goalmem_cli.render.tables import stages_table
    from goalmem_cli.render.tree import proof_tree

    if is_traced:
        run.screen.draw(proof_tree(trace, FULL if run.screen.is_verbose else BRIEF))
    if run.screen.is_verbose:
        run.screen.draw(stages_table(trace.stages))


def _show_guess(run: Invocation, guess: Guess | None, *, is_worded: bool) -> None:
    """Say on stderr what was withheld, if anything, and how to have it."""
    from goalmem_cli.reasoners.certainty import doubt_in_words

    if guess is not None:
        sure = doubt_in_words(guess.certainty) if is_worded else f"{guess.certainty:.0%} certain"
        doubt = f" ({sure})" if sure else ""  # what more certainty was wanted of may be rather sure
        run.screen.note(f"guess: {one_line(guess.answer)}{doubt}; --certainty 0 takes it as the answer")
