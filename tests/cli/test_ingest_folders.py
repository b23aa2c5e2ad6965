"""`goalmem ingest` on folders that hold more than transcripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.invoking import Goalmem

CHAT = "31/12/2023, 21:15 - Ana: Where do we stay?\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a chat, a Slack export, and files that are no transcripts."""
    files = {
        "holiday/WhatsApp Chat with Ana.txt": CHAT,
        "holiday/notes.txt": "[ ] buy milk\n[x] water the plants\n",
        "holiday/user.json": json.dumps({"name": "me"}),
        "holiday/element.json": json.dumps({"messages": [{"sender": "@ana:x.org", "content": {"body": "hi"}}]}),
        "slack/users.json": "[]",
        "slack/channels.json": json.dumps([{"id": "C1", "name": "general"}]),
        "slack/general/2023-12-31.json": json.dumps(
            [{"type": "message", "user": "U1", "text": "hi", "ts": "1704057307.1"}]
        ),
    }
    for name, text in files.items():
        file = tmp_path / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "in"


def test_other_files_of_a_folder_are_passed_over(goalmem: Goalmem, folder: Path) -> None:
    """What is in no format is said and does no harm where a folder was given; a folder transcript is read as one."""
    outcome = goalmem("ingest", str(folder), "--dry-run", "--json")

    rows = json.loads(outcome.out)["files"]
    assert (outcome.code, [(Path(row["path"]).name, row["format"]) for row in rows]) == (
        0,
        [("WhatsApp Chat with Ana.txt", "whatsapp"), ("slack", "slack")],
    )
    for name in ("notes.txt", "user.json", "element.json"):
        assert f"{name}: passed over, in none of the accepted formats; " in outcome.err
    assert "nearest: openai (" in outcome.err


def test_a_file_given_by_name_has_to_be_a_transcript(goalmem: Goalmem, folder: Path) -> None:
    """What is passed over in a folder is an error where somebody named it, even beside its folder."""
    outcome = goalmem("ingest", "--dry-run", str(folder), str(folder / "holiday" / "notes.txt"))

    assert outcome.code == 5
    assert "notes.txt: in none of the accepted formats" in outcome.err


def test_a_folder_in_which_nothing_is_a_transcript_is_an_error(goalmem: Goalmem, folder: Path) -> None:
    """Nobody gives a folder to have all of it passed over."""
    (folder / "holiday" / "WhatsApp Chat with Ana.txt").unlink()
    outcome = goalmem("ingest", "--dry-run", str(folder / "holiday"), "--json")

    assert outcome.code == 5
    assert json.loads(outcome.out)["failed"] == [
        {"path": str(folder / "holiday"), "place": "", "reason": "the folder holds no transcript"}
    ]


def test_a_document_is_no_chat(goalmem: Goalmem, tmp_path: Path) -> None:
    """In a folder it is passed over by name; named it is refused with the way to read it all the same."""
    (tmp_path / "README.md").write_text("# Bramble\n\n## Installing\n\nType `make`.\n\n## Licence\n\nMIT.\n")
    (tmp_path / "chat.md").write_text("**Ann:** Late?\n\n**Ben:** Yes.\n\n**Ann:** Why?\n")
    both = goalmem("ingest", str(tmp_path))
    assert both.code == 0
    assert "README.md: passed over, looks like a document, not like a chat" in both.err
    assert "chat.md: markdown, 1 conversation, 3 turns" in both.out + both.err
    named = goalmem("ingest", str(tmp_path / "README.md"))
    assert named.code == 5
    assert "hint: --format markdown reads it all the same" in named.err
    assert goalmem("ingest", "--format", "markdown", str(tmp_path / "README.md")).code == 0


def test_a_broken_file_that_is_no_chat_does_not_fail_the_folder(goalmem: Goalmem, tmp_path: Path) -> None:
    """A settings file with a comment and a text in Latin-1 are passed over by name; named, they are errors."""
    (tmp_path / "chat.txt").write_text(CHAT)
    (tmp_path / "tsconfig.json").write_text('{\n  // comment\n  "strict": true,\n}\n')
    (tmp_path / "notes.txt").write_bytes("für später".encode("latin-1"))
    both = goalmem("ingest", str(tmp_path))
    assert both.code == 0
    assert "tsconfig.json: passed over, not JSON" in both.err
    assert "notes.txt: passed over, not UTF-8 text" in both.err
    for name in ("tsconfig.json", "notes.txt"):
        assert goalmem("ingest", str(tmp_path / name)).code == 5
