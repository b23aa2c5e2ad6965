"""What structured backbones write: part by part, kept in a ledger, gone with its turns, linked again without a model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.scope import hits_within
from goalmem_cli.backbones.structured.indexing import plan, sessions_of
from goalmem_cli.backbones.structured.units import derived_unit, node, passing
from goalmem_cli.errors import EmbedderMismatch, StoreError
from goalmem_cli.memory_records import Derivation, Ranking, Selection
from goalmem_cli.ports import PartDone
from goalmem_cli.records import Conversation, Edge, Part, Query, Unit
from goalmem_cli.store.store import Store
from goalmem_cli.testing import HashEmbedder
from goalmem_cli.transcripts.formats import conversations_in
from goalmem_cli.transcripts.reading.source import Source
from tests.conftest import examples
from tests.fakes import SessionNotes
from tests.store.contents import contents, holding
from tests.store.samples import CAFE, chat, open_store

NOTES = SessionNotes.NAME
OTHER = ("Where is Biscuit, the puppy?", "Asleep under the Kyoto poster.", "He ate my latte.", "Again?")
GARDEN = ("My garden has tomatoes.", "Lovely, what else?", "A greenhouse for the melons.")
OWN_TABLES = ("units", "unit_sources", "edges", "vectors", "parts", "part_turns", "part_units")


def talks() -> list[Conversation]:
    """Return two conversations of two sessions each that have words in common."""
    return [chat(CAFE[:4], name="cafe", per_session=2), chat(OTHER, name="puppy", per_session=2)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with two conversations, not indexed."""
    opened = open_store(tmp_path / "store")
    opened.add_all(talks())
    return opened


def index(store: Store, fails_on: Callable[[Part], bool] = lambda _: False) -> list[PartDone]:
    """Index the store and return what was reported."""
    done: list[PartDone] = []
    SessionNotes(store, fails_on).index(done.append)
    return done


def texts(store: Store, kind: str) -> set[str]:
    """Return the texts of the notes, or of the words."""
    return {unit.text for unit in store.units_of(NOTES, [kind])}


def found(store: Store, words: str, kinds: tuple[str, ...] | None = None) -> dict[Ranking, set[str]]:
    """Return what each ranking finds of the notes."""
    ranked = store.rank(Query(words), list(Ranking), 50, backbone=NOTES, kinds=kinds)
    hits = store.hits([scored.unit for each in ranked.values() for scored in each])
    return {ranking: {hits[scored.unit].unit.text for scored in each} for ranking, each in ranked.items()}


def test_what_was_derived_is_in_a_stretch_of_time_with_all_its_turns(store: Store) -> None:
    """One turn too early, or without a time, hides it from rankings, listings and hits; it stands at its last turn."""
    index(store)
    turns = {turn.id: turn for turn in store.turns()}
    notes = [unit for unit in store.units_of(NOTES, ["note"]) if len(unit.turns) > 1]
    assert notes
    for note in notes:
        told = [turns[id_].said for id_ in note.turns]
        first, last = min(filter(None, told)), max(filter(None, told))
        assert (note.begun, note.said) == (first, last)
        assert first < last
        for since, is_there in ((first, True), (last, False)):
            query = Query(note.text, since=since)
            ranked = store.rank(query, [Ranking.DENSE], 50, backbone=NOTES)[Ranking.DENSE]
            assert (note.id in [scored.unit for scored in ranked]) is is_there
            assert (note in filter(passing(query), notes)) is is_there
            assert (
                [note.id] == [hit.unit.id for hit in hits_within(store.hits([note.id]).values(), query)]
            ) is is_there


def test_each_part_gives_its_units_and_its_line(store: Store) -> None:
    """After an indexing the ledger has each session, with its turns and its note, and everything agrees."""
    done = index(store)
    assert [(part.conversation, part.name, part.units, part.problem) for part in done] == [
        ("cafe", "0", 1, None), ("cafe", "1", 1, None), ("puppy", "0", 1, None), ("puppy", "1", 1, None)
    ]  # fmt: skip
    ledger = store.derived(NOTES)
    assert [line.digest for line in ledger] == [part.digest for part in sessions_of(store.turns())]
    notes = {unit.id: unit for unit in store.units_of(NOTES, ["note"])}
    assert [[notes[unit].turns for unit in line.units] for line in ledger] == [[line.turns] for line in ledger]
    assert store.verify() == []
    assert store.derived("other") == []


def test_a_kind_may_be_called_as_one_of_the_turns_is(store: Store) -> None:
    """What a backbone calls a passage stands for no turn: turns are found as before, and everything agrees."""
    part = sessions_of(store.turns())[0]
    unit = derived_unit(NOTES, "passage", "tea", part.turns[:1])
    store.derive(NOTES, [Derivation(part, (unit,))])
    assert store.verify() == []
    store.add_turns([*store.turns(), *chat(GARDEN, name="garden").turns])
    assert store.verify() == []
    assert part.turns[0].id in {each.unit for each in store.rank(Query("cafe"), [Ranking.BM25], 9)[Ranking.BM25]}


def test_known_parts_change_nothing(store: Store) -> None:
    """A second indexing has nothing to do and does not write."""
    index(store)
    generation = store.stats().generation
    assert index(store) == []
    assert store.stats().generation == generation


def test_a_grown_session_is_derived_from_again(store: Store) -> None:
    """Its note gives way to the new one; the notes of the other sessions stay the very units."""
    index(store)
    before = {unit.id for unit in store.units_of(NOTES, ["note"])}
    store.add(chat((*CAFE[:4], "Splendid, thanks."), name="cafe", per_session=3))
    assert [(part.conversation, part.name) for part in index(store)] == [("cafe", "0"), ("cafe", "1")]
    assert len({unit.id for unit in store.units_of(NOTES, ["note"])} & before) == 2
    assert "splendid" in texts(store, "word")
    assert store.verify() == []


@pytest.mark.slow
def test_grown_bit_by_bit_is_the_same_as_at_once(tmp_path: Path) -> None:
    """Indexed after each stretch, in a store that once held more, or only in the end: the same rows of everything."""
    one, two = open_store(tmp_path / "one"), open_store(tmp_path / "two")
    for end in (1, 3, 4):
        one.add_all([chat(CAFE[:end], name="cafe", per_session=2), chat(("Farewell everybody.",), name="gone")])
        index(one)
    one.add_all(talks())
    one.forget(Selection(conversations=("gone",)))
    index(one)
    two.add_all(talks())
    index(two)
    assert {table: contents(one.path)[table] for table in OWN_TABLES} == {
        table: contents(two.path)[table] for table in OWN_TABLES
    }


def test_a_part_that_failed_is_kept_in_the_ledger_and_tried_again(store: Store) -> None:
    """What went wrong stands in its line, until an indexing that succeeds; the other parts are not held up."""
    assert [part.problem for part in index(store, lambda part: part.name == "1")] == [None, "no word came to mind"] * 2
    assert [line.problem for line in store.derived(NOTES)] == [None, "no word came to mind"] * 2
    assert SessionNotes(store).outlook().failed == 2
    assert [part.name for part in index(store)] == ["1", "1"]
    assert {line.problem for line in store.derived(NOTES)} == {None}
    assert len(store.units_of(NOTES, ["note"])) == 4


def test_a_part_that_fails_when_it_has_grown_keeps_its_units(store: Store) -> None:
    """What it gave is still so, and found; it is tried again nevertheless."""
    store.add(chat(GARDEN[:2], name="growing"))
    index(store)
    before = store.units_of(NOTES, conversations=["growing"], kinds=["note"])
    store.add(chat(GARDEN, name="growing"))
    assert [part.units for part in index(store, lambda part: len(part.turns) == 3)] == [0]
    assert store.units_of(NOTES, conversations=["growing"], kinds=["note"]) == before
    assert before[0].text in found(store, "tomatoes", ("note",))[Ranking.BM25]
    assert SessionNotes(store).outlook().failed == 1
    assert store.verify() == []
    index(store)
    (note,) = store.units_of(NOTES, conversations=["growing"], kinds=["note"])
    assert "greenhouse" in note.text
    assert store.verify() == []


def test_kinds_are_ranked_apart(store: Store) -> None:
    """Each ranking gives the units of the kinds asked for, all kinds where none is named, and no turns."""
    index(store)
    words = {word for note in texts(store, "note") for word in note.split()}
    for ranking, hits in found(store, "kyoto latte", ("word",)).items():
        assert {"kyoto", "latte"} <= hits <= words, ranking
    for ranking, hits in found(store, "kyoto latte", ("note",)).items():
        assert hits <= texts(store, "note"), ranking
        assert any("kyoto" in note for note in hits)
    for ranking, hits in found(store, "kyoto latte").items():
        assert hits & texts(store, "note"), ranking
        assert "kyoto" in hits
    assert not any(found(store, "kyoto latte", ("nothing",)).values())


def test_nodes_are_brought_to_what_is_given_and_no_more_is_written(store: Store) -> None:
    """The same nodes again write nothing; others are added, changed and removed, with their edges."""
    index(store)
    notes = store.units_of(NOTES, ["note"])
    nodes = [node(NOTES, "word", word, notes, {"places": (1, 2)}) for word in ("one", "two")]
    edges = [Edge(each.id, notes[0].id, "names") for each in nodes]
    store.shared(NOTES, "word", nodes, [*edges, edges[0]], links=["names"])
    assert texts(store, "word") == {"one", "two"}
    assert set(store.edges_of(NOTES, ["names"])) == set(edges)
    assert len(store.edges_of(NOTES)) == len(edges) + 4
    generation = store.stats().generation
    store.shared(NOTES, "word", nodes, edges, links=["names"])
    assert store.stats().generation == generation
    other = [replace(nodes[0], attributes={"places": (3,)}), node(NOTES, "word", "three", notes[:1])]
    store.shared(NOTES, "word", other, [Edge(other[0].id, other[1].id, "names", 0.5)], links=["names"])
    assert {unit.text: unit.attributes for unit in store.units_of(NOTES, ["word"])} == {
        "one": {"places": [3]},
        "three": {},
    }
    assert store.edges_of(NOTES, ["names"]) == [Edge(other[0].id, other[1].id, "names", 0.5)]
    assert store.verify() == []


def test_a_changed_weight_is_written(store: Store) -> None:
    """An edge of the same kind between the same units, weighted otherwise, takes the other's place."""
    index(store)
    notes = store.units_of(NOTES, ["note"])
    for weight in (1.0, 0.25):
        store.shared(NOTES, "word", [], [Edge(notes[0].id, notes[1].id, "alike", weight)], links=["alike"])
        assert [edge.weight for edge in store.edges_of(NOTES, ["alike"])] == [weight]


def test_vectors_are_those_stored_and_those_of_new_texts(store: Store) -> None:
    """A row a unit, in order, whether the unit is stored, stored with another text, or not at all."""
    index(store)
    known = store.units_of(NOTES)
    units = [known[-1], replace(known[0], text="something else"), node(NOTES, "word", "unheard", known[:1]), known[1]]
    wanted = HashEmbedder(16).embed([f"{unit.speaker}: {unit.text}" if unit.speaker else unit.text for unit in units])
    assert np.allclose(store.vectors_of(units), wanted)
    assert store.vectors_of([]).shape == (0, 16)


def test_forgetting_a_conversation_takes_all_that_it_contributed_to(store: Store, tmp_path: Path) -> None:
    """No note, word or edge of it is left, in no file; words that others have too come back with the next linking."""
    index(store)
    assert "kyoto" in texts(store, "word")
    counts = store.forgettable(Selection(conversations=("puppy",)))
    assert store.forget(Selection(conversations=("puppy",))) == counts
    assert counts.units["note"] == 2
    assert counts.units["word"] == len(
        {"where", "biscuit", "puppy", "asleep", "under", "kyoto", "poster", "latte", "again"}
    )
    assert [line.conversation for line in store.derived(NOTES)] == ["cafe", "cafe"]
    assert not holding(store.path, ["biscuit", "poster", "Biscuit", "puppy"])
    assert store.verify() == []
    assert "kyoto" not in texts(store, "word")
    assert index(store) == []
    alone = open_store(tmp_path / "alone")
    alone.add_all(talks()[:1])
    index(alone)
    assert {table: contents(store.path)[table] for table in OWN_TABLES} == {
        table: contents(alone.path)[table] for table in OWN_TABLES
    }


def test_forgetting_some_turns_takes_the_parts_that_read_them(store: Store) -> None:
    """What else such a part gave goes too, and is pending again; parts that had none of the turns stay."""
    index(store)
    assert {"ordered", "momoco"} <= texts(store, "word")
    store.forget(Selection(conversations=("cafe",), speakers=("Ben",)))
    assert {line.conversation for line in store.derived(NOTES)} == {"puppy"}
    assert not {"ordered", "momoco"} & texts(store, "word")
    assert SessionNotes(store).outlook().parts == 2
    assert store.verify() == []
    index(store)
    assert "ordered" in texts(store, "word")
    assert "momoco" not in texts(store, "word")
    assert store.verify() == []


def test_a_replaced_turn_takes_the_parts_that_read_it(tmp_path: Path) -> None:
    """A transcript read again with another text in one place: its session is derived from again, others are not."""
    store = open_store(tmp_path / "store")
    told = chat(CAFE[:4], name="cafe", own_id="cafe", with_ids=True, per_session=2)
    store.add(told)
    index(store)
    turns = (*told.turns[:2], replace(told.turns[2], text="I ordered some cocoa there."), told.turns[3])
    store.add(replace(told, turns=turns))
    assert "kyoto" not in {word for note in texts(store, "note") for word in note.split()}
    assert [part.name for part in index(store)] == ["1"]
    assert {"cocoa"} <= texts(store, "word")
    assert "kyoto" not in texts(store, "word")
    assert store.verify() == []


def test_parts_that_are_no_more_go_with_their_units(store: Store) -> None:
    """A backbone that cuts conversations otherwise drops what its earlier parts gave."""
    index(store)
    store.drop_parts([line for line in store.derived(NOTES) if line.name == "1"])
    assert {line.name for line in store.derived(NOTES)} == {"0"}
    assert len(store.units_of(NOTES, ["note"])) == 2
    assert store.verify() == []


def one_part(store: Store) -> Part:
    """Return the first session."""
    return sessions_of(store.turns())[0]


def test_what_was_forgotten_meanwhile_is_refused(store: Store) -> None:
    """A turn that went while the model worked: nothing of the batch is written."""
    first, *_, last = sessions_of(store.turns())
    derivations = [Derivation(part, (derived_unit(NOTES, "note", part.name, part.turns),)) for part in (first, last)]
    store.forget(Selection(conversations=("puppy",)))
    with pytest.raises(StoreError, match="forgotten or replaced") as error:
        store.derive(NOTES, derivations)
    assert error.value.hint
    assert store.units_of(NOTES) == []
    assert store.derived(NOTES) == []
    store.derive(NOTES, derivations[:1])
    with pytest.raises(StoreError, match="forgotten or replaced"):
        store.shared(NOTES, "word", [node(NOTES, "word", "x", derivations[1].units)], [], links=[])
    assert store.verify() == []


def test_an_edge_to_what_is_not_stored_is_refused(store: Store) -> None:
    """Neither `derive` nor `shared` leaves an edge that leads nowhere."""
    part = one_part(store)
    note = derived_unit(NOTES, "note", "a note", part.turns)
    nowhere = Edge(note.id, "0" * 32, "leads")
    with pytest.raises(StoreError, match="edge"):
        store.derive(NOTES, [Derivation(part, (note,), (nowhere,))])
    with pytest.raises(StoreError, match="edge"):
        store.shared(NOTES, "word", [], [nowhere], links=["leads"])
    assert store.edges_of(NOTES) == []
    assert store.units_of(NOTES) == []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda part, note: [Derivation(part, (replace(note, backbone="else"),))], "is not of notes"),
        (lambda part, note: [Derivation(part, (replace(note, conversation="puppy"),))], "is not of notes"),
        (lambda part, note: [Derivation(part, (replace(note, turns=(), labels=()),))], "a turn"),
        (lambda part, _: [Derivation(part), Derivation(part)], "one name"),
        (lambda part, note: [Derivation(part, (note,)), Derivation(replace(part, name="2"), (note,))], "one id"),
        (lambda part, _: [Derivation(part, (), (Edge(part.turns[0].id, part.turns[1].id, "x"),))], "touches none"),
    ],
)
def test_what_would_outlive_its_part_is_a_bug(
    store: Store, spoil: Callable[[Part, Unit], list[Derivation]], words: str
) -> None:
    """A backbone that hands in what is not of the part and of itself is stopped, and nothing is written."""
    part = one_part(store)
    with pytest.raises(ValueError, match=words):
        store.derive(NOTES, spoil(part, derived_unit(NOTES, "note", "a note", part.turns)))
    assert store.derived(NOTES) == []


def test_nodes_and_links_are_of_what_was_said(store: Store) -> None:
    """A node of another kind, or an edge of another kind than those given, is a bug."""
    note = derived_unit(NOTES, "note", "a note", one_part(store).turns)
    with pytest.raises(ValueError, match="kind word"):
        store.shared(NOTES, "word", [note], [], links=[])
    with pytest.raises(ValueError, match="none of the kinds"):
        store.shared(NOTES, "word", [], [Edge(note.id, note.id, "x")], links=["names"])


def test_the_same_unit_twice_is_one(store: Store) -> None:
    """A model may say the same twice."""
    part = one_part(store)
    note = derived_unit(NOTES, "note", "a \udce9 note", part.turns)
    edge = Edge(note.id, part.turns[0].id, "begins")
    store.derive(NOTES, [Derivation(part, (note, note), (edge, edge))])
    assert texts(store, "note") == {"a ? note"}
    assert store.verify() == []


def test_another_embedder_is_refused(store: Store) -> None:
    """Vectors of two embedders are never mixed."""
    part = one_part(store)
    other = open_store(store.path, dimension=8)
    derivation = Derivation(part, (derived_unit(NOTES, "note", "a note", part.turns),))
    for use in (
        lambda: other.derive(NOTES, [derivation]),
        lambda: other.shared(NOTES, "word", [], [], links=[]),
        lambda: other.vectors_of(derivation.units),
    ):
        with pytest.raises(EmbedderMismatch):
            use()


def test_nothing_to_derive_needs_no_store(tmp_path: Path) -> None:
    """An empty batch does nothing; anything else needs a store."""
    store = open_store(tmp_path / "store")
    store.derive(NOTES, [])
    store.drop_parts([])
    for use in (
        lambda: store.derived(NOTES),
        lambda: store.units_of(NOTES),
        lambda: store.edges_of(NOTES),
        lambda: store.shared(NOTES, "word", [], [], links=[]),
    ):
        with pytest.raises(StoreError, match="no memory"):
            use()


def copied(store: Store, folder: Path) -> Store:
    """Return a new store that read the store's export."""
    store.export_file(folder / "export.jsonl")
    other = open_store(folder / "copy")
    other.add_all(conversations_in(Source.from_path(folder / "export.jsonl")))
    return other


def test_an_exported_ledger_comes_back(store: Store, tmp_path: Path) -> None:
    """A store that read the export holds the same rows, has nothing to derive, and retries what had failed."""
    index(store, lambda part: (part.conversation, part.name) == ("cafe", "1"))
    other = copied(store, tmp_path)
    assert contents(other.path) == contents(store.path)
    assert other.verify() == []
    assert SessionNotes(other).outlook() == SessionNotes(store).outlook()
    other.add_all(conversations_in(Source.from_path(tmp_path / "export.jsonl")))
    assert contents(other.path) == contents(store.path)
    assert [(part.conversation, part.name) for part in index(other)] == [("cafe", "1")]


def test_an_exported_ledger_takes_the_place_of_a_later_one(store: Store, tmp_path: Path) -> None:
    """Read back where a part was derived from anew since, its units are those of the export, and of nothing else."""
    index(store)
    before = contents(store.path)
    store.export_file(tmp_path / "export.jsonl")
    part = one_part(store)
    store.derive(NOTES, [Derivation(part, (derived_unit(NOTES, "note", "zanzibar", part.turns),))])
    store.add_all(conversations_in(Source.from_path(tmp_path / "export.jsonl")))
    assert store.verify() == []
    assert not found(store, "zanzibar")[Ranking.BM25]
    assert contents(store.path) == before


def test_an_exported_ledger_comes_back_under_another_name(store: Store, tmp_path: Path) -> None:
    """Read beside another conversation of the same name, nothing is derived from twice either."""
    index(store)
    store.export_file(tmp_path / "export.jsonl")
    other = open_store(tmp_path / "other")
    other.add(chat(("Quite another cafe.",), name="cafe"))
    other.add_all(conversations_in(Source.from_path(tmp_path / "export.jsonl")))
    assert other.verify() == []
    work = plan(sessions_of(other.turns()), other.derived(NOTES))
    assert [(part.conversation, part.name) for part in work.pending] == [("cafe", "0")]
    assert not work.stale


def chained(store: Store, *ends: int) -> list[Derivation]:
    """Return parts of the cafe's turns, each up to one of the ends and following from the one before, with a note."""
    turns = store.turns(["cafe"])
    parts = [
        Part("cafe", str(place), tuple(turns[begin:end]), str(place - 1) if place else None)
        for place, (begin, end) in enumerate(zip((0, *ends), ends, strict=False))
    ]
    return [Derivation(part, (derived_unit(NOTES, "note", f"note {part.name}", part.turns),)) for part in parts]


def test_what_follows_from_a_changed_part_goes_with_it(store: Store) -> None:
    """Not where it was only tried again; and the plan has what follows, though its own turns are the same."""
    store.derive(NOTES, chained(store, 1, 2, 3, 4))
    (first, second, *_) = chained(store, 1, 2, 3, 4)
    store.derive(NOTES, [replace(second, problem="try again")])
    assert [line.name for line in store.derived(NOTES)] == ["0", "1", "2", "3"]
    assert [
        part.name for part in plan([each.part for each in chained(store, 1, 2, 3, 4)], store.derived(NOTES)).pending
    ] == ["1"]
    moved = replace(second.part, turns=first.part.turns + second.part.turns)
    work = plan([first.part, moved, *(each.part for each in chained(store, 1, 2, 3, 4)[2:])], store.derived(NOTES))
    assert [part.name for part in work.pending] == ["1", "2", "3"]

    store.derive(NOTES, [Derivation(moved, second.units)])
    assert [line.name for line in store.derived(NOTES)] == ["0", "1"]
    assert texts(store, "note") == {"note 0", "note 1"}
    assert store.verify() == []


def test_forgetting_takes_what_follows_and_leaves_what_was_before(store: Store) -> None:
    """A node that comes from an earlier part alone goes too: what followed may have had a say in it."""
    store.derive(NOTES, chained(store, 1, 2, 3, 4))
    notes = store.units_of(NOTES, ["note"])
    store.shared(NOTES, "word", [node(NOTES, "word", "early", notes[:1])], [], links=["names"])
    changed = [replace(turn, text="Tea!") if turn.ordinal == 2 else turn for turn in store.turns(["cafe"])]
    store.add_turns(changed)

    assert [line.name for line in store.derived(NOTES)] == ["0", "1"]
    assert store.units_of(NOTES) == notes[:2]
    assert store.verify() == []


def test_what_follows_from_a_part_that_is_gone_is_refused(store: Store) -> None:
    """Nothing of it is written."""
    (first, second) = chained(store, 1, 2)
    with pytest.raises(StoreError, match="follows from was forgotten"):
        store.derive(NOTES, [second])
    assert store.derived(NOTES) == []
    store.derive(NOTES, [first])
    store.derive(NOTES, [second])
    assert store.verify() == []


DAMAGE = {
    "UPDATE parts SET follows = 'gone' WHERE name = '1'": "parts that follow from one that is not there",
    "INSERT INTO parts SELECT * FROM parts LIMIT 1": "parts stored twice",
    "DELETE FROM part_turns": "parts without a turn",
    "DELETE FROM parts WHERE name = '1'": "turns and units of no part",
    "UPDATE parts SET conversation = 'gone'": "parts of no conversation",
    "UPDATE part_turns SET turn = 'gone'": "parts of a turn that is not stored",
    "UPDATE part_units SET unit = 'gone'": "parts with a unit that is not stored",
    "INSERT INTO part_units SELECT id, 1, unit FROM parts, (SELECT min(unit) AS unit FROM part_units)": "units of two parts",
    "UPDATE units SET backbone = 'other' WHERE kind = 'note'": "units of another backbone or conversation than their part",
}


@pytest.mark.slow
@pytest.mark.parametrize("statement", DAMAGE)
def test_a_ledger_that_disagrees_is_found(store: Store, statement: str) -> None:
    """Each disagreement between the ledger and the units is a line of `verify`."""
    index(store)
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute(statement)
    assert any(DAMAGE[statement] in line for line in store.verify())


@given(
    st.lists(st.lists(st.sampled_from(["early birds", "birds sing", "tea", "evening song"]), max_size=5), max_size=3),
    st.sampled_from([None, "Alice", "Ben"]),
    st.integers(0, 2),
)
@settings(max_examples=examples(10), deadline=None)
def test_whatever_is_forgotten_the_parts_agree(said: list[list[str]], speaker: str | None, which: int) -> None:
    """After forgetting, no word or note is left without a part, and indexing again equals indexing only what is left."""
    with TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "one")
        store.add_all(chat(each, name=f"talk-{place}", per_session=2) for place, each in enumerate(said))
        if not store.exists or not store.turns():
            return
        index(store)
        speakers = None if speaker is None else (speaker,)
        store.forget(Selection(conversations=(f"talk-{which}",), speakers=speakers))
        assert store.verify() == []
        left = {turn.id for turn in store.turns()}
        assert all(set(unit.turns) <= left for unit in store.units_of(NOTES))
        index(store)
        assert store.verify() == []
        other = open_store(Path(folder) / "two")
        if left:
            other.add_turns(store.turns())
            index(other)
            assert store.units_of(NOTES) == other.units_of(NOTES)
            assert store.edges_of(NOTES) == other.edges_of(NOTES)
            assert store.derived(NOTES) == other.derived(NOTES)
