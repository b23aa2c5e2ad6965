"""`goalmem mcp`: the memory as a Model Context Protocol server, for assistants and coding agents."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.cli.invocation import begin
from goalmem_cli.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    epilog = examples("goalmem mcp --store my-store", "goalmem mcp --write --model model.gguf", guide="mcp")
    app.command("mcp", context_settings=CONTEXT, epilog=epilog)(mcp)


def mcp(
    context: typer.Context,
    write: Annotated[bool, typer.Option("--write", help="Offer `remember` and `forget` too.")] = False,
    store: options.Store = None,
    reasoner: options.Reasoner = None,
    model: options.Model = None,
    adapter: options.Adapter = None,
    backbone: options.Backbone = None,
    planning: options.Planning = None,
    max_breadth: options.MaxBreadth = None,
    max_depth: options.MaxDepth = None,
    certainty: options.Certainty = None,
    strict: options.Strict = None,
    context_length: options.Context = None,
    threads: options.Threads = None,
    prompts: options.Prompts = None,
    embedder: options.Embedder = None,
) -> int:
    """Serve the memory to assistants and coding agents.

    It speaks the Model Context Protocol over standard input and output; everything else goes to stderr.
    """
    run = begin(
        context, quiet=True, store=store, reasoner=reasoner, model=model, adapter=adapter, backbone=backbone,
        planning=planning, max_breadth=max_breadth, max_depth=max_depth, certainty=certainty, strict=strict,
        context=context_length, threads=threads, prompts=prompts, embedder=embedder,
    )  # fmt: skip
    try:
        from goalmem_cli.cli.serving.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise UsageError("goalmem mcp needs the extra mcp", "pip install 'goalmem[mcp]'") from error
    from goalmem_cli.cli.serving.offers import Offers

    with closing(Offers(run)) as offers:
        serve(offers, may_write=write)
    return 0
