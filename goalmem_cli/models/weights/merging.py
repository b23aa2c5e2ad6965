"""Merge a LoRA adapter into weights in Q8_0, so that it costs nothing at run time.

Otherwise llama.cpp multiplies the adapter's matrices for every token. Reading prompts then takes a quarter to a half
longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import ModelError
from goalmem_cli.models.weights.gguf import GgufHeader, Tensor, read_header
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
