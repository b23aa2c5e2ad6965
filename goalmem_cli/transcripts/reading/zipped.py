"""Files and folders in a zip, with methods like those of `Path`. They are read in the zip; no name becomes a path."""

from __future__ import annotations

import errno
import io
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, total_ordering
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, BinaryIO, TypeAlias, cast
from zipfile import BadZipFile, ZipFile, ZipInfo

from goalmem_cli.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Buffer

MOST_ENTRIES, MOST_BYTES, MOST_DEPTH = 50_000, 2**33, 16
"""The most entries of a zip, the most bytes that one may unpack to, and the most folders above one."""
MOST_RATIO, SMALL = 250, 2**24
"""An entry of over `SMALL` bytes may unpack to at most `MOST_RATIO` times its packed size."""

_FAULTS = (BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
_ENCRYPTED = 0x1


@total_ordering
class Zipped:
    """A file or folder in a zip; `inside` is its name there, "" for the zip itself."""

    def __init__(self, archive: Archive, inside: str) -> None:
        self.archive = archive
        self.inside = inside

    def __str__(self) -> str:
        return f"{self.archive.path}/{self.inside}" if self.inside else str(self.archive.path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Zipped) and str(self) == str(other)

    def __lt__(self, other: Zipped) -> bool:
        return str(self) < str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __truediv__(self, name: str) -> Zipped:
        return Zipped(self.archive, f"{self.inside}/{name}" if self.inside else name)

    @property
    def name(self) -> str:
        """The last part of its name."""
        return PurePosixPath(self.inside).name

    @property
    def suffix(self) -> str:
        """The ending of its name, with its dot."""
        return PurePosixPath(self.inside).suffix

    def is_file(self) -> bool:
        """Say whether there is a file of this name."""
        return self.inside in self.archive.files

    def is_dir(self) -> bool:
        """Say whether there is a folder of this name."""
        return self.inside in self.archive.folders

    def is_symlink(self) -> bool:
        """Return False: links are not among the archive's files."""
        return False

    def iterdir(self) -> Iterator[Zipped]:
        """Yield the files and folders in this folder, sorted."""
        return (self / name for name in sorted(self.archive.folders.get(self.inside, ())))

    def open(self, mode: str = "rb") -> BinaryIO:  # noqa: ARG002 - as `Path` has it
        """Return the entry's bytes, unpacked as they are read.

        Raises:
            OSError: the zip is missing, encrypted or damaged.
        """
        with _as_os_errors():
            opened = ZipFile(self.archive.path)
            try:
                return cast(
                    "BinaryIO", io.BufferedReader(_Unpacked(opened, opened.open(self.archive.files[self.inside])))
                )
            except BaseException:
                opened.close()
                raise

    @property
    def problem(self) -> InputError | None:
        """Why an entry that may be a transcript is not read: it would unpack to too much, or needs a password."""
        info = self.archive.files[self.inside]
        packed = max(info.compress_size, 1)
        if info.flag_bits & _ENCRYPTED:
            return InputError(str(self), "", "encrypted", "unpack the zip with its password, and give what comes out")
        if info.file_size > MOST_BYTES or (info.file_size > SMALL and info.file_size > MOST_RATIO * packed):
            reason = f"would unpack to {info.file_size:,} bytes, {info.file_size // packed:,} times what it is packed"
            return InputError(str(self), "", reason, "unpack it yourself if it is meant so, and give what comes out")
        return None


Place: TypeAlias = Path | Zipped
"""The place of a transcript: on disk, or in a zip."""


@dataclass(frozen=True)
class Archive:
    """A zip. `files` are its entries by name, without folders; `odd` are links, and names that no export has."""

    path: Path
    files: dict[str, ZipInfo]
    odd: tuple[str, ...]

    @classmethod
    def of(cls, path: Path) -> Archive:
        """Read the list of a zip's entries.

        Raises:
            InputError: it cannot be read, is not a zip, is damaged, or has too many entries.
        """
        try:
            with _as_os_errors(), ZipFile(path) as opened:
                entries = opened.infolist()
        except OSError as error:
            raise InputError(path, "", f"cannot be read ({error.strerror})", "download or export it again") from error
        if len(entries) > MOST_ENTRIES:
            reason = f"holds {len(entries):,} entries, more than {MOST_ENTRIES:,}"
            raise InputError(path, "", reason, "unpack it, and give the folder")
        files = {entry.filename: entry for entry in entries if not entry.is_dir()}
        plain = {name: entry for name, entry in files.items() if _is_plain(name) and not _is_link(entry)}
        return cls(path, plain, tuple(sorted(files.keys() - plain.keys())))

    @cached_property
    def folders(self) -> dict[str, set[str]]:
        """The names in each folder, by the folder's name; the zip as a whole has the name ""."""
        found: dict[str, set[str]] = {"": set()}
        for name in self.files:
            parts = name.split("/")
            for depth in range(len(parts)):
                found.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
        return found

    @property
    def root(self) -> Zipped:
        """The zip as a folder."""
        return Zipped(self, "")


class _Unpacked(io.RawIOBase):
    """The bytes of an entry; closing it closes the zip."""

    def __init__(self, archive: ZipFile, entry: IO[bytes]) -> None:
        self._archive = archive
        self._entry = entry

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        with _as_os_errors():
            return self._entry.seek(offset, whence)

    def tell(self) -> int:
        return self._entry.tell()

    def readinto(self, buffer: Buffer, /) -> int:
        with memoryview(buffer) as view, _as_os_errors():
            data = self._entry.read(len(view))
            view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._entry.close()
            self._archive.close()
        super().close()


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """Turn errors of zips into an `OSError` with the same text."""
    try:
        yield
    except _FAULTS as error:
        reason = (
            "encrypted" if "password" in str(error) else f"no zip, or a damaged one: {str(error) or 'it is cut off'}"
        )
        raise OSError(errno.EIO, reason) from error


def _is_plain(name: str) -> bool:
    parts = name.split("/")
    is_odd = any(part in ("", ".", "..") or "\\" in part or not part.isprintable() for part in parts)
    return not is_odd and len(parts) <= MOST_DEPTH and ":" not in parts[0]


def _is_link(entry: ZipInfo) -> bool:
    return stat.S_ISLNK(entry.external_attr >> 16)
