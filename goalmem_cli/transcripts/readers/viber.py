"""Reads chats of Viber as its app for Android mailed them: `Email message history`, a CSV without a header.

A line is day, time, name, number and text. Commas and line feeds of the text are not always quoted. The layout is after
three programs that read it (milan-miscevic/viber-chat-stats and two others, 2018 to 2025); we had no real file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.day_orders import Dating, Written, dating_of, settled
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import NearMisses, Opening, messages_from_openings, openings_with_text
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp
from goalmem_cli.transcripts.reading.written_times import written_from_text

_TIME = r"(?P<day>\d{1,4}([/.-])\d{1,2}\2\d{1,4}),\s?(?P<clock>\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?)"
_LINE = re.compile(rf'{_TIME},(?P<name>"[^"]*"|[^,]*),(?P<number>"?\+?[\d ()-]*"?),(?P<text>.*)')
_NEARLY = re.compile(_TIME)
_FIRST_LINES, _FEWEST = 40, 2


class ViberReader(DraftReader):
    """Reads a file as one chat. Times are local; turns have ids."""

    name = "viber"
    suffixes = (".csv",)
    sign = "rows of a day, a time, a name, a number and a text, without a first line of names (untested)"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the first line is a message, and one more if there are several lines."""
        lines = [line for line in glimpse.head.split("\n") if line.strip()][:_FIRST_LINES]
        found = list(map(_LINE.fullmatch, lines))
        return bool(found) and found[0] is not None and sum(map(bool, found)) >= min(_FEWEST, len(lines))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the chat; the order of day and month is found from all dates first."""
        draft = Draft()
        written = (when for _, line in source.lines() if (found := _LINE.fullmatch(line)) and (when := _written(found)))
        dating = dating_of(written)
        if dating is None:
            raise source.error("", "no line is a message of Viber", "such as 01/02/2024,10:36:02,Mira,+44...,text")
        chat = _Chat(source, draft, settled(source, dating))
        openings = openings_with_text(source, chat.opening_of, draft.count_stray)
        return draft.fill(messages_from_openings(draft, map(_unquoted, openings)))


def _written(found: re.Match[str]) -> Written | None:
    return written_from_text(f"{found['day']}, {found['clock']}")


class _Chat:
    """Reads a file's messages in the order of dates that was decided for it."""

    def __init__(self, source: Source, draft: Draft, dating: Dating) -> None:
        self._dating = dating
        self._near_misses = NearMisses(draft, _NEARLY, source)

    def opening_of(self, line: str) -> Opening | None:
        """Return the message that begins on the line; None if the line continues one."""
        found = _LINE.fullmatch(line)
        written = None if found is None else _written(found)
        moment = None if written is None else written.moment(self._dating.order)
        if found is None or moment is None:
            self._near_misses.look_at(line)
            return None
        speaker = found["name"].strip('" ') or found["number"].strip('" ') or "unknown"
        return Opening(speaker, Stamp(moment), found["text"])


def _unquoted(opening: Opening) -> Opening:
    """Return the opening with its text as it was before it was quoted."""
    text = opening.text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return replace(opening, text=text[1:-1].replace('""', '"'))
    return opening
