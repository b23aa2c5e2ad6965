"""`goalmem doctor`: what it finds, what it says to do, and which of it counts as wrong."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goalmem_cli.cli.doctor import lacking
from goalmem_cli.errors import ModelMissing
from goalmem_cli.ports import Vectors
from goalmem_cli.store.health import look_at_disk, write_refusal
from goalmem_cli.store.indexes.derived import Manifest
from goalmem_cli.wiring import Factories
from tests.conftest import CHECKOUT, SAMPLES
from tests.invoking import Goalmem, Outcome, hashing, seeing

NAMES = [
    "python", "installation", "bundled", "memory", "minilm", "variables", "user file", "store file", "folder", "privacy", "disk",
    "downloads",
    "embedder", "model", "prompts", "store", "indexes",
]  # fmt: skip

HOLD = """
import sys
import duckdb
connection = duckdb.connect(sys.argv[1])
print("holding", flush=True)
sys.stdin.readline()
"""

AS_NOBODY = """
import os, sys
from goalmem_cli.main import run
words = ["doctor", "--json", "--store", sys.argv[1]]
sys.stdout = open(os.devnull, "w")  # the first run loads every library, which nobody might not be allowed to read
run(words)
sys.stdout = sys.__stdout__
os.seteuid(65534) if os.geteuid() == 0 else None
sys.exit(run(words))
"""


class SilentEmbedder:
    """An embedder whose model says nothing of any text."""

    name = "static"
    dimension = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return only zeros."""
        return np.zeros((len(texts), self.dimension), dtype=np.float32)


def found(outcome: Outcome) -> dict[str, dict[str, Any]]:
    """The findings of `doctor --json` by name."""
    return {finding["name"]: finding for finding in json.loads(outcome.out)["findings"]}


def wrong(outcome: Outcome) -> list[str]:
    """The names of what is wrong."""
    return [name for name, finding in found(outcome).items() if finding["status"] == "WRONG"]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can look into, unlike the tests' own."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.model
def test_all_is_well_where_all_is_well(momoco: Goalmem) -> None:
    """Every look is listed with its state; --full adds one; nothing wrong is exit 0."""
    outcome = momoco("doctor", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert list(found(outcome)) == NAMES
    assert {finding["status"] for finding in found(outcome).values()} <= {"ok", "note"}
    assert all(found(outcome)[name]["status"] == "ok" for name in ("folder", "embedder", "store", "indexes"))
    document = json.loads(outcome.out)
    assert {"schema_version", "goalmem", "python", "system", "libraries", "findings"} == set(document)
    full = momoco("doctor", "--full", "--json")
    assert (full.code, list(found(full))[-1], found(full)["rows"]["text"]) == (0, "rows", "sound")


@pytest.mark.model
def test_a_machine_without_a_store_is_well(goalmem: Goalmem, tmp_path: Path) -> None:
    """A store that does not exist yet is nothing wrong, and looking makes none."""
    outcome = goalmem("doctor", "--full", "--json")
    assert outcome.code == 0
    assert "can be made in" in found(outcome)["folder"]["text"]
    assert found(outcome)["indexes"]["text"] == found(outcome)["rows"]["text"] == "none yet"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.model
def test_a_misspelt_variable_is_a_note(momoco: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that nothing reads is said with the one that was meant, and is not wrong."""
    monkeypatch.setenv("GOALMEM_MODLE", "mine")
    outcome = momoco("doctor", "--json")
    assert (outcome.code, found(outcome)["variables"]["status"]) == (0, "note")
    assert "GOALMEM_MODLE" in found(outcome)["variables"]["text"]
    assert "GOALMEM_MODEL" in found(outcome)["variables"]["hint"]
    assert "note" in momoco("doctor").out


@pytest.mark.model
def test_a_lock_is_named_at_once(momoco: Goalmem, tmp_path: Path) -> None:
    """A store that another process holds is exit 3 with that process's number, and nothing waits for it."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "store" / "memory.duckdb")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "holding\n"
        outcome = momoco("doctor", "--full", "--json")
        process.stdin.close()
    assert (outcome.code, outcome.err, wrong(outcome)) == (3, "", ["store"])
    assert str(process.pid) in found(outcome)["store"]["text"]
    assert found(outcome)["embedder"]["status"] == "note"


@pytest.mark.model
def test_a_damaged_store_is_said_once(momoco: Goalmem, tmp_path: Path) -> None:
    """What cannot be opened is wrong in one line; what depends on it is not looked at."""
    (tmp_path / "store" / "memory.duckdb").write_bytes(b"garbage" * 1000)
    outcome = momoco("doctor", "--json")
    assert (outcome.code, wrong(outcome)) == (3, ["store"])
    assert found(outcome)["store"]["hint"]


@pytest.mark.model
@pytest.mark.slow
def test_an_index_that_is_behind_is_a_note(momoco: Goalmem, tmp_path: Path) -> None:
    """The next command mends it, so it is not wrong; a comparison of all rows says that it is."""
    folder = tmp_path / "store" / "vectors"
    manifest = Manifest.from_file(folder)
    assert manifest is not None
    replace(manifest, generation=manifest.generation - 1).write(folder)
    outcome = momoco("doctor", "--json")
    assert (outcome.code, found(outcome)["indexes"]["status"]) == (0, "note")
    assert (
        f"vectors is at change {manifest.generation - 1} of {manifest.generation}" in found(outcome)["indexes"]["text"]
    )
    (folder / "manifest.json").unlink()
    assert "vectors is missing" in found(momoco("doctor", "--json"))["indexes"]["text"]
    full = momoco("doctor", "--full", "--json")
    assert (full.code, wrong(full)) == (3, ["rows"])
    assert momoco("stores", "rebuild").code == 0
    assert found(momoco("doctor", "--json"))["indexes"]["status"] == "ok"


def test_an_embedder_that_says_nothing_is_wrong(momoco: Goalmem) -> None:
    """Zeros are found before anything is stored with them."""
    outcome = momoco("doctor", "--json", factories=Factories(embedder=lambda _: SilentEmbedder()))
    assert (outcome.code, found(outcome)["embedder"]["status"]) == (4, "WRONG")
    assert "only zeros" in found(outcome)["embedder"]["text"]


@pytest.mark.model
def test_another_embedder_than_the_store_s_is_wrong(momoco: Goalmem) -> None:
    """The same name with other vectors, and another name, are both told from the store's own."""
    same_name = momoco("doctor", "--json", factories=hashing([]))
    assert (same_name.code, wrong(same_name)) == (3, ["embedder"])
    outcome = momoco("doctor", "--json", "--embedder", "other", factories=hashing([]))
    assert (outcome.code, wrong(outcome)) == (3, ["indexes"])


def test_the_first_thing_that_is_wrong_decides(momoco: Goalmem, tmp_path: Path) -> None:
    """Several things can be wrong: the exit code is the first one's, and all are shown."""

    def refuse(_: object) -> Any:
        raise ModelMissing("no model", "get one")

    (tmp_path / "store" / "memory.duckdb").write_bytes(b"garbage" * 1000)
    outcome = momoco("doctor", "--json", factories=seeing(refuse))
    assert (outcome.code, wrong(outcome)) == (4, ["model", "store"])
    assert "WRONG  no model; get one" in momoco("doctor", factories=seeing(refuse)).out


def test_a_library_that_cannot_be_loaded_is_a_finding(momoco: Goalmem) -> None:
    """A broken installation is what one asks the doctor about, and no traceback."""

    def refuse(_: object) -> Any:
        raise ImportError("libllama.so: cannot open shared object file")

    outcome = momoco("doctor", "--json", factories=seeing(refuse))
    assert (outcome.code, wrong(outcome)) == (2, ["model"])
    assert "libllama.so" in found(outcome)["model"]["text"]


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("duckdb>=2.0", ""),
        ("duckdb>=2", ""),
        ("duckdb>=99.1", "99.1 or newer"),
        ("no-such-library>=0.1", "not installed"),
        ('no-such-library>=0.1; extra == "bundled"', ""),
    ],
)
def test_requirements_are_compared_with_what_is_installed(requirement: str, said: str) -> None:
    """A library that is missing or older is said; one of an extra is a matter of choice."""
    assert bool(lacking(requirement)) == bool(said)
    assert said in lacking(requirement)


@pytest.mark.model
def test_a_file_where_the_folder_should_be_is_wrong(goalmem: Goalmem, tmp_path: Path) -> None:
    """A store inside a file can be neither made nor written."""
    (tmp_path / "file").write_text("in the way")
    outcome = goalmem("doctor", "--json", "--store", str(tmp_path / "file" / "store"))
    assert (outcome.code, wrong(outcome)) == (3, ["folder"])
    assert str(tmp_path / "file") in found(outcome)["folder"]["text"]
    assert found(outcome)["folder"]["hint"]


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["folder", "file"])
def test_what_may_not_be_written_is_wrong(open_folder: Path, closed: str) -> None:
    """Without the right to write, to the folder or to the database in it, the doctor says so, exit 3."""
    store = open_folder / "store"
    environment = {**os.environ, "XDG_CONFIG_HOME": str(open_folder), "HF_HOME": str(open_folder / "hub")}
    ingest = [sys.executable, "-m", "goalmem_cli", "ingest", str(SAMPLES / "momoco.json"), "--store", str(store)]
    subprocess.run(ingest, cwd=CHECKOUT, env=environment, check=True, capture_output=True)
    store.chmod(0o555 if closed == "folder" else 0o777)
    (store / "memory.duckdb").chmod(0o444 if closed == "file" else 0o666)
    command = [sys.executable, "-c", AS_NOBODY, str(store)]
    run = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    store.chmod(0o755)
    assert run.returncode == 3, run.stderr
    folder = found(Outcome(3, run.stdout, ""))["folder"]
    assert folder["status"] == "WRONG"
    assert ("Permission denied" if closed == "folder" else "no access to memory.duckdb") in folder["text"]


def test_a_folder_of_downloads_that_cannot_be_written_is_a_note(tmp_path: Path) -> None:
    """Nothing but a download needs it."""
    (tmp_path / "file").write_text("in the way")
    environment = {**os.environ, "GOALMEM_STORE": str(tmp_path / "store"), "HF_HOME": str(tmp_path / "file" / "hub")}
    command = [sys.executable, "-m", "goalmem_cli", "doctor", "--json"]
    run = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    downloads = found(Outcome(run.returncode, run.stdout, run.stderr))["downloads"]
    assert (run.returncode, downloads["status"]) == (0, "note")
    assert "HF_HOME" in downloads["hint"]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a file system without room")
def test_a_full_disk_is_a_note() -> None:
    """Where less is free than the store takes, or than it soon will, forgetting could not write it anew."""
    finding = look_at_disk(Path("/proc/nothing"))
    assert finding.status == "note"
    assert "forgetting" in finding.hint
    assert write_refusal(Path("/proc/nothing")) is not None


def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    """Whether a folder can be written is tried with a file that has no name."""
    assert write_refusal(tmp_path / "a" / "b") is None
    assert list(tmp_path.iterdir()) == []
