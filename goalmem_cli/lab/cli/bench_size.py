"""`goalmem bench size`: measure how fast transcripts of each format and size are read."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import begin
from goalmem_cli.errors import UsageError

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.reading_speed import ReadingFigures

SCHEMA_VERSION = 1


def size(
    context: typer.Context,
    turns: Annotated[int, typer.Option(min=100, help="How many made-up turns each transcript has.")] = 20_000,
    rounds: Annotated[int, typer.Option(min=1, help="How often each is read; the median is shown.")] = 3,
    only: Annotated[str, typer.Option(metavar="FORMATS", help="Which formats, separated by commas.")] = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print how fast transcripts of each format are read.

    In the processor's time: recognising the file and reading all of it, not storing it. The turns are made up, the same
    for every format, and written as its export has them.
    """
    from goalmem_cli.lab.bench.reading_speed import measure_reading
    from goalmem_cli.render.tables import plain_table
    from goalmem_cli.transcripts import FORMATS

    wanted = [name.strip() for name in only.split(",") if name.strip()]
    if unknown := sorted(set(wanted) - set(FORMATS)):
        raise UsageError(f"no transcript format is called {unknown[0]!r}", f"formats: {', '.join(FORMATS)}")
    run = begin(context, quiet=quiet)
    measured: list[ReadingFigures] = []
    with TemporaryDirectory(prefix="goalmem-bench-") as folder, run.screen.counting("formats") as reach:
        names = wanted or list(FORMATS)
        for figures in measure_reading(names, turns, rounds, Path(folder)):
            measured.append(figures)
            reach(len(measured), len(names))
    if json:
        rows = [
            asdict(each) | {"turns_a_second": each.turns_a_second, "megabytes_a_second": each.megabytes_a_second}
            for each in measured
        ]
        run.screen.document({"schema_version": SCHEMA_VERSION, "formats": rows})
        return 0
    cells = [
        [each.format, f"{each.turns:,}", f"{each.bytes / 1e6:.1f}", f"{each.turns_a_second:,.0f}",
         f"{each.megabytes_a_second:.1f}"]
        for each in measured
    ]  # fmt: skip
    columns = ("format", "turns", "MB", "turns/s", "MB/s")
    run.screen.show(plain_table(columns, cells, numbers=columns[1:]))
    return 0
