"""Find quotes that people announce ("Petra wrote me:"), and letters to the person who shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOST_LETTERS, _MOST_NAMES = 120, 3
_SAYS = frozenset(
    "wrote writes said says texted told tells replied answered asked sent posted messaged commented emailed mailed"
    " schrieb schreibt sagte sagt meinte meint antwortete fragte schickte gesagt geschrieben geschickt"
    " escribió dijo dice respondió écrit dit répondu scritto detto risposto escreveu disse respondeu"
    " schreef zei zegt skrev säger sa".split()
)
_BEHIND = frozenset(
    "me us this that these back to just now today yesterday again earlier here once on in by via the as follows"
    " whatsapp telegram signal mail email sms facebook slack discord facebook linkedin"
    " mir uns das dies heute gestern folgendes per nos ons mij dit".split()
)
_BEFORE = frozenset(
    "just also already had has have finally once actually then later ever even hat ha m'a nous me mir uns a".split()
)
_OWN = frozenset("i i've we we've ich wir ik wij yo io eu jag jeg j'ai".split())
_OTHERS = frozenset(
    "she he they you it who somebody someone everybody everyone nobody people sie er man ihr du es wer jemand"
    " ella él elle il on lei lui ela ele zij hij hon han this that".split()
)
_OPENERS = frozenset(
    "and but so then now here look today yesterday ok okay oh well what as because when see btw fyi also this"
    " und aber heute gestern dann was wie also schau hier".split()
)
_FROM = frozenset("from von de da van".split())
_PARTICLES = frozenset("von van de der den del della di da la le dos das bin al el".split())
_GREETING = re.compile(
    r"[> \t]*(?:hi|hello|hey|dear|hallo|liebe[rs]?|guten (?:tag|morgen|abend)|bonjour|ch[eè]re?|salut|hola"
    r"|querid[ao]|ciao|car[ao]|beste|hej|k[aä]ra|kj[aæ]re|ol[aá])(?: (?:mrs?|ms|frau|herr|mme|m|sra?)\.?)?"
    r" ([^\W\d_][^,!:\n]{0,40})[,!]\s*",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"[> \t]*(?:(?:all )?(?:my |the )?best|(?:kind|best|warm|many)(?:est)? (?:regards|wishes)|regards|cheers|love|hugs"
    r"|xo+|thanks|thank you|yours(?: \w+)?|sincerely(?: yours)?|take care|(?:mit )?(?:\w+ )?gr[uü](?:ß|ss)(?:en?)?|lg"
    r"|vg|mfg|alles liebe|bisous|cordialement|(?:un )?(?:abrazo|abraço)|saludos|besos|(?:cordiali )?saluti|baci"
    r"|groet(?:en|jes)?|kram|h[aä]lsningar)[,!.]?\s*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\s]+")


def announced(line: str) -> str | None:
    """Return the person whose words the line announces: "" if it names nobody, None if it announces nothing.

    None also if speakers announce their own words ("I wrote:").
    """
    text = line.strip(" \t*_~>")
    if not text.endswith(":") or len(text) > _MOST_LETTERS:
        return None
    words = _WORD.findall(text[:-1])
    end = len(words)
    while end and _plain(words[end - 1]) in _BEHIND:
        end -= 1
    if end and _plain(words[end - 1]) in _SAYS and not _ends_sentence(words[end - 1]):
        return _subject(words[: end - 1])
    return _behind_from(words)


def named_alone(line: str) -> str:
    """Return the name if the line is only a name and a colon, else ""."""
    text = line.strip(" \t*_~")
    words = _WORD.findall(text.removesuffix(":"))
    return " ".join(words) if text.endswith(":") and 0 < len(words) <= _MOST_NAMES and _names(words) == words else ""


def letter_to(speaker: str, lines: Sequence[str]) -> tuple[int, str] | None:
    """Return the index of the first line of a letter to the speaker, and its signer ("" if unsigned); None if none.

    A letter that greets the speaker was written by somebody else, unless the speaker signed it.
    """
    own = speaker.casefold().split()[:1]
    greetings = ((at, _GREETING.fullmatch(line)) for at, line in enumerate(lines))
    start = next((at for at, told in greetings if told and told[1].casefold().split()[:1] == own), None)
    if start is None or not any(line.strip() for line in lines[start + 1 :]):
        return None
    for at in range(start + 1, len(lines) - 1):
        signed = lines[at + 1].strip(" \t>-\u2013\u2014*.,!").split()
        if _CLOSING.fullmatch(lines[at]) and 0 < len(signed) <= _MOST_NAMES and _names(signed) == signed:
            return None if signed[0].casefold() == own[0] else (start, " ".join(signed))
    return start, ""


def _subject(words: list[str]) -> str | None:
    """Return the name at the end of the words before a verb of saying; "" if none, None if the speaker is meant."""
    while words and _plain(words[-1]) in _BEFORE and not words[-1][:1].isupper():
        words = words[:-1]
    if not words or any(_plain(word) in _OWN for word in words[-_MOST_NAMES:]):
        return None
    names = _names(words)
    return " ".join(names) if names and _plain(names[-1]) not in _OTHERS else ""


def _behind_from(words: list[str]) -> str | None:
    for at in range(max(len(words) - _MOST_NAMES - 1, 0), len(words) - 1):
        if _plain(words[at]) in _FROM and _names(words[at + 1 :]) == words[at + 1 :]:
            return " ".join(words[at + 1 :])
    return None


def _names(words: list[str]) -> list[str]:
    """Return the words of the name at the end of `words`."""
    start = len(words)
    while start and start > len(words) - _MOST_NAMES:
        word = words[start - 1]
        if start < len(words) and _ends_sentence(word):
            break
        if not (word[:1].isupper() or (word in _PARTICLES and start < len(words))):
            break
        start -= 1
    found = words[start:]
    while found and (_plain(found[0]) in _OPENERS or found[0] in _PARTICLES):
        found = found[1:]
    return found if all(not any(letter.isdigit() for letter in word) for word in found) else []


def _plain(word: str) -> str:
    return word.strip("\"'()*_.,!?").casefold().replace("\u2019", "'")


def _ends_sentence(word: str) -> bool:
    return word[-1:] in ",;:.!?)\u2026\u2013\u2014"
