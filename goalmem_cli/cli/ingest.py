"""`goalmem ingest`: reads transcripts into the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.goals import check_changed, code_of, rows_of
from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.ingest_report import document_of, explain_files, line_of, notes_of, warn_of_skipped
from goalmem_cli.cli.invocation import begin, is_terminal, standard_input_file
from goalmem_cli.errors import InputError, UsageError
from goalmem_cli.library.ingesting import Reading, Told, are_columns
from goalmem_cli.records import STANDARD_INPUT

if TYPE_CHECKING:
    from goalmem_cli.render.console import Screen
    from goalmem_cli.store.goal_records import CheckedGoal
    from goalmem_cli.transcripts import Order, Place

Paths = Annotated[list[Path] | None, typer.Argument(metavar="PATH...", help="Files, folders, or - for standard input.")]
From = Annotated[
    list[str] | None,
    typer.Option("--from", metavar="SOURCE", help="Read what this program keeps here; `goalmem sources` lists names."),
]
Format = Annotated[
    str | None, typer.Option("--format", metavar="NAME", help="Read every file in this format [default: detected].")
]
StrictInput = Annotated[
    bool, typer.Option("--strict-input", help="Store nothing of a file that has an unreadable record.")
]
Continues = Annotated[
    str | None,
    typer.Option("--conversation", metavar="NAME", help="The stored conversation that standard input continues."),
]
RestoreForgotten = Annotated[
    bool, typer.Option("--restore-forgotten", help="Store again forgotten turns that the files hold.")
]
TakeForgotten = Annotated[
    bool,
    typer.Option("--take-forgotten", help="From now on, also leave out what an exported memory marks as forgotten."),
]
Timezone = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        metavar="NAME",
        help="The speakers' zone, for files with UTC times only: Europe/Berlin [default: the machine's].",
    ),
]
Language = Annotated[
    str | None,
    typer.Option("--language", metavar="CODE", help="The language of the conversations: de [default: found]."),
]
Apart = Annotated[bool, typer.Option("--apart", help="Do not join conversations because they overlap.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show each file's format and first turns, and store nothing.")]
Tools = Annotated[
    bool, typer.Option("--tools", help="Also read the tool calls of coding agents, with secrets blacked out.")
]
CheckGoals = Annotated[
    bool, typer.Option("--check-goals", help="Prove again the goals that the new turns can have changed.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Report what would be read, and store nothing.")]

_INTERRUPTED = "interrupted: what is stored stays, and the same command goes on"
_INTERRUPTED_REDACTING = "interrupted: run it again, since turns with secrets may be taken out and not stored again yet"


def _list_formats(is_asked: bool) -> None:
    """Print every format with its file endings and marks, and exit."""
    from goalmem_cli.render.console import Screen
    from goalmem_cli.render.tables import plain_table
    from goalmem_cli.transcripts import READERS

    if is_asked:
        rows = [(reader.name, " ".join(reader.suffixes), reader.sign) for reader in READERS]
        Screen().show(plain_table(("format", "endings", "recognised by"), rows, whole=("format",)))
        raise typer.Exit


Formats = Annotated[
    bool, typer.Option("--formats", callback=_list_formats, is_eager=True, help="List the formats and their signs.")
]
Columns = Annotated[
    str,
    typer.Option(
        "--columns",
        metavar="WHAT=NAME,...",
        help="The columns for time, speaker, text and conversation of a table [default: found by name].",
    ),
]
DayFirst = Annotated[
    bool, typer.Option("--day-first", help="Read ambiguous dates such as 05/03/23 as 2023-03-05 [default: ask].")
]
MonthFirst = Annotated[
    bool, typer.Option("--month-first", help="Read ambiguous dates such as 05/03/23 as 2023-05-03 [default: ask].")
]

EPILOG = examples(
    "goalmem ingest sample_convos",
    "goalmem ingest --format openai --dry-run export.json",
    "goalmem ingest --from claude-code",
    guide="formats",
)


def ingest(
    context: typer.Context,
    paths: Paths = None,
    sources: From = None,
    format: Format = None,  # noqa: A002 - it is the flag's name
    store: options.Store = None,
    embedder: options.Embedder = None,
    trust_remote_code: options.TrustRemoteCode = None,
    columns: Columns = "",
    formats: Formats = False,  # noqa: ARG001 - its callback answers it
    day_first: DayFirst = False,
    month_first: MonthFirst = False,
    conversation: Continues = None,
    dry_run: DryRun = False,
    explain: Explain = False,
    strict_input: StrictInput = False,
    restore_forgotten: RestoreForgotten = False,
    take_forgotten: TakeForgotten = False,
    redact: options.Redact = None,
    timezone: Timezone = None,
    apart: Apart = False,
    language: Language = None,
    tools: Tools = False,
    check_goals: CheckGoals = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Read transcripts into the store. Turns that are already stored stay as they are.

    Exits with 5 if a file could not be read, else with --check-goals like `goalmem goals check`.
    """
    from goalmem_cli.wiring import open_store

    order = _order(day_first=day_first, month_first=month_first)
    named = _columns(columns)
    if not paths and not sources:
        raise UsageError("there is nothing to read", "name files or folders, or a source with --from")
    if conversation is not None and STANDARD_INPUT not in map(str, paths or ()):
        raise UsageError("--conversation needs standard input", "write - for standard input")
    run = begin(
        context, quiet=quiet, verbose=verbose, store=store, embedder=embedder, trust_remote_code=trust_remote_code,
        redact=redact, timezone=timezone,
    )  # fmt: skip
    told = Told(
        format, order, named, strict_input, conversation, restore_forgotten, take_forgotten,
        run.settings.redact, apart, run.settings.timezone,
        language or "", tools, store,
    )  # fmt: skip
    if explain:
        return explain_files(run.screen, paths or (), sources or (), told, _Heard(run.screen), is_json=json)
    reading = Reading(told, _Heard(run.screen))
    reading.find(paths or (), sources or ())
    memory = open_store(run.settings, run.factories, run.screen.note)
    try:
        reading.read(memory, is_dry=dry_run)
    except KeyboardInterrupt:
        run.screen.note(_INTERRUPTED_REDACTING if reading.takes_out and not dry_run else _INTERRUPTED)
        raise
    finally:
        # Report what was stored, even if the store failed afterwards.
        for report in reading.taken():
            warn_of_skipped(run.screen, report)
            for note in notes_of(report, store, is_restored=restore_forgotten, is_taken=take_forgotten, is_dry=dry_run):
                run.screen.note(f"{report.path}: {note}")
            if not json:
                run.screen.report(line_of(report, is_dry=dry_run))
    reading.finish()
    checked: list[CheckedGoal] = []
    failed = 0
    try:
        if not dry_run:
            failed = check_changed(run, memory, checked, is_wanted=check_goals, is_shown=not json)
    finally:
        if json:
            rows = rows_of(checked) if check_goals else {}
            run.screen.document(document_of(reading.taken(), reading.errors) | rows)
    return InputError.exit_code if reading.errors else code_of(checked) or failed


class _Heard:
    """Shows the reading on the screen, and asks the user at the terminal about unclear files."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._reach: Callable[[str, int, int | None], None] | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the progress of the reading while the block lasts."""
        with self._screen.bytes_done("reading") as self._reach:
            yield

    def note(self, text: str) -> None:
        """Print what was passed over."""
        self._screen.note(text)

    def refused(self, error: InputError) -> None:
        """Print the error of a file or conversation that was refused."""
        self._screen.error(error.message, error.hint)

    def reached(self, name: str, done: int, total: int) -> None:
        """Show the progress."""
        if self._reach is not None:
            self._reach(name, done, total)

    def order_of(self, place: Place, example: str, otherwise: Order) -> Order | None:
        """Ask for the order of day and month in a file; return None if there is no terminal."""
        return _asked(place, example, otherwise) if is_terminal() else None

    def is_chat(self, place: Place) -> bool:
        """Ask whether the file is a chat; return False if there is no terminal."""
        return is_terminal() and typer.confirm(
            f"{place}: this looks like a document. Read it as a chat?", default=False, err=True
        )

    def standard_input(self) -> AbstractContextManager[Callable[[], BinaryIO]]:
        """Yield a function that opens standard input."""
        return standard_input_file()


def _columns(text: str) -> dict[str, str]:
    """Return the fields in `--columns` -> the names of their columns.

    Raises:
        UsageError: the text does not have this form.
    """
    from goalmem_cli.transcripts import COLUMNS

    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    named = {what.strip(): name.strip() for what, _, name in pairs}
    if len(named) < len(pairs) or not are_columns(named):
        raise UsageError(f"--columns {text!r} is not understood", f"write WHAT=NAME,... for {', '.join(COLUMNS)}")
    return named


def _order(*, day_first: bool, month_first: bool) -> Order | None:
    """Return the order of day and month that the flags say, None if no flag was given.

    Raises:
        UsageError: both flags were given.
    """
    from goalmem_cli.transcripts import Order

    if day_first and month_first:
        raise UsageError("--day-first and --month-first exclude each other", "give one of them")
    return Order.DAY_FIRST if day_first else Order.MONTH_FIRST if month_first else None


def _asked(path: Place, example: str, otherwise: Order) -> Order:
    """Ask the user for the order of day and month in a file, and return it."""
    from goalmem_cli.transcripts import Order

    orders = {"d": Order.DAY_FIRST, "m": Order.MONTH_FIRST}
    question = f"{path}: does {example} begin with the day or the month? (d/m)"
    while True:
        answer: str = typer.prompt(question, default=otherwise.value[0], err=True)
        if order := orders.get(answer.strip().lower()[:1]):
            return order
