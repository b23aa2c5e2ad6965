"""Black out secrets before turns are stored, or only count them if redaction was not asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from goalmem_cli.records import Conversation, Turn

if TYPE_CHECKING:
    from goalmem_cli.library.known import KnownMemory

LOGS = frozenset({"agent-log", "aider", "cursor", "gemini-cli", "opencode", "specstory", "vscode-copilot"})
"""Formats of agents' logs; their secrets are always counted, as they are common there."""
_TURNS_AT_ONCE = 5000


class Redactor:
    """Blacks out secrets if it `redacts`, and always in turns that were redacted once before.

    Turns that are stored with their secrets are then deleted from the memory; `note` says so before that.
    """

    def __init__(self, *, redacts: bool, note: Callable[[str], None]) -> None:
        self._redacts = redacts
        self._note = note
        self._known: KnownMemory | None = None
        self._gone: set[str] = set()
        self._plain: list[tuple[Conversation, Sequence[Turn]]] = []
        self._marks: set[str] = set()
        self.taken_out = 0
        """The number of stored turns that were deleted, or in a dry reading would be, because they have secrets."""

    def take(self, known: KnownMemory) -> None:
        """Use this memory's marks from now on."""
        self._known = known

    @property
    def takes_out(self) -> bool:
        """Whether it may delete stored turns, to store them again without their secrets."""
        return self._redacts or (self._known is not None and self._known.marks.knows_secrets)

    def settled(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """Yield redacted conversations, once their stored turns that still have secrets are deleted.

        Each deletion writes the whole memory anew, so it is done for many conversations at once.

        Raises:
            StoreError: the turns with secrets cannot be deleted.
        """
        waiting, turns = list[Conversation](), 0
        for conversation in conversations:
            waiting.append(conversation)
            turns += len(conversation.turns)
            if not self._plain or turns >= _TURNS_AT_ONCE:
                yield from self._settle(waiting)
                waiting, turns = [], 0
        yield from self._settle(waiting)

    def _settle(self, waiting: Sequence[Conversation]) -> list[Conversation]:
        """Write the marks of redacted turns, then delete the stored turns that have the secrets.

        Return the conversations, of which each knows the stored one whose window it was.
        """
        windows: dict[tuple[str | None, str], str] = {}
        if self._plain and self._known is not None:
            if not self._marks <= self._known.marks.redacted:
                marks = frozenset(self._marks)
                self._known.change(lambda there: there.with_redacted(marks))
            # After the marks: what is stored next is redacted even if this stops.
            count, found = self._known.take_out(self._plain, self._note)
            self.taken_out += count
            pairs = zip(self._plain, found, strict=True)
            windows = {(said.file, said.name): name for (said, _), name in pairs if not said.continues}
        self._plain, self._marks = [], set()
        names = ("" if said.continues else windows.get((said.file, said.name), "") for said in waiting)
        return [replace(said, window_of=name) if name else said for said, name in zip(waiting, names, strict=True)]

    def redacted(self, conversation: Conversation) -> tuple[Conversation, Counter[str], Counter[str]]:
        """Return the conversation for `settled`, and the counts of redacted and of remaining secrets by kind."""
        blacked_out, left = Counter[str](), Counter[str]()
        is_marked = self._known is not None and self._known.marks.knows_secrets
        if not (self._redacts or is_marked or conversation.format in LOGS):
            return conversation, blacked_out, left
        from goalmem_cli.store.recognising import rooms_of
        from goalmem_cli.store.redaction import redacted_turn
        from goalmem_cli.store.tombstones import without_resting_on

        rooms, turns, plain = rooms_of(conversation), list[Turn](), list[Turn]()
        for turn in conversation.turns:
            told, kinds = redacted_turn(turn)
            is_chosen = self._redacts or (bool(kinds) and self._is_known(turn, rooms))
            turns.append(told if is_chosen else turn)
            if kinds and is_chosen:
                plain.append(turn)
                self._marks |= self._known.marks.of_redacted(turn, rooms) if self._known is not None else set()
                blacked_out += kinds
            elif conversation.format in LOGS:
                left += kinds
        if plain:
            self._plain.append((conversation, plain))
            turns = self._under_stored_zones(conversation, turns, plain)
        if plain or self._gone:
            kept = replace(conversation, turns=tuple(turns))
            conversation = without_resting_on(kept, plain, self._gone)
        return conversation, blacked_out, left

    def _under_stored_zones(self, conversation: Conversation, turns: list[Turn], plain: Sequence[Turn]) -> list[Turn]:
        """Return the turns, of which those that replace `plain` ones keep their zones, unless the user names one."""
        if self._known is None or not conversation.is_zone_assumed:
            return turns
        zones = self._known.zones_of(conversation, plain)
        kept = {turn.ordinal: zones[turn.content_key] for turn in plain if turn.content_key in zones}
        return [
            replace(turn, attributes={**turn.attributes, **kept[turn.ordinal]}) if turn.ordinal in kept else turn
            for turn in turns
        ]

    def _is_known(self, turn: Turn, rooms: Sequence[str]) -> bool:
        """Say whether the turn was redacted once and must be redacted again."""
        if self._known is None or not self._known.marks.knows_secrets:
            return False
        from goalmem_cli.store.tombstones import under_names

        each = under_names(turn, self._known.people)
        return any(self._known.marks.is_redacted(one, rooms) for one in each)
