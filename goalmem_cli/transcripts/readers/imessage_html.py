"""Reads chats of iMessage as imessage-exporter writes them as HTML (ReagentX/imessage-exporter, 1.0 to 4.x, `-f html`).

Answers are written twice, as in the exporter's text: below the message that they answer, and at their own time. The
reader `imessage` reads that text, and gives the same turns the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.imessage_page import Found, Page
from goalmem_cli.transcripts.readers.quotes import with_quotes
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import stamp_or_unread

_MESSAGE = re.compile(
    r'<div class="message"[^<>]*>\s*<div class="(?:sent [^"<>]*|received)">\s*<p>\s*<span class="timestamp">'
)
_TAPBACK = re.compile(r"\s*(\S.{0,60}?)\s+by\s+(.*\S)\s*", re.DOTALL)


class ImessageHtmlReader:
    """Reads a page as one chat, named by the file. Times are local."""

    name = "imessage-html"
    suffixes = (".html", ".htm")
    sign = 'pages with `<div class="message">` around `<div class="received">`'

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the page has a message as the exporter writes it."""
        return _MESSAGE.search(glimpse.head) is not None

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the page's conversation.

        Raises:
            InputError: nothing on it is a message, or it cannot be read.
        """
        return with_quotes(conversations_from_drafts(source, self.name, _drafts(source)))


def _drafts(source: Source) -> Iterator[Draft]:
    draft = Draft()
    answered: dict[str, str] = {}
    return draft.fill(source.readable(_found_on(source, draft), partial(_messages, draft, TurnIds(), answered)))


def _found_on(source: Source, draft: Draft) -> Iterator[Found]:
    page = Page()
    yield from page.messages(source.chunks())
    draft.count("notices left out", page.notices)


def _messages(draft: Draft, ids: TurnIds, answered: dict[str, str], found: Found) -> Iterator[Message]:
    """Yield what the message says. `answered` maps the id of an answer to the message that it answers."""
    draft.count("attachments left out", found.media)
    draft.count("deleted messages left out", found.is_deleted)
    draft.count("answers shown below what they answer left out", len(found.answers))
    speaker, said = found.speaker or "unknown", stamp_or_unread(found.time)
    if not found.text:
        draft.count("blank messages left out", not (found.media or found.is_deleted))
        return
    own_id = ids.of(Opening(speaker, said, found.text))
    answered |= dict.fromkeys(found.answers, own_id)
    beside = attributes(
        reply_to=answered.get(found.guid) if found.guid else None,
        edited=found.is_edited,
        reactions=[Reaction(given[1], (given[2],)) for text in found.tapbacks if (given := _TAPBACK.fullmatch(text))],
    )
    yield Message(speaker, found.text, said, own_id, attributes=beside)
