"""An observer that draws the growing proof tree on a terminal after every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text
from rich.tree import Tree

from goalmem_cli.render.actions import action_line, add_action
from goalmem_cli.render.nodes import BRIEF
from goalmem_cli.render.text import counted, plain, safe
from goalmem_cli.render.tree import add_attempt, attempt_name, state_of
from goalmem_cli.trace import Action, Attempt, Fact, Step

LOADING = "loading the model"
LOOKING = "looking into memory"


class LiveTree:
    """Shows a question's attempts or actions while they are made; the display disappears at the end.

    With `is_full` it draws the tree, otherwise one line of progress. `attempts` are the attempts so far, in order.
    """

    def __init__(self, console: Console, question: str, *, is_full: bool) -> None:
        self._question = question
        self._is_full = is_full
        self.attempts: list[Attempt] = []
        self._actions: list[Action] = []
        self._before = LOADING
        self._facts: Mapping[str, Fact] = {}
        self._spinner = Spinner("dots")
        self._live = Live(console=console, transient=True, vertical_overflow="crop", get_renderable=self._picture)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live.stop()

    def loaded(self) -> None:
        """Show that the model is loaded."""
        self._before = LOOKING
        self._live.refresh()

    def retrieved(self, queries: Sequence[str], facts: Mapping[str, Fact]) -> None:
        """Show that facts were retrieved, while the model reads them."""
        self._facts = facts
        self._before = f"{counted(len(facts), 'fact')} in view, {counted(len(queries), 'query', 'queries')} asked"
        self._live.refresh()

    def started(self, attempt: int, goal: str, subgoals: Sequence[str]) -> None:
        """Show a decomposition."""
        self.attempts.append(Attempt(attempt, goal, tuple(subgoals)))
        self._live.refresh()

    def stepped(self, attempt: int, step: Step, facts: Mapping[str, Fact]) -> None:
        """Show the result of a round; of several attempts with the same number, the latest is meant."""
        self._facts = facts
        places = [place for place, known in enumerate(self.attempts) if known.breadth == attempt]
        for place in places[-1:]:
            known = self.attempts[place]
            self.attempts[place] = replace(known, steps=(*known.steps, step))
        self._live.refresh()

    def acted(self, action: Action, facts: Mapping[str, Fact]) -> None:
        """Show an action of a reasoner without subgoals."""
        self._facts = facts
        self._actions.append(action)
        self._live.refresh()

    def _picture(self) -> RenderableType:
        """Return the tree so far with a spinner, or the spinner alone."""
        self._spinner.update(text=progress_line(self.attempts, self._actions, self._before))
        if not self._is_full:
            return self._spinner
        tree = growing_tree(self._question, self.attempts, self._facts, self._actions)
        tree.add(self._spinner)
        return tree


def growing_tree(
    question: str, attempts: Sequence[Attempt], facts: Mapping[str, Fact], actions: Sequence[Action] = ()
) -> Tree:
    """Return the tree so far: earlier attempts or actions as one line each, the latest in full."""
    tree = Tree(plain(question, "bold"), guide_style="dim")
    for attempt in attempts[:-1]:
        tree.add(Text(f"{attempt_name(attempt)}: {_settled(attempt)}", style="dim"))
    for attempt in attempts[-1:]:
        add_attempt(tree, attempt, facts, BRIEF)
    for action in actions[:-1]:
        tree.add(action_line(action))
    for action in actions[-1:]:
        add_action(tree, action, facts, BRIEF)
    return tree


def progress_line(attempts: Sequence[Attempt], actions: Sequence[Action] = (), before: str = LOOKING) -> Text:
    """Return the progress of the question on one line; `before` is shown until the first attempt or action."""
    if actions:
        found = counted(sum(len(action.new_facts) for action in actions), "fact")
        calls = counted(sum(action.usage.calls for action in actions), "call")
        return Text(f"{safe(actions[-1].name)} done: {found} so far, {calls}", style="dim")
    if not attempts:
        return Text(before, style="dim")
    attempt = attempts[-1]
    return Text(f"{attempt_name(attempt)}, step {len(attempt.steps)}: {_settled(attempt)}", style="dim")


def _settled(attempt: Attempt) -> str:
    settled = sum(state_of(attempt, index) in {"grounded", "contradicted"} for index in range(len(attempt.subgoals)))
    return f"{settled} of {len(attempt.subgoals)} subgoals settled"
