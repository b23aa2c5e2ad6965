"""The backbone `stitch`: every turn becomes a snippet with its scope, event type and entity types."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.stitch import EVENT, MERGE, NAME, NOTE, SCOPE, SEED, SUMMARY
from goalmem_cli.backbones.stitch.backbone import Stitch
from goalmem_cli.backbones.stitch.intent import (
    INVENTORY,
    SNIPPET,
    Facet,
    Intent,
    Inventory,
    current_intents,
    intent_of,
    inventory_of,
    inventory_unit,
    snippet_unit,
)
from goalmem_cli.backbones.stitch.intent import SUMMARY as SUMMARIES
from goalmem_cli.backbones.stitch.settings import PaperStitchSettings
from goalmem_cli.backbones.stitch.state import State
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.settings import indexing_settings
from goalmem_cli.memory_records import Selection
from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.ports import Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Query, Turn
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import no_kit
from tests.backbones.stitch_samples import (
    COMPACT,
    FULL,
    LINES,
    SMALL,
    Reply,
    backbone,
    both_profiles,
    but,
    filled,
    indexed,
    label,
    turns,
    understands,
    written,
)
from tests.conftest import examples

LISBON, OSLO = "trip to Lisbon", "trip to Oslo"


def contents(store: Store) -> object:
    """Return all that the backbone has in the store."""
    return store.units_of(NAME), store.edges_of(NAME), store.derived(NAME)


def intents(store: Store) -> list[Intent]:
    """Return the intents of the snippets, as they were written."""
    return [intent_of(unit) for unit in store.units_of(NAME, [SNIPPET])]


@both_profiles
def test_every_turn_becomes_a_snippet(tmp_path: Path, book: PromptBook) -> None:
    """With its scope, which lasts until another is spoken of, its event type, its entity types, and a note."""
    store = filled(tmp_path)
    done = indexed(store, book=book)
    snippets = store.units_of(NAME, [SNIPPET])

    assert [(part.name, part.turns, part.problem) for part in done] == [("0", 4, None), ("1", 4, None), ("2", 1, None)]
    assert [(line.follows, len(line.turns)) for line in store.derived(NAME)] == [(None, 4), ("0", 4), ("1", 1)]
    assert [unit.turns for unit in snippets] == [(turn.id,) for turn in turns()]
    assert [each.scope for each in intents(store)] == [LISBON] * 4 + [OSLO] * 2 + [LISBON] * 3
    assert [each.event for each in intents(store)] == [
        "ask", "tell", "order", "tell", "ask", "tell", "ask", "tell", "ask"
    ]  # fmt: skip
    assert [each.entity_types for each in intents(store)] == [
        ("price",), (), (), (), ("price",), (), ("Vehicle",), (), ("price",)
    ]  # fmt: skip
    assert snippets[1].text == f"Ben: 90 euros a night. ({LISBON})"
    assert (snippets[1].speaker, snippets[1].said, snippets[1].session) == ("Ben", turns()[1].said, 0)
    assert ("resolved" in snippets[2].attributes) == (book is FULL)


def test_known_labels_are_reused(tmp_path: Path) -> None:
    """By their number where they are shown; a new one that only case tells from a known one is that one."""
    model = ScriptedModel(understands)
    store = filled(tmp_path)
    backbone(store, model).index(lambda _: None)
    (asked,) = [request for request in model.seen if request.step == SCOPE and "Back to LISBON" in request.tail]
    assert understands(asked) == label("0", '"trip to LISBON."', True)
    assert intents(store)[6].scope == LISBON


def test_labels_are_nodes_that_snippets_share(tmp_path: Path) -> None:
    """One node a label, in the place of its first snippet, and an edge to it from every snippet that has it."""
    store = filled(tmp_path, [*turns(), *turns("other", LINES[:3])])
    indexed(store)
    nodes = {facet: store.units_of(NAME, [facet.value]) for facet in Facet}
    snippets = {unit.id: unit for unit in store.units_of(NAME, [SNIPPET])}

    assert {unit.text for unit in nodes[Facet.SCOPE]} == {LISBON, OSLO}
    assert {unit.text for unit in nodes[Facet.EVENT]} == {"ask", "tell", "order"}
    (price,) = (unit for unit in nodes[Facet.ENTITY] if unit.text == "price")
    having = [edge.source for edge in store.edges_of(NAME, [Facet.ENTITY.value]) if edge.target == price.id]
    assert {snippets[id_].turns for id_ in having} == {
        unit.turns for unit in snippets.values() if "price" in intent_of(unit).entity_types
    }
    assert len(having) == 4
    assert set(price.turns) == {turn for id_ in having for turn in snippets[id_].turns}


def test_the_vocabularies_start_from_the_seed(tmp_path: Path) -> None:
    """It is asked for once a conversation, with its first turns; one that fails leaves the labels to grow from none."""
    model = ScriptedModel(understands)
    backbone(filled(tmp_path / "a"), model).index(lambda _: None)
    (seed,) = [request for request in model.seen if request.step == SEED]
    assert "Book it" in seed.growing
    assert "Done" not in seed.growing  # SMALL seeds from three turns

    failing = filled(tmp_path / "b")
    (first, *_) = indexed(failing, but(SEED, '{"event_types": [" "], "entity_types": ["x"]}'))
    assert first.problem is not None
    assert "the first labels: there must be event types" in first.problem
    assert intents(failing)[0].event == "ask"  # a new one


def test_a_turn_is_read_with_what_came_before(tmp_path: Path) -> None:
    """The current scope comes first, with its summary, the last turns, and notes of the same scope or kind of step."""
    model = ScriptedModel(understands)
    backbone(filled(tmp_path), model, at_once=1).index(lambda _: None)
    (scope,) = [request for request in model.seen if request.step == SCOPE and "tram" in request.tail]
    (note,) = [request for request in model.seen if request.step == NOTE and "castle" in request.tail]

    assert f"1. {OSLO}\n2. {LISBON}\n" in scope.growing
    assert f"({OSLO}) Ben: 12 euros." in scope.growing
    assert "90 euros" not in scope.growing.split("Said before")[1]  # SMALL shows two turns
    assert f"Scope: {LISBON}" in note.growing
    assert "The scope so far: summary:" in note.growing
    assert note.growing.split("Earlier notes:\n")[1].splitlines() == [
        f"Alice: About Lisbon: what does the Apollo cost? ({LISBON})",
        f"Alice: Back to LISBON: is there a tram? ({LISBON})",
    ]  # fmt: skip


def test_event_types_are_chosen_among_the_nearest(tmp_path: Path) -> None:
    """A turn sees at most so many candidates, those most alike to it first."""
    seeds = written({"event_types": ["ask", "tell", "castle things", "euros a night"], "entity_types": ["x"]}, True)
    model = ScriptedModel(but(SEED, seeds))
    backbone(filled(tmp_path), model).index(lambda _: None)
    seen = {request.tail: request.growing for request in model.seen if request.step == EVENT}
    shown = next(growing for tail, growing in seen.items() if "90 euros" in tail)
    assert "1. euros a night\n2. " in shown
    assert "3. " not in shown


def merging(request: Request) -> str:
    """Return that the last of the event types, when there are three, means the same as the first."""
    if request.step == MERGE and "3. order" in request.growing:
        return written({"merges": [{"label": "3", "into": "1"}]}, True)
    return understands(request)


def test_labels_that_mean_the_same_are_merged(tmp_path: Path) -> None:
    """Each period, by an inventory that says which gave way; the node has the label that stayed, for earlier turns too.

    The snippets keep the labels that they were written with.
    """
    store = filled(tmp_path)
    indexed(store, merging)
    inventories = [inventory_of(unit) for unit in store.units_of(NAME, [INVENTORY])]

    assert inventories[0] == Inventory(("ask", "tell"), ("price",), {Facet.EVENT: {"order": "ask"}})
    assert inventories[1].renamed == inventories[2].renamed == {}
    assert inventories[2].entity_types == ("price", "Vehicle")
    assert intents(store)[2].event == "order"
    assert {unit.text for unit in store.units_of(NAME, [Facet.EVENT.value])} == {"ask", "tell"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("merges", "said"),
    [
        ([{"label": "1", "into": "1"}], "gives way to itself"),
        ([{"label": "1", "into": "2"}, {"label": "2", "into": "1"}], "gives way to itself"),
        ([{"label": "1", "into": "0"}], "not two numbers"),
    ],
)
def test_merges_that_cannot_be_are_refused(merges: object, said: str, tmp_path: Path) -> None:
    """The reply is unusable: nothing is merged, and the part says so."""
    store = filled(tmp_path)
    done = indexed(store, but(MERGE, written({"merges": merges}, True)))
    assert said in (done[0].problem or "")
    assert inventory_of(store.units_of(NAME, [INVENTORY])[0]).renamed == {}


def test_merges_follow_one_another(tmp_path: Path) -> None:
    """What gave way to a label that gives way later has the label that stays in the end."""
    first, second = turns()[:2]
    made = [
        snippet_unit(NAME, first, "one", Intent("s", "a", ("x", "y"))),
        inventory_unit(NAME, [first], Inventory(renamed={Facet.EVENT: {"a": "b"}, Facet.ENTITY: {"x": "y"}})),
        snippet_unit(NAME, second, "two", Intent("s", "a", ("x",))),
        inventory_unit(NAME, [second], Inventory(renamed={Facet.EVENT: {"b": "c"}})),
    ]
    assert list(current_intents(made).values()) == [Intent("s", "a", ("x",)), Intent("s", "c", ("y",))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "reply", "said", "left"),
    [
        (SCOPE, '{"label": "0", "new": " "}', "the scope of D2:8", Intent(OSLO, "ask", ("Vehicle",))),
        (EVENT, '{"label": "0", "new": "."}', "the event type of D2:8", Intent(LISBON, "", ("Vehicle",))),
        (NOTE, "{", "the note of D2:8", Intent(LISBON, "ask")),
        (SUMMARY, "{}", "the summary of trip to Lisbon", Intent(LISBON, "ask", ("Vehicle",))),
    ],
)
def test_what_fails_is_a_problem_of_its_part(step: str, reply: str, said: str, left: Intent, tmp_path: Path) -> None:
    """The turn keeps what is known without it, the scope of the turn before and its own words; the next run tries again."""
    when = "tram" if step != SUMMARY else ""
    store = filled(tmp_path, [replace(turn, own_id=f"D{turn.session + 1}:{turn.ordinal + 2}") for turn in turns()])
    done = indexed(store, but(step, reply, when))
    failed = [part for part in done if part.problem is not None]

    assert [part.name for part in failed] == (["1"] if step != SUMMARY else ["0", "1", "2"])
    assert said in (failed[0].problem or "")
    assert intents(store)[6] == left
    if step == NOTE:
        assert store.units_of(NAME, [SNIPPET])[6].text == turns()[6].text
    assert [part.name for part in indexed(store)] == [part.name for part in failed]
    assert indexed(store) == []


def test_many_problems_are_told_in_short(tmp_path: Path) -> None:
    """The first of them in words, the number of the others."""
    (first, *_) = indexed(filled(tmp_path), but(EVENT, "no"))
    assert first.problem is not None
    assert first.problem.endswith("; and 1 more")


def test_turns_without_words_are_passed_over(tmp_path: Path) -> None:
    """They have no snippet, and a window of nothing else is done all the same."""
    blank = [Turn("chat", 0, place, "Ann", " ") for place in range(5)]
    store = filled(tmp_path, blank)
    model = ScriptedModel([])
    backbone(store, model).index(lambda _: None)
    assert (model.calls, store.units_of(NAME, [SNIPPET])) == (0, [])
    assert backbone(store, model).outlook().parts == 0


@pytest.mark.slow
def test_windows_of_several_conversations_are_read_side_by_side(tmp_path: Path) -> None:
    """As many calls as the longest of them needs, and the same units as one after the other."""
    both = [*turns("a"), *turns("b")]
    side, alone = filled(tmp_path / "a", both), filled(tmp_path / "b", both)
    model, slow = ScriptedModel(understands), ScriptedModel(understands)
    backbone(side, model, at_once=4).index(lambda _: None)
    backbone(alone, slow, at_once=1).index(lambda _: None)

    assert model.calls * 2 == slow.calls
    assert contents(side) == contents(alone)


def test_the_outlook_counts_windows_and_their_own_turns(tmp_path: Path) -> None:
    """Each turn once, though a part has those before it too; what is done is not counted."""
    store = filled(tmp_path)
    before = backbone(store, ScriptedModel(understands)).outlook()
    indexed(store)
    store.add_turns([*turns(), Turn("chat", 2, 9, "Ben", "10 euros.")])
    after = backbone(store, ScriptedModel(understands)).outlook()

    assert (before.parts, before.turns, before.calls) == (3, 9, 24)
    assert before.tokens > after.tokens > 0
    assert (after.parts, after.turns) == (1, 2)  # the last window, which was not full


@pytest.mark.slow
@given(cuts=st.lists(st.integers(1, 8), min_size=1, max_size=2, unique=True), at_once=st.integers(1, 5))
@settings(max_examples=examples(4), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_incremental_equals_from_scratch(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], at_once: int
) -> None:
    """However the turns come in, and indexing with them, the same units are left."""
    folder = tmp_path_factory.mktemp("stitch")
    whole = filled(folder / "whole")
    indexed(whole, merging)
    piecewise = filled(folder / "piecewise", [])
    for cut in [*sorted(cuts), len(turns())]:
        piecewise.add_turns(turns()[:cut])
        indexed(piecewise, merging, at_once=at_once)
    assert contents(piecewise) == contents(whole)


def test_a_window_starts_from_what_is_stored(tmp_path: Path) -> None:
    """What is read off the units is what indexing went on with: labels in order, summaries, earlier notes."""
    store = filled(tmp_path)
    indexed(store, merging)
    units = store.units_of(NAME, [SNIPPET, INVENTORY, SUMMARIES])
    state = State.from_units(turns()[:4], units)

    assert (state.scope, state.scopes) == (LISBON, [LISBON])
    assert state.vocabulary == {Facet.EVENT: ["ask", "tell"], Facet.ENTITY: ["price"]}
    assert [each.intent.event for each in state.seen] == ["ask", "tell", "ask", "tell"]
    assert list(state.summaries) == [LISBON]
    assert State.from_units(turns(), units).scopes == [LISBON, OSLO]


@pytest.mark.slow
@pytest.mark.parametrize("window", [3, 6])
def test_another_window_reads_everything_again(tmp_path: Path, window: int) -> None:
    """Whether it is shorter or longer, what is left is what it gives from scratch."""
    other = replace(SMALL, window=window)
    store, fresh = filled(tmp_path / "a"), filled(tmp_path / "b")
    indexed(store)
    for each in (store, fresh):
        backbone(each, ScriptedModel(understands), settings=other).index(lambda _: None)
        assert each.verify() == []
    assert contents(store) == contents(fresh)


@pytest.mark.slow
@pytest.mark.parametrize(("period", "windows"), [(2, [0, 1]), (4, [0, 1]), (5, [1]), (8, [1]), (10, [])])
def test_labels_are_merged_each_period(tmp_path: Path, period: int, windows: list[int]) -> None:
    """At the end of a window in which another period is full: of four, four and one turns here."""
    model = ScriptedModel(understands)
    asked: list[int] = []
    backbone(filled(tmp_path), model, settings=replace(SMALL, period=period)).index(
        lambda _: asked.append(sum(request.step == MERGE for request in model.seen))
    )
    assert [place for place, count in enumerate(asked) if count > (asked[place - 1] if place else 0)] == windows


@pytest.mark.slow
def test_forgetting_a_turn_takes_along_every_window_that_followed_from_it(tmp_path: Path) -> None:
    """Of those nothing is left, labels included, until the next indexing reads them again; earlier windows stay."""
    store = filled(tmp_path, [*turns(), *turns("other", LINES[:3])])
    indexed(store)
    kept = [unit for unit in store.units_of(NAME, [SNIPPET]) if unit.ordinal < 4]
    said = turns()
    changed = [replace(turn, text="About Oslo: no ferry.") if turn.ordinal == 4 else turn for turn in said]
    store.add_turns(changed)

    assert store.units_of(NAME, [SNIPPET]) == kept
    assert not any("Oslo" in unit.text for unit in store.units_of(NAME))
    assert store.verify() == []
    assert [part.name for part in indexed(store)] == ["1", "2"]
    fresh = filled(tmp_path / "fresh", [*changed, *turns("other", LINES[:3])])
    indexed(fresh)
    assert contents(store) == contents(fresh)


def test_forgetting_a_conversation_leaves_the_others_labels(tmp_path: Path) -> None:
    """After the next indexing the store is as if the conversation had never been there."""
    store = filled(tmp_path / "a", [*turns(), *turns("other", LINES[:3])])
    indexed(store)
    store.forget(Selection(conversations=("chat",)))
    assert not any(unit.conversation == "chat" or "Oslo" in unit.text for unit in store.units_of(NAME))
    indexed(store)
    fresh = filled(tmp_path / "b", turns("other", LINES[:3]))
    indexed(fresh)
    assert contents(store) == contents(fresh)


@pytest.mark.slow
def test_the_bundled_model_s_replies_are_usable(tmp_path: Path, bundled_path: Path) -> None:
    """Whatever the small model makes of turns and of a question, grammars see to the form, and turns stay found."""
    store = filled(tmp_path, turns()[:4])
    model = LlamaModel.from_file(bundled_path, context=4096, threads=1)
    try:
        stitch = backbone(store, model, COMPACT)
        result = stitch.index(lambda _: None)
        hits = stitch.retrieve(Query("What does the Apollo cost?"), 20)
    finally:
        model.close()

    assert all("cut off" in (part.problem or "") or part.problem is None for part in result.failed)
    assert result.units[SNIPPET] == 4
    assert store.verify() == []
    assert {turn.text for turn in turns()[:4]} <= {hit.unit.text for hit in hits}


PAPER = PaperStitchSettings(window=4, seed=3, period=4, history=2, candidates=2, aligned=2)


def in_the_papers_way(
    path: Path, settings: PaperStitchSettings = PAPER, reply: Reply = understands
) -> tuple[Store, ScriptedModel]:
    """Return a store that `paper:stitch` has indexed, and the model that it asked."""
    store, model = filled(path), ScriptedModel(reply)
    Stitch(store, lambda: Kit(model, FULL, 4, 4096), settings).index(lambda _: None)
    assert store.verify() == []
    return store, model


def test_the_papers_recipe_has_an_index_of_its_own(tmp_path: Path) -> None:
    """What `stitch` derived stays as it is, and neither finds the other's snippets."""
    store, _ = in_the_papers_way(tmp_path)
    assert len(store.units_of(PAPER.name, [SNIPPET])) == len(LINES) - 1
    assert store.units_of(NAME) == []
    backbone(store, ScriptedModel(understands)).index(lambda _: None)
    assert len(store.units_of(NAME, [SNIPPET])) == len(LINES) - 1
    hits = Stitch(store, no_kit, PAPER, lambda *_: {}).retrieve(Query("castle"), 40)
    assert {hit.unit.backbone for hit in hits} == {"paper:stitch"}


def test_the_papers_snippets_have_labels_and_content(tmp_path: Path) -> None:
    """Gated by the number of labels, found alone, and shown with labels and the text with references resolved."""
    store, _ = in_the_papers_way(tmp_path)
    told = Stitch(store, no_kit, PAPER, lambda *_: {Facet.SCOPE: (LISBON,), Facet.EVENT: ("order",)})
    hits = told.retrieve(Query("what was done?"), 40)

    assert len(hits) == len(LINES) - 1
    labels = f"[scope: {LISBON}; kind of step: order]"
    assert hits[0].unit.text == f"Alice: Book it! ({LISBON}) {labels} Alice: Book the Apollo!"
    shown = [hit.unit.text for hit in hits]
    assert any(text.endswith("[scope: trip to Oslo; kind of step: tell] 12 euros.") for text in shown)
    assert any("; details: price]" in text for text in shown)


def test_the_papers_inventory_grows_at_each_window(tmp_path: Path) -> None:
    """A later window names labels that the known ones do not cover; none is fine there."""
    later = but(SEED, '{"event_types": ["Ask", "object"], "entity_types": []}', "Known labels")
    _, model = in_the_papers_way(tmp_path, reply=later)
    seeds = [request.tail for request in model.seen if request.step == SEED]
    assert ["Known labels: ask, tell" in tail for tail in seeds] == [False, True, True]
    assert "order" in seeds[1]
    assert seeds[2].count("ask") == 1
    assert "object" in seeds[2]


def test_the_papers_ablations_leave_a_label_out_of_the_index(tmp_path: Path) -> None:
    """No turn is given a scope then, no scope is asked for, and notes are not led by one."""
    store, model = in_the_papers_way(tmp_path, replace(PAPER, by_scope=False, by_entity=False))
    found = [intent_of(unit) for unit in store.units_of(PAPER.name, [SNIPPET])]
    assert {(each.scope, each.entity_types) for each in found} == {("", ())}
    assert {each.event for each in found} == {"ask", "tell", "order"}
    assert not [request for request in model.seen if request.step in (SCOPE, SUMMARY)]
    assert indexing_settings(PaperStitchSettings, {"by_scope": False, "way": "gated"}) == {"by_scope": False}
