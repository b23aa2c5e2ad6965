"""A run as stored on disk: its manifest, and the results of every stage, one JSON line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.records import Counts, Usage
from goalmem_cli.trace import Trace

AT_ONCE = "parallel"
"""The manifest setting for the number of questions processed at a time."""
CERTAINTY = "certainty"
"""The setting of the least certainty of an answer; in older runs, of a step."""
FACT_TOKENS = "fact_tokens"
"""The setting of how many tokens of facts are shown at a time."""
NO_REASONER = "retrieval"
"""The name in place of a reasoner for a run that only retrieves."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a run measures. Runs with equal manifests are the same run, and can continue each other.

    - `sources`: the files as named. `digest`: the dataset's hash.
    - `settings`: everything else that affects results: the model's hash, embedder, budgets, limits, seed, scope, kinds
      of query.
    - `prompts`: the hashes of the steps' prompts.
    - `shard`: (i, n), from 1. The cases of all shards share one order.
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
        """The number of questions processed at a time; a question's seconds include waiting for the others."""
        number = self.settings.get(AT_ONCE, "")
        return int(number) if number.isdecimal() else 1


@dataclass(frozen=True, slots=True)
class Placed:
    """A case of the run with its position among the cases of all shards."""

    place: int
    case: Case


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one backbone retrieved for one case: labels of turns, best unit first.

    Turns of other conversations have their conversation's name and a blank before the label. `queries` are the queries
    used, `kind` is their kind. `chosen` are the labels that the backbone chose for the question, if it has labels, and
    `labels` says how they agree with those of the evidence (`metrics.label_agreement`).
    """

    case: str
    backbone: str
    kind: str
    queries: tuple[str, ...]
    units: tuple[tuple[str, ...], ...]
    chosen: tuple[str, ...] = ()
    labels: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of one reasoner over one backbone to one case.

    `shown` and `written` are the tokens of its model calls by step: those of the prompts beside their fixed text, and
    those of the replies; `last_tokens` are both of the last call. Older runs have None. `memory_tokens` are those of
    the backbone's own calls while it searches.
    """

    case: str
    reasoner: str
    backbone: str
    trace: Trace
    shown: Mapping[str, int] | None = None
    written: Mapping[str, int] = field(default_factory=dict)
    memory_tokens: int = 0
    last_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's verdict on one answer in one pass (from 1): right, wrong, or None if its reply was unreadable.

    - `judge`, `prompt`: the names of its model and of its prompt (``standard``, ``strict``).
    - `weights`, `rules`: the hashes of model and prompt text; "" if nothing was asked.
    - `score`: the mean mark (0 to 1) of the answer's nuggets, or the mark of their order, for datasets with nuggets;
      the F1 of its items if a judge counts the right ones, and then `precision` is their share.
    - `usage`: the cost including a retry. It has no seconds, because many answers share a call.
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
    precision: float | None = None

    @property
    def mark(self) -> float | None:
        """The mark from 0 (wrong) to 1 (right), or None if the reply was unreadable."""
        if self.is_right is None:
            return None
        return float(self.is_right) if self.score is None else self.score


@dataclass(frozen=True, slots=True)
class Built:
    """The cost of deriving from one part of a conversation when a backbone was indexed for the run."""

    backbone: str
    conversation: str
    part: str
    turns: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Grown:
    """The size of a backbone after it was indexed for the run: the number of graphs (one per scope), and total counts.

    `peak` is the most memory, in bytes, that the process had until then, including a model in it; 0 if unknown.
    """

    backbone: str
    graphs: int
    counts: Counts
    peak: int = 0


@dataclass(frozen=True, slots=True)
class Sorted:
    """The temporal category that a model gave to a question."""

    case: str
    kind: str


@dataclass(frozen=True, slots=True)
class Faulted:
    """The faults that a model finds in the labels of a kind that a backbone chose for a wrongly answered question."""

    case: str
    backbone: str
    kind: str
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """A complete run in memory. `absent` are the (reasoner, backbone) pairs that are not measured.

    `variants` give, for each variant, its original and the settings of its part of a matrix.
    """

    manifest: Manifest
    cases: tuple[Placed, ...]
    retrieved: tuple[Retrieved, ...] = ()
    answered: tuple[Answered, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    built: tuple[Built, ...] = ()
    absent: frozenset[tuple[str, str]] = frozenset()
    variants: Mapping[str, tuple[str, Mapping[str, str]]] = field(default_factory=dict)
    grown: tuple[Grown, ...] = ()
    faulted: tuple[Faulted, ...] = ()
