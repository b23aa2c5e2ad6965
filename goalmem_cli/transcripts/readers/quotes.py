"""Find quotes in people's messages: lines behind `>`, and pasted mails and messages of others.

Only for messengers, mail and tables: in talks with assistants, notes and code, a line behind `>` is a citation or a
prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.roles import ASSISTANT, USER, side_of
from goalmem_cli.records import QUOTES, Conversation, Turn
from goalmem_cli.transcripts.readers.announcing import announced, letter_to, named_alone
from goalmem_cli.transcripts.readers.pasted_parts import PastedParts

_VERBS = r"wrote|schrieb|schreef|escribió|écrit|scritto|escreveu|skrev"
_EARLIER = late(
    r"[>* \t]*(?:-{2,} ?(?:Original Message|Forwarded message|Ursprüngliche Nachricht|Message d'origine|"
    r"Mensaje original|Messaggio originale|Oorspronkelijk bericht|Mensagem original|Weitergeleitete Nachricht|"
    r"Message transféré|Mensaje reenviado|Messaggio inoltrato|Doorgestuurd bericht|Mensagem encaminhada)\b.*"
    r"|(?:Begin forwarded message|Anfang der weitergeleiteten Nachricht|Début du message réexpédié) ?:)\s*",
    re.IGNORECASE,
)
_FORWARDS = late(
    r".*(?:forwarded|weitergeleitet|transféré|réexpédié|reenviado|inoltrato|doorgestuurd|encaminhada)", re.IGNORECASE
)
_BEFORE_FIELD, _BEHIND_FIELD = r"[> \t]*\*?(?:", r")\s?:\*?[ \t]+"
_AUTHOR, _SENT = r"From|Von|De|Da|Van|Från|Fra", r"Sent|Gesendet|Envoyé|Enviado|Inviato|Verzonden|Skickat|Sendt"
_DATE, _TO = r"Date|Datum|Data|Fecha", r"To|An|À|Para|A|Aan|Till|Til"
_SUBJECT = r"Subject|Betreff|Objet|Asunto|Oggetto|Onderwerp|Assunto|Ämne|Emne"
_FROM = late(rf"{_BEFORE_FIELD}{_AUTHOR}{_BEHIND_FIELD}(.*[@<\w].*)", re.IGNORECASE)
_FROM_AN_HOUR = late(rf"{_BEFORE_FIELD}{_AUTHOR}{_BEHIND_FIELD}\d{{1,2}}(?!\d)", re.IGNORECASE)
_WHEN = late(rf"{_BEFORE_FIELD}{_SENT}|{_DATE}{_BEHIND_FIELD}(.*)", re.IGNORECASE)
_SECOND = late(rf"{_BEFORE_FIELD}{_SENT}|{_DATE}|{_SUBJECT}|To|An{_BEHIND_FIELD}", re.IGNORECASE)
_GIVEN_TO = late(rf"{_BEFORE_FIELD}{_SENT}|{_TO}{_BEHIND_FIELD}", re.IGNORECASE)
_GIVEN_SUBJECT = late(rf"{_BEFORE_FIELD}{_SUBJECT}{_BEHIND_FIELD}", re.IGNORECASE)
_LEAST_WITHOUT_AUTHOR = 3
_ONLY_OF_MAIL = late(rf"{_BEFORE_FIELD}{_SENT}|{_SUBJECT}{_BEHIND_FIELD}", re.IGNORECASE)
_FIELD = late(
    rf"{_BEFORE_FIELD}{_AUTHOR}|{_SENT}|{_DATE}|{_TO}|{_SUBJECT}|B?CC|Reply-To|Importance|Attachments?{_BEHIND_FIELD}",
    re.IGNORECASE,
)
_MOST_FIELDS = 9
_NAME = late(r"[\"'*\s]*([^<\[(\"]*?)[\"'*\s]*(?:[<\[(]+(?:mailto:)?([^<>\[\]()\s]*)[^\n]*)?")

_ATTRIBUTION_LINES = 3
_LONGEST_ATTRIBUTION = 500
_ENDS_ATTRIBUTION = late(rf".*(?:\d|@|<).*:\s*$|.*(?:{_VERBS})\s*:\s*$")
_WROTE = late(rf".*\b(?:(?:{_VERBS})\s*|(?:schrieb|schreef)\b[^\n]*):\s*$")
_HOW = r"(?:(?:also|already|had|just|once|finally|first|actually) ){0,2}"
_OWN = late(
    rf"\b(?:I|we|ich|wir|ik|wij|yo|io|eu|jag|jeg) {_HOW}(?:{_VERBS})\b"
    r"|\b(?:schrieb ich|schrieben wir|schreef ik|j'ai écrit|nous avons écrit)\b",
    re.IGNORECASE,
)
_HAS_DATE = late(r".*\d")
_ADDRESSED = late(r"([^\W\d][^,;:<>()\"\d]*)?\"? *\(?<(?:mailto:)?([^<>\s]+@[^<>\s]+)>")
_NAMED_BEHIND = late(r"\b(?:schrieb|schreef) ([^\W\d][^,;:<>()\d]*):\s*$")
_NAMED_BEFORE = late(
    rf"(?:,|\b\d{{4}}|:\d\d(?: ?[ap]\.?m\.?)?) +([^\W\d][^,;:<>()\d]*?) (?:ha |a )?(?:{_VERBS})\s*:\s*$", re.IGNORECASE
)
_NO_NAME = late(r"^(?:(?:am|pm|a\.m\.|p\.m\.|uhr|schrieb|schreef)\s+)+", re.IGNORECASE)

_DEEPEST = 5
MARK = late(r">[ \t]?")
_MARKED = late(r">+(?:[ \t>].*)?")
_AMOUNT = late(r"[> \t]*\d\S*(?: +\S+){0,3} *")
_ALL_QUOTED = late(r"^>>> ", re.MULTILINE)
_LETTERS = late(r"\w")
# As WhatsApp and Telegram put several messages into the clipboard.
_COPIED = late(
    r"\[(?=[^\]\n]*\d[:.]\d\d)(?=[^\]\n]*\d[./-]\d{1,2}[./-]\d)[^\]\n]{8,30}\] (?P<bracketed>[^:\n]{1,60}): .*"
    r"|(?P<named>[^\n\[\]:]{1,60}), \[(?=[^\]\n]*(?:\d[./-]\d{1,2}[./-]\d|\d{4}))"
    r"[^\]\n]{0,28}\d:\d\d[^\]\n]{0,12}\](?::.*|\s*)"
)
_MAYBE = late(
    r"^[ \t]*>|^[> \t*]*-{2,}|^\[\d|, \[|:[\s*_~]*$|"
    rf"^{_BEFORE_FIELD}{_AUTHOR}|{_SUBJECT}|{_DATE}|{_SENT}{_BEHIND_FIELD}",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a mail inside another text: author, time as written, and the index of the first line below it."""

    author: str
    sent: str
    end: int
    is_forward: bool = False


def with_quotes(conversations: Iterable[Conversation], *, may_be_of_model: bool = False) -> Iterator[Conversation]:
    """Yield the conversations; each turn with quotes gets an attribute that lists them with their authors.

    If they `may_be_of_model`, those with a model stay as they are.
    """
    is_of_model = False
    for conversation in conversations:
        turns = conversation.turns
        is_of_model = (conversation.continues and is_of_model) or (may_be_of_model and _is_with_model(turns))
        yield conversation if is_of_model else replace(conversation, turns=tuple(map(_quoting, turns)))


def _is_with_model(turns: Sequence[Turn]) -> bool:
    return any(turn.role in (USER, ASSISTANT) or side_of(turn.speaker) == ASSISTANT for turn in turns)


def _quoting(turn: Turn) -> Turn:
    if QUOTES in turn.attributes or not (quotes := quotes_in(turn.text) or _letter_in(turn)):
        return turn
    return replace(turn, attributes={**turn.attributes, QUOTES: quotes})


Quotes = list[dict[str, object]]
"""The quotes of a turn, as in its attribute."""


def quote(start: int, end: int, author: str = "") -> dict[str, object]:
    """Return a quote of `text[start:end]`; the author is blank if unknown."""
    return {"start": start, "end": end, **({"from": author} if author else {})}


def _letter_in(turn: Turn) -> Quotes:
    """Return the quotes of a letter to the speaker: the letter, and the text after it, with an unknown author."""
    lines = turn.text.split("\n")
    found = letter_to(turn.speaker, lines) if len(lines) > 1 else None
    if found is None:
        return []
    first, author = found
    start = sum(len(line) + 1 for line in lines[:first])
    end = _parts_of(lines).last_of(first, author, is_mail=True) if author else len(lines)
    middle = start + sum(len(line) + 1 for line in lines[first:end])
    rest = [quote(middle, len(turn.text))] if middle < len(turn.text) else []
    return [quote(start, min(middle, len(turn.text)), author), *rest]


def quotes_of(text: str, pieces: Iterable[tuple[str, bool]], end: int = 0) -> Quotes:
    """Return the pieces of a text that its format marks as quoted, as quotes of unknown authors.

    `pieces` are (piece, whether it is quoted) in order; they make up the text from `end` on, except for outer blanks.
    """
    quotes = Quotes()
    for piece, is_quoted in ((piece.strip(), is_quoted) for piece, is_quoted in pieces):
        start = text.find(piece, end) if piece else -1
        if start >= 0:
            end = start + len(piece)
            quotes += [quote(start, end)] * is_quoted
    return quotes


def quotes_in(text: str) -> Quotes:
    """Return the quotes in the text, in order.

    Quotes are blocks of lines behind `>`, with the lines above that name the author, and everything from the head of a
    mail or a copied message on: nothing shows where a pasted text ends.
    """
    if ("\n" not in text and text[:1] not in (">", "[")) or not _MAYBE.search(text):
        return []
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    quotes = Quotes()
    for owner, group in groupby(enumerate(_owners(lines)), key=lambda one: one[1]):
        if owner is not None:
            numbers = [number for number, _ in group]
            quotes.append(quote(starts[numbers[0]], starts[numbers[-1] + 1] - 1, owner[1]))
    return [one for one in quotes if one["end"] > one["start"]]  # type: ignore[operator]


def quotes_in_discord(text: str, own: int) -> Quotes:
    """Return the quotes in a text of Discord; all after `>>> ` is quoted, and all after the first `own` characters."""
    found = _ALL_QUOTED.finditer(text, 0, own)
    end = next((rest.start() for rest in found if text.count("```", 0, rest.start()) % 2 == 0), own)
    spans = [(end, own), (own, len(text))]
    return [*quotes_in(text[:end]), *(quote(start, stop) for start, stop in spans if start < stop)]


_Owner = tuple[int, str] | None
"""The index of a quote's first line, and its author; None for the speaker's own lines."""


def _owners(lines: Sequence[str], depth: int = 0) -> list[_Owner]:
    """Return the owner of each line; `depth` is the number of `>` that were removed from each."""
    reading = _Reading(lines, depth)
    is_code = False
    while (at := len(reading.owners)) < len(lines):
        is_code ^= lines[at].lstrip().startswith("```")
        if is_code or not (reading.takes_head(at) or reading.takes_marked(at) or reading.takes_announced(at)):
            reading.goes_on(at)
    return reading.owners


class _Reading:
    """The owners of the lines read so far; `pasted` is the owner of the last pasted text."""

    def __init__(self, lines: Sequence[str], depth: int) -> None:
        self.owners: list[_Owner] = []
        self.pasted: _Owner = None
        self._lines = lines
        self._depth = depth
        self._is_all_marked = False
        self._until = len(lines)

    def goes_on(self, at: int) -> None:
        """Give the line to the owner of the line before.

        After a mail that was pasted behind `>`, it is the speaker's. After the sure end of other pasted texts, its
        owner is unknown.
        """
        line = self._lines[at].strip()
        if self._is_all_marked and line:
            self.pasted, self._is_all_marked = None, False
        elif self.pasted is not None and self.pasted[1] and at >= self._until:
            self.pasted = (at, "")
        self.owners.append(self.pasted)

    def _pastes(self, at: int, author: str, start: int, *, is_mail: bool) -> None:
        """Begin a pasted text at line `at`; its words begin at line `start`."""
        self.pasted, self._is_all_marked = (at, author), False
        self._until = self._parts.last_of(start, author, is_mail=is_mail) if author else len(self._lines)

    @cached_property
    def _following(self) -> list[int]:
        """For each index the first one from there on with a filled line, and for the end the end."""
        found = [len(self._lines)]
        for at in range(len(self._lines) - 1, -1, -1):
            found.append(at if self._lines[at].strip() else found[-1])
        return found[::-1]

    @cached_property
    def _parts(self) -> PastedParts:
        return _parts_of(self._lines)

    def takes_head(self, at: int) -> bool:
        """Read the head of a mail or of a copied message at this line; return whether there was one."""
        head = head_of_mail(self._lines, at)
        if head is not None:
            self._pastes(at, head.author, head.end, is_mail=True)
            self._is_all_marked = self._lines[head.end - 1].startswith(">")
            self.owners += [self.pasted] * (head.end - at)
        elif copied := _COPIED.fullmatch(self._lines[at]):
            self._pastes(at, (copied["bracketed"] or copied["named"]).strip(), at, is_mail=False)
            self.owners.append(self.pasted)
        else:
            return False
        return True

    def takes_marked(self, at: int) -> bool:
        """Read a block of lines behind `>`, with the lines above that name its author; return whether there was one.

        Quotes inside the block have owners of their own.
        """
        end = at
        while end < len(self._lines) and _MARKED.fullmatch(self._lines[end]):
            end += 1
        first, author = _attributed(self._lines, at) if end > at else (at, "")
        is_quote = not (self._is_all_marked and not author) and _is_quote(self._lines[at:end])
        owner = (at, author) if is_quote else self.pasted
        self.owners[first if is_quote else at :] = [owner] * (end - (first if is_quote else at))
        if owner is not None and self._depth < _DEEPEST:
            within = _owners([MARK.sub("", line, count=1) for line in self._lines[at:end]], self._depth + 1)
            self.owners[at:] = [owner if one is None else (at + one[0], one[1]) for one in within]
        return end > at

    def takes_announced(self, at: int) -> bool:
        """Read a line that announces the author of all that follows; return whether it was one."""
        following = self._following[at + 1]
        if following == len(self._lines) or _MARKED.fullmatch(self._lines[following]):
            return False
        told = len(self._lines[at]) <= _LONGEST_ATTRIBUTION and _WROTE.fullmatch(self._lines[at])
        first, author = _attributed(self._lines, at + 1) if told else (at + 1, None)
        if first > at:
            author = announced(self._lines[at])
        if author is None:
            return False
        self.goes_on(at)
        self._pastes(first, author, at + 1, is_mail=False)
        self.owners[first:] = [self.pasted] * (at + 1 - first)
        return True


def head_of_mail(lines: Sequence[str], at: int, *, is_in_mail: bool = False) -> Head | None:
    """Return the head of a mail that begins at line `at`, with or without a line such as "Original Message" above it.

    Without such a line, and outside of mails, it needs an address, a subject or "sent": journeys have "from" and "to".
    """
    marker = _EARLIER.fullmatch(lines[at])
    start = at if marker is None else _filled(lines, at + 1)
    end = start
    while end < min(len(lines), start + _MOST_FIELDS) and _FIELD.match(lines[end]):
        end += 1
    fields = lines[start:end]
    if marker is None and not _are_of_mail(fields, is_in_mail=is_in_mail):
        return None
    author = next((match[1] for line in fields if (match := _FROM.fullmatch(line.rstrip()))), "")
    sent = next((match[1] for line in fields if (match := _WHEN.match(line))), "")
    is_forward = marker is not None and _FORWARDS.match(lines[at]) is not None
    return Head(_name(author), sent.strip(), end if fields else at + 1, is_forward)


def _are_of_mail(fields: Sequence[str], *, is_in_mail: bool) -> bool:
    """Say whether these lines are the head of a mail, if no line above says so; the author may be missing."""
    if any(map(_FROM_AN_HOUR.match, fields)):
        return False
    author = next((line for line in fields if _FROM.match(line)), "")
    is_only_mail = any(map(_ONLY_OF_MAIL.match, fields))
    if author:
        is_near = author != fields[0] or any(map(_SECOND.match, fields[1:3]))
        return is_near and (is_in_mail or "@" in author or is_only_mail)
    is_whole = len(fields) >= _LEAST_WITHOUT_AUTHOR and any(map(_GIVEN_TO.match, fields))
    return is_whole and any(map(_GIVEN_SUBJECT.match, fields))


def _name(text: str) -> str:
    found = _NAME.fullmatch(text.strip()[:_LONGEST_ATTRIBUTION])
    return " ".join((found[1] or found[2] or "").split()) if found else ""


def _filled(lines: Sequence[str], at: int) -> int:
    """Return the index of the next line that is not blank."""
    return next((number for number in range(at, len(lines)) if lines[number].strip()), len(lines))


def _parts_of(lines: Sequence[str]) -> PastedParts:
    return PastedParts(
        lines, [at for at, line in enumerate(lines) if _COPIED.fullmatch(line) or _EARLIER.fullmatch(line)]
    )


def _last_filled(lines: Sequence[str], end: int) -> int:
    """Return the index of the last line before `end` that is not blank, -1 if there is none."""
    return next((number for number in range(end - 1, -1, -1) if lines[number].strip()), -1)


def _is_quote(lines: Sequence[str]) -> bool:
    """Say whether lines behind `>` are a quote: they have words, and are not one amount ("> 5 km")."""
    return any(map(_LETTERS.search, lines)) and not (len(lines) == 1 and _AMOUNT.fullmatch(lines[0]))


def _attributed(lines: Sequence[str], end: int) -> tuple[int, str]:
    """Return the first line that names the author of the quote at `end`, and the author; `end` and "" if none does."""
    start = attribution_start(lines, end)
    told = " ".join(lines[start:end])
    if start == end or _OWN.search(told) or not (_WROTE.fullmatch(told.rstrip()) or _ADDRESSED.search(told)):
        last = lines[_last_filled(lines, end)] if end and any(lines[max(end - 2, 0) : end]) else ""
        return end, announced(last) or named_alone(last)
    if addressed := _ADDRESSED.search(told):
        return start, _NO_NAME.sub("", (addressed[1] or "").strip()).strip() or addressed[2]
    named = _NAMED_BEHIND.search(told) or _NAMED_BEFORE.search(told)
    return start, named[1].strip() if named else ""


def attribution_start(lines: Sequence[str], end: int) -> int:
    """Return the first of the lines right above `end` that name a quote's author; `end` if there are none."""
    last = _last_filled(lines, end)
    if last < 0 or len(lines[last]) > _LONGEST_ATTRIBUTION or not _ENDS_ATTRIBUTION.match(lines[last]):
        return end
    for start in range(last, max(last - _ATTRIBUTION_LINES, -1), -1):
        if not lines[start].strip() or len(lines[start]) > _LONGEST_ATTRIBUTION:
            break
        if _HAS_DATE.match(lines[start]):
            return start
    return end
