"""No backbone: what is in scope as it stands, for questions that carry all that answers them, and to compare with."""

from __future__ import annotations

from collections.abc import Sequence

from goalmem_cli.backbones.scope import within_time
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
