"""What Slack messages say in blocks and attachments."""

from __future__ import annotations

import json

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts import read_bytes


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
