"""The backbone `memtree`: messages go down a tree of topics, whose nodes are summed up anew and keep their history."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import exp
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.memtree import CHILD, LEAF, NAME, STEPS, SUMMARY, SUPERSEDES
from goalmem_cli.backbones.memtree.backbone import MemTree
from goalmem_cli.backbones.memtree.growing import Tree
from goalmem_cli.backbones.memtree.settings import MemTreeSettings
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import JsonShape, PartDone, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Conversation, Query, Unit
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import (
    Sample,
    books,
    contents_of,
    filled,
    forget_as_if_never_said,
    grow_as_at_once,
    no_kit,
    stores_in,
)
from tests.conftest import examples

FULL, COMPACT, both_profiles = books(STEPS)
contents = partial(contents_of, NAME)
TALK = (
    "the cello pupils in Leeds",
    "a blue boat",
    "the cello pupils from Leeds play",
    "paint the blue boat",
    "the cello pupils in Leeds practise",
    "matcha at Momoco",
    "the blue boat needs paint",
    "the cello pupils",
    "matcha latte at Momoco",
    "the boat",
)
CELLO, BOAT = (0, 2, 4, 7), (1, 3, 6, 9)


def says(request: Request) -> str:
    """Return a summary that has each word of the texts once."""
    lines = re.findall(r"^(?:So far|Known|New message|New): (?:(?:Alice|Ben): )?(.*?)(?: \[.*)?$", shown(request), re.M)
    told = " ".join(dict.fromkeys(word for line in lines for word in line.split()))[:300]
    return json.dumps({"summary": told}) if isinstance(request.shape, JsonShape) else f"summary: {told}"


def shown(request: Request) -> str:
    """Return what changes of a request, as a model sees it."""
    return f"{request.growing}\n{request.tail}"


SAMPLE = Sample(NAME, MemTree, says, FULL, TALK, 5)
said, backbone, indexed = SAMPLE.said, SAMPLE.backbone, SAMPLE.indexed


def nodes(store: Store) -> list[Unit]:
    """Return what each inner node says now."""
    gone = {edge.target for edge in store.edges_of(NAME, [SUPERSEDES])}
    return [unit for unit in store.units_of(NAME, [SUMMARY]) if unit.id not in gone]


def labels(places: Sequence[int]) -> tuple[str, ...]:
    """Return the labels of these turns."""
    return tuple(said()[place].label for place in places)


@both_profiles
def test_what_is_alike_comes_to_lie_below_one_node(tmp_path: Path, book: PromptBook) -> None:
    """Its summary has the turns of all messages that passed it, and stands at the last; every message stays a leaf."""
    store = filled(tmp_path, said())
    done = indexed(store, book=book)
    leaves, current = store.units_of(NAME, [LEAF]), nodes(store)
    assert [leaf.labels for leaf in leaves] == [(turn.label,) for turn in said()]
    tops = {unit.labels for unit in current}
    assert {labels(CELLO), labels(BOAT), labels((5, 8))} <= tops
    (boat,) = [unit for unit in current if unit.labels == labels(BOAT)]
    assert boat.said == said()[9].said
    assert {"blue", "boat", "paint"} <= set(boat.text.split())
    assert all(part.problem is None and part.units == 1 for part in done)
    assert sum(part.turns for part in done) == len(TALK) - 3  # the first message of a topic costs nothing


def test_each_node_keeps_what_it_said_before(tmp_path: Path) -> None:
    """A version has one message more than the one that it supersedes, and came of both alone."""
    store = filled(tmp_path, said())
    model = ScriptedModel(says)
    backbone(store, model).index(lambda _: None)
    by_id = {unit.id: unit for unit in store.units_of(NAME)}
    superseding = store.edges_of(NAME, [SUPERSEDES])
    assert superseding
    for edge in superseding:
        newer, older = by_id[edge.source], by_id[edge.target]
        assert newer.turns[: len(older.turns)] == older.turns
        assert len(newer.turns) == len(older.turns) + 1
        message = next(turn for turn in said() if turn.id == newer.turns[-1])
        (request,) = [each for each in model.seen if older.text in each.growing and f"{message.text} [" in each.tail]
        assert message.speaker in request.tail


def test_a_node_has_a_history(tmp_path: Path) -> None:
    """From its first summary to its last, whichever of them is asked about; of messages nothing is known."""
    store = filled(tmp_path, said())
    indexed(store)
    (boat,) = [unit for unit in nodes(store) if unit.labels == labels(BOAT)]
    history = MemTree(store, no_kit).history(boat.id)
    assert [each.turns for each in history] == [labels(BOAT[:2]), labels(BOAT[2:3]), labels(BOAT[3:])]
    assert [each.said for each in history] == [said()[place].said for place in BOAT[1:]]
    assert history[-1].text == boat.text
    assert MemTree(store, no_kit).history(history[0].unit) == history
    assert MemTree(store, no_kit).history(store.units_of(NAME, [LEAF])[0].id) == []


def test_the_edges_are_those_of_the_tree(tmp_path: Path) -> None:
    """From what a node says now to what its children say now: every message is below one node at most."""
    store = filled(tmp_path, said())
    indexed(store)
    by_id = {unit.id: unit for unit in store.units_of(NAME)}
    children = store.edges_of(NAME, [CHILD])
    current = {unit.id for unit in nodes(store)}
    assert {edge.source for edge in children} == current
    assert {edge.target for edge in children} <= current | {leaf.id for leaf in store.units_of(NAME, [LEAF])}
    assert len({edge.target for edge in children}) == len(children)
    for node in nodes(store):
        below = {turn for edge in children if edge.source == node.id for turn in by_id[edge.target].turns}
        assert below == set(node.turns)


def unit(name: str) -> Unit:
    """Return a message's leaf."""
    return Unit(name, LEAF, name, "chat", "A", None, (name,), (name,), NAME)


def placed(told: MemTreeSettings, *vectors: Sequence[float]) -> list[list[tuple[str, int]]]:
    """Return what each of the messages a, b, c ... changes above itself: what a node said before, and its children."""
    tree = Tree(told)
    found = []
    for place, vector in enumerate(vectors):
        direction = np.array(vector, dtype=np.float32)
        direction /= np.linalg.norm(direction)
        merges = tree.insert(unit(chr(97 + place)), direction)
        found.append([(merge.before.id, merge.entries) for merge in merges])
        for merge in merges:
            mean = merge.node.vector + direction
            merge.node.become(unit(merge.before.id + merge.added.id), mean / np.linalg.norm(mean))
    return found


def test_a_message_goes_down_where_it_is_like_enough() -> None:
    """It begins a topic, turns a leaf into a node of two, joins a node's children, or goes down further."""
    near, nearer = (1.0, 0.05, 0.0), (1.0, 0.06, 0.0)
    found = placed(MemTreeSettings(), (1, 0, 0), (0, 1, 0), near, (0.43, 0, 0.9), nearer)
    assert found == [[], [], [("a", 2)], [("ac", 3)], [("acd", 3), ("c", 2)]]


def test_the_threshold_rises_with_the_depth() -> None:
    """At the bottom it is `threshold` x exp(`rate`), as the depth is divided by that of the tree."""
    told = MemTreeSettings(threshold=0.5, rate=0.4)
    at_the_root, half_way = 0.5, 0.5 * exp(0.2)
    between = (at_the_root + half_way) / 2

    def beside(cosine: float) -> tuple[float, float, float]:
        return cosine, (1 - cosine**2) ** 0.5, 0.0

    assert placed(told, (1, 0, 0), beside(at_the_root - 0.01))[1] == []
    assert placed(told, (1, 0, 0), beside(at_the_root + 0.01))[1] == [("a", 2)]
    third = placed(told, (1, 0, 0), (1, 0, 0), beside(between))
    assert third[2] == [("ab", 3)]
    assert placed(replace(told, rate=0.0), (1, 0, 0), (1, 0, 0), beside(between))[2] == [("ab", 2), ("a", 2)]


def test_the_depth_can_be_bounded() -> None:
    """What cannot go further down stays beside the others; 0 sets no bound, and the same words make a deep tree."""
    same = [(1.0, 0.0, 0.0)] * 12
    assert max(map(len, placed(MemTreeSettings(depth=2), *same))) == 1
    assert placed(MemTreeSettings(depth=1), *same) == [[]] * 12
    assert max(map(len, placed(MemTreeSettings(), *same))) > 2
    many = [(1.0, 0.0, 0.0)] * 40
    assert max(map(len, placed(MemTreeSettings(), *many))) == 31
    assert max(map(len, placed(MemTreeSettings(depth=0), *many))) == 39


@pytest.mark.slow
@settings(max_examples=examples(5), deadline=None)
@given(st.permutations(range(len(TALK))), st.lists(st.integers(1, 9), max_size=2, unique=True))
def test_growing_ends_as_reading_it_at_once(
    tmp_path_factory: pytest.TempPathFactory, order: Sequence[int], sizes: list[int]
) -> None:
    """Indexed after any growth, in any order of messages, the store has what it would have had at once."""
    turns = said([TALK[place] for place in order])
    store = grow_as_at_once(NAME, stores_in(tmp_path_factory), turns, sizes, indexed)
    assert MemTree(store, no_kit).index(lambda _: None).parts == 0


def test_a_grown_conversation_costs_only_what_is_new(tmp_path: Path) -> None:
    """What was summed up before is not asked for again."""
    store = filled(tmp_path, said()[:9])
    indexed(store)
    store.add(Conversation("chat", "openai", tuple(said()), "chat"))
    model = ScriptedModel(says)
    reported: list[PartDone] = []
    backbone(store, model).index(reported.append)
    assert model.calls == 1
    assert sum(part.turns for part in reported) == 1
    assert all(TALK[9] in request.tail for request in model.seen)


@pytest.mark.slow
@settings(max_examples=examples(5), deadline=None)
@given(st.sets(st.integers(0, len(TALK) - 1), min_size=1, max_size=4))
def test_forgetting_takes_every_version_of_a_turn(tmp_path_factory: pytest.TempPathFactory, places: set[int]) -> None:
    """What was summed up with it goes at once; the next indexing ends where it would without the turn."""
    forget_as_if_never_said(NAME, stores_in(tmp_path_factory), said(), places, indexed)


def test_a_forgotten_conversation_leaves_nothing(tmp_path: Path) -> None:
    """No unit, no edge and no line; the other one stays as it was, and is not asked about."""
    store = filled(tmp_path, said())
    store.add(Conversation("other", "openai", tuple(said(name="other")), "other"))
    indexed(store)
    fresh = filled(tmp_path / "fresh", said())
    indexed(fresh)
    store.forget(Selection(conversations=("other",)))
    MemTree(store, no_kit).index(lambda _: None)
    assert contents(store) == contents(fresh)


@pytest.mark.slow
def test_conversations_are_asked_about_together(tmp_path: Path) -> None:
    """A message waits for those before it in its own conversation, for no other: as many calls as one alone has."""
    SAMPLE.asked_together(tmp_path, 8)


@both_profiles
def test_what_cannot_be_read_is_stood_in_for(tmp_path: Path, book: PromptBook) -> None:
    """By what there was and the message, which is found meanwhile; the next run asks again, and for what followed."""

    def cannot(request: Request) -> str:
        return " " if TALK[3] in request.tail else says(request)

    store = filled(tmp_path, said()[:7])
    (failed,) = [part for part in indexed(store, model=cannot, book=book) if part.problem is not None]
    units = {unit.labels: unit.text for unit in store.units_of(NAME, [SUMMARY])}
    assert "Ben: paint the blue boat" in units[labels((1, 3))]
    outlook = backbone(store, ScriptedModel(says), book=book).outlook()
    assert (outlook.parts, outlook.failed) == (1, 1)
    before = contents(store)
    assert [part.name for part in indexed(store, model=cannot, book=book)] == [failed.name]
    assert contents(store) == before

    again = indexed(store, book=book)
    assert again[0].name == failed.name
    assert len(again) > 1
    units = {unit.labels: unit.text for unit in store.units_of(NAME, [SUMMARY])}
    assert not any("Ben:" in text for text in units.values())
    assert labels((1, 3, 6)) in units
    assert all(line.problem is None for line in store.derived(NAME))


@pytest.mark.slow
def test_what_stands_in_stays_short(tmp_path: Path) -> None:
    """However many replies cannot be read, and however long the messages are."""
    store = filled(tmp_path, said([f"boat {place} " + "boat " * 300 for place in range(6)]))
    indexed(store, model=lambda _: "no")
    texts = [unit.text for unit in store.units_of(NAME, [SUMMARY])]
    assert len(texts) > 5
    assert max(map(len, texts)) <= 1200


def test_interrupted_it_goes_on(tmp_path: Path) -> None:
    """What was reported is kept and not asked for again; messages are found already."""
    store = filled(tmp_path, said())
    reported: list[str] = []

    def stopping(part: PartDone) -> None:
        reported.append(part.name)
        if len(reported) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backbone(store, ScriptedModel(says)).index(stopping)
    assert len(store.units_of(NAME, [LEAF])) == len(TALK)
    found = [hit.unit for hit in MemTree(store, no_kit).retrieve(Query("cello pupils in Leeds"), 30)]
    assert len({unit.labels for unit in found if unit.kind == SUMMARY}) <= len(nodes(store))
    rest = indexed(store)
    assert not set(reported) & {part.name for part in rest}
    SAMPLE.ends_as_new(store, tmp_path)


def test_only_what_a_node_says_last_is_found(tmp_path: Path) -> None:
    """Beside the messages, best first, if it is like the question; as of an earlier time, what it said then."""
    store = filled(tmp_path, said())
    indexed(store)
    query = Query("blue boat paint")
    hits = MemTree(store, no_kit).retrieve(query, 30)
    found = {hit.unit.labels for hit in hits if hit.unit.kind == SUMMARY}
    assert labels(BOAT) in found
    assert not any("matcha" in hit.unit.text for hit in hits)
    assert {hit.unit.id for hit in hits if hit.unit.kind == SUMMARY} <= {unit.id for unit in nodes(store)}

    for until in (2, 6, 8):
        early = MemTree(store, no_kit).retrieve(replace(query, until=said()[until].said), 30)
        shorter = filled(tmp_path / str(until), said()[: until + 1])
        indexed(shorter)
        assert [hit.unit for hit in early] == [hit.unit for hit in MemTree(shorter, no_kit).retrieve(query, 30)]


def test_how_much_is_found_can_be_bounded(tmp_path: Path) -> None:
    """At most k, at most so many letters, and nothing that is less like the question than is wished."""
    store = filled(tmp_path, said())
    indexed(store)
    query = Query("blue boat paint")
    assert len(MemTree(store, no_kit).retrieve(query, 2)) == 2
    short = MemTree(store, no_kit, MemTreeSettings(read_letters=30)).retrieve(query, 30)
    assert sum(len(hit.unit.text) for hit in short) <= 30
    wide = MemTree(store, no_kit, MemTreeSettings(least_cosine=0.0)).retrieve(query, 60)
    assert len(wide) > len(MemTree(store, no_kit, MemTreeSettings(least_cosine=0.6)).retrieve(query, 60)) > 0
    assert len(MemTree(store, no_kit, MemTreeSettings(read_letters=1)).retrieve(query, 9)) == 1
    beside = MemTree(store, no_kit, MemTreeSettings(beside=True)).retrieve(query, 60)
    assert {hit.unit.kind for hit in beside} == {SUMMARY, "turn"}


def test_many_versions_hide_nothing(tmp_path: Path) -> None:
    """A node that was summed up often takes no place from what else is found."""
    store = filled(tmp_path, said([f"boat number {place}" for place in range(12)] + ["a boat in Leeds"]))
    indexed(store, MemTreeSettings(depth=2))
    assert len(store.units_of(NAME, [SUMMARY])) > 8
    hits = MemTree(store, no_kit, MemTreeSettings(depth=2)).retrieve(Query("boat number"), 3)
    assert len(hits) == 3
    assert sum(hit.unit.kind == SUMMARY for hit in hits) <= len(nodes(store))


@pytest.mark.slow
def test_other_settings_make_another_tree(tmp_path: Path) -> None:
    """The next indexing grows it anew, and drops what has no place in it."""
    store = filled(tmp_path, said())
    indexed(store)
    told = MemTreeSettings(threshold=0.7, depth=2)
    assert indexed(store, told)
    SAMPLE.ends_as_new(store, tmp_path, told)


@both_profiles
def test_the_outlook_is_about_what_indexing_does(tmp_path: Path, book: PromptBook) -> None:
    """Parts and calls are estimated as if summaries lay between what they sum up; nothing once it is done."""
    store = filled(tmp_path, said())
    outlook, done = SAMPLE.estimated(store, book=book)
    assert abs(outlook.parts - done.parts) <= 3
    assert abs(outlook.calls - done.usage.calls) <= 2
    assert (outlook.turns, outlook.failed) == (7, 0)
    assert outlook.tokens > outlook.parts * 100


def test_long_messages_are_put_in_by_passages(tmp_path: Path) -> None:
    """Each is a leaf of its turn; blank messages are none, and a conversation of them has no tree."""
    long = " ".join(f"boat{place % 7} and paint{place % 5}." for place in range(300))
    store = filled(tmp_path, said([long, " ", "the boat"]))
    indexed(store)
    leaves = store.units_of(NAME, [LEAF])
    assert sum(leaf.labels == ("D1:1",) for leaf in leaves) > 2
    assert all(leaf.text.strip() for leaf in leaves)
    assert {label for unit in store.units_of(NAME) for label in unit.labels} == {"D1:1", "D1:3"}
    blank = filled(tmp_path / "blank", said([" ", ""]))
    assert indexed(blank) == []
    assert MemTree(blank, no_kit).outlook().parts == 0
    assert MemTree(blank, no_kit).retrieve(Query("boat"), 3) == []
