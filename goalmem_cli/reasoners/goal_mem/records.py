"""What passes between the loop, its provers and the judge: frozen records, and the seams `Proposer` and `Prover`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from goalmem_cli.logic import Atom, Substitution
from goalmem_cli.logic.computing.expressions import Call, Expression
from goalmem_cli.logic.normal import Pair, normalise
from goalmem_cli.reasoners.prompt_texts import Reply
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Attempt, Contradicted, Fact, Grounded, Rejected, Verdict

if TYPE_CHECKING:
    from goalmem_cli.reasoners.goal_mem.pool import Pool
    from goalmem_cli.reasoners.goal_mem.state import ProofState

NAME = "goal-mem"
VERDICTS = ("yes", "no", "likely yes", "likely no", "unknown")
"""What a closed question is answered by."""

Planning: TypeAlias = Literal["together", "stepwise", "paper"]
"""Who plans and proves: `together` in one reply a round, `stepwise` in small steps, `paper` as Algorithm 1 does."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a question (GOAL-MEM section 5): breadth, depth, subgoals of a plan, facts in view.

    `read_tokens` is about how many tokens of facts a small model reads at once. Without `checks` the engine takes what
    a model proposes as it is. `sifts` and `leans` are as `NumberedFacts` has them.
    """

    max_breadth: int = 3
    max_depth: int = 5
    max_subgoals: int = 4
    budget: int = 60
    max_fact_tokens: int = 3000
    read_tokens: int = 900
    checks: bool = True
    sifts: bool = True
    leans: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """A rule for the goal (GOAL-MEM 4.1). Without answer variables the question is closed: yes or no.

    `is_current` says that it asks how things stand now, `is_conclusion` that it asks what would or might be. `answers`
    are what the answer variables make, in order: each stands for itself, or something is computed from them. `left_out`
    are statements that were written down with it, and that nothing in it needs.
    """

    goal: Atom
    subgoals: tuple[Atom, ...]
    answer_variables: tuple[str, ...]
    meanings: Mapping[str, str] = field(default_factory=dict)
    is_current: bool = False
    is_conclusion: bool = False
    answers: tuple[Expression, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def is_closed(self) -> bool:
        """Say whether the question is answered by yes or no."""
        return not self.answer_variables

    @property
    def is_computed(self) -> bool:
        """Say whether a part of the answer is computed."""
        return any(isinstance(answer, Call) for answer in self.answers)

    def having(self, names: Collection[str]) -> frozenset[int]:
        """Return the numbers of the subgoals that have one of the variables."""
        return frozenset(n for n, atom in enumerate(self.subgoals) if any(v.name in names for v in atom.variables))

    @property
    def key(self) -> frozenset[str]:
        """The set of normalised subgoals: two plans with the same key repeat one another."""
        return frozenset(normalise(subgoal.phrase) for subgoal in self.subgoals)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a model says of one subgoal: facts that entail it under the bindings, or that speak against it.

    `why` says in a clause why facts suggest what they do not say. `is_instead` where it is to replace a value that was
    settled before. Several with a `grounding_certainty` (0 to 1) are alternatives, of which the surest that passes the
    checks is taken. Its subgoal is one that there is not where nothing declared the label.
    """

    subgoal: int
    facts: tuple[str, ...]
    bindings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    verdict: Verdict = Verdict.ENTAILED
    why: str = ""
    is_instead: bool = False
    grounding_certainty: float | None = None

    @property
    def is_contradiction(self) -> bool:
        """Say whether it says that the subgoal is false."""
        return self.verdict is Verdict.CONTRADICTED

    def refused(self, why: str) -> Rejected:
        """Return the record of the claim as refused."""
        return Rejected(self.subgoal, self.facts, why, self.bindings)


@dataclass(frozen=True, slots=True)
class Need:
    """An antecedent: a statement that has to be known first (GOAL-MEM 4.3), and how the two are related."""

    subgoal: Atom
    relation: str


@dataclass(frozen=True, slots=True)
class Wish:
    """A subgoal to look for, also one that is settled and surely not complete: why, and what would find it."""

    subgoal: int
    why: str
    queries: tuple[str, ...]
    need: Need | None = None


class Status(StrEnum):
    """What the model wants next. The engine decides from what it accepted."""

    SETTLED = "settled"
    LOOK = "look"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Proposed:
    """A reply. `plan` is the one that it follows, given or written; None where it was declined.

    `several` are the variables that it says have several values at once, `same` the pairs that it holds to be one,
    `reasons` why subgoals are not proved, and `next` is another plan for the question. `wording` is the answer, of a
    closed question its verdict. `repairs` are what had to be put right before it could be read, and a reply
    `is_disorderly` whose model seems not to master its form: what it refuses says little.
    """

    plan: Plan | None
    claims: tuple[Claim, ...] = ()
    several: frozenset[str] = frozenset()
    same: frozenset[Pair] = frozenset()
    wishes: tuple[Wish, ...] = ()
    reasons: Mapping[int, str] = field(default_factory=dict)
    next: Plan | None = None
    status: Status = Status.LOOK
    wording: str = ""
    repairs: tuple[str, ...] = ()
    is_disorderly: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the last check says: whether the facts answer the question as it was asked, and if not what differs."""

    is_same: bool
    differs: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """What claims are judged against.

    `question` is its text; `subgoals` are all of the attempt's, by number; `facts` those in view; `earlier` the
    groundings accepted before; `people` the speakers of the conversations in sight; `same` the pairs that a model
    judged equal. Where it `is_unchecked`, claims are taken as they are, if they can be read at all.
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
        return starred_in(self.subgoals)


def starred_in(atoms: Iterable[Atom]) -> frozenset[str]:
    """Return the variables that ask for all that hold: starred in any of the subgoals."""
    return frozenset(variable.name for atom in atoms for variable in atom.variables if variable.is_starred)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What was accepted and what was not; `undecided` are the pairs of constants that only a model could settle."""

    grounded: tuple[Grounded, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    contradicted: tuple[Contradicted, ...] = ()
    substitution: Substitution = field(default_factory=Substitution)
    undecided: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Round:
    """Where a question stands when a model is asked: `state` is None while there is no plan, or it is to be written.

    `failed` are the plans that failed, with the reasons.
    """

    question: Question
    pool: Pool
    state: ProofState | None = None
    failed: Sequence[str] = ()

    @property
    def begun(self) -> ProofState:
        """The state, for a prover whose plan is made before the attempt.

        Raises:
            ValueError: there is no plan yet.
        """
        if self.state is None:
            raise ValueError("the attempt has no plan yet")
        return self.state


@dataclass(frozen=True, slots=True)
class Manner:
    """How a proposer works.

    `rereads` says that a subgoal that reads differently, with what was bound put in, is asked for over the same facts.
    With `most_antecedents` antecedents are provisional and no more than that (see `ProofState`). `words_apart` says
    that its replies have no wording: the answer, of a closed question the verdict, is a call of its own.
    """

    rereads: bool = True
    most_antecedents: int | None = None
    words_apart: bool = False


class Proposer(Protocol):
    """What an attempt asks a model, in one call, retried once when the reply is unusable."""

    @property
    def manner(self) -> Manner:
        """How it works."""
        ...

    def propose(self, standing: Round) -> Reply[Proposed]:
        """Return what the facts in view prove of the plan, and the plan itself where there is none (GOAL-MEM 4.2)."""
        ...


@runtime_checkable
class Refiner(Protocol):
    """A proposer that asks in a call of its own what to look for next."""

    def refine(self, standing: Round, unresolved: Mapping[int, str]) -> Reply[tuple[Wish, ...]]:
        """Return what would prove the unresolved subgoals, each with the reason why it is; none means stop (4.3)."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """One attempt: what is asked, within which pool, and how many rounds after the first it may have.

    `plan` is None where the first reply is to write it; `queries` are those of the first look, None for what the plan
    leaves open. `failed` are the plans that failed before it, with the reasons, by their keys. `planned` are the
    subgoals that the question is read for, where it is read as a whole, and `doubts` are reasons to check the answer
    once more that lie in how it comes about.
    """

    breadth: int
    proposer: Proposer
    pool: Pool
    max_depth: int
    plan: Plan | None = None
    queries: Sequence[str] | None = None
    failed: Mapping[frozenset[str], str] = field(default_factory=dict)
    planned: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that ended: its record, None where no plan was made; how its proof stands, and the last reply.

    `is_proved` says that every subgoal was settled, `is_over` that no further plan is to be asked for, `note` why where
    the record does not say it.
    """

    task: Task
    record: Attempt | None
    state: ProofState | None = None
    last: Proposed | None = None
    is_proved: bool = False
    is_over: bool = False
    note: str = ""
    may_be_more: bool = False
    usage: Usage = field(default_factory=Usage)


class Search(Protocol):
    """One question on its way, as a prover sees it: what it tries is kept in the trace."""

    @property
    def question(self) -> Question:
        """The question."""
        ...

    @property
    def limits(self) -> Limits:
        """Its bounds."""
        ...

    @property
    def pool(self) -> Pool:
        """Its facts, none in view so far."""
        ...

    def attempt(self, task: Task) -> Ended:
        """Run an attempt."""
        ...

    def count(self, usage: Usage, note: str = "", failed: Attempt | None = None) -> None:
        """Keep what a call outside of attempts cost, what there is to say of it, and an attempt that did not begin."""
        ...


class Prover(Protocol):
    """How models of one size plan and prove: which attempts are made, and how a proof is worded and checked."""

    @property
    def spending(self) -> Spending:
        """How much of a question's budget each look shows."""
        ...

    def search(self, search: Search) -> Ended | None:
        """Try plan after plan, and return the attempt that has the answer, None where none has."""
        ...

    def word(self, proof: Proof) -> Reply[str] | None:
        """Return the wording of what was proved; None where the proof's own counts (4.4)."""
        ...

    def check(self, proof: Proof, answer: str) -> Reply[Judgement] | None:
        """Return whether the facts answer the question as it was asked; None where this prover has no last check."""
        ...


@dataclass(frozen=True, slots=True)
class Spending:
    """How much a look may show: the first one of the whole budget, each later one of what is left (0 to 1).

    `beside` is the share of the first look that each of its queries after the first may fill; None: all fill as much.
    `least_look` is how many hits a query sees at least, whether or not they are in view. `neighbours` says whether the
    turns next to those of cited facts come along with a later look, and `least` how likely evidence a unit has to be to
    be worth another round of a list that seems to be complete.
    """

    first: float = 0.5
    later: float = 0.5
    beside: float | None = None
    least_look: int = 10
    neighbours: bool = False
    least: float = 0.0

    def within(self, max_depth: int) -> Spending:
        """Return it for an attempt of so many further looks: where there is none, the first may show everything."""
        return self if max_depth else replace(self, first=1.0)


@dataclass(frozen=True, slots=True)
class Proof:
    """What was proved, for wording and last check: the goal with its bindings, the facts, how each subgoal was settled.

    `found` are the answer's values.
    """

    question: Question
    goal: Atom
    facts: tuple[Fact, ...]
    settled: tuple[str, ...]
    found: tuple[str, ...]
    is_closed: bool
