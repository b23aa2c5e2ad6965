"""`goalmem bench changes`: made-up histories, the decisions that they call for, and what is known of them."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.bench.changes.replies import DecidingModel, Stated, stated_in
from goalmem_cli.bench.changes.story import SLOTS, Kind, made_up_histories, questions_of
from goalmem_cli.cli.main import run
from goalmem_cli.errors import ModelError
from goalmem_cli.ports import JsonShape, Request

HOME = SLOTS[0]
KNOWN = "Memories:\n1. Rosa lives in Leeds. [2022-01-03]\n2. Rosa drives a Saab. [2022-01-03]\n"


def decided(new: str, wrong: float = 0.0, known: str = KNOWN) -> list[dict[str, str]]:
    """Return what the model decides about one fact."""
    request = Request("mem0_decide", "", (), known, f"New facts:\nN1. {new}\n", JsonShape({}))
    (reply,) = DecidingModel([], wrong).complete([request])
    assert reply.prompt_tokens > 0
    acts: list[dict[str, str]] = json.loads(reply.text)["acts"]
    return acts


@given(st.integers(0, 50))
def test_histories_hang_together(seed: int) -> None:
    """What is said again or ends was so before, what changes becomes something else; the state is what was told last."""
    (history,) = made_up_histories(60, seed)
    assert made_up_histories(60, seed) == [history]
    assert len(history.tellings) == 60
    now: dict[tuple[str, str], str | None] = {}
    for told in history.tellings:
        key = (told.person, told.slot.name)
        before = now.get(key)
        if told.kind in (Kind.REPEAT, Kind.END):
            assert told.value == before
        elif told.kind is Kind.NEW:
            assert before is None
        else:
            assert before not in (None, told.value)
        now[key] = told.holds
        assert history.state(told.person, told.slot, told.turn.said) == told.holds
        assert told.turn in history.conversation.turns
        assert stated_in(told.statement) == [Stated(told.person, told.slot, told.holds)]
    for asked, then in questions_of(history, seed):
        assert asked.answer == now[asked.person, asked.slot.name]
        assert then.as_of is not None
        assert then.answer == history.state(then.person, then.slot, then.as_of)


def test_facts_are_told_in_conversations_of_a_hundred() -> None:
    """And the last has what is left."""
    assert [len(history.tellings) for history in made_up_histories(230, 1)] == [100, 100, 30]


@pytest.mark.parametrize(
    ("new", "event", "on"),
    [
        ("Rosa lives in Ghent.", "UPDATE", "1"),
        ("Rosa lives in Leeds.", "NONE", "1"),
        ("Rosa does not live in Leeds any more.", "DELETE", "1"),
        ("Rosa works at Castor.", "ADD", "0"),
        ("Kofi lives in Leeds.", "ADD", "0"),
    ],
)
def test_decisions_are_those_that_are_due(new: str, event: str, on: str) -> None:
    """By who, what and which value."""
    (act,) = decided(new)
    assert (act["event"], act["on"]) == (event, on)
    assert act["text"] == (new if event in ("ADD", "UPDATE") else "")


def test_so_many_decisions_are_wrong() -> None:
    """All of them, none, or about the share that is wished; the same request always has the same reply."""
    assert decided("Rosa lives in Ghent.", 1.0)[0]["event"] != "UPDATE"
    assert decided("Rosa lives in Ghent.", 1.0) == decided("Rosa lives in Ghent.", 1.0)
    events = Counter(decided(f"Rosa lives in {value}{n}.", 0.3)[0]["event"] for value in HOME.values for n in range(20))
    assert 0.2 < 1 - events["UPDATE"] / events.total() < 0.4


def test_facts_are_what_the_lines_tell() -> None:
    """Chatter tells nothing; a step without a reply is an error."""
    (history,) = made_up_histories(10, 3)
    told = history.tellings[0]
    lines = f"Messages:\nT1. {told.person}: {told.turn.text} [said 2022]\nT2. {told.person}: Work is busy. [said 2022]"
    (reply,) = DecidingModel([history]).complete([Request("mem0_facts", "", (), lines, "", JsonShape({}))])
    assert json.loads(reply.text) == {"facts": [told.statement]}
    with pytest.raises(ModelError, match="no gold reply"):
        DecidingModel([]).complete([Request("stitch_note", "", (), "", "", JsonShape({}))])


@pytest.mark.slow
def test_gold_decisions_know_what_is_so(capsys: pytest.CaptureFixture[str]) -> None:
    """More of it than the ranking of turns does, at any time; wrong decisions cost; wrong words are refused."""
    words = ["bench", "changes", "--facts", "60", "--backbone", "mem0", "--wrong", "0,0.5", "--json", "--quiet"]
    assert run(words) == 0
    turns, gold, half = json.loads(capsys.readouterr().out)["measured"]
    assert [turns["backbone"], gold["backbone"], half["wrong"]] == ["reranked", "mem0", 0.5]
    assert gold["now"] == gold["as_of"] == gold["latest_now"] == 1
    assert max(turns["now"], half["now"], half["as_of"]) < 1
    assert 0 < gold["late_calls"] < gold["calls"] * 100
    assert run(["bench", "changes", "--backbone", "nothing"]) == 2
    assert run(["bench", "changes", "--wrong", "2"]) == 2


def test_notes_know_what_was_said_last_and_not_what_ended(capsys: pytest.CaptureFixture[str]) -> None:
    """`a-mem` has no event that says what is not so any more: its first hits know less than gold decisions do."""
    assert run(["bench", "changes", "--facts", "30", "--backbone", "a-mem", "--wrong", "0", "--json", "--quiet"]) == 0
    turns, notes = json.loads(capsys.readouterr().out)["measured"]
    assert notes["calls"] > 1  # a turn takes two, the first of a conversation one
    assert notes["latest_now"] > 0.5
    assert turns["calls"] == 0
