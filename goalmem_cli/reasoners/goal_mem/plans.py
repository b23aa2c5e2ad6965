"""What passes between the engine and its model steps: frozen records, and the seam `Steps`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from goalmem_cli.logic import Atom, Substitution
from goalmem_cli.logic.computing.expressions import Call, Expression
from goalmem_cli.logic.normal import normalise
from goalmem_cli.reasoners.asking import Reply
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Question
from goalmem_cli.trace import Contradicted, Fact, Grounded, Rejected


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a question (GOAL-MEM section 5): breadth, depth, subgoals a decomposition, facts an attempt.

    With the compact prompts a goal is read at once from `read_tokens` of facts. Without `checks` the engine takes what
    a model proposes as it is.
    """

    max_breadth: int = 3
    max_depth: int = 5
    max_subgoals: int = 4
    budget: int = 60
    max_fact_tokens: int = 3000
    read_tokens: int = 900
    checks: bool = True

    def beyond(self, shown: Shown) -> Limits:
        """Return the limits of an attempt that goes on from what was shown, which does not count against them."""
        return replace(self, budget=self.budget + shown.units, max_fact_tokens=self.max_fact_tokens + shown.tokens)


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A rule for the goal. Without answer variables the question is closed: yes or no.

    `is_current` says that it asks how things stand now, `is_conclusion` that it asks what would or might be. `answers`
    are what the answer variables make, in order: each stands for itself, or something is computed from them.
    """

    goal: Atom
    subgoals: tuple[Atom, ...]
    answer_variables: tuple[str, ...]
    meanings: Mapping[str, str] = field(default_factory=dict)
    is_current: bool = False
    is_conclusion: bool = False
    answers: tuple[Expression, ...] = ()

    @property
    def is_computed(self) -> bool:
        """Say whether a part of the answer is computed."""
        return any(isinstance(answer, Call) for answer in self.answers)

    @property
    def key(self) -> frozenset[str]:
        """The set of normalised subgoals: two decompositions with the same key repeat one another."""
        return frozenset(normalise(subgoal.phrase) for subgoal in self.subgoals)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the model says of one subgoal: facts that entail it under the bindings, or that contradict it.

    `is_minor` says that a value is only part of another, or nearly but not quite what is asked for.

    Several with a `certainty` (0 to 1) are alternatives, of which the surest that passes the checks is taken; where
    they are put in order, a `preference` counts as so much more in the logarithm of the odds.
    """

    subgoal: int
    facts: tuple[str, ...]
    bindings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_contradiction: bool = False
    is_minor: bool = False
    certainty: float | None = None
    preference: float = 0.0


Pair = frozenset[str]
"""Two constants in normal form, in no order."""


def as_pair(left: str, right: str) -> Pair:
    """Return the two constants as a pair."""
    return frozenset((normalise(left), normalise(right)))


@dataclass(frozen=True, slots=True)
class Unification:
    """The model's proposals over all active subgoals, its reasons for the rest, and the pairs it holds equal.

    `held` are the subgoals and facts that were held against each other, where not all were. `wording` is the answer,
    where the reply gave it: of a closed question its verdict.
    """

    proposals: tuple[Proposal, ...] = ()
    unresolved: Mapping[int, str] = field(default_factory=dict)
    same: frozenset[Pair] = frozenset()
    held: tuple[tuple[int, str], ...] = ()
    wording: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """What the proposals are judged against.

    `question` is its text; `subgoals` are all of the attempt's, by number; `facts` those that were shown; `earlier`
    the groundings accepted before; `people` the speakers of the conversations in sight; `same` the pairs that a model
    judged equal. Where it `is_unchecked`, proposals are taken as they are, if they can be read at all.
    """

    question: str
    subgoals: Sequence[Atom]
    facts: Mapping[str, Fact]
    substitution: Substitution
    earlier: tuple[Grounded, ...]
    people: frozenset[str]
    same: frozenset[Pair] = frozenset()
    asker: str | None = None
    is_closed: bool = False
    is_current: bool = False
    is_strict: bool = False
    is_unchecked: bool = False

    @property
    def starred(self) -> frozenset[str]:
        """The variables that ask for all that hold: starred in any subgoal."""
        return frozenset(v.name for atom in self.subgoals for v in atom.variables if v.is_starred)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What was accepted and what was not; `undecided` are the pairs of constants that only a model could settle."""

    grounded: tuple[Grounded, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    contradicted: tuple[Contradicted, ...] = ()
    substitution: Substitution = field(default_factory=Substitution)
    undecided: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Antecedent:
    """A subgoal that the subgoal `of` requires, with the query that would find its fact."""

    of: int
    subgoal: Atom
    query: str
    relation: str


@dataclass(frozen=True, slots=True)
class Situation:
    """Where an attempt stands when a step is asked.

    `subgoals` are the active ones by number, the substitution applied; `undecided` are pairs of constants that the
    checks could not settle. `leads` are the facts that each active subgoal's queries led to, with how likely each is
    evidence for it (0 to 1), the likeliest first, without those that it was held against already as it reads now.
    `found` are those that the question's own words led to, where they were looked for, and `told` how likely the best
    turn of each speaker is evidence for the question, whomever that names.
    """

    question: Question
    plan: Decomposition
    shown: Shown
    subgoals: Mapping[int, Atom]
    substitution: Mapping[str, tuple[str, ...]]
    undecided: tuple[tuple[str, str], ...] = ()
    leads: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    found: Mapping[str, float] = field(default_factory=dict)
    told: Mapping[str, float] = field(default_factory=dict)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts shown, in the order shown."""
        return self.shown.facts


class ProvingSteps(Protocol):
    """What an attempt asks a model, each one call, retried once when the reply is unusable."""

    def queries(self, question: Question, plan: Decomposition) -> tuple[str, ...]:
        """Return what the first round looks for, without a call."""
        ...

    def unify(self, situation: Situation) -> Reply[Unification]:
        """Return which facts entail which active subgoals, under which bindings (GOAL-MEM 4.2)."""
        ...

    def refine(
        self, situation: Situation, unresolved: Mapping[int, str], tried: Sequence[str]
    ) -> Reply[tuple[Antecedent, ...]]:
        """Return an antecedent for unresolved subgoals; none means stop (GOAL-MEM 4.3)."""
        ...


class Steps(ProvingSteps, Protocol):
    """The five things that the engine asks a model."""

    def decompose(self, question: Question, failed: Sequence[str], problem: str) -> Reply[Decomposition]:
        """Return a rule for the question that is none of the `failed` ones (GOAL-MEM 4.1)."""
        ...

    def answer(self, question: Question, facts: Sequence[Fact], goal: Atom, found: str) -> Reply[str]:
        """Return a wording of what was found (GOAL-MEM 4.4)."""
        ...

    def verdict(self, question: Question, facts: Sequence[Fact], goal: Atom, settled: Sequence[str]) -> Reply[str]:
        """Return yes, no, likely yes, likely no or unknown."""
        ...
