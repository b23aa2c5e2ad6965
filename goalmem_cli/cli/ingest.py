"""`goalmem ingest`: reads transcripts into the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.cli.invocation import STANDARD_INPUT, Invocation, begin, standard_input
from goalmem_cli.errors import InputError

if TYPE_CHECKING:
    from goalmem_cli.records import Conversation
    from goalmem_cli.store import Added, Store

SCHEMA_VERSION = 1

Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, folders, or - for standard input.")]
Format = Annotated[
    str | None, typer.Option("--format", metavar="NAME", help="Read every file in this format [default: detected].")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Read and report, and store nothing.")]


@dataclass(frozen=True, slots=True)
class FileReport:
    """What one file held, and how much of it was new."""

    path: str
    format: str
    conversations: int
    turns: int
    new_turns: int
    replaced: int


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command(
        "ingest",
        context_settings=CONTEXT,
        epilog=examples("goalmem ingest sample_convos", "goalmem ingest --format openai --dry-run export.json"),
    )(ingest)


def ingest(
    context: typer.Context,
    paths: Paths,
    format: Format = None,  # noqa: A002 - it is the flag's name
    store: options.Store = None,
    embedder: options.Embedder = None,
    dry_run: DryRun = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Read transcripts into the store. What is stored already stays as it is, and is said to be nothing new."""
    from goalmem_cli.wiring import open_store

    run = begin(context, quiet=quiet, verbose=verbose, store=store, embedder=embedder)
    files, errors = _found(paths)
    for error in errors:
        run.screen.error(error.message, error.hint)
    memory = open_store(run.settings, run.factories, run.screen.note)
    reading = _Reading(run, format, is_dry=dry_run)
    try:
        with run.screen.progress(len(files)) as begun:
            reading.pour(files, memory, begun)
    finally:
        # What was stored before a failure of the store is worth saying.
        for report in reading.reports if not json else ():
            run.screen.report(_line(report, is_dry=dry_run))
    errors += reading.errors
    if json:
        run.screen.document(_document(reading.reports, errors))
    return InputError.exit_code if errors else 0


class _Reading:
    """Reads the files one after another while the store takes what they hold; a bad one does not stop the rest."""

    def __init__(self, run: Invocation, form: str | None, *, is_dry: bool) -> None:
        self._run = run
        self._form = form
        self._is_dry = is_dry
        self._added: list[Added] = []
        self._is_refused = False
        self.reports: list[FileReport] = []
        self.errors: list[InputError] = []

    def pour(self, files: Iterable[Path], memory: Store, begun: Callable[[str], None]) -> None:
        """Store, or only preview, what the files hold; the indexes are written once, at the end."""
        stream = self._conversations(files, begun)
        is_done = False
        while not is_done:
            try:
                if self._is_dry:
                    for conversation in stream:
                        self._take(memory.preview(conversation))
                else:
                    memory.add_all(stream, report=self._take)
                is_done = True
            except InputError as error:
                self._refuse(error)

    def _conversations(self, files: Iterable[Path], begun: Callable[[str], None]) -> Iterator[Conversation]:
        """Yield what the files hold, and report each file once the store has taken all of it."""
        for file in files:
            begun(str(file))
            self._added, self._is_refused = [], False
            for conversation in (found := self._read(file)):
                for note in conversation.notes:
                    self._run.screen.note(f"{file}: {note}")
                yield conversation
            if not self._is_refused:
                self._tell(file, found)

    def _read(self, file: Path) -> list[Conversation]:
        from goalmem_cli.transcripts import read_bytes, read_file

        try:
            if str(file) == STANDARD_INPUT:
                return read_bytes(standard_input(), STANDARD_INPUT, self._form)
            return read_file(file, self._form)
        except InputError as error:
            self._refuse(error)
            return []

    def _take(self, added: Added) -> None:
        self._added.append(added)

    def _refuse(self, error: InputError) -> None:
        self._is_refused = True
        self.errors.append(error)
        self._run.screen.error(error.message, error.hint)

    def _tell(self, file: Path, found: Sequence[Conversation]) -> None:
        for added in self._added:
            if added.replaced:
                self._run.screen.note(f"{file}: changed text replaces what was stored: {', '.join(added.replaced)}")
        self.reports.append(
            FileReport(
                path=str(file),
                format=found[0].format if found else self._form or "",
                conversations=len(found),
                turns=sum(added.turns for added in self._added),
                new_turns=sum(added.new_turns for added in self._added),
                replaced=sum(len(added.replaced) for added in self._added),
            )
        )


def _found(paths: Iterable[Path]) -> tuple[list[Path], list[InputError]]:
    """Return the files to read, each once, and the paths that lead to none."""
    from goalmem_cli.transcripts import transcript_files

    files: dict[Path, None] = {}
    errors = []
    for path in paths:
        try:
            files |= dict.fromkeys(transcript_files([path]))
        except InputError as error:
            errors.append(error)
    return list(files), errors


def _line(report: FileReport, *, is_dry: bool) -> str:
    would = "would be " if is_dry else ""
    new = f"{report.new_turns} new {would}stored" if report.new_turns else "nothing new"
    replaced = f", {report.replaced} {would}replaced" if report.replaced else ""
    conversations = f"{report.conversations} conversation{'' if report.conversations == 1 else 's'}"
    return f"{report.path}: {report.format}, {conversations}, {report.turns} turns, {new}{replaced}"


def _document(reports: Iterable[FileReport], errors: Iterable[InputError]) -> dict[str, object]:
    keys = ("path", "format", "conversations", "turns", "new_turns")
    files = [{key: getattr(report, key) for key in keys} for report in reports]
    failed = [{"path": error.path, "place": error.place, "reason": error.reason} for error in errors]
    document: dict[str, object] = {"schema_version": SCHEMA_VERSION, "files": files}
    return document | {"failed": failed} if failed else document
