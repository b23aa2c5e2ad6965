"""The LoCoMo reader."""

from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import read_file
from tests.transcripts.reading import check_refused, read_bytes

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
read = partial(read_bytes, name="chats.json", format="locomo")


def sample(**keys: object) -> dict[str, object]:
    """Return a sample of one session with one turn, its keys replaced or extended."""
    turn = {"speaker": "Alice", "dia_id": "D1:1", "text": "Hello"}
    return {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [turn], **keys}


def test_reads_a_sample_as_golden() -> None:
    """Sessions become runs of turns in the order of their numbers, captions part of the text; questions are ignored."""
    document = {
        "sample_id": "canal-1",
        "qa": [{"question": "ignored"}],
        "conversation": {
            "speaker_a": "Alice",
            "speaker_b": "Ben",
            "session_10_date_time": "12:05 am on 1 June, 2023",
            "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "", "blip_caption": "a photo of a cup"}],
            "session_2_date_time": "12:30 pm on 9 May, 2023",
            "session_2": [
                {"speaker": "Alice", "dia_id": "D2:1", "text": " Look! \n", "blip_caption": "a photo of a cafe"},
                {"speaker": "Ben", "dia_id": "D2:2", "text": "Nice"},
            ],
        },
    }
    name = "canal-1"
    noon, night = datetime(2023, 5, 9, 12, 30), datetime(2023, 6, 1, 0, 5)
    turns = (
        Turn(name, 0, 0, "Alice", "Look! [image: a photo of a cafe]", noon, "D2:1"),
        Turn(name, 0, 1, "Ben", "Nice", noon, "D2:2"),
        Turn(name, 1, 2, "Ben", "[image: a photo of a cup]", night, "D10:1"),
    )
    assert read(document) == [Conversation(name, "locomo", turns, name, ())]


def test_keys_at_the_top_level() -> None:
    """A sample may have its sessions without a `conversation` around them, and then takes the file's name."""
    (conversation,) = read(sample())

    assert (conversation.name, conversation.own_id) == ("chats", None)
    assert [turn.text for turn in conversation.turns] == ["Hello"]


def test_several_samples_are_numbered() -> None:
    """Samples without an id are called after the file and their position."""
    conversations = read([sample(), sample(sample_id="x"), sample()])

    assert [conversation.name for conversation in conversations] == ["chats-1", "x", "chats-3"]
    assert all(turn.conversation == c.name for c in conversations for turn in c.turns)


def test_missing_time_stays_unknown() -> None:
    """A session without a time gives turns without one, in order, and is counted."""
    said = [{"speaker": "A", "text": "one"}, {"speaker": "B", "text": "two"}]
    (conversation,) = read({"session_1": said, "session_1_date_time": "  "})

    assert [(turn.text, turn.said, turn.own_id) for turn in conversation.turns] == [
        ("one", None, None),
        ("two", None, None),
    ]
    assert conversation.notes == ("sessions without a time: 1",)


def test_bad_and_repeated_ids_are_dropped() -> None:
    """A dia_id that is no short text, or that an earlier turn has, is ignored and counted; the turns stay."""
    ids: list[object] = ["D1:1", "D1:1", 7, "", "D1 : 2", "D1:3"]
    turns = [{"speaker": "A", "text": f"{number}", "dia_id": own} for number, own in enumerate(ids)]
    (conversation,) = read(sample(session_1=turns))

    assert [turn.own_id for turn in conversation.turns] == ["D1:1", None, None, None, None, "D1:3"]
    assert len({turn.id for turn in conversation.turns}) == len(ids)
    assert set(conversation.notes) == {"malformed message ids ignored: 3", "repeated message ids ignored: 1"}


def test_blank_turns_and_empty_sessions_are_left_out() -> None:
    """Blank turns are counted; sessions without turns take no number."""
    turns = [{"speaker": "A", "text": " \n"}, {"speaker": "A", "text": None}, {"speaker": "A", "text": "x"}]
    (conversation,) = read({"session_1": [], "session_2": None, "session_3": turns, "session_4_date_time": ""})

    assert [(turn.session, turn.ordinal, turn.text) for turn in conversation.turns] == [(0, 0, "x")]
    assert "blank messages left out: 2" in conversation.notes
    assert "times of sessions that are not there: 1" in conversation.notes


@pytest.mark.parametrize(
    ("document", "place", "reason"),
    [
        ([sample(), sample(), {"conversation": {"session_1": [{"speaker": "A", "text": 5}]}}],
         "[2].conversation.session_1[0].text", "expected text, found a number"),
        (sample(session_1=[{"speaker": "A"}]), "session_1[0].text", "is missing"),
        (sample(session_1=[{"text": "A"}]), "session_1[0].speaker", "is missing"),
        (sample(session_1=[{"text": "A", "speaker": " "}]), "session_1[0].speaker", "is blank"),
        (sample(session_1=["A"]), "session_1[0]", "expected an object, found text"),
        (sample(session_1={"A": "b"}), "session_1", "expected an array, found an object"),
        (sample(sample_id=[1]), "sample_id", "expected text, found an array"),
        (sample(session_1=[{"text": "A", "speaker": "A", "blip_caption": 1}]),
         "session_1[0].blip_caption", "expected text, found a number"),
        ({"conversation": {}}, "conversation", "holds no session_1"),
        ({"conversation": None}, "conversation", "expected an object, found null"),
        ([], "", "no messages found"),
        (sample(session_1=[]), "", "no messages found"),
        ([sample(sample_id="x"), sample(sample_id="x", session_1=[{"speaker": "A", "text": "else"}])], "[1]", "a second conversation is called 'x'"),
    ],
)  # fmt: skip
def test_errors_name_the_place(document: object, place: str, reason: str) -> None:
    """What does not have the layout is an error with the path to the value and the reason."""
    check_refused(read, document, place, reason)


def test_empty_samples_beside_full_ones_are_counted() -> None:
    """A sample without turns is left out, and the first conversation says so."""
    (conversation,) = read([sample(sample_id="x"), sample(session_1=[])])

    assert conversation.notes == ("conversations without messages left out: 1",)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
def test_published_file_is_read_whole() -> None:
    """The five published conversations have all their turns, each with time and id."""
    conversations = read_file(SHARED / "locomo" / "locomo5.json")

    names = ["conv-26", "conv-41", "conv-43", "conv-47", "conv-49"]
    assert [conversation.name for conversation in conversations] == names
    assert [len(conversation.turns) for conversation in conversations] == [419, 663, 680, 689, 509]
    assert all(turn.said and turn.own_id for conversation in conversations for turn in conversation.turns)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
def test_corpus_is_read_whole() -> None:
    """All 78 conversations of the corpus are read without a repair, and differ in name."""
    conversations = [c for file in sorted((SHARED / "corpus").glob("*.json")) for c in read_file(file)]

    assert len(conversations) == len({conversation.name for conversation in conversations}) == 78
    assert all(not conversation.notes for conversation in conversations)
