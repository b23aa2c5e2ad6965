"""Reads WhatsApp's exported chats, of Android and iOS, in the date styles of every language with common digits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import lru_cache
from pathlib import Path

from goalmem_cli.languages.patterns import late
from goalmem_cli.records import STANDARD_INPUT
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import attributes
from goalmem_cli.transcripts.reading.day_orders import Certainty, Dating, Order, Written, dating_of, settled
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import (
    NearMisses,
    Opening,
    are_log_levels,
    messages_from_openings,
    openings_with_text,
)
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp
from goalmem_cli.transcripts.reading.written_times import MARKS, written_from_text

_LONGEST_STAMP = 60
_LONG_YEAR = 100
_DASHES = (" - ", " – ", " — ")


class Form(Enum):
    """How date and time are separated from the rest: on iOS now, on Android, on iOS until about 2017."""

    BRACKETS = "["
    DASH = "-"
    COLON = ":"


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a message's first line, its form, and the rest of the line."""

    written: Written
    form: Form
    rest: str

    @property
    def layout(self) -> tuple[str, bool]:
        """How its date is written. Two layouts in one file are from two phones, and may differ in their order."""
        return self.written.style.mark, max(self.written.numbers) >= _LONG_YEAR


def header_from_line(line: str) -> Header | None:
    """Return the header that a line begins with; None if the line continues a message."""
    line = line.lstrip(MARKS)
    if line.startswith("["):
        end = line.find("]", 1, _LONGEST_STAMP)
        written = written_from_text(line[1:end]) if end > 0 else None
        return None if written is None else Header(written, Form.BRACKETS, line[end + 1 :])
    end = next((end for dash in _DASHES if (end := line.find(dash, 0, _LONGEST_STAMP)) > 0), 0)
    if end > 0 and (written := written_from_text(line[:end])) is not None:
        return Header(written, Form.DASH, line[end + 3 :])
    if line[:1].isdigit() and (end := line.find(": ", 0, _LONGEST_STAMP)) > 0:
        written = written_from_text(line[:end])
        if written is not None and written.style.has_seconds:
            return Header(written, Form.COLON, line[end + 2 :])
    return None


def headers_from_lines(lines: Iterable[tuple[int, str]]) -> Iterator[Header]:
    """Yield the headers among the lines."""
    return (header for _, line in lines if (header := header_from_line(line)) is not None)


_LONGEST_NAME = 100
_NO_MARKS = dict.fromkeys(map(ord, MARKS))
_QUOTES = ("“”", "«»", "「」", "『』", "‹›")
_GERMAN_QUOTES = ("„", "“”")
# The end of a sentence inside a text, after a word of some length: the "Dr." of a name does not match.
_SENTENCE = re.compile(r"\w{4,}[.!?] \w|[。！？]")
_SENTENCE_WORDS = 6
_WORDS_BEHIND_NAME = 4
_WORDS_OF_NAME = 4


class Speakers:
    """The names before the colons of a chat, and how often each occurs."""

    def __init__(self) -> None:
        self._spaced: Counter[str] = Counter()
        self._tight: Counter[str] = Counter()
        self._told: dict[str, str] = {}

    def heard_in(self, headers: Iterable[Header]) -> Iterator[Header]:
        """Yield the headers, and count the names in them."""
        for header in headers:
            name, colon, _ = _parted(header.rest)
            if colon:
                self._spaced[_plain(name)] += 1
            else:
                name, colon, _ = header.rest.partition(":")
                self._tight[_plain(name)] += bool(colon)
            yield header

    def speaker_and_text(self, header: Header) -> tuple[str, str]:
        """Return the speaker and the first line of the text; the speaker is "" if the line is a notice.

        All headers of the chat must have passed `heard_in` before.
        """
        rest = header.rest.strip()
        name, colon, text = _parted(rest)
        if not colon or ":" in name:
            first, tight, behind = rest.partition(":")
            if tight and self._speaks_without_blank(_plain(first), behind, _plain(name) if colon else ""):
                name, colon, text = first, tight, behind
        if not colon:
            return "", rest
        if name not in self._told:
            speaker = _plain(name)
            self._told[name] = "" if len(speaker) > _LONGEST_NAME or self._is_notice(speaker) else speaker
        return (self._told[name], text) if self._told[name] else ("", rest)

    def _speaks_without_blank(self, name: str, text: str, otherwise: str) -> bool:
        """Say whether Ben speaks in `Ben:text`: he speaks elsewhere, or no colon in the chat has a blank after it."""
        if not name or text.startswith("//") or self._spaced[otherwise] > 1:
            return False
        if otherwise or self._spaced[name]:
            return self._spaced[name] > 0
        return not self._spaced and (self._tight[name] > 1 or len(name.split()) <= _WORDS_OF_NAME)

    def _is_notice(self, name: str) -> bool:
        """Say whether the text before the colon is a notice: an open quote, sentences, or what somebody did.

        In most languages a group's name with a colon is in quotes. In the others, a notice begins with a name that
        speaks elsewhere, and only the number of words after that name shows that it is one.
        """
        if name.count('"') % 2 or any(name.count(pair[0]) > name.count(pair[1]) for pair in _QUOTES):
            return True
        opened, closed = _GERMAN_QUOTES
        if name.count(opened) > sum(map(name.count, closed)):
            return True
        if self._spaced[name] > 1:
            return False
        words = name.split()
        if _SENTENCE.search(name) and (len(words) >= _SENTENCE_WORDS or not name.isascii()):
            return True
        return any(self._spaced[" ".join(words[:count])] > 1 for count in range(1, len(words) - _WORDS_BEHIND_NAME + 1))


def _parted(rest: str) -> tuple[str, str, str]:
    """Split at the first colon that a blank follows, or at a colon at the end of the line."""
    name, colon, text = rest.partition(": ")
    if not colon and (stripped := rest.rstrip()).endswith(":"):
        return stripped[:-1], ":", ""
    return name, colon, text


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    return " ".join(name.translate(_NO_MARKS).split()).removeprefix("~").strip()


_MARK = "\u200e"
_LONGEST_END = 400

# Android writes these without any mark, so only known words distinguish them from what somebody said.
_DELETED = frozenset(
    {
        "this message was deleted", "you deleted this message", "diese nachricht wurde gelöscht",
        "du hast diese nachricht gelöscht", "se eliminó este mensaje", "eliminaste este mensaje",
        "ce message a été supprimé", "vous avez supprimé ce message", "questo messaggio è stato eliminato",
        "hai eliminato questo messaggio", "esta mensagem foi apagada", "mensagem apagada", "você apagou esta mensagem",
        "apagou esta mensagem", "dit bericht is verwijderd", "je hebt dit bericht verwijderd",
        "данное сообщение удалено", "вы удалили данное сообщение", "bu mesaj silindi", "bu mesajı sildiniz",
    }
)  # fmt: skip
_NOTICES = frozenset(
    {
        "missed voice call", "missed video call", "missed group voice call", "missed group video call", "voice call",
        "video call", "null", "waiting for this message. this may take a while",
    }
)  # fmt: skip
_ATTACHED = (
    "file attached", "datei angehängt", "archivo adjunto", "fichier joint", "file allegato", "arquivo anexado",
    "ficheiro anexado", "bestand bijgevoegd", "файл добавлен", "dosya ekli",
)  # fmt: skip
_EDITED = (
    "this message was edited", "diese nachricht wurde bearbeitet", "se editó este mensaje", "ce message a été modifié",
    "questo messaggio è stato modificato", "mensagem editada", "esta mensagem foi editada", "dit bericht is bewerkt",
    "сообщение изменено", "данное сообщение изменено", "bu mesaj düzenlendi",
)  # fmt: skip
# Kinds of media, and the words for "left out".
_OMITTED = (
    ("image|video|video note|audio|GIF|sticker|document|contact card", "omitted"),
    ("Bild|Video|Audio|GIF|Sticker|Dokument", "weggelassen"), ("Kontaktkarte", "ausgelassen"),
    ("imagen|video|audio|GIF|sticker|documento|tarjeta de contacto", "omitid[oa]"),
    ("image|vidéo|audio|GIF|sticker|document|fiche contact", "absente?|omise?|manquante?|retirée?"),
    ("immagine|video|audio|GIF|sticker|documento|scheda contatto", "omess[oa]|esclus[oa]|non inclus[oa]"),
    ("imagem|vídeo|(?:ficheiro de )?áudio|GIF|sticker|figurinha|documento|contacto", "não revelad[oa]|omitid[oa]"),
    ("afbeelding|video|audio|GIF|sticker|document|contactkaart", "weggelaten"),
)  # fmt: skip

_ENCRYPTED = late(
    r"(?=.{0,30}(?:message|nachricht|mensaje|messaggi|mensage|bericht|сообщени|mesaj|消息|訊息|メッセージ|메시지|الرسائل|הודעות))"
    r".{0,120}(?:end-to-end|ende-zu-ende|extremo a extremo|bout en bout|pont[ao] a pont[ao]|сквозн|uçtan uca|"
    r"端[到對对]端|エンドツーエンド|종단|بين الطرفين|מקצה לקצה)",
    re.IGNORECASE,
)
_DAY_FIRST = late(
    r"ende-zu-ende|extremo a extremo|bout en bout|pont[ao] a pont[ao]|crittografat|versleuteld|сквозн|uçtan uca|"
    r"מקצה לקצה|بين الطرفين",
    re.IGNORECASE,
)
"""Words of the notice in languages whose dates always begin with the day. English dates do so in some countries."""
_ATTACHMENT = late(rf"{_MARK}?[^\n<>:]{{1,200}}\.\w{{1,5}} \((?P<words>[^()\n]{{1,40}})\)")
_OWN_NAME = late(r"[A-Z]{3}-\d{8}-WA\d", re.ASCII)
_ONLY_BRACKETS = late(r"<(?=[^<>]*[^!-~])[^<>]{3,60}>")
_OMISSION = "|".join(f"(?:{what}) (?:{end})" for what, end in _OMITTED)
_OMITTED_END = late(rf"(?:^|[\s{_MARK}])(?:{_OMISSION}|<[^<>:\n]{{1,40}}: ?[^<>:\n]+\.\w{{1,5}}>)$", re.IGNORECASE)
_MAY_BE_OMITTED = late(rf"(?:>|{'|'.join(end for _, end in _OMITTED)})$", re.IGNORECASE)
_LONGEST_WORDS = 20
_EDITED_END = late(rf"[\s{_MARK}]*<(?:{'|'.join(_EDITED)})\.?>$", re.IGNORECASE)
_BRACKETS_END = late(rf"\s*{_MARK}<[^<>:\n]{{3,60}}>$")


@dataclass(frozen=True, slots=True)
class Kept:
    """What somebody said in a message. With `is_cut`, media, a deletion or a notice took its place or part of it."""

    text: str
    is_cut: bool = False
    is_edited: bool = False


def begins_with_day(line: str) -> bool:
    """Say whether the line has the notice at the head of a chat, in a language in which dates begin with the day."""
    return _ENCRYPTED.search(line) is not None and _DAY_FIRST.search(line) is not None


def is_about_encryption(text: str) -> bool:
    """Say whether the text is the notice at the head of a chat; some exports name a speaker for it."""
    return _ENCRYPTED.match(text.translate(_NO_MARKS)) is not None


def kept_from_text(text: str, *, is_ios: bool) -> Kept:
    """Return the part of a message's text that its speaker said.

    On iOS (`is_ios`) a line that begins with U+200E is WhatsApp's in every language, unless it has a link or further
    lines, as places and polls do.
    """
    said = text.strip()
    bare = said.strip(_MARK).rstrip(".").lower()
    is_marked = is_ios and said.startswith(_MARK) and "\n" not in said and "://" not in said
    if is_marked or bare in _DELETED or bare in _NOTICES:
        return Kept("", is_cut=True)
    unedited = _without_end(said, _EDITED_END) if said.endswith(">") else said
    if is_ios and unedited == said and said.endswith(">"):
        unedited = _without_end(said, _BRACKETS_END)
    without = _without_media(unedited)
    kept = without.strip(f"{_MARK} \n\t").translate(_NO_MARKS)
    return Kept(kept, is_cut=without != unedited, is_edited=unedited != said)


def _without_media(text: str) -> str:
    """Return the text without a file or its stand-in, which are the first line or the end of the text."""
    first, _, caption = text.partition("\n")
    if _ONLY_BRACKETS.fullmatch(first.strip(f"{_MARK} ")) or _is_attachment(first):
        return caption
    return _without_end(text, _OMITTED_END) if _MAY_BE_OMITTED.search(text[-_LONGEST_WORDS:]) else text


def _without_end(text: str, end: re.Pattern[str]) -> str:
    """Return the text without a match at its end. Only the last characters are searched, as WhatsApp writes no more."""
    tail = text[-_LONGEST_END:]
    match = end.search(tail)
    return text if match is None else text[: len(text) - len(tail) + match.start()]


def _is_attachment(line: str) -> bool:
    match = _ATTACHMENT.fullmatch(line)
    if match is None:
        return False
    return line.startswith(_MARK) or bool(_OWN_NAME.match(line)) or match["words"].lower() in _ATTACHED


Layout = tuple[str, bool]

_FIRST_LINES = 10
_FIRST_MESSAGES = 3
# A date, a time, a mark that ends both, and a name with a colon.
_NEARLY = re.compile(
    r"\W{0,4}(?:[^\W\d]{1,12}\W{1,3})?\d{1,4}\D{1,8}\d{1,2}\D{1,4}\d{1,4}\D{1,20}\d{1,2}[:.h]\d\d"
    r"[^\n]{0,20}?(?:\]|\)| [-–—|]|:) ?[^:\n]{1,100}:"
)
_CHAT_FILE = "_chat"
_CHAT_NAME = re.compile(
    r"(?:WhatsApp[ _-]?Chat(?:[ _](?:with|mit|met))?|Chat[ _](?:de[ _])?WhatsApp[ _](?:con|de)|"
    r"Discussion[ _]WhatsApp[ _]avec|Conversa[ _](?:do|no)[ _]WhatsApp[ _]com|Чат[ _]WhatsApp[ _]с(?:[ _]контактом)?)"
    r"[ _](?:-[ _])?(?P<name>.*?\S)(?:[ _]?\(\d{1,3}\))?",
    re.IGNORECASE,
)
_CHINESE_NAME = re.compile(r"[与與](?P<name>.+)的 ?WhatsApp ?(?:聊天|对话|對話)(?:[ _]?\(\d{1,3}\))?")


class WhatsappReader(DraftReader):
    """Reads a file as one chat. All its dates together decide whether they begin with the day or the month."""

    name = "whatsapp"
    suffixes = (".txt",)
    sign = "a date, a time and `Name: text`, in any language's form"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines begins like a message, and is not another program's."""
        lines = [line for line in glimpse.head.split("\n") if line.strip()]
        if not any(header_from_line(line) for line in lines[:_FIRST_LINES]):
            return False
        if "whatsapp" in Path(glimpse.file).name.lower() or Path(glimpse.file).stem == _CHAT_FILE:
            return True
        speakers = Speakers()
        headers = list(speakers.heard_in(header for line in lines if (header := header_from_line(line))))
        names = [name for header in headers if (name := speakers.speaker_and_text(header)[0])]
        return bool(names) and not are_log_levels(names) and not _is_of_another_program(headers[0], glimpse.head)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the chat; its form, speakers and order of dates are found over the whole file first."""
        speakers = Speakers()
        first = next(headers_from_lines(source.lines()), None)
        counted: Counter[Layout] = Counter()
        dates = _dates(source, first, speakers, counted)
        dating = dating_of(dates)
        if first is None or dating is None:
            reason = "no line begins with a date and a time as WhatsApp writes them"
            raise source.error("", reason, "years are those of the Gregorian or the Buddhist calendar")
        draft = Draft(*_names(source.file))
        chat = _Chat(source, draft, speakers, first.form, _datings(source, first, dating, counted))
        openings = openings_with_text(source, chat.opening_of, draft.count_stray)
        return draft.fill(messages_from_openings(draft, chat.said_in(openings)))


def _dates(source: Source, first: Header | None, speakers: Speakers, counted: Counter[Layout]) -> Iterator[Written]:
    """Yield the dates of the headers in the form of the first, which all others have too, and count their layouts."""
    for header in speakers.heard_in(headers_from_lines(source.lines())):
        if first is not None and header.form is first.form:
            counted[header.layout] += 1
            yield header.written


def _datings(source: Source, first: Header, dating: Dating, counted: Counter[Layout]) -> Mapping[Layout, Dating]:
    """Return the order of the dates, for each layout in the file.

    If there are several, a layout's own dates decide; if they leave it open, it has the order of all dates together.
    """
    if len(counted) == 1:
        return dict.fromkeys(counted, _settled(source, dating))
    datings: dict[Layout, Dating] = {}
    for layout in counted:
        headers = headers_from_lines(source.lines())
        own = dating_of(one.written for one in headers if one.form is first.form and one.layout == layout)
        is_sure = own is not None and own.certainty in (Certainty.SURE, Certainty.ORDERLY)
        datings[layout] = own if own is not None and is_sure else _settled(source, dating)
    return datings


def _settled(source: Source, dating: Dating) -> Dating:
    """Return the order to use; where the dates leave it open, the chat's language may tell it."""
    is_clear = dating.certainty in (Certainty.SURE, Certainty.ORDERLY) or source.order is not None
    if not is_clear and any(map(begins_with_day, source.head.split("\n")[:_FIRST_MESSAGES])):
        return Dating(Order.DAY_FIRST, Certainty.SURE)
    return settled(source, dating)


class _Chat:
    """Reads a file's messages in the form and the orders of dates that were decided for it."""

    def __init__(
        self, source: Source, draft: Draft, speakers: Speakers, form: Form, datings: Mapping[Layout, Dating]
    ) -> None:
        self._draft = draft
        self._speakers = speakers
        self._form = form
        self._datings = datings
        self._near_misses = NearMisses(draft, _NEARLY, source)

    def opening_of(self, line: str) -> Opening | None:
        """Return the message that begins on the line; None if the line continues one."""
        header = header_from_line(line)
        if header is None or header.form is not self._form:
            self._near_misses.look_at(line)
            return None
        dating = self._datings[header.layout]
        moment = header.written.moment(dating.order) or self._moment_otherwise(header)
        if moment is None:
            self._near_misses.count(line)
            return None
        if dating.certainty is Certainty.USUAL and header.written.could_be_either:
            self._draft.count(f"times that could be read in two ways, read as {dating.order.value}")
        speaker, text = self._speakers.speaker_and_text(header)
        return Opening(speaker, Stamp(moment), text)

    def _moment_otherwise(self, header: Header) -> datetime | None:
        """Return the time of a date that is possible in one order only, when the other dates have another order."""
        moments = {moment for order in Order if (moment := header.written.moment(order)) is not None}
        if len(moments) != 1:
            return None
        self._draft.count("dates that are possible in another order only")
        return moments.pop()

    def said_in(self, openings: Iterator[Opening]) -> Iterator[Opening]:
        """Yield what people said; WhatsApp's own notices are counted."""
        for number, opening in enumerate(openings):
            if not opening.speaker or (number < _FIRST_MESSAGES and is_about_encryption(opening.text)):
                self._draft.count("notices of WhatsApp left out")
                continue
            kept = kept_from_text(opening.text, is_ios=self._form is not Form.DASH)
            if kept.is_cut:
                self._draft.count("media, deleted messages and notices left out")
            if kept.text or not kept.is_cut:
                yield Opening(
                    opening.speaker, opening.said, kept.text, attributes(edited=True) if kept.is_edited else None
                )


def _is_of_another_program(header: Header, head: str) -> bool:
    """Say whether dates such as ``[2023-12-31, 21:15]`` are Signal's, or a log's: WhatsApp's have invisible marks."""
    written = header.written
    is_iso = (
        header.form is not Form.DASH and written.is_year_first and written.style.mark == "-" and not written.style.half
    )
    return is_iso and "\u200e" not in head


def _names(file: str) -> tuple[str | None, str | None]:
    """Return the chat's own id if the file or its folder is named after the chat, else its title; the other is None."""
    path = Path(file)
    if file == STANDARD_INPUT:
        return None, None
    stem = path.parent.name if path.stem == _CHAT_FILE else path.stem
    match = _CHAT_NAME.fullmatch(stem.strip()) or _CHINESE_NAME.fullmatch(stem.strip())
    return (match["name"], None) if match else (None, stem.strip() or None)
