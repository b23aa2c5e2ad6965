"""`goalmem trace`: lists and shows the proofs of past questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, ListGroup, examples
from goalmem_cli.cli.invocation import begin
from goalmem_cli.errors import StoreError, UsageError

if TYPE_CHECKING:
    from goalmem_cli.render.console import Screen
    from goalmem_cli.render.nodes import Detail
    from goalmem_cli.trace import Trace

SCHEMA_VERSION = 1
LATEST = "last"

group = typer.Typer(
    cls=ListGroup,
    help="List the questions asked so far, and show their proofs again.",
    context_settings=CONTEXT,
    epilog=examples("goalmem trace", "goalmem trace show last", guide="proofs"),
)


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


@group.command(
    "show",
    epilog=examples(
        "goalmem trace show last",
        "goalmem trace show last --html proof.html --svg proof.svg",
        "goalmem trace show last --markdown",
        "goalmem trace show last --prompts",
        guide="proofs",
    ),
)
def show(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="ID", help="An id of `goalmem trace`, its beginning, or last.")
    ] = LATEST,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write it as a page.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Write it as a picture.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it as Markdown.")] = False,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="Print the prompts and replies that `--keep-prompts` kept.")
    ] = False,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Print the proof of a question. --verbose shows all facts in full, and the seconds."""
    forms = [flag for flag, is_on in (("--markdown", markdown), ("--json", json), ("--prompts", prompts)) if is_on]
    if len(forms) > 1:
        raise UsageError(f"{' and '.join(forms)} exclude each other", "give one of them")
    if html is not None and svg is not None and html.absolute() == svg.absolute():
        raise UsageError(f"--html and --svg both name {html}", "name two files")
    from goalmem_cli.render.nodes import BRIEF, FULL
    from goalmem_cli.render.tables import stages_table
    from goalmem_cli.render.tree import proof_tree
    from goalmem_cli.trace import as_document
    from goalmem_cli.wiring import open_traces

    run = begin(context, quiet=quiet, verbose=verbose, store=store)
    folder = open_traces(run.settings)
    names = folder.ids()
    if not names:
        hint = f"`{run.command('ask', 'QUESTION')}` asks one"
        raise UsageError(f"no question was asked of {run.settings.place} yet", hint)
    trace = folder.load(names[-1] if name == LATEST else name)
    detail = FULL if verbose else BRIEF
    if html is not None or svg is not None:
        _write(run.screen, trace, detail, html, svg)
    if json:
        run.screen.document(as_document(trace))
    elif markdown:
        from goalmem_cli.render.sharing import proof_markdown

        run.screen.text(proof_markdown(trace, detail))
    elif prompts:
        run.screen.text(_kept_prompts(trace))
    elif html is None and svg is None:
        run.screen.show(proof_tree(trace, detail))
    if verbose and trace.stages:
        run.screen.draw(stages_table(trace.stages))
    return 0


def _kept_prompts(trace: Trace) -> str:
    """Return the prompts and replies in a trace, as text; raises UsageError if the trace has none."""
    from goalmem_cli.render.tables import exchanges_text

    if not trace.exchanges:
        raise UsageError("the trace has no prompts", "`goalmem ask --keep-prompts QUESTION` keeps them")
    return exchanges_text(trace.exchanges)


def _write(screen: Screen, trace: Trace, detail: Detail, html: Path | None, svg: Path | None) -> None:
    """Write the HTML page and the SVG picture if wanted, each by an atomic replacement.

    Raises:
        StoreError: a file cannot be written.
    """
    from goalmem_cli.render.sharing import proof_html, proof_svg
    from goalmem_cli.store.files import replace_file

    for path, option, made in ((html, "--html", proof_html), (svg, "--svg", proof_svg)):
        if path is not None:
            hint = f"check permissions and space, or name another file with {option}"
            replace_file(path, made(trace, detail).encode(), hint=hint)
            screen.note(f"{path} holds the proof")
