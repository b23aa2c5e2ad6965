"""Discord's package of one's own data."""

import json
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import Source, conversations_in, read_file, transcript_files
from tests.transcripts.reading import check_refused, read_bytes
from tests.transcripts.test_fuzz import check

ONE, OTHER = "900000000000000001", "900000000000000002"
CHANNEL: list[dict[str, object]] = [
    {"ID": 900000000000000012, "Timestamp": "2026-02-01 10:00:09", "Contents": "An hour.", "Attachments": ""},
    {"ID": 900000000000000011, "Timestamp": "2026-02-01 10:00:07", "Contents": "", "Attachments": "https://x.org/a.png https://x.org/b.png"},
    {"ID": 900000000000000010, "Timestamp": "2026-02-01 10:00:05", "Contents": "The ferry is late.", "Attachments": ""},
]  # fmt: skip
TABLE = 'ID,Timestamp,Contents,Attachments\n21,2020-03-01 09:00:00.5+00:00,"Fog,\nagain",\n20,2020-02-01 09:00:00+00:00,Fog,\n'


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a channel that has a name, one of the older kind that has none, and what else lies there."""
    folder = tmp_path / "package"
    for channel in (f"c{ONE}", OTHER):
        (folder / "Messages" / channel).mkdir(parents=True)
    (folder / "Account").mkdir()
    (folder / "Account" / "user.json").write_text(json.dumps({"username": "mira_", "global_name": "Mira"}))
    (folder / "Messages" / "index.json").write_text(json.dumps({ONE: "Direct Message with otto#0", OTHER: None}))
    (folder / "Messages" / f"c{ONE}" / "channel.json").write_text(json.dumps({"id": ONE, "type": "DM"}))
    (folder / "Messages" / f"c{ONE}" / "messages.json").write_text(json.dumps(CHANNEL))
    (folder / "Messages" / OTHER / "messages.csv").write_text(TABLE)
    return folder


def check_package(conversations: list[Conversation], owner: str) -> None:
    """Hold what was read to what the package says."""
    one, other = conversations
    name = f"Direct Message with otto#0 ({ONE})"
    assert one == Conversation(name, "discord-package", (
        Turn(name, 0, 0, owner, "The ferry is late.", datetime(2026, 2, 1, 10, 0, 5, tzinfo=UTC), "900000000000000010"),
        Turn(name, 0, 1, owner, "An hour.", datetime(2026, 2, 1, 10, 0, 9, tzinfo=UTC), "900000000000000012"),
    ), name, ("media left out: 2",))  # fmt: skip
    assert (other.name, [(turn.text, turn.own_id) for turn in other.turns]) == (
        OTHER,
        [("Fog", "20"), ("Fog,\nagain", "21")],
    )
    assert other.turns[1].said == datetime(2020, 3, 1, 9, 0, 0, 500000, tzinfo=UTC)


def test_a_package_as_golden(package: Path) -> None:
    """Channels by the index's names, the owner's messages from the oldest, times in UTC, ids as texts, as JSON or CSV."""
    (found,) = transcript_files([package.parent])
    assert found.path == package
    check_package(sorted(read_file(found.path), key=lambda chat: chat.name, reverse=True), "Mira")


def test_the_folder_of_messages_alone_is_read(package: Path) -> None:
    """Then nobody knows the owner's name."""
    check_package(sorted(read_file(package / "Messages"), key=lambda chat: chat.name, reverse=True), "Me")


def test_a_zipped_package_is_read_where_it_is(package: Path, tmp_path: Path) -> None:
    """As the mail of Discord has it."""
    with ZipFile(tmp_path / "package.zip", "w") as archive:
        for file in package.rglob("*.*"):
            archive.write(file, file.relative_to(package))
    (found,) = transcript_files([tmp_path / "package.zip"])
    read = list(conversations_in(Source.from_path(found.place)))
    check_package(sorted(read, key=lambda chat: chat.name, reverse=True), "Mira")


def test_a_channel_s_file_alone_is_called_after_its_folder(package: Path) -> None:
    """The index lies elsewhere; outside of such a folder the file's name is all there is."""
    (chat,) = read_file(package / "Messages" / f"c{ONE}" / "messages.json")
    assert (chat.name, chat.own_id, len(chat.turns)) == (ONE, ONE, 2)
    assert [one.name for one in read_bytes(TABLE.encode(), "messages.csv")] == ["messages"]


def test_a_broken_channel_is_skipped_and_the_others_read(package: Path) -> None:
    """The error names its file; an index that cannot be read leaves channels without names."""
    (package / "Messages" / f"c{ONE}" / "messages.json").write_text("[{")
    (package / "Messages" / "index.json").write_text("{")
    skipped: list[InputError] = []
    (chat,) = conversations_in(Source.from_path(package, skip=skipped.append))
    assert chat.name == OTHER
    assert {Path(error.path).name for error in skipped} == {"index.json", "messages.json"}


def test_a_record_that_is_none_names_its_place() -> None:
    """The place is the path to the value."""
    broken = json.dumps([*CHANNEL, {"ID": 1, "Timestamp": "", "Contents": 5}]).encode()
    check_refused(lambda data: read_bytes(data, "messages.json"), broken, "[3].Contents", "expected text")


@given(st.integers(0, len(TABLE)), st.binary(max_size=8))
def test_mutated_tables(place: int, token: bytes) -> None:
    """A valid table with any bytes in it."""
    check(TABLE[:place].encode() + token + TABLE[place:].encode(), "messages.csv", "discord-package")
