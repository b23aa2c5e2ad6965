"""The flat backbone over a real store."""

import os
import time
from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.backbones.flat import RECIPES, RERANKED, FlatBackbone
from goalmem_cli.backbones.relevance import FUSED, POOL
from goalmem_cli.backbones.whole_scope import WholeScope
from goalmem_cli.errors import UsageError
from goalmem_cli.library.people import name
from goalmem_cli.memory_records import Ranking
from goalmem_cli.records import Query, Turn
from goalmem_cli.stages import OPENING, watching
from goalmem_cli.store.store import Store
from tests.store.samples import CAFE, chat, open_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = open_store(tmp_path_factory.mktemp("flat") / "store")
    FlatBackbone(store).update(chat().turns)
    return store


@pytest.mark.parametrize("recipe", [RERANKED, "hybrid"])
def test_a_query_is_ranked_again_if_the_store_was_changed(tmp_path: Path, recipe: str) -> None:
    """As many or fewer hits of the same query are there without opening it, as long as it has its old state."""
    store = open_store(tmp_path / "store")
    store.add(chat())
    minute_ago = time.time() - 60
    os.utime(store.path / "memory.duckdb", (minute_ago, minute_ago))
    backbone, query = FlatBackbone(store, recipe), Query("the Kyoto Latte")
    with watching() as watch:
        first = backbone.retrieve(query, 4)
        first.clear()
        assert backbone.retrieve(query, 4) == FlatBackbone(store, recipe).retrieve(query, 4) != first
    assert sum(each.times for each in watch.stages if each.name == OPENING) == 2
    name(store, first_speaker := backbone.retrieve(query, 1)[0].unit.speaker, "Zoe")
    assert first_speaker != backbone.retrieve(query, 1)[0].unit.speaker == "Zoe"
    store.add(chat(["The Kyoto Latte again."], name="new"))
    assert "The Kyoto Latte again." in [hit.unit.text for hit in backbone.retrieve(query, 4)]


@pytest.mark.parametrize("recipe", RECIPES)
def test_each_recipe_retrieves(store: Store, recipe: str) -> None:
    """The turn asked for is there, hits are unique, sorted, within k, and name the ranks of their lists."""
    hits = FlatBackbone(store, recipe).retrieve(Query("ordered the Kyoto Latte"), 4)
    assert CAFE[2] in [hit.unit.text for hit in hits]
    assert 0 < len(hits) <= 4
    assert len({hit.unit.id for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.ranks and set(hit.ranks) - {FUSED} <= {ranking.value for ranking in RECIPES[recipe]} for hit in hits)


def test_update_with_known_turns_changes_nothing(store: Store) -> None:
    """Remembering twice is remembering once."""
    before = store.stats()
    FlatBackbone(store).update(store.turns())
    assert store.stats() == before


def test_turns_of_several_conversations_are_told_apart(tmp_path: Path) -> None:
    """Each turn goes to the conversation it names."""
    store = open_store(tmp_path / "store")
    FlatBackbone(store).update([*chat(CAFE[:2], name="a").turns, *chat(CAFE[:3], name="b").turns])
    assert [(summary.name, summary.turns) for summary in store.conversations()] == [("a", 2), ("b", 3)]
    hits = FlatBackbone(store).retrieve(Query("Momoco", conversations=("b",)), 10)
    assert {hit.unit.conversation for hit in hits} == {"b"}


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store of a talk in which one long answer says again and again what three short messages say once."""
    store = open_store(tmp_path_factory.mktemp("talk") / "store")
    long = "\n\n".join(f"- Step {number}: oak for the boat. " + "Sand it well. " * 40 for number in range(12))
    texts = ("My boat is of oak.", long, "The mast of the boat is of oak too.", "Well done.", "The oak was dear.")
    turns = [
        Turn("boat", 0, place, ("user", "assistant")[place % 2], text, datetime(2024, 3, 4))
        for place, text in enumerate(texts)
    ]
    FlatBackbone(store).update(turns)
    return store


@pytest.mark.parametrize("recipe", ["hybrid", RERANKED])
def test_a_message_has_one_place(talk: Store, recipe: str) -> None:
    """A long answer's best passage stands for it; its further passages come behind all other messages."""
    backbone = FlatBackbone(talk, recipe)
    few, all_ = (backbone.retrieve(Query("boat of oak"), k) for k in (4, 100))

    assert len({hit.unit.turns for hit in few}) == len(few) == 4
    assert len({hit.unit.turns for hit in all_[:5]}) == 5
    assert {hit.unit.part > 0 for hit in all_[5:]} == {True}
    if recipe == RERANKED:
        assert [hit.unit.speaker for hit in few[:2]] == ["user"] * 2
    assert [hit.unit.id for hit in all_[:4]] == [hit.unit.id for hit in few]


def test_reranking_chooses_the_passage_of_a_long_answer(tmp_path: Path) -> None:
    """The passage that says most of what is asked stands for it, though another repeats one word and comes first."""
    often = "- " + "The varnish dries. " * 40
    asked = "- " + "Let it rest for a night. " * 20 + "Thin the varnish of the tiller with turpentine."
    texts = ["How do I treat the wood?", f"{often}\n\n{asked}"]
    texts += [f"I wash plank {number} of the boat." for number in range(POOL)]
    store = open_store(tmp_path / "store")
    turns = [Turn("boat", 0, place, ("user", "assistant")[place == 1], text) for place, text in enumerate(texts)]
    FlatBackbone(store).update(turns)
    query = Query("How did you thin the varnish of the tiller?")
    fused, reranked = (FlatBackbone(store, recipe).retrieve(query, 1)[0].unit.text for recipe in ("hybrid", RERANKED))

    assert "turpentine" not in fused
    assert "turpentine" in reranked


@pytest.mark.parametrize("recipe", ["bm25", "dense", "bm25-plain", "dense-plain"])
def test_plain_rankings_are_as_papers_have_them(talk: Store, recipe: str) -> None:
    """There a passage is a place of its own."""
    found = FlatBackbone(talk, recipe).retrieve(Query("boat of oak"), 10)

    assert len({hit.unit.turns for hit in found}) < len(found)


@pytest.mark.parametrize(("recipe", "ranking"), [("bm25-plain", Ranking.BM25), ("dense-plain", Ranking.DENSE)])
@pytest.mark.parametrize("text", ["Which matcha did Ana like?", "What did Ana order in May 2023?"])
def test_a_plain_recipe_is_one_ranking_and_nothing_else(store: Store, recipe: str, ranking: Ranking, text: str) -> None:
    """The order of the store's own ranking over turns, whatever stands around them and whatever time is named."""
    query = Query(text, asked=datetime(2023, 6, 1))
    with store.reading() as reader:
        wanted = [scored.unit for scored in reader.rank(query, [ranking], 5)[ranking]]
    hits = FlatBackbone(store, recipe).retrieve(query, 5)
    assert [hit.unit.id for hit in hits] == wanted
    assert [dict(hit.ranks) for hit in hits] == [{ranking.value: place} for place in range(1, len(hits) + 1)]


def test_an_unknown_recipe_names_those_there_are(store: Store) -> None:
    """A typing error in --backbone is answered with the choices."""
    with pytest.raises(UsageError) as error:
        FlatBackbone(store, "hybird")
    assert all(name in error.value.hint for name in RECIPES)


def test_fewer_hits_are_the_first_of_more(store: Store) -> None:
    """k cuts the order; it does not change it."""
    query, backbone = Query("Momoco cafe Kyoto matcha sister"), FlatBackbone(store, "bm25")
    assert backbone.retrieve(query, 2) == backbone.retrieve(query, 10)[:2]


def test_without_a_backbone_the_scope_is_given_in_order(tmp_path: Path) -> None:
    """Whatever is asked, what the filters let through comes as it was said; of more than k, the last."""
    store = open_store(tmp_path / "store")
    unsearched = WholeScope(store)
    unsearched.update([*chat(CAFE[:2], name="a").turns, *chat(CAFE[:4], name="b").turns])

    def texts(query: Query, k: int) -> list[str]:
        return [hit.unit.text for hit in unsearched.retrieve(query, k)]

    assert texts(Query("anything", conversations=("b",)), 10) == list(CAFE[:4])
    assert texts(Query("anything", conversations=("b",)), 2) == list(CAFE[2:4])
    assert texts(Query(""), 10) == [*CAFE[:2], *CAFE[:4]]
    assert texts(Query("anything", conversations=("c",)), 10) == []
    assert texts(Query("anything"), 0) == []
    first, second, *_ = store.turns(["b"])
    assert first.said is not None and second.said is not None
    assert texts(Query("", ("b",), since=second.said), 10) == list(CAFE[1:4])
    assert texts(Query("", ("b",), until=first.said), 10) == list(CAFE[:1])
    assert texts(Query("", ("b",), (second.speaker,)), 10) == [CAFE[1], CAFE[3]]
