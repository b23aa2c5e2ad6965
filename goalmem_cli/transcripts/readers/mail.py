"""Reads e-mail, as mailboxes (mbox, as Gmail's Takeout and Thunderbird write them) and as single messages (`.eml`).

The formats are RFC 5322 and RFC 4155, with mboxrd quoting. Python's `email` parses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message as Mail

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.mail_parts import author_of, header_of, time_of
from goalmem_cli.transcripts.readers.mail_texts import ENVELOPE, Said, mails_in, said_in_mail
from goalmem_cli.transcripts.readers.quotes import with_quotes
from goalmem_cli.transcripts.reading.attributes import attributes
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp

_FIRST_LINES = 100
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9-]*:(?: .*)?")
_FOLDED = re.compile(r"[ \t].*")
_KNOWN = ("from", "date", "message-id", "subject", "received")
_MESSAGE_ID = re.compile(r"<([^<>\s]+)>")
_REPLY = re.compile(r"^(?:(?:re|aw|fwd?|wg|sv|vs|tr|rv|antw)(?:\[\d+\])?: *)+", re.IGNORECASE)


class MailReader:
    """Reads a thread as a conversation, under the id of its first message. The speaker is the author of the mail."""

    name = "mail"
    suffixes = (".eml", ".mbox")
    sign = "the fields of a message (`From:`, `Date:` ...)"

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

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield one conversation for each thread. The texts of all messages are held in memory.

        Raises:
            InputError: nothing in it is a message, or it cannot be read.
        """
        return with_quotes(conversations_from_drafts(source, self.name, _drafts(source)))


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


def _drafts(source: Source) -> Iterator[Draft]:
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


def _messages(letter: _Letter) -> Iterator[Message]:
    """Yield what was written, then each mail that is forwarded with it as a message of its own."""
    answered = letter.ancestors[-1] if letter.ancestors else None
    text, forwarded = letter.content.text, [one for one in letter.content.forwarded if one.body]
    if text or not forwarded:
        yield Message(letter.speaker, text, letter.said, letter.own_id, attributes=attributes(reply_to=answered))
    for number, one in enumerate(forwarded, 1):
        own_id, beside = f"{letter.own_id} forwarded {number}", attributes(forwarded_from=one.author)
        yield Message(letter.speaker, one.text, letter.said, own_id, attributes=beside)


def _letter(line: int, mail: Mail) -> _Letter:
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
