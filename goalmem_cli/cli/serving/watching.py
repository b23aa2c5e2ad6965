"""Hearing of a question's steps while a model works, and ending the work between two of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Event

from goalmem_cli.trace import Action, Fact, Step


class Abandoned(BaseException):
    """Whoever asked does not want the answer any more. It is no failure: like an interrupt, nothing handles it."""


class Watched:
    """An observer that tells each step in words, and ends the work once it is `abandoned`."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._is_over = Event()

    def abandon(self) -> None:
        """End the work at the next step; may be called from another thread."""
        self._is_over.set()

    def retrieved(self, queries: Sequence[str], facts: Mapping[str, Fact]) -> None:
        """Tell that memory was looked into."""
        self._told(f"{len(facts)} facts in view, {len(queries)} queries asked")

    def started(self, attempt: int, goal: str, subgoals: Sequence[str]) -> None:
        """Tell of a decomposition."""
        self._told(f"attempt {attempt}, {len(subgoals)} subgoals: {goal[:200]}")

    def stepped(self, attempt: int, step: Step, facts: Mapping[str, Fact]) -> None:
        """Tell what a round found."""
        self._told(f"attempt {attempt}, step {step.depth}: {len(step.grounded)} grounded, {len(facts)} facts")

    def acted(self, action: Action, facts: Mapping[str, Fact]) -> None:
        """Tell what a reasoner without subgoals did."""
        self._told(f"{action.name}: {len(facts)} facts")

    def go_on(self) -> None:
        """Raise `Abandoned` once nobody wants the answer any more."""
        if self._is_over.is_set():
            raise Abandoned

    def _told(self, line: str) -> None:
        self.go_on()
        self._tell(line)
