"""Reads e-mail, as mailboxes (mbox, as Gmail's Takeout and Thunderbird write them) and as single messages (`.eml`).

The formats are RFC 5322 and RFC 4155, with mboxrd quoting. Python's `email` parses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.errors import HeaderParseError, MessageError
from email.header import decode_header, make_header
from email.message import Message as Mail
from email.utils import parseaddr, parsedate_to_datetime

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.quotes import MARK, Head, attribution_start, head_of_mail
from goalmem_cli.transcripts.reading.attributes import attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.html_text import text_from_html
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp, by_its_clock


def header_of(mail: Mail, name: str) -> str:
    """Return a header's text; if it is wrongly encoded, as it is written."""
    written = str(mail.get(name, ""))
    try:
        return " ".join(str(make_header(decode_header(written))).split())
    except (HeaderParseError, MessageError, LookupError, ValueError):
        return " ".join(written.split())


def author_of(mail: Mail) -> str:
    """Return the author's name, or else the address."""
    name, address = parseaddr(header_of(mail, "From"))
    return name or address


def time_of(mail: Mail) -> Stamp | None:
    """Return when the mail says that it was sent."""
    try:
        return Stamp(by_its_clock(parsedate_to_datetime(header_of(mail, "Date"))))
    except (ValueError, TypeError, OverflowError):
        return None


def own_parts(mail: Mail, depth: int = 0) -> Iterator[Mail]:
    """Yield the parts of a mail, without those of attached mails."""
    is_closed = not mail.is_multipart() or (depth > 0 and mail.get_content_maintype() == "message")
    for part in [] if is_closed else mail.get_payload():
        if isinstance(part, Mail):
            yield from own_parts(part, depth + 1)
    if is_closed:
        yield mail


def texts_in(parts: Sequence[Mail], kind: str) -> list[str]:
    """Return the texts of a content type that are no attachments."""
    return [
        _decoded(part)
        for part in parts
        if part.get_content_type() == kind and part.get_content_disposition() != "attachment"
    ]


def _decoded(part: Mail) -> str:
    """Return the text of a part; bytes that do not fit its charset are replaced."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    charset = part.get_content_charset() or "utf-8"
    try:
        return data.decode(charset, "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


_RULE = re.compile(r"\s*_{10,}\s*")


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A forwarded mail. `author` is blank if unknown; `sent` is as written."""

    author: str
    sent: str
    body: str

    @property
    def text(self) -> str:
        """Its text after a mark with author and time."""
        by = ", ".join(filter(None, (self.author or "an unknown author", self.sent)))
        return f"[forwarded from {by}] {self.body}"


def earlier_in(lines: Sequence[str], *, is_forward: bool) -> tuple[int, int, Forwarded | None]:
    """Return the first line of an earlier mail, the line after its last, and the mail if it is forwarded.

    The mail extends to the end, unless its lines begin with `>`. If there is none, both indices are `len(lines)`.
    `is_forward`: the subject says that the mail is a forward.
    """
    for at, line in enumerate(lines):
        if line.startswith(">"):
            continue
        is_rule = _RULE.fullmatch(line) is not None
        head = head_of_mail(lines, at + 1 if is_rule and lines[at + 1 :] else at, is_in_mail=True)
        if head is None and not is_rule:
            continue
        if head is None or not (is_forward or head.is_forward):
            return at, len(lines), None
        end = _end(lines, head)
        body = lines[head.end : end]
        if end < len(lines) or lines[head.end - 1].startswith(">"):
            body = [MARK.sub("", line, count=1) for line in body]
        return at, end, Forwarded(head.author, head.sent, "\n".join(line.rstrip() for line in body).strip())
    return len(lines), len(lines), None


def _end(lines: Sequence[str], head: Head) -> int:
    if not lines[head.end - 1].startswith(">"):
        return len(lines)
    behind = range(head.end, len(lines))
    return next((at for at in behind if lines[at].strip() and not lines[at].startswith(">")), len(lines))


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
        source.check_length(number, length)
        is_after_blank = not line
    if any(lines):
        yield first, _bytes(lines)


def _bytes(lines: list[str]) -> bytes:
    """Return the bytes of the lines as in the file, in any encoding."""
    return "\n".join(lines).encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Said:
    """The content of a mail: its own text, the number of quoted lines, and the forwarded mails."""

    text: str = ""
    quoted_lines: int = 0
    forwarded: tuple[Forwarded, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """Its own text and the forwarded ones."""
        return (self.text, *(one.body for one in self.forwarded))


def said_in_mail(mail: Mail, depth: int = 0) -> Said:
    """Return the content of a mail.

    The plain text is used if there is one, else that of the HTML. If the HTML is no alternative to it, the plain text
    may be only what a mailing list adds below. Of the attachments, only mails are read.
    """
    parts, is_forward = list(own_parts(mail)), _FORWARD.match(header_of(mail, "Subject")) is not None
    plain = texts_in(parts, "text/plain")
    attached = tuple(one for part in parts if depth < _DEEPEST for one in _attached(part, depth))
    said = _written("\n\n".join(text.strip("\n") for text in plain), is_forward=is_forward)
    is_choice = any(part.get_content_type() == "multipart/alternative" for part in mail.walk())
    if not any(text.strip() for text in plain) or not (is_choice or any(said.told)):
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
    """Return the plain text without signature and quotes, the number of quoted lines, and a forwarded mail."""
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


_FIRST_LINES = 100
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9-]*:(?: .*)?")
_FOLDED = re.compile(r"[ \t].*")
_KNOWN = ("from", "date", "message-id", "subject", "received")
_MESSAGE_ID = re.compile(r"<([^<>\s]+)>")
_REPLY = re.compile(r"^(?:(?:re|aw|fwd?|wg|sv|vs|tr|rv|antw)(?:\[\d+\])?: *)+", re.IGNORECASE)


class MailReader(DraftReader):
    """Reads a thread as a conversation, under the id of its first message. The speaker is the author of the mail."""

    name = "mail"
    suffixes = (".eml", ".mbox")
    sign = "the fields of a message (`From:`, `Date:` ...)"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the text begins with the fields of a message, after the line that mailboxes put before it."""
        lines = glimpse.head.split("\n")[:_FIRST_LINES]
        lines = lines[1:] if lines and (ENVELOPE.match(lines[0]) or lines[0].startswith("From ")) else lines
        fields: set[str] = set()
        for line in lines:
            if not line:
                break
            if _FIELD.fullmatch(line):
                fields.add(line.partition(":")[0].lower())
            elif not _FOLDED.fullmatch(line):
                return False
        return "from" in fields and len(fields.intersection(_KNOWN)) > 1

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield a draft for each thread; copies of a message and quoted lines are counted."""
        letters: dict[str, _Letter] = {}
        copies = 0
        for line, data in mails_in(source):
            letter = _letter(line, message_from_bytes(data))
            if letter.own_id in letters and letters[letter.own_id].content.told != letter.content.told:
                letter = replace(letter, own_id=f"{letter.own_id} line {line}")  # two messages under one id
            copies += letter.own_id in letters
            letters.setdefault(letter.own_id, letter)
        for thread in _threads(list(letters.values())):
            first = thread[0]
            draft = Draft((first.ancestors or (first.own_id,))[0], first.subject, place=f"line {first.line}")
            draft.count("copies of messages left out", copies)
            draft.count(
                "lines quoted from earlier messages left out", sum(letter.content.quoted_lines for letter in thread)
            )
            copies = 0
            yield from draft.fill(message for letter in thread for message in _messages(letter))


@dataclass(frozen=True, slots=True)
class _Letter:
    """A mail. `line` is the number of its first line; `ancestors` are the ids that it answers, oldest first."""

    line: int
    own_id: str
    ancestors: tuple[str, ...]
    subject: str
    speaker: str
    said: Stamp | None
    content: Said

    @property
    def moment(self) -> datetime:
        """The time to sort by; a mail without a time comes last."""
        if self.said is None:
            return datetime.max.replace(tzinfo=UTC)
        return self.said.moment if self.said.moment.tzinfo else self.said.moment.replace(tzinfo=UTC)


def _messages(letter: _Letter) -> Iterator[Message]:
    """Yield the mail's own message, then each forwarded mail as a message."""
    answered = letter.ancestors[-1] if letter.ancestors else None
    text, forwarded = letter.content.text, [one for one in letter.content.forwarded if one.body]
    if text or not forwarded:
        yield Message(letter.speaker, text, letter.said, letter.own_id, attributes=attributes(reply_to=answered))
    for number, one in enumerate(forwarded, 1):
        own_id, beside = f"{letter.own_id} forwarded {number}", attributes(forwarded_from=one.author)
        yield Message(letter.speaker, one.text, letter.said, own_id, attributes=beside)


def _letter(line: int, mail: Mail) -> _Letter:
    """Return the parsed mail; without an id, its line number identifies it."""
    answered = _MESSAGE_ID.findall(header_of(mail, "References")) or _MESSAGE_ID.findall(header_of(mail, "In-Reply-To"))
    own_id = next(iter(_MESSAGE_ID.findall(header_of(mail, "Message-ID"))), f"line {line}")
    subject = _REPLY.sub("", header_of(mail, "Subject")).strip()
    speaker = author_of(mail) or "unknown"
    return _Letter(line, own_id, tuple(answered), subject, speaker, time_of(mail), said_in_mail(mail))


def _threads(letters: Sequence[_Letter]) -> list[list[_Letter]]:
    """Return the threads of letters that answer one another, ordered by time; the oldest thread comes first."""
    roots: dict[str, str] = {}

    def root(own_id: str) -> str:
        while (parent := roots.setdefault(own_id, own_id)) != own_id:
            roots[own_id] = roots.get(parent, parent)
            own_id = parent
        return own_id

    for letter in letters:
        for ancestor in letter.ancestors:
            roots[root(letter.own_id)] = root(ancestor)
    threads: dict[str, list[_Letter]] = {}
    for letter in letters:
        threads.setdefault(root(letter.own_id), []).append(letter)
    ordered = [sorted(thread, key=lambda letter: letter.moment) for thread in threads.values()]
    return sorted(ordered, key=lambda thread: thread[0].moment)
