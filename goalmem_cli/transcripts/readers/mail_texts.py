"""Mails as mailboxes hold them: each one, its fields, and its text without what it quotes, signs with, or attaches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.errors import HeaderParseError, MessageError
from email.header import decode_header, make_header
from email.message import Message as Mail
from email.utils import parsedate_to_datetime

from goalmem_cli.transcripts.reading.html_text import text_from_html
from goalmem_cli.transcripts.reading.source import LONGEST_LINE, Source
from goalmem_cli.transcripts.reading.told_times import Stamp, by_its_clock

ENVELOPE = re.compile(r"From \S.*\d")
"""The line before each mail of a mailbox."""

_SIGNATURE = "-- "
_ATTRIBUTION_LINES = 3
_ENDS_ATTRIBUTION = re.compile(
    r".*(?:\d|@|<).*:\s*$|.*(?:wrote|schrieb|escribió|écrit|scritto|escreveu|schreef)\s*:\s*$"
)
_GAP = re.compile(r"\n{3,}")
_HAS_DATE = re.compile(r".*\d")
_EARLIER = re.compile(
    r"\s*(?:-{2,} ?(?:Original Message|Forwarded message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|"
    r"Messaggio originale|Oorspronkelijk bericht)\b.*|_{10,})\s*",
    re.IGNORECASE,
)
_FIELD = re.compile(r"\s*\*?(?:From|Von|De|Da|Van|Från|Fra)\s?:\*? .*[@<\w]", re.IGNORECASE)
_NEXT_FIELD = re.compile(
    r"\s*\*?(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado|Inviato|Verzonden|To|An)\s?:\*? ", re.IGNORECASE
)


def mails_in(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield each mail with the number of its first line; in a mailbox each stands behind a line `From ...`."""
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
    """Return the lines as they were in the file, whatever encoding each part has."""
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def header_of(mail: Mail, name: str) -> str:
    """Return a header's text; one that is wrongly encoded stays as it is written."""
    written = str(mail.get(name, ""))
    try:
        return " ".join(str(make_header(decode_header(written))).split())
    except (HeaderParseError, MessageError, LookupError, ValueError):
        return " ".join(written.split())


def time_of(mail: Mail) -> Stamp | None:
    """Return when it was sent, as it says itself."""
    try:
        return Stamp(by_its_clock(parsedate_to_datetime(header_of(mail, "Date"))))
    except (ValueError, TypeError, OverflowError):
        return None


def said_in_mail(mail: Mail) -> tuple[str, int]:
    """Return what was written, and how many lines quote earlier messages.

    The plain text where there is one, else that of the HTML; attachments say nothing.
    """
    plain = [_decoded(part) for part in _texts(mail, "text/plain")]
    if any(text.strip() for text in plain):
        return _written("\n\n".join(text.strip("\n") for text in plain))
    return _written("\n\n".join(text_from_html(_decoded(part)) for part in _texts(mail, "text/html")))


def _texts(mail: Mail, kind: str) -> list[Mail]:
    parts = (part for part in mail.walk() if not part.is_multipart())
    return [
        part for part in parts if part.get_content_type() == kind and part.get_content_disposition() != "attachment"
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


def _written(text: str) -> tuple[str, int]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    kept: list[str] = []
    for number, line in enumerate(lines):
        if line == _SIGNATURE:
            break
        following = lines[number + 1 : number + 3]
        if _EARLIER.fullmatch(line) or (_FIELD.match(line) and any(map(_NEXT_FIELD.match, following))):
            return _stripped(kept), sum(bool(line.strip()) for line in lines) - sum(bool(one.strip()) for one in kept)
        kept.append(line)
    said: list[str] = []
    quoted = 0
    for line in kept:
        if not line.startswith(">"):
            said.append(line)
            continue
        quoted += 1 + _drop_attribution(said) if quoted == 0 or (said and said[-1].strip()) else 1
    return _stripped(said), quoted


def _drop_attribution(said: list[str]) -> int:
    """Take the lines that say who is quoted off the end, and return how many they were."""
    end = len(said)
    while end and not said[end - 1].strip():
        end -= 1
    if not end or not _ENDS_ATTRIBUTION.match(said[end - 1]):
        return 0
    for start in range(end - 1, max(end - 1 - _ATTRIBUTION_LINES, -1), -1):
        if not said[start].strip():
            break
        if _HAS_DATE.match(said[start]):
            del said[start:]
            return end - start
    return 0


def _stripped(lines: list[str]) -> str:
    return _GAP.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip()
