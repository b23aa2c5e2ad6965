"""`goalmem goals`: keeps questions, and says when their answers change."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.ask import draw_proof, drawn_by, open_for
from goalmem_cli.cli.groups import CONTEXT, ListGroup, examples
from goalmem_cli.cli.invocation import begin, confirm
from goalmem_cli.cli.typed_times import stretch
from goalmem_cli.errors import ModelError, StoreDamaged, StoreError
from goalmem_cli.library.answering import Kind, Terms, local_now, refuse_empty
from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.privacy import GOALS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalmem_cli.cli.invocation import Invocation
    from goalmem_cli.library.goals.keeping import Goals
    from goalmem_cli.library.goals.noticing import Touch
    from goalmem_cli.library.memory import Memory
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.store.goal_records import CheckedGoal, Goal

SCHEMA_VERSION = 1
NOTHING_FOUND = CHANGED = 1

group = typer.Typer(
    cls=ListGroup,
    context_settings=CONTEXT,
    help="Keep questions, and see when their answers change.",
    epilog=examples('goalmem goals add "Where does Ana live now?" --name home', "goalmem goals check", guide="goals"),
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The goal's name, as `goalmem goals` lists it.")]
Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these goals.")]


@group.command("list", epilog=examples("goalmem goals", "goalmem goals --json", guide="goals"))
def list_(
    context: typer.Context, store: options.Store = None, json: options.Json = False, quiet: options.Quiet = False
) -> int:
    """List the goals, each with its present answer. Exits with 1 when there is none."""
    from goalmem_cli.render.goals import line_of_goal, row_of_goal

    run = begin(context, quiet=quiet, store=store)
    goals, failed = goals_of(run)
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "goals": [row_of_goal(goal) for goal in goals]})
    for goal in () if json else goals:
        run.screen.text(line_of_goal(goal))
    return failed or _none_but(run, goals)


@group.command("add", epilog=examples('goalmem goals add "What do we pay for the flat?" --name rent', guide="goals"))
def add(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question to keep.")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="What to call it [default: its first words].")
    ] = None,
    asker: options.Asker = None,
    conversation: options.Conversations = None,
    since: options.Since = None,
    until: options.Until = None,
    wants_all: options.All = False,
    reasoner: options.Reasoner = None,
    model: options.Model = None,
    adapter: options.Adapter = None,
    backbone: options.Backbone = None,
    planning: options.Planning = None,
    certainty: options.Certainty = None,
    store: options.Store = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Ask a question, and keep it with its proof.

    It is also kept without an answer.
    """
    from goalmem_cli.render.goals import line_of_goal, row_of_goal

    refuse_empty(question, Kind.QUESTION)
    begun, ended = stretch(since, until, None, local_now)
    run = begin(
        context, quiet=quiet, verbose=verbose, store=store, embedder=embedder, model=model, adapter=adapter,
        backbone=backbone, reasoner=reasoner, planning=planning, certainty=certainty,
    )  # fmt: skip
    terms = Terms(conversation, asker, wants_all=wants_all, since=begun, until=ended)
    with open_for(run) as memory:
        chosen = memory.goals.free_name(question, name)  # before the model is loaded
        goal = drawn_by(run, question, partial(memory.goals.add, question, terms, chosen))
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "goals": [row_of_goal(goal)]})
    else:
        run.screen.text(line_of_goal(goal))
    return 0


@group.command("show", epilog=examples("goalmem goals show rent --trace", guide="goals"))
def show(
    context: typer.Context,
    name: Name,
    trace: options.Trace = False,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Show a goal's answers and proofs, now and before.

    Each change has its reason, and the ids of its traces; `goalmem trace show ID` draws one.
    """
    from goalmem_cli.render.goals import document_of, lines_of_history
    from goalmem_cli.wiring import open_traces

    run = begin(context, quiet=quiet, verbose=verbose, store=store)
    with open_for(run) as memory:
        goal = memory.goals.folder.get(name)
    if trace and goal.state.trace is not None:
        draw_proof(run, goal.state.trace)
    if json:
        run.screen.document(document_of(goal))
    else:
        run.screen.text("\n".join(lines_of_history(goal, open_traces(run.settings).ids())))
    return 0


@group.command("check", epilog=examples("goalmem goals check", "goalmem goals check rent --json", guide="goals"))
def check(
    context: typer.Context,
    names: Names = None,
    every: Annotated[bool, typer.Option("--all", help="Prove all goals again.")] = False,
    trace: options.Trace = False,
    reasoner: options.Reasoner = None,
    model: options.Model = None,
    adapter: options.Adapter = None,
    backbone: options.Backbone = None,
    planning: options.Planning = None,
    certainty: options.Certainty = None,
    store: options.Store = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Prove again the goals that may have changed.

    New, replaced and forgotten turns may change a goal. Prints for each goal whether its answer is still so, or what
    changed and which turn changed it. The other goals are not proved again, and need no model.

    Exits with 0 if nothing changed, with 1 if something did, with 4 if the model could not check a goal. If nothing
    changed, but a goal cannot be read, exits with 3.
    """
    run = begin(
        context, quiet=quiet, verbose=verbose, store=store, embedder=embedder, model=model, adapter=adapter,
        backbone=backbone, reasoner=reasoner, planning=planning, certainty=certainty,
    )  # fmt: skip
    checked: list[CheckedGoal] = []
    with open_for(run) as memory:
        found, failed = _touched(run, memory, names)
        try:
            check_all(run, memory.goals, found, checked, is_forced=every, is_traced=trace, is_shown=not json)
        finally:  # what an interrupted check changed is reported by no later one
            if json:
                run.screen.document({"schema_version": SCHEMA_VERSION} | rows_of(checked))
    if not (found or failed):
        run.screen.note(_none_yet(run))
    return code_of(checked) or failed


@group.command("remove", epilog=examples("goalmem goals remove rent", guide="goals"))
def remove(
    context: typer.Context,
    name: Name,
    yes: options.Yes = False,
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Show a goal, and delete it with all its states. No turn is deleted."""
    from goalmem_cli.render.text import counted, safe

    run = begin(context, quiet=quiet, store=store)
    with open_for(run) as memory:
        try:
            goal = memory.goals.folder.get(name)
            run.screen.note(f"{name}: {safe(goal.question)} ({counted(len(goal.states), 'state')})")
        except StoreDamaged as error:
            run.screen.warn(f"{error.message}: its question and states cannot be shown")
        again = run.command("goals", "add")
        run.screen.note(f"this cannot be undone; `{again}` keeps the question anew, without these states")
        confirm(f"Delete the goal {name} for good?", is_given=yes)
        memory.goals.remove(name)
    run.screen.report(f"removed the goal {name}")
    return 0


@group.command("report", epilog=examples("goalmem goals report --out goals.html", guide="goals"))
def report(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page to write.")],
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Write a page of all goals over time.

    It shows states, answers, and the turns that changed them, in one HTML file that loads nothing.
    Exits with 1 when there is no goal.
    """
    from datetime import UTC, datetime

    from goalmem_cli.render.goals import goals_page
    from goalmem_cli.store.files import replace_file

    run = begin(context, quiet=quiet, store=store)
    goals, failed = goals_of(run)
    if not goals:
        return failed or _none_but(run, goals)
    hint = "check permissions and space, or name another file with --out"
    replace_file(out, goals_page(goals, datetime.now(UTC)).encode(), hint=hint)
    run.screen.note(f"{out} holds the goals")
    return failed


def goals_of(run: Invocation) -> tuple[list[Goal], int]:
    """Return the kept goals that can be read, and what `warn_of` returns about the others."""
    unread: list[StoreError] = []
    with open_for(run) as memory:
        goals = memory.goals.folder.all(unread)
    return goals, warn_of(run, unread)


def warn_of(run: Invocation, unread: Sequence[StoreError]) -> int:
    """Warn of each goal that cannot be read, and return the exit code: 0 if there is none."""
    for error in unread:
        run.screen.warn(f"{error.message}; {error.hint}")
    return StoreError.exit_code if unread else 0


def _none_but(run: Invocation, goals: Sequence[Goal]) -> int:
    """Say so if there is no goal, and return the exit code."""
    if not goals:
        run.screen.note(_none_yet(run))
    return 0 if goals else NOTHING_FOUND


def _none_yet(run: Invocation) -> str:
    return f"there is no goal yet: {run.command('goals', 'add', names=['QUESTION'])} keeps a question"


def may_have_changed(run: Invocation, memory: KeptMemory) -> None:
    """Report how many goals the turns that were just added or removed may have changed. Without goals, do nothing.

    A goal that cannot be read gives a warning, no error.
    """
    try:
        if not _has_goals(memory):
            return
        with open_for(run) as opened:
            found, _ = _touched(run, opened)
    except StoreError as error:
        run.screen.warn(error.message)
        return
    if count := sum(touch is not None for _, touch in found):
        from goalmem_cli.render.goals import touched_words

        run.screen.note(touched_words(count, run.command("goals", "check")))


def check_changed(
    run: Invocation, memory: KeptMemory, done: list[CheckedGoal], *, is_wanted: bool, is_shown: bool
) -> int:
    """Check the goals that newly added turns may have changed, as `check_all` does; or, if not wanted, report them.

    Return the exit code: 3 if a goal that was to be checked cannot be read, else 0.
    """
    if not is_wanted:
        may_have_changed(run, memory)
        return 0
    if not _has_goals(memory):
        return 0
    with open_for(run) as opened:
        found, failed = _touched(run, opened)
        changed = [(goal, touch) for goal, touch in found if touch is not None]
        check_all(run, opened.goals, changed, done, is_shown=is_shown)
    return failed


def rows_of(checked: Sequence[CheckedGoal]) -> dict[str, object]:
    """Return the results of checks as JSON data."""
    from goalmem_cli.render.goals import row_of_check

    return {"goals": [row_of_check(each) for each in checked]}


def _has_goals(memory: KeptMemory) -> bool:
    return memory.exists and not GoalFolder(memory.path / GOALS).is_empty


def _touched(
    run: Invocation, memory: Memory, names: Sequence[str] | None = None
) -> tuple[list[tuple[Goal, Touch | None]], int]:
    """Return what `Goals.touched` does, and what `warn_of` returns about the goals that cannot be read."""
    unread: list[StoreError] = []
    found = memory.goals.touched(names, unread)
    return found, warn_of(run, unread)


def check_all(
    run: Invocation,
    goals: Goals,
    found: Sequence[tuple[Goal, Touch | None]],
    done: list[CheckedGoal],
    *,
    is_forced: bool = False,
    is_traced: bool = False,
    is_shown: bool = True,
) -> None:
    """Check the goals one after another; add each result to `done`, and print it at once."""
    from goalmem_cli.render.goals import line_of_check

    for goal, touch in found:
        if touch is None and not is_forced:
            checked = goals.untouched(goal)
        else:
            checked = drawn_by(run, goal.question, partial(goals.check, goal, touch))
        done.append(checked)
        state = checked.goal.state
        if is_traced and checked.touched and state.trace is not None:
            draw_proof(run, state.trace)
        if is_shown:
            run.screen.text(line_of_check(checked))


def code_of(checked: Sequence[CheckedGoal]) -> int:
    """Return the exit code of checks: 4 if a goal could not be checked, 1 if one changed, else 0."""
    if any(each.outcome.is_failed for each in checked):
        return ModelError.exit_code
    return CHANGED if any(each.outcome.is_change for each in checked) else 0
