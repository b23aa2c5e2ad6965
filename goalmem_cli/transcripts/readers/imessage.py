"""Reads chats of iMessage as imessage-exporter writes them as text (ReagentX/imessage-exporter, 1.0 to 3.x, `-f txt`).

A message is a line with its time, a line with its sender, and the lines of its text up to the next time. Answers are
written twice: below the message that they answer, and at their own time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.imessage_texts import ANNOUNCEMENT, TIME, said_in
from goalmem_cli.transcripts.readers.quotes import with_quotes
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.source import LONGEST_LINE, Source
from goalmem_cli.transcripts.reading.told_times import stamp_from_text

_FIRST_LINES = 10
_HEADER = re.compile(rf"{TIME}(?: \(Read by [^()]*\))?", re.ASCII)


class ImessageReader:
    """Reads a file as one chat, named by the file. Times are local."""

    name = "imessage"
    suffixes = (".txt",)
    sign = "lines such as `May 17, 2022  5:29:42 PM`, with a sender below"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines is a time as the exporter writes it, and the next one a sender."""
        lines = glimpse.head.split("\n")[: 2 * _FIRST_LINES]
        return any(_HEADER.fullmatch(line) and after.strip() for line, after in pairwise(lines))

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversation.

        Raises:
            InputError: nothing in it is a message, or a time cannot be read; the place is the line.
        """
        return with_quotes(conversations_from_drafts(source, self.name, _drafts(source)))


def _drafts(source: Source) -> Iterator[Draft]:
    draft = Draft()
    return draft.fill(_messages(source, draft))


def _messages(source: Source, draft: Draft) -> Iterator[Message]:
    """Yield what was said. An answer is known by its time and sender, which also stand below the message it answers."""
    ids = TurnIds()
    answered: dict[tuple[str, str], str] = {}
    behind: Counter[str] = Counter()
    for number, time, lines in _blocks(source, draft):
        try:
            stamp = stamp_from_text(time)
        except ValueError as error:
            raise source.error(f"line {number}", f"{time!r} is not a time ({error})") from error
        speaker, said = lines[0].strip(), said_in(draft, lines[1:])
        behind.update(said.behind)
        if not said.text:
            draft.count("blank messages left out", not said.is_cut)
            continue
        own_id = ids.of(Opening(speaker, stamp, said.text))
        answered |= dict.fromkeys(said.answers, own_id)
        reply_to = answered.get((time, speaker)) if said.is_answer else None
        if said.is_answer:
            behind -= Counter(said.text.split("\n"))
        yield Message(speaker, said.text, stamp, own_id, attributes=said.beside(reply_to))
    draft.count("lines behind answers left out, since nobody can tell whose they are", behind.total())


def _blocks(source: Source, draft: Draft) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each message's line number, its time, and the lines below it: its sender and its text."""
    begun: tuple[int, str] | None = None
    lines: list[str] = []
    length, is_after_blank = 0, True
    for (number, line), (_, following) in pairwise(chain(source.lines(), [(0, "")])):
        found = _HEADER.fullmatch(line) if is_after_blank and following.strip() else None
        if found:
            if begun is not None:
                yield *begun, lines
            begun, lines, length = (number, found["time"]), [], 0
        elif is_after_blank and not following.strip() and ANNOUNCEMENT.fullmatch(line):
            draft.count("notices left out")
        elif begun is None:
            draft.count("lines outside any message left out", bool(line.strip()))
        else:
            lines.append(line)
            length += len(line) + 1
            if length > LONGEST_LINE:
                reason = f"a message of over {LONGEST_LINE} characters ends here"
                raise source.error(f"line {number}", reason, "no message is that long")
        is_after_blank = not line.strip()
    if begun is not None:
        yield *begun, lines
