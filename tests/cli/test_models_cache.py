"""`goalmem models cache`: what is kept of models, and clearing it."""

import json
import os
from pathlib import Path

import pytest

from goalmem_cli.config import load_settings
from goalmem_cli.loading import load_model
from goalmem_cli.models.state_cache import StateCache, model_cache
from tests.invoking import Goalmem
from tests.models.varied import chosen

pytestmark = pytest.mark.usefixtures("empty_cache")

MEGABYTES = 2048


@pytest.fixture
def filled() -> Path:
    """A cache with two evaluated prompts, weights, what an interrupt left, and a file of somebody else's."""
    folder = model_cache()
    states = StateCache.in_folder(folder, 2**30)
    for place, (key, step) in enumerate((("a" * 64, "decompose"), ("b" * 64, "unify"))):
        states.save(key, b"x" * 2**20, step=step, model="bundled", tokens=80)
        os.utime(states.folder / f"{key}.state", (1_700_000_000 + 86_400 * place,) * 2)
    (folder / "weights").mkdir()
    (folder / "weights" / "SmolLM2-abc-Q8_0.gguf").write_bytes(b"y" * 3 * 2**20)
    for part in (states.folder / ".half.part", folder / "weights" / "half.part"):
        part.write_bytes(b"half")
    (folder / "notes.txt").write_text("mine")
    return folder


def files(folder: Path) -> set[str]:
    """Return the names of all files in a folder and those below."""
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_nothing_kept_is_said(goalmem: Goalmem) -> None:
    """An empty cache is no error; the folder is named, and not made."""
    done = goalmem("models", "cache")
    assert (done.code, done.out) == (0, "")
    assert f"nothing is kept in {model_cache()}" in " ".join(done.err.split())
    assert not model_cache().exists()


def test_what_is_kept_is_shown(goalmem: Goalmem, filled: Path) -> None:
    """Each evaluated prompt is named by its step, the last used first, and the weights by what they became."""
    done = goalmem("models", "cache")
    assert done.code == 0
    rows = [line for line in done.out.splitlines() if " MB" in line]
    assert [("unify" in row, "decompose" in row, "weights" in row) for row in rows] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]
    assert "2023-11-1" in rows[0] and "3.0 MB" in rows[2] and "Q8_0" in rows[2]
    assert "5.0 MB" in done.err and "--clear" in done.err
    assert "half" not in done.out and "notes" not in done.out


def test_the_document_says_it_all(goalmem: Goalmem, filled: Path) -> None:
    """--json gives the folder, the bound in bytes, and for each file what it holds, its size, path and last use."""
    done = goalmem("models", "cache", "--json")
    document = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert (document["schema_version"], document["folder"]) == (1, str(filled))
    assert (document["limit"], document["is_cleared"]) == (MEGABYTES * 2**20, False)
    assert [file["what"] for file in document["files"]] == ["prompt unify", "prompt decompose", "weights as Q8_0"]
    for file in document["files"]:
        assert Path(file["path"]).stat().st_size == file["bytes"]
    assert document["files"][0]["last_used"] == 1_700_086_400


@pytest.mark.parametrize("words", [(), ("--json",), ("--quiet",)], ids=["plain", "json", "quiet"])
def test_clearing_removes_all_that_goalmem_made(goalmem: Goalmem, filled: Path, words: tuple[str, ...]) -> None:
    """Prompts, weights and leftovers go, what somebody else put there stays, and a second time there is nothing."""
    done = goalmem("models", "cache", "--clear", *words)
    assert done.code == 0
    assert files(filled) == {"notes.txt"}
    if "--json" in words:
        document = json.loads(done.out)
        assert document["is_cleared"] is True and len(document["files"]) == 3
    elif not words:
        assert "removed 3 files" in done.out + done.err
    again = goalmem("models", "cache", "--clear", "--json")
    assert json.loads(again.out)["files"] == []


def test_a_cache_that_cannot_be_cleared_is_an_error(goalmem: Goalmem, filled: Path) -> None:
    """What cannot be removed is an error of one line, with a hint."""
    (filled / "states" / "folder.part").mkdir()
    done = goalmem("models", "cache", "--clear", "--quiet")
    assert done.code == 4
    message, hint = done.error_lines
    assert str(filled) in message and hint


@pytest.mark.model
@pytest.mark.parametrize("limit", ["0", "2"])
def test_the_variable_bounds_what_is_kept(goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """GOALMEM_MODEL_CACHE=0 keeps no evaluated prompt, another number at most so many megabytes."""
    monkeypatch.setenv("GOALMEM_MODEL_CACHE", limit)
    monkeypatch.setenv("GOALMEM_ADAPTER", "none")  # which knows no such question
    settings = load_settings({"threads": 1, "context": 512}, os.environ)
    notes: list[str] = []
    loaded = load_model(settings, notes.append)
    for before in ("", "Now. "):
        assert loaded.model.complete([chosen("no", before)])[0].text == "no"
    loaded.close()
    document = json.loads(goalmem("models", "cache", "--json").out)
    assert document["limit"] == int(limit) * 2**20
    prompts = [file for file in document["files"] if file["what"] == "prompt choose"]
    assert len(prompts) == (limit != "0")
    assert sum(file["bytes"] for file in prompts) <= document["limit"]
    assert len(document["files"]) == len(prompts) + 1  # and the weights
    assert (model_cache() / "states").exists() == (limit != "0")
