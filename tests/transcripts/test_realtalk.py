"""The REALTALK reader."""

from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import read_file
from tests.transcripts.layouts import REALTALK
from tests.transcripts.reading import check_refused, read_bytes

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "realtalk"
read = partial(read_bytes, name="Chat_1.json", format="realtalk")


def turn(**keys: object) -> dict[str, object]:
    """Return a turn, its keys replaced or extended."""
    return {"clean_text": "Hi", "speaker": "Ana", "date_time": "29.12.2023, 22:42:04", "dia_id": "D1:1", **keys}


def test_reads_a_chat_as_golden() -> None:
    """Each turn has its own time, captions become part of the text, and the chat is called after the file."""
    name = "Chat_1"
    turns = (
        Turn(name, 0, 0, "Ana", "Hi", datetime(2023, 12, 29, 22, 42, 4), "D1:1"),
        Turn(name, 0, 1, "bo", "Look [image: a cup]", datetime(2023, 12, 29, 22, 43, 10), "D1:2"),
    )
    assert read(REALTALK) == [Conversation(name, "realtalk", turns, None, ())]
    assert [chat.name for chat in read([REALTALK, REALTALK])] == ["Chat_1-1", "Chat_1-2"]


def test_sessions_are_in_the_order_of_their_numbers() -> None:
    """Keys out of order, and session 10 before session 2 in the file, make no difference; a session may be null."""
    (chat,) = read({"session_10": [turn(clean_text="c")], "session_2": [turn(clean_text="a")], "session_3": None})

    assert [(found.text, found.session) for found in chat.turns] == [("a", 0), ("c", 1)]
    assert chat.notes == ("repeated message ids ignored: 1",)


def test_the_sessions_time_stands_in_for_a_turns() -> None:
    """A turn without a time has its session's, else none, which is counted; so are images that nothing describes."""
    untimed = turn(date_time=None, dia_id=None)
    chats = read({"session_1": [untimed], "session_1_date_time": "01.02.2024, 10:00:00", "session_2": [untimed]})
    (images,) = read({"session_1": [turn(img_file=["1.jpg"]), turn(clean_text="", img_file=["2.jpg"], dia_id="D1:2")]})

    assert [found.said for found in chats[0].turns] == [datetime(2024, 2, 1, 10), None]
    assert chats[0].notes == ("turns without a time: 1",)
    assert images.notes == ("images without a caption left out: 2", "blank messages left out: 1")


@pytest.mark.parametrize(
    ("document", "place", "reason"),
    [
        ({"name": {}}, "", "holds no session_1"),
        ({"session_1": [turn(clean_text=5)]}, "session_1[0].clean_text", "expected text, found a number"),
        ({"session_1": [{"clean_text": "x"}]}, "session_1[0].speaker", "is missing"),
        ({"session_1": [{"speaker": "x"}]}, "session_1[0].clean_text", "is missing"),
        ({"session_1": 5}, "session_1", "expected an array, found a number"),
    ],
)
def test_errors_name_place_and_reason(document: object, place: str, reason: str) -> None:
    """What has not the layout is an error at its path."""
    check_refused(read, document, place, reason)


@pytest.mark.shared
@pytest.mark.parametrize(("stem", "turns", "sessions", "images"), [("Chat_1", 476, 18, 32), ("Chat_2", 453, 22, 43)])
def test_the_published_chats(stem: str, turns: int, sessions: int, images: int) -> None:
    """Both chats are detected and read whole: every turn with time and id, in order, and nothing left out."""
    files = sorted(SHARED.glob(f"{stem}_*.json"))
    if not files:
        pytest.skip("the data folder is not there")
    (chat,) = read_file(files[0])
    times = [turn.said for turn in chat.turns if turn.said is not None]

    assert (chat.format, chat.name, chat.notes) == ("realtalk", files[0].stem, ())
    assert (len(chat.turns), chat.turns[-1].session + 1) == (turns, sessions)
    assert len({turn.own_id for turn in chat.turns} - {None}) == turns
    assert len(times) == turns
    assert times == sorted(times)
    assert sum("[image: " in turn.text for turn in chat.turns) == images
