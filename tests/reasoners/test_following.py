"""The second retrieval: what a question's best facts lead to, and where that stands among what it found itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.following import WEIGHTS, features, ordered, search
from goalmem_cli.records import Hit, Query, Question
from tests.fakes import ListBackbone, ScriptedModel
from tests.reasoners.scripting import COMPACT, MOMENT, chat
from tests.store.samples import open_store

QUESTION = "What is the sister of the gardener called?"
GARDENER = "Ana: The gardener is a man named Okafor who paints."
NAMED = "Ben: Okafor paints together with Ifeoma."
BETWEEN = ("Ben: What a day!", "Ana: Yes.", "Ben: I am tired.", "Ana: Sleep well.", "Ben: You too.")
OTHERS = ("My sister called.", "They called it a day.", "The gardens are shut.", "His sister sings.", "Who called me?")


@pytest.fixture
def backbone(tmp_path: Path) -> FlatBackbone:
    """A memory of many conversations, of which one tells in two turns what is asked."""
    backbone = FlatBackbone(open_store(tmp_path / "store"))
    for other in OTHERS:
        backbone.update(chat(f"Eve: {other}", conversation=other))
    backbone.update(chat(GARDENER, *BETWEEN, NAMED, conversation="garden"))
    return backbone


def found(backbone: FlatBackbone, question: str = QUESTION) -> list[str]:
    """Return the texts in their order."""
    return [hit.unit.text for hit in ordered(search(question, lambda query, k: backbone.retrieve(Query(query), k)))]


def test_what_shares_no_word_with_the_question_follows_what_leads_to_it(backbone: FlatBackbone) -> None:
    """The second fact has a word of the first, and none of the question's."""
    plain = [hit.unit.text for hit in backbone.retrieve(Query(QUESTION), 50)]
    texts, named = found(backbone), NAMED.partition(": ")[2]

    assert texts[0] == GARDENER.partition(": ")[2]
    assert texts.index(named) < 4 <= plain.index(named)
    assert len(texts) == len(set(texts))


def test_what_asks_leads_nowhere() -> None:
    """A question that is remembered is no source."""
    backbone = ListBackbone(chat("Ana: Who is the gardener?", "Ben: The gardener is Okafor."))
    sources = [
        source.unit.text for source, _ in search("the gardener", lambda q, k: backbone.retrieve(Query(q), k)).led
    ]

    assert sources == ["The gardener is Okafor."]


def test_nothing_found_leads_nowhere() -> None:
    """An empty memory gives nothing, and is asked once."""
    asked: list[str] = []

    def retrieve(query: str, k: int) -> list[Hit]:
        asked.append(query)
        return []

    assert ordered(search("the gardener", retrieve)) == []
    assert asked == ["the gardener"]


def test_features_tell_sources_their_conversation_and_shared_words() -> None:
    """A source is none of its own followers; a word of the question is not shared news."""
    turns = chat("Ana: The gardener Okafor paints.", "Ben: Okafor sings.", "Ben: It rained.")
    turns += chat("Eve: The gardener sleeps.", conversation="b")
    backbone = ListBackbone(turns, least=0)
    looked = search("the gardener", lambda query, k: backbone.retrieve(Query(query), k))
    rows = {
        hit.unit.text: dict(zip(WEIGHTS, row, strict=True))
        for hit, row in zip(looked.candidates, features(looked), strict=True)
    }

    assert [source.unit.text for source, _ in looked.led] == ["The gardener Okafor paints.", "The gardener sleeps."]
    assert [rows[text]["source"] for text in ("The gardener Okafor paints.", "Okafor sings.")] == [1, 0]
    assert [rows[text]["conversation"] for text in ("Okafor sings.", "The gardener sleeps.")] == [1, 0]
    assert rows["Okafor sings."]["shared"] > rows["It rained."]["shared"] == rows["The gardener sleeps."]["shared"] == 0


def test_the_goal_is_read_from_what_the_best_facts_lead_to(backbone: FlatBackbone) -> None:
    """The first round, of the best two facts and of four, sees the second one."""
    seen: list[Request] = []

    def reply(request: Request) -> str:
        seen.append(request)
        goal = "(x:person) is the sister of (the gardener)"
        return f"{goal}\n1. {goal}" if request.step == "decompose" else "answer: unknown"

    limits = Limits(max_breadth=1, max_depth=1)
    GoalMem(backbone, ScriptedModel(reply), COMPACT, limits).answer(Question(QUESTION, MOMENT))
    few, more = [request.growing for request in seen if request.step == "read"][:2]

    assert len(few.splitlines()) == 2
    assert "Ifeoma" not in few and "Ifeoma" in more
