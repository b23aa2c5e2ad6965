"""What real export files showed: small files of our own wording, each with a fault that one of them had."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError, UnknownFormat
from goalmem_cli.transcripts import read_file
from tests.transcripts.reading import detect, read_bytes, read_one, said_in


def said(document: object, name: str = "a.json") -> list[tuple[str, str]]:
    """Return who says what."""
    return said_in(read_one(document, name))


def chatgpt(*texts: str, **links: object) -> dict[str, object]:
    """Return a conversation of ChatGPT whose messages name none before them."""
    entries = {
        f"n{number}": {
            "message": {
                "id": f"n{number}", "author": {"role": ("user", "assistant")[number % 2]}, "create_time": 1700000000 + number,
                "content": {"content_type": "text", "parts": [text]},
            },
            **links,
        }
        for number, text in enumerate(texts)
    }  # fmt: skip
    return {"id": "c", "mapping": dict(reversed(entries.items()))}


def test_chatgpt_without_links_is_read_by_time() -> None:
    """All messages are kept, in the order of their times."""
    assert said(chatgpt("Late?", "Yes.", "Why?", "Fog.")) == [
        ("user", "Late?"), ("assistant", "Yes."), ("user", "Why?"), ("assistant", "Fog."),
    ]  # fmt: skip


def test_chatgpt_with_children_alone_has_its_branch() -> None:
    """Where only children are named, they tell which message is before which."""
    document = chatgpt("Late?", "Yes.", "No.")
    mapping = document["mapping"]
    assert isinstance(mapping, dict)
    mapping["n0"]["children"] = ["n1", "n2"]
    document["current_node"] = "n1"
    assert said(document) == [("user", "Late?"), ("assistant", "Yes.")]


def test_chatgpts_marks_leave_the_text() -> None:
    """A citation goes, a card keeps its name and a link what it is called."""
    text = (
        "From \ue200entity\ue202[\"city\",\"Den Helder\",\"Dutch port\"]\ue201 at noon\ue200cite\ue202turn0search1\ue201."
        " See \ue200url\ue202the page\ue202https://x.example\ue201\u301012\u2020source\u3011"
    )  # fmt: skip
    assert said(chatgpt(text)) == [("user", "From Den Helder at noon. See the page")]


def two_layouts(first: str, second: str) -> str:
    """Return a chat of which a second telephone wrote the end."""
    lines = [first.format(minute, "Mira", f"one {minute}") for minute in (14, 15, 16)]
    return "\n".join([*lines, *(second.format(minute, "Otto", f"two {minute}") for minute in (17, 18, 19, 20))]) + "\n"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("6/14/24, 16:{} - {}: {}", "14/6/2024, 16:{} - {}: {}"),
        ("14.06.24, 16:{} - {}: {}", "6/14/24, 16:{} - {}: {}"),
        ("14/06/2024, 16:{} - {}: {}", "6/14/24, 16:{} – {}: {}"),
    ],
)
def test_two_layouts_in_one_chat(first: str, second: str) -> None:
    """Each layout has the order of day and month that its own dates tell, and nothing goes into another's mouth."""
    turns = read_one(two_layouts(first, second), "WhatsApp Chat with Mira.txt").turns
    assert [turn.said for turn in turns] == [datetime(2024, 6, 14, 16, minute) for minute in range(14, 21)]
    assert {turn.speaker for turn in turns} == {"Mira", "Otto"}


@pytest.mark.parametrize(
    ("clock", "hour"),
    [("23:59 PM", 23), ("00:59 AM", 0), ("12:59 AM", 0), ("24:59", 0), ("13:59", 13), ("11:59 pm", 23)],
)
def test_hours_of_two_clocks(clock: str, hour: int) -> None:
    """A half of the day beside a clock of 24 hours, and an hour of 24, lose no message."""
    text = f"14/06/2024, 10:00 - Mira: late\n14/06/2024, {clock} - Otto: coffee\n"
    assert read_one(text, "WhatsApp Chat with Mira.txt").turns[1].said == datetime(2024, 6, 14, hour, 59)


@pytest.mark.parametrize("dash", ["-", "–", "—"])
def test_dashes(dash: str) -> None:
    """Some telephones write a longer dash."""
    text = f"09/17/24, 8:30:52 AM {dash} Mira: the boat is late\n09/17/24, 4:30:10 PM {dash} Otto: coffee\n"
    assert said(text, "a.txt") == [("Mira", "the boat is late"), ("Otto", "coffee")]


def messenger(*minutes: int) -> dict[str, object]:
    """Return a chat of Messenger with a message at each minute, as they stand in the file."""
    messages = [
        {"sender_name": "Mira", "timestamp_ms": 1709287200000 + 60000 * at, "content": f"at {at}"} for at in minutes
    ]
    return {"participants": [{"name": "Mira"}], "messages": messages}


def takeout(*days: int) -> list[object]:
    """Return Gemini's activities of some days."""
    return [
        {"header": "Gemini Apps", "title": f"Prompted at {day}", "time": f"2026-03-{day:02}T10:00:00Z",
         "products": ["Gemini Apps"], "safeHtmlItem": [{"html": "<p>yes</p>"}]}
        for day in days
    ]  # fmt: skip


def teams(*minutes: int) -> dict[str, object]:
    """Return a conversation of Teams."""
    messages = [
        {"id": str(at), "messagetype": "Text", "displayName": "Mira", "content": f"at {at}",
         "originalarrivaltime": f"2024-03-01T10:{at:02}:00Z"}
        for at in minutes
    ]  # fmt: skip
    return {"conversations": [{"id": "x", "displayName": "Boats", "MessageList": messages}]}


@pytest.mark.parametrize("order", [(3, 2, 1), (1, 2, 3), (3, 1, 2), (1, 3, 2)])
def test_messages_stand_in_the_order_of_time(order: tuple[int, ...]) -> None:
    """Whether the newest or the oldest comes first in the file."""
    for document in (messenger(*order), teams(*order), takeout(*order)):
        asked = [text for _, text in said(document) if text != "yes"]
        assert asked == ["at 1", "at 2", "at 3"]
    assert [turn.session for turn in read_one(takeout(*order), "a.json").turns] == [0, 0, 1, 1, 2, 2]


def test_parts_of_a_chat_that_are_oldest_first(tmp_path: Path) -> None:
    """The numbers of the files say nothing where their times rise."""
    for folder, parts in (("a", [(1, 2), (3, 4)]), ("b", [(4, 3), (2, 1)])):
        (tmp_path / folder).mkdir()
        for number, minutes in enumerate(parts, 1):
            (tmp_path / folder / f"message_{number}.json").write_text(json.dumps(messenger(*minutes)))
        (chat,) = read_file(tmp_path / folder)
        assert [turn.text for turn in chat.turns] == ["at 1", "at 2", "at 3", "at 4"]


def test_the_same_message_twice_is_one() -> None:
    """The same id, speaker, time and text; another text under the id is another message."""
    message = {"id": "1", "role": "user", "content": "late", "timestamp": 1700000000}
    twice = read_one([message, message, {**message, "content": "later"}], "a.json")
    assert [turn.text for turn in twice.turns] == ["late", "later"]
    assert "messages that are there twice, left out: 1" in twice.notes


def test_kakaotalk_for_macos_says_nothing_for_people() -> None:
    """Its table puts notices into people's mouths; in another table the same words are theirs."""
    rows = (
        "Date,User,Message\n2024-06-01 10:00:00,Mira,늦어요\n2024-06-01 10:01:00,Otto,사진\n"
        "2024-06-01 10:02:00,Otto,Otto님이 들어왔습니다.\n2024-06-01 10:03:00,Mira,삭제된 메시지입니다.\n"
    )
    assert said(rows, "a.csv") == [("Mira", "늦어요")]
    assert len(said(rows.replace("Date,User,Message", "Time,Sender,Text"), "a.csv")) == 4


def test_old_slack_says_who_commented() -> None:
    """A file that was given is no speech, words beside it and comments are their author's."""
    day = [
        {"type": "message", "user": "U1", "text": "late", "ts": "1459052800.000001"},
        {"type": "message", "subtype": "file_share", "user": "U1", "ts": "1459052801.000001", "file": {"id": "F"},
         "text": "<@U1> uploaded a file: <https://x.example/f|pier>"},
        {"type": "message", "subtype": "file_share", "user": "U1", "ts": "1459052802.000001", "file": {"id": "F"},
         "text": "<@U1> uploaded a file: <https://x.example/f|pier> and commented: look"},
        {"type": "message", "subtype": "file_comment", "ts": "1459052803.000001", "comment": {"user": "U2", "comment": "long"},
         "text": "<@U2> commented on <@U1>’s file <https://x.example/f|pier>: long"},
    ]  # fmt: skip
    assert said(day) == [("U1", "late"), ("U1", "look"), ("U2", "long")]


def test_a_coding_agents_wrappers_are_no_speech() -> None:
    """What the user typed and what the assistant said is kept; thinking, files and tools' answers are not."""
    log = [
        {"role": "user", "ts": 1737381600000, "content": [
            {"type": "text", "text": "<task>\nLate?\n</task>"},
            {"type": "text", "text": "<environment_details>\nport.py\n</environment_details>"}]},
        {"role": "assistant", "content": "<thinking>fog</thinking>\n\nI look.\n\n<read_file>\n<path>a</path>\n</read_file>"},
        {"role": "user", "content": "[read_file for 'a'] Result:\nfog\n<environment_details>x</environment_details>"},
        {"role": "assistant", "content": "<attempt_completion>\n<result>\nYes.\n</result>\n</attempt_completion>"},
    ]  # fmt: skip
    assert said(log) == [("user", "Late?"), ("assistant", "I look."), ("assistant", "Yes.")]
    assert said([{"role": "user", "content": "use <thinking> tags"}]) == [("user", "use <thinking> tags")]


@pytest.mark.parametrize("before", ["Eingegebener Prompt: ", "Prompted ", "Requête envoyée : "])
def test_what_stands_before_a_prompt_in_the_account_s_language(before: str) -> None:
    """The words of Takeout are not the user's."""
    record = {"header": "Gemini-Apps", "title": f"{before}Late?", "time": "2026-03-10T18:00:00Z",
              "products": ["Gemini Apps"], "safeHtmlItem": [{"html": "<p>Yes.</p>"}]}  # fmt: skip
    assert said([record]) == [("user", "Late?"), ("assistant", "Yes.")]


@pytest.mark.parametrize(
    "edited", [{"edited": "1970-01-01T01:00:00", "edited_unixtime": "0"}, {"edited": "1970-01-01T00:00:00"}]
)
def test_telegram_invents_no_edits(edited: dict[str, str]) -> None:
    """Exports of 2020 and 2021 give the first second of 1970 for what was never edited; some have no types."""
    message = {"id": 1, "date": "2021-01-10T12:34:00", "from": "Mira", "text": "late", **edited}
    chat = read_one({"chats": {"list": [{"id": 1, "name": "Boats", "messages": [message]}]}}, "a.json")
    assert [(turn.speaker, turn.text, dict(turn.attributes)) for turn in chat.turns] == [("Mira", "late", {})]


@pytest.mark.parametrize("name", ["Mi\u200bra", "\u200eMira", "Mira\x00", "Mira\u2069", "\ufeffMira"])
def test_characters_that_nobody_sees_make_no_second_person(name: str) -> None:
    """One person is one, whatever a program put into the name."""
    assert {
        speaker for speaker, _ in said([{"role": "user", "name": one, "content": "x"} for one in ("Mira", name)])
    } == {"Mira"}


@pytest.mark.parametrize(
    "day",
    [
        "2024/01/15（一）",
        "2024/01/15 จันทร์",
        "2024/01/15(月)",
        "令和6年1月15日(月)",
        "R6/01/15(月)",
        "2024年1月15日 星期一",
        "2567/01/15 จันทร์",
    ],
)
def test_days_of_line(day: str) -> None:
    """In Chinese, Thai and Japanese, with the years of an era or of the Buddhist calendar."""
    text = (
        f"[LINE] Chat history with Mira\nSaved on: 2024/01/15 10:30\n\n{day}\n10:30\tMira\tlate\n10:31\tOtto\tcoffee\n"
    )
    chat = read_one(text, "a.txt")
    assert (chat.format, [turn.said for turn in chat.turns]) == (
        "line", [datetime(2024, 1, 15, 10, 30), datetime(2024, 1, 15, 10, 31)],
    )  # fmt: skip


def test_a_mail_behind_a_line_without_a_date() -> None:
    """An ending that one format has is enough, so long as the fields of a mail are there."""
    mail = "From mira@example.org\nReturn-Path: <m@example.org>\nDate: Sun, 21 Oct 2007 19:38:13 +1000\nFrom: Mira <m@example.org>\nSubject: Boats\n\nlate\n"
    assert said(mail, "a.eml") == [("Mira", "late")]


def test_known_records_one_level_deeper() -> None:
    """An object around the list of conversations changes nothing."""
    message = {"uuid": "m", "sender": "human", "text": "late", "created_at": "2024-03-01T10:00:01Z"}
    for key in ("conversations", "data", "chats"):
        assert said({key: [{"uuid": "c", "name": "Boats", "chat_messages": [message]}]}) == [("user", "late")]
        assert said({"version": 2, key: [chatgpt("late")]}) == [("user", "late")]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("server.log", "[14 Jan 10:36] started\n", "none of them ends in .log"),
        ("a.vtt", "NOTE\nnothing\n", "in none of the accepted formats"),
        ("a.csv", "when,who,what\n1,2,3\n", "with .csv: discord-package, viber, table"),
    ],
)
def test_what_is_said_of_a_file_in_no_format(name: str, text: str, reason: str) -> None:
    """A log in brackets is not called broken JSON, and no list of thirty formats answers another ending."""
    with pytest.raises(UnknownFormat) as caught:
        detect(name, text.encode())
    assert reason in caught.value.reason
    assert len(caught.value.reason) < 120
    assert ("--columns text=NAME" in caught.value.hint) == name.endswith(".csv")


CHAT = b'{"role": "user", "content": "late", "created_at": "2024-03-01T10:00:01Z"}\n' * 3


def test_a_compressed_file_is_read_as_the_plain_one(tmp_path: Path) -> None:
    """And is called as that one."""
    file = tmp_path / "talk.jsonl.gz"
    file.write_bytes(gzip.compress(CHAT))
    (chat,) = read_file(file)
    assert (chat.name, chat.format, len(chat.turns)) == ("talk", "openai-jsonl", 3)


def test_a_broken_compressed_file_is_one_line(tmp_path: Path) -> None:
    """What breaks off is an error with its reason, never another exception."""
    for name, data in (("a.jsonl.gz", gzip.compress(CHAT * 900)[:-9]), ("a.jsonl.zst", b"\x28\xb5\x2f\xfdxx")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match="compressed"):
            read_file(tmp_path / name)


def test_a_table_of_excel_in_windows_1252() -> None:
    """It is recognised, read and said."""
    table = "Time;Sender;Text\n2024-06-01 10:00;Käthe;für 5 €\n".encode("cp1252")
    (chat,) = read_bytes(table, "a.csv")
    assert said_in(chat) == [("Käthe", "für 5 €")]
    assert "tables that are no UTF-8, read as Windows-1252: 1" in chat.notes
    with pytest.raises(InputError, match="not UTF-8"):
        read_bytes(table.replace(b"5", b"\x81"), "a.csv")


def test_times_under_many_keys() -> None:
    """What programs call the time of a message, in seconds and parts of them."""
    moment = datetime(2023, 5, 8, 14, 30, 1, tzinfo=UTC)
    for key in ("created_at", "createdAt", "create_time", "timestamp", "ts", "time", "date", "created"):
        for time in (
            1683556201,
            1683556201000,
            1683556201000000,
            "2023-05-08T14:30:01Z",
            "Mon, 08 May 2023 14:30:01 GMT",
        ):
            assert read_one([{"role": "user", "content": "x", key: time}], "a.json").turns[0].said == moment


def test_a_system_prompt_is_no_person() -> None:
    """Some programs write it under a name of its own."""
    said = [{"from": name, "value": "x"} for name in ("_system_prompt", "human", "gpt")]
    (chat,) = read_bytes(json.dumps({"conversations": said}).encode(), "a.json", "sharegpt")
    assert [turn.role for turn in chat.turns] == ["system", "user", "assistant"]
