"""Kept goals: questions with all states that their answers had, one JSON file a goal in the folder `goals/`.

Files serve both kinds of memory, and each change is one atomic rename: a killed process leaves a goal as it was before
or after.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from goalmem_cli.errors import StoreDamaged, StoreNewer, UsageError
from goalmem_cli.json_records import plain, rebuild
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.records import content_hash
from goalmem_cli.store.files import Written, replace_file, reporting, unwatched
from goalmem_cli.store.privacy import make_private
from goalmem_cli.store.traces import is_about, shown_by
from goalmem_cli.trace import Attempt, Contradicted, Ending, Fact, Grounded, Status, Step, Trace

_Settles = TypeVar("_Settles", Grounded, Contradicted)
SCHEMA_VERSION = 1
NEAR = 10
"""So many first hits of an open query count as what an unknown answer rests on."""
FORGOTTEN = "what it rested on was forgotten"
"""Why a goal is undermined."""


class GoalStatus(StrEnum):
    """How a kept goal stands."""

    ANSWERED = "answered"
    UNKNOWN = "unknown"
    UNDERMINED = "undermined"
    IN_CONFLICT = "in conflict"


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """The rule by which a goal was tried, as texts: goal, subgoals, and the expressions of the answer."""

    goal: str
    subgoals: tuple[str, ...]
    answers: tuple[str, ...] = ()
    is_current: bool = False

    def is_of(self, question: str) -> bool:
        """Say whether the plan has no constant or predicate but the question's own words."""
        from goalmem_cli.logic import NotationError, Variable, parse_atom

        try:
            parts = [part for text in (self.goal, *self.subgoals) for part in parse_atom(text).parts]
        except NotationError:
            return False
        said = " ".join("" if isinstance(part, Variable) else str(part) for part in parts)
        return content_stems(said) <= content_stems(question)


@dataclass(frozen=True, slots=True)
class Watch:
    """A query that a state depends on.

    `subgoal` is a number in the plan, -1 for the question itself. `found` are the ids of the first units that the query
    found when the state was proved, best first. `cited` are the ids of the units that ground the subgoal; none if it is
    open.
    """

    subgoal: int
    query: str
    found: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoalState:
    """How a goal stood from `since` on, and why it came to this.

    - `checked`: when it was last proved or tried. Both times are in UTC.
    - `because`: the turns that changed it. `rival`, `against`: the other answer of two in conflict, and its turns.
    - `trace`: the proof or the failed attempt; None after its facts were forgotten.
    - `generation`: the number of changes of the memory that the state knows of.
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

    @property
    def evidence(self) -> tuple[Fact, ...]:
        """The facts that the answer rests on."""
        trace = self.trace
        return () if trace is None else tuple(trace.facts[each] for each in trace.evidence if each in trace.facts)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts that the state shows."""
        return (*self.because, *self.against, *(() if self.trace is None else shown_by(self.trace)))

    def is_about(self, keys: Set[str]) -> bool:
        """Say whether the state shows a unit or text that a key of `TraceFolder.about` means, or rests on it."""
        return is_about(self.facts, "", keys) or self.rests_on(keys)

    def rests_on(self, keys: Set[str]) -> bool:
        """Say whether the answer rests on what a key means; of an unknown one, whether it was near to what is open."""
        if self.answer is not None:
            return is_about(map(_alone, (*self.evidence, *self.because, *self.against)), "", keys)
        first = {unit for watch in self.watches if not watch.cited for unit in watch.found[:NEAR]}
        return not keys.isdisjoint(first) or (self.trace is not None and is_about(_near(self.trace), "", keys))

    def without(self, keys: Set[str], question: str) -> GoalState:
        """Return the state without quotes, bindings and answers of what the keys mean.

        If it does not rest on that, it stands, but shows no more than the facts that it rests on.
        """
        trace = self.trace
        if not self.is_about(keys):
            return self
        if trace is None or self.rests_on(keys):
            return self.undermined(question)
        pared = replace(self, trace=_pared(trace), because=tuple(map(_alone, self.because)))
        if self.answer is not None:
            return replace(pared, against=tuple(map(_alone, self.against)))
        if self.plan is None or not self.plan.is_of(question):
            return self.undermined(question)
        values = [value for item in _grounded(trace) for each in item.bindings.values() for value in each]
        told = content_stems(" ".join((question, *self.plan.subgoals, *values)))
        own = tuple(watch for watch in self.watches if content_stems(watch.query) <= told)
        return replace(pared, because=(), why="", watches=own)

    def undermined(self, question: str) -> GoalState:
        """Return the state without anything that was said, after its facts were forgotten."""
        plan = self.plan if self.plan is not None and self.plan.is_of(question) else None
        return GoalState(
            GoalStatus.UNDERMINED, self.since, self.checked, FORGOTTEN, model=self.model, plan=plan,
            watches=tuple(replace(each, cited=()) for each in self.watches if each.subgoal < 0),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Goal:
    """A question that is kept true: what `ask` would be given, when it was added, and its states, oldest first."""

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

    def undermined(self, keys: Set[str]) -> Goal:
        """Return the goal without quotes, bindings and answers of what the keys mean."""
        return replace(self, states=tuple(each.without(keys, self.question) for each in self.states))

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
            if not isinstance(document, dict) or document.get("schema_version") != SCHEMA_VERSION:
                raise ValueError("not a goal of this version")
            goal = rebuild(cls, {key: value for key, value in document.items() if key != "schema_version"})
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a goal: {error}") from error
        if not isinstance(goal, cls) or not goal.states or not goal.name:
            raise ValueError("not a goal: it has no name or no state")
        return goal


class Outcome(StrEnum):
    """What a check found."""

    STILL = "still so"
    ANSWERED = "now answered"
    CHANGED = "changed"
    LOST = "no longer answered"
    UNDERMINED = "undermined"
    IN_CONFLICT = "in conflict"
    FAILED = "not checked"

    @property
    def is_change(self) -> bool:
        """Whether the goal stands otherwise than before."""
        return self not in (Outcome.STILL, Outcome.FAILED)


@dataclass(frozen=True, slots=True)
class CheckedGoal:
    """The result of a check: the goal as it is now, its state before, the outcome, and why it was proved again.

    `touched` is empty if nothing can have changed it, so that it was not proved. `calls` are the model calls.
    """

    goal: Goal
    before: GoalState
    outcome: Outcome
    touched: str = ""
    calls: int = 0


class GoalFolder:
    """The kept goals of a memory."""

    def __init__(self, path: Path, written: Written = unwatched) -> None:
        self.path = path
        self._written = written

    def all(self) -> list[Goal]:
        """Return the goals in the order in which they were added.

        Raises:
            StoreDamaged: a file is no goal that this version can read.
            StoreError: the folder cannot be read.
        """
        return sorted(map(self._read, self._files()), key=lambda goal: (goal.added, goal.name))

    @property
    def is_empty(self) -> bool:
        """Whether there is no goal; a fast look."""
        return not self._files()

    def get(self, name: str) -> Goal:
        """Return the goal of that name.

        Raises:
            UsageError: there is none.
            StoreDamaged, StoreError: as `all`.
        """
        file = self._file(name)
        if not file.is_file():
            raise UsageError(f"there is no goal {name!r}", "goalmem goals lists them")
        return self._read(file)

    def has_name(self, name: str) -> bool:
        """Say whether there is a goal of that name; a fast look."""
        with reporting(self.path):
            return self._file(name).is_file()

    def has(self, goal: Goal) -> bool:
        """Say whether the goal is here just as it is; raises as `all`."""
        file = self._file(goal.name)
        return file.is_file() and self._read(file) == goal

    def save(self, goal: Goal) -> None:
        """Write the goal.

        Raises:
            StoreError: the folder cannot be written.
        """
        make_private(self.path)
        content = json.dumps(goal.document(), ensure_ascii=False).encode("utf-8", "replace")
        replace_file(self._file(goal.name), content, self._written)

    def remove(self, name: str) -> None:
        """Delete the goal; raises as `get`."""
        self.get(name)
        with reporting(self.path):
            self._file(name).unlink(missing_ok=True)
        self._written(f"goal {name}, removed")

    def about(self, keys: Set[str]) -> list[Path]:
        """Return the files of the goals with a state that shows what the keys mean.

        Unreadable files are always among them, as their content is unknown.

        Raises:
            StoreError: the folder cannot be read.
        """
        return [file for file in self._files() if keys and self._is_about(file, keys)]

    def undermine(self, keys: Set[str]) -> None:
        """Take quotes, bindings and answers of what the keys mean out of every state, and delete unreadable files.

        Raises:
            StoreError: the folder cannot be written.
        """
        with reporting(self.path):
            for leftover in self.path.glob(".*"):
                leftover.unlink(missing_ok=True)
        for file in self.about(keys):
            try:
                self.save(self._read(file).undermined(keys))
            except (StoreDamaged, StoreNewer):
                with reporting(file):
                    file.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        with reporting(self.path):
            return sorted(self.path.glob("*.json")) if self.path.is_dir() else []

    def _is_about(self, file: Path, keys: Set[str]) -> bool:
        try:
            return any(state.is_about(keys) for state in self._read(file).states)
        except (StoreDamaged, StoreNewer):
            return True

    def _file(self, name: str) -> Path:
        return self.path / f"{content_hash('goal', name)}.json"

    def _read(self, file: Path) -> Goal:
        try:
            with reporting(file):
                document = json.loads(file.read_bytes())
            version = document.get("schema_version") if isinstance(document, dict) else None
            if isinstance(version, int) and version > SCHEMA_VERSION:
                raise StoreNewer(f"{file} was written by a newer goalmem", "update goalmem")
            return Goal.from_document(document)
        except (ValueError, RecursionError) as error:
            raise StoreDamaged(f"{file}: {error}", "delete that file, and add the goal again") from error


def _alone(fact: Fact) -> Fact:
    """Return the fact without what stands beside it and what changed it."""
    return replace(fact, before=(), after=(), moved_on=None)


def _near(trace: Trace) -> Iterator[Fact]:
    """Yield the facts that settle a subgoal, speak against it or are nearest to it."""
    steps = [step for attempt in trace.attempts for step in attempt.steps]
    named = {number for step in steps for each in step.denied for number in each.facts}
    named |= {number for step in steps for each in step.rejected for number in each.facts}
    named |= {number for step in steps for each in step.unresolved for number in each.nearest}
    named |= {number for item in _grounded(trace) for number in item.facts}
    yield from (_alone(fact) for number, fact in trace.facts.items() if number in named)


def _grounded(trace: Trace) -> list[Grounded]:
    return [item for attempt in trace.attempts for step in attempt.steps for item in step.grounded]


def _pared(trace: Trace) -> Trace:
    """Return the trace with nothing but the answer's proof, or of a failed search with the steps that were settled."""
    is_proved = trace.status is Status.ANSWERED
    cited = dict.fromkeys(trace.evidence if is_proved else (each for item in _grounded(trace) for each in item.facts))
    endings = {Ending.GROUNDED} if is_proved else set(Ending)
    return replace(
        trace,
        facts={number: _alone(trace.facts[number]) for number in cited if number in trace.facts},
        substitution=trace.substitution if is_proved else {},
        attempts=tuple(_pared_attempt(each, cited) for each in trace.attempts if each.ending in endings),
        actions=(), notes=(), failure=None, check=None, guess=None, stages=(), exchanges=(),
    )  # fmt: skip


def _pared_attempt(attempt: Attempt, cited: Container[str]) -> Attempt:
    def own(items: Iterable[_Settles]) -> tuple[_Settles, ...]:
        return tuple(item for item in items if all(number in cited for number in item.facts))

    steps = (
        Step(
            step.depth, usage=step.usage, several=step.several, contradicted=own(step.contradicted),
            grounded=tuple(replace(item, notes=()) for item in own(step.grounded)),
        )
        for step in attempt.steps
    )  # fmt: skip
    return replace(attempt, steps=tuple(steps), failure=None)
