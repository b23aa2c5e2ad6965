"""Figures that papers report, from `published.yaml`, for comparison with runs; goalmem measured none of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from goalmem_cli.errors import InputError
from goalmem_cli.json_records import rebuild
from goalmem_cli.lab.evaluation.datasets.loading import LAYOUTS
from goalmem_cli.lab.evaluation.metrics.agreement import DIAGNOSTICS, FAULTS
from goalmem_cli.lab.evaluation.summaries.scores import OVER_ALL

FILE = Path(__file__).with_name("published.yaml")

QUALITY = ("f1", "token_f1", "bleu1", "judge", "judge_precision", "exact", "recall", *OVER_ALL)
REFUSAL = ("refusal_precision", "refusal_recall", "refusal_f1", "refusals")
COST = (
    "seconds",
    "tokens",
    "search_tokens",
    "prompt_tokens",
    "completion_tokens",
    "index_tokens",
    "index_prompt_tokens",
    "index_completion_tokens",
)
"""Cost metrics that papers report, per question."""

SIZES = (
    "questions", "messages", "context tokens", "graphs", "index seconds", "memory",
    *(f"{kind} nodes" for kind in ("phrase", "gist", "fact")),
    *(f"{kind} edges" for kind in ("relation", "context", "synonymy")),
    "input tokens", *(f"{kind} {what}" for what in ("tokens", "degree") for kind in ("phrase", "gist")),
)  # fmt: skip
"""Sizes of a run and of its backbone's graphs, each of a graph on average, and what indexing took in all."""

_AMOUNTS = frozenset({*COST, *SIZES, "refusals"})
_UNITS: Mapping[str, float] = {
    **dict.fromkeys(("share", "question", "second", "token", "count"), 1),
    "percent": 0.01, "thousand": 1e3, "million": 1e6, "gigabyte": 1e9,
}  # fmt: skip
_USUAL = {"checks": "on", "sift": "on", "lean": "on", "rules": "off", "max_subgoals": "4", "profile": "full"}
"""What a run is told if its manifest does not say."""
_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its short name and its source."""

    title: str
    source: str


@dataclass(frozen=True, slots=True)
class Column:
    """What a table's column holds: a metric, limited to a category or to a part of the benchmark if given.

    `unit` is the unit of the figures. Totals are `over` that many questions. `missing` says why goalmem never has it.
    """

    metric: str
    unit: str
    category: str = ""
    subset: str = ""
    over: int = 1
    missing: str = ""

    def share(self, figure: float) -> float:
        """Return a printed figure as a share or an amount per question."""
        return round(figure * _UNITS[self.unit] / self.over, 6)


@dataclass(frozen=True, slots=True)
class Line:
    """A method's figures as printed; None is an empty cell.

    `row` is the printed row name if it is not `name`. `backbone` and `reasoner` are goalmem's names, or None if it has
    no counterpart. `model` is given if it differs from the table's. `settings` are additional to the table's.
    """

    name: str
    figures: tuple[float | None, ...]
    row: str = ""
    backbone: str | None = None
    reasoner: str | None = None
    model: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """A table, or the part of it for one benchmark and one model. `benchmark` is a dataset format.

    `settings` are the settings of the paper's runs by reasoner, in the form of a manifest; they decide which of
    goalmem's runs a row may be compared with. `categories` are the codes of the questions' categories, with commas; ""
    stands for all.
    """

    paper: str
    table: int
    benchmark: str
    questions: str
    model: str
    columns: tuple[Column, ...]
    rows: tuple[Line, ...]
    note: str = ""
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    categories: str = ""

    def needed(self, line: Line) -> dict[str, str]:
        """Return the settings that a run must have to be compared with the row.

        Own settings are only those of its backbone and reasoner. The papers' recipes need the full prompts.
        """
        told = {**self.settings.get(line.reasoner or "", {}), **line.settings}
        told |= {"profile": "full"} if (line.backbone or "").startswith("paper:") else {}
        owners = ("", line.backbone, line.reasoner)
        needed = {name: str(value) for name, value in told.items() if name.rpartition(".")[0] in owners}
        return needed | {"categories": self.categories}


@dataclass(frozen=True, slots=True)
class Reported:
    """One figure of a paper. `value` is a share from 0 to 1, an amount per question (for `COST`), or a count.

    `settings` are those that a comparable run must have.
    """

    paper: str
    table: int
    benchmark: str
    questions: str
    model: str
    method: str
    backbone: str | None
    reasoner: str | None
    metric: str
    value: float
    category: str = ""
    subset: str = ""
    note: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The paper and its table: ``GOAL-MEM, Table 1``."""
        return f"{self.paper}, Table {self.table}"

    def differing(self, told: Mapping[str, str]) -> tuple[str, ...]:
        """Return the differences between a run's settings and those that the figure needs, with both values."""
        return unlike(self.settings, (self.backbone, self.reasoner), told)


def unlike(needed: Mapping[str, str], pair: Sequence[str | None], told: Mapping[str, str]) -> tuple[str, ...]:
    """Return the differences between a run's settings and those that a row needs, with both values.

    Own settings of the row's backbone and reasoner that the run has and the row does not name count as differences too.
    """
    is_small = told.get("profile") == "compact"
    is_strict = told.get("strict") == "True" or (is_small and told.get("strict") != "False")
    here = {**_USUAL, **told, **({"sift": "off", "lean": "off"} if is_small else {})}  # its prompts have neither
    here |= {"certainty": told.get("certainty", "0").partition(" ")[0], "strict": "on" if is_strict else "off"}
    here["categories"] = ",".join(sorted(filter(None, told.get("categories", "").split(","))))
    if steps := here.pop(f"{pair[1]}.max_steps", ""):
        here["max_steps"] = steps
    own = [name for name in here if "." in name and name.rpartition(".")[0] in pair]
    return tuple(
        f"{name} is {_said(name, here.get(name))} here and {_said(name, needed.get(name))} there"
        for name in dict.fromkeys((*needed, *own))
        if here.get(name) != needed.get(name)
    )


def _said(name: str, value: str | None) -> str:
    return "all" if name == "categories" and not value else "as usual" if value is None else value


def load(path: Path = FILE) -> tuple[Reported, ...]:
    """Return the figures of a file, in order.

    Raises:
        InputError: the file cannot be read, or a table has another layout.
    """
    papers, tables = read_tables(path)
    found: dict[tuple[object, ...], Reported] = {}
    for number, table in enumerate(tables, 1):
        for one in _figures(table, papers[table.paper]):
            key = (one.source, one.benchmark, one.model, one.method, one.metric, one.category, one.subset)
            if key in found:
                raise InputError(path, f"tables[{number - 1}]", f"{one.method} has two figures of {one.metric}")
            found[key] = one
    return tuple(found.values())


def read_tables(path: Path = FILE) -> tuple[Mapping[str, Paper], tuple[Table, ...]]:
    """Return the papers of a file by key, and its tables.

    Raises:
        InputError: the file cannot be read, or a table has another layout; the place is the table.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _YAML)  # noqa: S506 - a safe loader
        papers = rebuild(Mapping[str, Paper], content["papers"])
        listed = list(content["tables"])
    except (OSError, ValueError, yaml.YAMLError, TypeError, KeyError, AttributeError) as error:
        raise InputError(path, "", f"no list of published figures: {error}") from error
    tables = []
    for place, each in enumerate(listed):
        try:
            table = rebuild(Table, each)
            _check(table, papers)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(path, f"tables[{place}]", str(error)) from error
        tables.append(table)
    return papers, tuple(tables)


def _check(table: Table, papers: Mapping[str, Paper]) -> None:
    """Raise an error for an invalid table.

    Raises:
        ValueError: it names something that does not exist, or its cells do not fit its columns.
    """
    if table.paper not in papers:
        raise ValueError(f"no paper is called {table.paper!r}")
    if table.benchmark not in LAYOUTS:
        raise ValueError(f"no benchmark is called {table.benchmark!r}")
    for column in table.columns:
        if column.metric not in (*QUALITY, *REFUSAL, *COST, *SIZES, *DIAGNOSTICS, *FAULTS):
            raise ValueError(f"no metric is called {column.metric!r}")
        if column.unit not in _UNITS or column.over < 1:
            raise ValueError(f"{column.metric} is given in {column.unit!r} over {column.over}")
    for line in table.rows:
        if len(line.figures) != len(table.columns):
            raise ValueError(f"{line.name} has {len(line.figures)} figures for {len(table.columns)} columns")
        for column, figure in zip(table.columns, line.figures, strict=True):
            most = float("inf") if column.metric in _AMOUNTS else 1.0
            if figure is not None and not 0 <= figure * _UNITS[column.unit] <= most:
                raise ValueError(f"{line.name} has {figure} {column.unit} of {column.metric}")


def _figures(table: Table, paper: Paper) -> Iterator[Reported]:
    """Yield the figures of a table; empty cells are left out."""
    for line in table.rows:
        for column, figure in zip(table.columns, line.figures, strict=True):
            if figure is not None:
                yield Reported(
                    paper.title, table.table, table.benchmark, table.questions, line.model or table.model,
                    line.name, line.backbone, line.reasoner, column.metric,
                    column.share(figure), column.category, column.subset, table.note,
                    table.needed(line),
                )  # fmt: skip
