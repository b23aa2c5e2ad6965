"""What earlier versions of goalmem left is used with the commands of this one: stores, traces, runs and exports."""

import json
import os
import sys
from pathlib import Path

import pytest

from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.store.database.migrations import MIGRATIONS
from goalmem_cli.trace import SCHEMA_VERSION
from tests.cli.test_ask import QUESTION, proving
from tests.invoking import Goalmem
from tests.store.older import MILVUS, NOTES, OLDER, Older


@pytest.fixture(params=OLDER, ids=lambda older: older.name)
def older(request: pytest.FixtureRequest) -> Older:
    """Each version that there was."""
    version: Older = request.param
    return version


@pytest.fixture
def left(older: Older, goalmem: Goalmem, tmp_path: Path) -> Path:
    """The folder with what the version left; its store is the command's."""
    return older.unpacked(tmp_path)


def test_traces_of_every_version_are_kept() -> None:
    """Of each one before this one's."""
    assert {older.traces for older in OLDER} == set(range(1, SCHEMA_VERSION))
    assert {older.steps for older in OLDER} == set(range(1, len(MIGRATIONS)))


@pytest.mark.slow
def test_an_older_store_is_searched_asked_exported_and_forgotten_from(
    goalmem: Goalmem, left: Path, samples: Path
) -> None:
    """The first command says that it brings it up to date, and everything else goes as with a new one."""
    found = goalmem("search", "matcha powder from Uji", "-k", "1")
    assert found.code == 0
    assert found.err.splitlines()[0] == "bringing the store up to this version's form"
    assert "Kyoto Latte is made with matcha powder" in found.out
    asked = goalmem("ask", QUESTION, factories=proving())
    assert (asked.code, asked.out, asked.err) == (0, "Kyoto Latte\n", "")
    assert goalmem("stores", "export", "--out", str(left / "again.jsonl"), "-q").code == 0
    assert goalmem("ingest", str(left / "again.jsonl"), "--store", str(left / "copy"), "-q").code == 0
    assert goalmem("stores", "export").out == goalmem("stores", "export", "--store", str(left / "copy")).out
    assert "new stored" in goalmem("ingest", str(samples / "allotment.md")).out
    assert goalmem("forget", "--speaker", "Ben", "--yes", "-q").code == 0
    assert "Uji" not in goalmem("stores", "export").out
    assert goalmem("stores", "verify", "-q").code == 0


def test_older_traces_are_listed_and_shown(goalmem: Goalmem, left: Path, older: Older) -> None:
    """An answer with its evidence and a refusal with what failed; with `--json` as this version writes them."""
    files = sorted((left / "store" / "traces").glob("*.json"))
    assert [json.loads(file.read_text())["schema_version"] for file in files] == [older.traces] * 2
    listed = goalmem("trace").out
    assert all(part in listed for part in (files[0].stem, files[1].stem, "Who walked past Momoco?"))
    answered, refused = (goalmem("trace", "show", file.stem) for file in files)
    assert "answer: Kyoto Latte" in answered.out
    assert "x = Kyoto Latte (stated)" in answered.out
    assert "talked me into a Kyoto Latte" in answered.out
    assert "nobody says" in refused.out
    shown = json.loads(goalmem("trace", "show", files[0].stem, "--json").out)
    assert (shown["answer"], shown["substitution"]) == ("Kyoto Latte", {"x": ["Kyoto Latte"]})


def test_a_trace_goes_with_the_turns_that_it_shows(goalmem: Goalmem, left: Path) -> None:
    """What an older version wrote down of a turn is forgotten with it."""
    assert goalmem("forget", "momoco-again", "--yes", "-q").code == 0
    assert not [file for file in (left / "store").rglob("*") if file.is_file() and b"Uji" in file.read_bytes()]


def test_older_runs_are_reported(goalmem: Goalmem, left: Path, older: Older, tmp_path: Path) -> None:
    """Tables, the page with its proofs, and the figures that the version had itself: both answers were judged right."""
    if not older.has_run:
        pytest.skip("there was no eval yet")
    run = str(left / "run")
    reported = goalmem("report", run)
    assert (reported.code, reported.err) == (0, "")
    assert "1.000 [1.00, 1.00]" in reported.out
    assert goalmem("report", run, "--html", str(tmp_path / "page.html"), "-q").code == 0
    assert "Kyoto Latte" in (tmp_path / "page.html").read_text("utf-8")
    entries = json.loads(goalmem("report", run, "--json").out)["runs"]
    assert {(entry["reasoner"], entry["n"]) for entry in entries} == {("direct", 2), ("retrieval", 2)}


def test_older_exports_make_the_store_that_they_came_from(goalmem: Goalmem, left: Path, older: Older) -> None:
    """The same turns and the same of what was derived; the times in them are read by this version."""
    if not older.has_run:
        pytest.skip("there was no export yet")
    assert goalmem("ingest", str(left / "memory.jsonl"), "--store", str(left / "copy"), "-q").code == 0
    assert goalmem("stores", "export", "--store", str(left / "copy")).out == goalmem("stores", "export").out


def test_what_people_noted_holds(goalmem: Goalmem, tmp_path: Path) -> None:
    """Who is one person, the goal, the rule; and what was forgotten does not come back, nor under another name."""
    talk = NOTES.unpacked(tmp_path) / "talk.json"
    people = json.loads(goalmem("people", "--json").out)["people"]
    assert {one["name"]: one["turns"] for one in people} == {"Ana": 2, "Benjamin": 2}
    assert goalmem("goals").out == "home: Where does Ana live now? -> Leeds, since 3 Feb 2024\n"
    assert "Where does {name} live now?" in goalmem("rules").out
    said = json.loads(talk.read_text("utf-8"))
    said += [{**said[4], "content": "I moved to Hull.", "timestamp": "2024-03-05T10:00:00+00:00"}]
    talk.write_text(json.dumps(said), "utf-8")
    assert "4 turns that were forgotten" in goalmem("ingest", str(talk)).err
    said[4:6] = ({**one, "name": "Honora"} for one in said[4:6])
    talk.write_text(json.dumps(said), "utf-8")
    assert "4 turns that were forgotten" in goalmem("ingest", str(talk)).err
    assert (
        goalmem("forget", "--list", "-q").out == "forgotten: 3 turns, and all that comes of 1 conversation or speaker\n"
    )
    told = goalmem("stores", "export").out
    assert "baker" in told
    assert not [text for text in ("My PIN", "Carla", "Hull") if text in told]
    assert goalmem("stores", "verify", "-q").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Milvus Lite does not run there")
def test_a_memory_that_the_first_version_left_in_milvus_is_used_as_a_new_one(
    goalmem: Goalmem, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is searched, takes another transcript, is exported, copied into a folder, and forgotten from."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("GOALMEM_STORE", f"milvus:{MILVUS.unpacked(tmp_path) / 'memory.db'}")
    try:
        found = goalmem("search", "matcha powder from Uji", "-k", "1")
        assert (found.code, "Kyoto Latte is made with matcha powder" in found.out) == (0, True)
        assert "new stored" in goalmem("ingest", str(samples / "allotment.md")).out
        folder = str(tmp_path / "folder")
        assert goalmem("stores", "copy", str(os.environ["GOALMEM_STORE"]), folder).code == 0
        assert "Uji" in goalmem("stores", "export").out
        assert goalmem("stores", "export").out == goalmem("stores", "export", "--store", folder).out
        assert goalmem("forget", "--speaker", "Ben", "--yes", "-q").code == 0
        assert "Uji" not in goalmem("stores", "export").out
        assert goalmem("stores", "verify", "-q").code == 0
    finally:
        close_embedded()
