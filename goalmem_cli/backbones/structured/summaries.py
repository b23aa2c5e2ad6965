"""Summaries of units of several parts, kept as parts of their own (BACKBONES.md, C5).

A summary's part is named by its layer and its members: the same members keep their summary, others need a new one.
Call `plan` for one layer at a time, with the ledger lines of `lines_of`, as it drops lines without a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from goalmem_cli.backbones.structured.indexing import about_tokens, batches
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import read_fields
from goalmem_cli.ports import Request
from goalmem_cli.records import Derived, Part, Turn, Unit, content_hash

T = TypeVar("T")

WHOLE = "whole"
"""The layer of the parts that `whole_part` returns."""
BETWEEN = "/"
"""The separator between a part's layer and the rest of its name."""


def summary_part(layer: str, members: Sequence[Unit], turns: Mapping[str, Turn]) -> Part:
    """Return the part for a summary of these units of one conversation.

    `turns` has the members' turns by id. The part has each turn once, in the order of the conversation. The order of
    the members does not matter.
    """
    sources = {turns[id_].id: turns[id_] for unit in members for id_ in unit.turns}
    ordered = sorted(sources.values(), key=lambda turn: turn.ordinal)
    name = named(layer, content_hash(*sorted(unit.id for unit in members)))
    return Part(ordered[0].conversation, name, tuple(ordered))


def named(layer: str, name: str) -> str:
    """Return the name of a part of a layer."""
    return f"{layer}{BETWEEN}{name}"


def whole_part(turns: Sequence[Turn], told: Iterable[object]) -> Part:
    """Return all turns of a conversation as a part; its ledger line records that the conversation was read whole.

    `told` are the settings that affect the reading: other settings make another part, which is pending. The part gives
    no units. It is dropped when one of its turns is forgotten.
    """
    return Part(turns[0].conversation, named(WHOLE, content_hash(*map(str, told))), tuple(turns))


def lines_of(layer: str, ledger: Iterable[Derived]) -> list[Derived]:
    """Return the ledger lines of the parts of this layer."""
    return [line for line in ledger if line.name.partition(BETWEEN)[0] == layer]


def words_in(tokens: int) -> int:
    """Return about how many words fit in `tokens`; a prompt gives this as the limit."""
    return max(1, tokens * 3 // 4)


def filled(members: Iterable[T], budget: int, text_of: Callable[[T], str]) -> Iterator[list[T]]:
    """Return the members in order, in groups of about `budget` tokens; a longer member comes alone."""
    return batches(members, budget, lambda member: about_tokens([text_of(member)]))


def read_text(build: Callable[[str], Request], text: str, field: str = "summary") -> str:
    """Return the field of the reply `text`; `build` makes its request.

    Raises:
        ReplyUnusable: the reply has another form, or the field is blank.
    """
    told = " ".join(read_fields(text, build("")).get(field, ())).strip()
    if not told:
        raise ReplyUnusable(f"the {field} is blank")
    return told
