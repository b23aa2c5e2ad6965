"""The table of formats, and the choice among them."""

from __future__ import annotations

from pathlib import Path

from goalmem_cli.errors import InputError, UsageError
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.locomo import LocomoReader
from goalmem_cli.transcripts.markdown import MarkdownReader
from goalmem_cli.transcripts.nodes import node_from_source
from goalmem_cli.transcripts.openai import OpenaiReader
from goalmem_cli.transcripts.openai_jsonl import OpenaiJsonlReader
from goalmem_cli.transcripts.reader import Reader
from goalmem_cli.transcripts.source import Source, source_from_bytes

# The first that recognises a file reads it.
READERS: tuple[Reader, ...] = (
    LocomoReader(),
    OpenaiReader(),
    OpenaiJsonlReader(),
    MarkdownReader(),
)
FORMATS: tuple[str, ...] = tuple(reader.name for reader in READERS)
SUFFIXES: frozenset[str] = frozenset(suffix for reader in READERS for suffix in reader.suffixes)


def detect(path_name: str, data: bytes) -> str:
    """Return the name of the format that the data are in, judged by the file's ending and by the data.

    Raises:
        InputError: the data are not text, not JSON where JSON is due, or in none of the formats.
    """
    return _recognise(source_from_bytes(data, path_name)).name


def read_bytes(data: bytes, name: str, format: str | None = None) -> list[Conversation]:  # noqa: A002
    """Return the conversations in the data; `name` is the file's name, or ``-`` for standard input.

    Raises:
        InputError: the data are in none of the formats, or not in the one given.
        UsageError: there is no format of that name.
    """
    reader = None if format is None else _reader_of(format)
    source = source_from_bytes(data, name)
    return (reader or _recognise(source)).read(source)


def read_file(path: Path, format: str | None = None) -> list[Conversation]:  # noqa: A002
    """Return the conversations in the file.

    Raises:
        InputError: the file cannot be read, is in none of the formats, or not in the one given.
        UsageError: there is no format of that name.
    """
    return read_bytes(bytes_of_file(path), str(path), format)


def bytes_of_file(path: Path) -> bytes:
    """Return what the file holds.

    Raises:
        InputError: there is no such file, or it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            path, "", f"cannot be read ({error.strerror})", "check the path and its permissions"
        ) from error


def _reader_of(name: str) -> Reader:
    for reader in READERS:
        if reader.name == name:
            return reader
    raise UsageError(f"no transcript format is called {name!r}", f"formats: {', '.join(FORMATS)}")


def _recognise(source: Source) -> Reader:
    candidates = [reader for reader in READERS if source.suffix in reader.suffixes] or READERS
    for reader in candidates:
        if reader.recognises(source):
            return reader
    if source.looks_like_json:
        # A document that is meant as JSON and is none: where it breaks says more than that nothing recognised it.
        node_from_source(source)
    reason = f"in none of the accepted formats ({', '.join(FORMATS)})"
    raise source.error("", reason, "--format NAME reads it as that one, and says where it differs")
