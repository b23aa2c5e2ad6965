"""Secrets in what is read: blacked out before anything is stored, or only counted where that was not asked for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from goalmem_cli.memory_records import Selection
from goalmem_cli.records import Conversation, Turn

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory

LOGS = frozenset({"agent-log", "aider", "cursor", "gemini-cli", "opencode", "specstory"})
"""Formats of agents' logs, in which secrets are so common that they are counted in any case."""
_NUMBERED = 9


class Redactor:
    """Blacks out secrets where it `redacts`. What was stored with them before is taken out of the memory then."""

    def __init__(self, *, redacts: bool) -> None:
        self._redacts = redacts
        self._memory: KeptMemory | None = None
        self._gone: set[str] = set()

    def begin(self, memory: KeptMemory, *, is_dry: bool) -> None:
        """Take the memory that is read into; nothing is taken out of it on a dry run."""
        self._memory = None if is_dry else memory

    def redacted(self, conversation: Conversation) -> tuple[Conversation, Counter[str]]:
        """Return the conversation as it is to be stored, and how many secrets of each kind are in it.

        Raises:
            StoreError: what was stored before cannot be taken out.
        """
        found: Counter[str] = Counter()
        if not self._redacts and conversation.format not in LOGS:
            return conversation, found
        from goalmem_cli.store.secrets import redacted_turn
        from goalmem_cli.store.tombstones import without_resting_on

        turns, plain = list[Turn](), list[Turn]()
        for turn in conversation.turns:
            told, kinds = redacted_turn(turn)
            found += kinds
            turns.append(told)
            plain += [turn] if kinds else []
        if not self._redacts:
            return conversation, found
        if plain:
            self._take_out(conversation, plain)
            self._gone.update(turn.id for turn in plain)
        return without_resting_on(replace(conversation, turns=tuple(turns)), self._gone), found

    def _take_out(self, conversation: Conversation, plain: list[Turn]) -> None:
        """Forget the turns as they were stored plain: no file of the memory holds their text afterwards."""
        if self._memory is None or not self._memory.exists:
            return
        room = conversation.name if conversation.own_id is None else conversation.own_id
        rooms = (room, *(f"{room}-{number}" for number in range(2, _NUMBERED + 1)))
        selection = Selection(rooms, content_keys=frozenset(turn.content_key for turn in plain))
        if self._memory.forgettable(selection).turns:
            self._memory.forget(selection)
