"""Tables of the figures that papers report beside measured ones; each row says which of both it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from goalmem_cli.lab.evaluation.metrics.agreement import DIAGNOSTICS, FAULTS
from goalmem_cli.lab.evaluation.summaries.made import Cell, Made, Values, values_of
from goalmem_cli.lab.evaluation.summaries.published import COST, QUALITY, REFUSAL, Column, Reported
from goalmem_cli.lab.evaluation.summaries.scores import OVER_ALL
from goalmem_cli.lab.evaluation.summaries.summary import CategoryNames, Summary, named_categories
from goalmem_cli.lab.render.cells import Figures, Section, heading, label

HERE = "measured here"
TITLE = "Reported in papers, not measured here"
_KEYS = ("method", "model", "source")
_NOTE = f"rows marked with a paper's table are what it reports, with its own model and questions; others: {HERE}"
_GROUPS: Mapping[str, tuple[str, ...]] = {"answers": QUALITY, "refusal": REFUSAL, "cost of a question": COST}

Name = tuple[str, str, str]


def beside(parts: Sequence[Section], summaries: Sequence[Summary], reported: Sequence[Reported]) -> list[Section]:
    """Return the sections, each with tables of the figures that papers report for its benchmark, if any."""
    return [_with_tables(part, [one for one in summaries if one.manifest.dataset == part.dataset], reported)
            for part in parts]  # fmt: skip


def chosen(summaries: Iterable[Summary], reported: Iterable[Reported]) -> list[Reported]:
    """Return the reported figures for the benchmarks of the runs."""
    formats = {summary.manifest.format for summary in summaries}
    return [one for one in reported if one.benchmark in formats]


def _with_tables(part: Section, members: Sequence[Summary], reported: Sequence[Reported]) -> Section:
    """Return the section with tables of measured and reported figures, or with a note that there are none."""
    own = chosen(members, reported)
    if not own:
        return replace(part, notes=(*part.notes, "no paper here reports figures for this benchmark"))
    rows, unlike = _rows(members, own)
    names: dict[str, str] = {}
    for summary in members:
        names |= {**summary.manifest.categories, **summary.categories}
    tables = [*_overall(rows), *_by_category(rows, names)]
    said = dict.fromkeys(f"{one.source}: {one.questions}{f'; {one.note}' if one.note else ''}" for one in own)
    return replace(part, tables=(*part.tables, *tables), notes=(*part.notes, *said, *unlike))


def _rows(members: Sequence[Summary], own: Sequence[Reported]) -> tuple[list[tuple[Name, Values]], list[str]]:
    """Return the rows of a table, and notes.

    After each measured row come the reported rows of the same backbone, reasoner and settings; the other reported rows
    come last. The notes name reported rows of the same backbone and reasoner whose settings differ, and how.
    """
    groups: dict[Name, dict[tuple[str, str], float]] = {}
    alike: dict[Name, Reported] = {}
    unlike: dict[tuple[str, str, str], list[str]] = {}
    for one in own:
        name = (f"{one.method}, {one.subset}" if one.subset else one.method, one.model, one.source)
        groups.setdefault(name, {})[one.metric, one.category] = one.value
        alike[name] = one
    rows: list[tuple[Name, Values]] = []
    for summary in members:
        for row in summary.rows:
            if row.queries:
                continue
            called = f"{row.reasoner} over {row.backbone}"
            rows.append(((called, summary.measured_with, HERE), values_of(summary, row)))
            reasoner, backbone, told = summary.told(row)
            for name, one in alike.items():
                if (one.backbone, one.reasoner) != (backbone, reasoner) or name not in groups:
                    continue
                if differing := "; ".join(one.differing(told)):
                    unlike.setdefault((called, one.source, differing), []).append(name[0])
                else:
                    rows.append((name, groups.pop(name)))
    notes = [
        f"not beside {called}: {source}, {', '.join(dict.fromkeys(methods))}: {differing}"
        for (called, source, differing), methods in unlike.items()
    ]
    return [*rows, *groups.items()], notes


def _overall(rows: Sequence[tuple[Name, Values]]) -> Iterator[Figures]:
    for what, metrics in _GROUPS.items():
        columns = {metric: (metric, "") for metric in metrics}
        yield from _table(f"{TITLE}: {what}", rows, columns, _called)


def _by_category(rows: Sequence[tuple[Name, Values]], names: Mapping[str, str]) -> Iterator[Figures]:
    """Yield a table by category for each metric of quality that a paper reports."""
    codes = dict.fromkeys(code for name, values in rows if name[2] != HERE for _, code in values if code)
    for metric in QUALITY:
        columns = {code: (metric, code) for code in codes}
        title = heading(metric) + _called(metric).removeprefix(label(metric))
        yield from _table(f"{TITLE}: {title} by category", rows, columns, lambda code: names.get(code, code))


def _called(metric: str) -> str:
    """Return the name of a metric, which says whether refusals count."""
    return f"{label(metric)}{', refusals counted' if metric in OVER_ALL else ''}"


def _table(
    title: str,
    rows: Sequence[tuple[Name, Values]],
    columns: Mapping[str, tuple[str, str]],
    called: Callable[[str], str],
) -> Iterator[Figures]:
    """Yield a table of the columns for which a paper has a figure; nothing if there are none."""
    told = {key for name, values in rows if name[2] != HERE for key in values}
    kept = {called(name): key for name, key in columns.items() if key in told}
    if not kept:
        return
    cells = tuple(
        (name, tuple(_written(key[0], values.get(key)) for key in kept.values()))
        for name, values in rows
        if any(key in values for key in kept.values())
    )
    yield Figures(title, _KEYS, tuple(kept), cells, _NOTE)


def filled(table: Made, names: Mapping[str, str]) -> Figures:
    """Return a paper's table with measured figures, and the paper's own in brackets.

    A letter in a cell refers to the note, which says why nothing was measured. `names` are the categories' names by
    code; LoCoMo's are replaced by those of the papers.
    """
    names = named_categories(names, table.benchmark, CategoryNames.MEM0)
    reasons = dict.fromkeys(cell.missing for _, _, cells in table.rows for cell in cells if cell.missing)
    letters = {reason: chr(ord("a") + place) for place, reason in enumerate(reasons)}
    rows = tuple(
        ((method, model), tuple(_filled(*pair, letters) for pair in zip(table.columns, cells, strict=True)))
        for method, model, cells in table.rows
    )
    heads = tuple(_head(column, names) for column in table.columns)
    said = ["in brackets what the paper reports", *(f"{letter}: {reason}" for reason, letter in letters.items())]
    title = f"{table.paper}, Table {table.table}, as measured here: {table.benchmark}"
    title += f", {'; '.join(table.measured)}" if table.measured else ""
    return Figures(title, ("method", "the paper's model"), heads, rows, "; ".join(said))


def _head(column: Column, names: Mapping[str, str]) -> str:
    """Return the heading of a paper's column: its metric, then its category and part of the benchmark."""
    last = column.category.rpartition(": ")[2]
    kind = column.category if last in ("yes", "no") else last
    part = ", ".join(filter(None, (names.get(column.category, kind), column.subset)))
    called = {**DIAGNOSTICS, **FAULTS}.get(column.metric, _called(column.metric))
    return f"{called}\n{part}" if part else called


def _filled(column: Column, cell: Cell, letters: Mapping[str, str]) -> str:
    here = letters[cell.missing] if cell.missing else _written(column.metric, cell.measured)
    return here if cell.reported is None else f"{here} ({_written(column.metric, cell.reported)})"


def _written(metric: str, value: float | None) -> str:
    """Return a figure as text, with the decimals and the unit that suit its metric."""
    if value is None:
        return ""
    if metric in QUALITY or metric in (*DIAGNOSTICS, *FAULTS) or metric.startswith("refusal_"):
        return f"{value:.3f}"
    if metric == "memory":
        return f"{value / 1e9:.1f} GB"
    return f"{value:,.2f}" if metric.endswith(("seconds", "nodes", "edges", "degree")) else f"{value:,.0f}"
