"""The frozen records that loop, provers and judge exchange, and the protocols `Proposer` and `Prover`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from goalmem_cli.logic import Atom, Substitution
from goalmem_cli.logic.computing.expressions import Call, Expression
from goalmem_cli.logic.normal import Pair, normalise
from goalmem_cli.model_replies import Reply
from goalmem_cli.records import Hit, Question, Usage
from goalmem_cli.trace import Attempt, Contradicted, Fact, Grounded, Rejected, Verdict

if TYPE_CHECKING:
    from goalmem_cli.reasoners.goal_mem.engine import SearchRun
    from goalmem_cli.reasoners.goal_mem.pool import Pool
    from goalmem_cli.reasoners.goal_mem.state import ProofState

NAME = "goal-mem"
VERDICTS = ("yes", "no", "likely yes", "likely no", "unknown")
"""The answers to a closed question."""

Planning: TypeAlias = Literal["together", "stepwise", "paper"]
"""Who plans and proves: `together` in one reply a round, `stepwise` in small steps, `paper` as Algorithm 1 does."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a question (GOAL-MEM section 5): breadth, depth, subgoals of a plan, facts in view.

    `max_fact_tokens` and `read_tokens` are estimated tokens of facts: all in view, and those that a small model reads
    at once. Without `checks` the engine accepts whatever the model proposes. For `sifts` and `leans` see
    `NumberedFacts`, for `generates` and `own_checks` `GoalMemSettings`. A `max_subgoals` of 0 is no bound.
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
    generates: bool = False
    own_checks: bool = True


@dataclass(frozen=True, slots=True)
class GoalMemSettings:
    """The settings of `goal-mem` alone, by which the prover `paper` differs from Algorithm 1 or not.

    `background`: it plans with a summary of what each speaker said, made once and kept in the memory. `generates`: the
    model writes every answer from the proof (4.4). The engine computes none, and does not check the wording.
    `own_checks`: the engine checks more than 4.2 does: whom facts are about, names that nobody said, pronouns, and
    what a later turn replaced. A contradiction settles a closed question, a later value replaces an earlier one, a
    question for a thing needs an answer variable, and a plan that repeats a failed one is refused.
    """

    background: bool = False
    generates: bool = False
    own_checks: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """A rule for the goal (GOAL-MEM 4.1). Without answer variables the question is closed: yes or no.

    `is_current`: the question asks how things are now. `is_conclusion`: it asks what would or might be. `answers` are
    the expressions of the answer, in order: a variable itself, or a computation over variables. `left_out` are
    statements of the reply that the plan does not need.
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
        """Say whether any part of the answer is computed."""
        return any(isinstance(answer, Call) for answer in self.answers)

    def having(self, names: Collection[str]) -> frozenset[int]:
        """Return the numbers of the subgoals that contain one of the variables."""
        return frozenset(n for n, atom in enumerate(self.subgoals) if any(v.name in names for v in atom.variables))

    @property
    def key(self) -> frozenset[str]:
        """The set of normalised subgoals. Plans with the same key are the same plan."""
        return frozenset(normalise(subgoal.phrase) for subgoal in self.subgoals)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a model says about one subgoal: the facts entail it under the bindings, or deny it.

    `why` says why the facts suggest it, if they do not state it. `is_instead`: the claim wants to replace a settled
    value. Claims with a `grounding_certainty` (0 to 1) are alternatives: the surest that passes the checks is taken.
    `subgoal` is out of range if the reply used a label that it did not declare.
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
        """Say whether the claim is that the subgoal is false."""
        return self.verdict is Verdict.CONTRADICTED

    def refused(self, why: str) -> Rejected:
        """Return the record of the claim as refused, with the reason."""
        return Rejected(self.subgoal, self.facts, why, self.bindings)


@dataclass(frozen=True, slots=True)
class Wish:
    """A subgoal to retrieve for (open, or settled but incomplete): the reason, and queries that would find it.

    `need`: an antecedent, a statement that must be known first (GOAL-MEM 4.3), with its `relation` to the subgoal.
    """

    subgoal: int
    why: str
    queries: tuple[str, ...]
    need: Atom | None = None
    relation: str = ""


class ReplyStatus(StrEnum):
    """What the model wants to do next. The engine decides by what it accepted."""

    SETTLED = "settled"
    LOOK = "look"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Proposed:
    """A model's reply. `plan` is the plan that it follows, given or newly written; None if the model declined.

    `several`: variables that have several values at once. `same`: pairs of constants that are the same. `reasons`: why
    subgoals are not proved. `next`: another plan for the question. `wording`: the answer, or the verdict of a closed
    question. `repairs`: what had to be repaired before the reply could be read. `is_disorderly`: the model does not
    seem to master the reply's form, so its refusals mean little.
    """

    plan: Plan | None
    claims: tuple[Claim, ...] = ()
    several: frozenset[str] = frozenset()
    same: frozenset[Pair] = frozenset()
    wishes: tuple[Wish, ...] = ()
    reasons: Mapping[int, str] = field(default_factory=dict)
    next: Plan | None = None
    status: ReplyStatus = ReplyStatus.LOOK
    wording: str = ""
    repairs: tuple[str, ...] = ()
    is_disorderly: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """The last check's outcome: whether the facts answer the question as asked, and otherwise what differs."""

    is_same: bool
    differs: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """What claims are judged against.

    `question`: its text. `subgoals`: all subgoals of the attempt, by number. `facts`: the facts in view. `earlier`:
    groundings accepted before. `people`: speakers of the conversations in view. `same`: pairs that a model judged
    equal. `is_unchecked`: every readable claim is accepted. For `own_checks` see `GoalMemSettings`.
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
    own_checks: bool = True

    @property
    def starred(self) -> frozenset[str]:
        """The variables that ask for all values: those starred in any subgoal."""
        return starred_in(self.subgoals)


def starred_in(atoms: Iterable[Atom]) -> frozenset[str]:
    """Return the variables that ask for all values: those starred in any of the subgoals."""
    return frozenset(variable.name for atom in atoms for variable in atom.variables if variable.is_starred)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What was accepted and what was not. `undecided` are pairs of constants that only a model can compare."""

    grounded: tuple[Grounded, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    contradicted: tuple[Contradicted, ...] = ()
    substitution: Substitution = field(default_factory=Substitution)
    undecided: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Round:
    """What a model is asked over: question, facts in view and state. `state` is None while there is no plan.

    `failed` lists the plans that failed, with the reasons.
    """

    question: Question
    pool: Pool
    state: ProofState | None = None
    failed: Sequence[str] = ()

    @property
    def begun(self) -> ProofState:
        """The state, for provers that plan before the attempt.

        Raises:
            ValueError: there is no plan yet.
        """
        if self.state is None:
            raise ValueError("the attempt has no plan yet")
        return self.state


@dataclass(frozen=True, slots=True)
class AfterReply:
    """How an attempt goes on after a reply.

    `most_antecedents`: if given, antecedents are provisional, at most this many, and one reply has all that its
    facts say. Otherwise a subgoal whose wording changed, because a value was put in, is asked about again over the
    same facts. `refine`: asks in a call of its own what to retrieve for the open subgoals, given by number with the
    reason, and only that is; no wish means stop. Without it the reply has the wishes. `is_deniable`: facts that
    deny the plan end the attempt. `gathers`: lists are retrieved for again, even if the question does not ask for
    all. `has_verdict`: the reply has the verdict of a closed question.
    """

    most_antecedents: int | None = None
    refine: Callable[[Round, Mapping[int, str]], Reply[tuple[Wish, ...]]] | None = None
    is_deniable: bool = True
    gathers: bool = True
    has_verdict: bool = True


class Proposer(Protocol):
    """Asks a model to propose, in one call, which is retried once if the reply is unusable."""

    @property
    def after_reply(self) -> AfterReply:
        """How an attempt with these replies goes on."""
        ...

    def propose(self, standing: Round) -> Reply[Proposed]:
        """Return which subgoals the facts in view prove, and a plan if there is none yet (GOAL-MEM 4.2)."""
        ...


@dataclass(frozen=True, slots=True)
class Begun:
    """An earlier proof to begin with: its plan as texts, and the claims on it that still stand.

    The claims cite units by id. `hits` are shown first: what the claims cite, and what is new. `is_rule`: the plan
    settled another question of this form, so that of this one nothing stands yet.
    """

    goal: str
    subgoals: tuple[str, ...]
    answers: tuple[str, ...] = ()
    is_current: bool = False
    claims: tuple[Claim, ...] = ()
    hits: tuple[Hit, ...] = ()
    is_rule: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """One attempt: who proposes, over which pool, and how many rounds may follow the first (`max_depth`).

    `plan`: None if the first reply writes it. `queries`: those of the first look; None means the plan's open subgoals.
    `failed`: earlier plans that failed, by key, with the reasons. `planned`: the subgoals, if the question is read as a
    whole. `doubts`: reasons to check the answer once more that come from the way it is found. `begun`: an earlier proof
    by this plan, whose claims are taken up, and judged again, before the first look.
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
    begun: Begun | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that ended: its record (None if no plan was made), its state and its last reply.

    `is_proved`: every subgoal was settled. `is_over`: no further plan should be asked for. `note`: the reason, if the
    record does not have it.
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


class Prover(Protocol):
    """Plans and proves in the way that suits models of one size: makes attempts, words the proof, checks the answer."""

    @property
    def spending(self) -> Spending:
        """How much of a question's budget each look may show."""
        ...

    def search(self, search: SearchRun) -> Ended | None:
        """Try one plan after another. Return the attempt that found the answer, or None."""
        ...

    def resume(self, search: SearchRun, plan: Plan, begun: Begun) -> Ended | None:
        """Try the plan of an earlier proof again: only what is open. Return the attempt if it found the answer."""
        ...

    def word(self, proof: Proof) -> Reply[str] | None:
        """Return the answer's wording (4.4), or None if the last reply already has it."""
        ...

    def check(self, proof: Proof, answer: str) -> Reply[Judgement] | None:
        """Return whether the facts answer the question as asked, or None if this prover has no last check."""
        ...


@dataclass(frozen=True, slots=True)
class Spending:
    """How much a look may show, as shares from 0 to 1: the first of the whole budget, later ones of what is left.

    `beside`: the share of the first look for each query after the first (None: equal shares). `least_look`: how many
    hits a query sees at least, shown before or not. `neighbours`: later looks also show the turns next to cited facts.
    `least`: how likely evidence (0 to 1) a unit must be to justify another round for a list that seems complete.
    `hopeful`: how likely the best unit must be to justify the first round after the one that planned.
    """

    first: float = 0.5
    later: float = 0.5
    beside: float | None = None
    least_look: int = 10
    neighbours: bool = False
    least: float = 0.0
    hopeful: float = 0.0

    def within(self, max_depth: int) -> Spending:
        """Return the spending for `max_depth` further looks. If there are none, the first may show everything."""
        return self if max_depth else replace(self, first=1.0)


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof, for wording and last check: the goal with its values, the cited facts, and how each subgoal was settled.

    `found` are the answer's values.
    """

    question: Question
    goal: Atom
    facts: tuple[Fact, ...]
    settled: tuple[str, ...]
    found: tuple[str, ...]
    is_closed: bool
