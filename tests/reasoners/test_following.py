"""The second retrieval: what a question's best facts lead to, and where that stands among what it found itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.ports import Backbone, Request
from goalmem_cli.reasoners.facts import NumberedFacts
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


class Passages(ListBackbone):
    """Gives its first two turns as passages of one."""

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return all turns in their order."""
        hits = super().retrieve(replace(query, text=""), k)
        first = hits[0].unit.turns
        return [
            replace(hit, unit=replace(hit.unit, turns=first)) if place < 2 else hit for place, hit in enumerate(hits)
        ]


@pytest.fixture
def backbone(tmp_path: Path) -> FlatBackbone:
    """A memory of many conversations, of which one tells in two turns what is asked."""
    backbone = FlatBackbone(open_store(tmp_path / "store"))
    for other in OTHERS:
        backbone.update(chat(f"Eve: {other}", conversation=other))
    backbone.update(chat(GARDENER, *BETWEEN, NAMED, conversation="garden"))
    return backbone


def seen(backbone: Backbone) -> NumberedFacts:
    """Return what retrieves from a memory."""
    return NumberedFacts(backbone, Question(QUESTION, MOMENT))


def found(backbone: FlatBackbone, question: str = QUESTION) -> list[str]:
    """Return the texts in their order."""
    return [hit.unit.text for hit in ordered(search(question, seen(backbone)))]


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

    assert [source.unit.text for source in search("the gardener", seen(backbone)).sources] == [
        "The gardener is Okafor."
    ]


def test_nothing_found_leads_nowhere() -> None:
    """An empty memory gives nothing, and is asked once."""
    backbone = ListBackbone()

    assert ordered(search("the gardener", seen(backbone))) == []
    assert [query.text for query in backbone.queries] == ["the gardener"]


def test_what_a_turn_calls_yesterday_is_seen_from_when_it_was_said() -> None:
    """The question is asked now, and the turn that it leads to was said then."""
    backbone = ListBackbone(chat("Ben: Yesterday the gardener came."))
    search("the gardener", seen(backbone))

    assert [query.asked for query in backbone.queries] == [MOMENT, datetime(2023, 5, 1, 18, 0)]


def test_passages_of_one_turn_are_one_source() -> None:
    """They would fill the best two, and each would lead to the other."""
    backbone = Passages(chat("Ana: The gardener sings.", "Ana: Yes.", "Ben: A gardener paints."), least=0)
    looked = search("the gardener", seen(backbone))

    assert [source.unit.text for source in looked.sources] == ["The gardener sings.", "A gardener paints."]
    assert features(looked)[1, 2:].tolist() == pytest.approx([1, 0])


def test_features_tell_sources_their_conversation_and_shared_words() -> None:
    """A source is none of its own followers; a word of the question is not shared news."""
    turns = chat("Ana: The gardener Okafor paints.", "Ben: Okafor sings.", "Ben: It rained.")
    turns += chat("Eve: The gardener sleeps.", conversation="b")
    backbone = ListBackbone(turns, least=0)
    looked = search("the gardener", seen(backbone))
    rows = {
        hit.unit.text: dict(zip(WEIGHTS, row, strict=True))
        for hit, row in zip(looked.candidates, features(looked), strict=True)
    }

    assert [source.unit.text for source in looked.sources] == ["The gardener Okafor paints.", "The gardener sleeps."]
    assert [rows[text]["source"] for text in ("The gardener Okafor paints.", "Okafor sings.")] == [1, 0]
    assert [rows[text]["conversation"] for text in ("Okafor sings.", "The gardener sleeps.")] == [1, 0]
    assert rows["Okafor sings."]["shared"] > rows["It rained."]["shared"] == rows["The gardener sleeps."]["shared"] == 0


def test_the_goal_is_read_from_what_the_best_facts_lead_to(backbone: FlatBackbone) -> None:
    """The first round, of the best two facts and of four, sees the second one."""
    asked: list[Request] = []

    def reply(request: Request) -> str:
        asked.append(request)
        goal = "(x:person) is the sister of (the gardener)"
        return f"{goal}\n1. {goal}" if request.step == "decompose" else "answer: unknown"

    limits = Limits(max_breadth=1, max_depth=1)
    GoalMem(backbone, ScriptedModel(reply), COMPACT, limits).answer(Question(QUESTION, MOMENT))
    few, more = [request.growing for request in asked if request.step == "read"][:2]

    assert len(few.splitlines()) == 2
    assert "Ifeoma" not in few and "Ifeoma" in more
