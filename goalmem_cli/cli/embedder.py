"""`goalmem embedder`: shows and changes the embedder, and distils a static table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, ShowGroup, examples
from goalmem_cli.cli.invocation import begin

SCHEMA_VERSION = 1
DIMENSION = 256

group = typer.Typer(
    cls=ShowGroup,
    help="Show or change the embedder in use, or make a static one.",
    context_settings=CONTEXT,
    epilog=examples(
        "goalmem embedder",
        "goalmem embedder use minilm",
        "goalmem embedder distil minilm --out my-table",
        guide="models",
    ),
)


@group.command("show", epilog=examples("goalmem embedder show --store my-memory", guide="models"))
def show(
    context: typer.Context, store: options.Store = None, embedder: options.Embedder = None, json: options.Json = False
) -> int:
    """Show which embedder is in use, and try it.

    This is the store's embedder, or the one for a new store.
    """
    from goalmem_cli.render.tables import pairs
    from goalmem_cli.wiring import chosen_embedder

    run = begin(context, store=store, embedder=embedder)
    loaded = chosen_embedder(run.settings, run.factories, run.screen.note)
    row = len(loaded.embed(["one text"]))
    shown: dict[str, object] = {"embedder": loaded.name, "dimension": loaded.dimension, "store": run.settings.place}
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, **shown})
    else:
        run.screen.show(pairs(shown))
    return 0 if row == 1 else 1


@group.command("use", epilog=examples("goalmem embedder use minilm --store my-memory", guide="models"))
def use(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="multilingual, static, minilm, gguf:PATH, a sentence-transformers name or path, or a server.",
        ),
    ],
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Embed the whole store again with another embedder. If interrupted, the store does not change: run it again."""
    from goalmem_cli.memory_records import Capability
    from goalmem_cli.render.text import counted
    from goalmem_cli.wiring import local

    run = begin(context, quiet=quiet, store=store)
    memory = local(run.stored(), Capability.REEMBEDDING)
    embedder = run.factories.embedder(name)
    with run.screen.counting(f"embedding with {embedder.name}") as reach:
        units = memory.reembed(embedder, reach)
    if units:
        run.screen.report(f"{run.settings.place}: {counted(units, 'unit')} embedded with {embedder.name}")
    else:
        run.screen.report(f"{run.settings.place}: embedded with {embedder.name} already")
    return 0


@group.command("distil", epilog=examples("goalmem embedder distil minilm --out my-table", guide="models"))
def distil(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="minilm, a path, or a sentence-transformers name.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write the table.")],
    dimension: Annotated[int, typer.Option(min=1, help="The length of its vectors.")] = DIMENSION,
    words: Annotated[
        Path | None,
        typer.Option(
            "--words",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Words of other languages, one a line, the most frequent first.",
        ),
    ] = None,
    download: Annotated[bool, typer.Option("--download", help="Download the model if it is missing.")] = False,
    quiet: options.Quiet = False,
) -> int:
    """Make a static table from a sentence-transformers model.

    It is used with `--embedder DIR`. With `--words`, it is the table that `multilingual` has beside the English one.
    """
    from goalmem_cli.models.embedding.distil import distil as make_table

    run = begin(context, quiet=quiet)
    run.screen.note(f"distilling {name} into {out}")
    listed = words.read_text(encoding="utf-8", errors="replace").split() if words else ()
    folder = make_table(name, out, dimension, may_download=download, words=listed)
    use = "for other languages than English" if words else f"{dimension} dimensions; use it with --embedder {folder}"
    run.screen.report(f"{folder}: {use}")
    return 0
