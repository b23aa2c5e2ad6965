"""Reads files that are compressed singly: `.gz`, and `.zst`, which the Codex CLI makes of logs that are a week old."""

from __future__ import annotations

import importlib
import io
import tempfile
import zlib
from collections.abc import Callable
from gzip import GzipFile
from pathlib import PurePath
from typing import Any, BinaryIO, cast

from goalmem_cli.transcripts.reading.zipped import MOST_BYTES, MOST_RATIO, SMALL

ENDINGS = (".gz", ".zst")
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_IN_MEMORY = 2**26
_CHUNK = 2**20
_READERS: tuple[tuple[str, Callable[[Any, BinaryIO], Any]], ...] = (
    ("compression.zstd", lambda module, raw: module.open(raw)),
    ("zstandard", lambda module, raw: module.ZstdDecompressor().stream_reader(raw, read_across_frames=True)),
    ("pyarrow", lambda module, raw: module.input_stream(raw, compression="zstd")),
)


def plain_name(name: str) -> str:
    """Return the name without the ending of a compressed file."""
    path = PurePath(name)
    return name[: -len(path.suffix)] if path.suffix.lower() in ENDINGS and path.stem else name


def decompressed(raw: BinaryIO) -> BinaryIO:
    """Return the file's bytes, decompressed if the file is compressed.

    Raises:
        OSError: they cannot be read; its `strerror` says why.
    """
    try:
        mark = _mark_of(raw)
        if not mark.startswith(_GZIP) and mark != _ZSTD:
            return raw
        packed = raw.seek(0, io.SEEK_END)
        raw.seek(0)
    except BaseException:
        raw.close()
        raise
    whole = cast("BinaryIO", tempfile.SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 - who reads it closes it
    try:
        with raw:
            _unpack(GzipFile(fileobj=raw) if mark != _ZSTD else _zstd(raw), whole, packed)
    except (EOFError, zlib.error, ValueError, OSError) as error:
        whole.close()
        reason = getattr(error, "strerror", None) or f"compressed, and broken: {error}"
        raise OSError(0, reason) from error
    whole.seek(0)
    return whole


def _mark_of(raw: BinaryIO) -> bytes:
    """Return the first bytes of a file, and go back to its beginning; no bytes if the file cannot go back."""
    if not raw.seekable():
        return b""
    mark = raw.read(len(_ZSTD))
    raw.seek(0)
    return mark


def _unpack(packed: Any, whole: BinaryIO, size: int) -> None:
    """Decompress into `whole`, up to the limit for a zip's entry; raises OSError if it is over the limit."""
    most = min(MOST_BYTES, max(SMALL, MOST_RATIO * size))
    while chunk := packed.read(_CHUNK):
        whole.write(chunk)
        if whole.tell() > most:
            raise OSError(0, f"would unpack to over {most:,} bytes, of {size:,} that are packed")


def _zstd(raw: BinaryIO) -> Any:
    """Open a zstd stream with the first library that is installed; raises OSError if none is."""
    for name, open_ in _READERS:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        return open_(module, raw)
    raise OSError(0, "compressed with zstd, which needs the package zstandard: pip install zstandard")
