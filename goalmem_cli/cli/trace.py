"""`goalmem trace`: the proofs of past questions."""

from __future__ import annotations

from typing import Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, ListGroup, examples
from goalmem_cli.cli.invocation import begin
from goalmem_cli.errors import StoreError, UsageError

SCHEMA_VERSION = 1
LATEST = "last"

group = typer.Typer(
    cls=ListGroup,
    help="List the questions asked so far, and show their proofs again.",
    context_settings=CONTEXT,
    epilog=examples("goalmem trace", "goalmem trace show last", guide="proofs"),
)


def register(app: typer.Typer) -> None:
    """Add the group to the app."""
    app.add_typer(group, name="trace")


@group.command("list", epilog=examples("goalmem trace list", guide="proofs"))
def list_traces(
    context: typer.Context, store: options.Store = None, json: options.Json = False, quiet: options.Quiet = False
) -> int:
    """List the questions asked of this store, oldest first."""
    from goalmem_cli.render.tables import plain_table
    from goalmem_cli.wiring import open_traces

    run = begin(context, quiet=quiet, store=store)
    folder = open_traces(run.settings)
    rows = []
    for name in folder.ids():
        try:
            rows.append((name, folder.load(name)))
        except StoreError as error:
            run.screen.warn(error.message)
    if json:
        listed = [
            {
                "id": name,
                "asked": trace.asked.isoformat(),
                "status": trace.status,
                "question": trace.question,
                "answer": trace.answer,
            }
            for name, trace in rows
        ]
        run.screen.document({"schema_version": SCHEMA_VERSION, "traces": listed})
    elif rows:
        cells = [(name, trace.status, trace.question, trace.answer) for name, trace in rows]
        run.screen.show(plain_table(("id", "status", "question", "answer"), cells, whole=("id", "status")))
    else:
        run.screen.note("no question was asked of this store yet")
    return 0


@group.command("show", epilog=examples("goalmem trace show last", "goalmem trace show last --json", guide="proofs"))
def show(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="ID", help="As `goalmem trace` lists it, or how it begins, or last.")
    ] = LATEST,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Show the proof of one question: the tree, on stdout. With --verbose every fact, whole."""
    from goalmem_cli.render.nodes import BRIEF, FULL
    from goalmem_cli.render.tree import proof_tree
    from goalmem_cli.trace import as_document
    from goalmem_cli.wiring import open_traces

    run = begin(context, quiet=quiet, verbose=verbose, store=store)
    folder = open_traces(run.settings)
    names = folder.ids()
    if not names:
        raise UsageError(f"no question was asked of {run.settings.store} yet", "`goalmem ask QUESTION` asks one")
    trace = folder.load(names[-1] if name == LATEST else name)
    if json:
        run.screen.document(as_document(trace))
    else:
        run.screen.show(proof_tree(trace, FULL if verbose else BRIEF))
    return 0
