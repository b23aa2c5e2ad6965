"""`goalmem bench graphs`: how long searches of structured backbones take at a size, and what they cluster and link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.lab.cli.wanted import ascending_sizes

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.structures import RowFigures, SearchFigures
    from goalmem_cli.store import Store

SCHEMA_VERSION = 1
SIZES = "10000,100000"


def graphs(
    context: typer.Context,
    units: Annotated[
        str, typer.Option("--units", metavar="SIZES", help="How many made-up units to search, in ascending order.")
    ] = SIZES,
    rows: Annotated[
        str, typer.Option("--rows", metavar="SIZES", help="How many rows or nodes to cluster, in ascending order.")
    ] = "10000",
    umap: Annotated[bool, typer.Option("--umap", help="Cluster by UMAP as well, which takes minutes.")] = False,
    rounds: Annotated[int, typer.Option(min=1, help="How often each search is made; the median is shown.")] = 10,
    embedder: options.Embedder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print how long searches of structured backbones take.

    Of secom, raptor, memtree, hipporag, graphrag, mem0, mem0-graph, a-mem, magma and graphiti, in milliseconds, over
    made-up units in stores that are gone afterwards; then the seconds and the memory of soft clusters of made-up rows
    and communities of made-up graphs, each in a process of its own. No model is asked.
    """
    from goalmem_cli.lab.bench.structures import measure_rows, measure_searches
    from goalmem_cli.memory_records import Capability
    from goalmem_cli.wiring import local, open_store

    sizes = ascending_sizes(units, "--units", SIZES)
    with TemporaryDirectory(prefix="goalmem-bench-") as folder:
        run = begin(context, quiet=quiet, store=Path(folder), embedder=embedder)

        def opened(name: str) -> Store:
            settings = replace(run.settings, store=Path(folder) / name, address=None)
            return local(open_store(settings, run.factories, run.screen.note), Capability.STRUCTURE)

        with run.screen.counting("searches") as reach:
            searches = []
            for found in measure_searches(opened, sizes, rounds, reach):
                searches.append(found)
                run.screen.note(f"{found.backbone}, {found.units:,} units: {found.median_ms:.0f} ms")
        computed = []
        for each in measure_rows(ascending_sizes(rows, "--rows", "10000"), with_umap=umap):
            computed.append(each)
            run.screen.note(f"{each.what} of {each.rows:,}: {each.seconds:.1f} s")
    if json:
        document = {"searches": [asdict(each) for each in searches], "computed": [asdict(each) for each in computed]}
        run.screen.document({"schema_version": SCHEMA_VERSION, **document})
        return 0
    _show(run, searches, computed)
    return 0


def _show(run: Invocation, searches: Sequence[SearchFigures], computed: Sequence[RowFigures]) -> None:
    from goalmem_cli.render.tables import plain_table

    figures = ("units", "ms", "first, ms")
    lines = [(one.backbone, f"{one.units:,}", f"{one.median_ms:.0f}", f"{one.cold_ms:.0f}") for one in searches]
    run.screen.show(plain_table(("search", *figures), lines, numbers=figures))
    figures = ("rows", "s", "MB")
    lines = [(one.what, f"{one.rows:,}", f"{one.seconds:.1f}", f"{one.peak_bytes / 1e6:,.0f}") for one in computed]
    run.screen.show(plain_table(("computed", *figures), lines, numbers=figures))
