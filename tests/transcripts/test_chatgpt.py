"""The reader of ChatGPT's data export."""

import json
from datetime import UTC, datetime
from functools import partial

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from tests.transcripts.layouts import CHATGPT
from tests.transcripts.reading import check_refused, read_bytes

read = partial(read_bytes, name="conversations.json", format="chatgpt")


def text(*parts: object, kind: str = "text") -> dict[str, object]:
    """Return a content of parts."""
    return {"content_type": kind, "parts": list(parts)}


def message(role: str = "user", content: object = None, name: str | None = None, **keys: object) -> dict[str, object]:
    """Return a message with a text, unless given another content."""
    return {"author": {"role": role, "name": name}, "content": content or text("x"), **keys}


def chat(*messages: object, **keys: object) -> dict[str, object]:
    """Return a conversation in which each message, n0 n1 ..., answers the one before."""
    mapping = {
        f"n{number}": {"id": f"n{number}", "message": found, "parent": f"n{number - 1}" if number else None}
        for number, found in enumerate(messages)
    }
    return {"conversation_id": "c", "mapping": mapping, "current_node": f"n{len(messages) - 1}", **keys}


def test_reads_a_conversation_as_golden() -> None:
    """Roles, times in UTC, ids and what is said by people, model and tools come through; the rest is counted."""
    spoken = {"content_type": "audio_transcription", "text": "Spoken", "direction": "in"}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    sound = {"content_type": "real_time_user_audio_video_asset_pointer"}
    hidden = {"is_visually_hidden_from_conversation": True}
    document = chat(
        None,
        message("system", text("")),
        message("user", {"content_type": "user_editable_context", "user_profile": "p"}),
        message("system", text("You are x"), metadata=hidden),
        message("user", text("Look", picture, sound, spoken, {}, kind="multimodal_text"), id="m5", create_time=1.7e9),
        message("assistant", {"content_type": "thoughts", "thoughts": []}, metadata=None),
        message("assistant", {"content_type": "code", "text": "search()"}, recipient="browser"),
        message("tool", {"content_type": "tether_browsing_display", "result": "Found"}, "browser", create_time=None),
        message("tool", {"content_type": "execution_output", "text": "42"}, "python"),
        message("assistant", {"content_type": "reasoning_recap", "content": "Thought for 5 s"}),
        message("assistant", text("Done", "so"), create_time=1700000060.5, recipient="all"),
        message("assistant", text(picture)),
        message("user", text("Next day"), create_time=1700100000),
        title="Cups",
        create_time=1.7e9,
    )
    at, later = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC), datetime(2023, 11, 14, 22, 14, 20, 500000, tzinfo=UTC)
    turns = (
        Turn("c", 0, 0, "user", "Look\nSpoken", at, "m5", "user"),
        Turn("c", 0, 1, "browser", "Found", None, "n7", "tool"),
        Turn("c", 0, 2, "python", "42", None, "n8", "tool"),
        Turn("c", 0, 3, "assistant", "Done\nso", later, "n10", "assistant"),
        Turn("c", 1, 4, "user", "Next day", datetime(2023, 11, 16, 2, tzinfo=UTC), "n12", "user"),
    )
    notes = (
        "empty system messages left out: 1",
        "custom instructions left out: 1",
        "hidden messages left out: 1",
        "images left out: 2",
        "recordings left out: 1",
        "parts of messages without text left out: 1",
        "messages of reasoning left out: 2",
        "calls of tools left out: 1",
        "blank messages left out: 1",
    )
    assert read([document]) == [Conversation("c", "chatgpt", turns, "c", notes)]
    assert read(document) == read([document])


def test_only_the_current_branch_is_read() -> None:
    """An answer that was regenerated and a question that was edited are left out, and counted."""
    mapping = {
        "root": {"message": None, "parent": None, "children": ["q1", "q2"]},
        "new": {"message": message("assistant", text("new")), "parent": "q2"},
        "old": {"message": message("assistant", text("old")), "parent": "q2"},
        "q1": {"message": message(content=text("first try")), "parent": "root"},
        "q2": {"message": message(content=text("second try")), "parent": "root"},
    }
    (new,) = read([{"id": "c", "mapping": mapping, "current_node": "new"}])
    (old,) = read([{"id": "c", "mapping": mapping, "current_node": "old"}])

    assert [turn.text for turn in new.turns] == ["second try", "new"]
    assert [turn.text for turn in old.turns] == ["second try", "old"]
    assert new.notes == ("messages on other branches left out: 2",)


@pytest.mark.parametrize("current", [None, "gone", ""])
def test_without_a_current_message_the_last_leaf_is_current(current: str | None) -> None:
    """Without a current message, or with one that is not there, the branch of the last leaf is read, and noted."""
    (conversation,) = read([chat(message(content=text("a")), message(content=text("b")), current_node=current)])

    assert [turn.text for turn in conversation.turns] == ["a", "b"]
    assert conversation.notes == ("conversations without a current message, read up to the last one: 1",)


def test_broken_links_end_the_branch() -> None:
    """A parent that is not there, or that comes a second time, ends the way to the root, and is noted."""
    mapping = {
        "a": {"message": message(content=text("a")), "parent": "gone"},
        "b": {"message": message(), "parent": "a"},
    }
    circle = {**mapping, "a": {"message": message(content=text("a")), "parent": "b"}}
    for nodes in (mapping, circle):
        (conversation,) = read([{"id": "c", "mapping": nodes, "current_node": "b"}])
        assert [turn.own_id for turn in conversation.turns] == ["a", "b"]
        assert conversation.notes == ("links to earlier messages that lead nowhere: 1",)
    (conversation,) = read([{"id": "c", "mapping": circle}])
    assert [turn.own_id for turn in conversation.turns] == ["a", "b"]


def test_empty_conversations_are_counted() -> None:
    """A conversation without messages is left out, and the last one's notes say so."""
    (conversation,) = read([{"id": "e", "mapping": {}, "current_node": None}, chat(message())])

    assert conversation.notes == ("conversations without messages left out: 1",)


def test_names() -> None:
    """The conversation's id names it, else its title, else the file."""
    chats = [chat(message(), conversation_id=None, **keys) for keys in ({"title": "Cups"}, {"id": "i"}, {})]

    assert [conversation.name for conversation in read(chats)] == ["Cups", "i", "conversations-3"]


@pytest.mark.parametrize(
    ("document", "place", "reason"),
    [
        ([{"current_node": "x"}], "[0].mapping", "is missing"),
        ([chat(message(), mapping=[])], "[0].mapping", "expected an object, found an array"),
        ([chat(message(), mapping={"a": 5})], "[0].mapping['a']", "expected an object, found a number"),
        ([chat({"content": None})], "[0].mapping['n0'].message.author", "is missing"),
        ([chat(message(""))], "[0].mapping['n0'].message.author.role", "is blank"),
        ([chat(message(content=text(5)))], "[0].mapping['n0'].message.content.parts[0]", "expected an object"),
        ([chat(message(content=5))], "[0].mapping['n0'].message.content", "expected an object, found a number"),
        ([5], "[0]", "expected an object, found a number"),
        ([chat(message()), chat(message(content=text("other")))], "[1]", "a second conversation is called 'c'"),
    ],
)
def test_errors_name_place_and_reason(document: object, place: str, reason: str) -> None:
    """What has not the layout is an error at its path."""
    check_refused(read, document, place, reason)


def test_a_hostile_message_id_cannot_break_the_error_line() -> None:
    """A key of many lines is shown escaped and short."""
    with pytest.raises(InputError) as caught:
        read([{"id": "c", "mapping": {"a\n" * 100: {"message": 5, "parent": None}}}])

    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 200


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_every_encoding_reads_the_same(encoding: str) -> None:
    """A byte order mark or UTF-16 makes no difference to what is detected and read."""
    document = json.dumps([CHATGPT], ensure_ascii=False).replace("Which cup?", "Welche Tasse? 茶碗 🍵")

    assert read_bytes(document.encode(encoding), "a.json") == read_bytes(document.encode(), "a.json")
