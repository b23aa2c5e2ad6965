"""Lines about kept goals: their state, the result of a check, and their history; and a page of all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from html import escape
from typing import TYPE_CHECKING

from goalmem_cli.render.policy import page
from goalmem_cli.render.text import counted, labels_of, safe, settling, shortened
from goalmem_cli.store.goal_records import Goal, GoalState, GoalStatus, Outcome

if TYPE_CHECKING:
    from goalmem_cli.store.goal_records import CheckedGoal
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
        return f"{head}: {safe(checked.failure) or 'the model gave no usable reply'}; it stands as before"
    if state.status is GoalStatus.IN_CONFLICT:
        first, last, ask = told_by(goal, state)
        return f"{head}: {first}, and {last}; {ask}"
    told = _told(state.answer, state.because) if state.answer is not None else safe(state.why)
    was = f"; before: {_answer(before)}" if before.answer is not None else ""
    return f"{head}: {told}{was}"


def lines_of_history(goal: Goal, traces: Collection[str]) -> Iterator[str]:
    """Yield the goal's question and lines for each of its states, oldest first, with those of its traces that exist."""
    yield safe(goal.question)
    for state in goal.states:
        cause = f" ({safe(state.why)})" if state.why else ""
        yield f"  since {_since(state)}: {standing(state)}{cause}"
        for line in told_by(goal, state):
            yield f"    {line}"
        yield from (f"    trace {each}" for each in (*state.traces, *state.last_traces) if each in traces)
    state = goal.state
    yield f"  last checked {_day(state.checked.astimezone())}" + (f", with {safe(state.model)}" if state.model else "")
    if state.plan is not None:
        yield f"  plan: {safe(' and '.join(state.plan.subgoals))} => {safe(state.plan.goal)}"


def touched_words(count: int, command: str) -> str:
    """Return how many goals may have changed, and the command that checks them."""
    return f"{counted(count, 'goal')} may have changed: {command}"


def document_of(goal: Goal) -> dict[str, object]:
    """Return a goal with all its states as JSON data; of a conflict, the question that would settle it comes too."""
    return goal.document() | {"settling": _settling(goal, goal.state)}


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
        "before": checked.before.answer if checked.before.rival is None else None,
        "touched": checked.touched or None,
        "because": _rows(state.because),
        "rival": state.rival,
        "against": _rows(state.against),
        "settling": _settling(checked.goal, state),
        "calls": checked.calls,
    }


def _rows(facts: Sequence[Fact]) -> list[dict[str, object]]:
    return [{"speaker": each.speaker, "said": each.said and each.said.isoformat(), "text": each.text} for each in facts]


def told_by(goal: Goal, state: GoalState) -> Iterator[str]:
    """Yield the turns that a state rests on, or that changed it; of a conflict, both answers and what would settle it.

    The answers in conflict come with their turns.
    """
    if state.status is not GoalStatus.IN_CONFLICT:
        yield from map(_quote, state.evidence or state.because)
        return
    yield _told(state.rival, state.against)
    yield _told(state.answer, state.because)
    yield safe(_settling(goal, state) or "")


def _settling(goal: Goal, state: GoalState) -> str | None:
    """Return the question that would settle a conflict, None if the state is none."""
    if state.status is not GoalStatus.IN_CONFLICT:
        return None
    return settling(goal.question, (state.rival or "", state.answer or ""))


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
    if state.status is GoalStatus.IN_CONFLICT:
        return f"{safe(state.rival or '')}, or {safe(state.answer or '')}"
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


WIDTH, _HEIGHT, _LEAST = 800, 28, 3
_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 52rem; margin: 1rem auto; padding: 0 1rem; font: 16px/1.4 system-ui, sans-serif; }
h2 { margin: 2rem 0 0; font-size: 1.1rem; }
svg { width: 100%; height: auto; }
ol { padding-left: 1.2rem; }
li { unicode-bidi: isolate; }
p, li p { margin: 0.2rem 0; }
.dim { opacity: 0.7; }
.answered { fill: #2da44e; } .unknown { fill: #8c959f; } .undermined { fill: #bf8700; } .conflict { fill: #cf222e; }
"""
_CLASSES = {"answered": "answered", "unknown": "unknown", "undermined": "undermined", "in conflict": "conflict"}


def goals_page(goals: Sequence[Goal], now: datetime) -> str:
    """Return the page of these goals, encodable as UTF-8; all lines of time begin together and end at `now`."""
    first = min((state.since for goal in goals for state in goal.states), default=now)
    length = max(now - first, timedelta(seconds=1))
    body = "\n".join(line for goal in goals for line in _section(goal, first, length))
    span = f'<p class="dim">{_moment(first)} to {_moment(now)}</p>'
    return page("Goals over time", _STYLE, f"<h1>Goals over time</h1>\n{span}\n{body}")


def _section(goal: Goal, first: datetime, length: timedelta) -> Iterator[str]:
    """Yield the HTML of a goal: its bar over time and its states."""
    yield f"<section>\n<h2>{_text(goal.name)}</h2>\n<p>{_text(goal.question)}</p>"
    yield f'<svg viewBox="0 0 {WIDTH} {_HEIGHT}" role="img">'
    ends = [*(state.since for state in goal.states[1:]), first + length]
    for state, end in zip(goal.states, ends, strict=True):
        start = round((state.since - first) / length * WIDTH)
        width = max(round((end - first) / length * WIDTH) - start, _LEAST)
        yield (
            f'<rect class="{_CLASSES[state.status]}" x="{min(start, WIDTH - _LEAST)}" width="{width}" '
            f'height="{_HEIGHT}"><title>{_moment(state.since)}: {_text(standing(state))}</title></rect>'
        )
    yield "</svg>\n<ol>"
    yield from (_item(goal, state) for state in goal.states)
    yield f'</ol>\n<p class="dim">last checked {_moment(goal.state.checked)}</p>\n</section>'


def _item(goal: Goal, state: GoalState) -> str:
    why = f' <span class="dim">({_text(state.why)})</span>' if state.why else ""
    turns = "".join(f"\n<p>{_text(line)}</p>" for line in told_by(goal, state))
    return f"<li>{_moment(state.since)}: {_text(standing(state))}{why}{turns}</li>"


def _text(text: str) -> str:
    return escape(safe(text))


def _moment(time: datetime) -> str:
    return escape(f"{time.astimezone():%Y-%m-%d %H:%M}")
