"""`goalmem warm`: the model stays loaded in another process, and answers stay the same."""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from goalmem_cli.config import load_settings
from goalmem_cli.loading import kept_warm
from goalmem_cli.models.catalogue import resolve
from goalmem_cli.models.servers import warm
from goalmem_cli.models.servers.warm import WarmModel, held
from goalmem_cli.models.state_cache import model_cache
from tests.conftest import SAMPLES
from tests.invoking import Goalmem

QUESTION = "When did Nora give Ben a bamboo whisk?"


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache of the test's own, short enough for a socket, with the weights that all tests share."""
    shared = model_cache() / "weights"
    with tempfile.TemporaryDirectory(prefix="warm") as home:
        (Path(home) / "goalmem").mkdir()
        (Path(home) / "goalmem" / "weights").symlink_to(shared)
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        yield
        try:
            warm.stop()
        except warm.Gone:
            return
        while warm.held() is not None:
            time.sleep(0.02)


def trace_of(goalmem: Goalmem, *words: str) -> dict[str, object]:
    """Return what `ask --json` says, without what differs between any two runs."""
    done = goalmem("ask", QUESTION, "--json", "--threads", "1", *words)
    assert done.code == 0, done.err
    trace = json.loads(done.out)
    return {key: trace[key] for key in ("status", "answer", "certainty", "evidence", "model", "adapter")}


@pytest.mark.model
def test_a_warm_model_answers_alike(goalmem: Goalmem) -> None:
    """The same answer with the same certainty, from a process that this one does not own."""
    goalmem("ingest", str(SAMPLES / "momoco.json"))
    cold = trace_of(goalmem)
    done = goalmem("warm", "--threads", "1")
    assert done.code == 0, done.err
    assert "smollm2-135m is loaded" in done.out
    about = held()
    assert about is not None
    assert about.process != os.getpid()
    loaded = kept_warm(load_settings({"threads": 1}, os.environ))
    assert loaded is not None
    assert isinstance(loaded.model, WarmModel)
    assert trace_of(goalmem) == cold
    assert "smollm2-135m is kept warm already" in goalmem("warm", "--threads", "1").out
    assert goalmem("warm", "--stop").out.strip() == "the model is unloaded"
    assert goalmem("warm", "--stop").out.strip() == "no model is kept warm"
    assert trace_of(goalmem) == cold


@pytest.mark.model
def test_only_the_model_that_is_meant_is_used(goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """`bundled` takes the warm one, whichever it is; other settings, and another model, do not, and that is said."""
    assert goalmem("warm", "--threads", "1").code == 0
    heard: list[str] = []
    environment = {**os.environ, "GOALMEM_MODEL": "bundled"}
    bundled = kept_warm(load_settings({"threads": 1}, environment), heard.append)
    assert bundled is not None
    assert (bundled.name, heard) == ("smollm2-135m", [])
    assert kept_warm(load_settings({"context": 1024, "threads": 1}, os.environ), heard.append) is None
    assert heard == ["smollm2-135m is kept warm with other weights or settings, so the model is loaded here"]
    assert kept_warm(load_settings({"model": "qwen-1.5b", "threads": 1}, os.environ), heard.append) is None
    assert len(heard) == 1
    done = goalmem("warm", "--context", "1024")
    assert (done.code, done.error_lines) == (
        2, ["smollm2-135m is kept warm already, with other settings", "goalmem warm --stop first"],
    )  # fmt: skip


@pytest.mark.model
def test_a_process_that_cannot_load_says_why(goalmem: Goalmem, tmp_path: Path) -> None:
    """The error of the process is the command's own, and nothing is left running."""
    nothing = tmp_path / "nothing.gguf"
    nothing.write_bytes(b"GGUF")
    done = goalmem("warm", "--adapter", str(nothing))
    assert done.code == 4
    assert done.error_lines[0].startswith("the model could not be kept warm: ")
    assert "nothing.gguf" in done.error_lines[0]
    assert held() is None


@pytest.mark.model
def test_two_at_once_load_one_model(goalmem: Goalmem, tmp_path: Path) -> None:
    """While one loads, another is refused before it loads anything, here an adapter that is none."""
    (tmp_path / "none.gguf").write_bytes(b"GGUF")
    with warm.only_one():
        done = goalmem("warm", "--adapter", str(tmp_path / "none.gguf"))
    assert done.error_lines == [
        "the model could not be kept warm: another process keeps a model warm already, or loads one now",
        "goalmem warm --stop ends it",
    ]


@pytest.mark.model
def test_modules_of_the_folder_are_not_run(goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process imports nothing from where the command was typed, such as a folder of downloads."""
    (tmp_path / "typer.py").write_text("raise SystemExit('this was run')")
    monkeypatch.chdir(tmp_path)
    done = goalmem("warm", "--threads", "1")
    assert done.code == 0, done.err


@pytest.mark.model
def test_a_file_is_the_same_from_any_folder(goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path and the whole one name one model, which its weights tell; other weights of that name are others."""
    file, there = tmp_path / "m [b].gguf", tmp_path / "there"
    file.symlink_to(resolve("smollm2-135m").path)
    there.mkdir()
    (there / file.name).write_bytes(file.read_bytes() + b"0")
    monkeypatch.chdir(tmp_path)
    done = goalmem("warm", "--threads", "1", "--model", "m [b].gguf")
    assert done.out.startswith("m [b].gguf is loaded"), done.err
    monkeypatch.chdir(there)
    for name in (str(file), "../m [b].gguf"):
        assert kept_warm(load_settings({"threads": 1, "model": name}, os.environ)) is not None
    assert kept_warm(load_settings({"threads": 1, "model": "m [b].gguf"}, os.environ)) is None


def test_a_server_keeps_its_own_model(goalmem: Goalmem) -> None:
    """There is nothing to keep for an address."""
    done = goalmem("warm", "--model", "http://127.0.0.1:9/v1")
    assert (done.code, done.error_lines[0]) == (2, "the model is a server's, which keeps it loaded itself")
