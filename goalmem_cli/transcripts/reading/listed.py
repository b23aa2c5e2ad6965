"""Reads conversations that are a JSON object with a long list of messages in it, or a log of events in lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.nodes import Listing, Node, node_from_text
from goalmem_cli.transcripts.reading.source import Source

Read = Callable[[Draft, Node], Iterable[Message]]
Identify = Callable[[Draft, Node], None]


def drafts_from_listing(source: Source, listing: Listing, read: Read, identify: Identify) -> Iterator[Draft]:
    """Yield the conversation of the listing. `read` returns what a message says; `identify` sets the id and title.

    A message that cannot be read is skipped.

    Raises:
        InputError: the text is not JSON, or the listing does not have the layout; reading goes on after the listing.
    """
    draft = Draft(place=listing.about.place)
    for filled in draft.fill(source.readable(listing.items(), partial(read, draft))):
        try:
            identify(filled, listing.about)
        except InputError:
            listing.pass_over()
            raise
        yield filled


def drafts_from_document(source: Source, key: str, read: Read, identify: Identify) -> Iterator[Draft]:
    """Yield the conversation of a document that is an object with a list of messages under `key`.

    Raises:
        InputError: as `drafts_from_listing`, or something follows the object.
    """
    text = JsonText(source, source.chunks())
    yield from drafts_from_listing(source, Listing(text, source.file, "", key), read, identify)
    text.finish()


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
