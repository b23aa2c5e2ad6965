"""Facts as a model with the full prompts reads them: in the order of time, under headings, with what they lean on."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from goalmem_cli.logic import Substitution, parse_atom
from goalmem_cli.reasoners.facts import NumberedFacts, shown_cost, stretch_of
from goalmem_cli.reasoners.goal_mem.facts import FactBook
from goalmem_cli.reasoners.goal_mem.grounding import rule
from goalmem_cli.reasoners.goal_mem.plans import Bench, Limits, Proposal
from goalmem_cli.reasoners.showing import Shown, block_of, line_tokens, lines_shown
from goalmem_cli.records import Query, Question, Turn
from goalmem_cli.testing import ListBackbone
from tests.reasoners.scripting import MOMENT, chat

TALK = chat(
    "Nora: Where does the wooden bookshelf stand now?", "Luis: In the hall.", "Nora: I love the bookshelf you built.",
    "--", "Luis: My sister Ines came from Porto with her dog for a week.", "Nora: She sent me a postcard of the bookshelf.",
)  # fmt: skip


def book(turns: list[Turn], budget: int = 60, as_of: datetime | None = None) -> FactBook:
    """Return the facts of a question about the turns, as the full prompts have them."""
    question = Question("Where is the bookshelf?", MOMENT, as_of=as_of)
    return FactBook(ListBackbone(turns), question, Limits(budget=budget), "full")


def test_a_round_is_read_in_the_order_of_time_under_headings() -> None:
    """One heading a session, who says it to whom, no time on a line; a pronoun's turn comes with the one before it."""
    found = book(TALK).retrieve(["bookshelf postcard"], Shown(), is_first=True)

    assert list(found.block.lines) == [
        "[chat, 6:00 pm, 1 May 2023]",
        "F1. Nora to Luis: Where does the wooden bookshelf stand now?",
        "F2. Nora to Luis: I love the bookshelf you built.",
        "[6:03 pm, 2 May 2023]",
        "F3. Luis to Nora: My sister Ines came from Porto with her dog for a week.",
        "F4. Nora to Luis: She sent me a postcard of the bookshelf.",
    ]
    assert found.block.brought == {"F3"}


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


def test_what_comes_along_counts_no_unit() -> None:
    """A budget of one unit shows the reply and the question that it answers."""
    facts = book(TALK, budget=2)
    found = facts.retrieve(["hall"], Shown(), is_first=True)

    assert [fact.text for fact in found.new] == [TALK[0].text, TALK[1].text]
    assert Shown().plus(found.block).units == 1


def test_later_rounds_are_further_blocks() -> None:
    """What was shown stays as it was, so that each prompt begins with the one before it."""
    facts = book(TALK)
    first = Shown().plus(facts.retrieve(["postcard"], Shown(), is_first=True).block)
    second = first.plus(facts.retrieve(["hall"], first, is_first=False).block)

    assert second.lines[: len(first.lines)] == first.lines
    assert len(second.facts) > len(first.facts)


def test_a_group_has_nobody_whom_it_is_said_to() -> None:
    """Only where just two talk is it known whom a turn is said to."""
    turns = [*TALK, *chat("Mia: Our own bookshelf came from Lisbon in 2019.", day=9)]
    (line,) = book(turns).retrieve(["Lisbon"], Shown(), is_first=True).block.lines[1:]

    assert line == "F1. Mia: Our own bookshelf came from Lisbon in 2019."


def test_neighbours_come_without_a_query() -> None:
    """The reply to a cited turn is shown before what led to it, each with a number of its own, and counts no unit."""
    facts = book(TALK)
    shown = Shown().plus(facts.retrieve(["wooden stand"], Shown(), is_first=True).block)
    block = facts.beside(["F1"], shown)

    assert [fact.text for fact in block.facts] == ["In the hall."]
    assert shown.plus(block).units == shown.units


def test_cheering_is_left_out_of_the_first_retrieval_only() -> None:
    """It is no evidence for anything, but what a follow-up query finds is shown whatever it is."""
    turns = chat("Nora: I restored the bookshelf in 2019 with Ines.", "Luis: Wow, so great, thanks so much!")
    facts = book(turns)
    first = facts.retrieve(["great bookshelf"], Shown(), is_first=True)
    later = facts.retrieve(["great bookshelf"], Shown().plus(first.block), is_first=False)

    assert [fact.text for fact in first.new] == [turns[0].text]
    assert [fact.text for fact in later.new] == [turns[1].text]


def test_you_is_whom_it_is_said_to() -> None:
    """The bookshelf you built, said to Luis, grounds that Luis built it; said in a group, it names nobody."""
    numbered = NumberedFacts(ListBackbone(TALK), Question("What did Luis build?", MOMENT), "full")
    fact = numbered.fact(numbered.hits("love built", 1)[0])
    atom = parse_atom("(Luis) built (x:thing)")
    people = frozenset({"Nora", "Luis"})
    bench = Bench("What did Luis build?", (atom,), {fact.number: fact}, Substitution(), (), people)
    proposal = Proposal(0, (fact.number,), {"x": ("the bookshelf",)})

    assert fact.to == "Luis"
    (grounded,) = rule([proposal], bench).grounded
    assert grounded.notes == ()


def test_what_comes_along_obeys_as_of_and_the_tokens() -> None:
    """A reply that was said later than --as-of is no neighbour, and no turn comes along for which no tokens are left."""
    early = book(TALK, as_of=TALK[0].said)
    first = early.retrieve(["wooden stand"], Shown(), is_first=True)
    assert [fact.text for fact in first.new] == [TALK[0].text]
    assert early.beside(["F1"], Shown().plus(first.block)).facts == ()

    question = Question("Where is the bookshelf?", MOMENT)
    short = FactBook(ListBackbone(TALK), question, Limits(max_fact_tokens=60), "full")
    found = short.retrieve(["postcard"], Shown(), is_first=True)
    assert found.block.brought == frozenset()


def test_the_line_of_a_fact_is_known_by_its_text_though_it_has_days_in_words() -> None:
    """Scripted replies find the facts that they cite by what was said."""
    turns = chat("Ana: The boat shelf came on 16.01.2024.", "Ben: The boat shelf left on 2024-01-20.")
    found = book(turns).retrieve(["boat shelf"], Shown(), is_first=True)
    shown = lines_shown("\n".join(found.block.lines))

    assert "16 January 2024" in shown[0].told and "20 January 2024" in shown[1].told
    assert [[line.says(turn.text) for turn in turns] for line in shown] == [[True, False], [False, True]]
