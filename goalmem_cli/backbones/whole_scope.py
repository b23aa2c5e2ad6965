"""The backbone `none`: returns everything in scope. For questions that bring their own context, and as a baseline."""

from __future__ import annotations

from collections.abc import Sequence

from goalmem_cli.backbones.scope import within_time
from goalmem_cli.memory_ports import AnyMemory
from goalmem_cli.records import Hit, Query, Turn
from goalmem_cli.store.units import retrievable, units_from_turns

NAME = "none"


class WholeScope:
    """Returns the turns, or passages of long turns, that pass the query's filters; the query's text is ignored.

    They come in the order of the conversations. If there are more than k, the last k are returned.
    """

    def __init__(self, store: AnyMemory) -> None:
        self._store = store

    def update(self, turns: Sequence[Turn]) -> None:
        """Store the turns under the conversations they name; known turns change nothing."""
        self._store.add_turns(turns)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return the last k hits of the scope, in order, without scores."""
        is_within, speakers = within_time(query), query.speakers
        turns = [
            turn
            for turn in self._store.turns(query.conversations)
            if (speakers is None or turn.speaker in speakers) and is_within(turn)
        ]
        wanted = [unit.id for unit in retrievable(units_from_turns(turns))][-k:] if k > 0 else []
        with self._store.reading() as reader:
            hits = reader.hits(wanted)
        return [hits[unit] for unit in wanted if unit in hits]
