"""What a transcript format is to goalmem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.source import Source


class Reader(Protocol):
    """One format. To add one: a file with a class like this, and its line in `formats.READERS`.

    Another package registers its own as an entry point: `goalmem guide plugins`.
    """

    @property
    def name(self) -> str:
        """What `--format` takes and the store records."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The file endings it may have, in lower case with their dots; empty for a format that is a folder."""
        ...

    @property
    def sign(self) -> str:
        """What a file is recognised by, in a few words; keys of JSON stand in backticks."""
        ...

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the file is meant to be in this format, right or wrong in its details. Raises nothing."""
        ...

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the conversations in stretches as `drafts.conversations_from_drafts` makes them, reading as it goes.

        Raises:
            InputError: the source is not in this format; the place says where.
        """
        ...
