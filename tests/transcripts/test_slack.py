"""The reader of Slack's export folder."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import read_file
from tests.transcripts.reading import detect, read_bytes

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


def read(**keys: object) -> Conversation:
    """Return the conversation of a day with one message of an app, and one of a person."""
    messages = [
        {"type": "message", "subtype": "bot_message", "username": "Build", "ts": "1704057307.000200", **keys},
        {"type": "message", "user": "U1", "text": "ok", "ts": "1704057308.000200"},
    ]
    (conversation,) = read_bytes(json.dumps(messages).encode(), "general/2024-01-01.json", "slack")
    return conversation


def said(**keys: object) -> str:
    """Return what the app's message says."""
    return read(**keys).turns[0].text


ATTACHMENT = {
    "fallback": "Deployed 1.2", "color": "good", "pretext": "New release", "author_name": "Ana", "author_link": "https://x.org/ana",
    "title": "Deployed 1.2", "title_link": "https://x.org/1", "text": "by <https://x.org/ana|Ana> &amp; Ben",
    "fields": [{"title": "Host", "value": "leeds-1", "short": True}, {"title": "", "value": "no errors"}],
    "image_url": "https://x.org/a.png", "footer": "Build", "ts": 1704057307, "actions": [], "callback_id": "c", "id": 1,
    "mrkdwn_in": ["text"],
}  # fmt: skip


def test_an_app_s_attachment_is_its_message() -> None:
    """A post without text says what its attachment says: above it, author, title, text, fields."""
    expected = (
        "New release\nAna: Deployed 1.2 (https://x.org/1)\nby Ana (https://x.org/ana) & Ben\nHost: leeds-1\nno errors"
    )
    assert said(text="", attachments=[ATTACHMENT]) == expected
    assert said(attachments=[{"fallback": "only this"}, {"text": "and this"}]) == "only this\nand this"
    assert said(text="Look:", attachments=[{"text": "details"}]) == "Look:\ndetails"


def test_previews_of_links_are_nobody_s_words() -> None:
    """What Slack shows of a linked page is left out and counted, unless there is nothing else."""
    preview = {"from_url": "https://x.org", "service_name": "X", "title": "Page", "text": "about X"}
    conversation = read(text="see <https://x.org>", attachments=[preview])

    assert conversation.turns[0].text == "see https://x.org"
    assert conversation.notes == ("previews of links left out: 1",)
    assert said(text="", attachments=[preview]) == "Page\nabout X"


def test_a_shared_message_is_its_author_s() -> None:
    """Where it says nothing else: with words of the sender's own, what they share is a preview."""
    share = {"is_share": True, "from_url": "https://x.slack.com/p1", "author_name": "Marta", "text": "I am vegan"}
    (turn, *_) = read(text="", attachments=[share]).turns
    assert (turn.text, turn.attributes) == ("Marta: I am vegan", {"forwarded_from": "Marta"})
    (turn, *_) = read(text="Look", attachments=[share]).turns
    assert (turn.text, turn.attributes) == ("Look", {})
    (turn, *_) = read(text="", attachments=[{**share, "is_share": False}]).turns
    assert turn.attributes == {}


BLOCKS = [
    {"type": "header", "text": {"type": "plain_text", "text": "Stand-up"}},
    {"type": "divider"},
    {"type": "section", "text": {"type": "mrkdwn", "text": "*Done* by <@U1>"}, "fields": [{"type": "mrkdwn", "text": "a &lt; b"}]},
    {"type": "context", "elements": [{"type": "mrkdwn", "text": "from"}, {"type": "image", "alt_text": "x"}, {"type": "plain_text", "text": "Leeds"}]},
    {"type": "image", "image_url": "https://x.org/a.png", "alt_text": "a chart", "title": {"type": "plain_text", "text": "Sales"}},
    {"type": "image", "image_url": "https://x.org/b.png", "alt_text": "a cat"},
    {"type": "markdown", "text": "**bold**"},
    {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Go"}}]},
    {"type": "rich_text", "block_id": "r", "elements": [
        {"type": "rich_text_section", "elements": [
            {"type": "text", "text": "Hi <you> ", "style": {"bold": True}}, {"type": "user", "user_id": "U1"}, {"type": "text", "text": " in "},
            {"type": "channel", "channel_id": "C1"}, {"type": "text", "text": ": "}, {"type": "link", "url": "https://x.org", "text": "X"},
            {"type": "text", "text": " "}, {"type": "link", "url": "https://y.org"}, {"type": "emoji", "name": "tada"},
            {"type": "broadcast", "range": "here"}, {"type": "usergroup", "usergroup_id": "S1"}, {"type": "date", "timestamp": 1, "fallback": "today"},
        ]},
        {"type": "rich_text_list", "style": "bullet", "elements": [
            {"type": "rich_text_section", "elements": [{"type": "text", "text": "one"}]},
            {"type": "rich_text_section", "elements": [{"type": "text", "text": "two"}]},
        ]},
        {"type": "rich_text_quote", "elements": [{"type": "text", "text": "quoted"}]},
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "code"}]},
    ]},
]  # fmt: skip


def test_blocks_say_what_no_text_says() -> None:
    """All kinds of blocks, a line each; what people press is no speech; beside a text, blocks are the same once more."""
    assert said(text="", blocks=BLOCKS).split("\n") == [
        "Stand-up",
        "*Done* by @U1",
        "a < b",
        "from Leeds",
        "[image: Sales]",
        "[image: a cat]",
        "**bold**",
        "Hi <you> @U1 in #C1: X (https://x.org) https://y.org:tada:@here@subteam" + "today",
        "- one",
        "- two",
        "> quoted",
        "code",
    ]
    assert said(text="Hi", blocks=BLOCKS) == "Hi"
    assert said(attachments=[{"blocks": BLOCKS[:1], "fallback": "[no preview available]"}]) == "Stand-up"


def test_what_says_nothing_is_counted() -> None:
    """A message of buttons only has no text."""
    conversation = read(text="", blocks=[{"type": "divider"}], attachments=[{"id": 1}])
    assert [turn.text for turn in conversation.turns] == ["ok"]
    assert conversation.notes == ("messages without text left out: 1",)


def test_errors_name_the_path() -> None:
    """Another layout is said with its place."""
    with pytest.raises(InputError) as caught:
        read(blocks=[{"type": "section", "text": 5}])
    assert (caught.value.place, caught.value.reason) == ("[0].blocks[0].text", "expected text, found a number")
