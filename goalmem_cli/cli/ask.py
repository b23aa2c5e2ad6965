"""`goalmem ask`: answers a question from memory, and shows the proof."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.cli.invocation import STANDARD_INPUT, Invocation, begin, standard_input
from goalmem_cli.cli.scope import chosen_asker, chosen_conversations, say_left_out
from goalmem_cli.cli.times import latest
from goalmem_cli.errors import InputError, StoreError, UsageError
from goalmem_cli.records import Query, Question, encodable

if TYPE_CHECKING:
    from goalmem_cli.store import Store
    from goalmem_cli.trace import Trace

EXIT_CODES = {"answered": 0, "unknown": 1, "failed": 4}


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command(
        "ask",
        context_settings=CONTEXT,
        epilog=examples(
            'goalmem ask "Which drink did Alice order at Momoco?" --trace',
            'echo "Where do I work?" | goalmem ask - --asker Alice --json',
        ),
    )(ask)


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question, or - to read it.")],
    trace: Annotated[bool, typer.Option("--trace", help="Draw the proof tree on stderr.")] = False,
    json: options.Json = False,
    model: options.Model = None,
    backbone: options.Backbone = None,
    max_breadth: options.MaxBreadth = None,
    max_depth: options.MaxDepth = None,
    budget: options.Budget = None,
    strict: Annotated[
        bool | None,
        typer.Option(
            "--strict/--no-strict",
            help="Refuse what a model only infers [default: of small models].",
        ),
    ] = None,
    conversation: options.Conversations = None,
    asker: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who I and my are [default: the user, if there is just one].")
    ] = None,
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
    hidden_after = latest(as_of, "--as-of") if as_of is not None else None
    run = begin(
        context, quiet=quiet, verbose=verbose, store=store, embedder=embedder, model=model, backbone=backbone,
        max_breadth=max_breadth, max_depth=max_depth, budget=budget, strict=strict, seed=seed, threads=threads,
        context=context_length, prompts=prompts,
    )  # fmt: skip
    from goalmem_cli.wiring import open_store

    memory = open_store(run.settings, run.factories, run.screen.note)
    asked = _question(run, memory, text, hidden_after, conversation, asker)
    outcome = _answer(run, memory, asked, is_traced=trace)
    _save(run, outcome)
    _show(run, outcome, is_json=json, is_traced=trace)
    return EXIT_CODES[outcome.status]


def _question_text(typed: str) -> str:
    try:
        text = standard_input().decode("utf-8") if typed == STANDARD_INPUT else typed
    except UnicodeDecodeError as error:
        raise InputError(STANDARD_INPUT, f"byte {error.start}", "not UTF-8", "save the question as UTF-8") from error
    if not text.strip():
        raise UsageError("the question is empty", "ask something")
    return " ".join(encodable(text).split())


def _question(
    run: Invocation,
    memory: Store,
    text: str,
    hidden_after: datetime | None,
    conversations: list[str] | None,
    asker: str | None,
) -> Question:
    """Return the question with its scope, checked against what the store holds.

    Raises:
        StoreError: the store holds nothing.
        UsageError: a conversation or the asker is not in it.
    """
    stored = memory.conversations()
    if not stored:
        raise StoreError(f"the store {run.settings.store} is empty", "`goalmem ingest PATH` reads a transcript into it")
    scope = chosen_conversations(conversations, stored)
    if hidden_after is not None:
        say_left_out(run.screen, memory.count_without_time(Query(text, scope, until=hidden_after)))
    now = datetime.now().astimezone().replace(tzinfo=None, microsecond=0)
    return Question(text, hidden_after or now, chosen_asker(asker, stored, scope), scope, hidden_after)


def _answer(run: Invocation, memory: Store, question: Question, *, is_traced: bool) -> Trace:
    """Return the trace of the question, drawing it on a terminal while it grows."""
    from goalmem_cli.render.live import LiveTree
    from goalmem_cli.wiring import build_reasoner

    loaded = run.factories.model(run.settings)
    run.screen.detail(f"model {loaded.name}, {loaded.profile} prompts, {loaded.context} tokens of context")
    with ExitStack() as stack:
        stack.callback(loaded.close)
        observer = None
        if run.screen.is_live:
            observer = stack.enter_context(LiveTree(run.screen.notes, question.text, is_full=is_traced))
        return build_reasoner(run.settings, memory, loaded, observer).answer(question)


def _save(run: Invocation, trace: Trace) -> None:
    from goalmem_cli.wiring import open_traces

    try:
        run.screen.detail(f"trace {open_traces(run.settings).save(trace)}")
    except StoreError as error:
        run.screen.warn(f"the trace was not kept: {error.message}")


def _show(run: Invocation, trace: Trace, *, is_json: bool, is_traced: bool) -> None:
    from goalmem_cli.render.tree import BRIEF, FULL, proof_tree, reason_line
    from goalmem_cli.trace import as_document

    if is_traced:
        run.screen.draw(proof_tree(trace, FULL if run.screen.is_verbose else BRIEF))
    if is_json:
        run.screen.document(as_document(trace))
    elif trace.answer is not None and EXIT_CODES[trace.status] == 0:
        run.screen.answer(trace.answer)
    elif trace.status == "failed":
        run.screen.error(f"no usable reply: {reason_line(trace)}", "try another --model; --trace shows how far it came")
    elif not is_traced:
        run.screen.note(f"unknown: {reason_line(trace)}")
