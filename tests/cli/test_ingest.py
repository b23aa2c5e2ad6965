"""`goalmem ingest`."""

import json
import sys
from pathlib import Path

import pytest

from goalmem_cli.transcripts import READERS
from tests.invoking import Goalmem

CHAT = [
    {"role": "user", "content": "I moved to Leeds.", "timestamp": "2024-05-01T09:00:00"},
    {"role": "assistant", "content": "Noted.", "timestamp": "2024-05-01T09:00:05"},
]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A small transcript in OpenAI's form."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT))
    return path


def test_a_file_is_stored_once(goalmem: Goalmem, chat: Path) -> None:
    """The first reading says how much is new, the second that nothing is."""
    first = goalmem("ingest", str(chat))
    assert (first.code, first.err) == (0, "")
    assert first.out == f"{chat}: openai, 1 conversation, 2 turns, 2 new stored\n"
    assert "2 turns, nothing new" in goalmem("ingest", str(chat)).out


def test_a_grown_file_adds_only_what_is_new(goalmem: Goalmem, chat: Path) -> None:
    """A transcript that went on gives its new turns."""
    goalmem("ingest", str(chat))
    chat.write_text(json.dumps([*CHAT, {"role": "user", "content": "And to Hull since."}]))
    assert "3 turns, 1 new stored" in goalmem("ingest", str(chat)).out


def test_json_has_the_issue_s_shape(goalmem: Goalmem, chat: Path) -> None:
    """`--json` prints one document, with a schema version and a row for each file."""
    outcome = goalmem("ingest", str(chat), "--json")
    assert json.loads(outcome.out) == {
        "schema_version": 1,
        "files": [{"path": str(chat), "format": "openai", "conversations": 1, "turns": 2, "new_turns": 2}],
    }


def test_a_dry_run_writes_nothing(goalmem: Goalmem, chat: Path, tmp_path: Path) -> None:
    """`--dry-run` reports what would be stored and leaves no store behind."""
    outcome = goalmem("ingest", "--dry-run", str(chat))
    assert "2 new would be stored" in outcome.out
    assert not (tmp_path / "store").exists()


def test_standard_input_is_a_transcript(goalmem: Goalmem) -> None:
    """`-` reads standard input."""
    outcome = goalmem("ingest", "-", "--json", stdin=json.dumps(CHAT).encode())
    assert outcome.code == 0
    assert json.loads(outcome.out)["files"][0]["path"] == "-"
    assert json.loads(outcome.out)["files"][0]["new_turns"] == 2


def test_folders_are_searched(goalmem: Goalmem, samples: Path) -> None:
    """A folder gives every transcript in it, each file counted."""
    outcome = goalmem("ingest", str(samples), "--json")
    assert outcome.code == 0
    files = json.loads(outcome.out)["files"]
    assert {Path(row["path"]).name for row in files} >= {"momoco.json", "allotment.md", "sourdough.jsonl"}
    assert all(row["turns"] == row["new_turns"] > 0 for row in files)


def test_a_bad_file_does_not_stop_the_others(goalmem: Goalmem, chat: Path, tmp_path: Path) -> None:
    """The good files are stored, the bad ones are reported, and the exit code says that something was wrong."""
    bad = tmp_path / "bad.json"
    bad.write_text('[{"role": "user", "content":')
    absent = tmp_path / "absent.json"
    outcome = goalmem("ingest", str(absent), str(bad), str(chat))
    assert outcome.code == 5
    assert outcome.out == f"{chat}: openai, 1 conversation, 2 turns, 2 new stored\n"
    errors = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
    assert [str(absent) in errors[0], str(bad) in errors[1], len(errors)] == [True, True, 2]
    assert len(outcome.err.splitlines()) == 4


def test_a_path_too_long_does_not_stop_the_others(goalmem: Goalmem, chat: Path) -> None:
    """What no file system could hold is reported like a file that is not there."""
    outcome = goalmem("ingest", "x" * 5000, str(chat))
    assert outcome.code == 5
    assert outcome.out.endswith("2 turns, 2 new stored\n")
    assert [line.split(": ")[0] for line in outcome.err.splitlines()] == ["error", "hint"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_store_s_path_has_to_be_utf_8(goalmem: Goalmem, chat: Path, tmp_path: Path) -> None:
    """DuckDB takes paths as UTF-8: another one is an error of the store."""
    outcome = goalmem("ingest", str(chat), "--store", str(tmp_path / "caf\udce9"))
    assert outcome.code == 3
    assert outcome.error_lines


def test_json_lists_the_files_that_failed(goalmem: Goalmem, tmp_path: Path) -> None:
    """A bad file stands in the document too, with the place and the reason."""
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    document = json.loads(goalmem("ingest", str(bad), "--json").out)
    assert document["files"] == []
    assert document["failed"][0]["path"] == str(bad)
    assert document["failed"][0]["reason"]


def test_a_format_that_there_is_not_is_a_usage_error(goalmem: Goalmem, chat: Path) -> None:
    """An unknown --format is refused with those that are written alike; nothing is said of the file."""
    outcome = goalmem("ingest", "--format", "telegraph", str(chat))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error_lines[1].startswith("did you mean telegram")


def test_what_a_reader_repaired_is_said(goalmem: Goalmem, samples: Path) -> None:
    """Notes of a reader go to stderr, and --quiet keeps them away."""
    path = str(samples / "allotment.md")
    assert "allotment.md: " in goalmem("ingest", path).err
    quiet = goalmem("ingest", path, "--quiet")
    assert (quiet.out, quiet.err) == ("", "")


def test_what_was_repaired_in_many_conversations_is_one_note(goalmem: Goalmem, tmp_path: Path) -> None:
    """An export of thousands of conversations says a line for each kind of repair, with the sum of all."""
    path = tmp_path / "many.json"
    path.write_text(json.dumps([{"id": n, "messages": [*CHAT, {"role": "user", "content": " "}]} for n in range(3)]))
    outcome = goalmem("ingest", str(path))
    assert outcome.err == f"{path}: blank messages left out: 3\n"
    assert "3 conversations, 6 turns" in outcome.out


def test_one_turn_is_one_turn(goalmem: Goalmem, tmp_path: Path) -> None:
    """Counts have their noun in the right number."""
    path = tmp_path / "one.json"
    path.write_text(json.dumps(CHAT[:1]))
    assert goalmem("ingest", str(path)).out == f"{path}: openai, 1 conversation, 1 turn, 1 new stored\n"


def test_an_error_says_what_to_do_about_the_file(goalmem: Goalmem, tmp_path: Path) -> None:
    """Where a reader has no hint of its own, it is about the file, not about the installation."""
    path = tmp_path / "null.json"
    path.write_text('[null, {"role": "user", "content": "x"}]')
    assert goalmem("ingest", "--strict-input", str(path)).error_lines == [
        f"{path}: [0]: expected an object, found null",
        "correct the file at that place, or leave it out",
    ]


def test_a_conversation_that_cannot_be_stored_is_named_with_its_file(goalmem: Goalmem, tmp_path: Path) -> None:
    """Only what was stored is counted; the error says in which file the conversation is that was not."""
    lines: list[object] = [{"goalmem": 1}]
    for name, ids in {"A": "12", "B": "11", "C": "12"}.items():
        lines.append({"conversation": name, "format": "openai"})
        turns = [{"session": 0, "ordinal": n, "speaker": "x", "text": name, "own_id": id_} for n, id_ in enumerate(ids)]
        lines += [{"turn": turn} for turn in turns]
    path = tmp_path / "export.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    outcome = goalmem("ingest", str(path))
    assert outcome.code == 5
    assert outcome.out == f"{path}: openai, 2 conversations, 4 turns, 4 new stored\n"
    assert outcome.error_lines[0] == f"{path}: conversation B, id 1: two turns have this id"


def test_many_replaced_turns_are_not_all_named(goalmem: Goalmem, tmp_path: Path) -> None:
    """The note names the first ten and counts the others."""
    path = tmp_path / "chat.json"
    for text in ("old", "new"):
        messages = [{"role": "user", "content": text, "id": f"m{n}"} for n in range(13)]
        path.write_text(json.dumps({"id": "c", "messages": messages}))
        outcome = goalmem("ingest", str(path))
    assert "m8, m9 and 3 more\n" in outcome.err
    assert "m10" not in outcome.err


def test_replaced_text_is_said(goalmem: Goalmem, samples: Path, tmp_path: Path) -> None:
    """Changed text under an own id replaces the old, and both the count and the turn are named."""
    document = json.loads((samples / "momoco.json").read_text())
    sample = document[0] if isinstance(document, list) else document
    path = tmp_path / "momoco.json"
    path.write_text(json.dumps(document))
    goalmem("ingest", str(path))
    sample["conversation"]["session_1"][0]["text"] = "I never tried Momoco."
    path.write_text(json.dumps(document))
    outcome = goalmem("ingest", str(path))
    assert "1 replaced" in outcome.out
    assert "D1:1" in outcome.err


def test_columns_are_told(goalmem: Goalmem, tmp_path: Path) -> None:
    """A table whose names say nothing is read as the command line says."""
    table = tmp_path / "t.csv"
    table.write_text("A,B\nAna,Where do we stay?\n")
    assert goalmem("ingest", str(table)).code == 5
    outcome = goalmem("ingest", "--columns", "speaker=A, text=B", str(table))
    assert (outcome.code, outcome.out) == (0, f"{table}: table, 1 conversation, 1 turn, 1 new stored\n")


@pytest.mark.parametrize("columns", ["text", "words=B", "text=", "text=A,text=B"])
def test_what_is_no_column_is_said(goalmem: Goalmem, tmp_path: Path, columns: str) -> None:
    """Another form is a mistake of usage, with the form as a hint."""
    outcome = goalmem("ingest", "--columns", columns, str(tmp_path))
    assert outcome.code == 2
    assert outcome.error_lines[1] == "write WHAT=NAME,... for time, speaker, text, conversation"


def test_all_formats_are_listed_with_their_signs(goalmem: Goalmem) -> None:
    """Every format has a row, with what it is recognised by; no file has to be given."""
    outcome = goalmem("ingest", "--formats")
    assert outcome.code == 0
    rows = outcome.out.splitlines()
    assert [row.split()[0] for row in rows[1:] if not row.startswith(" ")] == [reader.name for reader in READERS]
    assert all(reader.sign.split()[0] in outcome.out for reader in READERS)


FOLDERS_CHAT = "31/12/2023, 21:15 - Ana: Where do we stay?\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a chat, a Slack export, and files that are no transcripts."""
    files = {
        "holiday/WhatsApp Chat with Ana.txt": FOLDERS_CHAT,
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
    (tmp_path / "chat.txt").write_text(FOLDERS_CHAT)
    (tmp_path / "tsconfig.json").write_text('{\n  // comment\n  "strict": true,\n}\n')
    (tmp_path / "notes.txt").write_bytes("für später".encode("latin-1"))
    both = goalmem("ingest", str(tmp_path))
    assert both.code == 0
    assert "tsconfig.json: passed over, not JSON" in both.err
    assert "notes.txt: passed over, not UTF-8 text" in both.err
    for name in ("tsconfig.json", "notes.txt"):
        assert goalmem("ingest", str(tmp_path / name)).code == 5
