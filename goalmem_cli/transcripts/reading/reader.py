"""The interface of a transcript format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.source import Source


class Reader(Protocol):
    """One format. To add one, write a module with a class like this, and list it in `formats.READERS`.

    Another package registers its own as an entry point: `goalmem guide plugins`.
    """

    @property
    def name(self) -> str:
        """The name that `--format` takes and the store records."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The endings that its files may have, in lower case with their dots; empty for a format that is a folder."""
        ...

    @property
    def sign(self) -> str:
        """How a file is recognised, in a few words; keys of JSON are in backticks."""
        ...

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the file is meant to be in this format, even if details are wrong. Raises nothing."""
        ...

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the conversations in stretches, as `drafts.conversations_from_drafts` makes them, while reading.

        Raises:
            InputError: the source is not in this format; the place says where.
        """
        ...
