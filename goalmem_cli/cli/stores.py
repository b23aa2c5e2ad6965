"""`goalmem stores`: lists, shows, checks, exports, copies and removes memories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.goals import may_have_changed, warn_of
from goalmem_cli.cli.groups import CONTEXT, ListGroup, examples
from goalmem_cli.cli.invocation import Invocation, begin, confirm
from goalmem_cli.config import Settings, stores_folder
from goalmem_cli.errors import StoreDamaged, StoreError, UsageError
from goalmem_cli.library.ingesting import few
from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.privacy import GOALS

if TYPE_CHECKING:
    from goalmem_cli.memory_records import ConversationSummary, Speaker, Stats

SCHEMA_VERSION = 1
FOUND = "found"
_EXPORT = b'{"goalmem"'
"""The beginning of an exported store's file."""

group = typer.Typer(
    cls=ListGroup,
    help="List, show, verify, renew, export, copy, join and remove stores.",
    context_settings=CONTEXT,
    epilog=examples("goalmem stores", "goalmem stores show --store my-memory", guide="store"),
)


@group.command("list", epilog=examples("goalmem stores list --json", guide="store"))
def list_stores(
    context: typer.Context, store: options.Store = None, json: options.Json = False, quiet: options.Quiet = False
) -> int:
    """List the stores in the user's data folder, and the one in use."""
    run = begin(context, quiet=quiet, store=store)
    rows = [_row(run, settings) for settings in _known_stores(run.settings)]
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "stores": rows})
        return 0
    from goalmem_cli.render.tables import plain_table

    columns = ("store", "state", "conversations", "turns", "embedder", "bytes")
    cells = [[row["store"], _state(row), *(row.get(column, "") for column in columns[2:])] for row in rows]
    run.screen.show(plain_table(columns, cells, numbers=("conversations", "turns", "bytes"), whole=("state",)))
    for row in rows:
        if "error" in row:
            run.screen.warn(f"{row['store']}: {row['error']}")
    return 0


@group.command("show", epilog=examples("goalmem stores show --store my-memory", guide="store"))
def show(
    context: typer.Context, store: options.Store = None, json: options.Json = False, quiet: options.Quiet = False
) -> int:
    """Show the store's conversations, their speakers, and its size."""
    from goalmem_cli.library.people import roster_of
    from goalmem_cli.render.tables import pairs, plain_table
    from goalmem_cli.render.text import when

    run = begin(context, quiet=quiet, store=store)
    memory = run.stored()
    stats, conversations = memory.stats(), memory.conversations()
    if json:
        run.screen.document(_document(run.settings.place, stats, conversations))
        return 0
    run.screen.show(pairs({"store": run.settings.place, **_numbers(stats)}))
    columns = ("conversation", "format", "lang", "turns", "speakers", "from", "to")
    cells, roster = [], roster_of(memory, conversations)
    for each in conversations:
        speakers = ", ".join(dict.fromkeys(roster.shown(speaker.voice) for speaker in each.speakers))
        times = when(each.first_said), when(each.last_said)
        cells.append((each.name, each.format, each.language, each.turns, speakers, *times))
    run.screen.show(plain_table(columns, cells, numbers=("turns",)))
    if documents := [each.name for each in conversations if _is_document(each)]:
        run.screen.warn(f"read from documents, it seems, and not from chats: {few(documents)}")
        forget = run.command("forget", names=["NAME"])
        run.screen.note(f"  an earlier version took headings for names; `{forget}` takes one away")
    return 0


def _is_document(conversation: ConversationSummary) -> bool:
    """Say whether the conversation came from Markdown in which no speaker speaks twice, unlike in a chat."""
    if conversation.format != "markdown" or any(speaker.role for speaker in conversation.speakers):
        return False
    return all(speaker.turns == 1 for speaker in conversation.speakers)


@group.command("language", epilog=examples("goalmem stores language chat de", guide="languages"))
def language(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="CONVERSATION", help="A stored conversation.")],
    code: Annotated[
        str, typer.Argument(metavar="[LANGUAGE]", help="Its language, such as de, or `found` for the one of its turns.")
    ] = "",
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Show or set the language of a conversation."""
    from goalmem_cli.languages.names import name_of
    from goalmem_cli.library.languages import checked_code

    run = begin(context, quiet=quiet, store=store)
    memory = run.stored()
    if code:
        kept = memory.tell_language(name, None if code == FOUND else checked_code(code))
    else:
        known = {each.name: each.language for each in memory.conversations()}
        if name not in known:
            raise UsageError(f"there is no conversation {name!r}", f"`{run.command('stores', 'show')}` lists them")
        kept = known[name]
    run.screen.report(f"{name}: {f'{kept} ({name_of(kept)})' if kept else 'its language is not known'}")
    if code:
        may_have_changed(run, memory)
    return 0


@group.command("verify", epilog=examples("goalmem stores verify", guide="store"))
def verify(context: typer.Context, store: options.Store = None, quiet: options.Quiet = False) -> int:
    """Check the store's rows, indexes and goals. Exits with 3 if something is wrong."""
    from goalmem_cli.render.text import counted

    run = begin(context, quiet=quiet, store=store)
    memory = run.stored()
    problems, unread = memory.verify(), list[StoreError]()
    GoalFolder(memory.path / GOALS).all(unread)
    for problem in (*problems, *(f"{error.message}; {error.hint}" for error in unread)):
        run.screen.report(problem)
    if unread and not problems:
        raise StoreError(f"{run.settings.place}: {counted(len(unread), 'unreadable goal')}", unread[0].hint)
    if problems:
        hint = f"`{run.command('stores', 'rebuild')}` writes the indexes anew"
        if run.settings.address is not None:
            forget = run.command("forget", "--leave-nothing", names=["NAME"])
            hint = f"`{forget}`, then `{run.command('ingest')}` its file again"
        raise StoreError(f"{run.settings.place}: {counted(len(problems), 'problem')}", hint)
    run.screen.report(f"{run.settings.place}: sound")
    return 0


@group.command("rebuild", epilog=examples("goalmem stores rebuild", guide="store"))
def rebuild(context: typer.Context, store: options.Store = None, quiet: options.Quiet = False) -> int:
    """Rebuild the text and vector indexes from the database."""
    from goalmem_cli.memory_records import Capability
    from goalmem_cli.wiring import local

    run = begin(context, quiet=quiet, store=store)
    local(run.stored(), Capability.REBUILDING).rebuild()
    run.screen.report(f"{run.settings.place}: rebuilt")
    return 0


@group.command("refresh", epilog=examples("goalmem stores refresh", guide="store"))
def refresh(context: typer.Context, store: options.Store = None, quiet: options.Quiet = False) -> int:
    """Resolve the times in the turns again.

    This version may read "last Friday" better than the one that stored it. Embeddings and indexes stay.
    """
    from goalmem_cli.memory_records import Capability
    from goalmem_cli.render.text import counted
    from goalmem_cli.wiring import local

    run = begin(context, quiet=quiet, store=store)
    memory = run.stored()
    if Capability.REFRESHING not in memory.capabilities:
        run.screen.report(f"{run.settings.place}: nothing to do, its times are read whenever they are shown")
        return 0
    changed = local(memory, Capability.REFRESHING).refresh()
    run.screen.report(f"{run.settings.place}: times read again, {counted(changed, 'fact')} changed")
    may_have_changed(run, memory)
    return 0


@group.command(
    "export",
    epilog=examples("goalmem stores export --out memory.jsonl", "goalmem stores export | gzip > m.gz", guide="store"),
)
def export(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to write [default: stdout].")] = None,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="DIR", help="Write the tables as Parquet files instead.")
    ] = None,
    yes: options.Yes = False,
    with_forgotten: Annotated[
        bool, typer.Option("--with-forgotten", help="Also write the marks of forgotten turns, with their key.")
    ] = False,
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Write the store as JSONL that `goalmem ingest` reads back.

    It has the turns, what was derived from them, notes on people, and goals. Traces, rules, settings and vectors are
    not in it. Asks before it replaces an older export. Exits with 3 if a goal cannot be read, and so is not in it.
    """
    from goalmem_cli.library.forgetting import exported, write_export
    from goalmem_cli.render.text import counted

    if out is not None and parquet is not None:
        raise UsageError("--out and --parquet contradict one another", "give one of them")
    if with_forgotten and parquet is not None:
        raise UsageError("--with-forgotten is for JSONL: tables have no marks", "leave out --parquet, or the marks")
    if parquet is not None and parquet.exists() and not parquet.is_dir():
        raise UsageError(f"{parquet} is a file, and --parquet writes into a folder", "name a folder")
    if out is not None and out.is_dir():
        raise UsageError(f"{out} is a folder, and --out writes a file", "name a file, or use --parquet")
    if out is not None and out.is_file() and _is_of_another(out):
        raise UsageError(f"{out} is there, and is no exported store", "name another file, or delete that one")
    run = begin(context, quiet=quiet, store=store)
    memory = run.stored()
    older = next((each for each in (out, parquet) if each is not None and _holds_something(each)), None)
    if older is not None:
        run.screen.note(f"{older} has an older export; this cannot be undone")
        confirm(f"Replace {older}?", is_given=yes)
    if parquet is not None:
        files = memory.export_tables(parquet)
        run.screen.note(f"{run.settings.place}: {len(files)} tables in {parquet}")
        return 0
    unread: list[StoreError] = []
    if out is not None:
        lines = write_export(memory, out, unread, with_forgotten=with_forgotten)
        run.screen.note(f"{run.settings.place}: {counted(lines, 'line')} in {out}")
    else:
        for document in exported(memory, unread, with_forgotten=with_forgotten):
            run.screen.line(document)
    return warn_of(run, unread)


@group.command("copy", epilog=examples("goalmem stores copy my-memory milvus:my-memory.db", guide="servers"))
def copy(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FROM", help="A store, as --store takes it.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Another one, which may have some of it already.")],
    restore_forgotten: Annotated[
        bool, typer.Option("--restore-forgotten", help="Also store turns that TO has forgotten.")
    ] = False,
    quiet: options.Quiet = False,
) -> int:
    """Copy a memory, into a folder or into Milvus, and compare both.

    Turns that TO has forgotten are left out, and those that it has redacted stay redacted. TO keeps its embedder; a new
    one gets FROM's. After an interruption the same command goes on. Milvus does not take what structured backbones
    derived; a note says so.
    """
    from goalmem_cli.cli.ingest_report import note_of_forgotten
    from goalmem_cli.library.copying import copy as copy_all
    from goalmem_cli.render.text import counted
    from goalmem_cli.wiring import open_store

    run = begin(context, quiet=quiet, store=source)
    memory = run.stored()
    other = begin(context, quiet=quiet, store=target)
    if other.settings.place == run.settings.place:
        raise UsageError("FROM and TO are the same", "name another place")
    opened = other.stored()
    if not (opened.exists and opened.embedded_with()[0]):
        other = begin(context, quiet=quiet, store=target, embedder=memory.embedded_with()[0] or None)
        opened = open_store(other.settings, other.factories, other.screen.note)
    unread: list[StoreError] = []
    with run.screen.progress(memory.stats().conversations) as begun:
        done = copy_all(
            memory,
            opened,
            lambda added: begun(added.conversation),
            note=other.screen.note,
            restores_forgotten=restore_forgotten,
            redacts_goals=other.settings.redact,
            unread=unread,
        )
    if done.forgotten:
        run.screen.note(f"{other.settings.place}: {note_of_forgotten(done.forgotten, is_restored=restore_forgotten)}")
    if done.redacted:
        run.screen.note(f"{other.settings.place}: {counted(done.redacted, 'turn')} redacted, as it was there before")
    failed = warn_of(run, unread)
    if done.rules_fault:
        run.screen.note(f"{other.settings.place}: the rules for questions were not copied: {done.rules_fault}")
    held = f"{counted(done.conversations, 'conversation')}, {counted(done.turns, 'turn')}, {done.new_turns} new"
    run.screen.report(f"{other.settings.place}: {held}; {done.compared} compared with {run.settings.place}")
    may_have_changed(other, opened)
    return failed


@group.command("join", epilog=examples("goalmem stores join chat chat-2", guide="store"))
def join(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="CONVERSATION", help="The conversation that stays.")],
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The one whose turns it takes.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be joined, and join nothing.")] = False,
    yes: options.Yes = False,
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Join two conversations that are windows of one chat.

    Shared turns are kept once, and the others in their places. Shows first what it will do, and asks. It cannot be
    undone.
    """
    from goalmem_cli.render.text import counted

    if name == other:
        raise UsageError(f"{name} and {other} are the same", "name two conversations")
    run = begin(context, quiet=quiet, store=store)
    memory = run.stored()
    shown = memory.joinable(name, other)
    will = "would have" if dry_run else "has"
    what = f"{name} {will} {counted(shown.turns, 'turn')}, {shown.shared} of which both had"
    if shown.units:
        kinds = ", ".join(f"{count} {kind}" for kind, count in shown.units.items())
        what += f"; what was derived from turns that moved is left out ({kinds})"
    for old, new in shown.called:
        command = run.command("people", "name", names=[new, old])
        what += f"; {old} is called {new} there (`{command}` shows the other name)"
    if dry_run:
        run.screen.report(what)
        return 0
    run.screen.note(what.replace(f"{name} has", f"{name} will have", 1))
    run.screen.note(_for_good(run))
    confirm(f"Join {other} into {name}?", is_given=yes)
    memory.join(name, other, shown)
    run.screen.report(what)
    may_have_changed(run, memory)
    return 0


@group.command("remove", epilog=examples("goalmem stores remove --store my-memory", guide="store"))
def remove(
    context: typer.Context, yes: options.Yes = False, store: options.Store = None, quiet: options.Quiet = False
) -> int:
    """Delete the store, after showing what it holds."""
    from goalmem_cli.render.text import counted
    from goalmem_cli.store.changes.removal import remove_marks
    from goalmem_cli.store.privacy import FORGOTTEN
    from goalmem_cli.wiring import open_unread

    run = begin(context, quiet=quiet, store=store)
    memory = open_unread(run.settings, run.factories.embedder, run.screen.note)
    has_marks_alone = not memory.exists and (memory.path / FORGOTTEN).is_file()
    if has_marks_alone:
        what = "no memory yet, but marks of what was forgotten elsewhere"
    else:
        try:
            stats = memory.stats()
            what = f"{counted(stats.conversations, 'conversation')}, {counted(stats.turns, 'turn')}"
        except StoreDamaged as error:
            what = f"it cannot be read ({error.message})"
    run.screen.note(f"{run.settings.place}: {what}")
    run.screen.note(_for_good(run))
    confirm(f"Delete {run.settings.place} for good?", is_given=yes)
    if has_marks_alone:
        remove_marks(memory.path)
    else:
        memory.remove()
    run.screen.report(f"{run.settings.place}: removed")
    return 0


def _for_good(run: Invocation) -> str:
    return f"this cannot be undone; `{run.command('stores', 'export', '--out', 'FILE')}` keeps its turns"


def _is_of_another(file: Path) -> bool:
    """Say whether a file is neither empty nor an exported store, so that it must not be overwritten."""
    from goalmem_cli.store.files import reporting

    with reporting(file), file.open("rb") as opened:
        return opened.read(len(_EXPORT)) not in (b"", _EXPORT)


def _holds_something(place: Path) -> bool:
    """Say whether a file has content, or a folder has a table of an export."""
    from goalmem_cli.store.changes.exporting import CONTENT_TABLES
    from goalmem_cli.store.files import reporting

    with reporting(place):
        if place.is_dir():
            return any((place / f"{table}.parquet").exists() for table in CONTENT_TABLES)
        return place.is_file() and place.stat().st_size > 0


def _known_stores(in_use: Settings) -> list[Settings]:
    folder = stores_folder()
    found = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    listed = [replace(in_use, store=path, address=None) for path in found]
    return listed if in_use in listed else [in_use, *listed]


def _row(run: Invocation, settings: Settings) -> dict[str, Any]:
    """Return the list's row about one store; if it cannot be read, the row says why."""
    row: dict[str, Any] = {"store": settings.place, "is_in_use": settings == run.settings}
    try:
        memory = replace(run, settings=settings).stored()
        if memory.exists:
            stats = memory.stats()
            row |= {
                "conversations": stats.conversations, "turns": stats.turns,
                "embedder": stats.embedder, "bytes": stats.bytes_on_disk,
            }  # fmt: skip
    except StoreError as error:
        row["error"] = error.message
    return row


def _state(row: dict[str, Any]) -> str:
    is_empty = "turns" not in row and "error" not in row
    states = (("in use", row["is_in_use"]), ("empty", is_empty), ("unreadable", "error" in row))
    return ", ".join(state for state, holds in states if holds)


def _numbers(stats: Stats) -> dict[str, object]:
    """Return the store's numbers for a table."""
    from goalmem_cli.render.text import counted

    numbers = asdict(stats)
    numbers["units"] = ", ".join(f"{count} {kind}" for kind, count in stats.units.items())
    zones = ", ".join(f"{zone} ({counted(count, 'turn')})" for zone, count in stats.timezones.items())
    return {**numbers, "timezones": zones or "all as written"}


def _of_speaker(speaker: Speaker) -> dict[str, object]:
    own_id = {"id": speaker.id} if speaker.id else {}
    return {"name": speaker.name, "role": speaker.role, "turns": speaker.turns, **own_id}


def _document(place: str, stats: Stats, conversations: Iterable[ConversationSummary]) -> dict[str, object]:
    """Return the store and its conversations as `--json` prints them."""
    listed = [
        {
            **asdict(each),
            "speakers": [_of_speaker(speaker) for speaker in each.speakers],
            "first_said": each.first_said.isoformat() if each.first_said else None,
            "last_said": each.last_said.isoformat() if each.last_said else None,
        }
        for each in conversations
    ]
    return {"schema_version": SCHEMA_VERSION, "store": place, "stats": asdict(stats), "conversations": listed}
