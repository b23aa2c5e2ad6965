"""`goalmem forget`: deletes turns, and everything that came from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.ask import FLAGS
from goalmem_cli.cli.goals import may_have_changed
from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.invocation import Invocation, begin, confirm
from goalmem_cli.cli.typed_times import earliest
from goalmem_cli.errors import UsageError
from goalmem_cli.library.forgetting import forget as forget_for_good
from goalmem_cli.library.forgetting import refuse_always
from goalmem_cli.library.scope import selected, strangers_in_words
from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.privacy import GOALS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.memory_records import Forgotten, Selection

SCHEMA_VERSION = 1
NOTHING_FOUND = 1
_NAMES = replace(FLAGS, conversations="CONVERSATION")
_SHOWN = 5
EPILOG = examples(
    "goalmem forget lisbon-trip",
    "goalmem forget --speaker Ben --before 2023-06 --yes",
    "goalmem forget --list",
    guide="store",
)


def forget(
    context: typer.Context,
    conversation: Annotated[
        list[str] | None, typer.Argument(metavar="[CONVERSATION]...", help="Which conversations, by name.")
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only what was said before then: 2023, 2023-05 or 2023-05-21.")
    ] = None,
    speaker: options.Speakers = None,
    goal: Annotated[
        list[str] | None, typer.Option("--goal", metavar="NAME", help="Also delete this goal, not only its answers.")
    ] = None,
    always: Annotated[
        bool, typer.Option("--always", help="Also leave out later turns of these conversations and speakers.")
    ] = False,
    leave_nothing: Annotated[
        bool, typer.Option("--leave-nothing", help="Keep no marks: reading the transcript again restores it.")
    ] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="Count what was forgotten before, and forget nothing.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be deleted, and delete nothing.")] = False,
    yes: options.Yes = False,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Delete turns and all that came from them.

    Afterwards no file of the store holds their text. Reading their transcript again does not restore them; `goalmem
    ingest --restore-forgotten` does. Shows first what it will delete, and asks. Several options narrow the choice:
    this speaker's turns before that time. Exits with 1 if nothing matches.
    """
    if listed and (conversation or before or speaker or always or leave_nothing or dry_run or yes or goal):
        raise UsageError("--list forgets nothing", "give it alone")
    if listed:
        return _list(begin(context, quiet=quiet, store=store), is_json=json)
    if not (conversation or before or speaker):
        raise UsageError("no turns are named", "name a conversation, or give --before or --speaker")
    refuse_always(is_always=always, has_end=before is not None, leaves_marks=not leave_nothing)

    run = begin(context, quiet=quiet, store=store)
    memory = run.stored()
    time = None if before is None else earliest(before, "--before")
    selection = selected(memory, conversation, speaker, time, _NAMES, is_always=always)
    for name in goal or ():  # refuse a wrong name before anything is deleted
        kept = GoalFolder(memory.path / GOALS).get(name)
        run.screen.note(f"also the goal {kept.name} with all its states")
    counts = _forgettable(run, memory, selection)
    is_done = bool(counts.turns or always)
    for line in strangers_in_words(memory, conversation or (), speaker or ()) if always else ():
        run.screen.note(line)
    narrowed = [word for who in speaker or () for word in ("--speaker", who)]
    narrowed += [] if before is None else ["--before", before]
    narrowed += [flag for flag, is_on in (("--always", always), ("--leave-nothing", leave_nothing)) if is_on]
    _tell_of_copies(run, memory, selection, counts, narrowed)
    if is_done and not dry_run:
        if always:
            run.screen.note("--always: what comes later of these conversations and speakers is left out too")
        _confirm(run, counts, leaves_marks=not leave_nothing, is_given=yes)
        counts = _forgotten(run, memory, selection, leaves_marks=not leave_nothing, is_always=always)
        _remove_goals(memory, goal or ())
        may_have_changed(run, memory)
    if json:
        run.screen.document(_document(counts, is_done=is_done and not dry_run))
    elif not is_done:
        run.screen.note("there is nothing of the kind")
    else:
        run.screen.report(f"{'would forget' if dry_run else 'forgot'} {_words(counts)}")
    return 0 if is_done else NOTHING_FOUND


def _forgettable(run: Invocation, memory: KeptMemory, selection: Selection) -> Forgotten:
    """Count what would be deleted, and report the turns that stay because they have no time."""
    from goalmem_cli.render.text import counted

    counts = memory.forgettable(selection)
    if counts.without_time:
        stay = counted(counts.without_time, "turn")
        run.screen.note(f"{stay} without a time kept: nobody knows whether that was before")
    return counts


def _tell_of_copies(
    run: Invocation, memory: KeptMemory, selection: Selection, counts: Forgotten, narrowed: Sequence[str]
) -> None:
    """Report which conversations keep the same turns, and the command, with the `narrowed` flags, to forget these."""
    from goalmem_cli.library.alike import said_elsewhere
    from goalmem_cli.render.text import counted

    for name, count in said_elsewhere(memory, counts.ids, selection.conversations).items():
        command = run.command("forget", *narrowed, names=[name])
        told = counted(count, "of these turns", "of these turns")
        run.screen.note(f"{name} has {told} too: `{command}` deletes them, and all else that it names")


def _remove_goals(memory: KeptMemory, names: Iterable[str]) -> None:
    for name in names:
        with memory.keeping() as written:
            GoalFolder(memory.path / GOALS, written).remove(name)


def _list(run: Invocation, *, is_json: bool) -> int:
    """Print how many turns are marked as forgotten, and for how many conversations and speakers later turns are too."""
    from goalmem_cli.cli.ingest_report import in_words
    from goalmem_cli.store.tombstones import Tombstones

    memory = run.stored()
    kept = Tombstones.of_folder(memory.path)
    turns, always = kept.counts
    if is_json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "turns": turns, "always": always})
    elif kept.is_empty:
        run.screen.note("nothing is marked as forgotten")
    else:
        run.screen.answer(f"forgotten: {in_words(turns, always)}")
    return NOTHING_FOUND if kept.is_empty else 0


def _confirm(run: Invocation, counts: Forgotten, *, leaves_marks: bool, is_given: bool) -> None:
    """Show what will be deleted and how to read the transcript again, and ask, unless --yes was given.

    Raises:
        UsageError: there is no terminal to ask at.
        typer.Abort: the answer is no.
    """
    run.screen.note(f"{run.settings.place}: {_words(counts)}")
    again = run.command("ingest", *(["--restore-forgotten"] if leaves_marks else []), names=["FILE"])
    run.screen.note(f"this cannot be undone; if you have the transcript, `{again}` reads it again")
    confirm("Delete that for good?", is_given=is_given)


def _forgotten(
    run: Invocation, memory: KeptMemory, selection: Selection, *, leaves_marks: bool, is_always: bool
) -> Forgotten:
    """Forget the selection; if interrupted, say what finishes it."""
    try:
        return forget_for_good(memory, selection, leaves_marks=leaves_marks, is_always=is_always)
    except KeyboardInterrupt:
        run.screen.warn("interrupted: the next search, question or rebuild finishes it")
        raise


def _words(counts: Forgotten) -> str:
    """Return the counts in words."""
    from goalmem_cli.render.text import counted

    if not counts.turns:
        return "no turn, as nothing of the kind is stored"
    more = " ..." if len(counts.conversations) > _SHOWN else ""
    names = f" ({', '.join(counts.conversations[:_SHOWN])}{more})" if counts.conversations else ""
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.units.items())
    return ", ".join(
        (
            counted(counts.turns, "turn"),
            f"{counted(len(counts.conversations), 'whole conversation')}{names}",
            f"{counted(sum(counts.units.values()), 'unit')} ({kinds})",
            counted(counts.edges, "edge"),
            "the prompts of all kept proofs",
            counted(counts.traces, "kept proof that quotes it", "kept proofs that quote it"),
            *([counted(counts.goals, "goal that quotes it", "goals that quote it")] if counts.goals else []),
        )
    )


def _document(counts: Forgotten, *, is_done: bool) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "is_done": is_done,
        "turns": counts.turns,
        "conversations": list(counts.conversations),
        "units": dict(counts.units),
        "edges": counts.edges,
        "traces": counts.traces,
        "goals": counts.goals,
        "without_time": counts.without_time,
    }
