"""A store is for its owner's eyes: modes of its files and folders, and what `doctor` says of others."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_ask import QUESTION, proving
from tests.invoking import Goalmem

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")


def modes(folder: Path) -> dict[str, str]:
    """Return the mode of the folder and of each thing in it."""
    return {str(path.relative_to(folder)): f"{path.stat().st_mode & 0o777:o}" for path in (folder, *folder.rglob("*"))}


def is_private(folder: Path) -> bool:
    """Say whether every file has the mode 600 and every folder 700."""
    return all(
        mode == ("700" if (folder / name).is_dir() else "600") for name, mode in modes(folder).items()
    )  # fmt: skip


@pytest.fixture
def lax() -> Iterator[None]:
    """Let new files be read by everybody, as most systems do."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("lax")
def test_all_of_a_store_is_its_owners_alone(goalmem: Goalmem, samples: Path, tmp_path: Path) -> None:
    """After whatever writes: an ingest, another one, a question, a forgetting; database, indexes and traces."""
    store = tmp_path / "store"
    for words in (
        ("ingest", str(samples / "momoco.json")),
        ("ingest", str(samples / "lisbon-trip.json")),
        ("ask", QUESTION, "--keep-prompts"),
        ("stores", "rebuild"),
        ("forget", "lisbon-trip", "--yes"),
    ):
        assert goalmem(*words, factories=proving()).code == 0
        assert is_private(store), modes(store)
    assert {"memory.duckdb", "text", "vectors", "traces"} <= {path.name for path in store.iterdir()}


@pytest.mark.usefixtures("lax")
def test_an_older_store_is_closed_when_something_is_written(momoco: Goalmem, samples: Path, tmp_path: Path) -> None:
    """The doctor warns of it before, and not after; a reading command changes no mode. What is forgotten is marked."""
    store = tmp_path / "store"
    assert momoco("forget", "--speaker", "Ben", "--yes").code == 0
    assert (store / "forgotten.json").exists()
    for path in (store, *store.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)

    def said() -> tuple[str, str, str]:
        findings = {each["name"]: each for each in json.loads(momoco("doctor", "--json").out)["findings"]}
        found = findings["privacy"]
        return found["status"], found["text"], found["hint"]

    open_before = modes(store)
    assert momoco("search", "Momoco").code == 0
    status, text, hint = said()
    assert (status, text) == ("note", f"other users may use {store} and {len(open_before) - 1} more")
    assert "goalmem stores rebuild" in hint
    assert modes(store) == open_before
    assert momoco("ingest", str(samples / "lisbon-trip.json")).code == 0
    assert is_private(store), modes(store)
    assert said() == ("ok", "nothing of the store is open to other users", "")


@pytest.mark.usefixtures("lax")
def test_a_folder_with_other_things_is_left_alone(goalmem: Goalmem, samples: Path, tmp_path: Path) -> None:
    """Only what is goalmem's is closed: not the user's folder, nor what else is in it, nor what a link leads to."""
    folder, elsewhere = tmp_path / "store", tmp_path / "elsewhere.txt"
    (folder / "photos").mkdir(parents=True)
    (folder / "photos" / "cat.jpg").write_text("a cat")
    elsewhere.write_text("not goalmem's")
    for path in (folder, folder / "photos"):
        path.chmod(0o755)
    assert goalmem("ingest", str(samples / "momoco.json")).code == 0
    (folder / "traces").mkdir(exist_ok=True)
    (folder / "traces" / "link").symlink_to(elsewhere)
    assert goalmem("ingest", str(samples / "lisbon-trip.json")).code == 0
    found = modes(folder)
    assert (found["."], found["photos"], found["photos/cat.jpg"]) == ("755", "755", "644")
    assert (found["memory.duckdb"], found["text"], found["vectors"], found["traces"]) == ("600", "700", "700", "700")
    assert f"{elsewhere.stat().st_mode & 0o777:o}" == "644"
    shutil.rmtree(folder / "photos")
    assert goalmem("stores", "rebuild").code == 0
    assert modes(folder)["."] == "700"


def test_kept_prompts_go_with_what_is_forgotten(momoco: Goalmem, tmp_path: Path) -> None:
    """A trace that has the prompts has all that they showed: nothing of it is left anywhere in the store."""
    assert momoco("ask", QUESTION, "--keep-prompts", factories=proving()).code == 0
    (trace,) = (tmp_path / "store" / "traces").iterdir()
    assert "Black Sesame Cocoa" in "".join(
        text for exchange in json.loads(trace.read_text("utf-8"))["exchanges"] for _, text in exchange["messages"]
    )
    assert momoco("forget", "--speaker", "Alice", "--yes").code == 0
    for path in (tmp_path / "store").rglob("*"):
        assert path.is_dir() or b"Black Sesame Cocoa" not in path.read_bytes(), path
    assert not trace.exists()


@pytest.mark.usefixtures("lax")
def test_all_of_an_embedded_memory_is_its_owners_alone(goalmem: Goalmem, samples: Path, tmp_path: Path) -> None:
    """The database, and the folder with its traces and locks; `doctor` warns of one that an older goalmem wrote."""
    pytest.importorskip("milvus_lite")
    from goalmem_cli.milvus.embedded import close_embedded

    database, beside = tmp_path / "memory.db", Path(os.environ["XDG_DATA_HOME"]) / "goalmem" / "milvus"
    place = ("--store", f"milvus:{database}")

    def told() -> str:
        findings = json.loads(goalmem("doctor", "--json", *place).out)["findings"]
        return str(next(each["text"] for each in findings if each["name"] == "privacy"))

    for words in (
        ("ingest", str(samples / "momoco.json")),
        ("ask", QUESTION, "--keep-prompts"),
        ("ingest", str(samples / "lisbon-trip.json")),
        ("forget", "lisbon-trip", "--yes"),
    ):
        assert goalmem(*words, *place, factories=proving()).code == 0
        (folder,) = beside.iterdir()
        assert modes(database)["."] == "700"  # whatever the engine makes in it meanwhile
        close_embedded()
        assert is_private(database), modes(database)
        assert is_private(folder), modes(folder)
    for path in (database, *database.rglob("*"), folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert told().startswith("other users may use")
    assert goalmem("ingest", "--restore-forgotten", str(samples / "lisbon-trip.json"), *place).code == 0
    close_embedded()
    assert (is_private(database), is_private(folder)) == (True, True)
    assert told() == "nothing of the store is open to other users"
