"""Reads chats of Signal as the common exporters write them: one message a line, or blocks like letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import chain, dropwhile, pairwise
from pathlib import Path

from goalmem_cli.languages.patterns import late
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import (
    Opening,
    are_log_levels,
    messages_from_openings,
    openings_with_text,
)
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import quoted
from goalmem_cli.transcripts.reading.told_times import Stamp, by_its_clock, stamp_from_text

_FIRST_LINES = 10
_STAMP = r"(\d{4}-\d\d-\d\d),? (\d\d:\d\d(?::\d\d)?)"
_SPEECH = r"([^:]{1,100}):(?: (.*))?"
_BRACKETED = late(rf"\[{_STAMP}\] {_SPEECH}", re.ASCII)
_BARE = late(rf"{_STAMP} {_SPEECH}", re.ASCII)
_SHARED_NAMES = frozenset({"chat", "index", "data"})

_DELETED = "(This message was deleted)"
_REACTIONS = ("(- ", " -)")
_STICKER = ("(( ", " ))")
_FILE = late(r"!\[[^\[\]\n]*\]\([^()\n]*\)|\[[^\[\]\n]*\]\(\.{1,2}/[^()\n]*\)")
_QUOTE = late(r"(?:[ \t]*\n)+(?:>[^\n]*(?:\n|\Z))+")
_NOT_EXPORTED = late(
    r"\((?:attachment|audio|file|image|media|photo|sticker|video|voice message) not exported\)(?=  |\s*$)", re.MULTILINE
)
_CALL = late(
    r"(?:Incoming|Outgoing|Missed)(?: (?:voice|video|audio|group|adhoc))? call(?: \([a-z][\w, ]{0,40}\))?", re.ASCII
)
_KIND = late(r"\[[\w-]+ message\]")
_DETAIL = r"(?:reply to [^\n]{1,100}? on \d{4}-\d\d-\d\d \d\d:\d\d|edited|\d+ attachments?)"
_DETAILS = late(rf"\[{_DETAIL}(?:, {_DETAIL})*\] ?")

_ANSWERED = late(r"reply to ([^\n]{1,100}? on \d{4}-\d\d-\d\d \d\d:\d\d)", re.ASCII)
_EDITED = late(r"[\[ ]edited[,\]]")
_QUOTE_FIELD = late(r"^> (?:From|Sent|Attachment): .*")

_FIELD = late(r"(From|Type|Sent|Received|Attachment|Reaction|Edited|Version): (.*)")
_CONVERSATION = late(r"Conversation: (.*\S)")
_WITH_OFFSET = late(r"(.*\d) ([+-])(\d\d)([0-5]\d)", re.ASCII)
_NUMBER = late(r" \(\+?[\d ]+\)$", re.ASCII)
_SAID_KINDS = frozenset({"incoming", "outgoing"})


class SignalReader(DraftReader):
    """Reads a file as one chat: lines of signal-export, or blocks of sigtop. Signal's own export is `signal-jsonl`."""

    name = "signal"
    suffixes = (".txt", ".md")
    sign = "`[2023-12-31 21:15] Name: text`, or blocks with `From:`, `Type:`"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines begins a message, and no speaker is a level of a program's log."""
        lines = [line for line in glimpse.head.split("\n") if line.strip()]
        first = lines[:_FIRST_LINES]
        if any(_begins_letter(line, following) for line, following in pairwise(first)):
            return True
        form = _form_of(first)
        return form is not None and not are_log_levels(match[3] for line in lines if (match := form.fullmatch(line)))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the chat of lines, or of sigtop's blocks."""
        path = Path(source.file)
        draft = Draft(title=path.parent.name or None if path.stem in _SHARED_NAMES else None)
        form = _form_of(line for _, line in source.lines())
        if form is None:
            return draft.fill(messages_from_openings(draft, _Letters(source, draft).openings()))
        lines = _Lines(draft, form)
        openings = openings_with_text(source, lines.opening_of, draft.count_stray)
        return draft.fill(messages_from_openings(draft, lines.said_in(openings)))


def _form_of(lines: Iterable[str]) -> re.Pattern[str] | None:
    """Return the form of the first line that begins a message; all messages of the file have it."""
    return next((form for line in lines for form in (_BRACKETED, _BARE) if form.fullmatch(line)), None)


class _Lines:
    """Reads messages that begin with a time, a name and a colon on one line."""

    def __init__(self, draft: Draft, form: re.Pattern[str]) -> None:
        self._draft = draft
        self._form = form

    def opening_of(self, line: str) -> Opening | None:
        """Return the message that begins on the line; None if the line continues one."""
        match = self._form.fullmatch(line)
        if match is None or not match[3].strip():
            return None
        try:
            said = Stamp(datetime.fromisoformat(f"{match[1]} {match[2]}"))
        except ValueError:
            self._draft.count("lines that begin like a message, but with no possible date, kept as text")
            return None
        return Opening(match[3].strip(), said, match[4] or "")

    def said_in(self, openings: Iterable[Opening]) -> Iterator[Opening]:
        """Yield what people said; what an exporter added is taken out and counted."""
        for opening in openings:
            said = opening.text.strip()
            if said == _DELETED:
                self._draft.count("deleted messages left out")
            elif self._form is _BRACKETED and _CALL.fullmatch(said):
                self._draft.count("calls left out")
            elif self._form is _BARE and _KIND.fullmatch(said):
                self._draft.count("notices left out")
            else:
                kept = self._kept_of_short(opening) if self._form is _BARE else self._kept(opening)
                if kept.text or not said:
                    yield kept

    def _kept_of_short(self, opening: Opening) -> Opening:
        """Return a message of sigtop's short form with its quote and edit as attributes; attachments are counted."""
        text = opening.text.strip()
        details = _DETAILS.match(text)
        if details is None:
            return replace(opening, text=text)
        self._draft.count("attachments left out", "attachment" in details[0])
        answered = _ANSWERED.search(details[0])
        beside = attributes(quoted=answered[1] if answered else "", edited=_EDITED.search(details[0]) is not None)
        return replace(opening, text=text[details.end() :].strip(), attributes=beside)

    def _kept(self, opening: Opening) -> Opening:
        """Return a message of signal-export with its quote and reactions as attributes; attachments are counted."""
        text, quote = opening.text, _QUOTE.match(opening.text)
        if quote:
            text = text[quote.end() :]
        for form in (_FILE, _NOT_EXPORTED):
            text, files = form.subn("", text)
            self._draft.count("attachments left out", files)
        lines = "\n".join(line.rstrip() for line in text.split("\n")).strip().split("\n")
        if _stands_in(lines[-1], _STICKER):
            lines.pop()
            self._draft.count("attachments left out")
        given = lines.pop() if lines and _stands_in(lines[-1], _REACTIONS) else ""
        opening = replace(opening, text="\n".join(lines).strip())
        if not quote and not given:
            return opening
        shown = _unquoted(quote[0].split("\n")) if quote else ""
        return replace(opening, attributes=attributes(quoted=shown, reactions=_reactions(given)))


def _stands_in(line: str, ends: tuple[str, str]) -> bool:
    return line.startswith(ends[0]) and line.endswith(ends[1])


def _unquoted(lines: Iterable[str]) -> str:
    """Return the quoted text of the lines."""
    return "\n".join(line.removeprefix(">").strip() for line in lines if line.startswith(">")).strip()


def _reactions(given: str) -> Iterator[Reaction]:
    """Yield the reactions of a line such as ``(- Ana: x, Ben: y -)``."""
    for part in given.removeprefix(_REACTIONS[0]).removesuffix(_REACTIONS[1]).split(", ") if given else ():
        name, _, reaction = part.rpartition(": ")
        yield Reaction(reaction, (name,))


class _Letters:
    """Reads messages that come as fields (`From`, `Type`, `Sent` ...), a blank line, and the text."""

    def __init__(self, source: Source, draft: Draft) -> None:
        self._source = source
        self._draft = draft

    def openings(self) -> Iterator[Opening]:
        """Yield what people said, in order.

        Raises:
            InputError: a time cannot be read, or a message is too long; the place is the line.
        """
        for first, lines in self._letters():
            opening = self._opening(first, lines)
            if opening is not None:
                yield opening

    def _letters(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the lines of each message, with the number of the first."""
        first, lines, length, is_after_blank = 0, list[str](), 0, True
        for (number, line), (_, following) in pairwise(chain(self._source.lines(), [(0, "")])):
            if is_after_blank and _begins_letter(line, following):
                if first:
                    yield first, lines
                first, lines, length = number, [], 0
            is_after_blank = not line.strip()
            if not first:
                self._take_stray(line)
                continue
            lines.append(line)
            length += len(line) + 1
            self._source.check_length(number, length)
        if first:
            yield first, lines

    def _take_stray(self, line: str) -> None:
        """Take the conversation's name from a line outside the blocks; count any other line."""
        conversation = _CONVERSATION.fullmatch(line)
        if conversation is not None:
            self._draft.own_id = conversation[1]
        elif line.strip():
            self._draft.count_stray()

    def _opening(self, first: int, lines: Sequence[str]) -> Opening | None:
        """Return the message of a block, with the newest version of its text; None for notices and bare attachments."""
        fields, body = _split(lines)
        values = {name: value for _, name, value in reversed(fields)}
        if values.get("Type") not in _SAID_KINDS or not values.get("From", "").strip():
            self._draft.count("notices left out")
            return None
        if "Edited" in values:
            self._draft.count("earlier versions of edited messages left out")
            edit_fields, body = _split(_newest_version(body))
            fields += edit_fields
        names = [name for _, name, _ in fields]
        self._draft.count("attachments left out", names.count("Attachment"))
        quote, said = _split_quote(body)
        text = "\n".join(said).strip()
        given = (value.rpartition(" from ") for _, name, value in fields if name == "Reaction")
        beside = attributes(
            quoted=_unquoted(_QUOTE_FIELD.sub("", line) for line in quote),
            edited="Edited" in values,
            reactions=(Reaction(what, (who,)) for what, _, who in given),
        )
        if not text and "Attachment" in names:
            return None
        sent = next(((first + index, value) for index, name, value in fields if name == "Sent"), None)
        speaker = _NUMBER.sub("", values["From"]).strip()
        return Opening(speaker, None if sent is None else self._stamp(*sent), text, beside)

    def _stamp(self, line: int, text: str) -> Stamp | None:
        """Return the time with its offset, None if unknown; raises an InputError for other forms."""
        match = _WITH_OFFSET.fullmatch(text)
        if match is None:
            if text == "unknown":
                return None
            raise self._source.error(f"line {line}", f"{quoted(text)} is not a time as sigtop writes it")
        try:
            offset = timezone(timedelta(hours=int(match[3]), minutes=int(match[4])) * (-1 if match[2] == "-" else 1))
            stamp = stamp_from_text(match[1])
        except ValueError as error:
            raise self._source.error(f"line {line}", f"{quoted(text)} is not a time ({error})") from error
        if stamp is None:
            raise self._source.error(f"line {line}", f"{quoted(text)} is not a time as sigtop writes it")
        return replace(stamp, moment=by_its_clock(stamp.moment.replace(tzinfo=offset)))


def _begins_letter(line: str, following: str) -> bool:
    is_from = line.startswith("From: ") and following.startswith("Type: ")
    return is_from or (line.startswith("Type: ") and following.startswith(("Sent: ", "Received: ")))


def _split(lines: Sequence[str]) -> tuple[list[tuple[int, str, str]], list[str]]:
    """Return the fields at the top, each with its index, and the lines below them."""
    fields: list[tuple[int, str, str]] = []
    for index, line in enumerate(lines):
        match = _FIELD.fullmatch(line)
        if match is None:
            return fields, list(lines[index:])
        fields.append((index, match[1], match[2]))
    return fields, []


def _newest_version(body: Sequence[str]) -> list[str]:
    """Return the newest version of an edited message, which comes first; a bar marks the lines of all versions."""
    lines = [line.removeprefix("|").removeprefix(" ") for line in body if line.startswith("|")]
    starts = [index for index, line in enumerate(lines) if line.startswith("Version: ")]
    return lines[: starts[1]] if len(starts) > 1 else lines


def _split_quote(body: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines of the quoted message that the body begins with, if any, and the lines after them."""
    lines = list(dropwhile(lambda line: not line.strip(), body))
    if not lines or not lines[0].startswith("> From: "):
        return [], lines
    said = list(dropwhile(lambda line: line.startswith(">"), lines))
    return lines[: len(lines) - len(said)], said
