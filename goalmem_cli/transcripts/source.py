"""A transcript's text and what it is called, before anyone has looked at its form."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.texts import clean

STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Source:
    """One file's text. `file` is what error messages call it; `text` has neither byte order mark nor carriage returns.

    Carriage returns are gone because a line is a line in every format, and JSON strings cannot hold raw ones.
    """

    file: str
    text: str

    @property
    def suffix(self) -> str:
        """The file name's ending in lower case, with its dot; empty for standard input."""
        return Path(self.file).suffix.lower()

    @property
    def stem(self) -> str:
        """What a conversation of this file is called when it has no name of its own."""
        if self.file == STANDARD_INPUT:
            return "stdin"
        return clean(Path(self.file).stem).strip() or "transcript"

    @property
    def looks_like_json(self) -> bool:
        """Whether the text begins as a JSON object or array does."""
        return self.text.lstrip()[:1] in ("{", "[")

    def error(self, place: str, reason: str, hint: str = "") -> InputError:
        """Return the error that names this file and the place in it."""
        return InputError(self.file, place, reason, hint)


def source_from_bytes(data: bytes, file: str) -> Source:
    """Return the file's text, read as UTF-8 with or without a byte order mark.

    Raises:
        InputError: the data is not UTF-8 (the place is the offset of the first wrong byte), or is blank.
    """
    skipped = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    try:
        text = data[skipped:].decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte {error.start + skipped}"
        raise InputError(file, place, f"not UTF-8 text ({error.reason})", "save the file as UTF-8") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise InputError(file, "", "the file is empty", "give a transcript that holds at least one message")
    return Source(file, text)
