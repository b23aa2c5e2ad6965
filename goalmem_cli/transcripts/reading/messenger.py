"""Code shared by messengers' exports as lines of text: messages of several lines, and turns without ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC

from goalmem_cli.records import content_hash
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import quoted
from goalmem_cli.transcripts.reading.told_times import Stamp

_SHOWN = 60
_LEVELS = frozenset({"trace", "debug", "info", "notice", "warn", "warning", "error", "critical", "fatal"})
_WORD_END = re.compile(r"[\s.\[\]]+")


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of a message, from its first line. `speaker` is empty for notices of the program.

    `attributes` are those that a reader finds in the text.
    """

    speaker: str
    said: Stamp | None
    text: str
    attributes: Mapping[str, object] | None = None


def openings_with_text(
    source: Source, opening_of: Callable[[str], Opening | None], stray: Callable[[], None] = lambda: None
) -> Iterator[Opening]:
    """Yield each message with all its lines, unchanged. `stray` is called for each filled line before the first.

    Raises:
        InputError: the file cannot be read, or a message is too long.
    """
    begun: Opening | None = None
    more: list[str] = []
    length = 0
    for number, line in source.lines():
        opening = opening_of(line)
        if opening is None and begun is None:
            if line.strip():
                stray()
        elif opening is None:
            more.append(line)
            length += len(line) + 1
            source.check_length(number, length)
        else:
            if begun is not None:
                yield replace(begun, text="\n".join([begun.text, *more])) if more else begun
            begun, more, length = opening, [], 0
    if begun is not None:
        yield replace(begun, text="\n".join([begun.text, *more]))


class NearMisses:
    """Counts lines that look nearly like a message and stay text of the one before; the first is shown.

    `source`, if given, keeps each as a line that was not understood.
    """

    def __init__(self, draft: Draft, form: re.Pattern[str], source: Source | None = None) -> None:
        self._draft = draft
        self._form = form
        self._source = source
        self._first = ""

    def look_at(self, line: str) -> None:
        """Count the line if it begins in the form."""
        if self._form.match(line):
            self.count(line)

    def count(self, line: str) -> None:
        """Count the line."""
        self._first = self._first or quoted(line, _SHOWN)
        self._draft.count(f"lines that look nearly like a message, not read as one (the first: {self._first})")
        if self._source is not None:
            reason = f"{quoted(line, _SHOWN)} looks like a message, and is not read as one"
            self._source.miss(self._source.error("", reason))


class TurnIds:
    """Makes ids for the turns of a messenger that exports none.

    An id is made of the time, the speaker, the text, and a number among equal ones. So two exports of one chat give the
    same ids to the same messages, even if the later one lacks the beginning.
    """

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of(self, opening: Opening) -> str:
        """Return the next message's id, such as ``20231231-211507-3fa2b1``."""
        stamp = opening.said
        if stamp is None:
            when = "undated"
        else:
            has_offset = stamp.moment.tzinfo is not None and not stamp.is_placeholder
            when = f"{stamp.moment.astimezone(UTC) if has_offset else stamp.moment:%Y%m%d-%H%M%S}"
        base = f"{when}-{content_hash(opening.speaker, opening.text)[:6]}"
        self._seen[base] += 1
        return base if self._seen[base] == 1 else f"{base}-{self._seen[base]}"


def messages_from_openings(draft: Draft, openings: Iterable[Opening]) -> Iterator[Message]:
    """Yield a message with an id for each opening that somebody said; the others are counted in the draft."""
    ids = TurnIds()
    for opening in openings:
        if not opening.speaker:
            draft.count("notices left out")
        elif text := opening.text.strip():
            own_id = ids.of(replace(opening, text=text))
            yield Message(opening.speaker, text, opening.said, own_id, attributes=opening.attributes)
        else:
            draft.count("blank messages left out")


def are_log_levels(names: Iterable[str]) -> bool:
    """Return whether a name is a log level, as in ``2023-12-31 21:15:07 app.ERROR: ...``: then nobody speaks."""
    return any(_WORD_END.split(name.strip().lower().strip("[]"))[-1] in _LEVELS for name in names)
