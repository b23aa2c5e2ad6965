"""Times in turns lean on the turn before, wherever that comes from or goes; and a store reads them again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import duckdb

from goalmem_cli.logic.annotations import TIMES
from goalmem_cli.memory_records import Selection
from goalmem_cli.store.store import Store
from tests.store.samples import chat, open_store

SAID = datetime(2024, 6, 1, 9)
ASKED, TOLD = "Were you in Cork from 10 to 13 May?", "On Saturday we sailed."
SATURDAY = ["On Saturday", "2024-05-11", "2024-05-11"]


def times(store: Store) -> dict[str, object]:
    """Return text -> what its times mean, of the turns."""
    with store.reading() as reader:
        hits = reader.hits([turn.id for turn in store.turns()])
    return {hit.unit.text: hit.unit.attributes.get(TIMES) for hit in hits.values()}


def add(store: Store, texts: Sequence[str]) -> None:
    """Add the texts as one conversation, which grows."""
    store.add(chat(texts, start=SAID, own_id="chat", with_ids=True))


def test_a_turn_leans_on_the_one_before(tmp_path: Path) -> None:
    """Also where that was stored before it, and no more where that has changed or is forgotten."""
    store = open_store(tmp_path / "store")
    add(store, [ASKED])
    add(store, [ASKED, TOLD])
    assert times(store)[TOLD] == [SATURDAY]
    add(store, [ASKED.replace("May", "April"), TOLD])
    assert times(store)[TOLD] == [["On Saturday", "2024-04-13", "2024-04-13"]]
    assert store.verify() == []
    add(store, [ASKED, TOLD])
    store.forget(Selection(speakers=("Alice",)))
    assert times(store) == {TOLD: [["On Saturday", "2024-05-25", "2024-05-25"]]}
    assert store.verify() == []


def test_times_are_read_again_and_nothing_is_lost(tmp_path: Path) -> None:
    """Only what older rules read otherwise is written, and a second time nothing is."""
    store = open_store(tmp_path / "store")
    add(store, [ASKED, TOLD, "Tea?"])
    wanted, exported = times(store), list(store.export())
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute("UPDATE units SET attributes = '{}' WHERE text = ?", [TOLD])
    assert times(open_store(store.path)) != wanted
    assert store.refresh() == 1
    assert times(store) == wanted
    assert list(store.export()) == exported
    assert store.verify() == []
    assert store.refresh() == 0


def test_an_older_store_is_read_again_when_it_is_opened(tmp_path: Path) -> None:
    """What the last version took the times to mean gives way, and it is said that the store is brought up to date."""
    said: list[str] = []
    store = open_store(tmp_path / "store", said.append)
    add(store, [ASKED, TOLD])
    wanted = times(store)
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute("UPDATE units SET attributes = '{}' WHERE text = ?", [TOLD])
        connection.execute("DELETE FROM migrations WHERE name = 'm009_times_read_by_what_stands_around'")
    assert times(store) == wanted
    assert store.verify() == []
    assert any("up to this version" in line for line in said)


def test_what_a_turn_has_beside_its_text_is_no_part_of_one(tmp_path: Path) -> None:
    """A transcript may say "part" of a whole turn: an older store with such turns opens, and is sound."""
    store = open_store(tmp_path / "store")
    told = chat([ASKED, TOLD], start=SAID)
    beside: tuple[dict[str, object], ...] = ({"part": "2"}, {"part": 3})
    turns = tuple(replace(turn, attributes=each) for turn, each in zip(told.turns, beside, strict=True))
    store.add(replace(told, turns=turns))
    wanted = times(store)
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute("DELETE FROM migrations WHERE name = 'm009_times_read_by_what_stands_around'")
    assert times(store) == wanted
    assert store.verify() == []
    assert store.refresh() == 0
