"""Observe a question's steps while a model works, and end the work between two steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Event

from goalmem_cli.trace import Action, Fact, Step


class Abandoned(BaseException):
    """The question was cancelled. This is no failure: like an interrupt, nothing handles it."""


class Watched:
    """An observer that reports each step in words, and ends the work once `abandoned` is set."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._is_over = Event()

    def abandon(self) -> None:
        """End the work at the next step. Any thread may call it."""
        self._is_over.set()

    def retrieved(self, queries: Sequence[str], facts: Mapping[str, Fact]) -> None:
        """Report a retrieval."""
        self._told(f"{len(facts)} facts in view, {len(queries)} queries asked")

    def started(self, attempt: int, goal: str, subgoals: Sequence[str]) -> None:
        """Report a decomposition."""
        self._told(f"attempt {attempt}, {len(subgoals)} subgoals: {goal[:200]}")

    def stepped(self, attempt: int, step: Step, facts: Mapping[str, Fact]) -> None:
        """Report what a round found."""
        self._told(f"attempt {attempt}, step {step.depth}: {len(step.grounded)} grounded, {len(facts)} facts")

    def acted(self, action: Action, facts: Mapping[str, Fact]) -> None:
        """Report a step of a reasoner without subgoals."""
        self._told(f"{action.name}: {len(facts)} facts")

    def go_on(self) -> None:
        """Raise `Abandoned` if the question was cancelled."""
        if self._is_over.is_set():
            raise Abandoned

    def _told(self, line: str) -> None:
        self.go_on()
        self._tell(line)
