"""The observer that does nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goalmem_cli.trace import Action, Fact, Step


class Unwatched:
    """An observer that ignores everything."""

    def retrieved(self, queries: Sequence[str], facts: Mapping[str, Fact]) -> None:
        """Do nothing."""

    def started(self, attempt: int, goal: str, subgoals: Sequence[str]) -> None:
        """Do nothing."""

    def stepped(self, attempt: int, step: Step, facts: Mapping[str, Fact]) -> None:
        """Do nothing."""

    def acted(self, action: Action, facts: Mapping[str, Fact]) -> None:
        """Do nothing."""
