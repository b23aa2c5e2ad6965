"""Runs the command line in this process, and keeps what it wrote."""

import io
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from goalmem_cli.config import Settings
from goalmem_cli.main import run
from goalmem_cli.testing import HashEmbedder, Reply, ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def error_lines(self) -> list[str]:
        """The lines of an error, which are two: what happened, what to do."""
        lines = self.err.splitlines()
        assert len(lines) == 2, self.err
        assert lines[0].startswith("error: ")
        assert lines[1].startswith("hint: ")
        return [lines[0].removeprefix("error: "), lines[1].removeprefix("hint: ")]


class Goalmem(Protocol):
    """The command `goalmem`."""

    def __call__(self, *words: str, stdin: bytes | None = None, factories: Factories | None = None) -> Outcome:
        """Run it with the words after its name."""
        ...


@pytest.fixture
def goalmem(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Goalmem:
    """The command, its store in the test's own folder."""
    monkeypatch.setenv("GOALMEM_STORE", str(tmp_path / "store"))

    def call(*words: str, stdin: bytes | None = None, factories: Factories | None = None) -> Outcome:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = run(list(words), factories)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture(params=["folder", "milvus"])
def either(
    goalmem: Goalmem, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Goalmem]:
    """The command over an empty memory in a folder, and over one in an embedded database."""
    from goalmem_cli.milvus.embedded import close_embedded

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    if request.param == "milvus":
        monkeypatch.setenv("GOALMEM_STORE", f"milvus:{tmp_path / 'database'}")
    yield goalmem
    close_embedded()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to the test's own folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def momoco_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the store is that the first test which needs the Momoco conversation makes, for others to copy."""
    return tmp_path_factory.mktemp("momoco") / "store"


@pytest.fixture
def momoco(goalmem: Goalmem, momoco_store: Path, samples: Path, tmp_path: Path) -> Goalmem:
    """The command over a store of the test's own that holds the Momoco conversation."""
    if not momoco_store.exists():
        words = ("ingest", str(samples / "momoco.json"), "--quiet", "--store", str(momoco_store))
        assert goalmem(*words).code == 0
    shutil.copytree(momoco_store, tmp_path / "store")
    return goalmem


def scripted(*replies: Reply) -> Factories:
    """Return factories whose model answers from these replies; everything else is real."""
    return Factories(model=lambda _: LoadedModel(ScriptedModel(replies), "scripted", "full", 8192))


def seeing(model: Callable[[Settings], Any]) -> Factories:
    """Return factories that build the model by the function."""
    return Factories(model=model)


def hashing(seen: list[str]) -> Factories:
    """Return factories with a fake embedder; the names asked for are kept in `seen`."""

    def embedder(name: str) -> HashEmbedder:
        seen.append(name)
        return HashEmbedder(dimension=64 if name in ("static", "multilingual") else 32, name=name)

    return Factories(embedder=embedder)


def words_of(*lines: Sequence[str]) -> str:
    """Return the lines as one text of single blanks, to compare whatever wraps."""
    return " ".join(" ".join(line) for line in lines)
