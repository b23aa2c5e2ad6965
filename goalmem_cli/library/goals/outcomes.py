"""Compare what a goal's proof says now with what it said before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.logic.moments import is_later, latest
from goalmem_cli.logic.normal import words
from goalmem_cli.store.goal_records import FORGOTTEN, Goal, GoalState, GoalStatus, KeptPlan, Outcome

if TYPE_CHECKING:
    from goalmem_cli.library.goals.noticing import Touch
    from goalmem_cli.trace import Fact, Trace

DIFFERENT = "two turns say different things"
_ITEMS = re.compile(r",\s+(?:and\s+)?|\s+and\s+")
_TURNS = frozenset("not no never nor neither without except likely probably perhaps".split())
"""Words that turn an answer into another one."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a new trace means for a goal: the outcome, the reason, the turns that decide, and a rival answer if any."""

    outcome: Outcome
    why: str = ""
    because: tuple[Fact, ...] = ()
    rival: str | None = None
    against: tuple[Fact, ...] = ()


def verdict(before: GoalState, trace: Trace, touch: Touch, stored: frozenset[str]) -> Verdict:
    """Return what the trace means for a goal that stood as `before`.

    `stored` are the units of the evidence before that are still stored. Of two answers, the one whose latest evidence
    was said later holds. If neither was, and the evidence of both is stored, they are in conflict. So are two values
    that one proof found. A new turn that gives one of two values in conflict settles it.

    Forgetting takes the answer out of `before`, so evidence that is not stored was replaced: its text was edited.
    """
    from goalmem_cli.store.traces import evidence_of
    from goalmem_cli.trace import Status

    is_answered, facts = trace.status is Status.ANSWERED, evidence_of(trace)
    told = tuple(fact for fact in facts if fact.unit in {hit.unit.id for hit in touch.new})
    new = told or facts
    if (conflict := conflict_in(trace)) is not None:
        both = {conflict.rival, trace.conflict[-1].value}
        is_known = before.rival is not None and {before.rival, before.answer} == both
        return Verdict(Outcome.STILL) if is_known else conflict
    if before.answer is None:
        if is_answered:
            return Verdict(Outcome.ANSWERED, _by(new), new)
        is_news = before.status is GoalStatus.UNDERMINED and before.why == FORGOTTEN
        return Verdict(Outcome.UNDERMINED, FORGOTTEN) if is_news else Verdict(Outcome.STILL)
    old = (*before.evidence, *(before.because if before.rival is not None else ()), *before.against)
    if not is_answered:
        return Verdict(Outcome.LOST, touch.why)
    is_there = bool(old) and all(fact.unit in stored for fact in old)
    is_over = not is_there or _is_later(facts, old, before.checked)
    if before.rival is not None:
        is_settled = is_over or (_is_either(before, trace) and _may_be_later(told, old, before.checked))
        return Verdict(Outcome.ANSWERED, _by(new), new) if is_settled else Verdict(Outcome.STILL)
    if is_same(before, trace):
        return Verdict(Outcome.STILL)
    if is_over:
        return Verdict(Outcome.CHANGED, _by(new), new)
    return Verdict(Outcome.IN_CONFLICT, DIFFERENT, new, before.answer, old)


def first_state(trace: Trace, now: datetime) -> GoalState:
    """Return the state of a goal whose question was just asked, without its watches."""
    from goalmem_cli.trace import Status

    is_answered = trace.status is Status.ANSWERED
    state = GoalState(
        GoalStatus.ANSWERED if is_answered else GoalStatus.UNKNOWN, now, now, "asked",
        trace.answer if is_answered else None, trace.certainty if is_answered else None, trace.model,
        trace=trace, plan=plan_of(trace),
    )  # fmt: skip
    told = conflict_in(trace)
    return state if told is None else _with(replace(state, answer=trace.conflict[-1].value), told)


def conflict_in(trace: Trace) -> Verdict | None:
    """Return the verdict on a trace whose facts give several values, the first against the last; else None."""
    from goalmem_cli.trace import Status

    if trace.status is Status.ANSWERED or len(trace.conflict) < 2:
        return None
    first, *_, last = trace.conflict
    against, because = (tuple(trace.facts[number] for number in side.facts) for side in (first, last))
    return Verdict(Outcome.IN_CONFLICT, DIFFERENT, because, first.value, against)


def next_state(goal: Goal, trace: Trace, told: Verdict, saved: tuple[str, ...], now: datetime) -> GoalState:
    """Return the state of a goal after a check, without its watches; one that stays as it was keeps its beginning.

    `saved` are the ids of the check's saved traces, `now` is when it began.
    """
    before, state = goal.state, replace(first_state(trace, now), traces=saved)
    if told.outcome is not Outcome.STILL:
        return _with(state, told)
    if before.rival is not None:
        return replace(before, checked=now, last_traces=saved)
    return replace(
        state, since=before.since, why=before.why, because=before.because, traces=before.traces, last_traces=saved
    )


def _with(state: GoalState, told: Verdict) -> GoalState:
    """Return the state with what a verdict says: the status of a conflict, the reason, and the turns."""
    status = GoalStatus.IN_CONFLICT if told.outcome is Outcome.IN_CONFLICT else state.status
    return replace(state, status=status, why=told.why, because=told.because, rival=told.rival, against=told.against)


def plan_of(trace: Trace) -> KeptPlan | None:
    """Return the plan that the trace's outcome came from, None if the question was read as a whole."""
    from goalmem_cli.reasoners.goal_mem.kept_proofs import decisive

    attempt = decisive(trace)
    if attempt is None or not attempt.breadth:
        return None
    return KeptPlan(attempt.goal, attempt.subgoals, attempt.answers, attempt.is_current)


def is_same(before: GoalState, trace: Trace) -> bool:
    """Say whether the trace gives the answer that the state has, in any wording."""
    return before.answer is not None and trace.answer is not None and _agree(before.answer, trace.answer)


def _agree(left: str, right: str) -> bool:
    """Say whether two answers are the same in any wording: each item of one is an item of the other.

    "Leeds" is not "Leeds and York", "yes" not "likely yes", and "blue" not "not blue".
    """
    lefts, rights = (_ITEMS.split(text) for text in (left, right))
    return len(lefts) == len(rights) and all(any(_is_item(one, other) for other in rights) for one in lefts)


def _is_item(one: str, other: str) -> bool:
    turns = [_TURNS & set(words(text)) for text in (one, other)]
    return turns[0] == turns[1] and compare(one, other) in (Equality.EQUAL, Equality.ALIAS)


def _is_either(before: GoalState, trace: Trace) -> bool:
    """Say whether the trace gives one of the two values in conflict, in any wording."""
    return is_same(before, trace) or is_same(replace(before, answer=before.rival), trace)


def _is_later(facts: Sequence[Fact], old: Sequence[Fact], known: datetime) -> bool:
    """Say whether the latest of the facts was said after the latest of the old ones.

    Facts without a time are not later. Old ones without a time were said before `known`, when they were in the memory.
    """
    ours, theirs = _last(facts), _last(old)
    if ours is None or theirs is None:
        return ours is not None and not is_later(known.astimezone().replace(microsecond=0), ours)
    return is_later(ours, theirs)


def _may_be_later(facts: Sequence[Fact], old: Sequence[Fact], known: datetime) -> bool:
    """Say whether there are facts, and they have no time or are later as `_is_later` says."""
    return bool(facts) and (_last(facts) is None or _is_later(facts, old, known))


def _last(facts: Sequence[Fact]) -> datetime | None:
    return latest(fact.said for fact in facts)


def _by(facts: Sequence[Fact]) -> str:
    """Return who said the decisive fact and when, without its text."""
    if not facts:
        return ""
    fact = facts[-1]
    when = "" if fact.said is None else f"{fact.said:%-d %B %Y}"
    return ", ".join(filter(None, (fact.speaker, when)))
