"""What one question did, as frozen data: rendering, `--json` and `goalmem trace` all read this and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from goalmem_cli.json_records import plain, rebuild
from goalmem_cli.logic.support import Support
from goalmem_cli.records import Usage
from goalmem_cli.stages import Exchange, Stage

SCHEMA_VERSION = 7
"""Version 2 added what the prover `together` does, version 3 stages and exchanges, version 4 repairs, and a name
of its own for how certain a grounding is, version 5 the stretch of time and who forwarded a fact, version 6 what was
said later and who quotes a fact, version 7 the rank of a fact and what was too long to be shown; the older ones are
read too.
"""
READABLE = (1, 2, 3, 4, 5, 6, SCHEMA_VERSION)


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
    """Why a reasoner that goes forward from the question stopped looking for facts."""

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

    `turns` are the transcript's own ids where it has them. `before` and `after` are the neighbouring turns as
    (speaker, text). `times` say what the text's relative expressions mean: ``"last Friday" = 19 May 2023``. `kind` is
    the unit's; `session`, `ordinal` and `part` are its place in the conversation; `to` is whom it was said to, where
    two talk. Of what somebody only passed on, `speaker` is who wrote it and `forwarded_by` or `quoted_by` who sent it.
    `instead` lists what it took the place of, with the day until which that held; a model is not shown it, nor
    `moved_on`, a later turn that moves on from what it says, which has a number only where it is a fact too, and
    `change`, the words by which it tells itself of something that has changed. `rank` is its place among the facts of
    the question as they were found, best first, from 1: with full prompts its number is its place in time. Older traces
    have 0.
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
    """A subgoal, the facts that entail it, the bindings they gave and how each is supported.

    `notes` are what the checks have to say without refusing: a bridged anchor, an alias, a judged equality, an
    earlier value that this one supersedes. `grounding_certainty`, from 0 to 1, is how likely the engine thinks
    that it holds; None where the model tells no probabilities.
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
    """A subgoal of a closed question that the cited facts say is false, with how certain that is, as of `Grounded`."""

    subgoal: int
    facts: tuple[str, ...]
    grounding_certainty: float | None = None

    RENAMED: ClassVar[Mapping[str, str]] = Grounded.RENAMED


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A subgoal without an accepted grounding, why, and the facts that its query ranked highest."""

    subgoal: int
    why: str
    nearest: tuple[str, ...] = ()


class Verdict(StrEnum):
    """What the facts say of a subgoal, in the model's word: it is so, it is not, of something else, or likely.

    An incomplete fact tells of it and leaves out what is asked for. A minor value is part of another one, or nearly but
    not quite what is asked for.
    """

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    OF_ANOTHER = "of_another"
    INCOMPLETE = "incomplete"
    SUGGESTED = "suggested"
    MINOR = "minor"


@dataclass(frozen=True, slots=True)
class Denied:
    """A subgoal that the cited facts do not prove though they speak of it: they contradict it, or tell it of another.

    `why` says it in words, and names the facts. It `is_final` once nothing more was found, or it was said twice.
    """

    subgoal: int
    facts: tuple[str, ...]
    verdict: Verdict
    why: str
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A subgoal that the model wants to look for further, why, and the queries that it thinks would find it."""

    subgoal: int
    why: str
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """The last check of an answer against the question as it was asked: why it ran, whether it agreed, and if not why.

    `problem` says why its reply could not be used; the answer is then held back as well.
    """

    reasons: tuple[str, ...]
    is_same: bool
    differs: str = ""
    problem: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Refined:
    """An antecedent: `subgoal` must be grounded before the subgoal numbered `of` can be recognised."""

    of: int
    subgoal: str
    query: str
    relation: str


@dataclass(frozen=True, slots=True)
class Step:
    """One round: what was looked for, what the model proposed over the facts in view, and what became of it.

    Subgoals are numbered from 0: first the plan's, then the antecedents, in the order they were added. `skipped` counts
    the hits that were too long to be shown; `failure` says which reply could not be used, if any. `refined` are the
    antecedents that were added for what is unresolved.

    Only a model that plans and proves in one reply (`together`) has: `opened`, what it wants to look for further,
    `denied`, what the facts speak against, `several`, the variables that it says have several values at once,
    `provisional`, what only antecedents have bound so far, `dropped`, the antecedents that were not proved in the round
    after they were asked for, and `repairs`, what had to be put right before its reply could be read.
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
    """One plan and its rounds. `breadth` counts the plans from 1; it is 0 where the question was read as a whole, as
    its own only subgoal, and then `planned` are the subgoals that it was read for.

    A step without calls asked nothing: memory was looked into, and nothing was new.
    """

    breadth: int
    goal: str
    subgoals: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    ending: Ending | None = None
    failure: str | None = None
    planned: tuple[str, ...] = ()

    @property
    def plan(self) -> tuple[str, ...]:
        """The subgoals of the decomposition, whether it was proved by them or read at once."""
        return self.planned or self.subgoals


@dataclass(frozen=True, slots=True)
class Part:
    """One of the values that an answer was computed from, and the facts that give it."""

    value: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Calculation:
    """An answer that no fact states and that was computed from what facts do: ``count(x)``, ``between(x, y)``.

    `how` is the calculation in words, `parts` what was counted, added or compared, `facts` all that it rests on. `why`
    says what the values do not settle; then there is no value.
    """

    expression: str
    values: tuple[str, ...] = ()
    how: str = ""
    facts: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    why: str = ""
    support: Support = Support.DERIVED


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a reasoner without subgoals did: it retrieved, or had the model reply to the step `name`.

    `said` is the reply, or what the memory counted, field by field; `skipped` counts the hits that were too long to be
    shown, or that the budget left no room for, and `too_long` the former alone (None in traces of before); `failure`
    says why a reply could not be used. `likelihood` is the (geometric) mean of the probabilities that the model gave
    the reply's tokens, None where it tells none.
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
    """An answer that was withheld, since it is not certain enough: its words, how certain it is (from 0 to 1), and the
    numbers of the facts that it rests on.
    """

    answer: str
    certainty: float
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything one question did. `evidence` are the facts that the answer rests on, by number.

    `calculations` are the answers that were computed, in their order, where any was.

    `model` is the name of the language model, `adapter` the SHA-256 of the LoRA adapter it had, blank for none.

    `attempts` are those of `goal-mem`, by the prover that `planning` names: ``together``, ``stepwise`` or ``paper``;
    older traces have ``seen`` or ``blind``, those of version 1 nothing. Every other reasoner leaves `actions`, and
    `stopped` for what ended them. `check` is the last check of an answer, where it ran; `may_be_more` says that a list
    is surely not complete. `certainty`, from 0 to 1, is which share of answers like this one is right, None where that
    is not known. `calculations` are those that the answer was computed by. `guess` is the answer that was withheld.
    `is_unchecked` says that the engine's checks were off, so that bindings are the model's word alone.
    `since` and `until` are the stretch of time that was asked about, where one was: nothing outside was looked at.
    `stages` say where the time went, and `exchanges` are the prompts with their replies, where they were kept; two
    traces that differ in nothing else are equal.
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
    stages: tuple[Stage, ...] = field(default=(), compare=False)
    exchanges: tuple[Exchange, ...] = field(default=(), compare=False)


def as_document(trace: Trace) -> dict[str, object]:
    """Return the trace as the JSON document that `ask --json` prints and `traces/` keeps."""
    document: dict[str, object] = {"schema_version": SCHEMA_VERSION}
    document.update(plain(trace))
    return document


def from_document(document: Mapping[str, object]) -> Trace:
    """Return the trace that `as_document` wrote.

    Raises:
        ValueError: the document is not a trace, or is one of a newer goalmem.
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
