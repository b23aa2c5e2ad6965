"""The papers' tables with what runs measured in their cells; a cell that was not measured says why."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from goalmem_cli.lab.evaluation.summaries.published import REFUSAL, Column, Line, Table, read_tables, unlike
from goalmem_cli.lab.evaluation.summaries.scores import OVER_ALL
from goalmem_cli.lab.evaluation.summaries.summary import Row, Summary

Values = Mapping[tuple[str, str], float]
"""What a row measured, by metric and category; "" is over all."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What was measured and what the paper reports, in the units of `Reported`; `missing` says why nothing was."""

    measured: float | None
    reported: float | None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """A table, or the part of it for one benchmark. A row is the method and the paper's model, and its cells."""

    paper: str
    table: int
    benchmark: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


def made(paper: str, number: int, summaries: Sequence[Summary]) -> list[Made]:
    """Return a paper's table with every row and column, filled in from the runs; nothing for one without rows."""
    papers, tables = read_tables()
    parts: dict[tuple[str, tuple[Column, ...]], list[tuple[str, str, tuple[Cell, ...]]]] = {}
    for table in tables:
        if (table.paper, table.table) == (paper, number):
            rows = parts.setdefault((table.benchmark, table.columns), [])
            for line in table.rows:
                filling = _Filling(table, line, summaries)
                rows.append((line.name, line.model or table.model, filling.cells()))
    title = papers[paper].title
    return [Made(title, number, benchmark, columns, tuple(rows)) for (benchmark, columns), rows in parts.items()]


def values_of(summary: Summary, row: Row) -> Values:
    """Return what a row measured, under the names of `published.yaml`."""
    found: dict[tuple[str, str], float] = {(name, ""): each.mean for name, each in row.metrics.items()}
    for code, category in row.by_category.items():
        found |= {(name, code): each.mean for name, each in category.metrics.items()}
    found |= {(name, ""): each.mean for name, each in row.usage.items()}
    if row.usage:
        found["tokens", ""] = row.usage["prompt_tokens"].mean + row.usage["completion_tokens"].mean
        built = (row.indexing.prompt_tokens, row.indexing.completion_tokens)
        for name, total in zip(("index_prompt_tokens", "index_completion_tokens"), built, strict=True):
            found[name, ""] = total / max(1, summary.cases)
        found["index_tokens", ""] = sum(built) / max(1, summary.cases)
    if row.recall:
        found["recall", ""] = row.recall[max(row.recall)].mean
    if row.refusal is not None:
        shares = (row.refusal.precision, row.refusal.recall, row.refusal.f1)
        named = zip(REFUSAL, (*shares, row.refusal.refused), strict=True)
        found |= {(name, ""): value for name, value in named if value is not None}
    return found


@dataclass(frozen=True, slots=True)
class _Filling:
    """One row of a table, and the runs that may fill it."""

    table: Table
    line: Line
    summaries: Sequence[Summary]

    def cells(self) -> tuple[Cell, ...]:
        """Return the row's cells."""
        fitting, missing = self._fitting()
        return tuple(
            self._cell(column, None if figure is None else column.share(figure), fitting, missing)
            for column, figure in zip(self.table.columns, self.line.figures, strict=True)
        )

    def _fitting(self) -> tuple[list[tuple[Summary, Row]], str]:
        """Return the measured rows with the settings that the row needs, or why there are none."""
        line = self.line
        if not (line.backbone and line.reasoner):
            own = f"the paper ran a package that is not goalmem's {line.backbone}"
            return [], own if line.backbone else "goalmem lacks the method"
        here = [
            (summary, row, summary.told(row))
            for summary in self.summaries
            for row in summary.rows
            if summary.manifest.format == self.table.benchmark and not row.queries and row.n
        ]
        same = [each for each in here if each[2][:2] == (line.reasoner, line.backbone)]
        apart = [unlike(self.table.needed(line), line.backbone, told) for _, _, (_, _, told) in same]
        fitting = [(summary, row) for (summary, row, _), differing in zip(same, apart, strict=True) if not differing]
        return fitting, "" if fitting else "; ".join(apart[0]) if apart else "not run"

    def _cell(
        self, column: Column, reported: float | None, fitting: Sequence[tuple[Summary, Row]], missing: str
    ) -> Cell:
        for summary, row in fitting:
            if not _is_part(summary, column.subset):
                missing = f"the run is not of the part {column.subset!r}, by the name of its file or folder"
                continue
            values = values_of(summary, row)
            if (column.metric, column.category) in values:
                return Cell(values[column.metric, column.category], reported)
            missing = _why(column, row)
        return Cell(None, reported, missing)


def _is_part(summary: Summary, subset: str) -> bool:
    """Say whether a run is of a part of its benchmark: the name of a file or of its folder has the part as a word."""
    names = [name for source in summary.manifest.sources for name in PurePath(source).parts[-2:]]
    words = {word for name in names for word in re.split(r"[^a-z0-9]+", name.casefold())}
    return not subset or subset.casefold() in words


def _why(column: Column, row: Row) -> str:
    if column.category and column.category not in row.by_category:
        return "no such question in the run"
    if column.metric in ("judge", "all_judge") and not row.judged:
        return "the run has no judge (--judge)"
    if column.metric in OVER_ALL:
        return "no question of the run is unanswerable"
    if column.metric == "other_tokens":
        return "goalmem's runs count the tokens of prompts and of memory too"
    return f"the run has no {column.metric}"
