"""What somebody wrote in an e-mail: its text without what it quotes, signs with, or attaches."""

from __future__ import annotations

import re
from email.message import Message as Mail

from goalmem_cli.transcripts.reading.html_text import text_from_html

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
