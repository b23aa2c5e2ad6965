"""Which bundled models are there, and which of them `--model bundled` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

from goalmem_cli.errors import ModelError, ModelMissing
from goalmem_cli.models.bundled import ADAPTERS, BUNDLED, BundledModel
from goalmem_cli.models.state_cache import model_cache
from goalmem_cli.models.weights.gguf import file_digest, read_header
from goalmem_cli.models.weights.lora import BASE_DIGEST
from goalmem_cli.models.weights.parts import GIGABYTE, Find, how_to_get, is_joined, join, joined_path, pieces

MEMORY_FILE, GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")

Reach = Callable[[str, int, int | None], None]
Watch = Callable[[str], AbstractContextManager[Reach]]
"""What shows how far a file is: opened with a name, then called with it, the bytes so far and in all."""


def _say_nothing(text: str) -> None:
    """Stand in for a note that nobody reads."""


def _reach_nothing(name: str, done: int, total: int | None) -> None:
    """Stand in for a progress that nobody watches."""


def _unwatched(name: str) -> AbstractContextManager[Reach]:  # noqa: ARG001
    return nullcontext(_reach_nothing)


@dataclass(frozen=True, slots=True)
class Choice:
    """The bundled model that is taken, and why no better one is, or nothing."""

    model: BundledModel
    why_not_better: str = ""


@dataclass(frozen=True, slots=True)
class Installation:
    """Where bundled models come from: the installed packages, the user's cache, the copies that the hub's cache has.

    `downloaded` returns the file that was downloaded for a model, None where none was; `free` the bytes of memory that
    are free, None where that is not known.
    """

    folder: Path
    find: Find = distribution
    downloaded: Callable[[BundledModel], Path | None] = lambda _: None
    free: Callable[[], int | None] = lambda: None

    def lacks(self, model: BundledModel) -> str:
        """Return why the model's file cannot be had, or nothing."""
        if self._is_kept(model):
            return ""
        try:
            pieces(model, self.find)
        except ModelError as error:
            return "" if self.downloaded(model) is not None else error.message
        return ""

    def choose(self, models: Mapping[str, BundledModel] = BUNDLED) -> Choice:
        """Return the best model that is there and fits into the memory that is free; of those there the last is taken
        in any case. One of which nothing is installed is passed over in silence.

        Raises:
            ModelMissing: none is there.
        """
        free, why = self.free(), ""
        lacks = {model.name: self.lacks(model) for model in models.values()}
        found = [model for model in models.values() if not lacks[model.name]]
        for model in models.values():
            if lacks[model.name]:
                is_begun = not lacks[model.name].endswith(f"{model.parts.package.format(n=1)} is missing")
                why = why or (lacks[model.name] if is_begun else "")
                continue
            is_last = model is found[-1]
            if is_last or free is None or model.memory <= free:
                return Choice(model, why)
            needs, has = f"{model.memory / GIGABYTE:.1f} GB", f"{free / GIGABYTE:.1f} GB"
            why = why or f"{model.name} needs {needs} of memory, and {has} are free"
        best, *_, least = [*models.values(), *models.values()]
        ways = "; a smaller one: ".join(dict.fromkeys((how_to_get(best), how_to_get(least))))
        raise ModelMissing(f"no bundled model is installed{f': {why}' if why else ''}", ways)

    def file(self, model: BundledModel, note: Callable[[str], None] = _say_nothing, watch: Watch = _unwatched) -> Path:
        """Return the model's file, put together where it lies in several packages; `watch` shows how far that is.

        Raises:
            ModelMissing, ModelUnreadable, ModelError: as `join`.
        """
        if model.parts.count == 1:
            return pieces(model, self.find)[0].path
        if self._is_kept(model):
            return joined_path(model, self.folder)
        if (downloaded := self.downloaded(model)) is not None:
            return downloaded
        with watch(model.name) as reach:
            return join(model, self.folder, note, partial(reach, model.name), find=self.find)

    def kept(self, model: BundledModel) -> Path | None:
        """Return the joined file of the model in the user's cache, None where it is not there."""
        return joined_path(model, self.folder) if self._is_kept(model) else None

    def _is_kept(self, model: BundledModel) -> bool:
        return model.parts.count > 1 and is_joined(model, self.folder)


def here(downloaded: Callable[[BundledModel], Path | None]) -> Installation:
    """Return what is installed on this machine."""
    return Installation(model_cache(), distribution, downloaded, free_memory)


def free_memory(system: Path = MEMORY_FILE, group: Path = GROUP) -> int | None:
    """Return how many bytes of memory are free for programs, None where the system does not tell.

    In a container that may take less than the machine has, that is what it may still take: Linux ends what takes more.
    """
    available = _number_in(system, "MemAvailable:")
    free = None if available is None else available * 1024
    limit, used, cached, shared = (
        _number_in(group / file, name)
        for file, name in (
            ("memory.max", ""), ("memory.current", ""), ("memory.stat", "file"), ("memory.stat", "shmem"),
        )
    )  # fmt: skip
    if limit is None or used is None:
        return free
    makes_way = max(0, (cached or 0) - (shared or 0))  # what is cached of files, but for files in memory alone
    left = max(0, limit - used + makes_way)
    return left if free is None else min(free, left)


def _number_in(path: Path, name: str) -> int | None:
    """Return the number in the line of the file that begins with the name, blank for the first; None for none."""
    try:
        lines = [line.split() for line in path.read_text("ascii").splitlines()]
    except OSError:
        return None
    told = next((line[bool(name)] for line in lines if len(line) > bool(name) and (not name or line[0] == name)), "")
    return int(told) if told.isdecimal() else None


def known(path: Path, models: Mapping[str, BundledModel] = BUNDLED) -> BundledModel | None:
    """Return the bundled model whose file that is, wherever it came from; None for any other."""
    size = path.stat().st_size if path.is_file() else 0
    for model in models.values():
        adapter = adapter_of(model)
        if model.size == size and adapter and read_header(adapter).values.get(BASE_DIGEST) == file_digest(path):
            return model
    return None


def adapter_of(model: BundledModel) -> Path | None:
    """Return goalmem's adapter for the model, None where the package has none."""
    path = ADAPTERS / model.adapter
    return path if path.is_file() else None
