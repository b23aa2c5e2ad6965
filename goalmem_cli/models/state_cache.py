"""Evaluated prompts on disk: a model's state after the fixed part of a step's prompt, for later processes.

A file is a line of JSON that describes it, then llama.cpp's state. A file that is damaged, foreign or of another prompt
is discarded with a note. The prompt is then evaluated again, which costs only time.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

FORMAT = "goalmem state 1"
SUFFIX = ".state"
MEGABYTE = 2**20
LONGEST_HEAD = 4096
LONGEST_NAME = 200  # at most about 1200 bytes of the head
PART = ".part"
DAY = 24 * 60 * 60


def model_cache() -> Path:
    """Return the folder of goalmem's cache; everything in it can be computed again."""
    return platformdirs.user_cache_path("goalmem", appauthor=False)


@dataclass(frozen=True, slots=True)
class CachedState:
    """One file of the cache: its `size` in bytes, its last use in seconds since 1970, and its description."""

    path: Path
    size: int
    used: float
    step: str = ""
    model: str = ""
    tokens: int = 0


class StateCache:
    """A folder of states of at most `limit` bytes; the least recently used are removed. Processes may share it."""

    def __init__(self, folder: Path, limit: int, note: Callable[[str], None] = lambda _: None) -> None:
        self.folder = folder
        self._limit = limit
        self._note = note

    @classmethod
    def in_folder(cls, cache: Path, limit: int, note: Callable[[str], None] = lambda _: None) -> StateCache:
        """Return the states in goalmem's cache folder."""
        return cls(cache / "states", limit, note)

    def load(self, key: str) -> bytes | None:
        """Return the state kept under the key, or None if there is no usable one."""
        path = self._path(key)
        try:
            with path.open("rb") as file:
                head = _head(file.readline(LONGEST_HEAD))
                state = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._note(f"the cached prompt {path} cannot be read: {error.strerror}")
            return None
        if head.get("key") != key or head.get("digest") != _digest(state):
            self.discard(key, "it is damaged, or not goalmem's")
            return None
        with suppress(OSError):  # a read-only folder is fine
            os.utime(path)
        return state

    def save(self, key: str, state: bytes, *, step: str, model: str, tokens: int) -> None:
        """Keep the state under the key, and remove the least recently used ones; one above the limit is not kept.

        A failure to write gives a note.
        """
        if len(state) > self._limit:
            return
        names = {"step": step[:LONGEST_NAME], "model": model[:LONGEST_NAME]}
        head = {"format": FORMAT, "key": key, **names, "tokens": tokens, "digest": _digest(state)}
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            remove_parts(self.folder, DAY)
            with appearing_whole(self._path(key)) as part, part.open("wb") as file:
                file.write(json.dumps(head).encode() + b"\n")
                file.write(state)
            self._shrink(self._path(key))
        except OSError as error:
            self._note(f"the evaluated prompt could not be kept in {self.folder}: {error.strerror}")

    def discard(self, key: str, reason: str) -> None:
        """Remove the state kept under the key and note the reason."""
        path = self._path(key)
        self._note(f"discarded the cached prompt {path.name}: {reason}")
        with suppress(OSError):
            path.unlink()

    def states(self) -> list[CachedState]:
        """Return the kept states, the least recently used first."""
        found = []
        for path in self.folder.glob(f"*{SUFFIX}"):
            with suppress(OSError):  # another process may have removed it
                about = path.stat()
                with path.open("rb") as file:
                    head = _head(file.readline(LONGEST_HEAD))
                said = {name: str(head.get(name, "")) for name in ("step", "model")}
                tokens = head.get("tokens", 0)
                count = tokens if isinstance(tokens, int) else 0
                found.append(CachedState(path, about.st_size, about.st_mtime, said["step"], said["model"], count))
        return sorted(found, key=lambda state: (state.used, state.path.name))

    def clear(self) -> None:
        """Remove every state and the leftovers of interrupted writes.

        Raises:
            OSError: one cannot be removed.
        """
        for state in self.states():
            state.path.unlink(missing_ok=True)
        remove_parts(self.folder)

    def _shrink(self, written: Path) -> None:
        """Delete the oldest states until the limit holds; the one just written stays."""
        states = self.states()
        spare = sum(state.size for state in states) - self._limit
        for state in states:
            if spare > 0 and state.path != written:
                state.path.unlink(missing_ok=True)
                spare -= state.size

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"


@contextmanager
def appearing_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary file next to `path` that is renamed to it when complete, and removed after an error.

    Raises:
        OSError: the file cannot be created or renamed.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}-", suffix=PART)
    os.close(descriptor)
    part = Path(name)
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def remove_parts(folder: Path, age: float = 0.0) -> None:
    """Remove leftovers of interrupted writes in the folder that are at least `age` seconds old.

    Raises:
        OSError: a file cannot be removed.
    """
    latest = time.time() - age
    for part in folder.glob(f"*{PART}"):
        with suppress(FileNotFoundError):  # another process removed it
            if part.stat().st_mtime <= latest:
                part.unlink()


def _head(line: bytes) -> dict[str, object]:
    """Return the head of a state's file; empty if it is not of this format."""
    try:
        head = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return head if isinstance(head, dict) and head.get("format") == FORMAT else {}


def _digest(state: bytes) -> str:
    return hashlib.sha256(state).hexdigest()
