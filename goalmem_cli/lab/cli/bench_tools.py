"""`goalmem bench tools`: how long the tools of the backbone `remem` take, over made-up facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.lab.cli.wanted import ascending_sizes

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.tools import ToolFigures

SCHEMA_VERSION = 1
SIZES = "1000,10000,100000"


def tools(
    context: typer.Context,
    facts: Annotated[
        str, typer.Option("--facts", metavar="SIZES", help="How many made-up facts to explore, in ascending order.")
    ] = SIZES,
    rounds: Annotated[int, typer.Option(min=1, help="How often each tool is called; the median is shown.")] = 10,
    embedder: options.Embedder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print how long each tool of the reasoner remem takes.

    In milliseconds, and how long its graph takes to link.
    Gists and facts are made up, of made-up turns, in a store that is gone afterwards. No model is asked.
    """
    from goalmem_cli.lab.bench.tools import measure_tools
    from goalmem_cli.memory_records import Capability
    from goalmem_cli.wiring import local, open_store

    sizes = ascending_sizes(facts, "--facts", SIZES)
    measured: list[ToolFigures] = []
    with TemporaryDirectory(prefix="goalmem-bench-") as folder:
        run = begin(context, quiet=quiet, store=folder, embedder=embedder)
        store = local(open_store(run.settings, run.factories, run.screen.note), Capability.STRUCTURE)
        with run.screen.counting("made-up facts") as reach:
            for figures in measure_tools(store, sizes, rounds=rounds, report=reach):
                measured.append(figures)
                run.screen.note(f"{figures.facts:,} facts: linked in {figures.linking_seconds:.1f} s")
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "sizes": [asdict(figures) for figures in measured]})
    else:
        _show(run, measured)
    return 0


def _show(run: Invocation, measured: Sequence[ToolFigures]) -> None:
    from goalmem_cli.render.tables import plain_table

    rows = {f"{name}, ms": [f"{figures.tools_ms[name]:.0f}" for figures in measured] for name in measured[0].tools_ms}
    rows |= {
        "gists": [f"{figures.gists:,}" for figures in measured],
        "edges": [f"{figures.edges:,}" for figures in measured],
        "linking all, s": [f"{figures.linking_seconds:.1f}" for figures in measured],
        "after one more session, s": [f"{figures.again_seconds:.1f}" for figures in measured],
    }
    columns = ("facts", *(f"{figures.facts:,}" for figures in measured))
    run.screen.show(plain_table(columns, [[name, *cells] for name, cells in rows.items()], numbers=columns[1:]))
