"""`goalmem ask`: answers a question from memory and shows the proof; `goalmem chat` uses its functions too."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.invocation import Invocation, begin, standard_input
from goalmem_cli.cli.typed_times import latest, stretch
from goalmem_cli.errors import InputError
from goalmem_cli.library.answering import Kind, Terms, local_now, one_line, refuse_empty
from goalmem_cli.library.scope import Names
from goalmem_cli.records import STANDARD_INPUT

if TYPE_CHECKING:
    from goalmem_cli.library.answering import Asking
    from goalmem_cli.library.memory import Memory
    from goalmem_cli.ports import Observer
    from goalmem_cli.records import Question
    from goalmem_cli.trace import Guess, Trace

T = TypeVar("T")

FLAGS = Names("--conversation", "--speaker", "--asker")
EXIT_CODES = {"answered": 0, "unknown": 1, "failed": 4}
EPILOG = examples(
    'goalmem ask "Which drink did Alice order at Momoco?" --trace',
    'echo "Where do I work?" | goalmem ask - --asker Alice --json',
    'goalmem ask "When did Alice move?" --reasoner tiser',
    'goalmem ask "How often did I run?" --last 30d',
    guide="proofs",
)


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question, or - to read it.")],
    trace: options.Trace = False,
    json: options.Json = False,
    keep_prompts: options.KeepPrompts = None,
    keep: options.Keep = None,
    remember: Annotated[
        bool, typer.Option("--remember", help="Store the question and its answer in the conversation goalmem.")
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
    fact_tokens: options.FactTokens = None,
    strict: options.Strict = None,
    rules: options.Rules = None,
    conversation: options.Conversations = None,
    asker: options.Asker = None,
    since: options.Since = None,
    until: options.Until = None,
    last: options.Last = None,
    as_of: options.AsOf = None,
    seed: options.Seed = None,
    context_length: options.Context = None,
    threads: options.Threads = None,
    prompts: options.Prompts = None,
    store: options.Store = None,
    embedder: options.Embedder = None,
    trust_remote_code: options.TrustRemoteCode = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Answer a question from memory; stdout has only the answer. Exits with 1 if memory has no answer."""
    text = _typed_or_piped(question)
    refuse_empty(text, Kind.QUESTION)  # before a store is opened
    hidden = hidden_after(as_of)
    begun, ended = stretch(since, until, last, lambda: hidden or local_now())
    terms = Terms(
        conversation, asker, hidden, is_remembered=remember, wants_all=wants_all, since=begun, until=ended
    )  # fmt: skip
    run = begin(
        context, quiet=quiet, verbose=verbose, store=store, embedder=embedder,
        trust_remote_code=trust_remote_code, model=model, adapter=adapter,
        backbone=backbone, reasoner=reasoner, planning=planning, max_breadth=max_breadth, max_depth=max_depth,
        max_steps=max_steps, fact_tokens=fact_tokens,
        certainty=certainty, budget=budget, strict=strict, seed=seed, threads=threads, context=context_length,
        prompts=prompts, keep_prompts=keep_prompts if keep is None else True, rules=rules,
    )  # fmt: skip
    with open_for(run, is_brief=True) as memory:
        chosen = None if keep is None else memory.goals.free_name(text, keep)
        asking = memory.asking(terms)
        asked = asking.question(text)
        if chosen is not None:
            from goalmem_cli.library.goals.keeping import refuse_hidden  # only here, as it loads what checks goals

            refuse_hidden(asked)
        generation = 0 if chosen is None else memory.goals.generation
        outcome = drawn(run, asking, asked, is_traced=trace)
    kept = asking.keep(outcome)
    if chosen is not None and outcome.status != "failed":
        memory.goals.keep(asked, outcome, chosen, generation, kept)
    show(run, outcome, is_json=json, is_traced=trace)
    if remember:
        asking.remember(asked, outcome, kept)
    return EXIT_CODES[outcome.status]


def hidden_after(as_of: str | None) -> datetime | None:
    """Return the last instant of the time given with --as-of, None if the flag was not given.

    Raises:
        UsageError: the text is no time.
    """
    return None if as_of is None else latest(as_of, "--as-of")


def _typed_or_piped(question: str) -> str:
    try:
        return standard_input().decode("utf-8") if question == STANDARD_INPUT else question
    except UnicodeDecodeError as error:
        raise InputError(STANDARD_INPUT, f"byte {error.start}", "not UTF-8", "save the question as UTF-8") from error


def open_for(run: Invocation, *, is_brief: bool = False) -> Memory:
    """Open the run's memory. Its messages go to the screen; its errors name command-line flags. See `Memory.__init__`.

    Raises:
        StoreError: the store cannot be read.
        ModelError: the named embedder cannot be loaded.
    """
    from goalmem_cli.library.memory import Memory

    return Memory(run.settings, run.factories, run.screen, names=FLAGS, is_brief=is_brief)


def drawn(run: Invocation, asking: Asking, question: Question, *, is_traced: bool) -> Trace:
    """Answer the question and return the trace; on a terminal, draw it while it grows.

    Raises:
        ModelError: the model cannot be loaded or used.
        StoreError: the memory cannot be read.
    """
    return drawn_by(run, question.text, partial(asking.answer, question), is_full=is_traced)


def drawn_by(
    run: Invocation, text: str, prove: Callable[[Observer | None, Callable[[], None]], T], *, is_full: bool = False
) -> T:
    """Prove a question of this text; on a terminal, draw the proof while it grows."""
    if not run.screen.is_live:
        return prove(None, _undrawn)
    from goalmem_cli.render.live import LiveTree

    with LiveTree(run.screen.notes, text, is_full=is_full) as tree:
        return prove(tree, tree.loaded)


def _undrawn() -> None:
    """Draw nothing when the model is loaded."""


def show(
    run: Invocation, trace: Trace, *, is_json: bool = False, is_traced: bool = False, is_worded: bool = False
) -> None:
    """Print the answer on stdout, or on stderr why there is none, and the proof if wanted.

    If the answer is not sure, stderr says so, with a number or, if `is_worded`, in words.
    """
    from goalmem_cli.reasoners.certainty import doubt_in_words
    from goalmem_cli.trace import as_document

    if is_traced:
        draw_proof(run, trace)
    if run.screen.is_verbose:
        from goalmem_cli.render.tables import stages_table

        run.screen.draw(stages_table(trace.stages))
    if is_json:
        run.screen.document(as_document(trace))
    elif trace.answer is not None and EXIT_CODES[trace.status] == 0:
        for note in trace.notes if trace.actions and not is_traced else ():  # such as what was left out
            run.screen.note(note)
        run.screen.answer(one_line(trace.answer))
        if trace.is_unchecked:
            from goalmem_cli.render.tree import UNCHECKED

            run.screen.note(f"unchecked: {UNCHECKED}")
        if trace.may_be_more:
            run.screen.note("there may be more")
        if doubt := doubt_in_words(trace.certainty):
            run.screen.note(doubt if is_worded else f"not sure: {trace.certainty or 0.0:.0%} certain")
    else:
        _show_why(run, trace, is_traced=is_traced, is_worded=is_worded)


def _show_why(run: Invocation, trace: Trace, *, is_traced: bool, is_worded: bool) -> None:
    """Print on stderr why there is no answer, and what was withheld."""
    from goalmem_cli.render.tree import outcome_word, reason_line

    if trace.status == "failed":
        run.screen.error(f"no usable reply: {reason_line(trace)}", "try another --model; --trace shows how far it came")
        return
    if not is_traced:
        run.screen.note(f"{outcome_word(trace)}: {reason_line(trace)}")
    _show_guess(run, trace.guess, is_worded=is_worded)


def draw_proof(run: Invocation, trace: Trace) -> None:
    """Draw the proof on stderr, with --verbose in full."""
    from goalmem_cli.render.nodes import BRIEF, FULL
    from goalmem_cli.render.tree import proof_tree

    run.screen.draw(proof_tree(trace, FULL if run.screen.is_verbose else BRIEF))


def _show_guess(run: Invocation, guess: Guess | None, *, is_worded: bool) -> None:
    """Print the withheld answer, if any, on stderr, and how to get it."""
    from goalmem_cli.reasoners.certainty import doubt_in_words

    if guess is not None:
        sure = doubt_in_words(guess.certainty) if is_worded else f"{guess.certainty:.0%} certain"
        doubt = f" ({sure})" if sure else ""  # even a rather sure answer may be below --certainty
        run.screen.note(f"guess: {one_line(guess.answer)}{doubt}; --certainty 0 takes it as the answer")
