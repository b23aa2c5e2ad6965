"""What `goalmem ingest` prints about each file that it read, or would read; texts of files are never markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from goalmem_cli.config import command_for
from goalmem_cli.errors import InputError, NearFormat
from goalmem_cli.library.ingesting import NAMED, few

if TYPE_CHECKING:
    from goalmem_cli.library.explaining import Explained, Explanation
    from goalmem_cli.library.hearing import Hears
    from goalmem_cli.library.ingesting import Told
    from goalmem_cli.library.reports import FileReport, Marked
    from goalmem_cli.memory_records import Added
    from goalmem_cli.records import Turn
    from goalmem_cli.render.console import Screen


SCHEMA_VERSION = 1
_KEYS = ("path", "format", "conversations", "turns", "new_turns")
_KEYS_IF_ANY = ("forgotten", "redacted", "secrets")
FLAG_RESTORE, FLAG_TAKE = "--restore-forgotten", "--take-forgotten"
_SHOWN = 3


def warn_of_skipped(screen: Screen, report: FileReport) -> None:
    """Warn of the file's unreadable records: name the first ones and say how many there are."""
    from goalmem_cli.render.text import counted

    for error in report.missed[:_SHOWN]:
        screen.note(f"  {error.message}")
    if not report.skipped:
        return
    records = counted(len(report.skipped), "record")
    screen.warn(f"{report.path}: {records} could not be read and left out; --strict-input refuses such a file")
    for error in report.skipped[:_SHOWN]:
        screen.note(f"  {error.message}")
    if len(report.skipped) > _SHOWN:
        screen.note(f"  and {len(report.skipped) - _SHOWN} more: --json lists them all")


def notes_of(
    report: FileReport, store: str | None, *, is_restored: bool, is_taken: bool, is_dry: bool = False
) -> list[str]:
    """Return the notes on a file, such as replaced, overlapping and forgotten turns; `store` as it was typed."""
    from goalmem_cli.store.redaction import kinds_in_words

    notes, would = list(report.notes), "would be " if is_dry else ""
    if report.forgotten:
        notes.append(f"{would}{note_of_forgotten(report.forgotten, is_restored=is_restored)}")
    if report.marked:
        notes.append(f"{would if is_taken else ''}{note_of_marks(report.marked, is_taken=is_taken)}")
    if report.redacted:
        notes.append(f"{would}redacted: {kinds_in_words(report.redacted)}")
    if report.secrets:
        notes.append(f"it may hold secrets ({kinds_in_words(report.secrets)}): --redact blacks them out")
    if report.replaced:
        notes.append(f"changed text replaces what was stored: {few(report.replaced)}")
    notes += [_overlap(one, store) for one in report.overlaps[:NAMED]]
    if (more := len(report.overlaps) - NAMED) > 0:
        notes.append(f"{more} more of its conversations overlap with stored ones")
    return notes


def _overlap(added: Added, store: str | None) -> str:
    """Describe what was done with a conversation that overlaps a stored one, and how to change that."""
    from goalmem_cli.render.text import counted

    forget = command_for(store, "forget", "--leave-nothing", names=[added.conversation])
    notes = []
    if added.is_joined:
        apart = f"`{forget}`, then `{command_for(store, 'ingest', '--apart')}` parts them"
        notes.append(f"joined with {added.conversation}, another window of the same chat; {apart}")
    if added.by_title:
        apart = f"`{forget}`, rename one file (or the folder of _chat.txt), and read both"
        same = f"added to {added.conversation}, a chat of that title that has none of its messages"
        notes.append(f"{same}; if they are two chats, {apart}")
    if added.beside:
        kept = "" if added.is_joined else f"kept as new ({added.conversation}): "
        first, *others = added.beside
        joins = [command_for(store, "stores", "join", names=[first, each]) for each in (added.conversation, *others)]
        like = "of another file overlaps with it or begins like it"
        if others:
            like = "of other files overlap with it or begin like it"
        told = " and then ".join(f"`{each}`" for each in joins[:NAMED])
        notes.append(f"{kept}{few(list(added.beside))} {like}; {told} joins them if they are one")
    if added.copied:
        copies, forks = counted(sum(added.copied.values()), "copy", "copies"), few(list(added.copied))
        notes.append(f"{copies} in {forks} left out: each turn is stored once, in {added.conversation}")
    for name, stored in added.called.items():
        merge = command_for(store, "people", "merge", names=[stored, name])
        notes.append(
            f"{name} is called {stored} in the turns that were stored before; `{merge}` says that they are one"
        )
    return "; ".join(notes)


def note_of_forgotten(count: int, *, is_restored: bool) -> str:
    """Describe what was done with `count` turns that are marked as forgotten."""
    what, it = ("1 turn that was forgotten", "it") if count == 1 else (f"{count} turns that were forgotten", "them")
    return f"stored again: {what}" if is_restored else f"left out: {what} ({FLAG_RESTORE} takes {it} back)"


def note_of_marks(marked: Marked, *, is_taken: bool) -> str:
    """Describe what was done with the marks of forgotten turns in an exported memory."""
    parts = [in_words(marked.turns, marked.always)] if marked.turns or marked.always else []
    parts += ["what was stored without its secrets"] if marked.has_secrets else []
    what = f"marks of what was forgotten where it comes from ({', and '.join(parts)})"
    return f"taken over: {what}" if is_taken else f"it has {what}: {FLAG_TAKE} takes them over"


def in_words(turns: int, always: int) -> str:
    """Return the counts in words: forgotten turns, and conversations and speakers whose later turns are forgotten."""
    from goalmem_cli.render.text import counted

    whom = counted(always, "conversation or speaker", "conversations or speakers")
    return counted(turns, "turn") + (f", and all that comes of {whom}" if always else "")


def held_in(report: FileReport) -> str:
    """Return the file's format, and how many conversations and turns it holds."""
    from goalmem_cli.render.text import counted

    held = f"{counted(report.conversations, 'conversation')}, {counted(report.turns, 'turn')}"
    return f"{report.path}: {report.format}, {held}"


def line_of(report: FileReport, *, is_dry: bool) -> str:
    would = "would be " if is_dry else ""
    new = f"{report.new_turns} new {would}stored" if report.new_turns else "nothing new"
    replaced = f", {len(report.replaced)} {would}replaced" if report.replaced else ""
    return f"{held_in(report)}, {new}{replaced}"


def document_of(reports: Iterable[FileReport], errors: Iterable[InputError]) -> dict[str, object]:
    """Return the reports and errors as `--json` prints them."""
    reports = list(reports)
    lists = {
        "skipped": [row_of(error) for report in reports for error in report.skipped],
        "failed": [row_of(error) for error in errors],
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "files": [
            {key: getattr(report, key) for key in _KEYS}
            | {key: told for key in _KEYS_IF_ANY if (told := getattr(report, key))}
            | ({"marked": {"turns": marked.turns, "always": marked.always}} if (marked := report.marked) else {})
            for report in reports
        ],
        **{name: rows for name, rows in lists.items() if rows},
    }


def row_of(error: InputError) -> dict[str, str]:
    """Return a failure as `--json` prints it."""
    return {"path": error.path, "place": error.place, "reason": error.reason}


_LONGEST_SHOWN = 100
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
        yield safe(f"{path}: in no format; {'the nearest are' if len(near) > 2 else 'those with its ending are'}")
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

    return f"{told_by(turn.speaker)}{when(turn.local)}: {shortened(turn.text, _LONGEST_SHOWN)}"


def _lack_of(near: NearFormat) -> str:
    if near.lacks == (near.sign,):
        return f"{near.name} is recognised by {near.sign}, which it lacks"
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
