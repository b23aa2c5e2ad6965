"""Black out secrets before turns are stored, or only count them if redaction was not asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from goalmem_cli.records import Conversation, Turn

if TYPE_CHECKING:
    from goalmem_cli.library.known import KnownMemory

LOGS = frozenset({"agent-log", "aider", "cursor", "gemini-cli", "opencode", "specstory", "vscode-copilot"})
"""Formats of agents' logs; their secrets are always counted, as they are common there."""


class Redactor:
    """Blacks out secrets if it `redacts`, and always in turns that were redacted once before.

    Turns that are stored with their secrets are then deleted from the memory.
    """

    def __init__(self, *, redacts: bool) -> None:
        self._redacts = redacts
        self._known: KnownMemory | None = None
        self._gone: set[str] = set()

    def take(self, known: KnownMemory) -> None:
        """Use this memory's marks from now on."""
        self._known = known

    def redacted(self, conversation: Conversation) -> tuple[Conversation, Counter[str], Counter[str]]:
        """Return the conversation to store, and the counts of redacted and of remaining secrets by kind.

        Raises:
            StoreError: the unredacted turns cannot be deleted.
        """
        blacked_out, left = Counter[str](), Counter[str]()
        is_marked = self._known is not None and self._known.marks.knows_secrets
        if not (self._redacts or is_marked or conversation.format in LOGS):
            return conversation, blacked_out, left
        from goalmem_cli.store.recognising import rooms_of
        from goalmem_cli.store.redaction import redacted_turn
        from goalmem_cli.store.tombstones import without_resting_on

        rooms, turns, plain, marks = rooms_of(conversation), list[Turn](), list[Turn](), set[str]()
        for turn in conversation.turns:
            told, kinds = redacted_turn(turn)
            is_chosen = self._redacts or (bool(kinds) and self._is_known(turn, rooms))
            turns.append(told if is_chosen else turn)
            if kinds and is_chosen:
                plain.append(turn)
                marks |= self._known.marks.of_turn(turn, rooms) if self._known is not None else set()
                blacked_out += kinds
            elif conversation.format in LOGS:
                left += kinds
        if plain and self._known is not None:
            self._known.take_out(conversation, plain)
            if not marks <= self._known.marks.redacted:
                self._known.change(lambda there: there.with_redacted(marks))
        if plain or self._gone:
            kept = replace(conversation, turns=tuple(turns))
            conversation = without_resting_on(kept, plain, self._gone)
        return conversation, blacked_out, left

    def _is_known(self, turn: Turn, rooms: Sequence[str]) -> bool:
        """Say whether the turn was redacted once and must be redacted again."""
        return self._known is not None and self._known.marks.is_redacted(turn, rooms)
