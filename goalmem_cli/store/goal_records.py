"""Kept goals as records: a question with all states that its answer had, and the results of checks."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from goalmem_cli.json_records import plain, rebuild
from goalmem_cli.logic.moments import latest
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.store.traces import evidence_of, is_about, shown_by, without_neighbours
from goalmem_cli.trace import Attempt, Contradicted, Ending, Fact, Grounded, Status, Step, Trace

_Settles = TypeVar("_Settles", Grounded, Contradicted)
SCHEMA_VERSION = 2
"""1: without the ids of saved traces, and without the units that replace cited ones."""
NEAR = 10
"""An unknown answer rests on this many first hits of each open query."""
FORGOTTEN = "what it rested on was forgotten"
"""Why a goal with an answer is undermined. Stored goals have this text, and it is compared: it must not change."""
FORGOTTEN_NEAR = "what it may have rested on was forgotten"
"""Why a goal without an answer is undermined. It stays unknown if a new proof finds no answer either."""


class GoalStatus(StrEnum):
    """The state of a kept goal."""

    ANSWERED = "answered"
    UNKNOWN = "unknown"
    UNDERMINED = "undermined"
    IN_CONFLICT = "in conflict"


@dataclass(frozen=True, slots=True)
class Gone:
    """What was forgotten: keys as `TraceFolder.about` takes them, and the ids of shown units that stay in the memory.

    A unit that stays is not forgotten, although a forgotten turn may have the same text.
    """

    keys: Set[str]
    staying: Set[str] = frozenset()

    def is_in(self, facts: Iterable[Fact]) -> bool:
        """Say whether one of the facts is, quotes or belongs to something that is gone."""
        return is_about(facts, "", self.keys, self.staying)


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """The rule by which a goal was tried, as texts: goal, subgoals, and the expressions of the answer."""

    goal: str
    subgoals: tuple[str, ...]
    answers: tuple[str, ...] = ()
    is_current: bool = False

    def is_of(self, question: str) -> bool:
        """Say whether the plan has only constants and predicates from the question's words, and no name as a type."""
        from goalmem_cli.logic import NotationError, Variable, parse_atom

        try:
            parts = [part for text in (self.goal, *self.subgoals) for part in parse_atom(text).parts]
        except NotationError:
            return False
        types = [part.type for part in parts if isinstance(part, Variable)]
        said = " ".join("" if isinstance(part, Variable) else str(part) for part in parts)
        if any(each != each.lower() or any(letter.isdigit() for letter in each) for each in types):
            return False  # a name or a number may be from a turn
        return content_stems(said) <= content_stems(question)


@dataclass(frozen=True, slots=True)
class Watch:
    """A query that a state depends on.

    `subgoal` is a number in the plan, -1 for the question itself, -2 for who is meant in it. `found` are the ids of the
    first units that the query found when the state was proved, best first. `cited` are the ids of the units that ground
    the subgoal, or say who is meant; none if it is open. `later` are those of later units that replace cited ones.
    """

    subgoal: int
    query: str
    found: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    later: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoalState:
    """The state of a goal from `since` on, and its reason.

    - `checked`: when it was last proved or tried. Both times are in UTC.
    - `because`: the turns that changed it. `rival`, `against`: the other answer of two in conflict, and its turns.
    - `trace`: the proof or the failed attempt; None after its facts were forgotten.
    - `generation`: the number of changes of the memory that the state knows of.
    - `traces`: the ids of the saved traces of the check that it began with, `last_traces` those of the last check
      since then. Forgetting may have deleted them.
    """

    status: GoalStatus
    since: datetime
    checked: datetime
    why: str = ""
    answer: str | None = None
    certainty: float | None = None
    model: str = ""
    because: tuple[Fact, ...] = ()
    rival: str | None = None
    against: tuple[Fact, ...] = ()
    trace: Trace | None = None
    plan: KeptPlan | None = None
    watches: tuple[Watch, ...] = ()
    generation: int = 0
    traces: tuple[str, ...] = ()
    last_traces: tuple[str, ...] = ()

    @property
    def evidence(self) -> tuple[Fact, ...]:
        """The facts that the answer rests on."""
        return () if self.trace is None else evidence_of(self.trace)

    @property
    def told(self) -> datetime | None:
        """When the last of the turns that gave the answer was said; None without an answer, or if no time is known."""
        given = (self.because or self.evidence) if self.status is GoalStatus.ANSWERED else ()
        return latest(fact.said for fact in given)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts that the state shows."""
        return (*self.because, *self.against, *(() if self.trace is None else shown_by(self.trace)))

    @property
    def units(self) -> set[str]:
        """The ids of the units that the state shows or rests on."""
        resting = {unit for watch in self.watches for unit in (*watch.cited, *watch.later)}
        return resting | {fact.unit for fact in self.facts}

    def without_neighbours(self) -> GoalState:
        """Return the state without the turns around its facts."""
        trace = self.trace
        if trace is not None:
            trace = replace(trace, facts={each: without_neighbours(fact) for each, fact in trace.facts.items()})
        because, against = (tuple(map(without_neighbours, facts)) for facts in (self.because, self.against))
        return replace(self, trace=trace, because=because, against=against)

    @property
    def _own_words(self) -> Iterator[str]:
        """The texts and speakers that the answer rests on, and the values that it binds."""
        for fact in self.evidence:
            yield from (fact.text, fact.speaker)
        if self.trace is not None:
            yield from (value for values in self.trace.substitution.values() for value in values)

    def is_about(self, gone: Gone) -> bool:
        """Say whether the state shows, or rests on, a unit or text that is gone."""
        later = {unit for watch in self.watches for unit in watch.later}
        return gone.is_in(self.facts) or not gone.keys.isdisjoint(later) or self.rests_on(gone)

    def rests_on(self, gone: Gone) -> bool:
        """Say whether the answer rests on what is gone; if it is unknown, whether that was near an open subgoal."""
        keys, is_open = gone.keys, self.answer is None
        if any(watch.subgoal < 0 or not is_open for watch in self.watches if not keys.isdisjoint(watch.cited)):
            return True
        if not is_open:
            return gone.is_in(map(_alone, (*self.evidence, *self.because, *self.against)))
        first = {unit for watch in self.watches if not watch.cited for unit in watch.found[:NEAR]}
        return not keys.isdisjoint(first) or (self.trace is not None and gone.is_in(_near(self.trace)))

    def without(self, gone: Gone, question: str) -> GoalState:
        """Return the state without quotes, bindings and answers from what is gone.

        If it does not rest on these, it stays valid, but shows only the facts that it rests on.
        """
        trace = self.trace
        if not self.is_about(gone):
            return self
        if trace is None or self.rests_on(gone):
            return self.undermined(question)
        own_words = (question, *self._own_words) if self.answer is not None else (question,)
        pared = replace(self, trace=_pared(trace, " ".join(own_words)), because=tuple(map(_alone, self.because)))
        if self.answer is not None:
            if self.plan is not None and not self.plan.is_of(" ".join(own_words)):
                return self.undermined(question)
            shown = (fact.text for fact in (*self.because, *self.against))
            told = content_stems(" ".join((*own_words, *shown)))
            own = tuple(each for each in self.watches if each.subgoal < 0 or content_stems(each.query) <= told)
            return replace(pared, against=tuple(map(_alone, self.against)), watches=own)
        if self.plan is None or not self.plan.is_of(question):
            return self.undermined(question)
        values = [value for item in _grounded(trace) for each in item.bindings.values() for value in each]
        told = content_stems(" ".join((question, *self.plan.subgoals, *values)))
        own = tuple(watch for watch in self.watches if content_stems(watch.query) <= told)
        return replace(pared, because=(), why="", watches=own)

    def undermined(self, question: str) -> GoalState:
        """Return the state without any quote, after its facts were forgotten."""
        plan = self.plan if self.plan is not None and self.plan.is_of(question) else None
        why = FORGOTTEN if self.answer is not None else FORGOTTEN_NEAR
        if self.status is GoalStatus.UNDERMINED:
            why = self.why
        return GoalState(
            GoalStatus.UNDERMINED, self.since, self.checked, why, model=self.model, plan=plan,
            watches=tuple(replace(each, cited=()) for each in self.watches if each.subgoal == -1),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Goal:
    """A kept question: the arguments of `ask`, the time of adding it, and its states, oldest first."""

    name: str
    question: str
    added: datetime
    asker: str | None = None
    conversations: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    wants_all: bool = False
    states: tuple[GoalState, ...] = field(default=())

    @property
    def state(self) -> GoalState:
        """The state now."""
        return self.states[-1]

    def with_state(self, state: GoalState) -> Goal:
        """Return the goal with a further state, which replaces the last one if it began at the same time."""
        before = self.states[:-1] if self.states and self.states[-1].since == state.since else self.states
        return replace(self, states=(*before, state))

    @property
    def times(self) -> Iterator[datetime]:
        """When it was added, and when its states began and were last checked."""
        yield self.added
        for state in self.states:
            yield from (state.since, state.checked)

    @property
    def units(self) -> set[str]:
        """The ids of the units that its states show or rest on."""
        return {unit for state in self.states for unit in state.units}

    def undermined(self, gone: Gone) -> Goal:
        """Return the goal without quotes, bindings and answers from what is gone."""
        return replace(self, states=tuple(each.without(gone, self.question) for each in self.states))

    def document(self) -> dict[str, object]:
        """Return the goal as a JSON object."""
        return {"schema_version": SCHEMA_VERSION, **plain(self)}

    @classmethod
    def from_document(cls, document: object) -> Goal:
        """Return the goal of a JSON object.

        Raises:
            ValueError: it does not have the form of a goal, or its version is unknown.
        """
        try:
            if not isinstance(document, dict) or document.get("schema_version") not in range(1, SCHEMA_VERSION + 1):
                raise ValueError("not a goal of this version")
            goal = rebuild(cls, {key: value for key, value in document.items() if key != "schema_version"})
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a goal: {error}") from error
        if not isinstance(goal, cls) or not goal.states or not goal.name:
            raise ValueError("not a goal: it has no name or no state")
        if any(time.tzinfo is None for time in goal.times):
            raise ValueError("not a goal: one of its times has no time zone")
        return goal


class Outcome(StrEnum):
    """The result of a check."""

    STILL = "still so"
    ANSWERED = "now answered"
    CHANGED = "changed"
    LOST = "no longer answered"
    UNDERMINED = "undermined"
    IN_CONFLICT = "in conflict"
    FAILED = "not checked"

    @property
    def is_change(self) -> bool:
        """Whether the state differs from the one before."""
        return self not in (Outcome.STILL, Outcome.FAILED)

    @property
    def is_failed(self) -> bool:
        """Whether the model gave no usable reply, or does not read the language."""
        return self is Outcome.FAILED


@dataclass(frozen=True, slots=True)
class CheckedGoal:
    """The result of a check: the goal as it is now, its state before, the outcome, and why it was proved again.

    `touched` is empty if nothing can have changed it, so that it was not proved. `calls` are the model calls. `failure`
    says why it could not be checked, if not for an unusable reply.
    """

    goal: Goal
    before: GoalState
    outcome: Outcome
    touched: str = ""
    calls: int = 0
    failure: str = ""


def _alone(fact: Fact) -> Fact:
    """Return the fact without its neighbouring turns and later changes."""
    return replace(fact, before=(), after=(), moved_on=None)


def _near(trace: Trace) -> Iterator[Fact]:
    """Yield the facts that settle a subgoal, speak against it or are nearest to it.

    Each comes once, in the trace's order, without neighbouring turns and later changes.
    """
    steps = [step for attempt in trace.attempts for step in attempt.steps]
    named = {number for step in steps for each in step.denied for number in each.facts}
    named |= {number for step in steps for each in step.rejected for number in each.facts}
    named |= {number for step in steps for each in step.unresolved for number in each.nearest}
    named |= {number for item in _grounded(trace) for number in item.facts}
    yield from (_alone(fact) for number, fact in trace.facts.items() if number in named)


def _grounded(trace: Trace) -> list[Grounded]:
    return [item for attempt in trace.attempts for step in attempt.steps for item in step.grounded]


def _pared(trace: Trace, own_words: str) -> Trace:
    """Return the trace with only the answer's proof or, for a failed search, only the settled steps.

    Plans with other words than these go: the model may have them from a turn that was forgotten.
    """
    is_proved = trace.status is Status.ANSWERED
    cited = dict.fromkeys(trace.evidence if is_proved else (each for item in _grounded(trace) for each in item.facts))
    endings = {Ending.GROUNDED} if is_proved else set(Ending)
    return replace(
        trace,
        facts={number: _alone(trace.facts[number]) for number in cited if number in trace.facts},
        substitution=trace.substitution if is_proved else {},
        attempts=tuple(
            _pared_attempt(each, cited) for each in trace.attempts
            if each.ending in endings and KeptPlan(each.goal, each.subgoals).is_of(own_words)
        ),
        goal=trace.goal if is_proved else None, certainty=trace.certainty if is_proved else None,
        actions=(), notes=(), failure=None, check=None, guess=None, rule=None, conflict=(), stages=(), exchanges=(),
    )  # fmt: skip


def _pared_attempt(attempt: Attempt, cited: Container[str]) -> Attempt:
    """Return the attempt with only the settled steps that rest on cited facts."""

    def own(items: Iterable[_Settles]) -> tuple[_Settles, ...]:
        return tuple(item for item in items if all(number in cited for number in item.facts))

    steps = (
        Step(
            step.depth, usage=step.usage, several=step.several, contradicted=own(step.contradicted),
            grounded=tuple(replace(item, notes=()) for item in own(step.grounded)),
        )
        for step in attempt.steps
    )  # fmt: skip
    return replace(attempt, steps=tuple(steps), failure=None, planned=())
