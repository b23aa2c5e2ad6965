"""A store is written as lines of JSON, and a new store that reads them is the same; Parquet holds the same tables."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.errors import InputError, StoreError
from goalmem_cli.memory_records import Ranking, Scored, Selection
from goalmem_cli.records import Conversation, Edge, Query, Turn
from goalmem_cli.store.changes.exporting import CONTENT_TABLES, write_lines
from goalmem_cli.store.store import Store
from goalmem_cli.transcripts.formats import conversations_in, read_file
from goalmem_cli.transcripts.reading.source import Source
from tests.conftest import examples
from tests.store.contents import contents
from tests.store.killing import OLD, gist
from tests.store.samples import CAFE, START, chat, open_store
from tests.transcripts.reading import detect

ODD = (
    "a\x00b",
    "  blanks around  ",
    "line\u2028separator\r\nand\ttab",
    '{"goalmem": 1}',
    "[bold]x[/bold]\x1b[31m",
    "抹茶",
)


def exported(store: Store, file: Path) -> Path:
    """Write the store's documents into the file, as the command does."""
    write_lines(store.export(), file)
    return file


def lines(file: Path) -> Iterator[Conversation]:
    """Yield what the file holds, as the reader hands it on."""
    return conversations_in(Source.from_path(file))


def copied(store: Store, folder: Path) -> Store:
    """Return a new store that read the store's export."""
    other = Store(folder / "copy", OLD, announce=lambda _: None)
    other.add_all(lines(exported(store, folder / "export.jsonl")))
    return other


@pytest.fixture
def store(base: Path, tmp_path: Path) -> Store:
    """A store with everything: a gap, a second `chat`, gists and edges, an answer, offsets, roles and odd texts."""
    store = Store(shutil.copytree(base, tmp_path / "store"), OLD, announce=lambda _: None)
    store.forget(Selection(conversations=("trip",), speakers=("Ben",)))
    east = timezone(timedelta(hours=9, minutes=30))
    other = chat(["Another chat of the same name.", *ODD], start=START.replace(tzinfo=east))
    roles = [replace(turn, role=role) for turn, role in zip(other.turns, ("user", "assistant", None) * 9, strict=False)]
    stamped = chat(["At noon."], name="utc", start=START.replace(tzinfo=UTC, microsecond=1))
    store.add_all([replace(other, turns=tuple(roles)), stamped, chat(["word " * 900], name="long", start=None)])
    first, second = store.turns(["chat"])[:2]
    store.add_answer("It is a cafe.", store.turns(["utc"])[0], [first.id, second.id], {"question": ["What", None, 1.5]})
    linked = gist(tuple(store.turns(["chat-2"])[:1]), "Of another conversation.")
    back = next(unit for unit in store.hits([first.id]))
    edges = (Edge(linked.id, back, "about", 2.0), Edge(back, linked.id, "about", 0.25))
    store.add(replace(chat([], name="chat-2"), derived=(linked,), edges=edges, is_exported=True))
    return store


def by_unit(scored: Scored) -> str:
    """Return what sorts what was found, whatever comes first among equals."""
    return scored.unit


def test_the_store_has_everything(store: Store) -> None:
    """Else nothing much would be tested."""
    names = [summary.name for summary in store.conversations()]
    assert names == ["chat", "chat-2", "long", "notes", "trip", "utc"]
    stats = store.stats()
    assert stats.units["answer"] == 1
    assert stats.units["gist"] == 3
    assert stats.units["passage"] > 1
    assert stats.edges == 3
    assert [turn.ordinal for turn in store.turns(["trip"])] == [0, 2]
    assert store.verify() == []


def test_a_new_store_that_reads_the_export_is_the_same(store: Store, tmp_path: Path) -> None:
    """Every table holds the same rows, vectors included, and the new store exports the same again."""
    other = copied(store, tmp_path)
    assert contents(other.path) == contents(store.path)
    heading, *lines = store.export()
    assert list(other.export()) == [{"goalmem": heading["goalmem"]}, *lines]  # `ingest` takes the goals, not the store
    assert other.verify() == []
    for ranking in Ranking:
        one, two = (sorted(s.rank(Query("cafe matcha"), [ranking], 99)[ranking], key=by_unit) for s in (store, other))
        assert [scored.unit for scored in one] == [scored.unit for scored in two]
        assert [scored.score for scored in one] == pytest.approx([scored.score for scored in two])


def test_a_file_that_is_read_whole_gives_the_same(store: Store, tmp_path: Path) -> None:
    """Whether it comes in stretches makes no difference; the format is recognised by its first line."""
    file = exported(store, tmp_path / "export.jsonl")
    assert detect(file.name, file.read_bytes()) == "goalmem"
    other = Store(tmp_path / "copy", OLD, announce=lambda _: None)
    other.add_all(read_file(file))
    assert contents(other.path) == contents(store.path)


def test_reading_it_into_the_same_store_changes_nothing(store: Store, tmp_path: Path) -> None:
    """Nothing is written at all."""
    file = exported(store, tmp_path / "export.jsonl")
    files = {path: path.read_bytes() for path in store.path.rglob("*") if path.is_file()}
    added = store.add_all(lines(file))
    assert sum(each.new_turns + each.units for each in added) == 0
    assert {path: path.read_bytes() for path in store.path.rglob("*") if path.is_file()} == files


def test_it_is_read_beside_other_conversations_of_the_same_names(store: Store, tmp_path: Path) -> None:
    """What is called alike and says something else keeps its own turns, gists and edges, and reading twice adds none."""
    target = Store(tmp_path / "target", OLD, announce=lambda _: None)
    own = chat(["A chat of another person.", "Quite another."])
    target.add(replace(own, derived=(gist(own.turns, "They talk of a cafe."),)))
    before = contents(target.path)
    file = exported(store, tmp_path / "export.jsonl")
    target.add_all(lines(file))
    assert target.verify() == []
    after = contents(target.path)
    assert set(before["turns"]) < set(after["turns"])
    assert set(before["units"]) < set(after["units"])
    assert target.stats().turns == store.stats().turns + 2
    assert target.stats().edges == store.stats().edges
    assert target.stats().units["gist"] == store.stats().units["gist"] + 1
    texts = {hit.unit.text: hit.before + hit.after for hit in target.hits(list(ids(target))).values()}
    assert CAFE[0] in texts
    target.add_all(lines(file))
    assert contents(target.path) == after


def ids(store: Store) -> set[str]:
    """Return the ids of all units."""
    return {str(row[0]) for row in contents(store.path)["units"]}


@pytest.mark.slow
def test_an_interrupted_reading_goes_on(store: Store, tmp_path: Path) -> None:
    """After any conversation the new store is sound, and in the end it is the same."""
    file = exported(store, tmp_path / "export.jsonl")
    every = list(lines(file))
    other = Store(tmp_path / "copy", OLD, announce=lambda _: None)
    for end in range(1, len(every) + 1):
        other.add_all(every[:end])
        assert other.verify() == []
    assert contents(other.path) == contents(store.path)


@pytest.mark.slow
def test_a_long_conversation_comes_in_stretches(tmp_path: Path) -> None:
    """The gaps of what was forgotten stay where they are, across the stretches' ends."""
    store = open_store(tmp_path / "store")
    texts = [f"Entry {number}" for number in range(7_000)]
    for with_ids in (False, True):
        name = f"long-{with_ids}".lower()
        store.add(chat(texts, name=name, own_id=name if with_ids else None, with_ids=with_ids, per_session=50))
    store.forget(Selection(speakers=("Ben",), before=START + timedelta(hours=2_000)))
    store.forget(Selection(speakers=("Alice",), before=START + timedelta(hours=90)))
    other = open_store(tmp_path / "copy")
    file = exported(store, tmp_path / "export.jsonl")
    assert any(conversation.continues for conversation in lines(file))
    other.add_all(lines(file))
    assert contents(other.path) == contents(store.path)
    assert sum(added.new_turns for added in other.add_all(lines(file))) == 0


def test_parquet_holds_the_same_tables(store: Store, tmp_path: Path) -> None:
    """One file a table, with the rows as they are stored."""
    files = store.export_tables(tmp_path / "tables")
    assert [file.name for file in files] == [f"{table}.parquet" for table in CONTENT_TABLES]
    wanted = contents(store.path)
    with duckdb.connect() as connection:
        for table, file in zip(CONTENT_TABLES, files, strict=True):
            rows = connection.execute(f"SELECT * FROM '{file}' ORDER BY ALL").fetchall()
            assert rows == wanted[table]
    assert store.verify() == []


def test_a_folder_that_cannot_be_written_is_said(store: Store, tmp_path: Path) -> None:
    """The error names the place, and the store stays usable."""
    (tmp_path / "file").write_text("in the way")
    for use in (
        lambda: store.export_tables(tmp_path / "file"),
        lambda: write_lines(store.export(), tmp_path / "file" / "x"),
    ):
        with pytest.raises(StoreError, match="file") as error:
            use()
        assert error.value.hint
    assert store.verify() == []


def test_a_store_without_turns_exports_its_first_line(tmp_path: Path) -> None:
    """There is nothing else to say."""
    store = open_store(tmp_path / "store")
    store.add(chat())
    store.forget(Selection())
    assert list(store.export()) == [{"goalmem": 1}]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ({"unit": {}}, "line 3, unit.turns"),
        ({"edge": {"source": "x", "target": "y", "kind": "z", "weight": 1}}, "line 3, edge.source"),
        ({"turn": {"session": 0, "ordinal": -1, "speaker": "", "text": ""}}, "line 3, turn.ordinal"),
        ({"turn": {"session": 0, "ordinal": 0, "speaker": "", "text": "x", "said": "noon"}}, "line 3, turn.said"),
        ({"answer": {}}, "line 3"),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, line: dict[str, object], place: str) -> None:
    """What no export has there is an error with its line, and nothing of that conversation is stored."""
    file = tmp_path / "export.jsonl"
    head = {"conversation": "chat", "format": "openai", "own_id": None}
    file.write_text("\n".join(json.dumps(each) for each in ({"goalmem": 1}, head, line)))
    with pytest.raises(InputError) as error:
        list(lines(file))
    assert error.value.place == place


def test_what_was_derived_needs_its_turns(tmp_path: Path) -> None:
    """An export whose turns were cut out is refused at the line of the conversation."""
    store = open_store(tmp_path / "store")
    conversation = chat()
    store.add(replace(conversation, derived=(gist(conversation.turns[:1], "A gist."),)))
    documents = [document for document in store.export() if "turn" not in document]
    file = tmp_path / "export.jsonl"
    write_lines(documents, file)
    with pytest.raises(InputError, match="turns"):
        list(lines(file))


WORDS = st.text(st.characters(codec="utf-8"), max_size=12)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Return a conversation of any texts and speakers, perhaps with ids, times, roles, gaps and gists."""
    has_ids = draw(st.booleans())
    name = draw(st.sampled_from(["one", "two", " x ", "お茶", "a/b.c"]))
    zone = draw(st.sampled_from([None, UTC, timezone(timedelta(hours=-3, seconds=1))]))
    turns = []
    session = ordinal = 0
    for number in range(draw(st.integers(min_value=1, max_value=5))):
        session += draw(st.sampled_from([0, 0, 1]))
        ordinal += draw(st.sampled_from([0, 1, 2, 9]))
        said = draw(st.sampled_from([None, START.replace(tzinfo=zone) + timedelta(hours=number, microseconds=number)]))
        turns.append(
            Turn(name, session, ordinal + number, draw(WORDS), draw(WORDS), said, f"i{number}" if has_ids else None,
                 draw(st.sampled_from([None, "user", "assistant"])))
        )  # fmt: skip
    conversation = Conversation(
        name, draw(st.sampled_from(["openai", "markdown"])), tuple(turns), name if has_ids else None
    )
    if draw(st.booleans()):
        one, two = gist(conversation.turns[:2], draw(WORDS) + "1"), gist(conversation.turns[-1:], draw(WORDS) + "2")
        one = replace(one, event_from=START, event_to=START.replace(tzinfo=UTC))
        return replace(conversation, derived=(one, two), edges=(Edge(one.id, two.id, "next", draw(st.floats(0, 1))),))
    return conversation


@given(st.lists(conversations(), min_size=1, max_size=3), st.sampled_from([None, "user", ""]))
@settings(max_examples=examples(12))
def test_any_store_comes_back_from_its_export(said: list[Conversation], forgotten: str | None) -> None:
    """Whatever was said and forgotten, a new store that reads the export holds the same, and reads it again as known."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store", OLD, announce=lambda _: None)
        store.add_all(said)
        if forgotten is not None:
            store.forget(Selection(speakers=(said[0].turns[0].speaker,)))
        if not store.turns():
            return
        other = copied(store, Path(folder))
        assert contents(other.path) == contents(store.path)
        assert list(other.export()) == list(store.export())
        assert other.verify() == []
        generation = other.stats().generation
        other.add_all(lines(Path(folder) / "export.jsonl"))
        assert other.stats().generation == generation


def test_a_unit_that_two_conversations_name_is_the_last_ones(tmp_path: Path) -> None:
    """What is written together is written as one after the other: a unit of one id is there once, and comes back."""
    one, two = chat(["Where?", "In Baixa."], name="one"), chat(["When?", "At six."], name="two")
    said = [replace(each, derived=(gist(each.turns, "They agree."),)) for each in (one, two)]
    together, after_each_other = (
        Store(tmp_path / name, OLD, announce=lambda _: None) for name in ("together", "after each other")
    )
    together.add_all(said)
    for each in said:
        after_each_other.add(each)
    derived = together.units_of("remem")

    assert [(unit.conversation, unit.turns) for unit in derived] == [("two", tuple(turn.id for turn in two.turns))]
    assert after_each_other.units_of("remem") == derived
    assert contents(copied(together, tmp_path).path) == contents(together.path)
    assert together.verify() == []


def test_what_is_said_beside_a_text_comes_back(tmp_path: Path) -> None:
    """Replies, edits and reactions are exported with their turn, a hit has them, and a turn without has no key."""
    beside = {"reply_to": "1", "edited": True, "reactions": [{"reaction": "\u2764", "count": 2, "by": ["Ana", "Bo"]}]}
    said = chat(["Where?", "In Baixa."], name="trip")
    turns = (said.turns[0], replace(said.turns[1], attributes=beside))
    store = open_store(tmp_path / "store")
    store.add(replace(said, turns=turns))

    other = copied(store, tmp_path)

    assert [turn.attributes for turn in other.turns()] == [{}, beside]
    exported_turns = [json.dumps(document) for document in store.export() if "turn" in document]
    assert ["attributes" in turn for turn in exported_turns] == [False, True]
    assert [hit.unit.attributes for hit in other.hits([turns[1].id]).values()] == [beside]
    assert other.verify() == []
