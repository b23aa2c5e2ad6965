"""The reader of Claude's data export."""

from datetime import UTC, datetime
from functools import partial

import pytest

from goalmem_cli.records import Conversation, Turn
from tests.transcripts.layouts import CLAUDE
from tests.transcripts.reading import check_refused, read_bytes

read = partial(read_bytes, name="conversations.json", format="claude")


def message(text: str = "x", sender: str = "human", **keys: object) -> dict[str, object]:
    """Return a message with a text."""
    return {"text": text, "sender": sender, **keys}


def chat(*messages: object, **keys: object) -> dict[str, object]:
    """Return a conversation of messages."""
    return {"uuid": "c", "chat_messages": list(messages), **keys}


def texts(document: object) -> list[str]:
    """Return the texts of the document's only conversation."""
    (conversation,) = read(document)
    return [turn.text for turn in conversation.turns]


def test_reads_a_conversation_as_golden() -> None:
    """Humans are users, times are UTC, attached text belongs to its message; everything else is counted."""
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "name": "search", "input": {}},
        {"type": "tool_result", "content": [{"type": "text", "text": "found"}]},
        {"type": "text", "text": "Here."},
        {"type": "token_budget"},
    ]
    attached = [
        {"file_name": "a.txt", "extracted_content": "alpha\n"},
        {"file_name": "b.pdf"},
        {"extracted_content": "g"},
    ]
    document = [
        chat(
            message("Read this", uuid="m1", created_at="2024-03-01T09:00:00.5Z", attachments=attached),
            message("placeholder", "assistant", uuid="m2", created_at="2024-03-01T09:01:00Z", content=parts),
            message("", uuid="m3", files=[{"file_name": "c.png"}], content=[]),
            message("Again", uuid="m4", created_at="2024-03-02T09:00:00+02:00", content=[{"type": "text", "text": ""}]),
            name="Reading",
        )
    ]
    first = "Read this\n\n[attachment a.txt]\nalpha\n\n[attachment]\ng"
    turns = (
        Turn("c", 0, 0, "user", first, datetime(2024, 3, 1, 9, 0, 0, 500000, UTC), "m1", "user"),
        Turn("c", 0, 1, "assistant", "Let me see.\nHere.", datetime(2024, 3, 1, 9, 1, tzinfo=UTC), "m2", "assistant"),
        Turn("c", 1, 2, "user", "Again", datetime(2024, 3, 2, 7, tzinfo=UTC), "m4", "user"),
    )
    notes = (
        "files without text left out: 2",
        "thinking left out: 1",
        "calls of tools left out: 1",
        "results of tools left out: 1",
        "parts of messages without text left out: 1",
        "blank messages left out: 1",
    )
    assert read(document) == [Conversation("c", "claude", turns, "c", notes)]
    assert read(document[0]) == read(document)


def test_the_placeholder_for_tools_is_no_text() -> None:
    """Where the content has parts but no text, the message's `text` only says so, and is left out."""
    tool = message("This block is not supported.", "assistant", content=[{"type": "tool_use"}])

    assert texts(chat(message("a", content=None), tool)) == ["a"]


def test_only_the_newest_branch_is_read() -> None:
    """Messages that name their parents are read up to the current one, else the last; other branches are counted."""
    tree = [
        message("q", uuid="1", parent_message_uuid="00000000-0000-4000-8000-000000000000"),
        message("old", "assistant", uuid="2", parent_message_uuid="1"),
        message("new", "assistant", uuid="3", parent_message_uuid="1"),
    ]
    (conversation,) = read(chat(*tree))

    assert [turn.text for turn in conversation.turns] == ["q", "new"]
    assert conversation.notes == ("messages on other branches left out: 1",)
    assert texts(chat(*tree, current_leaf_message_uuid="2")) == ["q", "old"]
    assert texts(chat(*tree, current_leaf_message_uuid="gone")) == ["q", "new"]


def test_broken_links_keep_every_message() -> None:
    """Where a parent is not there, or goes round in a circle, all messages are read in the file's order, and noted."""
    for parent in ("gone", "2"):
        document = chat(
            message("a", uuid="1", parent_message_uuid=parent), message("b", uuid="2", parent_message_uuid="1")
        )
        (conversation,) = read(document)
        assert [turn.text for turn in conversation.turns] == ["a", "b"]
        assert conversation.notes == ("links to earlier messages that lead nowhere; all branches kept: 1",)


def test_messages_without_ids_or_parents_are_in_the_files_order() -> None:
    """Exports that name no parents, and messages without ids, are read from first to last."""
    assert texts(chat(message("a"), message("b"))) == ["a", "b"]
    assert texts(chat(message("a", uuid="1"), message("b", uuid="2"))) == ["a", "b"]
    assert texts(chat(message("a", uuid="1", parent_message_uuid="2"), message("b"))) == ["a", "b"]


def test_names() -> None:
    """The uuid names a conversation, else its name, else the file; one without messages is counted."""
    chats = [chat(message(), uuid=None, name="Cups"), chat(), chat(message(), uuid=None)]
    first, second = read(chats)

    assert (first.name, second.name) == ("Cups", "conversations-3")
    assert second.notes == ("conversations without messages left out: 1",)


@pytest.mark.parametrize(
    ("document", "place", "reason"),
    [
        ([{"uuid": "c"}], "[0].chat_messages", "is missing"),
        ([chat(uuid=["c"])], "[0].uuid", "expected text, found an array"),
        ([chat({"text": "x"})], "[0].chat_messages[0].sender", "is missing"),
        ([chat(message(text=5))], "[0].chat_messages[0].text", "expected text, found a number"),  # type: ignore[arg-type]
        ([chat(message(content="x"))], "[0].chat_messages[0].content", "expected an array, found text"),
        ([chat(message(content=[5]))], "[0].chat_messages[0].content[0]", "expected an object, found a number"),
        ([chat(message(attachments=[{"extracted_content": 5}]))], "[0].chat_messages[0].attachments[0].extracted_content",
         "expected text, found a number"),
        ([chat("x")], "[0].chat_messages[0]", "expected an object, found text"),
    ],
)  # fmt: skip
def test_errors_name_place_and_reason(document: object, place: str, reason: str) -> None:
    """What has not the layout is an error at its path."""
    check_refused(read, document, place, reason)


def test_the_small_sample_is_read_as_it_stands() -> None:
    """A sample with all the keys that the export has: both messages, the attachment, and the picture counted."""
    (conversation,) = read([CLAUDE])

    assert [turn.text for turn in conversation.turns] == ["Which cup?\n\n[attachment cups.txt]\nblue", "The blue one."]
    assert conversation.notes == ("files without text left out: 1",)
