"""How many tokens facts have as a prompt shows them, counted without laying one out."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from goalmem_cli.reasoners.facts import NumberedFacts, shown_cost, stretch_of
from goalmem_cli.reasoners.showing import block_of, line_tokens
from goalmem_cli.records import Query, Question
from goalmem_cli.testing import ListBackbone
from tests.reasoners.scripting import MOMENT, chat

TALK = chat(
    "Nora: Where does the wooden bookshelf stand now?", "Luis: In the hall.", "Nora: I love the bookshelf you built.",
    "--", "Luis: My sister Ines came from Porto with her dog for a week.", "Nora: She sent me a postcard of the bookshelf.",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["turn", "passage", "note"])
def test_what_a_hit_costs_is_what_its_block_has(kind: str) -> None:
    """Counted without laying one out: alone with its heading, beside others without; late in a session with its time."""
    said = {"turn": datetime(2023, 5, 1, 18, 0), "passage": None, "note": datetime(2023, 5, 1, 18, 0)}[kind]
    for found in ListBackbone(TALK, least=0).retrieve(Query("bookshelf"), 9):
        times = {"times": [["last Friday", "2023-05-19", "2023-05-19"]]}
        hit = replace(found, unit=replace(found.unit, kind=kind, said=said, attributes=times))
        number = NumberedFacts(ListBackbone(TALK), Question("Where?", MOMENT), "full").fact(hit)
        block = block_of([replace(number, number="F000")])
        assert shown_cost(hit, {}) == block.tokens
        opened = {stretch_of(hit.unit): hit.unit.said}
        assert shown_cost(hit, opened) == line_tokens(block.lines[1])
        if hit.unit.said is not None:
            opened = {stretch_of(hit.unit): hit.unit.said - timedelta(hours=1)}
            assert shown_cost(hit, opened) > line_tokens(block.lines[1])


@pytest.mark.parametrize("line", ["", "F1. Ana: tea", "F2. Zoë: thé à la menthe ☕", "ꙮ" * 7])
def test_tokens_of_a_line_are_counted_by_script(line: str) -> None:
    """A letter of English is a part of a token, a byte of another script a larger one."""
    data = line.encode()
    ascii_bytes = [byte for byte in data if byte < 128]
    assert line_tokens(line) == int(len(ascii_bytes) / 3.2 + (len(data) - len(ascii_bytes)) * 0.72) + 2
