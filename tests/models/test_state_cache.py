"""Evaluated prompts on disk: what is damaged or foreign goes, the folder stays bounded, several processes share it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from goalmem_cli.models.state_cache import DAY, StateCache, appearing_whole, model_cache, remove_parts

KEYS = tuple(f"{number:064x}" for number in range(6))
STATE = bytes(range(256)) * 4


@pytest.fixture
def cache(tmp_path: Path, notes: list[str]) -> StateCache:
    """A cache with room for five states or so, in a folder that is not there yet."""
    return StateCache(tmp_path / "deep" / "states", 6000, notes.append)


def save(cache: StateCache, key: str, state: bytes = STATE) -> Path:
    """Keep a state, and return its file."""
    cache.save(key, state, step="unify", model="Small", tokens=40)
    return cache.folder / f"{key}.state"


def kept(cache: StateCache) -> set[str]:
    """Return the keys of what is kept."""
    return {state.path.stem for state in cache.states()}


def age(path: Path, seconds: float) -> None:
    """Make a file look as if it was last used so long ago."""
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


def test_a_state_comes_back_in_another_process(cache: StateCache, notes: list[str]) -> None:
    """What is kept under a key is found under that key alone, by whoever looks into the folder."""
    path = save(cache, KEYS[0])
    other = StateCache(cache.folder, 6000, notes.append)
    assert (other.load(KEYS[0]), other.load(KEYS[1])) == (STATE, None)
    (listed,) = other.states()
    assert (listed.path, listed.step, listed.model, listed.tokens) == (path, "unify", "Small", 40)
    assert listed.size == path.stat().st_size > len(STATE)
    assert notes == [] and list(cache.folder.iterdir()) == [path]


def test_an_empty_state_and_odd_names_are_kept(cache: StateCache, notes: list[str]) -> None:
    """Line breaks, other scripts and names of any length in what a model says of itself do no harm."""
    for key, name in zip(KEYS, ("", "two\nlines", "模型 \ud800", "x" * 10_000, "日" * 10_000), strict=False):
        cache.save(key, STATE, step=name, model=name, tokens=1)
        assert cache.load(key) == STATE
    cache.save(KEYS[5], b"", step="s", model="m", tokens=0)
    assert cache.load(KEYS[5]) == b"" and notes == []


HEAD = json.dumps({"format": "goalmem state 1", "key": KEYS[0], "digest": "0"}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\0" * 5000,
        b"GGUF\x03\x00\x00\x00" * 100,
        b'{"format": "goalmem state 1"}\n' + STATE,
        b'{"format": "another program"}\n' + STATE,
        b"[" * 4095 + b"\n" + STATE,
        b"[]\n" + STATE,
        b"\xff\xfe\n" + STATE,
        HEAD + b"\n" + STATE,
        HEAD,
    ],
    ids=["empty", "blank", "zeros", "model", "no key", "foreign", "nested", "list", "no text", "digest", "head"],
)
def test_a_foreign_file_is_discarded(cache: StateCache, notes: list[str], content: bytes) -> None:
    """Whatever stands under the name: it is not used, it is removed, that is said, and a new state takes its place."""
    cache.folder.mkdir(parents=True)
    path = cache.folder / f"{KEYS[0]}.state"
    path.write_bytes(content)
    assert len(cache.states()) == 1
    assert cache.load(KEYS[0]) is None
    assert not path.exists()
    (note,) = notes
    assert note.startswith(f"discarded the cached prompt {path.name}: ")
    save(cache, KEYS[0])
    assert cache.load(KEYS[0]) == STATE and len(notes) == 1


@pytest.mark.parametrize("place", [0, 20, -1, -600])
def test_a_damaged_file_is_discarded(cache: StateCache, notes: list[str], place: int) -> None:
    """One flipped bit, in the head or in the state, is enough."""
    path = save(cache, KEYS[0])
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    assert cache.load(KEYS[0]) is None and not path.exists() and len(notes) == 1


@pytest.mark.parametrize("length", [0, 10, -1, 300])
def test_a_truncated_file_is_discarded(cache: StateCache, notes: list[str], length: int) -> None:
    """A file that ends early is not used."""
    path = save(cache, KEYS[0])
    path.write_bytes(path.read_bytes()[:length])
    assert cache.load(KEYS[0]) is None and not path.exists() and len(notes) == 1


def test_a_state_of_another_prompt_is_discarded(cache: StateCache, notes: list[str]) -> None:
    """A whole file under the name of another key is not taken for that one's."""
    path = save(cache, KEYS[0])
    path.rename(cache.folder / f"{KEYS[1]}.state")
    assert cache.load(KEYS[1]) is None and len(notes) == 1


def test_the_least_recently_used_goes(cache: StateCache, notes: list[str]) -> None:
    """Above the limit the state that was loaded or saved longest ago goes, and no more than needed."""
    for place, key in enumerate(KEYS[:4]):
        age(save(cache, key), 100 - place)
    assert kept(cache) == set(KEYS[:4])
    assert cache.load(KEYS[0]) == STATE
    save(cache, KEYS[4])
    assert kept(cache) == {KEYS[0], *KEYS[2:5]}
    assert sum(state.size for state in cache.states()) <= 6000 and notes == []


def test_the_state_just_written_stays(cache: StateCache) -> None:
    """Though clocks differ, and the others seem to be of the future, what was written last is not what goes."""
    for key in KEYS[:4]:
        age(save(cache, key), -1000)
    save(cache, KEYS[4])
    assert KEYS[4] in kept(cache) and len(kept(cache)) == 4


def test_a_state_larger_than_the_limit_is_not_kept(cache: StateCache, notes: list[str]) -> None:
    """It would drive out all others and be gone itself."""
    save(cache, KEYS[0])
    save(cache, KEYS[1], b"x" * 6001)
    assert kept(cache) == {KEYS[0]} and notes == []


def test_a_file_where_the_folder_should_be_is_said(tmp_path: Path, notes: list[str]) -> None:
    """Where nothing can be kept, loading and saving say so and go on; there is nothing to show or to clear."""
    (tmp_path / "states").write_text("in the way")
    cache = StateCache(tmp_path / "states", 6000, notes.append)
    assert cache.load(KEYS[0]) is None
    save(cache, KEYS[0])
    assert notes and all(str(tmp_path / "states") in note for note in notes)
    cache.clear()
    assert cache.states() == []
    assert (tmp_path / "states").read_text() == "in the way"


def test_a_folder_under_the_name_is_said(cache: StateCache, notes: list[str]) -> None:
    """A folder in a state's place is neither read nor removed."""
    (cache.folder / f"{KEYS[0]}.state").mkdir(parents=True)
    assert cache.load(KEYS[0]) is None
    save(cache, KEYS[0])
    assert len(notes) == 2 and [path.is_dir() for path in cache.folder.iterdir()] == [True]


def test_clearing_removes_states_and_parts_alone(cache: StateCache) -> None:
    """Clearing takes the leftovers of interrupted writes along, and leaves other files alone; twice is no error."""
    for key in KEYS[:2]:
        save(cache, key)
    (cache.folder / ".half-abc.part").write_bytes(b"half")
    (cache.folder / "notes.txt").write_text("mine")
    cache.clear()
    assert [path.name for path in cache.folder.iterdir()] == ["notes.txt"]
    cache.clear()


def test_old_parts_go_when_a_state_is_saved(cache: StateCache) -> None:
    """What another process may still be writing stays; what is older than a day goes."""
    cache.folder.mkdir(parents=True)
    new, old = cache.folder / "new.part", cache.folder / ".old.part"
    for path in (new, old):
        path.write_bytes(b"half")
    age(old, DAY + 60)
    age(new, DAY - 600)
    save(cache, KEYS[0])
    assert {path.name for path in cache.folder.iterdir()} == {"new.part", f"{KEYS[0]}.state"}
    remove_parts(cache.folder)
    assert not new.exists()
    remove_parts(cache.folder / "none")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_an_interrupted_write_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    """The file appears under its name when it is whole; until then, and after an error, the one before stays."""
    path = tmp_path / "kept.state"
    path.write_bytes(b"before")
    with pytest.raises(error), appearing_whole(path) as part:
        part.write_bytes(b"half")
        assert part.suffix == ".part" and path.read_bytes() == b"before"
        raise error
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"before"
    with appearing_whole(path) as part:
        part.write_bytes(b"after")
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"after"


WORKER = """
import sys
from pathlib import Path
from goalmem_cli.models.state_cache import StateCache
notes = []
cache = StateCache(Path(sys.argv[1]), 20_000, notes.append)
for turn in range(150):
    key = f"{(turn * int(sys.argv[2])) % 23:064x}"
    state = key.encode() * 30
    found = cache.load(key)
    assert found in (None, state), key
    cache.save(key, state, step="s", model="m", tokens=1)
    cache.states()
print(notes)
"""


def test_processes_share_a_folder(tmp_path: Path) -> None:
    """Several that save, load and evict at once get no error, no wrong state, and keep the bound."""
    commands = [[sys.executable, "-c", WORKER, str(tmp_path / "states"), str(step)] for step in (1, 5, 7)]
    running = [subprocess.Popen(each, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for each in commands]
    for process in running:
        out, err = process.communicate()
        assert (process.returncode, out, err) == (0, "[]\n", "")
    cache = StateCache(tmp_path / "states", 20_000)
    sizes = [state.size for state in cache.states()]
    assert sizes and sum(sizes) - max(sizes) <= 20_000
    assert all(path.suffix == ".state" for path in cache.folder.iterdir())


def test_the_cache_lies_in_the_users_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The folder is the platform's own for caches."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert model_cache() == tmp_path / "goalmem"
    assert StateCache.in_folder(model_cache(), 1).folder == model_cache() / "states"
