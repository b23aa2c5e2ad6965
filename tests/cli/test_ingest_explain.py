"""`goalmem ingest --explain`."""

import json
from pathlib import Path

import pytest

from tests.cli.test_hostile import HOSTILE, UNSAFE
from tests.invoking import Goalmem

CHAT = [
    {"role": "user", "content": "Where is the ferry?", "timestamp": "2024-05-01T09:00:00"},
    {"role": "assistant", "content": "At pier two.", "timestamp": "2024-05-01T09:00:05"},
    {"role": "user", "content": ""},
    {"role": "assistant", "content": "It leaves at noon."},
    {"role": "user", "content": "Too late."},
]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A small transcript in OpenAI's form, with a blank message."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT))
    return path


def test_a_file_s_format_marks_first_turns_and_losses_are_shown(goalmem: Goalmem, chat: Path, tmp_path: Path) -> None:
    """The format, what it was recognised by, three turns as they would be stored, what was left out; no store."""
    outcome = goalmem("ingest", "--explain", str(chat))
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        f"{chat}: openai, 1 conversation, 4 turns; nothing is stored",
        "  recognised by: messages with `role` and `content`, or objects with `messages` of them",
        "  first turns:",
        "    user, 1 May 2024 09:00: Where is the ferry?",
        "    assistant, 1 May 2024 09:00: At pier two.",
        "    assistant, time unknown: It leaves at noon.",
        "  left out or changed:",
        "    blank messages left out: 1",
    ]
    assert not (tmp_path / "store").exists()


def test_json_has_the_same(goalmem: Goalmem, chat: Path) -> None:
    """`--json` prints one document, with whole texts."""
    (row,) = json.loads(goalmem("ingest", "--explain", "--json", str(chat)).out)["files"]
    assert (row["path"], row["format"], row["conversations"], row["turns"]) == (str(chat), "openai", 1, 4)
    assert row["recognised_by"].startswith("messages with")
    assert row["first_turns"][0] == {
        "conversation": "chat", "speaker": "user", "said": "2024-05-01T09:00:00", "text": "Where is the ferry?",
    }  # fmt: skip
    assert [turn["text"] for turn in row["first_turns"]][1:] == ["At pier two.", "It leaves at noon."]
    assert row["left_out_or_changed"] == [{"what": "blank messages left out", "count": 1}]


def test_standard_input_is_explained(goalmem: Goalmem) -> None:
    """`-` is read once, and its first turns are shown."""
    outcome = goalmem("ingest", "--explain", "-", stdin=json.dumps(CHAT).encode())
    assert outcome.code == 0
    assert "-: openai, 1 conversation, 4 turns" in outcome.out
    assert "Where is the ferry?" in outcome.out


def test_a_file_in_no_format_names_the_nearest_and_what_each_lacks(goalmem: Goalmem, tmp_path: Path) -> None:
    """Three formats, the one of which the most is there first; the error and the exit code are those of reading."""
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"messages": [{"creator": 5, "body": "x"}]}))
    outcome, read = goalmem("ingest", "--explain", str(path)), goalmem("ingest", str(path))
    assert (outcome.code, outcome.err) == (read.code, read.err)
    assert outcome.code == 5
    first, nearest, *others = outcome.out.splitlines()
    assert first == f"{path}: in no format; the nearest are"
    assert nearest.startswith("  google-chat lacks ")
    assert "`creator`" in nearest
    assert len(others) == 2
    assert all(" lacks " in line for line in others)

    document = json.loads(goalmem("ingest", "--explain", "--json", str(path)).out)
    assert document["files"] == []
    (failed,) = document["failed"]
    assert failed["path"] == str(path)
    assert failed["nearest"][0]["format"] == "google-chat"
    assert len(failed["nearest"]) == 3
    assert "creator" not in failed["nearest"][0]["lacks"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("odd.json", '{"posts": [{"writer": "Ann", "words": "Where is the ferry?"}]}'),
        ("odd.jsonl", '{"writer": "Ann"}\n{"writer": "Ben"}\n'),
        ("odd.txt", "2024-03-01 10:00 => Ann => Where is the ferry?\n2024-03-01 10:01 => Ben => At pier two.\n"),
        ("README.md", "# A tool\n\nIt is installed by hand.\n"),
    ],
)
def test_any_file_in_no_format_names_three_and_what_each_lacks(
    goalmem: Goalmem, tmp_path: Path, name: str, text: str
) -> None:
    """If it has no key and no line of a format, those are named whose keys and lines look most like its own."""
    path = tmp_path / name
    path.write_text(text)
    document = json.loads(goalmem("ingest", "--explain", "--json", str(path)).out)
    (failed,) = document["failed"]
    assert len(failed["nearest"]) == 3
    assert all(near["lacks"] for near in failed["nearest"])
    first, *lines = goalmem("ingest", "--explain", str(path)).out.splitlines()
    assert first == f"{path}: in no format; the nearest are"
    assert len(lines) == 3
    assert all(" lacks " in line or line.endswith(", which it lacks") for line in lines)


def test_a_table_without_a_column_of_texts_says_so(goalmem: Goalmem, tmp_path: Path) -> None:
    """It says which column it lacks, and the hint how to name it."""
    path = tmp_path / "sheet.csv"
    path.write_text("When,Who,Words\n2024-03-01,Ann,Where is the ferry?\n")
    outcome = goalmem("ingest", "--explain", str(path))
    assert outcome.code == 5
    assert "  table lacks a column of texts; is recognised by " in outcome.out
    assert "--columns text=NAME" in outcome.error_lines[1]
    assert goalmem("ingest", "--explain", "--columns", "text=Words", str(path)).code == 0


def test_where_nothing_can_be_weighed_those_with_the_ending_are_named(goalmem: Goalmem, tmp_path: Path) -> None:
    """A text has no keys: what the formats with its ending are recognised by is said instead."""
    path = tmp_path / "notes.vtt"
    path.write_text("nothing that anybody says\n")
    outcome = goalmem("ingest", "--explain", str(path))
    assert outcome.code == 5
    assert f"{path}: in no format; those with its ending are\n  subtitles is recognised by " in outcome.out


def test_a_broken_record_is_named_and_the_rest_explained(goalmem: Goalmem, tmp_path: Path) -> None:
    """What cannot be read is said as reading says it; with --strict-input the file is refused, as there."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([*CHAT * 20, {"role": "user", "content": 5}]))
    outcome = goalmem("ingest", "--explain", str(path))
    assert outcome.code == 0
    assert "1 record could not be read" in outcome.err
    assert goalmem("ingest", "--explain", "--strict-input", str(path)).code == 5


def test_dates_that_are_open_refuse_a_file_as_they_do_when_it_is_read(goalmem: Goalmem, tmp_path: Path) -> None:
    """The error says which flag decides; with it, the first turns have their times."""
    path = tmp_path / "WhatsApp Chat with Ann.txt"
    path.write_text("5/3/23, 21:15 - Ann: Where is the ferry?\n5/3/23, 21:16 - Ben: At pier two.\n")
    outcome = goalmem("ingest", "--explain", str(path))
    assert (outcome.code, outcome.out) == (5, "")
    assert "--day-first" in outcome.error_lines[1]
    told = goalmem("ingest", "--explain", "--day-first", str(path))
    assert (told.code, "Ann, 5 Mar 2023 21:15: Where is the ferry?" in told.out) == (0, True)


def test_a_folder_s_files_are_explained_one_after_another(goalmem: Goalmem, chat: Path) -> None:
    """What is no transcript is passed over with a line, as when it is read."""
    (chat.parent / "settings.json").write_text("{}")
    outcome = goalmem("ingest", "--explain", str(chat.parent))
    assert outcome.code == 0
    assert "settings.json: passed over" in outcome.err
    assert f"{chat}: openai, 1 conversation, 4 turns" in outcome.out


def test_what_a_file_says_is_never_obeyed(goalmem: Goalmem, tmp_path: Path) -> None:
    """Markup stays as it is, and no control character of a speaker, a text or a key gets out."""
    path = tmp_path / "hostile.json"
    for text in HOSTILE:
        path.write_text(json.dumps([{"role": "user", "name": text, "content": text}]))
        outcome = goalmem("ingest", "--explain", str(path))
        assert outcome.code == 0
        assert not UNSAFE.search(outcome.out)
        assert not UNSAFE.search(goalmem("ingest", "--explain", "--json", str(path)).out)
    path.write_text(json.dumps([{"role": "user", "name": "[red]Eve[/red]", "content": HOSTILE[0]}]))
    assert f"[red]Eve[/red], time unknown: {HOSTILE[0]}" in goalmem("ingest", "--explain", str(path)).out
