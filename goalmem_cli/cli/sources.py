"""`goalmem sources`: transcripts that programs keep on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.cli.invocation import begin

if TYPE_CHECKING:
    from goalmem_cli.transcripts.places import Kept

SCHEMA_VERSION = 1
NOTHING_FOUND = 1


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command(
        "sources",
        context_settings=CONTEXT,
        epilog=examples("goalmem sources", "goalmem ingest --from claude-code", guide="formats"),
    )(sources)


def sources(context: typer.Context, json: options.Json = False, quiet: options.Quiet = False) -> int:
    """List transcripts that programs keep on this machine.

    Only names and the beginnings of files are looked at; `goalmem ingest --from NAME` reads one of them.
    Exits with 1 when there are none.
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
    return {
        "source": kept.program.name,
        "what": kept.program.what,
        "formats": list(kept.program.formats),
        "paths": [str(path) for path in kept.paths],
        "bytes": kept.size,
        "newest": None if kept.newest is None else kept.newest.isoformat(),
    }
