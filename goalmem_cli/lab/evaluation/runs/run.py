"""A run as it lies on disk: what was measured on what, and every stage's results, a JSON line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.records import Usage
from goalmem_cli.trace import Trace

AT_ONCE = "parallel"
"""The setting that a manifest has where several questions were under way at a time."""
CERTAINTY = "certainty"
"""The setting of the least certainty: of an answer, and in older runs of a step."""
FACT_TOKENS = "fact_tokens"
"""The setting of how many tokens of facts are shown at a time."""
NO_REASONER = "retrieval"
"""What stands for the reasoner in the rows of a run that only retrieves."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a run measures. Two runs with the same manifest are one run, and may go on from one another.

    `sources` are the files as they were named; `digest` is the dataset's hash. `settings` are the rest that decides
    results: the model's hash, embedder, budgets, limits, seed, scope, kinds of query; `prompts` are the hashes of the
    steps' prompts. `shard` is (i, n) from 1; the cases of all shards of a run have places in one order.
    """

    dataset: str
    format: str
    digest: str
    sources: tuple[str, ...]
    reasoners: tuple[str, ...]
    backbones: tuple[str, ...]
    model: str
    categories: Mapping[str, str]
    repairs: Mapping[str, int]
    settings: Mapping[str, str]
    prompts: Mapping[str, str]
    version: str
    shard: tuple[int, int] = (1, 1)

    @property
    def at_once(self) -> int:
        """How many questions were under way at a time; the seconds of each then include its waiting for the others."""
        number = self.settings.get(AT_ONCE, "")
        return int(number) if number.isdecimal() else 1


@dataclass(frozen=True, slots=True)
class Placed:
    """A case of the run, with its place among the cases of all shards."""

    place: int
    case: Case


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one backbone retrieved for one case: labels of turns, best unit first.

    Turns of other conversations in scope have their conversation's name before the label, with a blank between.
    `queries` are what it was asked with, `kind` which kind of queries those are.
    """

    case: str
    backbone: str
    kind: str
    queries: tuple[str, ...]
    units: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """How one reasoner over one backbone answered one case."""

    case: str
    reasoner: str
    backbone: str
    trace: Trace


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said of one answer in one pass (from 1): right, wrong, or None where its reply was unreadable.

    `prompt` is the judge's prompt (``standard``, ``strict``), `judge` the name of its model, `weights` the model's
    digest and `rules` the hash of the prompt's text; both are blank where nothing was asked. `score` is the mean mark
    of the answer's nuggets, or the mark of their order, 0 to 1, where a dataset has such. `usage` is what asking took,
    with the second try where there was one; its seconds are not told, since many answers share a call.
    """

    case: str
    reasoner: str
    backbone: str
    judge: str
    prompt: str
    number: int
    is_right: bool | None
    reply: str = ""
    weights: str = ""
    rules: str = ""
    usage: Usage = field(default_factory=Usage)
    score: float | None = None

    @property
    def mark(self) -> float | None:
        """What it counts for, from 0 (wrong) to 1 (right); None where the reply was unreadable."""
        if self.is_right is None:
            return None
        return float(self.is_right) if self.score is None else self.score


@dataclass(frozen=True, slots=True)
class Built:
    """What deriving from one part of a conversation took, where a backbone was indexed for the run."""

    backbone: str
    conversation: str
    part: str
    turns: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Run:
    """A run, read whole. `absent` are the pairs of reasoner and backbone that are not measured.

    `variants` say of which reasoner or backbone one is a variant, and what its part of a matrix was told.
    """

    manifest: Manifest
    cases: tuple[Placed, ...]
    retrieved: tuple[Retrieved, ...] = ()
    answered: tuple[Answered, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    built: tuple[Built, ...] = ()
    absent: frozenset[tuple[str, str]] = frozenset()
    variants: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)
    unfinished: Mapping[str, int] = field(default_factory=dict)
