"""The output of `goalmem ingest --explain`; texts of files are printed as plain text, never as markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from goalmem_cli.cli.ingest_report import SCHEMA_VERSION, held_in, note_of_marks, row_of, warn_of_skipped
from goalmem_cli.errors import InputError, NearFormat

if TYPE_CHECKING:
    from goalmem_cli.library.explaining import Explained, Explanation
    from goalmem_cli.library.hearing import Hears
    from goalmem_cli.library.ingesting import Told
    from goalmem_cli.records import Turn
    from goalmem_cli.render.console import Screen

_SHOWN = 100
"""How many characters of a turn's text are shown."""


def explain_files(
    screen: Screen, paths: Iterable[Path], sources: Iterable[str], told: Told, hears: Hears, *, is_json: bool
) -> int:
    """Print the files' formats and how their first turns would be stored; return the exit code, as `ingest` does.

    Raises:
        UsageError: a source or the format is unknown.
    """
    from goalmem_cli.library.explaining import explain

    explanation = explain(paths, sources, told, hears)
    for one in explanation.files:
        warn_of_skipped(screen, one.report)
    if is_json:
        screen.document(_document_of(explanation))
    elif lines := list(_lines_of(explanation)):
        screen.text("\n".join(lines))
    return InputError.exit_code if explanation.errors else 0


def _lines_of(explanation: Explanation) -> Iterator[str]:
    """Yield the explanation's lines: recognised files first, then the others with the nearest formats."""
    from goalmem_cli.render.text import safe

    for one in explanation.files:
        yield from _lines_of_file(one)
    for path, near in explanation.near:
        yield safe(f"{path}: in no format; {'the nearest are' if near[0].lacks else 'those with its ending are'}")
        yield from (f"  {safe(_lack_of(one))}" for one in near)


def _lines_of_file(one: Explained) -> Iterator[str]:
    """Yield a recognised file's lines: format, marks, first turns, and what is left out."""
    from goalmem_cli.render.text import safe

    yield safe(f"{held_in(one.report)}; nothing is stored")
    yield f"  recognised by: {safe(one.sign)}"
    yield "  first turns:"
    yield from (f"    {_line_of_turn(turn)}" for turn in one.first)
    if one.left_out:
        yield "  left out or changed:"
        yield from (f"    {safe(f'{what}: {times}')}" for what, times in one.left_out)
    if one.report.marked:
        yield f"  {note_of_marks(one.report.marked, is_taken=False)}"


def _line_of_turn(turn: Turn) -> str:
    from goalmem_cli.render.text import shortened, told_by, when

    return f"{told_by(turn.speaker)}{when(turn.local)}: {shortened(turn.text, _SHOWN)}"


def _lack_of(near: NearFormat) -> str:
    lack = f" lacks {', '.join(near.lacks)};" if near.lacks else ""
    return f"{near.name}{lack} is recognised by {near.sign}"


def _document_of(explanation: Explanation) -> dict[str, object]:
    """Return the explanation as `--json` prints it."""
    near = dict(explanation.near)
    skipped = [row_of(error) for one in explanation.files for error in one.report.skipped]
    failed = [{**row_of(error), **_near_rows(near.get(error.path, ()))} for error in explanation.errors]
    return {
        "schema_version": SCHEMA_VERSION,
        "files": [_row_of_file(one) for one in explanation.files],
        **({"skipped": skipped} if skipped else {}),
        **({"failed": failed} if failed else {}),
    }


def _row_of_file(one: Explained) -> dict[str, object]:
    """Return a recognised file as `--json` prints it."""
    report = one.report
    return {
        "path": report.path,
        "format": report.format,
        "recognised_by": one.sign,
        "conversations": report.conversations,
        "turns": report.turns,
        "first_turns": [
            {
                "conversation": turn.conversation,
                "speaker": turn.speaker,
                "said": turn.local.isoformat() if turn.local is not None else None,
                "text": turn.text,
            }
            for turn in one.first
        ],
        "left_out_or_changed": [{"what": what, "count": times} for what, times in one.left_out],
    }


def _near_rows(near: tuple[NearFormat, ...]) -> dict[str, object]:
    rows = [{"format": one.name, "recognised_by": one.sign, "lacks": list(one.lacks)} for one in near]
    return {"nearest": rows} if rows else {}
