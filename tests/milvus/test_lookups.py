"""What is found in Milvus: the hits that a folder gives, each conversation whole, in no more calls than it takes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from goalmem_cli.library.zones import Zone
from goalmem_cli.memory_ports import AnyMemory
from goalmem_cli.memory_records import Ranking
from goalmem_cli.records import Conversation, Hit, Query, Turn
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder
from goalmem_cli.transcripts import read_file
from tests.conftest import SAMPLES
from tests.milvus.conftest import Opens, Server
from tests.milvus.faulty import opened
from tests.milvus.test_interrupted import named
from tests.reasoners.scripting import chat

DEPTH = 50
NEW = chat("Alice: my word is latte.", "Ben: my word is dog.", "--", "Ben: my word is moon.", "Ben: my word is sun.")
OLD = NEW[:2]


def ranked_hits(memory: AnyMemory, query: Query) -> dict[str, Hit]:
    """Return the hits of all that any ranking has for a query."""
    with memory.reading() as reader:
        found = reader.rank(query, tuple(Ranking), DEPTH)
        return reader.hits(sorted({scored.unit for scoreds in found.values() for scored in scoreds}))


def test_what_tools_answered_is_left_out_as_in_a_folder(memory: Opens, tmp_path: Path) -> None:
    """Unless it is wanted, or a speaker is named; somebody who is called as a tool is heard all the same."""
    said = [("user", "user"), ("Bash", "tool"), ("Read", "tool")]
    turns = [Turn("log", 0, at, who, f"The tide file {at}.", role=role) for at, (who, role) in enumerate(said)]
    other = [Turn("chat", 0, 0, "Read", "I file the tide."), Turn("chat", 0, 1, "Ann", "Which tide file?")]
    for each in (Store(tmp_path / "folder", HashEmbedder(), announce=lambda _: None), memory()):
        each.add_all([Conversation("log", "agent-log", tuple(turns)), Conversation("chat", "whatsapp", tuple(other))])
        for wanted, found in (
            (Query("tide file"), {"user", "Ann"}),
            (Query("tide file", ("log",)), {"user"}),
            (Query("tide file", tools=True), {"user", "Ann", "Bash", "Read"}),
            (Query("tide file", speakers=("Bash",)), {"Bash"}),
        ):
            assert {hit.unit.speaker for hit in ranked_hits(each, wanted).values()} - {"Read"} == found - {"Read"}
        assert "I file the tide." in {hit.unit.text for hit in ranked_hits(each, Query("tide file")).values()}


def test_hits_are_those_of_a_folder(memory: Opens, tmp_path: Path) -> None:
    """Labels, texts, times, whom it is said to and neighbours are the same, of turns, passages and answers."""
    long = " ".join(f"The harbour of Momoco has {count} boats." for count in range(90))
    long_turn = Turn("harbour", 0, 1, "Ben", long, datetime(2023, 5, 8, 14, 30))
    talk = [*named(list(OLD), "harbour")[:1], long_turn, Turn("harbour", 1, 2, "Alice", "Where was Ben last Friday?")]
    folder, there = Store(tmp_path / "folder", HashEmbedder(), announce=lambda _: None), memory()
    answers = []
    for each in (folder, there):
        each.add_all(read_file(SAMPLES / "momoco.json"))
        each.add_turns(talk)
        answers.append(each.add_answer("Ninety boats", long_turn, [long_turn.id], {"question": "How many?"}))
    for query in (Query("What did Alice order at Momoco?"), Query("boats", speakers=("Ben",))):
        theirs = ranked_hits(folder, query)
        assert len(theirs) > 1
        assert ranked_hits(there, query) == theirs
    assert "passage" in {hit.unit.kind for hit in theirs.values()}
    ids = [answers[0].id, long_turn.id, *theirs]
    with there.reading() as reader, folder.reading() as measure:  # which have ranked nothing
        alone = measure.units(ids)
        assert reader.units(ids) == alone == {id_: hit.unit for id_, hit in measure.hits(ids).items()}
        assert reader.hits(ids) == measure.hits(ids)
        assert reader.hits(ids)[long_turn.id].before
        assert reader.hits(ids)[answers[0].id].unit.labels
    assert answers[0] == answers[1]


def test_zones_are_kept_as_in_a_folder(memory: Opens, tmp_path: Path) -> None:
    """A talk read under another zone is the same, by its instants; the zone that nobody named moves none of it."""
    instants = [datetime(2026, 7, 14, 22, minute, tzinfo=UTC) for minute in (30, 31)]
    turns = tuple(replace(turn, said=said) for turn, said in zip(NEW, instants, strict=False))
    talk = Conversation(turns[0].conversation, "chatgpt", turns)
    folder, there = Store(tmp_path / "folder", HashEmbedder(), announce=lambda _: None), memory()
    utc, berlin, lima = map(Zone.named, ("UTC", "Europe/Berlin", "America/Lima"))
    assumed = replace(lima, is_assumed=True)
    for zone, kept in ((utc, utc), (berlin, berlin), (assumed, berlin), (lima, lima)):
        for each in (folder, there):
            (added,) = each.add_all([zone.told(talk)])
            assert added.new_turns == 2 * (zone is utc)
            assert each.stats().timezones == {kept.name: 2}
        assert there.turns() == folder.turns()
        assert [turn.local for turn in there.turns()] == [turn.local for turn in folder.turns()]


def test_windows_of_other_zones_are_one_as_in_a_folder(memory: Opens, tmp_path: Path) -> None:
    """Turns without ids that stand elsewhere in a window of another zone are looked for by their instants."""
    zones = [timezone(timedelta(hours=hours)) for hours in (2, -7)]
    talks = []
    for place, (zone, start) in enumerate(zip(zones, (0, 4), strict=True)):
        turns = [
            Turn("boats", 0, number, ("Ana", "Ben")[at % 2], f"Boat {at}. " + "And so on. " * 9,
                 datetime(2026, 7, 14, 22, at, tzinfo=UTC).astimezone(zone))
            for number, at in enumerate(range(start, start + 20))
        ]  # fmt: skip
        talks.append(Conversation(f"boats{place}", "chatgpt", tuple(turns), file=f"/{place}/boats{place}"))
    folder, there = Store(tmp_path / "folder", HashEmbedder(), announce=lambda _: None), memory()
    for each in (folder, there):
        assert [added.new_turns for talk in talks for added in each.add_all([talk])] == [20, 4]
    assert there.turns() == folder.turns()


def test_a_search_just_after_a_write_asks_once(server: Server, tmp_path: Path) -> None:
    """A conversation that changed a moment ago is not searched twice where nobody changes anything meanwhile."""
    memory = opened(server.address, tmp_path)
    memory.add_turns(OLD)
    server.engine.calls.clear()
    assert len(ranked_hits(memory, Query("word"))) == len(OLD)
    assert server.engine.calls.count("Search") == len(Ranking)
    assert server.engine.calls.count("Query") <= 8


def test_what_grows_between_searches_is_found_whole(server: Server, tmp_path: Path) -> None:
    """However the searches of one ranking fall before and after a write, all show the conversation in one state."""
    memory, other = (opened(server.address, tmp_path) for _ in range(2))
    memory.add_turns(OLD)
    searches = 0

    def growing(name: str, method: Any, request: Any, context: Any) -> Any:
        nonlocal searches
        searches += name == "Search"
        if name == "Search" and searches == 2:
            other.add_turns(NEW)
        return method(request, context)

    server.engine.fault = growing
    with memory.reading() as reader:
        found = reader.rank(Query("my word"), tuple(Ranking), DEPTH)
    assert searches > len(Ranking)
    seen = {frozenset(scored.unit for scored in scoreds) for scoreds in found.values()}
    assert seen == {frozenset(turn.id for turn in NEW)}
