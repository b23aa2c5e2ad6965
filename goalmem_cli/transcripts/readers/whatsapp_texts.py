"""Recognises what WhatsApp itself writes in a message's place: omitted media, deleted messages, notices."""

from __future__ import annotations

import re
from dataclasses import dataclass

from goalmem_cli.languages.patterns import late
from goalmem_cli.transcripts.reading.written_times import MARKS

_MARK = "\u200e"
_LONGEST_END = 400
_NO_MARKS = dict.fromkeys(map(ord, MARKS))

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
