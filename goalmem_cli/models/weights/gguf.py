"""Read the header of a GGUF file to identify the model and check that the file is complete.

The header is checked before llama.cpp sees the file, so that a truncated or foreign file gives a clear error. Only the
header is read.
"""

from __future__ import annotations

import hashlib
import math
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from goalmem_cli.errors import ModelMissing, ModelUnreadable

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_DIMENSIONS = 4
MAX_ENTRIES = 1 << 22  # above any real vocabulary, so that a damaged length cannot make the loop run for hours
STRING, ARRAY = 8, 9
SCALARS = {
    number: struct.Struct(form)
    for number, form in {
        0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
    }.items()
}  # fmt: skip
UINT32, UINT64 = SCALARS[4], SCALARS[10]
UINT64_BYTES = UINT64.size

Value = int | float | bool | str
ALIGNMENT = 32  # unless the file states another


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor in a file: llama.cpp's type number, its shape (rows last) and its first byte in the file."""

    kind: int
    shape: tuple[int, ...]
    start: int


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The header of a GGUF file: its size in bytes, its metadata without lists, and its tensors by name."""

    path: Path
    size: int
    values: Mapping[str, Value]
    tensors: Mapping[str, Tensor]

    @property
    def parameters(self) -> int:
        """The total number of values in all tensors."""
        return sum(math.prod(tensor.shape) for tensor in self.tensors.values())

    @property
    def architecture(self) -> str:
        """The model family, such as ``llama``; "" if not stated."""
        return str(self.values.get("general.architecture", ""))

    @property
    def context(self) -> int:
        """The context in tokens that the model was trained for; 0 if not stated."""
        value = self.values.get(f"{self.architecture}.context_length", 0)
        return value if isinstance(value, int) else 0


def read_header(path: Path) -> GgufHeader:
    """Return the header of the GGUF file at `path`.

    Raises:
        ModelMissing: there is no file.
        ModelUnreadable: it is not a file, not GGUF, GGUF of another version, or incomplete.
    """
    if not path.exists():
        raise ModelMissing(f"there is no model: {path}", "check the path, or see what is there: goalmem models")
    if not path.is_file():
        raise ModelUnreadable(f"{path} is not a file", "name the .gguf file itself")
    try:
        with path.open("rb") as file:
            magic = file.read(len(MAGIC))
            if magic != MAGIC:
                what = "is not a GGUF file" if magic else "is empty"
                raise ModelUnreadable(f"{path} {what}", "name a language model in GGUF form, as llama.cpp reads it")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Walk(path, data).header()
    except OSError as error:
        raise ModelUnreadable(f"cannot read {path}: {error.strerror}", "check the file and its permissions") from error
    except struct.error as error:
        raise _truncated(path) from error


class _Walk:
    """Parses one header. Reading past the end raises struct.error; no memory is allocated by a stated length."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self._path = path
        self._data = data
        self._place = len(MAGIC)

    def header(self) -> GgufHeader:
        """Return the file's header: values and the places of tensors; raises ModelUnreadable."""
        version = self._number(UINT32)
        if version not in VERSIONS:
            raise ModelUnreadable(
                f"{self._path} is GGUF of version {version}, and goalmem reads versions 2 and 3",
                "convert the model again with a current llama.cpp",
            )
        tensors, entries = self._count(), self._count()
        values: dict[str, Value] = {}
        for _ in range(entries):
            key, kind = self._text(), self._number(UINT32)
            if kind == ARRAY:
                self._skip_list()
            else:
                values[key] = self._text() if kind == STRING else self._number(self._scalar(kind))
        found = dict(self._tensor() for _ in range(tensors))
        alignment = values.get("general.alignment", ALIGNMENT)
        if not isinstance(alignment, int) or alignment < 1:
            raise self._garbled()
        begin = -(-self._place // alignment) * alignment
        # The size of the last tensor depends on its quantisation: llama.cpp itself refuses a file that ends within it.
        if any(begin + tensor.start >= len(self._data) for tensor in found.values()):
            raise _truncated(self._path)
        placed = {name: replace(tensor, start=begin + tensor.start) for name, tensor in found.items()}
        return GgufHeader(self._path, len(self._data), values, placed)

    def _number(self, form: struct.Struct) -> int:
        value: int = form.unpack_from(self._data, self._place)[0]
        self._place += form.size
        return value

    def _count(self) -> int:
        count = self._number(UINT64)
        if count > MAX_ENTRIES:
            raise self._garbled()
        return count

    def _text(self) -> str:
        length = self._number(UINT64)
        start = self._place
        self._move(length)
        return self._data[start : self._place].decode("utf-8", "replace")

    def _skip_list(self) -> None:
        """Move past a list of values."""
        kind = self._number(UINT32)
        if kind != STRING:
            self._move(self._scalar(kind).size * self._number(UINT64))
            return
        # The slowest part, some hundred thousand tokens and merges: no method calls here.
        count, data, place, size = self._count(), self._data, self._place, len(self._data)
        length_at = UINT64.unpack_from
        for _ in range(count):
            place += UINT64_BYTES + length_at(data, place)[0]
            if place > size:
                raise _truncated(self._path)
        self._place = place

    def _tensor(self) -> tuple[str, Tensor]:
        """Return a tensor's name and description, with its start counted from the end of the header."""
        name = self._text()
        dimensions = self._number(UINT32)
        if dimensions > MAX_DIMENSIONS:
            raise self._garbled()
        form = f"<{dimensions}QIQ"
        *shape, kind, start = struct.unpack_from(form, self._data, self._place)
        self._place += struct.calcsize(form)
        return name, Tensor(kind, tuple(shape), start)

    def _move(self, length: int) -> None:
        if length > len(self._data) - self._place:
            raise _truncated(self._path)
        self._place += length

    def _scalar(self, kind: int) -> struct.Struct:
        if kind not in SCALARS:
            raise self._garbled()
        return SCALARS[kind]

    def _garbled(self) -> ModelUnreadable:
        return ModelUnreadable(f"the header of {self._path} is garbled", "get the file again")


def _truncated(path: Path) -> ModelUnreadable:
    return ModelUnreadable(f"{path} is not whole: it ends before its header says", "get the file again")


def file_digest(path: Path) -> str:
    """Return a fingerprint of the file: a hash of its size, its first and last megabyte, and samples between.

    The samples are close enough to touch every larger tensor of a model.

    Raises:
        ModelUnreadable: it cannot be read.
    """
    ends, sample, samples = 1 << 20, 1 << 10, 1000
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            places = sorted({0, max(0, size - ends), *range(ends, size, max(size // samples, sample))})
            digest = hashlib.blake2b(str(size).encode(), digest_size=16)
            for place in places:
                file.seek(place)
                digest.update(file.read(ends if place in (places[0], size - ends) else sample))
    except OSError as error:
        raise ModelUnreadable(f"{path} cannot be read: {error.strerror}", "check the file's permissions") from error
    return digest.hexdigest()
