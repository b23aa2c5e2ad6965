"""The commands that reproduce the tables of a paper, derived from the rows of `published.yaml` and their settings.

`tables.yaml` beside it has the rest: tables without rows there, and the differences that remain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from goalmem_cli.json_records import rebuild
from goalmem_cli.lab.evaluation.metrics.agreement import FAULTS
from goalmem_cli.lab.evaluation.summaries.published import Line, Table, read_tables

FILE = Path(__file__).with_name("tables.yaml")
_STEPS = frozenset({"react", "remem", "remem-tiser", "graphrag-global"})
_PLANNED = ("planning", "max_breadth", "max_depth", "max_subgoals", "checks", "strict", "rules")
_ONLY = {
    **dict.fromkeys(_PLANNED, frozenset({"goal-mem"})),
    "max_steps": _STEPS,
    "profile": frozenset[str](),
}  # fmt: skip
"""The reasoners that a setting concerns; the others are the same with any value."""
_FLAGS = {
    "scope": "--scope", "budget": "-k", "fact_tokens": "--fact-tokens", "planning": "--planning",
    "max_breadth": "--max-breadth", "max_depth": "--max-depth", "max_subgoals": "--max-subgoals",
    "max_steps": "--max-steps", "certainty": "--certainty", "categories": "--categories",
}  # fmt: skip
_OFF = {"sift": "--no-sift", "lean": "--no-lean", "strict": "--no-strict"}

Pair = tuple[str, str]
"""Backbone and reasoner."""


@dataclass(frozen=True, slots=True)
class Command:
    """A `goalmem eval` that measures rows of a table: every reasoner over every backbone, with these settings.

    The names of the settings are those of a manifest; `hipporag.tokens` is a backbone's own.
    """

    benchmark: str
    backbones: tuple[str, ...]
    reasoners: tuple[str, ...]
    settings: Mapping[str, str]

    @property
    def flags(self) -> list[str]:
        """The settings as flags."""
        told = [(flag, self.settings.get(name, "")) for name, flag in _FLAGS.items()]
        words = [word for each in told if each[1] for word in each]
        return [*words, *(flag for name, flag in _OFF.items() if self.settings.get(name) == "off")]

    def own(self, owners: Sequence[str]) -> dict[str, dict[str, object]]:
        """Return the owners' own settings, as the settings `backbones` and `reasoners` take them."""
        found: dict[str, dict[str, object]] = {}
        for name, value in self.settings.items():
            owner, _, key = name.rpartition(".")
            if owner in owners:
                found.setdefault(owner, {})[key] = yaml.safe_load(value)
        return found

    def words(self, file: str) -> list[str]:
        """Return the command's words after `goalmem`, without own settings of backbones and reasoners."""
        named = ["--backbone", ",".join(self.backbones), "--reasoner", ",".join(self.reasoners)]
        return ["eval", file, *named, *self.flags]


@dataclass(frozen=True, slots=True)
class Told:
    """What holds for all tables of a paper: the hours and tokens needed, and the other differences."""

    hours: str
    tokens: str
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A table in `tables.yaml`; `besides` are the columns that no row has, each with the reason."""

    paper: str
    table: int
    what: str
    differs: tuple[str, ...] = ()
    missing: str = ""
    commands: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a paper: the charts on a report's page that show it, and the tables whose runs it needs."""

    paper: str
    figure: int
    what: str
    missing: str = ""
    charts: tuple[str, ...] = ()
    tables: tuple[int, ...] = ()
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A table, the commands that measure its rows, the paper's models, and the rows that goalmem lacks.

    `is_sorted`: its columns need questions that a model has sorted, `has_faults`: labels whose faults it has sorted.
    """

    listed: Listed
    told: Told
    commands: tuple[Command, ...]
    models: tuple[str, ...]
    questions: tuple[str, ...]
    lacking: tuple[str, ...]
    is_sorted: bool = False
    has_faults: bool = False


@dataclass(frozen=True, slots=True)
class Papers:
    """All of `tables.yaml`; `data` are the usual names of the benchmarks' files."""

    data: Mapping[str, str]
    papers: Mapping[str, Told]
    tables: tuple[Listed, ...]
    figures: tuple[Figure, ...] = ()


def listed() -> Papers:
    """Return the content of `tables.yaml`."""
    papers: Papers = rebuild(Papers, yaml.safe_load(FILE.read_text(encoding="utf-8")))
    return papers


def reproduced(paper: str, number: int | None = None) -> list[Reproduced]:
    """Return the tables of a paper, or one of them; none if it has no such table."""
    papers = listed()
    _, published = read_tables()
    found = []
    for each in papers.tables:
        if each.paper == paper and number in (None, each.table):
            own = [one for one in published if (one.paper, one.table) == (each.paper, each.table)]
            told = papers.papers[paper]
            rows = [(one, line) for one in own for line in one.rows]
            models = dict.fromkeys(line.model or one.model for one, line in rows)
            questions = dict.fromkeys(f"{one.benchmark}: {one.questions}" for one in own)
            lacking = dict.fromkeys(
                f"{line.name} (the paper ran its own package)" if line.backbone else line.name
                for _, line in rows
                if not (line.backbone and line.reasoner)
            )
            made = tuple(_commands(rows))
            is_sorted = any(column.category.startswith("temporal ") for one in own for column in one.columns)
            faults = any(column.metric in FAULTS for one in own for column in one.columns)
            found.append(
                Reproduced(each, told, made, tuple(models), tuple(questions), tuple(lacking), is_sorted, faults)
            )
    return found


@dataclass(slots=True)
class _Group:
    """Rows that can be measured with the same settings."""

    settings: dict[str, str]
    pairs: list[Pair] = field(default_factory=list)

    def suits(self, pair: Pair, needed: Mapping[str, str]) -> bool:
        """Say whether the row can join the group: settings that they do not share concern neither's measurements."""
        for name in {*needed, *self.settings}:
            here, there = self.settings.get(name), needed.get(name)
            concerned = self.pairs if here is None else [pair]
            if here != there and (None not in (here, there) or any(_concerns(name, each) for each in concerned)):
                return False
        return True


def _concerns(name: str, pair: Pair) -> bool:
    owner = name.rpartition(".")[0]
    return owner in pair if owner else name not in _ONLY or pair[1] in _ONLY[name]


def _commands(rows: Sequence[tuple[Table, Line]]) -> Iterator[Command]:
    """Yield commands that together measure each row with exactly the settings that it needs, and no other pairs."""
    groups: dict[str, list[_Group]] = {}
    for table, line in rows:
        if not (line.backbone and line.reasoner):
            continue
        pair, needed = (line.backbone, line.reasoner), table.needed(line)
        own = groups.setdefault(table.benchmark, [])
        group = next((each for each in own if each.suits(pair, needed)), None)
        if group is None:
            own.append(group := _Group({}))
        group.settings |= needed
        group.pairs += [pair] if pair not in group.pairs else []
    for benchmark, own in groups.items():
        for group in own:
            for backbones, reasoners in _products(group.pairs):
                yield Command(benchmark, backbones, reasoners, group.settings)


def _products(pairs: Sequence[Pair]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield (backbones, reasoners) whose products cover exactly the pairs."""
    over: dict[str, list[str]] = {}
    for backbone, reasoner in pairs:
        over.setdefault(reasoner, []).append(backbone)
    of: dict[tuple[str, ...], list[str]] = {}
    for reasoner, backbones in over.items():
        of.setdefault(tuple(backbones), []).append(reasoner)
    yield from ((same, tuple(reasoners)) for same, reasoners in of.items())
