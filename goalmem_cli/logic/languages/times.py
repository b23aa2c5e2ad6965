"""Find the time expressions of other languages in a text and say them in English, where they are resolved.

"letzten Freitag" is "last Friday", "hace dos semanas" is "2 weeks ago", 上周五 is "Friday of last week". Where the
language of a text is not known, only what cannot be English is read: another script, or two words that English does not
have.

The usual library, dateparser, does not serve: of the 93 turns looked at in tests/logic/data/other_languages.yaml it
reads 52 right and 19 wrong, it gives a day for a week, and it is some ten times slower (2,000 turns a second at best).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from goalmem_cli.languages.patterns import late
from goalmem_cli.languages.words import CODES
from goalmem_cli.logic.days import MONTH, MONTHS
from goalmem_cli.logic.languages.numerals import kanji_number
from goalmem_cli.logic.languages.tables import Language, Rule, english_words, folded, keys, language, triggers

_WORDS = late(r"[^\W\d_]+")
_SPACELESS = late(r"[\u3040-\u30ff\u3400-\u9fff]")
_KANA = late(r"[\u3040-\u30ff]")
_ENDS = late(r"[.!?…](?=\s|$)|[。！？\n;]")
_PLACE = late(r"\{([a-z]+)\}")
_SPANS = ("in ", "for ", "over ", "since ", "until ")
_REACH = 24  # characters
_LEAST_WORDS = 2
_LONGEST = 60  # characters of a value that is a time
_GREETED = late(r"\s+(?:zusammen|allerseits|ihr|leute)\b|\s*[!,.]|\s*$")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A time expression: its position, its English, and `lead`, English words that show the tense of its sentence."""

    start: int
    end: int
    english: str
    lead: str = ""


def is_readable(code: str | None) -> bool:
    """Say whether there is a table for the language; `code` is a short tag of BCP 47 ("de", "pt-BR")."""
    return code is not None and short(code) in CODES


def phrases(text: str, lower: str, code: str | None = None) -> list[Phrase]:
    """Return the time expressions of a text in order, without overlaps.

    `lower` is the text in lower case, of the same length; `code` is its language. If that has no table, as English,
    every language is tried.
    """
    code = code if is_readable(code) else None
    plain = folded(lower)
    words = frozenset(_WORDS.findall(plain))
    if code is None and words.isdisjoint(triggers()) and not _SPACELESS.search(plain):
        return []
    found: dict[tuple[int, int], list[Phrase]] = {}
    for known in _candidates(plain, words, code):
        told: dict[tuple[int, int], Phrase] = {}
        for phrase in _in_language(known, text, lower, plain, words):
            told.setdefault((phrase.start, phrase.end), phrase)  # the first rule wins
        for place, phrase in told.items():
            found.setdefault(place, []).append(phrase)
    agreed = [each[0] for each in found.values() if len({phrase.english for phrase in each}) == 1]
    kept = [each for each in _apart(agreed) if code is not None or _is_foreign(plain[each.start : each.end])]
    return sorted(kept, key=lambda phrase: phrase.start)


def whole_phrase(value: str, code: str | None = None) -> str | None:
    """Return the English of a value that is a foreign time expression from end to end, or None.

    `code` is the value's language. Without it, all languages are tried; a value that can be English, or that languages
    read differently, gives None.
    """
    text = value.strip().rstrip(".")
    lower = text.lower()
    if len(lower) != len(text) or (code is not None and not is_readable(code)):
        return None
    plain = folded(lower)
    words = frozenset(_WORDS.findall(plain))
    if code is None and (not _may_be_foreign(plain, words) or _may_be_english(text, words)):
        return None
    told = {
        phrase.english
        for known in map(language, CODES if code is None else (short(code),))
        if not known.is_spaceless or _SPACELESS.search(plain)
        for phrase in _in_language(known, text, lower, plain, words)
        if (phrase.start == 0 or not known.is_spaceless)
        and phrase.end == len(text)
        and _LEAD.fullmatch(plain[: phrase.start])
    }
    return told.pop() if len(told) == 1 else None


def _may_be_foreign(plain: str, words: frozenset[str]) -> bool:
    """Say whether a value can match a rule: it has a key, a digit, or a letter of a language without spaces."""
    return not words.isdisjoint(keys()) or any(map(str.isdigit, plain)) or _SPACELESS.search(plain) is not None


def _may_be_english(text: str, words: frozenset[str]) -> bool:
    """Say whether a value can be English: all its words are, and "3 mai" has none that means a month there."""
    if len(text) > _LONGEST or words <= MONTH.keys():
        return True
    return words <= english_words() and not any(map(str.isdigit, text))


_LEAD = late(r"(?:(?:am|im|den|der|dem|die|das|el|la|en|le|les|l'|en|o|a|os|as|no|na|em|dia|del|al|au|du) ?)*")


def short(code: str) -> str:
    """Return the language of a tag without its country or script."""
    return re.split(r"[-_]", code.casefold())[0]


def _candidates(plain: str, words: frozenset[str], code: str | None) -> Iterator[Language]:
    """Yield the languages that have one of the words; kana are Japanese only."""
    if code is not None:
        yield language(short(code))
        return
    told = triggers()
    yield from map(language, sorted({code for word in words & told.keys() for code in told[word]}))
    if _SPACELESS.search(plain):
        yield from (language(each) for each in (("ja",) if _KANA.search(plain) else ("ja", "zh")))


def _is_foreign(expression: str) -> bool:
    """Say whether an expression, without accents, cannot be English."""
    if _SPACELESS.search(expression):
        return True
    return len([word for word in _WORDS.findall(expression) if word not in english_words()]) >= _LEAST_WORDS


def _apart(found: Iterable[Phrase]) -> list[Phrase]:
    """Return the phrases without overlaps, the longest first; of two that overlap the longer one stays."""
    kept: list[Phrase] = []
    for phrase in sorted(found, key=lambda each: (each.start - each.end, each.start)):
        if all(phrase.end <= other.start or other.end <= phrase.start for other in kept):
            kept.append(phrase)
    return kept


def _in_language(known: Language, text: str, lower: str, plain: str, words: frozenset[str]) -> Iterator[Phrase]:
    """Yield the phrases of one language; `words` are the words of `plain`, the text without accents."""
    for rule in known.rules:
        if known.is_spaceless or not rule.keys or not rule.keys.isdisjoint(words):
            for match in rule.pattern.finditer(plain):
                english = _said(rule, match, known)
                if english is not None and not ("lower" in match.groupdict() and _is_noun(text, match)):
                    yield from _told(rule, match.span(), english, known, lower, plain)


def _told(rule: Rule, span: tuple[int, int], english: str, known: Language, lower: str, plain: str) -> Iterator[Phrase]:
    """Yield the phrase at `span` with the tense of its sentence and the bound before it ("since", "until").

    A bare day or month yields nothing in a sentence about a habit.
    """
    left, right = _sentence(lower, *span)
    is_past = known.past.search(lower, left, right) is not None
    is_future = known.future.search(lower, left, right) is not None
    if rule.is_bare and (known.habit.search(lower, left, right) or plain[span[1] : span[1] + 1] == "-"):
        return
    if english.startswith("since ") and is_future and not is_past:
        return  # "desde septiembre" is also from September on
    lead = "" if is_past == is_future else "we did it " if is_past else "we will do it "
    start = span[0]
    if not english.startswith(_SPANS) and "ago" not in english.split():
        for bound, pattern in known.bounds.items():
            if before := pattern.search(plain, max(0, start - _REACH), start):
                english, start = f"{bound} {english.removeprefix('on ')}", before.start()
                break
    yield Phrase(start, span[1], english, lead)


def _sentence(lower: str, start: int, end: int) -> tuple[int, int]:
    left = max((match.end() for match in _ENDS.finditer(lower, 0, start)), default=0)
    right = _ENDS.search(lower, end)
    return left, right.end() if right else len(lower)


def _is_noun(text: str, match: re.Match[str]) -> bool:
    """Say whether a German word is written as a noun ("Guten Morgen"), not only as the first of its sentence."""
    if text[match.start()].islower():
        return False
    before = text[: match.start()].rstrip()
    return bool(before and before[-1] not in ".!?…:;\n") or _GREETED.match(text, match.end()) is not None


def _said(rule: Rule, match: re.Match[str], known: Language) -> str | None:
    """Return the match in English, or None if a part of it means nothing."""
    groups = match.groupdict()
    parts: list[str] = []
    for place in _PLACE.findall(rule.english):
        name = "number" if place == "month" and groups.get("number") else place
        value = "" if groups.get(name) is None else _part(name, groups[name], known)
        if value is None:
            return None
        parts.append(value)
    told = iter(parts)
    return " ".join(_PLACE.sub(lambda _: next(told), rule.english).split())


def _part(name: str, written: str, known: Language) -> str | None:
    """Return the English of what a pattern's group matched: a month, year, day, count or name; None if it has none."""
    if name == "number":
        number = _number(written, known)
        return MONTHS[number - 1].capitalize() if number is not None and 1 <= number <= len(MONTHS) else None
    if name == "year":
        return _year(written, known)
    if name == "day":
        day = _number(written, known)
        return str(day) if day is not None else "1"
    if name == "n":
        meant = known.meaning("n", written)
        number = None if meant else _number(written, known)
        return meant or (written.replace(",", ".") if number is None else str(number))
    meant = known.meaning(name, written)
    return meant.capitalize() if meant and name == "month" else meant  # "may" and "march" are also verbs


def _number(written: str, known: Language) -> int | None:
    """Return the whole number written in digits or in words of the language, or None."""
    if written.isdecimal():
        return int(written)
    if not known.is_spaceless:
        return known.numerals.words.get(" ".join(written.split()))
    number = kanji_number(written)
    return None if number is None or number.denominator != 1 else int(number)


def _year(written: str, known: Language) -> str | None:
    """Return the year in digits, also one counted from a Japanese era; None if it is not a number."""
    for era, before in known.eras.items():
        if written.startswith(era):
            rest = written.removeprefix(era)
            number = 1 if rest == "元" else _number(rest, known)
            return None if number is None else str(before + number)
    number = _number(written, known)
    return None if number is None else str(number)
