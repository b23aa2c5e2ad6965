"""Find the bundled models that are installed, and choose the one for `--model bundled`."""

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
"""Opens a progress display for a name; the result is called with the name, the bytes so far and the total."""


def _say_nothing(text: str) -> None:
    """Ignore the note."""


def _reach_nothing(name: str, done: int, total: int | None) -> None:
    """Ignore the progress."""


def _unwatched(name: str) -> AbstractContextManager[Reach]:  # noqa: ARG001
    return nullcontext(_reach_nothing)


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen bundled model, and why no better one was chosen ("" if it is the best)."""

    model: BundledModel
    why_not_better: str = ""


@dataclass(frozen=True, slots=True)
class Installation:
    """The sources of bundled models: installed packages, the user's cache, and the hub's cache.

    `downloaded` returns the downloaded file of a model, or None. `free` returns the free memory in bytes, or None if
    unknown.
    """

    folder: Path
    find: Find = distribution
    downloaded: Callable[[BundledModel], Path | None] = lambda _: None
    free: Callable[[], int | None] = lambda: None

    def lacks(self, model: BundledModel) -> str:
        """Return why the model's file is not available, or "" if it is."""
        if self._is_kept(model):
            return ""
        try:
            pieces(model, self.find)
        except ModelError as error:
            return "" if self.downloaded(model) is not None else error.message
        return ""

    def choose(self, models: Mapping[str, BundledModel] = BUNDLED) -> Choice:
        """Return the best available model that fits into free memory; if none fits, the last available one.

        A model without any installed package is skipped silently.

        Raises:
            ModelMissing: no bundled model is available.
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
        """Return the model's file, joined first if several packages hold it; `watch` shows the progress.

        Raises:
            ModelMissing, ModelUnreadable, ModelError: as in `join`.
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
        """Return the model's joined file in the user's cache, or None."""
        return joined_path(model, self.folder) if self._is_kept(model) else None

    def _is_kept(self, model: BundledModel) -> bool:
        return model.parts.count > 1 and is_joined(model, self.folder)


def here(downloaded: Callable[[BundledModel], Path | None]) -> Installation:
    """Return the sources of bundled models on this machine."""
    return Installation(model_cache(), distribution, downloaded, free_memory)


def free_memory(system: Path = MEMORY_FILE, group: Path = GROUP) -> int | None:
    """Return how many bytes of memory programs can still take, or None if the system does not say.

    In a container with a lower limit, this is the rest of its limit: Linux kills processes that exceed it.
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
    makes_way = max(0, (cached or 0) - (shared or 0))  # the file cache without shared memory
    left = max(0, limit - used + makes_way)
    return left if free is None else min(free, left)


def _number_in(path: Path, name: str) -> int | None:
    """Return the number in the file's line that starts with `name` (the first line if ""), or None."""
    try:
        lines = [line.split() for line in path.read_text("ascii").splitlines()]
    except OSError:
        return None
    told = next((line[bool(name)] for line in lines if len(line) > bool(name) and (not name or line[0] == name)), "")
    return int(told) if told.isdecimal() else None


def known(path: Path, models: Mapping[str, BundledModel] = BUNDLED) -> BundledModel | None:
    """Return the bundled model with the same file, wherever the file came from, or None."""
    size = path.stat().st_size if path.is_file() else 0
    for model in models.values():
        adapter = adapter_of(model)
        if model.size == size and adapter and read_header(adapter).values.get(BASE_DIGEST) == file_digest(path):
            return model
    return None


def adapter_of(model: BundledModel) -> Path | None:
    """Return goalmem's adapter for the model, or None if the package has none."""
    path = ADAPTERS / model.adapter
    return path if path.is_file() else None
