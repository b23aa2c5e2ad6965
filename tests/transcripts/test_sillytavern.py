"""SillyTavern's chats."""

from datetime import UTC, datetime

import pytest

from goalmem_cli.records import Conversation, Turn, content_hash
from tests.transcripts.reading import check_refused, detect, jsonl, read_bytes

HEAD: dict[str, object] = {
    "user_name": "Otto", "character_name": "Mira", "create_date": "2026-2-1@10h00m00s",
    "chat_metadata": {"integrity": "c0ffee00-0000-4000-8000-000000000000", "note_prompt": ""},
}  # fmt: skip
CHAT: list[dict[str, object]] = [
    HEAD,
    {"name": "Mira", "is_user": False, "is_system": False, "send_date": "February 1, 2026 10:00am", "mes": "The pier is foggy.",
     "swipes": ["The pier is foggy.", "Sun!", "Rain."], "swipe_id": 0, "extra": {"reasoning": "fog again"}},
    {"name": "Otto", "is_user": True, "is_system": False, "send_date": "2026-2-1@10h02m07s", "mes": "Is the boat late?",
     "force_avatar": "otto.png", "extra": {"isSmallSys": False}},
    {"name": "SillyTavern System", "is_user": False, "is_system": True, "send_date": "2026-2-1@10h02m08s", "mes": "Commands: /help",
     "extra": {"type": "help"}},
    {"name": "System", "is_user": False, "is_system": False, "send_date": "2026-2-1 @10h 02m 09s 500ms", "mes": "A horn sounds.",
     "extra": {"type": "narrator"}},
    {"name": "Mira", "is_user": False, "is_system": True, "send_date": "2026-02-01T10:03:00.250Z", "mes": "By an hour.", "extra": {}},
    {"name": "Otto", "is_user": True, "is_system": False, "send_date": 1769940300000, "mes": "", "extra": {"image": "user/a.png"}},
]  # fmt: skip


def test_a_chat_as_golden() -> None:
    """Four ways to write a time; the chosen version; hidden messages were said, notices were not."""
    name = "Mira - 2026-02-01@10h00m00s"
    (chat,) = read_bytes(jsonl(*CHAT), f"{name}.jsonl")

    said = (
        ("Mira", "The pier is foggy.", datetime(2026, 2, 1, 10), "assistant"),
        ("Otto", "Is the boat late?", datetime(2026, 2, 1, 10, 2, 7), "user"),
        ("System", "A horn sounds.", datetime(2026, 2, 1, 10, 2, 9, 500_000), None),
        ("Mira", "By an hour.", datetime(2026, 2, 1, 10, 3, 0, 250_000, UTC), "assistant"),
    )
    turns = tuple(
        Turn(name, 0, place, who, text, at, f"{at:%Y%m%d-%H%M%S}-{content_hash(who, text)[:6]}", role)
        for place, (who, text, at, role) in enumerate(said)
    )
    assert chat == Conversation(name, "sillytavern", turns, None, chat.notes)
    assert set(chat.notes) == {
        "other versions of answers left out: 2", "thinking left out: 1", "notices of the program left out: 1",
        "media left out: 1",
    }  # fmt: skip


@pytest.mark.parametrize("chat", [CHAT, CHAT[1:], [{key: HEAD[key] for key in list(HEAD)[:3]}, CHAT[1]], CHAT[:2]])
def test_it_is_detected(chat: list[dict[str, object]]) -> None:
    """With its head, as a group's without one, as of before `chat_metadata`, and of one message."""
    assert detect("a.jsonl", jsonl(*chat)) == detect("-", jsonl(*chat)) == "sillytavern"


def test_the_same_words_twice_are_two_turns_with_the_same_ids_each_time() -> None:
    """Nothing in the file tells messages apart but who said what when."""
    twice = jsonl(*[CHAT[0], CHAT[2], CHAT[2]])
    ((first,), (again,)) = (read_bytes(twice, "a.jsonl") for _ in range(2))

    assert first == again
    assert len({turn.own_id for turn in first.turns}) == 2


def test_a_message_that_is_none_names_its_place() -> None:
    """The place is the line with the path in it."""
    broken = jsonl(*[*CHAT[:2], {"name": "Otto", "is_user": True, "mes": 5}])
    check_refused(lambda data: read_bytes(data, "a.jsonl"), broken, "line 3, mes", "expected text")
