"""Summaries of what several parts gave, as parts of their own (BACKBONES.md, C5).

A summary's part is named by its layer and its members, so that the same members keep their summary and others ask for
a new one. `plan` is run layer by layer, with the lines of `lines_of` alone, since it drops those that are none of its
parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from goalmem_cli.backbones.structured.indexing import about_tokens
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import read_fields
from goalmem_cli.ports import Request
from goalmem_cli.records import Derived, Part, Turn, Unit, content_hash

T = TypeVar("T")

WHOLE = "whole"
"""The layer of the parts that `whole_part` returns."""
BETWEEN = "/"
"""What stands between a part's layer and the rest of its name."""


def summary_part(layer: str, members: Sequence[Unit], turns: Mapping[str, Turn]) -> Part:
    """Return the part that a summary of these units of one conversation is derived from.

    `turns` has those of the members by id; a part has each of them once, in the order of the conversation. The order
    of the members does not matter.
    """
    sources = {turns[id_].id: turns[id_] for unit in members for id_ in unit.turns}
    ordered = sorted(sources.values(), key=lambda turn: turn.ordinal)
    name = named(layer, content_hash(*sorted(unit.id for unit in members)))
    return Part(ordered[0].conversation, name, tuple(ordered))


def named(layer: str, name: str) -> str:
    """Return the name of a part of a layer."""
    return f"{layer}{BETWEEN}{name}"


def whole_part(turns: Sequence[Turn], told: Iterable[object]) -> Part:
    """Return all turns of a conversation as a part whose line in the ledger says that all of it was read.

    It is another part, and so pending, where what the backbone is `told` about reading it is something else. It gives
    no units, and goes when one of its turns is forgotten.
    """
    return Part(turns[0].conversation, named(WHOLE, content_hash(*map(str, told))), tuple(turns))


def lines_of(layer: str, ledger: Iterable[Derived]) -> list[Derived]:
    """Return the lines of the ledger that are about parts of this layer."""
    return [line for line in ledger if line.name.partition(BETWEEN)[0] == layer]


def words_in(tokens: int) -> int:
    """Return about how many words so many tokens are: what a model is told that is to keep to them."""
    return max(1, tokens * 3 // 4)


def filled(members: Iterable[T], budget: int, text_of: Callable[[T], str]) -> Iterator[list[T]]:
    """Yield the members in order, as many at a time as have about `budget` tokens; a longer one comes alone."""
    taken: list[T] = []
    full = 0
    for member in members:
        size = about_tokens([text_of(member)])
        if taken and full + size > budget:
            yield taken
            taken, full = [], 0
        taken.append(member)
        full += size
    if taken:
        yield taken


def read_summary(build: Callable[[str], Request], text: str) -> str:
    """Return the summary that a reply to a request gives.

    Raises:
        ReplyUnusable: the reply is of another form, or blank.
    """
    told = " ".join(read_fields(text, build("")).get("summary", ())).strip()
    if not told:
        raise ReplyUnusable("the summary is blank")
    return told
