"""The reader of CAME-Bench's trajectories."""

from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import read_file
from tests.transcripts.reading import jsonl, read_one

TRIP: list[dict[str, object]] = [
    {
        "id": "trip-1-turn-1",
        "role": "user",
        "content": "Let us plan day 1.",
        "partition": ["trip-1", "day-1"],
        "timestamp_mapping": {"trip-1": "2025-05-15T08:00"},
        "action": "START",
    },
    {"id": "trip-1-turn-2", "role": "assistant", "content": "Gladly.", "partition": ["trip-1", "day-1"]},
]


def read(*turns: dict[str, object]) -> Conversation:
    """Return the conversation of the turns."""
    return read_one(jsonl(*turns), "trip.jsonl", "came")


def test_reads_a_trajectory_as_golden(tmp_path: Path) -> None:
    """A trajectory is called after its folder; each turn has its role, its own id and its time, where there is one."""
    path = tmp_path / "traj-0" / "turns.jsonl"
    path.parent.mkdir()
    path.write_bytes(jsonl(*TRIP))
    turns = (
        Turn("traj-0", 0, 0, "user", "Let us plan day 1.", datetime(2025, 5, 15, 8), "trip-1-turn-1", "user"),
        Turn("traj-0", 0, 1, "assistant", "Gladly.", None, "trip-1-turn-2", "assistant"),
    )

    assert read_file(path) == [Conversation("traj-0", "came", turns)]


def test_other_names_of_the_keys() -> None:
    """`speaker`, `text`, `turn_id` and `timestamp` are read as well, and only `role` gives a role."""
    said = read({"speaker": "Ana", "text": "Hi", "turn_id": "t1", "timestamp": "2025-05-15 08:00"}).turns

    assert said == (Turn("trip", 0, 0, "Ana", "Hi", datetime(2025, 5, 15, 8), "t1", None),)


def test_a_time_behind_the_text() -> None:
    """The benchmark's scripts write the time behind the text: it is the turn's, unless it is none."""
    turns = read(
        {"role": "con", "content": "I disagree. ----TIMESTAMP: 2025-05-15T08:01"},
        {"role": "pro", "content": "Is this ----TIMESTAMP: a mark?"},
    ).turns

    assert [(turn.text, turn.said) for turn in turns] == [
        ("I disagree.", datetime(2025, 5, 15, 8, 1)),
        ("Is this ----TIMESTAMP: a mark?", None),
    ]


@pytest.mark.parametrize("time", ["step 7", "17", 17, "2025-02-31T08:00"])
def test_what_is_no_time_is_counted(time: object) -> None:
    """A count of steps in the place of a time is left out, with a note."""
    conversation = read({**TRIP[0], "timestamp_mapping": {"trip-1": time}})

    assert conversation.turns[0].said is None
    assert conversation.notes == ("turns with a time that is none, left out: 1",)


@pytest.mark.parametrize(
    ("turn", "place"),
    [
        ({"role": "user"}, "line 1, content"),
        ({"content": "x"}, "line 1, role"),
        ({"role": "user", "content": 5}, "line 1, content"),
        ({"role": "user", "content": "x", "timestamp_mapping": []}, "line 1, timestamp_mapping"),
    ],
)
def test_errors_name_the_place(turn: dict[str, object], place: str) -> None:
    """A line that is no turn is an error with its number and the path to the value."""
    with pytest.raises(InputError) as caught:
        read(turn)

    assert caught.value.place == place
