"""A page of kept goals over time: for each its states on a line of time, the answers, and the turns that changed them.

The page is one HTML file that loads nothing and runs nothing. All texts are escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from html import escape

from goalmem_cli.records import encodable
from goalmem_cli.render.goals import standing, told_by
from goalmem_cli.render.policy import source
from goalmem_cli.render.text import safe
from goalmem_cli.store.goal_records import Goal, GoalState

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
    policy = f"default-src 'none'; style-src {source(_STYLE)}; base-uri 'none'; form-action 'none'"
    first = min((state.since for goal in goals for state in goal.states), default=now)
    length = max(now - first, timedelta(seconds=1))
    body = "\n".join(line for goal in goals for line in _section(goal, first, length))
    return encodable(
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Goals over time</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>Goals over time</h1>\n"
        f'<p class="dim">{_moment(first)} to {_moment(now)}</p>\n{body}\n</body>\n</html>\n'
    )


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
    yield from map(_item, goal.states)
    yield f'</ol>\n<p class="dim">last checked {_moment(goal.state.checked)}</p>\n</section>'


def _item(state: GoalState) -> str:
    why = f' <span class="dim">({_text(state.why)})</span>' if state.why else ""
    turns = "".join(f"\n<p>{_text(line)}</p>" for line in told_by(state))
    return f"<li>{_moment(state.since)}: {_text(standing(state))}{why}{turns}</li>"


def _text(text: str) -> str:
    return escape(safe(text))


def _moment(time: datetime) -> str:
    return escape(f"{time.astimezone():%Y-%m-%d %H:%M}")
