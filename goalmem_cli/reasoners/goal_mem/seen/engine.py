"""The GOAL-MEM engine in the order `seen`: facts first, then plan and proof in one call a round (DESIGN section 5).

Followed from here, a question goes through `attempt` (one plan), `sight` (what is shown of memory), `steps` (the call)
and `board` (what the engine accepts of the reply); `closing` says what becomes of a proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from goalmem_cli.logic import Rule
from goalmem_cli.reasoners.goal_mem.base import Engine, settled_by
from goalmem_cli.reasoners.goal_mem.computing import calculations, concluded
from goalmem_cli.reasoners.goal_mem.plans import Decomposition
from goalmem_cli.reasoners.goal_mem.seen.attempt import REPEATED, AttemptRun, Ended, Terms
from goalmem_cli.reasoners.goal_mem.seen.board import Board
from goalmem_cli.reasoners.goal_mem.seen.closing import reasons_to_check, verdict_in
from goalmem_cli.reasoners.goal_mem.seen.records import Proof, SeenSteps
from goalmem_cli.reasoners.goal_mem.seen.sight import Sight
from goalmem_cli.reasoners.goal_mem.seen.steps import JsonSeenSteps
from goalmem_cli.reasoners.goal_mem.seen.suggesting import as_likely
from goalmem_cli.reasoners.goal_mem.wording import checked_wording, unproved
from goalmem_cli.records import Question
from goalmem_cli.trace import Attempt, Checked, Ending, Fact, Status, Trace

SEEN: Final = "seen"
MOST_UNUSABLE = 2
"""After so many attempts that ended in unusable replies no further plan is asked for."""


class GoalMemSeen(Engine):
    """The engine that plans and proves with the first facts in view.

    Model calls stay within B(D + 1) + 1 a question, or twice that where every reply needs its second try, for maximum
    breadth B (plans) and depth D (rounds of a plan after its first).
    """

    planning = SEEN

    def _proved(self, question: Question, blank: Trace) -> Trace:
        sight = Sight(self._backbone, question, self._limits)
        return replace(self._search(question, sight, blank), facts=sight.facts)

    @cached_property
    def _steps(self) -> SeenSteps:
        return JsonSeenSteps(self._model, self._prompts, self._limits.max_subgoals)

    def _search(self, question: Question, sight: Sight, trace: Trace) -> Trace:
        """Try plan after plan: the first written over the first facts, a later one as a reply proposed it."""
        failed: dict[frozenset[str], str] = {}
        plan: Decomposition | None = None
        for breadth in range(1, self._limits.max_breadth + 1):
            terms = Terms(question, sight, self._steps, self._limits, self._observer, self._is_strict, dict(failed))
            ended = AttemptRun(terms, breadth, plan).run()
            trace = _with(trace, ended)
            if ended.is_proved and ended.board is not None and ended.proof is not None:
                return self._conclude(question, ended.board, ended.proof, breadth, sight, trace)
            unusable = sum(attempt.ending is Ending.UNUSABLE_REPLY for attempt in trace.attempts)
            if ended.is_over or unusable >= MOST_UNUSABLE:
                break
            if ended.board is not None and ended.record is not None:
                failed[ended.board.plan.key] = _failure(ended.board, ended.record)
            plan = ended.proof.next if ended.proof is not None else None
            if plan is not None and plan.key in failed:
                trace = replace(trace, notes=(*trace.notes, REPEATED))
                break
        return unproved(trace)

    def _conclude(
        self, question: Question, board: Board, proof: Proof, breadth: int, sight: Sight, trace: Trace
    ) -> Trace:
        """Return the trace of a proved plan: worded from the same reply, and checked once more where that is due."""
        _, cited = settled_by(board.groundings, board.contradicted)
        trace = replace(trace, evidence=cited, substitution=board.substitution.bindings)
        trace, answer = _answer(question, board, proof, sight, trace)
        if answer is None:
            return trace
        answer = as_likely(answer, board.groundings)
        reasons = reasons_to_check(board.groundings, breadth)
        if reasons:
            facts = [sight.facts[number] for number in cited]
            trace = self._checked(question, board, answer, facts, reasons, trace)
            if trace.check is not None and not trace.check.is_same:
                return trace
        return replace(trace, status=Status.ANSWERED, answer=answer)

    def _checked(
        self,
        question: Question,
        board: Board,
        answer: str,
        facts: Sequence[Fact],
        reasons: tuple[str, ...],
        trace: Trace,
    ) -> Trace:
        """Ask once whether these facts answer the question as it was asked; what is not read as yes is held back."""
        goal = board.substitution.apply(board.plan.goal)
        reply = self._steps.check(question, facts, goal, answer)
        if reply.value is None:
            check = Checked(reasons, False, problem=reply.problem, usage=reply.usage)
            note = f"the last check of {answer!r} could not be read: {reply.problem}"
        else:
            check = Checked(reasons, reply.value.is_same, reply.value.differs, usage=reply.usage)
            note = (
                f"{answer!r} does not answer the question as it was asked: {reply.value.differs or 'no reason given'}"
            )
        notes = trace.notes if check.is_same else (*trace.notes, note)
        return replace(trace, check=check, notes=notes, usage=trace.usage + reply.usage)


def _answer(question: Question, board: Board, proof: Proof, sight: Sight, trace: Trace) -> tuple[Trace, str | None]:
    """Return the answer of a proved plan, computed or worded, None where it is open; and the trace with its notes."""
    if board.is_closed:
        verdict = verdict_in(proof.wording)
        notes = () if verdict else ("the supporting facts settle neither yes nor no",)
        return replace(trace, notes=(*trace.notes, *notes)), verdict
    if board.plan.is_computed:
        trace = concluded(calculations(board.plan, board.groundings, sight.facts, question, board.judged), trace)
        return replace(trace, status=Status.UNKNOWN, answer=None), trace.answer
    found = [value for name in board.plan.answer_variables for value in board.substitution.bindings[name]]
    answer, note = checked_wording(proof.wording.rstrip(" ."), found, question.text)
    return replace(trace, notes=(*trace.notes, note) if note else trace.notes), answer


def _with(trace: Trace, ended: Ended) -> Trace:
    """Return the trace with what an attempt left."""
    board = ended.board
    return replace(
        trace,
        goal=str(board.plan.goal) if board is not None else trace.goal,
        attempts=trace.attempts if ended.record is None else (*trace.attempts, ended.record),
        usage=trace.usage + ended.usage,
        substitution=board.substitution.bindings if board is not None else trace.substitution,
        notes=(*trace.notes, ended.note) if ended.note else trace.notes,
        may_be_more=ended.may_be_more,
    )


def _failure(board: Board, record: Attempt) -> str:
    """Return a plan that failed and why, for the next one to be another."""
    rule = Rule(board.plan.subgoals, board.plan.goal)
    last = record.steps[-1].unresolved if record.steps else ()
    whys = [f"S{entry.subgoal + 1}: {entry.why}" for entry in last if entry.subgoal < len(board.plan.subgoals)]
    return f"{rule} -- {'; '.join(whys)}" if whys else str(rule)
