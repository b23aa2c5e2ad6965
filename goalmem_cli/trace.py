"""The record of one question, as frozen data; rendering, `--json` and `goalmem trace` read only this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from goalmem_cli.json_records import plain, rebuild
from goalmem_cli.logic.computing.records import Calculation
from goalmem_cli.logic.support import Support
from goalmem_cli.records import Usage
from goalmem_cli.stages import Exchange, Stage

SCHEMA_VERSION = 9
"""The version of the trace document. Older versions can be read.

2 added the prover `together`; 3 stages and exchanges; 4 repairs, and renamed the certainty of a grounding; 5 the period
asked about and who forwarded a fact; 6 later statements and who quotes a fact; 7 the rank of a fact and what was too
long to show; 8 what a plan answers, and the rule that was tried; 9 values in conflict.
"""
READABLE = tuple(range(1, SCHEMA_VERSION + 1))


class Status(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    UNKNOWN = "unknown"
    FAILED = "failed"


class Ending(StrEnum):
    """Why an attempt ended."""

    GROUNDED = "every subgoal is settled"
    NOTHING_NEW = "retrieval brought nothing new"
    REFINEMENT_STOPPED = "no further refinement"
    BUDGET_SPENT = "the budget of facts is spent"
    MAX_DEPTH = "the maximum depth is reached"
    DENIED = "the facts say otherwise, or say it of something else"
    DECLINED = "there is nothing more to look for"
    UNUSABLE_REPLY = "the model's replies were unusable"


class Stop(StrEnum):
    """Why a reasoner that works forward from the question stopped looking for facts."""

    ONE_ROUND = "it retrieves once"
    SUFFICIENT = "the facts were judged sufficient"
    NO_QUERY = "no further query was proposed"
    NOTHING_NEW = "retrieval brought nothing new"
    BUDGET_SPENT = "the budget has no room for what retrieval found"
    LIMIT = "the limit of rounds is reached"
    FINISHED = "the model gave its answer"
    UNUSABLE_REPLY = "the model's reply was unusable"


@dataclass(frozen=True, slots=True)
class Fact:
    """A hit as the model saw it. `number` is ``F1``, ``F2`` ... and stays the same for the whole question.

    - `turns`: the labels of its turns.
    - `kind`, `session`, `ordinal`, `part`: the unit's kind and its place in the conversation.
    - `before`, `after`: the neighbouring turns as (speaker, text).
    - `times`: the meanings of relative times in the text: ``"last Friday" = 19 May 2023``.
    - `to`: the addressee in a two-person chat.
    - `speaker`: for a forward or quote, its author; `forwarded_by` or `quoted_by` is then the sender.
    - `rank`: its rank among the question's facts, from 1; 0 in older traces. With full prompts, `number` is the order
      in time.

    Models do not see these:
    - `instead`: what it replaced, with the day until which that held.
    - `moved_on`: a later turn that replaces what it says; it has a number only if it is a fact too.
    - `change`: its words that report a change.
    """

    number: str
    unit: str
    turns: tuple[str, ...]
    conversation: str
    speaker: str
    said: datetime | None
    text: str
    before: tuple[tuple[str, str], ...] = ()
    after: tuple[tuple[str, str], ...] = ()
    times: tuple[str, ...] = ()
    kind: str = "turn"
    session: int = 0
    ordinal: int = 0
    part: int = 0
    to: str = ""
    instead: tuple[str, ...] = ()
    forwarded_by: str = ""
    moved_on: Fact | None = None
    change: str = ""
    quoted_by: str = ""
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Grounded:
    """A grounded subgoal: the facts that entail it, its bindings, and how each is supported.

    `notes` are remarks of the checks: a bridged anchor, an alias, a judged equality, an earlier value that this one
    replaces. `grounding_certainty` (0 to 1) is the engine's estimate that it holds; None if the model gives no
    probabilities.
    """

    subgoal: int
    facts: tuple[str, ...]
    bindings: Mapping[str, tuple[str, ...]]
    support: Mapping[str, Support]
    notes: tuple[str, ...] = ()
    grounding_certainty: float | None = None

    RENAMED: ClassVar[Mapping[str, str]] = {"certainty": "grounding_certainty"}


@dataclass(frozen=True, slots=True)
class Rejected:
    """A grounding that the model proposed and the engine refused."""

    subgoal: int
    facts: tuple[str, ...]
    why: str
    bindings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contradicted:
    """A subgoal of a yes/no question that the cited facts contradict, with its certainty as in `Grounded`."""

    subgoal: int
    facts: tuple[str, ...]
    grounding_certainty: float | None = None

    RENAMED: ClassVar[Mapping[str, str]] = Grounded.RENAMED


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A subgoal without an accepted grounding, the reason, and the facts that its query ranked highest."""

    subgoal: int
    why: str
    nearest: tuple[str, ...] = ()


class Verdict(StrEnum):
    """The model's verdict on what the facts say about a subgoal.

    Entailed: it is so. Contradicted: it is not so. Of another: it is said of something else. Suggested: it is likely.
    Incomplete: the facts are about it but leave out what is asked for. Minor: the value is part of another one, or
    almost what is asked for.
    """

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    OF_ANOTHER = "of_another"
    INCOMPLETE = "incomplete"
    SUGGESTED = "suggested"
    MINOR = "minor"


@dataclass(frozen=True, slots=True)
class Denied:
    """A subgoal that the cited facts are about but do not prove: they contradict it, or say it of something else.

    `why` says it in words and names the facts. `is_final` is set when nothing more was found, or the model said it
    twice.
    """

    subgoal: int
    facts: tuple[str, ...]
    verdict: Verdict
    why: str
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A subgoal that the model wants to search further, with its reason and its queries."""

    subgoal: int
    why: str
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """The final check of an answer against the original question: why it ran, whether it agreed, and if not why.

    `problem` says why the check's reply was unusable; the answer is then withheld too.
    """

    reasons: tuple[str, ...]
    is_same: bool
    differs: str = ""
    problem: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Refined:
    """An antecedent: `subgoal` must be grounded before subgoal number `of` can be recognised."""

    of: int
    subgoal: str
    query: str
    relation: str


@dataclass(frozen=True, slots=True)
class Step:
    """One round: what was searched, what the model proposed from the facts in view, and the engine's decisions.

    Subgoals are numbered from 0: first the plan's, then the antecedents in the order of addition. `skipped` counts hits
    that were too long to show. `failure` says which reply was unusable, if any. `refined` are the antecedents added for
    unresolved subgoals.

    Only the prover `together` sets these: `opened` (what it wants to search further), `denied` (what the facts speak
    against), `several` (variables with several values at once), `provisional` (bindings from antecedents only),
    `dropped` (antecedents not proved in the round after they were added) and `repairs` (corrections before the reply
    could be read).
    """

    depth: int
    queries: tuple[str, ...] = ()
    new_facts: tuple[str, ...] = ()
    skipped: int = 0
    refined: tuple[Refined, ...] = ()
    grounded: tuple[Grounded, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    contradicted: tuple[Contradicted, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    failure: str | None = None
    usage: Usage = field(default_factory=Usage)
    opened: tuple[Opened, ...] = ()
    denied: tuple[Denied, ...] = ()
    several: tuple[str, ...] = ()
    provisional: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped: tuple[int, ...] = ()
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One plan and its rounds.

    `breadth` counts plans from 1. It is 0 if the question was read as a whole, as its own only subgoal; `planned` are
    then the subgoals that it was read for. A step without calls retrieved nothing new. `answers` are the variables, or
    the expressions over them, that answer the question; `is_current` says that it asks how things are now.
    """

    breadth: int
    goal: str
    subgoals: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    ending: Ending | None = None
    failure: str | None = None
    planned: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    is_current: bool = False

    @property
    def plan(self) -> tuple[str, ...]:
        """The subgoals of the decomposition, whether they were proved or the question was read at once."""
        return self.planned or self.subgoals


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a reasoner without subgoals: a retrieval, or a model's reply to the step `name`.

    - `said`: the reply, or the memory's counts, field by field.
    - `skipped`: the hits that were too long or beyond the budget; `too_long` counts the former (None in older traces).
    - `failure`: why a reply was unusable.
    - `likelihood`: the geometric mean of the reply's token probabilities, or None.
    """

    name: str
    said: tuple[tuple[str, str], ...] = ()
    queries: tuple[str, ...] = ()
    new_facts: tuple[str, ...] = ()
    skipped: int = 0
    failure: str | None = None
    usage: Usage = field(default_factory=Usage)
    likelihood: float | None = None
    too_long: int | None = None


@dataclass(frozen=True, slots=True)
class Guess:
    """An answer that was withheld as too uncertain: its text, its certainty (0 to 1), and its facts by number."""

    answer: str
    certainty: float
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a conflict: a value that was proposed for a subgoal, and the facts that give it, by number."""

    value: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TriedRule:
    """A rule that the question began with; `tried` and `settled` count the questions before this one.

    `is_settled`: the attempts of the trace are by it; else the question was planned anew. `usage` is what it cost.
    """

    name: str
    text: str
    tried: int
    settled: int
    is_settled: bool
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Trace:
    """The record of one question.

    - `evidence`: the facts of the answer, by number. `calculations`: how it was computed, if it was.
    - `model`, `adapter`: the model's name, and the SHA-256 of its LoRA adapter or "".
    - `attempts`: those of `goal-mem`, by the prover in `planning`: ``together``, ``stepwise`` or ``paper``; ``seen`` or
      ``blind`` in older traces, "" in version 1.
    - `actions`, `stopped`: those of other reasoners, and why they ended.
    - `check`: the final check of the answer, if it ran.
    - `may_be_more`: a list is certainly incomplete.
    - `certainty`: the share (0 to 1) of such answers that are right; None if unknown.
    - `guess`: an answer that was withheld.
    - `conflict`: why there is no answer: facts give different values, and nothing tells which holds.
    - `is_unchecked`: the engine's checks were off, so bindings are only the model's claims.
    - `since`, `until`: the period asked about, if limited; nothing outside was searched.
    - `rule`: the rule that was tried first, if any.
    - `stages`, `exchanges`: the time per stage, and prompts with replies if kept. They do not affect equality.
    """

    status: Status
    reasoner: str
    question: str
    asked: datetime
    answer: str | None = None
    goal: str | None = None
    substitution: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    actions: tuple[Action, ...] = ()
    stopped: Stop | None = None
    failure: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    asker: str | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    adapter: str = ""
    planning: str = ""
    check: Checked | None = None
    may_be_more: bool = False
    certainty: float | None = None
    calculations: tuple[Calculation, ...] = ()
    is_unchecked: bool = False
    guess: Guess | None = None
    since: datetime | None = None
    until: datetime | None = None
    rule: TriedRule | None = None
    conflict: tuple[Side, ...] = ()
    stages: tuple[Stage, ...] = field(default=(), compare=False)
    exchanges: tuple[Exchange, ...] = field(default=(), compare=False)


def as_document(trace: Trace) -> dict[str, object]:
    """Return the trace as the JSON document of `ask --json` and the folder `traces/`."""
    return {"schema_version": SCHEMA_VERSION, **plain(trace)}


def from_document(document: Mapping[str, object]) -> Trace:
    """Return the trace of an `as_document` document.

    Raises:
        ValueError: the document is not a trace, or is from a newer goalmem.
    """
    version = document.get("schema_version")
    if isinstance(version, bool) or version not in READABLE:
        raise ValueError(f"schema_version is {version!r}, this goalmem reads {' and '.join(map(str, READABLE))}")
    try:
        trace = rebuild(Trace, {key: value for key, value in document.items() if key != "schema_version"})
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a trace: {error}") from error
    if not isinstance(trace, Trace):
        raise ValueError("not a trace")
    return trace
