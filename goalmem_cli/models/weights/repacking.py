"""The bundled model's weights in the form that llama.cpp computes fastest with, made once into the user's cache."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from goalmem_cli.errors import ModelError, ModelUnreadable
from goalmem_cli.models.native_log import native_log
from goalmem_cli.models.state_cache import DAY, appearing_whole, remove_parts
from goalmem_cli.models.weights.gguf import file_digest, read_header
from goalmem_cli.models.weights.lora import Adapter
from goalmem_cli.models.weights.merging import merge

WEIGHTS = "weights"
DIGITS = 32  # of an adapter's SHA-256
KIND = "Q8_0"
"""What the bundled model's weights become: see `goalmem bench speed --only model` and the README for the choice."""


def repacked(
    path: Path,
    folder: Path,
    note: Callable[[str], None] = lambda _: None,
    *,
    kind: str = KIND,
    adapter: Adapter | None = None,
    digest: str = "",
) -> Path:
    """Return the weights of the file at `path` quantised as `kind` (``Q4_0``, ``Q8_0``), made where they are not yet.

    With an adapter they are changed by it, and take the place of those changed by another. They lie in `folder`, under
    the hashes of the files that they were made from. `digest` is the SHA-256 that the file must have, where that is
    known: it is checked before anything is made. Where that folder cannot be written, or they cannot be made, the
    file itself is returned, and the reason said.
    """
    name = f"{path.stem.partition('.')[0]}-{file_digest(path)}-{kind}"
    made = folder / WEIGHTS / (f"{name}-{adapter.digest[:DIGITS]}.gguf" if adapter else f"{name}.gguf")
    try:
        if _is_usable(made, note):
            return made
        _check(path, digest)
        made.parent.mkdir(parents=True, exist_ok=True)
        _make(path, kind, made, adapter)
        _remove_others(made, f"{name}-")
    except OSError as error:
        note(f"the model runs as it is shipped, which is slower: {made.parent} cannot be used: {error.strerror}")
        return path
    except ModelUnreadable:
        raise
    except ModelError as error:
        note(f"the model runs as it is shipped, which is slower: {error.message}")
        return path
    model = "the bundled model and its adapter" if adapter else "the bundled model"
    note(f"repacked {model} as {kind}, which this processor computes faster: {made}")
    return made


def made_weights(folder: Path) -> list[tuple[Path, int]]:
    """Return the files of weights that were made into the folder, each with its size in bytes, by name."""
    made = []
    for path in sorted((folder / WEIGHTS).glob("*.gguf")):
        with suppress(OSError):  # another process may have removed it
            made.append((path, path.stat().st_size))
    return made


def clear(folder: Path) -> None:
    """Remove the weights that were made into the folder, and what interrupted making left.

    Raises:
        OSError: some cannot be removed.
    """
    for path in (folder / WEIGHTS).glob("*.gguf"):
        path.unlink(missing_ok=True)
    remove_parts(folder / WEIGHTS)


def discard(path: Path, reason: str, note: Callable[[str], None]) -> None:
    """Remove weights that were made here and cannot be used, and say why; they are made again the next time."""
    note(f"discarded the repacked model {path}: {reason}")
    with suppress(OSError):
        path.unlink()


def _is_usable(made: Path, note: Callable[[str], None]) -> bool:
    """Say whether the weights are there, as far as their header tells; those that are damaged are discarded."""
    if not made.exists():
        return False
    try:
        read_header(made)
    except ModelError as error:
        discard(made, error.message, note)
        return False
    return True


def _remove_others(made: Path, begin: str) -> None:
    """Remove the weights whose names begin so, other than those made: what an earlier version's adapter changed."""
    for path in made.parent.glob("*.gguf"):
        if path.name.startswith(begin) and path != made:
            with suppress(OSError):  # where a running process holds it, Windows keeps it: the next time will do
                path.unlink()


def _check(path: Path, digest: str) -> None:
    """Refuse a file that has another hash.

    Raises:
        ModelUnreadable: it has.
    """
    with path.open("rb") as file:
        if digest and hashlib.file_digest(file, "sha256").hexdigest() != digest:
            raise ModelUnreadable(f"{path} is another file than its publisher's", "install its package again")


def _make(path: Path, kind: str, made: Path, adapter: Adapter | None) -> None:
    """Quantise again into a file beside the one wanted, which then takes its name.

    Raises:
        OSError: the folder cannot be written.
        ModelError: llama.cpp does not do it, or the adapter is not for such weights.
    """
    import llama_cpp

    native_log()
    wanted = llama_cpp.llama_model_quantize_default_params()
    wanted.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{kind}")
    wanted.allow_requantize = True
    remove_parts(made.parent, DAY)
    with appearing_whole(made) as part:
        if llama_cpp.llama_model_quantize(os.fsencode(path), os.fsencode(part), ctypes.byref(wanted)):
            raise ModelError(f"llama.cpp does not make {kind} of {path}", "make room on the disk")
        if adapter:
            merge(part, adapter)
        read_header(part)
