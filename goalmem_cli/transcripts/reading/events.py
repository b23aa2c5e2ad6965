"""Reads the events of a log that a program may still be writing."""

from __future__ import annotations

from collections.abc import Iterator

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.nodes import Node, node_from_text
from goalmem_cli.transcripts.reading.source import Source


def events(source: Source, draft: Draft) -> Iterator[Node]:
    """Yield the event on each line; a last line that was cut off while it was written is left out.

    Raises:
        InputError: another line, or the only one, is not JSON, and may not be skipped.
    """
    cut: InputError | None = None
    is_begun = False
    for number, line in source.lines():
        if not line.strip():
            continue
        if cut is not None:
            source.skip(cut)
            cut = None
        try:
            event = node_from_text(line, source.file, number)
        except InputError as error:
            cut = error
            continue
        is_begun = True
        yield event
    if cut is not None:
        if not is_begun:
            raise cut
        draft.count("last lines that were cut off left out")
