"""`goalmem ingest x.zip`: transcripts as messengers and assistants hand them out, and zips that mean no good."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from tests.invoking import Goalmem

WHATSAPP = "[2024-03-05, 21:15:00] Ana: The boat is green.\n[2024-03-05, 21:16:00] Ben: Since when?\n"
OPENAI = json.dumps(
    [{"messages": [{"role": "user", "content": "I like tea."}, {"role": "assistant", "content": "Ok."}]}]
)
SHAREGPT = json.dumps(
    [{"conversations": [{"from": "human", "value": "Plan Rome."}, {"from": "gpt", "value": "Sure."}]}]
)
SLACK = {
    "users.json": json.dumps([{"id": "U1", "name": "ana", "profile": {"real_name": "Ana"}}]),
    "channels.json": json.dumps([{"id": "C1", "name": "boats"}]),
    "boats/2024-03-05.json": json.dumps(
        [{"type": "message", "user": "U1", "text": "The boat is green.", "ts": "1709666100.000100"}]
    ),
}

FACEBOOK = {
    f"inbox/ben_12/message_{number}.json": json.dumps(
        {
            "participants": [{"name": "Ana"}, {"name": "Ben"}], "title": "Ben", "thread_path": "inbox/ben_12",
            "messages": [{"sender_name": "Ana", "timestamp_ms": 1709666100000 - number, "content": f"Boat {number}."}],
        }
    )
    for number in (1, 2)
}  # fmt: skip


def zipped(file: Path, entries: Mapping[str, str | bytes]) -> Path:
    """Write a zip with the entries."""
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return file


def texts(goalmem: Goalmem) -> list[str]:
    """Return the texts of all stored turns."""
    rows = [json.loads(line) for line in goalmem("stores", "export").out.splitlines()]
    return [row["turn"]["text"] for row in rows if "turn" in row]


@pytest.mark.parametrize(
    ("name", "entries", "format_", "said"),
    [
        ("WhatsApp Chat - Ben.zip", {"_chat.txt": WHATSAPP, "IMG-1.jpg": b"\xff\xd8"}, "whatsapp", 2),
        (
            "export.zip",
            {"data/conversations.json": SHAREGPT, "data/chat.html": "<html>", "user.json": "{}"},
            "sharegpt",
            2,
        ),
        ("slack.zip", SLACK, "slack", 1),
        ("facebook.zip", {**FACEBOOK, "inbox/ben_12/photos/1.jpg": b"\xff"}, "facebook", 2),
        ("slack.zip", {f"Work export/{name}": text for name, text in SLACK.items()}, "slack", 1),
    ],
)
def test_what_a_zip_holds_is_read(
    goalmem: Goalmem, tmp_path: Path, name: str, entries: Mapping[str, str | bytes], format_: str, said: int
) -> None:
    """By name and in a folder alike; the rest is named and passed over; a second time there is nothing new."""
    file = zipped(tmp_path / name, entries)
    outcome = goalmem("ingest", str(file), "--json")
    (read,) = [row for row in json.loads(outcome.out)["files"] if row["turns"]]
    assert (outcome.code, read["format"], read["new_turns"]) == (0, format_, said)
    assert read["path"].startswith(str(file))
    if format_ in ("whatsapp", "sharegpt"):
        assert "passed over" in outcome.err
    again = goalmem("ingest", str(tmp_path), "--json")
    assert [row["new_turns"] for row in json.loads(again.out)["files"] if row["turns"]] == [0]


def test_a_grown_zip_goes_on(goalmem: Goalmem, tmp_path: Path) -> None:
    """What is inside is known again by the zip's path and its name there."""
    file = zipped(tmp_path / "chat.zip", {"_chat.txt": WHATSAPP})
    goalmem("ingest", str(file))
    zipped(file, {"_chat.txt": f"{WHATSAPP}[2024-03-06, 08:00:00] Ana: Since May.\n"})
    assert json.loads(goalmem("ingest", str(file), "--json").out)["files"][0]["new_turns"] == 1
    assert len(texts(goalmem)) == 3


def test_names_inside_are_no_paths(goalmem: Goalmem, tmp_path: Path) -> None:
    """Entries that point elsewhere, links and zips within are passed over by name; nothing is written anywhere."""
    folder = tmp_path / "in"
    folder.mkdir()
    file = zipped(
        folder / "bad.zip",
        {"ok.json": OPENAI, "../../evil.json": OPENAI, "/etc/evil.json": OPENAI, "a\\..\\evil.json": OPENAI,
         "C:/evil.json": OPENAI, "within.zip": b"PK", "__MACOSX/._ok.json": b"\x00", "[bold]\x1b[2J.json": OPENAI},
    )  # fmt: skip
    with ZipFile(file, "a") as archive:
        link = ZipInfo("link.json")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    before = sorted(tmp_path.rglob("*"))
    outcome = goalmem("ingest", str(file), "--dry-run")
    assert (outcome.code, sorted(tmp_path.rglob("*"))) == (0, before)
    assert "1 conversation, 2 turns" in outcome.out
    assert "evil.json" in outcome.err and "link.json" in outcome.err and "within.zip" in outcome.err
    assert "\x1b" not in outcome.err


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_entries_of_one_name_the_last_counts(goalmem: Goalmem, tmp_path: Path) -> None:
    """As in every program that unpacks them."""
    file = zipped(tmp_path / "twice.zip", {"a.json": SHAREGPT})
    with ZipFile(file, "a") as archive:
        archive.writestr("a.json", OPENAI)
    assert goalmem("ingest", str(file)).code == 0
    assert texts(goalmem) == ["I like tea.", "Ok."]


def test_a_bomb_is_not_unpacked(goalmem: Goalmem, tmp_path: Path) -> None:
    """An entry that would unpack to a thousand times its size is refused, what lies beside it is read."""
    file = zipped(tmp_path / "bomb.zip", {"big.json": b"[" + b" " * (20 << 20) + b"]", "ok.json": OPENAI})
    outcome = goalmem("ingest", str(file))
    assert outcome.code == 5
    assert "times what it is packed" in outcome.err
    assert texts(goalmem) == ["I like tea.", "Ok."]


def test_too_many_entries_are_refused(goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their number is looked at before any of them."""
    monkeypatch.setattr("goalmem_cli.transcripts.reading.zipped.MOST_ENTRIES", 3)
    file = zipped(tmp_path / "many.zip", {f"{number}.json": OPENAI for number in range(4)})
    outcome = goalmem("ingest", str(file))
    assert (outcome.code, "holds 4 entries" in outcome.err) == (5, True)


def encrypted(data: bytes) -> bytes:
    """Mark the zip's entries as encrypted, in their own headers and in the directory."""
    changed = bytearray(data)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = changed.find(mark)
        while at >= 0:
            changed[at + place] |= 1
            at = changed.find(mark, at + 4)
    return bytes(changed)


def lying(data: bytes) -> bytes:
    """Let the directory say that the entry is much smaller than it is."""
    at = data.find(b"PK\x01\x02")
    return data[: at + 24] + struct.pack("<I", 7) + data[at + 28 :]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (encrypted, "encrypted"),
        (lambda data: data[: len(data) // 2], "damaged"),
        (lambda _: b"this is no zip", "no zip"),
        (lambda _: b"", "no zip"),
        (lying, "damaged"),
        (lambda data: data.replace(data[40:60], b"\x00" * 20, 1), "damaged"),
    ],
)
def test_a_zip_that_cannot_be_read_is_one_clear_error(
    goalmem: Goalmem, tmp_path: Path, spoil: object, why: str
) -> None:
    """With what to do, by name and in a folder, where the files beside it are read."""
    file = zipped(tmp_path / "bad.zip", {"_chat.json": OPENAI})
    file.write_bytes(spoil(file.read_bytes()))  # type: ignore[operator]
    named = goalmem("ingest", str(file))
    assert (named.code, why in named.error_lines[0]) == (5, True), named.err
    (tmp_path / "ok.json").write_text(OPENAI)
    beside = goalmem("ingest", str(tmp_path))
    assert (beside.code, texts(goalmem)) == (5, ["I like tea.", "Ok."])


def test_a_zip_without_a_transcript_is_an_error_by_name_and_passed_over_in_a_folder(
    goalmem: Goalmem, tmp_path: Path
) -> None:
    """What it holds instead is named."""
    file = zipped(tmp_path / "pictures.zip", {"a.jpg": b"\xff"})
    named = goalmem("ingest", str(file))
    assert (named.code, "a.jpg" in named.error_lines[0]) == (5, True)
    (tmp_path / "ok.json").write_text(OPENAI)
    outcome = goalmem("ingest", str(tmp_path))
    assert (outcome.code, "passed over" in outcome.err) == (0, True)
