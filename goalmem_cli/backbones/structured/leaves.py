"""Make the leaves of a tree, one for each turn or passage of a long turn, and format nodes for a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from goalmem_cli.backbones.structured.stretches import stretches_of
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.records import FORWARDED_FROM, QUOTED_FROM, QUOTES, Turn, Unit
from goalmem_cli.store.passages import MAX_TOKENS
from goalmem_cli.store.units import passages_with_marks


def turn_leaves(backbone: str, kind: str, session: Sequence[Turn]) -> list[Unit]:
    """Return a unit for each turn in order, or for each passage of a long turn; blank ones are skipped."""
    passages: Counter[str] = Counter()
    leaves = []
    for stretch in stretches_of(session, 0):
        for turn, text in stretch.lines:
            passages[turn.id] += 1
            leaves.append(
                derived_unit(
                    backbone, kind, text, (turn,), identity=(str(passages[turn.id]),),
                    attributes=_passed_on(turn, passages[turn.id] - 1), speaker=turn.speaker,
                )
            )  # fmt: skip
    return leaves


def _passed_on(turn: Turn, place: int) -> dict[str, object]:
    """Return the attributes that name the author of a forwarded or quoted passage; {} for the speaker's own words."""
    passed = {name: value for name, value in turn.attributes.items() if name == FORWARDED_FROM}
    author = passages_with_marks(turn, MAX_TOKENS)[place][1] if QUOTES in turn.attributes else None
    return passed if author is None else {**passed, QUOTED_FROM: author}


def node_line(node: Unit, *, is_leaf: bool) -> str:
    """Return a node in one line for a model: a leaf with its speaker and day, or a summary's text."""
    if not is_leaf:
        return in_one_line(node.text)
    day = f" [{node.said:%Y-%m-%d}]" if node.said is not None else ""
    speaker = f"{in_one_line(node.speaker)}: " if node.speaker else ""
    return f"{speaker}{in_one_line(node.text)}{day}"
