"""The papers' tables filled with measured figures; a cell without a figure says why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import PurePath

from goalmem_cli.lab.evaluation.metrics.agreement import FAULTS
from goalmem_cli.lab.evaluation.summaries.parts import PARTS
from goalmem_cli.lab.evaluation.summaries.published import REFUSAL, SIZES, Column, Line, Table, read_tables, unlike
from goalmem_cli.lab.evaluation.summaries.scores import OVER_ALL
from goalmem_cli.lab.evaluation.summaries.summary import MEMORY_TOKENS, Row, Summary

Values = Mapping[tuple[str, str], float]
"""What a row measured, by metric and category; "" is over all."""
Fitting = Sequence[tuple[Summary, Row]]
Kind = tuple[str | None, str | None, frozenset[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Cell:
    """The measured and the reported figure, in the units of `Reported`; `missing` says why none was measured."""

    measured: float | None
    reported: float | None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """A table, or its part for one benchmark; each row has the method, the paper's model, and the cells.

    `measured` are the models and embedders of the runs that fill it.
    """

    paper: str
    table: int
    benchmark: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]
    measured: tuple[str, ...] = ()


OTHER = "no run is of this model and embedder; the table's title names those of the runs"
"""Why a row has nothing, if a run fills another one that differs from it only in these."""


def made(paper: str, number: int, summaries: Sequence[Summary]) -> list[Made]:
    """Return a paper's table with all rows and columns, filled from the runs; empty if the table has no rows.

    Of rows that differ only in the model or the embedder, a run fills the one whose names its own resemble most, or the
    first.
    """
    papers, tables = read_tables()
    parts: dict[tuple[str, tuple[Column, ...]], list[_Filling]] = {}
    for table in tables:
        if (table.paper, table.table) == (paper, number):
            own = parts.setdefault((table.benchmark, table.columns), [])
            own += [_Filling(table, line, summaries) for line in table.rows]
    return [_part(papers[paper].title, fillings) for fillings in parts.values() if fillings]


def _part(title: str, fillings: Sequence[_Filling]) -> Made:
    """Return the part of a table for one benchmark."""
    table, rows = fillings[0].table, list[tuple[str, str, tuple[Cell, ...]]]()
    measured = dict[str, None]()
    for each in fillings:
        found, missing = each.fitting()
        alike = [other for other in fillings if other.kind == each.kind]
        fitting = [pair for pair in found if max(alike, key=lambda one: one.likeness(pair[0])) is each]
        measured |= dict.fromkeys(summary.measured_with for summary, _ in fitting)
        rows.append((each.line.name, each.model, each.cells(fitting, OTHER if found else missing)))
    return Made(title, table.table, table.benchmark, table.columns, tuple(rows), tuple(measured))


def values_of(summary: Summary, row: Row) -> Values:
    """Return the figures of a measured row, under the names of metric and category in `published.yaml`."""
    found: dict[tuple[str, str], float] = {(name, ""): each.mean for name, each in row.metrics.items()}
    for code, category in row.by_category.items():
        found |= {(name, code): each.mean for name, each in category.metrics.items()}
    found |= {(name, ""): each.mean for name, each in row.usage.items()}
    if row.usage:
        asked = [
            row.usage[name].mean for name in ("prompt_tokens", "completion_tokens", MEMORY_TOKENS) if name in row.usage
        ]
        found["tokens", ""] = sum(asked)
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
    for title, parts in row.by_part.items():
        for part, each in parts.items():
            found |= {(name, f"{title}: {part}"): figure.mean for name, figure in each.metrics.items()}
            found["questions", f"{title}: {part}"] = each.n
    labelled = (each.labels for each in summary.rows if each.backbone == row.backbone)
    found |= {(name, ""): spread.mean for labels in labelled for name, spread in labels.items()}
    found |= {(name, ""): share.mean for each in summary.rows if each.backbone == row.backbone
              for name, share in each.faults.items()}  # fmt: skip
    return found | {(name, ""): value for name, value in _sizes(summary, row)}


def _sizes(summary: Summary, row: Row) -> Iterator[tuple[str, float]]:
    """Yield (name, figure) of a row's number of questions, its indexing, and the size of its graphs."""
    yield from (("questions", summary.cases), ("index seconds", row.indexing.seconds))
    if (grown := row.grown) is not None:
        yield from (("graphs", grown.graphs), *((("memory", grown.peak),) if grown.peak else ()))
        yield from ((name, 0.0) for name in SIZES if name.endswith((" nodes", " edges")))
        for what, counts in (("nodes", grown.counts.units), ("edges", grown.counts.edges)):
            yield from ((f"{kind} {what}", n / grown.graphs) for kind, n in counts.items())
        yield from ((f"{kind} degree", value) for kind, value in grown.counts.degrees.items())


@dataclass(frozen=True, slots=True)
class _Filling:
    """One row of a table, and the runs that may fill it."""

    table: Table
    line: Line
    summaries: Sequence[Summary]

    @property
    def kind(self) -> Kind:
        """The backbone, reasoner and settings of a run that fills the row; its model and embedder may differ."""
        return self.line.backbone, self.line.reasoner, frozenset(self.table.needed(self.line).items())

    @property
    def model(self) -> str:
        """The paper's model."""
        return self.line.model or self.table.model

    def likeness(self, summary: Summary) -> float:
        """Return how far the names of the paper's model and embedder are in those of the run, from 0 to 2."""
        told = summary.manifest
        return _share_in(self.model, told.model) + _share_in(self.line.name, told.settings.get("embedder", ""))

    def cells(self, fitting: Fitting, missing: str) -> tuple[Cell, ...]:
        """Return the row's cells, filled from the rows in `fitting`; empty cells say why, `missing` if none fits."""
        return tuple(
            self._cell(column, None if figure is None else column.share(figure), fitting, missing)
            for column, figure in zip(self.table.columns, self.line.figures, strict=True)
        )

    def fitting(self) -> tuple[Fitting, str]:
        """Return the measured rows with the settings that the table's row needs; if there are none, the reason."""
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
        apart = [unlike(self.table.needed(line), (line.backbone, line.reasoner), told) for _, _, (_, _, told) in same]
        fitting = [(summary, row) for (summary, row, _), differing in zip(same, apart, strict=True) if not differing]
        return fitting, "" if fitting else "; ".join(apart[0]) if apart else "not run"

    def _cell(self, column: Column, reported: float | None, fitting: Fitting, missing: str) -> Cell:
        """Return the cell of a column from the first row that has its figure, else with the reason."""
        if column.missing:
            return Cell(None, reported, column.missing)
        subsets = {each.subset.casefold() for each in self.table.columns} - {""}
        for summary, row in fitting:
            if column.subset and _parts(summary, subsets) != {column.subset.casefold()}:
                missing = f"the run is not of the part {column.subset!r} alone, by the name of its file or folder"
                continue
            values = values_of(summary, row)
            if (column.metric, column.category) in values:
                return Cell(values[column.metric, column.category], reported)
            missing = _why(column, row)
        return Cell(None, reported, missing)


def _parts(summary: Summary, subsets: Set[str]) -> set[str]:
    """Return which of the `subsets` of its benchmark a run used; "" stands for a source whose name tells none.

    A subset is a word in the file's name or, unless that name has the benchmark's, in its folder's name.
    """
    found = set[str]()
    for source in summary.manifest.sources:
        words, above = map(_words, (PurePath(source).name, PurePath(source).parent.name))
        own = words & subsets or (set[str]() if summary.manifest.format in words else above & subsets)
        found |= own or {""}
    return found


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", name.casefold()))


def _share_in(name: str, told: str) -> float:
    """Return the share of the name's words with which a word of `told` begins: "Qwen 8B" is all in "qwen3-8b"."""
    own, others = _words(name) - {""}, _words(told)
    return sum(any(other.startswith(word) for other in others) for word in own) / max(1, len(own))


def _why(column: Column, row: Row) -> str:
    """Return why a measured row lacks the column's figure."""
    if (title := column.category.partition(": ")[0]) in PARTS and title not in row.by_part:
        return "its questions are not sorted (--judge)"
    if column.metric in FAULTS:
        return "no labels of a wrong answer are sorted (`eval tables --run --judge`)"
    if column.category and column.category not in row.by_category:
        return "no such question in the run"
    if column.metric in ("judge", "judge_precision", "all_judge") and not row.judged:
        return "the run has no judge (--judge)"
    if column.metric in OVER_ALL:
        return "no question of the run is unanswerable"
    return f"the run has no {column.metric}"
