"""Splits a mailbox into mails, and returns a mail's own text without quotes, signature and attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from email.message import Message as Mail

from goalmem_cli.transcripts.readers.mail_forwards import Forwarded, earlier_in
from goalmem_cli.transcripts.readers.mail_parts import author_of, header_of, own_parts, texts_in
from goalmem_cli.transcripts.readers.quotes import attribution_start
from goalmem_cli.transcripts.reading.html_text import text_from_html
from goalmem_cli.transcripts.reading.source import LONGEST_LINE, Source

ENVELOPE = re.compile(r"From \S.*\d")
"""The line before each mail of a mailbox."""

_SIGNATURE = "-- "
_GAP = re.compile(r"\n{3,}")
_FORWARD = re.compile(r"(?:fwd?|wg|tr|rv|vs|enc|doorst)(?:\[\d+\])? ?:", re.IGNORECASE)
_DEEPEST = 5


def mails_in(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield each mail with the number of its first line. In a mailbox, a line `From ...` precedes each mail."""
    is_mailbox = ENVELOPE.match(source.head) is not None
    first, lines, length, is_after_blank = 1, list[str](), 0, True
    for number, line in source.lines():
        if is_mailbox and is_after_blank and ENVELOPE.match(line):
            if lines:
                yield first, _bytes(lines)
            first, lines, length = number + 1, [], 0
            continue
        lines.append(line.removeprefix(">") if is_mailbox and line.startswith(">From ") else line)
        length += len(line) + 1
        if length > LONGEST_LINE:
            raise source.error(f"line {number}", f"a message of over {LONGEST_LINE} characters ends here")
        is_after_blank = not line
    if any(lines):
        yield first, _bytes(lines)


def _bytes(lines: list[str]) -> bytes:
    """Return the bytes of the lines as in the file, whatever encoding each part has."""
    return "\n".join(lines).encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Said:
    """What was written in a mail, how many lines quote earlier messages, and what it forwards."""

    text: str = ""
    quoted_lines: int = 0
    forwarded: tuple[Forwarded, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """All its texts: its own and the forwarded ones."""
        return (self.text, *(one.body for one in self.forwarded))


def said_in_mail(mail: Mail, depth: int = 0) -> Said:
    """Return what was written in the mail.

    The plain text is used if there is one, else that of the HTML. Of the attachments, only mails are read.
    """
    parts, is_forward = list(own_parts(mail)), _FORWARD.match(header_of(mail, "Subject")) is not None
    plain = texts_in(parts, "text/plain")
    attached = tuple(one for part in parts if depth < _DEEPEST for one in _attached(part, depth))
    if any(text.strip() for text in plain):
        said = _written("\n\n".join(text.strip("\n") for text in plain), is_forward=is_forward)
    else:
        said = _written_in_html(texts_in(parts, "text/html"), is_forward=is_forward)
    return replace(said, forwarded=(*said.forwarded, *attached))


def _attached(part: Mail, depth: int) -> Iterator[Forwarded]:
    """Yield an attached mail, and the mails that it forwards."""
    held = part.get_payload() if part.get_content_type() == "message/rfc822" else None
    for mail in held if isinstance(held, list) else ():
        if isinstance(mail, Mail):
            said = said_in_mail(mail, depth + 1)
            yield Forwarded(author_of(mail), header_of(mail, "Date"), said.text)
            yield from said.forwarded


def _written_in_html(pages: Sequence[str], *, is_forward: bool) -> Said:
    """Return the HTML's text without marked quotes. In a forward, the forwarded mail may be marked so; it is kept."""
    if is_forward:
        said = _written("\n\n".join(text_from_html(page, without=()) for page in pages), is_forward=True)
        if said.forwarded:
            return said
    return _written("\n\n".join(text_from_html(page) for page in pages), is_forward=is_forward)


def _written(text: str, *, is_forward: bool) -> Said:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    first, end, forwarded = earlier_in(lines, is_forward=is_forward)
    kept = lines[:first]
    if _SIGNATURE in kept:
        kept = kept[: kept.index(_SIGNATURE)]
    elif first < len(lines) and forwarded is None:
        return Said(_stripped(kept), sum(bool(line.strip()) for line in lines[first:]))
    said: list[str] = []
    quoted = 0
    for line in (*kept, *lines[end:]):
        if not line.startswith(">"):
            said.append(line)
            continue
        quoted += 1
        if quoted == 1 or (said and said[-1].strip()):
            start = attribution_start(said, len(said))
            quoted += sum(bool(line.strip()) for line in said[start:])
            del said[start:]
    return Said(_stripped(said), quoted, () if forwarded is None else (forwarded,))


def _stripped(lines: list[str]) -> str:
    return _GAP.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip()
