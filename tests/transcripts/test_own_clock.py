"""Where a format has an instant and a clock, words about time are read by that clock, and the instant is what counts."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import goalmem_cli
from goalmem_cli.library.memory import Memory
from goalmem_cli.testing import HashEmbedder, ScriptedModel, faked

MIDNIGHT = 1773527400  # 22:30 on 14 March 2026 in UTC
TEXT = "I cannot sleep. My driving test is today at ten."


def export(path: Path, hours: float | None) -> Path:
    """Write a chat as Telegram Desktop does on a computer that is so many hours ahead of UTC; None: without `date`."""
    messages: list[dict[str, Any]] = []
    for number, (who, text) in enumerate([("Ana", TEXT), ("Ben", "You will pass.")]):
        said = {"date_unixtime": str(MIDNIGHT + 60 * number)}
        if hours is not None:
            clock = datetime.fromtimestamp(MIDNIGHT + 60 * number, UTC) + timedelta(hours=hours)
            said["date"] = f"{clock:%Y-%m-%dT%H:%M:%S}"
        messages.append({"id": number, "type": "message", **said, "from": who, "from_id": f"user{who}", "text": text})
    path.write_text(json.dumps({"name": "Ana", "type": "personal_chat", "id": 321, "messages": messages}), "utf-8")
    return path


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """An empty memory."""
    return goalmem_cli.open(tmp_path / "store", factories=faked(ScriptedModel([]), HashEmbedder()))


def day_of_today(memory: Memory) -> list[str]:
    """Return what "today" means in the stored message about it."""
    (hit,) = (hit for hit in memory.search("driving test", k=2) if "today" in hit.unit.text)
    times: Any = hit.unit.attributes["times"]
    return [f"{time}" for time in times]


@pytest.mark.parametrize(
    ("hours", "day", "said"),
    [
        (2, "2026-03-15", "2026-03-15T00:30:00+02:00"),
        (-3, "2026-03-14", "2026-03-14T19:30:00-03:00"),
        (5.75, "2026-03-15", "2026-03-15T04:15:00+05:45"),
        (0, "2026-03-14", "2026-03-14T22:30:00+00:00"),
        (None, "2026-03-14", "2026-03-14T22:30:00+00:00"),
        (30, "2026-03-14", "2026-03-14T22:30:00+00:00"),
        (0.01, "2026-03-14", "2026-03-14T22:30:00+00:00"),
    ],
)
def test_today_is_by_the_clock(memory: Memory, tmp_path: Path, hours: float | None, day: str, said: str) -> None:
    """The offset that there can be is kept with the hit; any other difference says nothing of a zone."""
    memory.ingest(export(tmp_path / "result.json", hours))
    assert day in "".join(day_of_today(memory))
    (hit,) = (hit for hit in memory.search("driving test", k=2) if "today" in hit.unit.text)
    assert hit.unit.said is not None
    assert hit.unit.said.isoformat() == said


@pytest.mark.parametrize(("first", "then"), [(None, 2), (2, None), (2, -8), (0, 2), (2, 2)])
def test_a_copy_from_another_zone_stores_nothing_new(
    memory: Memory, tmp_path: Path, first: float | None, then: float | None
) -> None:
    """The same messages, stored before offsets were kept or exported elsewhere: none is new, and none is replaced."""
    memory.ingest(export(tmp_path / "result.json", first))
    before = [(turn.id, turn.own_id) for turn in memory.turns("user321")]
    (again,) = memory.ingest(export(tmp_path / "copy.json", then))
    assert (again.error, again.new_turns, again.replaced) == (None, 0, ())
    assert [(turn.id, turn.own_id) for turn in memory.turns("user321")] == before
    assert memory.kept.verify() == []
    assert day_of_today(memory) == day_of_today_in(tmp_path, then)


def day_of_today_in(tmp_path: Path, hours: float | None) -> list[str]:
    """Return what "today" means in a memory that has read that export alone."""
    alone = goalmem_cli.open(tmp_path / "alone", factories=faked(ScriptedModel([]), HashEmbedder()))
    alone.ingest(export(tmp_path / "alone.json", hours))
    return day_of_today(alone)


def test_filters_by_time_go_by_the_clock(memory: Memory, tmp_path: Path) -> None:
    """By words, by vectors, and as a whole: half past midnight is of that day, also where the zone came later."""
    memory.ingest(export(tmp_path / "result.json", None))
    memory.ingest(export(tmp_path / "result.json", 2))
    for backbone in ("bm25", "dense", "none"):
        searched = goalmem_cli.open(
            tmp_path / "store", factories=faked(ScriptedModel([]), HashEmbedder()), backbone=backbone
        )
        assert len(searched.search("driving test", since=datetime(2026, 3, 15))) >= 1, backbone
        assert searched.search("driving test", until=datetime(2026, 3, 14, 23, 59)) == [], backbone
    memory.export(tmp_path / "all.jsonl")
    copy = goalmem_cli.open(tmp_path / "copy", factories=faked(ScriptedModel([]), HashEmbedder()))
    copy.ingest(tmp_path / "all.jsonl")
    assert day_of_today(copy) == day_of_today(memory)
