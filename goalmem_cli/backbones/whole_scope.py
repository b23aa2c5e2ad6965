"""No backbone: what is in scope as it stands, for questions that carry all that answers them, and to compare with."""

from __future__ import annotations

from collections.abc import Sequence

from goalmem_cli.logic.moments import Moment, Span
from goalmem_cli.memory_ports import AnyMemory
from goalmem_cli.records import Hit, Query, Turn
from goalmem_cli.store.units import retrievable, units_from_turns

NAME = "none"


class WholeScope:
    """Gives the turns, or passages of long turns, that a query's filters let through, whatever it asks.

    They come in their order, conversation after conversation; of more than are wanted, the last.
    """

    def __init__(self, store: AnyMemory) -> None:
        self._store = store

    def update(self, turns: Sequence[Turn]) -> None:
        """Remember the turns under the conversations they name; those known already change nothing.

        Raises:
            StoreError: the store cannot be written.
        """
        self._store.add_turns(turns)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return the last k hits of the scope, in order, without scores.

        Raises:
            StoreError: the store cannot be read.
        """
        turns = [turn for turn in self._store.turns(query.conversations) if _passes(turn, query)]
        wanted = [unit.id for unit in retrievable(units_from_turns(turns))][-k:] if k > 0 else []
        with self._store.reading() as reader:
            hits = reader.hits(wanted)
        return [hits[unit] for unit in wanted if unit in hits]


def _passes(turn: Turn, query: Query) -> bool:
    """Say whether the query's filters let a turn through; one without a time fails those of time."""
    if query.speakers is not None and turn.speaker not in query.speakers:
        return False
    if query.since is None and query.until is None:
        return True
    if turn.said is None:
        return False
    said, span = Moment.from_datetime(turn.said), Span.between(query.since, query.until)
    is_early = span.since is not None and span.since.is_later_than(said)
    return not is_early and (span.until is None or not said.is_later_than(span.until))
