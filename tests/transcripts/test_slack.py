"""The reader of Slack's export folder."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import detect, read_bytes, read_file

USERS = [
    {"id": "U1", "name": "ana", "profile": {"display_name": "Ana", "real_name": "Ana Reis"}},
    {"id": "U2", "name": "ben", "profile": {"display_name": "", "real_name": "Ben Ott"}},
    {"id": "U3", "name": "cy"},
]
CHANNELS = [{"id": "C1", "name": "general"}, {"id": "C9", "name": "../outside"}]
MONDAY: list[dict[str, object]] = [
    {"type": "message", "subtype": "channel_join", "user": "U1", "text": "<@U1> has joined", "ts": "1704057300.000100"},
    {"type": "message", "user": "U2", "text": "late &lt;b&gt;", "ts": "1704057400.000100", "thread_ts": "1704057307.000200"},
    {"type": "message", "user": "U1", "text": "Hi <@U2>, see <https://x.org|the site> in <#C1|general> <!here>",
     "ts": "1704057307.000200", "thread_ts": "1704057307.000200", "edited": {"user": "U1", "ts": "1704057310.000000"},
     "reactions": [{"name": "+1", "users": ["U2", "U7"], "count": 3}]},
    {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted.",
     "ts": "1704057450.000100"},
    {"type": "message", "user": "U3", "text": "", "files": [{"id": "F1"}], "ts": "1704057500.000100"},
]  # fmt: skip
TUESDAY: list[dict[str, object]] = [
    {"type": "message", "subtype": "bot_message", "username": "Build", "bot_id": "B1", "text": "<https://x.org>",
     "ts": "1704100000.000001"},
    {"type": "message", "user": "U8", "user_profile": {"real_name": "Dee"}, "text": "<mailto:a@b.c|a@b.c>",
     "ts": "1704100001.000001"},
]  # fmt: skip


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """An export with a channel of two days, a direct message, and a file beside them."""
    root = tmp_path / "export"
    files = {
        "users.json": USERS,
        "channels.json": CHANNELS,
        "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
        "general/2024-01-01.json": TUESDAY,
        "general/2023-12-31.json": MONDAY,
        "general/canvas.json": {},
        "D1/2023-12-31.json": [{"type": "message", "user": "U3", "text": "psst", "ts": "1704057307.000300"}],
        "canvases/list.json": [],
    }
    for name, document in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(document))
    return root


def test_reads_an_export_as_golden(export: Path) -> None:
    """Channels by their ids, days and messages in order, names for ids, readable links, notices and files counted."""
    said = [datetime.fromtimestamp(second, UTC) for second in (1704057307, 1704057400, 1704100000, 1704100001)]
    general = (
        Turn(
            "C1",
            0,
            0,
            "Ana",
            "Hi @Ben Ott, see the site (https://x.org) in #general @here",
            said[0],
            "1704057307.000200",
            attributes={
                "edited": "2023-12-31T21:15:10+00:00",
                "reactions": [{"reaction": "+1", "count": 3, "by": ["Ben Ott", "U7"]}],
                "speaker_id": "U1@slack",
            },
        ),
        Turn(
            "C1",
            0,
            1,
            "Ben Ott",
            "late <b>",
            said[1],
            "1704057400.000100",
            attributes={"reply_to": "1704057307.000200", "speaker_id": "U2@slack"},
        ),
        Turn("C1", 1, 2, "Build", "https://x.org", said[2], "1704100000.000001", attributes={"speaker_id": "B1@slack"}),
        Turn("C1", 1, 3, "Dee", "a@b.c", said[3], "1704100001.000001", attributes={"speaker_id": "U8@slack"}),
    )
    psst = Turn("D1", 0, 0, "cy", "psst", said[0], "1704057307.000300", attributes={"speaker_id": "U3@slack"})
    direct = (psst,)
    notes = ("notices of Slack left out: 1", "deleted messages left out: 1", "messages without text left out: 1")
    assert read_file(export) == [
        Conversation("D1", "slack", direct, "D1"),
        Conversation("C1", "slack", general, "C1", notes),
    ]


def test_a_day_alone_is_read() -> None:
    """Without the lists, people are called by what the messages say, or by their ids."""
    data = json.dumps(MONDAY).encode()
    (conversation,) = read_bytes(data, "general/2023-12-31.json")

    assert detect("2023-12-31.json", data) == "slack"
    assert (conversation.name, conversation.own_id) == ("general 2023-12-31", None)
    assert [turn.speaker for turn in conversation.turns] == ["U1", "U2"]
    assert conversation.turns[0].text.startswith("Hi @U2, see")


def test_names_are_no_paths(export: Path) -> None:
    """A channel called `../outside` opens nothing: only folders that are there are read, and no links to others."""
    outside = export.parent / "outside"
    outside.mkdir()
    (outside / "2023-12-31.json").write_text(json.dumps(MONDAY))
    (export / "linked").symlink_to(outside, target_is_directory=True)

    assert [conversation.name for conversation in read_file(export)] == ["D1", "C1"]


def test_a_channel_that_no_list_names_is_called_after_its_folder(export: Path) -> None:
    """An export of some channels may lack lists; the folder's name is no id."""
    (export / "channels.json").write_text("[]")

    assert [(one.name, one.own_id) for one in read_file(export)] == [("D1", "D1"), ("general", None)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b > c", "a < b > c"),
        ("<> <|>", "<> <|>"),
        ("<@> <@U9>", "@ @U9"),
        ("<#C7> <!subteam^S1|@all>", "#C7 @all"),
        ("<!date^1^{d}|1 May>", "1 May"),
        ("<https://x.org|https://x.org>", "https://x.org"),
        ("&amp;lt;", "&lt;"),
    ],
)
def test_what_stands_in_angles(text: str, expected: str) -> None:
    """Names and links are spelled out; what Slack does not write stays as it is."""
    (conversation,) = read_bytes(json.dumps([MONDAY[2] | {"text": text}]).encode(), "a.json", "slack")

    assert conversation.turns[0].text == expected


@pytest.mark.parametrize(
    ("name", "document", "place", "reason"),
    [
        ("general/2023-12-31.json", [MONDAY[1] | {"ts": "soon"}], "[0].ts", "is not a time as Slack writes it"),
        ("general/2023-12-31.json", [MONDAY[1] | {"text": 5}], "[0].text", "expected text, found a number"),
        ("general/2023-12-31.json", [{}], "[0].type", "is missing"),
        ("general/2023-12-31.json", 5, "", "expected an object, found a number"),
        ("users.json", [{"name": "x"}], "[0].id", "is missing"),
        ("dms.json", [{"id": "D1", "members": [5]}], "[0].members[0]", "expected text, found a number"),
    ],
)
def test_errors_name_file_and_path(export: Path, name: str, document: object, place: str, reason: str) -> None:
    """The error is that of the file in the folder."""
    (export / name).write_text(json.dumps(document))
    with pytest.raises(InputError) as caught:
        read_file(export)

    assert (caught.value.path, caught.value.place) == (str(export / name), place)
    assert caught.value.reason.startswith(reason)


def test_a_folder_without_the_lists_is_no_export(tmp_path: Path) -> None:
    """Both a list of users and one of channels make an export."""
    (tmp_path / "users.json").write_text("[]")

    with pytest.raises(InputError, match="in none of the accepted formats"):
        read_file(tmp_path)
