"""Make a conversation storable: replace what UTF-8 cannot encode, refuse duplicate own ids, and mark how it is cut."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from goalmem_cli.errors import InputError
from goalmem_cli.records import BLOCKS, CUT_AT, Conversation, Derived, Turn, Unit, encodable
from goalmem_cli.store.changes.placing import place_of
from goalmem_cli.store.passages import has_blocks


def storable(conversation: Conversation) -> Conversation:
    """Return the conversation with lone surrogates, which no UTF-8 file can hold, replaced by question marks.

    Long turns of Markdown are marked as cut at its blocks, except in an exported store, which has its own marks.

    Raises:
        InputError: two turns have the same own id.
    """
    counts = Counter(place_of(turn) for turn in conversation.turns)
    if len(counts) < len(conversation.turns):
        twice = next(place for place, count in counts.items() if count > 1)
        raise InputError(conversation.name, twice, "two turns have this id", "give each turn an id of its own, or none")
    turns = tuple(map(_storable_turn, conversation.turns))
    if not conversation.is_exported:
        turns = tuple(cut_as(turn, at_blocks=has_blocks(turn.text)) for turn in turns)
    own_id = None if conversation.own_id is None else encodable(conversation.own_id)
    derived = tuple(map(storable_unit, conversation.derived))
    edges = tuple(replace(edge, kind=encodable(edge.kind)) for edge in conversation.edges)
    return replace(
        conversation, name=encodable(conversation.name), own_id=own_id, turns=turns, derived=derived, edges=edges,
        ledger=tuple(map(_storable_line, conversation.ledger)),
        missing=tuple((_storable_turn(turn), names) for turn, names in conversation.missing),
    )  # fmt: skip


def storable_unit(unit: Unit) -> Unit:
    """Return a derived unit with lone surrogates replaced by question marks."""
    return replace(
        unit, text=encodable(unit.text), speaker=encodable(unit.speaker), kind=encodable(unit.kind),
        backbone=encodable(unit.backbone), labels=tuple(map(encodable, unit.labels)),
    )  # fmt: skip


def _storable_line(line: Derived) -> Derived:
    problem = None if line.problem is None else encodable(line.problem)
    return replace(line, backbone=encodable(line.backbone), name=encodable(line.name), problem=problem)


def cut_as(turn: Turn, *, at_blocks: bool) -> Turn:
    """Return the turn with or without the mark that it is cut at blocks; a stored turn stays cut as it was."""
    if turn.attributes.get(CUT_AT) == (BLOCKS if at_blocks else None):
        return turn
    beside = {name: value for name, value in turn.attributes.items() if name != CUT_AT}
    return replace(turn, attributes={**beside, CUT_AT: BLOCKS} if at_blocks else beside)


def _storable_turn(turn: Turn) -> Turn:
    """Return the turn with texts that UTF-8 can encode."""
    texts = (turn.text, turn.speaker, turn.own_id or "")
    if all(text.isascii() or encodable(text) == text for text in texts):
        return turn
    return replace(
        turn, text=encodable(turn.text), speaker=encodable(turn.speaker),
        own_id=None if turn.own_id is None else encodable(turn.own_id),
    )  # fmt: skip
