"""What an embedded memory does to its place, and to others who want it: nothing that is not its own."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from milvus_lite.db import MilvusLite
from milvus_lite.exceptions import DataDirLockedError
from pymilvus import MilvusClient

from goalmem_cli.addresses import MilvusAddress
from goalmem_cli.errors import StoreDamaged, StoreError, StoreLocked
from goalmem_cli.milvus import embedded
from goalmem_cli.milvus.milvus_memory import MilvusMemory
from goalmem_cli.milvus.schema import ID, Collection
from goalmem_cli.records import Turn
from goalmem_cli.testing import HashEmbedder
from tests.conftest import CHECKOUT
from tests.milvus.conftest import Opens
from tests.milvus.faulty import TURNS


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder with what is in them."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_foreign_folder_is_left_alone(memory: Opens, tmp_path: Path) -> None:
    """Neither written to nor searched nor removed, and the error says what is in it."""
    folder = tmp_path / "database"
    (folder / "letters").mkdir(parents=True)
    (folder / "letters" / "dear.txt").write_text("Dear Ben", "utf-8")
    before = contents(tmp_path)
    opened = memory()
    for act in (lambda: opened.add_turns(TURNS), opened.turns, opened.stats, opened.remove, lambda: opened.exists):
        with pytest.raises(StoreDamaged, match="letters") as caught:
            act()
        assert "name a path" in caught.value.hint
    assert {name for name in contents(tmp_path) if not name.startswith("beside")} == before.keys()
    assert (folder / "letters" / "dear.txt").read_text("utf-8") == "Dear Ben"


def test_a_foreign_file_is_left_alone(memory: Opens, tmp_path: Path) -> None:
    """A file is no database, and stays what it is."""
    (tmp_path / "database").write_text("SQLite format 3", "utf-8")
    opened = memory()
    for act in (lambda: opened.add_turns(TURNS), opened.turns, opened.remove):
        with pytest.raises(StoreDamaged, match="no database of Milvus"):
            act()
    assert (tmp_path / "database").read_text("utf-8") == "SQLite format 3"


def test_an_empty_folder_is_no_memory_until_something_is_written(memory: Opens, tmp_path: Path) -> None:
    """Reading makes nothing in it; writing does."""
    (tmp_path / "database").mkdir()
    opened = memory()
    assert not opened.exists
    with pytest.raises(StoreError, match="there is no memory"):
        opened.turns()
    assert not list((tmp_path / "database").iterdir())
    opened.add_turns(TURNS)
    assert opened.turns() == list(TURNS)


def test_others_collections_stay(memory: Opens, tmp_path: Path) -> None:
    """Removing the memory from a database that somebody else uses too takes goalmem's collections alone."""
    opened = memory()
    opened.add_turns(TURNS)
    with embedded.used(tmp_path / "database", print, 5) as uri:
        client = MilvusClient(uri)
        client.create_collection("theirs", dimension=4)
        client.insert("theirs", [{"id": 1, "vector": [0.0, 0.0, 0.0, 1.0]}])
        client.close()
    opened.remove()
    assert not opened.exists
    embedded.close_embedded()
    with MilvusLite(str(tmp_path / "database")) as left:
        assert left.list_collections() == ["theirs"]
    assert not (tmp_path / "beside").exists()


def test_a_damaged_database_is_an_error(memory: Opens, tmp_path: Path) -> None:
    """Files that are not what the engine wrote are told of, with the address, and not repaired in silence."""
    memory().add_turns(TURNS)
    embedded.close_embedded()
    for path in (tmp_path / "database" / "collections").rglob("schema.json"):
        path.write_text("{", "utf-8")
    with pytest.raises(StoreError, match="milvus:"):
        memory().turns()


@pytest.mark.parametrize("size", [0, 20, 200])
def test_an_index_file_that_was_written_in_part_is_made_anew(memory: Opens, tmp_path: Path, size: int) -> None:
    """The engine writes it in place; whoever is killed meanwhile would leave a memory that nobody can open."""
    memory().add_turns(TURNS)
    embedded.close_embedded()
    files = list((tmp_path / "database" / "collections").rglob("*.idx"))
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:size])
    assert memory().turns() == list(TURNS)
    assert memory().verify() == []


def is_free(path: Path) -> bool:
    """Return whether another one could open the database now."""
    try:
        MilvusLite(str(path)).close()
    except DataDirLockedError:
        return False
    return True


def test_it_is_closed_when_nobody_uses_it(memory: Opens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is used others wait; a moment later they need not; the next use opens it again."""
    monkeypatch.setattr(embedded, "IDLE_SECONDS", 0.3)
    opened, path = memory(), tmp_path / "database"
    opened.add_turns(TURNS)
    with embedded.used(path, print, 5):
        time.sleep(0.6)
        assert not is_free(path)
    deadline = time.monotonic() + 30
    while not (free := is_free(path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert free
    assert opened.turns() == list(TURNS)
    assert opened.verify() == []


def test_a_look_that_takes_its_time_keeps_it_open(
    memory: Opens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the pages of a long listing it is in use, however slowly they are taken."""
    monkeypatch.setattr(embedded, "IDLE_SECONDS", 0.1)
    monkeypatch.setattr("goalmem_cli.milvus.milvus_engine._PAGE_OF_DOCUMENTS", 2)
    opened = memory()
    opened.add_turns([Turn("long", 0, at, "Ann", f"word{at}") for at in range(7)])
    rows = opened._kept.engine.rows(Collection.SAID, "", ["document"])
    found = [next(rows)]
    time.sleep(0.5)
    assert embedded.is_open(tmp_path / "database")
    found += rows
    assert len({row[ID] for row in found}) == 7


ENDING = """
import sys
from pathlib import Path
from goalmem_cli.addresses import MilvusAddress
from goalmem_cli.milvus.milvus_memory import MilvusMemory
from goalmem_cli.testing import HashEmbedder
from tests.milvus.faulty import TURNS
folder = Path(sys.argv[1])
MilvusMemory(MilvusAddress(path=folder / "database"), folder / "beside", HashEmbedder(), announce=print).add_turns(TURNS)
print("written", flush=True)
sys.stdin.readline()
"""


def test_it_is_closed_when_the_process_ends(memory: Opens, tmp_path: Path) -> None:
    """As long as another process has it open, that is said and waited for; it is whole once that one has ended."""
    command = [sys.executable, "-c", ENDING, str(tmp_path)]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        said: list[str] = []
        address = MilvusAddress(path=tmp_path / "database")
        waiting = MilvusMemory(address, tmp_path / "beside", HashEmbedder(), announce=said.append, patience=0.2)
        with pytest.raises(StoreLocked, match="open in another process"):
            waiting.turns()
        assert said == [f"waiting: {tmp_path / 'database'} is open in another process"]
        _, err = process.communicate("\n")
    assert (process.returncode, err) == (0, "")
    assert memory().turns() == list(TURNS)
