"""`goalmem report`: show the results of runs as tables, JSON, CSV or a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.invocation import begin
from goalmem_cli.errors import UsageError

if TYPE_CHECKING:
    from goalmem_cli.lab.evaluation.runs.run import Run
    from goalmem_cli.lab.evaluation.summaries.made import Made
    from goalmem_cli.lab.evaluation.summaries.pairing import Pairing
    from goalmem_cli.lab.evaluation.summaries.published import Reported
    from goalmem_cli.lab.evaluation.summaries.summary import Summary
    from goalmem_cli.lab.render.cells import Section
    from goalmem_cli.lab.render.report import SplitTable
    from goalmem_cli.render.console import Screen


@dataclass(frozen=True, slots=True)
class Form:
    """The output format: tables, or JSON or CSV instead; `html` also writes a page, or only a page.

    `has_published` puts the figures from papers beside the measured ones. `against` names a row that the others are
    tested against, question by question. `tables` are tables of papers to fill in, by paper and number.
    """

    is_json: bool = False
    is_csv: bool = False
    category_names: str = "official"
    baseline: str = "direct"
    html: Path | None = None
    has_published: bool = False
    against: str | None = None
    tables: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        """Check the choice, and the libraries of the scores, before anything is measured.

        Raises:
            UsageError: both JSON and CSV are chosen.
            LibraryMissing: the extra `eval` is not installed.
        """
        if self.is_json and self.is_csv:
            raise UsageError("--json and --csv are two forms of one output", "leave one of them out")
        import goalmem_cli.lab.evaluation.metrics.overlap  # noqa: F401 - it raises what is missing


EPILOG = examples(
    "goalmem report my-run",
    "goalmem report my-run other-run --html report.html",
    "goalmem report my-run --published",
    guide="measuring",
)


def report(
    context: typer.Context,
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, as `goalmem eval` names them.")
    ],
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write one page with charts and a browser of the questions."),
    ] = None,
    baseline: Annotated[
        str, typer.Option("--baseline", metavar="NAME", help="The reasoner that the others are compared with.")
    ] = "direct",
    published: Annotated[
        bool, typer.Option("--published", help="Also show what papers report for the benchmark.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="ROW",
            help='Test all other rows against this one, such as "direct over bm25", or "2: ..." of the second run.',
        ),
    ] = None,
    category_names: options.CategoryNames = "official",
    json: options.Json = False,
    csv: options.Csv = False,
    quiet: options.Quiet = False,
) -> int:
    """Print the results of runs, with 95% intervals.

    Shows answers, refusals, evidence, cost and search, also by category. Of an unfinished run it shows what is there.
    """
    form = Form(json, csv, category_names, baseline, html, published, against)
    print_report(begin(context, quiet=quiet).screen, runs, form)
    return 0


def print_report(screen: Screen, paths: Sequence[Path], form: Form) -> None:
    """Print the report on the runs in these folders.

    Raises:
        UsageError: a folder holds no run.
        InputError: a file of a run is damaged.
        StoreError: the page cannot be written.
    """
    from goalmem_cli.lab.evaluation.runs.matrix import read_any
    from goalmem_cli.lab.evaluation.summaries.pairing import against
    from goalmem_cli.lab.evaluation.summaries.summary import CategoryNames, summarise

    runs = [read_any(path) for path in paths]
    summaries = [summarise(run, form.baseline, CategoryNames(form.category_names)) for run in runs]
    reported = _published(summaries) if form.has_published else None
    tests = against(summaries, form.against) if form.against is not None else []
    if form.is_json:
        from goalmem_cli.json_records import plain
        from goalmem_cli.lab.evaluation.summaries.summary_formats import document

        made = document(summaries, reported)
        filled = {"tables": plain(_made(summaries, form))} if form.tables else {}
        screen.document(made | ({"tests": plain(tests)} if tests else {}) | filled)
    elif form.is_csv:
        from goalmem_cli.lab.evaluation.summaries.summary_formats import rows_csv

        screen.answer(rows_csv(summaries, reported or ()).rstrip("\n"))
    elif form.html is None:
        from goalmem_cli.lab.render.report import report as drawn

        screen.show(drawn(summaries, _beside(summaries, reported)))
        if tests:
            screen.show(_tested(tests, form.against or ""))
        _show_tables(screen, summaries, form)
    if form.html is not None:
        _write(form.html, summaries, runs, reported)
        screen.note(f"{form.html} holds the report")


def _published(summaries: Sequence[Summary]) -> list[Reported]:
    """Return the figures that papers report for the runs' benchmarks."""
    from goalmem_cli.lab.evaluation.summaries.published import load
    from goalmem_cli.lab.render.published import chosen

    return chosen(summaries, load())


def _made(summaries: Sequence[Summary], form: Form) -> list[Made]:
    """Return the papers' tables that are wanted, filled in from the runs."""
    from goalmem_cli.lab.evaluation.summaries.made import made

    return [table for paper, number in form.tables for table in made(paper, number, summaries)]


def _show_tables(screen: Screen, summaries: Sequence[Summary], form: Form) -> None:
    from goalmem_cli.lab.render.published import filled
    from goalmem_cli.lab.render.report import SplitTable

    for table in _made(summaries, form):
        manifests = [each.manifest for each in summaries if each.manifest.format == table.benchmark]
        names = {code: name for manifest in manifests for code, name in manifest.categories.items()}
        screen.show(SplitTable(filled(table, names)))


def _beside(
    summaries: Sequence[Summary], reported: Sequence[Reported] | None
) -> Callable[[list[Section]], list[Section]]:
    """Return a function that adds the reported figures to a report's sections; for None it adds nothing."""
    if reported is None:
        return list
    from goalmem_cli.lab.render.published import beside

    return lambda parts: beside(parts, summaries, reported)


def _tested(tests: Sequence[Pairing], named: str) -> SplitTable:
    """Return the table of the paired tests against `named`, with one row for each test."""
    from goalmem_cli.lab.render.cells import Figures, difference, label
    from goalmem_cli.lab.render.report import SplitTable

    rows = tuple(
        (
            (f"{each.run}: {each.name}", each.model, label(each.metric)),
            (difference(each.test.difference), *map(_figure, (each.test.t, each.test.p, each.test.effect)),
             str(each.test.difference.n)),
        )
        for each in tests
    )  # fmt: skip
    columns = ("difference", "t", "p", "Cohen's d", "questions")
    note = "paired over the questions that both answer, two-sided; p is of a t-test, the interval of a bootstrap"
    return SplitTable(Figures(f"Against {named}", ("row", "model", "score"), columns, rows, note))


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _write(path: Path, summaries: Sequence[Summary], runs: Sequence[Run], reported: Sequence[Reported] | None) -> None:
    """Write the page atomically: readers see the old or the new one, never a part."""
    from goalmem_cli.lab.render.page import page
    from goalmem_cli.store.files import replace_file

    replace_file(
        path,
        page(summaries, runs, _beside(summaries, reported)).encode(),
        hint="check permissions and space, or name another file with --html",
    )
