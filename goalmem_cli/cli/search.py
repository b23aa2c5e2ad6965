"""`goalmem search`: finds turns, and what was derived from turns, in the store."""

from __future__ import annotations

from typing import Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.ask import hidden_after, open_for
from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.invocation import begin
from goalmem_cli.cli.typed_times import stretch
from goalmem_cli.errors import UsageError
from goalmem_cli.library.answering import Kind, local_now, refuse_empty

SCHEMA_VERSION = 1
NOTHING_FOUND = 1
EPILOG = examples(
    'goalmem search "drinks at Momoco" -k 5',
    'goalmem search "oat milk" --speaker Alice --since 2023-05 --explain',
    guide="backbones",
)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, or a question.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many to show.")] = 10,
    conversation: options.Conversations = None,
    speaker: options.Speakers = None,
    since: options.Since = None,
    until: options.Until = None,
    last: options.Last = None,
    as_of: options.SearchAsOf = None,
    backbone: options.Backbone = None,
    tools: Annotated[bool, typer.Option("--tools", help="Also search the outputs of coding agents' tools.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the rankings behind each hit, and the units' ids.")
    ] = False,
    store: options.Store = None,
    embedder: options.Embedder = None,
    trust_remote_code: options.TrustRemoteCode = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Search the store, best first. Exits with 1 if nothing is found."""
    from goalmem_cli.render.tables import hits_document, hits_table

    refuse_empty(query, Kind.QUERY)  # before a store is opened
    if until is not None and as_of is not None:
        raise UsageError("--until and --as-of both say where the memory ends", "give one of them")
    hidden = hidden_after(as_of)
    begun, ended = stretch(since, until, last, lambda: hidden or local_now())
    run = begin(
        context, quiet=quiet, verbose=verbose, store=store, embedder=embedder, trust_remote_code=trust_remote_code,
        backbone=backbone,
    )  # fmt: skip
    with open_for(run, is_brief=True) as memory:
        hits = memory.search(
            query, k, conversations=conversation, speakers=speaker, since=begun, until=hidden or ended, tools=tools
        )
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "hits": hits_document(hits)})
    elif hits:
        run.screen.show(hits_table(hits, is_explained=explain))
    if not hits:
        is_empty = not memory.stats().turns
        fills = f": the store is empty, `{run.command('ingest')}` fills it" if is_empty else ""
        run.screen.note(f"nothing found{fills}")
    return 0 if hits else NOTHING_FOUND
