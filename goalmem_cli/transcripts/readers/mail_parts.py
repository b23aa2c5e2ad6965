"""The fields of a mail, and the texts in its parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from email.errors import HeaderParseError, MessageError
from email.header import decode_header, make_header
from email.message import Message as Mail
from email.utils import parseaddr, parsedate_to_datetime

from goalmem_cli.transcripts.reading.told_times import Stamp, by_its_clock


def header_of(mail: Mail, name: str) -> str:
    """Return a header's text; one that is wrongly encoded stays as it is written."""
    written = str(mail.get(name, ""))
    try:
        return " ".join(str(make_header(decode_header(written))).split())
    except (HeaderParseError, MessageError, LookupError, ValueError):
        return " ".join(written.split())


def author_of(mail: Mail) -> str:
    """Return who wrote a mail, by name or else by address."""
    name, address = parseaddr(header_of(mail, "From"))
    return name or address


def time_of(mail: Mail) -> Stamp | None:
    """Return when it was sent, as it says itself."""
    try:
        return Stamp(by_its_clock(parsedate_to_datetime(header_of(mail, "Date"))))
    except (ValueError, TypeError, OverflowError):
        return None


def own_parts(mail: Mail, depth: int = 0) -> Iterator[Mail]:
    """Yield the parts of a mail, without those of mails that it holds."""
    is_closed = not mail.is_multipart() or (depth > 0 and mail.get_content_maintype() == "message")
    for part in [] if is_closed else mail.get_payload():
        if isinstance(part, Mail):
            yield from own_parts(part, depth + 1)
    if is_closed:
        yield mail


def texts_in(parts: Sequence[Mail], kind: str) -> list[str]:
    """Return the texts of that kind that are no attachments."""
    return [
        _decoded(part)
        for part in parts
        if part.get_content_type() == kind and part.get_content_disposition() != "attachment"
    ]


def _decoded(part: Mail) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    charset = part.get_content_charset() or "utf-8"
    try:
        return data.decode(charset, "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")
