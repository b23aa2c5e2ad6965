"""`goalmem sources`: lists the transcripts that programs keep on this machine, and reads what is new in them."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.goals import may_have_changed
from goalmem_cli.cli.groups import CONTEXT, ListGroup, examples
from goalmem_cli.cli.ingest_report import line_of, notes_of, warn_of_skipped
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.errors import InputError, StoreLocked, UsageError

if TYPE_CHECKING:
    from goalmem_cli.library.finding import Seen
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.transcripts.places import Kept

SCHEMA_VERSION = 1
NOTHING_FOUND = 1
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_SHORTEST = 10
"""The least seconds between two rounds."""

group = typer.Typer(
    cls=ListGroup,
    help="List and read transcripts that programs keep here.",
    context_settings=CONTEXT,
    epilog=examples("goalmem sources", "goalmem ingest --from claude-code", "goalmem sources watch", guide="formats"),
)


@group.command("list", epilog=examples("goalmem sources --json", guide="formats"))
def list_sources(context: typer.Context, json: options.Json = False, quiet: options.Quiet = False) -> int:
    """List transcripts that programs keep on this machine.

    Looks only at names and the beginnings of files. `goalmem ingest --from NAME` reads one of them. Exits with 1 if
    there are none.
    """
    from goalmem_cli.render.tables import plain_table
    from goalmem_cli.render.text import when
    from goalmem_cli.transcripts.places import PROGRAMS, folders_of, kept_by

    run = begin(context, quiet=quiet)
    every = list(map(kept_by, PROGRAMS))
    found = [kept for kept in every if kept.paths]
    unseen = list(dict.fromkeys(line for kept in every for line in kept.unseen))
    for line in unseen:
        run.screen.note(line)
    if json:
        run.screen.document(
            {"schema_version": SCHEMA_VERSION, "sources": [_document(kept) for kept in found], "unseen": unseen}
        )
    elif found:
        cells = [
            (kept.program.name, kept.program.what, f"{len(kept.paths):,}", when(kept.newest)) for kept in found
        ]  # fmt: skip
        columns = ("source", "what", "files", "newest")
        run.screen.show(plain_table(columns, cells, numbers=("files",), whole=("source", "newest")))
    else:
        looked = {str(folder) for program in PROGRAMS for folder in folders_of(program)}
        run.screen.note(f"nothing found; looked in {', '.join(sorted(looked))}")
    return 0 if found else NOTHING_FOUND


def _document(kept: Kept) -> dict[str, object]:
    """Return a source's files as `--json` prints them."""
    return {
        "source": kept.program.name,
        "what": kept.program.what,
        "formats": list(kept.program.formats),
        "paths": [str(path) for path in kept.paths],
        "bytes": kept.size,
        "newest": None if kept.newest is None else kept.newest.isoformat(),
    }


@group.command(
    "watch", epilog=examples("goalmem sources watch", "goalmem sources watch codex --every 5m", guide="formats")
)
def watch(
    context: typer.Context,
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="[SOURCE]...", help="Only these sources [default: all].")
    ] = None,
    every: Annotated[
        str | None,
        typer.Option("--every", metavar="TIME", help="Keep running, and read again at this interval: 30s, 5m, 1h."),
    ] = None,
    redact: options.Redact = None,
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Read what is new there into the store, for cron or a hook.

    Stored turns stay as they are. Exits with 5 if a file could not be read.
    """
    from goalmem_cli.transcripts.places import program_of
    from goalmem_cli.wiring import open_store

    pause = None if every is None else _pause(every)
    for name in sources or ():
        program_of(name)
    run = begin(context, quiet=quiet, store=store, redact=redact)
    memory = open_store(run.settings, run.factories, run.screen.note)
    seen: Seen = {}
    while True:
        try:
            failed = _read_new(run, memory, sources, seen)
        except StoreLocked as error:
            if pause is None:
                raise
            run.screen.warn(error.message)
            seen.clear()
        else:
            if pause is None:
                return InputError.exit_code if failed else 0
        time.sleep(pause)


def _pause(text: str) -> int:
    """Return the time after `--every` in seconds.

    Raises:
        UsageError: the text is no time, or the time is too short.
    """
    match = re.fullmatch(r"(\d{1,6})\s*([smh])", text.strip())
    seconds = int(match[1]) * _SECONDS[match[2]] if match else 0
    if seconds < _SHORTEST:
        raise UsageError(f"--every {text!r} is no time of {_SHORTEST} seconds or more", "write 30s, 5m or 1h")
    return seconds


def _read_new(run: Invocation, memory: KeptMemory, sources: list[str] | None, seen: Seen) -> bool:
    """Read new and changed files, print what is notable, and return whether a file could not be read."""
    from goalmem_cli.library.hearing import Unattended
    from goalmem_cli.library.ingesting import Reading, Told
    from goalmem_cli.transcripts.places import PROGRAMS

    told = Told(redacts=run.settings.redact, timezone=run.settings.timezone, store=run.store)
    reading = Reading(told, Unattended(run.screen))
    reading.find((), sources or [program.name for program in PROGRAMS], seen)
    reading.read(memory, is_dry=False)
    reading.finish()
    for report in reading.taken():
        warn_of_skipped(run.screen, report)
        if report.new_turns or report.replaced:
            for note in notes_of(report, run.store, is_restored=False, is_taken=False):
                run.screen.note(f"{report.path}: {note}")
            run.screen.report(line_of(report, is_dry=False))
    if any(report.new_turns or report.replaced for report in reading.taken()):
        may_have_changed(run, memory)
    return bool(reading.errors)
