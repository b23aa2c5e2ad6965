"""Lines about kept goals: their state, the result of a check, and their history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from goalmem_cli.render.text import counted, labels_of, safe, settling, shortened
from goalmem_cli.store.goal_records import GoalStatus, Outcome

if TYPE_CHECKING:
    from datetime import datetime

    from goalmem_cli.store.goal_records import CheckedGoal, Goal, GoalState
    from goalmem_cli.trace import Fact

_QUOTED = 120


def line_of_goal(goal: Goal) -> str:
    """Return the goal's name, question, and how it stands."""
    return f"{safe(goal.name)}: {safe(goal.question)} {standing(goal.state)}, since {_since(goal.state)}"


def line_of_check(checked: CheckedGoal) -> str:
    """Return the line about a check: its result, the deciding turn, and the answer before."""
    goal, before, state, outcome = checked.goal, checked.before, checked.goal.state, checked.outcome
    head = f"{safe(goal.name)}: {outcome}"
    if outcome is Outcome.STILL:
        return f"{head}, since {_since(state)}: {_answer(state)}"
    if outcome is Outcome.FAILED:
        return f"{head}: the model gave no usable reply; it stands as before"
    if outcome is Outcome.IN_CONFLICT:
        ask = safe(settling(goal.question, (state.rival or "", state.answer or "")))
        return f"{head}: {_told(state.rival, state.against)}, and {_told(state.answer, state.because)}; {ask}"
    told = _told(state.answer, state.because) if state.answer is not None else safe(state.why)
    was = f"; before: {safe(before.answer)}" if before.answer is not None else ""
    return f"{head}: {told}{was}"


def lines_of_history(goal: Goal) -> Iterator[str]:
    """Yield the goal's question, and a line for each of its states, oldest first."""
    yield safe(goal.question)
    for state in goal.states:
        cause = f" ({safe(state.why)})" if state.why else ""
        yield f"  since {_since(state)}: {standing(state)}{cause}"
        for line in told_by(state):
            yield f"    {line}"
    state = goal.state
    yield f"  last checked {_day(state.checked.astimezone())}" + (f", with {safe(state.model)}" if state.model else "")
    if state.plan is not None:
        yield f"  plan: {safe(' and '.join(state.plan.subgoals))} => {safe(state.plan.goal)}"


def touched_words(count: int) -> str:
    """Return how many goals may have changed, and the command that checks them."""
    return f"{counted(count, 'goal')} may have changed: goalmem goals check"


def row_of_goal(goal: Goal) -> dict[str, object]:
    """Return a goal and its state as JSON data."""
    state = goal.state
    return {
        "name": goal.name,
        "question": goal.question,
        "status": state.status.value,
        "answer": state.answer,
        "certainty": state.certainty,
        "since": state.since.isoformat(),
        "told": state.told.isoformat() if state.told is not None else None,
        "checked": state.checked.isoformat(),
        "why": state.why,
        "evidence": [fact.unit for fact in state.evidence],
    }


def row_of_check(checked: CheckedGoal) -> dict[str, object]:
    """Return the result of a check as JSON data."""
    state = checked.goal.state
    return row_of_goal(checked.goal) | {
        "outcome": checked.outcome.value,
        "before": checked.before.answer,
        "touched": checked.touched or None,
        "because": [{"speaker": fact.speaker, "said": _iso(fact), "text": fact.text} for fact in state.because],
        "rival": state.rival,
        "against": [{"speaker": fact.speaker, "said": _iso(fact), "text": fact.text} for fact in state.against],
        "calls": checked.calls,
    }


def _iso(fact: Fact) -> str | None:
    return fact.said.isoformat() if fact.said is not None else None


def told_by(state: GoalState) -> Iterator[str]:
    """Yield the turns that a state rests on, or that changed it."""
    yield from map(_quote, state.evidence or (*state.because, *state.against))


def standing(state: GoalState) -> str:
    """Return the state of a goal in words: its answer with the certainty, or why there is none."""
    if state.status is GoalStatus.ANSWERED:
        sure = "" if state.certainty is None else f", {state.certainty:.0%} certain"
        return f"-> {safe(state.answer or '')}{sure}"
    if state.status is GoalStatus.IN_CONFLICT:
        return f"-> in conflict: {safe(state.rival or '')}, or {safe(state.answer or '')}"
    return f"-> {state.status}{_failed_step(state)}"


def _failed_step(state: GoalState) -> str:
    """Return the first subgoal that failed, with the reason."""
    from goalmem_cli.render.tree import reason_line
    from goalmem_cli.trace import Status

    if state.trace is None or state.trace.status is Status.ANSWERED:
        return ""
    return f" ({reason_line(state.trace)})"


def _answer(state: GoalState) -> str:
    return safe(state.answer) if state.answer is not None else str(state.status)


def _told(answer: str | None, facts: Sequence[Fact]) -> str:
    """Return an answer with the turns that say it."""
    quotes = "; ".join(map(_quote, facts))
    return f"{safe(answer or '')} ({quotes})" if quotes else safe(answer or "")


def _quote(fact: Fact) -> str:
    when = _day(fact.said) if fact.said is not None else ""
    whose = ", ".join(filter(None, (safe(fact.speaker), when, labels_of(fact.turns))))  # derived from two: no speaker
    return f"{whose}: “{shortened(fact.text, _QUOTED)}”"


def _since(state: GoalState) -> str:
    """Return the day of the turn that gave the answer; if there is none, the day on which a check found the state."""
    return _day(state.since.astimezone() if state.told is None else state.told)


def _day(time: datetime) -> str:
    return f"{time.day} {time:%b %Y}"
