"""`goalmem mcp`: serves the memory over the Model Context Protocol, and adds itself to clients' settings."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, ServeGroup, examples
from goalmem_cli.cli.invocation import Invocation, begin, confirm
from goalmem_cli.cli.serving.clients import ClientName, client_of
from goalmem_cli.errors import UsageError, libraries_of

if TYPE_CHECKING:
    from goalmem_cli.cli.serving.installing import Plan

NOTHING_FOUND = 1

ClientArgument = Annotated[
    ClientName, typer.Argument(metavar="CLIENT", help="claude-code, claude-desktop, cursor, codex or vscode.")
]
EntryName = Annotated[str, typer.Option("--name", metavar="NAME", help="The name of the entry.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the change, and do nothing.")]

group = typer.Typer(
    cls=ServeGroup,
    help="Serve the memory to assistants and coding agents.",
    context_settings=CONTEXT,
    epilog=examples(
        "goalmem mcp --store my-store", "goalmem mcp install cursor", "goalmem mcp serve --help", guide="mcp"
    ),
)


@group.command(
    "serve", epilog=examples("goalmem mcp --store my-store", "goalmem mcp --write --model model.gguf", guide="mcp")
)
def serve_memory(
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
    """Serve the memory to a client: the default of `goalmem mcp`.

    Speaks the Model Context Protocol over standard input and output. Messages go to stderr.
    """
    run = begin(
        context, quiet=True, store=store, reasoner=reasoner, model=model, adapter=adapter, backbone=backbone,
        planning=planning, max_breadth=max_breadth, max_depth=max_depth, certainty=certainty, strict=strict,
        context=context_length, threads=threads, prompts=prompts, embedder=embedder,
    )  # fmt: skip
    with libraries_of("mcp", "goalmem mcp"):
        from goalmem_cli.cli.serving.server import serve
    from goalmem_cli.cli.serving.offers import Offers

    with closing(Offers(run)) as offers:
        serve(offers, may_write=write)
    return 0


@group.command(
    "install", epilog=examples("goalmem mcp install claude-code", "goalmem mcp install cursor --yes", guide="mcp")
)
def install(
    context: typer.Context,
    client: ClientArgument,
    name: EntryName = "goalmem",
    store: options.Store = None,
    dry_run: DryRun = False,
    yes: options.Yes = False,
) -> int:
    """Add the server to a client's settings.

    Uses the client's own command if it has one, else its file. The entry can only read. Shows the change first and
    asks; only --yes replaces an entry of the same name.
    """
    from goalmem_cli.cli.serving.installing import command_of, planned

    with libraries_of("mcp", "goalmem mcp"):
        import mcp  # noqa: F401
    run = begin(context, store=store)
    command = command_of(run.settings)
    plan = planned(client_of(client), name, command)
    if not plan.is_needed:
        run.screen.report(f"{plan.client.settings} has that entry already")
        return 0
    run.screen.answer(plan.lines())
    if plan.old is not None and not (yes or dry_run):
        raise UsageError(f"there is an entry {name!r} already", "--yes replaces it; --name gives another name")
    if not dry_run:
        _carry_out(run, plan, command, is_given=yes)
    return 0


@group.command("uninstall", epilog=examples("goalmem mcp uninstall cursor", guide="mcp"))
def uninstall(
    context: typer.Context,
    client: ClientArgument,
    name: EntryName = "goalmem",
    dry_run: DryRun = False,
    yes: options.Yes = False,
) -> int:
    """Remove the server from a client's settings.

    Shows the entry first and asks. The memory stays. Exits with 1 if there is no such entry.
    """
    from goalmem_cli.cli.serving.installing import planned

    run = begin(context)
    plan = planned(client_of(client), name, None)
    if plan.old is None:
        run.screen.note(f"{plan.client.settings} has no entry {name!r}")
        return NOTHING_FOUND
    run.screen.answer(plan.lines())
    if not dry_run:
        _carry_out(run, plan, None, is_given=yes)
    return 0


def _carry_out(run: Invocation, plan: Plan, command: tuple[str, ...] | None, *, is_given: bool) -> None:
    """Ask, carry out the plan, and report whether the client's settings are as planned."""
    from goalmem_cli.cli.serving.installing import planned

    question = "Enter that?" if command else "Take that out?"
    confirm(question, is_given=is_given)
    kept = plan.carry_out()
    if planned(plan.client, plan.name, command).is_needed:
        run.screen.warn(f"{plan.client.title} reported no error, but {plan.client.settings} does not say so")
    run.screen.report(f"done; {plan.client.title} uses it after its next start")
    if kept is not None:
        run.screen.note(f"the settings as they were: {kept}")
