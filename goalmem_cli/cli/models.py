"""`goalmem models`: which language models are there, and how to get one."""

from __future__ import annotations

from typing import Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, ListGroup, examples
from goalmem_cli.cli.invocation import begin

SCHEMA_VERSION = 1
_MILLION, _BILLION = 10**6, 10**9

group = typer.Typer(
    cls=ListGroup,
    help="List the language models that are there, and download others.",
    context_settings=CONTEXT,
    epilog=examples("goalmem models", "goalmem models download hf:owner/repository/model-q4_k_m.gguf"),
)


def register(app: typer.Typer) -> None:
    """Add the group to the app."""
    app.add_typer(group, name="models")


@group.command("list", epilog=examples("goalmem models list --json"))
def list_models(context: typer.Context, json: options.Json = False) -> int:
    """List the bundled model and every GGUF file that was downloaded, and where each lies."""
    from goalmem_cli.models import catalogue
    from goalmem_cli.render.tables import plain_table

    run = begin(context)
    listings = catalogue.list_models()
    if json:
        listed = [
            {
                "name": each.name,
                "is_installed": each.is_installed,
                "path": str(each.path) if each.path else None,
                "bytes": each.size,
                "parameters": each.parameters,
                "profile": each.profile,
                "note": each.note,
            }
            for each in listings
        ]
        run.screen.document({"schema_version": SCHEMA_VERSION, "models": listed})
        return 0
    cells = [(each.name, _count(each.parameters), each.profile, each.note or each.path) for each in listings]
    run.screen.show(plain_table(("name", "size", "prompts", "where"), cells, numbers=("size",), whole=("prompts",)))
    return 0


@group.command("download", epilog=examples("goalmem models download hf:owner/repository/model-q4_k_m.gguf"))
def download(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="hf:owner/repository/file.gguf")],
    quiet: options.Quiet = False,
) -> int:
    """Download a model file; the only command, beside `embedder distil --download`, that reaches the network."""
    from goalmem_cli.models import catalogue

    run = begin(context, quiet=quiet)
    with run.screen.bytes_done(name) as reach:
        spec = catalogue.download(name, lambda done, total: reach(name, done, total))
    run.screen.report(f"{spec.name}: {spec.path}, {spec.profile} prompts")
    return 0


def _count(parameters: int | None) -> str:
    if parameters is None:
        return ""
    return f"{parameters / _BILLION:.1f} B" if parameters >= _BILLION else f"{parameters / _MILLION:.0f} M"
