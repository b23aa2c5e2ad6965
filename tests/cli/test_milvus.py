"""The commands over a memory in Milvus: what works as over a folder, and what says that it does not."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from goalmem_cli.addresses import MilvusAddress, parse_address, parse_shards
from goalmem_cli.errors import UsageError
from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.milvus.milvus_engine import Engine
from goalmem_cli.milvus.schema import ID, Collection
from tests.cli.test_ask import PROOF, QUESTION
from tests.conftest import SAMPLES
from tests.invoking import Goalmem, scripted


@pytest.fixture
def milvus(goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Goalmem]:
    """The command over an embedded database that holds the Momoco conversation."""
    monkeypatch.setenv("GOALMEM_STORE", f"milvus:{tmp_path / 'database'}")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert goalmem("ingest", str(SAMPLES / "momoco.json"), "--quiet").code == 0
    yield goalmem
    close_embedded()


def test_commands_work_as_over_a_folder(milvus: Goalmem, tmp_path: Path) -> None:
    """Reading in again brings nothing, a search finds the same, forgetting forgets, and removing leaves nothing."""
    assert "nothing new" in milvus("ingest", str(SAMPLES / "momoco.json")).out
    folder = str(tmp_path / "folder")
    assert milvus("ingest", str(SAMPLES / "momoco.json"), "--store", folder, "--quiet").code == 0
    words = ("search", "What did Alice order?", "--json")
    ours, theirs = (json.loads(milvus(*words, *more).out) for more in ((), ("--store", folder)))
    assert [hit["turns"] for hit in ours["hits"]] == [hit["turns"] for hit in theirs["hits"]]
    assert milvus("stores", "verify").out.endswith(": sound\n")
    out = tmp_path / "memory.jsonl"
    assert milvus("stores", "export", "--out", str(out)).code == 0
    assert out.read_text("utf-8").count('"turn"') == 23

    assert milvus("forget", "--speaker", "Ben", "--yes").code == 0
    assert json.loads(milvus("stores", "show", "--json").out)["stats"]["turns"] < 23
    assert "Ben" not in {hit["speaker"] for hit in json.loads(milvus(*words).out)["hits"]}
    assert milvus("stores", "verify").out.endswith(": sound\n")
    assert milvus("stores", "remove", "--yes").code == 0
    assert not (tmp_path / "database").exists()
    assert milvus("stores", "show").code == 3


def test_a_memory_is_copied_there_and_back(milvus: Goalmem, tmp_path: Path) -> None:
    """A copy has the same turns and finds the same; copying again copies nothing; two different ones are told apart."""
    here, folder, again = f"milvus:{tmp_path / 'database'}", str(tmp_path / "folder"), f"milvus:{tmp_path / 'again'}"
    assert "23 turns, 23 new; 23 compared" in milvus("stores", "copy", here, folder).out
    assert "23 turns, 23 new; 23 compared" in milvus("stores", "copy", folder, again).out
    assert "23 turns, 0 new; 23 compared" in milvus("stores", "copy", here, again).out
    words = ("search", "What did Alice order?", "--json")
    found = [json.loads(milvus(*words, "--store", place).out)["hits"] for place in (here, folder, again)]
    assert [hit["turns"] for hit in found[0]] == [hit["turns"] for hit in found[1]]
    assert found[0] == found[2]

    assert milvus("forget", "--speaker", "Ben", "--yes", "--store", folder).code == 0
    assert milvus("stores", "copy", folder, again).code == 3
    assert milvus("stores", "copy", here, here).code == 2


def test_an_export_is_read_back_into_the_same(milvus: Goalmem, tmp_path: Path) -> None:
    """As lines on stdout, which make an equal store of either kind, and as tables."""
    lines = milvus("stores", "export").out
    file = tmp_path / "memory.jsonl"
    file.write_text(lines, "utf-8")
    for store in (f"milvus:{tmp_path / 'again'}", str(tmp_path / "folder")):
        assert milvus("ingest", str(file), "--store", store, "--quiet").code == 0
        assert milvus("stores", "export", "--store", store).out == lines
    for store, folder in (("", tmp_path / "ours"), (str(tmp_path / "folder"), tmp_path / "theirs")):
        more = ("--store", store) if store else ()
        assert milvus("stores", "export", "--parquet", str(folder), *more).code == 0
    connection = duckdb.connect()
    for name, but in (("conversations", "SELECT * EXCLUDE file"), ("sessions", ""), ("turns", "")):
        ours, theirs = (
            sorted(connection.execute(f"FROM '{tmp_path / side / name}.parquet' {but}").fetchall(), key=str)
            for side in ("ours", "theirs")
        )
        assert ours == theirs != []


def test_settings_and_traces_lie_beside_it(milvus: Goalmem, tmp_path: Path) -> None:
    """In a folder of the user's data that is named after the address: settings there count, and traces are found."""
    (beside,) = (tmp_path / "data" / "goalmem" / "milvus").iterdir()
    assert re.fullmatch(r"milvus-.*-[0-9a-f]{8}", beside.name)
    words = ("search", "What did Alice order?", "--json")
    assert {"bm25", "dense"} <= set(json.loads(milvus(*words).out)["hits"][0]["ranks"])
    (beside / "goalmem.yaml").write_text("backbone: bm25\n", "utf-8")
    assert set(json.loads(milvus(*words).out)["hits"][0]["ranks"]) == {"bm25", "bm25-context"}
    asked = milvus("ask", QUESTION, "--max-breadth", "1", factories=scripted(PROOF))
    assert asked.code == 0, asked.err
    assert len(list((beside / "traces").glob("*.json"))) == 1
    assert "answered" in milvus("trace", "list").out


def test_verify_finds_what_is_missing(milvus: Goalmem, tmp_path: Path) -> None:
    """A row that the engine lost is named with its conversation; forgetting it and reading it in again mends it."""
    engine = Engine(MilvusAddress(path=tmp_path / "database"), print)
    lost = next(engine.rows(Collection.UNITS, "", []))[ID]
    engine.drop_rows(Collection.UNITS, [lost])
    outcome = milvus("stores", "verify")
    assert outcome.code == 3
    assert outcome.out == "momoco-01: goalmem_units lacks: 1 rows\n"
    assert "goalmem forget --leave-nothing NAME" in outcome.error_lines[1]
    assert milvus("forget", "momoco-01", "--leave-nothing", "--yes").code == 0
    assert milvus("ingest", str(SAMPLES / "momoco.json"), "--quiet").code == 0
    assert milvus("stores", "verify").code == 0

    lost = next(engine.rows(Collection.SAID, "", []))[ID]
    engine.drop_rows(Collection.SAID, [lost])
    assert "22 of 23 turns are there" in milvus("stores", "verify").out
    outcome = milvus("stores", "export", "--out", str(tmp_path / "part.jsonl"))
    assert outcome.code == 3
    assert "22 of 23 turns" in outcome.error_lines[0]
    assert not (tmp_path / "part.jsonl").exists()


@pytest.mark.parametrize("words", ["stores remove --yes", "ingest {momoco}", "search latte", "stores show"])
def test_a_folder_of_something_else_is_left_alone(goalmem: Goalmem, tmp_path: Path, words: str) -> None:
    """Whatever is asked of a place that is no memory, its files stay as they are."""
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"cat")
    command = words.format(momoco=SAMPLES / "momoco.json").split()
    outcome = goalmem(*command, "--store", f"milvus:{tmp_path / 'photos'}")
    assert outcome.code == 3
    assert "it is left alone" in outcome.err
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.jpg"]


@pytest.mark.parametrize(
    "words", ["index stitch", "stores rebuild", "embedder use static", "search latte --backbone remem"]
)
def test_what_it_cannot_do_is_an_error(milvus: Goalmem, words: str) -> None:
    """Structured backbones, indexes and another embedder need a folder: the hint says how to get one."""
    outcome = milvus(*words.split())
    assert outcome.code == 3
    assert "a memory in Milvus cannot" in outcome.error_lines[0]
    assert "goalmem stores copy" in outcome.error_lines[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("milvus:memory", MilvusAddress(path=Path("memory"))),
        ("milvus+https://host:123/team", MilvusAddress(uri="https://host:123", database="team")),
        ("milvus+https://host", MilvusAddress(uri="https://host:19530")),
        ("milvus+http://localhost:1/a", MilvusAddress(uri="http://localhost:1", database="a")),
        ("milvus+http://[::1]:1/a", MilvusAddress(uri="http://[::1]:1", database="a")),
    ],
)
def test_addresses(text: str, expected: MilvusAddress) -> None:
    """An address is a path, or a server and a database; written out it is read the same."""
    assert parse_address(text, "here") == parse_address(str(expected), "here") == expected


@pytest.mark.parametrize(
    "text",
    ["milvus:", "milvus+ftp://host", "milvus+https://user:word@host", "milvus+https://host/a-b", "milvus+https://",
     "milvus+http://example.org", "milvus+https://host:port", "milvus+https://host/a?token=word"],
)  # fmt: skip
def test_wrong_addresses(text: str) -> None:
    """Passwords in the address, unencrypted strangers and what is no address are refused."""
    with pytest.raises(UsageError):
        parse_address(text, "here")


def test_shards() -> None:
    """A number of shards is one that a server takes, and one where nothing is said."""
    assert [parse_shards(text) for text in ("", "1", "16")] == [1, 1, 16]
    for text in ("0", "-1", "many", "65", "9" * 9):
        with pytest.raises(UsageError, match="GOALMEM_MILVUS_SHARDS"):
            parse_shards(text)


def test_windows_and_copies_as_over_a_folder(milvus: Goalmem, tmp_path: Path) -> None:
    """Windows that share a day are one conversation, and copied turns are there once; others are joined by command."""
    rows = [f"2024-05-0{day}T10:00:0{place},Ana,Line {day} {place}." for day in (1, 2, 3) for place in (1, 2)]
    for name, window in (("a", rows[:4]), ("b", rows[2:])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "talk.csv").write_text("\n".join(["time,speaker,text", *window]), encoding="utf-8")
    for uuids, name in ((("u1", "u2"), "s1"), (("u1", "u2", "u3"), "s2")):
        events = [
            {"type": "user", "sessionId": name, "uuid": uuid, "timestamp": f"2026-06-01T10:00:0{place}Z",
             "message": {"role": "user", "content": f"Prompt {uuid}."}}
            for place, uuid in enumerate(uuids)
        ]  # fmt: skip
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("a", "b", "s1.jsonl", "s2.jsonl")]
    preview = milvus("ingest", "--dry-run", "--json", *paths)
    done = milvus("ingest", "--json", *paths)
    assert [file["new_turns"] for file in json.loads(done.out)["files"]] == [4, 2, 2, 1]
    assert json.loads(preview.out) == json.loads(done.out)
    assert "joined with talk" in done.err
    assert "joined with talk" in preview.err
    held = [milvus("stores", "join", "s1", "s2", *more) for more in (("--dry-run",), ("--yes",))]
    assert [each.out for each in held] == [
        "s1 would have 3 turns, 0 of which both had\n", "s1 has 3 turns, 0 of which both had\n"
    ]  # fmt: skip
    again = milvus("ingest", "--json", *paths)
    assert [file["new_turns"] for file in json.loads(again.out)["files"]] == [0, 0, 0, 0]
    assert milvus("stores", "verify").out.endswith(": sound\n")
