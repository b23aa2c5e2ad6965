"""The proof tree while it grows: an observer that redraws it on a terminal after every finished step."""

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

from goalmem_cli.render.text import plain
from goalmem_cli.render.tree import BRIEF, add_attempt, state_of
from goalmem_cli.trace import Attempt, Fact, Step


class LiveTree:
    """Shows a question's attempts as they are made, and is gone when the block ends.

    `is_full` draws the tree; otherwise one line says how far it has come.
    """

    def __init__(self, console: Console, question: str, *, is_full: bool) -> None:
        self._question = question
        self._is_full = is_full
        self._attempts: list[Attempt] = []
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

    def started(self, attempt: int, goal: str, subgoals: Sequence[str]) -> None:
        """Show a decomposition."""
        self._attempts.append(Attempt(attempt, goal, tuple(subgoals)))
        self._live.refresh()

    def stepped(self, attempt: int, step: Step, facts: Mapping[str, Fact]) -> None:
        """Show what a round found."""
        self._facts = facts
        self._attempts = [
            replace(known, steps=(*known.steps, step)) if known.breadth == attempt else known
            for known in self._attempts
        ]
        self._live.refresh()

    def _picture(self) -> RenderableType:
        self._spinner.update(text=progress_line(self._attempts))
        if not self._is_full:
            return self._spinner
        tree = growing_tree(self._question, self._attempts, self._facts)
        tree.add(self._spinner)
        return tree


def growing_tree(question: str, attempts: Sequence[Attempt], facts: Mapping[str, Fact]) -> Tree:
    """Return the tree so far: earlier attempts as a line each, the latest whole."""
    tree = Tree(plain(question, "bold"), guide_style="dim")
    for attempt in attempts[:-1]:
        tree.add(Text(f"attempt {attempt.breadth}: {_settled(attempt)}", style="dim"))
    for attempt in attempts[-1:]:
        add_attempt(tree, attempt, facts, BRIEF)
    return tree


def progress_line(attempts: Sequence[Attempt]) -> Text:
    """Return how far the question has come, on one line."""
    if not attempts:
        return Text("splitting the question into subgoals", style="dim")
    attempt = attempts[-1]
    return Text(f"attempt {attempt.breadth}, step {len(attempt.steps)}: {_settled(attempt)}", style="dim")


def _settled(attempt: Attempt) -> str:
    settled = sum(state_of(attempt, index) in {"grounded", "contradicted"} for index in range(len(attempt.subgoals)))
    return f"{settled} of {len(attempt.subgoals)} subgoals settled"
