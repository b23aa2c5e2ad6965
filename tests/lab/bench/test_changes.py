"""`goalmem bench changes`: made-up histories, the decisions that they call for, and what is known of them."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.changes import DECIDING, DecidingModel, Stated, stated_in
from goalmem_cli.lab.bench.gathering import GatheringStore
from goalmem_cli.lab.bench.stories import SLOTS, Kind, made_up_histories, questions_of
from goalmem_cli.main import run
from goalmem_cli.memory_records import Derivation, Ranking
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.records import Edge, Part, Query
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder, ScriptedModel
from tests.backbones.derived import contents_of
from tests.backbones.replies import AnyReply, said
from tests.backbones.test_any_reply import backbone

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


def test_a_cause_is_seen_where_there_is_none() -> None:
    """In as many events as are wished; who and what they are about is right all the same."""
    (history,) = made_up_histories(10, 3)
    told = history.tellings[0]
    tail = f"New message: {told.person}: {told.turn.text} [2022-01-03]\n"
    request = Request("magma_links", "", (), "Earlier messages:\n1. Rosa: Hm. [2022-01-03]\n", tail, JsonShape({}))
    right, wrong = (json.loads(DecidingModel([history], share).complete([request])[0].text) for share in (0.0, 1.0))
    assert right == {"entities": [told.person, told.value], "causal": []}
    assert (wrong["entities"], wrong["causal"][0]["event"]) == (right["entities"], "1")


def test_facts_are_what_the_lines_tell() -> None:
    """Chatter tells nothing; a step without a reply is an error."""
    (history,) = made_up_histories(10, 3)
    told = history.tellings[0]
    lines = f"Messages:\nT1. {told.person}: {told.turn.text} [said 2022]\nT2. {told.person}: Work is busy. [said 2022]"
    (reply,) = DecidingModel([history]).complete([Request("mem0_facts", "", (), lines, "", JsonShape({}))])
    assert json.loads(reply.text) == {"facts": [told.statement]}
    with pytest.raises(ModelError, match="no gold reply"):
        DecidingModel([]).complete([Request("stitch_note", "", (), "", "", JsonShape({}))])


def measured(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    """Return what the command measures."""
    assert run(["bench", "changes", *words, "--json", "--quiet"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["measured"]
    return found


def test_gold_decisions_know_what_is_so(capsys: pytest.CaptureFixture[str]) -> None:
    """As turns do that are shown as replaced; without that ranking knows less, and wrong decisions cost."""
    turns, gold, half = measured(capsys, "--facts", "60", "--backbone", "mem0", "--wrong", "0,0.5")
    assert [turns["backbone"], gold["backbone"], half["wrong"]] == ["reranked", "mem0", 0.5]
    assert gold["now"] == gold["as_of"] == gold["latest_now"] == 1
    assert turns["now"] == turns["as_of"] == 1
    assert max(turns["own_now"], turns["own_as_of"], half["own_now"], half["own_as_of"]) < 1
    assert turns["own_now"] < 0.8
    assert sum(number for number, _ in turns["of_kind"].values()) == turns["questions"]
    assert 0 < gold["late_calls"] < gold["calls"] * 100
    assert run(["bench", "changes", "--backbone", "nothing"]) == 2
    assert run(["bench", "changes", "--wrong", "2"]) == 2


@pytest.mark.parametrize("seed", ["0", "7"])
def test_turns_know_what_holds_now_however_it_was_told(capsys: pytest.CaptureFixture[str], seed: str) -> None:
    """After a change, a correction, a repeat, an end and a return to what was so before; each is reported apart."""
    (turns, _) = measured(capsys, "--facts", "400", "--backbone", "mem0", "--wrong", "0", "--seed", seed)
    assert turns["backbone"] == "reranked"
    assert turns["now"] >= 0.95
    assert turns["as_of"] >= turns["own_as_of"]
    assert {"change", "correction", "repeat", "end", "return"} <= set(turns["of_kind"])
    assert min(share for _, share in turns["of_kind"].values()) >= 0.9


def test_flat_backbones_are_measured_once_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    """They decide nothing; corrections, repeats and returns are apart for both times."""
    words = ("--backbone", "bm25,hybrid", "--wrong", "0,0.5")
    found = measured(capsys, "--facts", "400", *words)
    assert [(each["backbone"], each["wrong"]) for each in found] == [("reranked", 0), ("bm25", 0), ("hybrid", 0)]
    for each in found:
        for of_kind, share in ((each["of_kind"], each["now"]), (each["of_kind_then"], each["as_of"])):
            assert {"correction", "repeat", "return"} <= set(of_kind)
            assert sum(number for number, _ in of_kind.values()) == each["questions"]
            right = sum(number * right for number, right in of_kind.values())
            assert right == pytest.approx(share * each["questions"])
    assert run(["bench", "changes", "--facts", "20", *words]) == 0
    assert re.search(r"bm25 +0% +then ", capsys.readouterr().out)


@pytest.mark.slow
def test_each_backbone_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """By the calls that the papers count, whatever is asked at once; what has an event for it knows what ended."""
    turns, *found = measured(capsys, "--facts", "24", "--wrong", "0")
    of = {each["backbone"]: each for each in found}
    assert list(of) == list(DECIDING)
    assert turns["calls"] == 0
    assert [of[name]["now"] for name in ("mem0", "mem0-graph", "graphiti")] == [1, 1, 1]
    assert [of[name]["as_of"] for name in ("mem0", "mem0-graph", "graphiti")] == [1, 1, 1]
    assert of["a-mem"]["own_now"] < 1  # it has no event that says what is not so any more
    assert of["a-mem"]["latest_now"] > 0.5
    assert of["magma"]["calls"] == 1
    assert 1.8 < of["a-mem"]["calls"] < 2  # the first of a conversation takes one
    assert of["mem0"]["calls"] < 1.1 < of["mem0-graph"]["calls"] < 2.6
    assert all(each["late_calls"] > 0 and each["late_turns"] > 0 for each in found)


def test_what_is_gathered_is_what_a_store_writes_at_once(tmp_path: Path) -> None:
    """It is written when somebody reads it, and everything that reads does."""
    plain = Store(tmp_path / "plain", HashEmbedder(), announce=lambda _: None)
    gathered = GatheringStore(tmp_path / "gathered", HashEmbedder(), lambda _: None)
    for each in (plain, gathered):
        each.add_turns(said())
        backbone("mem0-graph", each, ScriptedModel(AnyReply(3))).index(lambda _: None)
    assert contents_of("mem0-graph", gathered) == contents_of("mem0-graph", plain)
    assert gathered.counts_of("mem0-graph") == plain.counts_of("mem0-graph")
    turn = said()[0]
    note = derived_unit("notes", "note", "a note", [turn])
    reads: dict[str, Callable[[GatheringStore], object]] = {
        "derived": lambda store: store.has_derived("notes"),
        "edges": lambda store: store.edges_of("notes"),
        "ranked": lambda store: store.rank(Query("note"), [Ranking.BM25], 3, backbone="notes")[Ranking.BM25],
    }
    for name, read in reads.items():
        store = GatheringStore(tmp_path / name, HashEmbedder(), lambda _: None)
        store.add_turns(said())
        edges = (Edge(note.id, turn.id, "of"),)
        store.derive("notes", [Derivation(Part(turn.conversation, "1", (turn,)), (note,), edges)])
        assert read(store)
    gathered.derive("notes", [Derivation(Part(turn.conversation, "1", (turn,)), (note,))])
    gathered.drop_parts(gathered.derived("notes"))
    assert gathered.units_of("notes") == []
