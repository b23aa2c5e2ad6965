"""Requantise the bundled weights into the form that llama.cpp computes fastest, once, in the user's cache."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import ModelError, ModelUnreadable
from goalmem_cli.models.native_log import native_log
from goalmem_cli.models.state_cache import DAY, appearing_whole, remove_parts
from goalmem_cli.models.weights.gguf import GgufHeader, Tensor, file_digest, read_header
from goalmem_cli.models.weights.lora import Adapter

Q8_0 = 8
FLOATS: Mapping[int, str] = {0: "<f4", 1: "<f2"}
BLOCK = np.dtype([("scale", "<f2"), ("values", "i1", (32,))])
MOST = 127
FIRST, SECOND = ".lora_a", ".lora_b"
HINT = "apply the adapter as it is"


def merge(weights: Path, adapter: Adapter) -> None:
    """Apply the adapter to the weights in the file, in place. All weights that it changes must be Q8_0.

    Raises:
        ModelError: the file lacks a tensor that the adapter changes, or has it in another type or shape.
        OSError: the file cannot be written.
    """
    header, changes = read_header(weights), read_header(adapter.path)
    alpha = changes.values.get("adapter.lora.alpha")
    if not isinstance(alpha, float):
        raise ModelError(f"{adapter.path} does not say its alpha", HINT)
    whole = np.memmap(weights, dtype=np.uint8, mode="r+")
    for name in (each.removesuffix(FIRST) for each in changes.tensors if each.endswith(FIRST)):
        first, second = (_floats(changes, name + part) for part in (FIRST, SECOND))
        tensor = header.tensors.get(name)
        if tensor is None or tensor.kind != Q8_0 or tensor.shape != (first.shape[1], second.shape[0]):
            raise ModelError(f"{adapter.path} changes {name}, which {weights} has not in that shape as Q8_0", HINT)
        blocks = _blocks(whole, tensor)
        change = second @ first * np.float32(adapter.scale * alpha / len(first))
        blocks[:] = _quantized(_plain(blocks) + change)
    whole.flush()


def _floats(header: GgufHeader, name: str) -> NDArray[np.float32]:
    """Return an adapter's tensor as a (rows, columns) matrix."""
    tensor = header.tensors.get(name)
    if tensor is None or tensor.kind not in FLOATS or len(tensor.shape) != 2:
        raise ModelError(f"{header.path} has no matrix {name} of plain numbers", HINT)
    columns, rows = tensor.shape
    found = np.memmap(header.path, FLOATS[tensor.kind], mode="r", offset=tensor.start, shape=(rows, columns))
    return found.astype(np.float32)


def _blocks(whole: NDArray[np.uint8], tensor: Tensor) -> NDArray[np.void]:
    """Return a writable view of a tensor's blocks, of shape (rows, columns / 32)."""
    columns, rows = tensor.shape
    shape = rows, columns // len(np.zeros((), BLOCK)["values"])
    return whole[tensor.start :][: shape[0] * shape[1] * BLOCK.itemsize].view(BLOCK).reshape(shape)


def _plain(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Return the (rows, columns) numbers that the blocks encode."""
    numbers = blocks["values"].astype(np.float32) * blocks["scale"].astype(np.float32)[..., None]
    return numbers.reshape(len(blocks), -1)


def _quantized(numbers: NDArray[np.float32]) -> NDArray[np.void]:
    """Return the blocks nearest to (rows, columns) numbers; the largest of each block becomes 127, as in llama.cpp."""
    parts = numbers.reshape(len(numbers), -1, 32)
    scale = np.abs(parts).max(axis=-1) / np.float32(MOST)
    factor = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    blocks = np.zeros(scale.shape, dtype=BLOCK)
    blocks["scale"], blocks["values"] = scale, np.rint(parts * factor[..., None])
    return blocks


WEIGHTS = "weights"
DIGITS = 32  # of an adapter's SHA-256
KIND = "Q8_0"
"""The quantisation of the repacked weights; the manual's page of figures has what others gave."""


def repacked(
    path: Path,
    folder: Path,
    note: Callable[[str], None] = lambda _: None,
    *,
    kind: str = KIND,
    adapter: Adapter | None = None,
    digest: str = "",
) -> Path:
    """Return the weights of the file at `path` requantised as `kind` (``Q4_0``, ``Q8_0``), creating them if needed.

    With an adapter, it is merged in, and weights merged with another adapter are removed. The result is in `folder`,
    named by the hashes of its sources. `digest` is the expected SHA-256 of the file, checked first. If the result
    cannot be made, `note` says why and `path` is returned.

    Raises:
        ModelUnreadable: the file at `path` has another hash.
    """
    name = f"{path.stem.partition('.')[0]}-{file_digest(path)}-{kind}"
    made = folder / WEIGHTS / (f"{name}-{adapter.digest[:DIGITS]}.gguf" if adapter else f"{name}.gguf")
    try:
        if _is_usable(made, note):
            return made
        _check(path, digest)
        made.parent.mkdir(parents=True, exist_ok=True)
        _make(path, kind, made, adapter)
        if adapter:
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
    """Return the repacked files in the folder with their sizes in bytes, by name."""
    made = []
    for path in sorted((folder / WEIGHTS).glob("*.gguf")):
        with suppress(OSError):  # another process may have removed it
            made.append((path, path.stat().st_size))
    return made


def clear(folder: Path) -> None:
    """Remove the repacked files in the folder and the leftovers of interruptions.

    Raises:
        OSError: a file cannot be removed.
    """
    for path in (folder / WEIGHTS).glob("*.gguf"):
        path.unlink(missing_ok=True)
    remove_parts(folder / WEIGHTS)


def discard(path: Path, reason: str, note: Callable[[str], None]) -> None:
    """Remove repacked weights that cannot be used and note the reason; they are made again next time."""
    note(f"discarded the repacked model {path}: {reason}")
    with suppress(OSError):
        path.unlink()


def _is_usable(made: Path, note: Callable[[str], None]) -> bool:
    """Say whether the weights exist and have a valid header; damaged ones are discarded."""
    if not made.exists():
        return False
    try:
        read_header(made)
    except ModelError as error:
        discard(made, error.message, note)
        return False
    return True


def _remove_others(made: Path, begin: str) -> None:
    """Remove other weights whose names start with `begin`, left from an earlier version's adapter."""
    for path in made.parent.glob("*.gguf"):
        if path.name.startswith(begin) and path != made:
            with suppress(OSError):  # Windows keeps a file in use; it is removed next time
                path.unlink()


def _check(path: Path, digest: str) -> None:
    """Check the hash of a file.

    Raises:
        ModelUnreadable: the hash is wrong.
    """
    with path.open("rb") as file:
        if digest and hashlib.file_digest(file, "sha256").hexdigest() != digest:
            raise ModelUnreadable(f"{path} is another file than its publisher's", "install its package again")


def _make(path: Path, kind: str, made: Path, adapter: Adapter | None) -> None:
    """Requantise into a temporary file, which then takes the name `made`.

    Raises:
        OSError: the folder cannot be written.
        ModelError: llama.cpp fails, or the adapter does not fit the weights.
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
