"""The bundled model's weights made over into the user's cache: once, from whole files, and never in the way."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from goalmem_cli.config import Settings
from goalmem_cli.errors import ModelUnreadable
from goalmem_cli.loading import LoadedModel, load_model
from goalmem_cli.models.bundled import SMOLLM2
from goalmem_cli.models.state_cache import model_cache
from goalmem_cli.models.weights.gguf import file_digest, read_header
from goalmem_cli.models.weights.repacking import KIND, WEIGHTS, clear, discard, made_weights, repacked
from tests.models.conftest import small_gguf
from tests.models.varied import chosen

pytestmark = pytest.mark.usefixtures("empty_cache")


@pytest.fixture(scope="module")
def made_once(bundled_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights that were made; tests copy them."""
    return repacked(bundled_path, tmp_path_factory.mktemp("cache"))


def put(made_once: Path, folder: Path) -> Path:
    """Lay the weights into a cache as if they had been made there."""
    path = folder / WEIGHTS / made_once.name
    path.parent.mkdir(parents=True)
    shutil.copy(made_once, path)
    return path


@contextmanager
def loaded(notes: list[str], model: str = SMOLLM2.name) -> Iterator[LoadedModel]:
    """The model as the commands get it, over the user's cache, but for the adapter, which knows no other steps."""
    made = load_model(Settings(Path("store"), model=model, adapter="none", context=512, threads=1), notes.append)
    yield made
    made.close()


def test_the_weights_are_made_once(bundled_path: Path, tmp_path: Path, notes: list[str]) -> None:
    """They are made and said the first time; the second time the file is not touched and nothing is said."""
    made = repacked(bundled_path, tmp_path, notes.append)
    assert made.parent == tmp_path / WEIGHTS and made != bundled_path
    (note,) = notes
    assert KIND in note and str(made) in note
    before = made.stat()
    assert repacked(bundled_path, tmp_path, notes.append) == made
    after = made.stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino) and len(notes) == 1
    assert list(made.parent.iterdir()) == [made]
    assert made_weights(tmp_path) == [(made, before.st_size)]
    shipped, ours = read_header(bundled_path), read_header(made)
    assert ours.parameters == shipped.parameters
    assert ours.values["tokenizer.chat_template"] == shipped.values["tokenizer.chat_template"]


def test_another_source_or_kind_is_another_file(bundled_path: Path, made_once: Path, tmp_path: Path) -> None:
    """The name holds the hash of what they were made from, so that a new version of the package has its own."""
    put(made_once, tmp_path)
    other = tmp_path / bundled_path.name
    shutil.copy(bundled_path, other)
    with other.open("r+b") as file:
        file.seek(-2, os.SEEK_END)
        file.write(b"\0\0")
    first, second = repacked(bundled_path, tmp_path), repacked(other, tmp_path)
    assert first != second and file_digest(bundled_path) in first.name and file_digest(other) in second.name
    third = repacked(bundled_path, tmp_path, kind="Q4_0")
    assert len({first, second, third}) == 3 and third.stat().st_size < first.stat().st_size


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"GGUF", b"no weights", None], ids=["empty", "magic", "text", "half"])
def test_weights_that_are_not_whole_are_made_again(
    bundled_path: Path, made_once: Path, tmp_path: Path, notes: list[str], content: bytes | None
) -> None:
    """A file that is not what its name says is discarded and said, and made anew."""
    path = put(made_once, tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if content is None else content)
    assert repacked(bundled_path, tmp_path, notes.append) == path
    assert [note.split()[0] for note in notes] == ["discarded", "repacked"]
    assert path.read_bytes() == whole


def test_weights_that_cannot_be_loaded_are_discarded(made_once: Path, notes: list[str]) -> None:
    """What only llama.cpp finds damaged is removed and said; the file that is shipped runs, and the next time is good."""
    path = put(made_once, model_cache())
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 100)
    with loaded(notes) as model:
        assert model.model.complete([chosen("no")])[0].text == "no"
        shipped = model.digest
    assert len(notes) == 1 and notes[0].startswith(f"discarded the repacked model {path}: ")
    assert not path.exists()
    with loaded(notes) as model:
        assert model.digest != shipped
    assert len(notes) == 2 and path.exists()


def test_a_folder_that_cannot_be_written_is_said(bundled_path: Path, tmp_path: Path, notes: list[str]) -> None:
    """Where nothing can be made, the file that is shipped serves, and why is said."""
    for place in ("cache", WEIGHTS):
        (tmp_path / place).write_text("in the way")
    assert repacked(bundled_path, tmp_path / "cache", notes.append) == bundled_path
    assert repacked(bundled_path, tmp_path, notes.append) == bundled_path
    assert len(notes) == 2 and all("slower" in note and str(tmp_path) in note for note in notes)
    assert made_weights(tmp_path) == []


def test_what_llama_cpp_cannot_make_over_is_said(tmp_path: Path, notes: list[str]) -> None:
    """A file that it does not read is returned as it is, and leaves nothing behind."""
    source = tmp_path / "small.gguf"
    source.write_bytes(small_gguf())
    assert repacked(source, tmp_path / "cache", notes.append) == source
    assert len(notes) == 1 and "slower" in notes[0]
    assert list((tmp_path / "cache" / WEIGHTS).iterdir()) == []


def test_old_leftovers_go_when_weights_are_made(bundled_path: Path, tmp_path: Path) -> None:
    """What an interrupted process left goes after a day; clearing takes every leftover, and no other file."""
    folder = tmp_path / WEIGHTS
    folder.mkdir()
    old, new, other = folder / ".old.part", folder / "new.part", folder / "notes.txt"
    for path in (old, new, other):
        path.write_bytes(b"half")
    moment = time.time() - 2 * 24 * 60 * 60
    os.utime(old, (moment, moment))
    made = repacked(bundled_path, tmp_path)
    assert set(folder.iterdir()) == {new, other, made}
    clear(tmp_path)
    assert list(folder.iterdir()) == [other]
    clear(tmp_path / "none")


def test_discarding_what_has_gone_is_no_error(tmp_path: Path, notes: list[str]) -> None:
    """Another process may have been faster."""
    discard(tmp_path / "none.gguf", "why", notes.append)
    assert len(notes) == 1


def test_the_bundled_model_runs_repacked(bundled_path: Path, notes: list[str]) -> None:
    """The first process makes the weights and says so, the second finds them and says nothing; both say the same."""
    replies = []
    for _ in range(2):
        with loaded(notes) as model:
            replies += model.model.complete([chosen("no")])
            assert model.name == "smollm2-135m" and model.profile == "compact"
            assert model.digest != file_digest(bundled_path)
    assert [note.split()[0] for note in notes] == ["repacked"]
    assert replies[0].text == replies[1].text == "no"
    assert (replies[0].cached_tokens, replies[1].cached_tokens > 32) == (0, True)


def test_a_model_named_by_its_path_runs_as_it_is(bundled_path: Path, tmp_path: Path, notes: list[str]) -> None:
    """Whoever names a file has chosen its weights; a damaged one is an error, and is not removed."""
    copy = tmp_path / "mine.gguf"
    shutil.copy(bundled_path, copy)
    for path in (bundled_path, copy):
        with loaded(notes, str(path)) as model:
            assert model.digest == file_digest(bundled_path)
    with copy.open("r+b") as file:
        file.truncate(copy.stat().st_size - 100)
    with pytest.raises(ModelUnreadable):
        load_model(Settings(Path("store"), model=str(copy), threads=1), notes.append)
    assert copy.exists() and notes == [] and made_weights(model_cache()) == []
