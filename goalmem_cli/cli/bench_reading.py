"""`goalmem bench reading`: how fast transcripts are read, by format."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import begin
from goalmem_cli.errors import InputError

if TYPE_CHECKING:
    from goalmem_cli.bench.reading import ReadingSpeed

SCHEMA_VERSION = 1
_COLUMNS = ("files", "turns", "kB", "turns a second", "MB a second")


def reading(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, folders and zips.")],
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Print how fast transcripts are read, by format.

    Every file is read again and again for half a second. Nothing is stored, and neither model nor store is needed.
    """
    from goalmem_cli.bench.reading import measure_reading
    from goalmem_cli.transcripts import transcript_files

    run = begin(context, quiet=quiet, verbose=verbose)
    errors: list[InputError] = []

    def pass_over(error: InputError) -> None:
        errors.append(error)
        run.screen.note(f"passed over: {error.message}")

    speeds = measure_reading(transcript_files(paths), pass_over)
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "formats": list(map(_row, speeds))})
    elif speeds:
        from goalmem_cli.render.tables import plain_table

        run.screen.show(plain_table(("format", *_COLUMNS), map(_cells, speeds), numbers=_COLUMNS))
    return 0 if speeds else InputError.exit_code


def _row(speed: ReadingSpeed) -> dict[str, object]:
    return asdict(speed) | {
        "turns_per_second": speed.turns_per_second, "bytes_per_second": speed.bytes_per_second,
    }  # fmt: skip


def _cells(speed: ReadingSpeed) -> tuple[str, ...]:
    return (
        speed.format,
        f"{speed.files:,}",
        f"{speed.turns:,}",
        f"{speed.size / 1000:,.1f}",
        f"{speed.turns_per_second:,.0f}",
        f"{speed.bytes_per_second / 1e6:,.2f}",
    )
