"""Normal forms of short phrases: lower case, no articles, number words in digits; and stems for comparison."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from goalmem_cli.languages.patterns import late

_VERBS = """
arise arose arisen, awake awoke awoken, beat beaten, become became, begin began begun, bend bent, bite bitten, bleed
bled, blow blew blown, break broke broken, breed bred, bring brought, build built, buy bought, catch caught, choose
chose chosen, cling clung, come came, creep crept, deal dealt, dig dug, draw drew drawn, dream dreamt, drink drank
drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found, flee
fled, fly flew flown, forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven, freeze froze
frozen, get got gotten, give gave given, go goes going gone went, grow grew grown, hang hung, have has had, hear
heard, hide hid hidden, hold held, keep kept, kneel knelt, know knew known, lay laid, lead led, lean leant, leap
leapt, learn learnt, leave left, lend lent, lie lain, light lit, lose lost, make made, mean meant, meet met, mistake
mistook mistaken, overcome overcame, pay paid, prove proven, ride rode ridden, ring rang rung, rise risen, run ran,
say said, see saw seen, seek sought, sell sold, send sent, sew sewn, shake shook shaken, shine shone, shoot shot,
show shown, shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat, sleep slept, slide slid, sow sown, speak
spoke spoken, spend spent, spin spun, spoil spoilt, stand stood, steal stole stolen, stick stuck, sting stung,
strike struck, swear swore sworn, sweep swept, swell swollen, swim swam swum, swing swung, take took taken, teach
taught, tear tore torn, tell told, think thought, throw threw thrown, understand understood, undo undone undid, wake
woke woken, wear wore worn, weave wove woven, weep wept, win won, withdraw withdrew withdrawn, write wrote written
"""
"""Each verb with its irregular forms. Forms that are mostly another word are left out: rose, lay, ground, wound."""

BASES: Mapping[str, str] = {
    form: base for base, *forms in (verb.split() for verb in _VERBS.split(",")) for form in forms
}
"""The base verb of each irregular form: broke -> break, broken -> break."""

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TEN_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_TENS = {word: 10 * place for place, word in enumerate(_TEN_WORDS, 2)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth"
).split()
_SMALL = {word: value for value, word in enumerate(_UNITS)} | {word: value for value, word in enumerate(_ORDINALS, 1)}
_SMALL |= {f"{word[:-1]}ieth": value for word, value in _TENS.items()}
_SPELT = frozenset(_SMALL) | frozenset(_TENS)
_COUNTS = {"once": "1", "twice": "2", "thrice": "3", "dozen": "12"}

_ARTICLES = frozenset({"a", "an", "the"})
FUNCTION_WORDS = _ARTICLES | frozenset(
    "of in on at to for with from by and or her his their my your our its is was were be been am are that this "
    "some any as into about".split()
)
THIRD_PERSONS = frozenset("he she him her his hers they them their theirs".split())
_UNSPACED = late("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
"""Letters of the scripts that put no spaces between words: Thai, Lao, Japanese, Chinese."""
_LAST_OF_ENDINGS = frozenset("sgde")
SENTENCE_END = late(r"(?<=[.!?…;])\s+|\n")
_WORD = late(r"[^\W_]+(?:['’.,:][^\W_]+)*%?|%")
_THOUSANDS = late(r"(?<=\d),(?=\d{3}(?!\d))")
_ORDINAL_DIGITS = late(r"(\d+)(?:st|nd|rd|th)")


def words(text: str) -> list[str]:
    """Return the words in order, in lower case, with compatibility forms folded and numbers in digits."""
    return list(_words(text))


@lru_cache(maxsize=4096)  # queries, checks and costs read the same turns again
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, with numbers as digits."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    found = [word.removesuffix("'s") for word in _WORD.findall(_THOUSANDS.sub("", folded.replace("-", " ")))]
    if not folded.isascii():
        found = [part for word in found for part in _parts(word)]
    return tuple(_digits(found))


def _parts(word: str) -> list[str]:
    """Return the word in parts: a run of Chinese or Japanese characters as overlapping pairs, the rest unchanged."""
    parts, at = [], 0
    for run in _UNSPACED.finditer(word):
        parts += [word[at : run.start()]] if run.start() > at else []
        parts += [run[0][place : place + 2] for place in range(len(run[0]) - 1)] or [run[0]]
        at = run.end()
    return [*parts, *([word[at:]] if at < len(word) else [])]


def normalise(text: str) -> str:
    """Return the phrase in lower case without articles and punctuation, with number words in digits."""
    kept = [word for word in words(text) if word not in _ARTICLES]
    return " ".join(kept) if kept else " ".join(words(text))


def content_words(text: str) -> frozenset[str]:
    """Return the words that carry meaning; all words if none does."""
    found = frozenset(_words(text))
    return found - FUNCTION_WORDS or found


PARTICLES = frozenset("von van vom zu der den de del della di da dos das du des la le les el al bin ibn y".split())
"""The small words in names: Ana de la Cruz, Jan van der Berg, Omar al-Sayed."""


def name_words(text: str) -> frozenset[str]:
    """Return the content words of a name without particles such as "de"; all of them if nothing else is left."""
    found = content_words(text)
    return found - PARTICLES or found


def name_stems(text: str) -> frozenset[str]:
    """Return the stems of a name's words without its particles."""
    return frozenset(map(stem, name_words(text)))


@lru_cache(maxsize=16384)  # texts share most of their words
def stem(word: str) -> str:
    """Return the word without its English plural or verb ending."""
    word = BASES.get(word, word)
    if word[-1:] not in _LAST_OF_ENDINGS:
        return word
    for ending, kept in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)] + kept
    return word


@lru_cache(maxsize=4096)  # every query and subgoal is compared with the same turns
def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset(stem(word) for word in content_words(text))


def numbers(text: str) -> tuple[float, ...]:
    """Return the numbers in the text, in digits or words, in order."""
    found = []
    for word in words(text):
        match = re.fullmatch(r"(\d+(?:[.:]\d+)?)([^\W\d]*)%?", word)
        if match and (":" not in match[1]):
            found.append(float(match[1]) * (1000 if match[2] == "k" else 1))
    return tuple(found)


def _digits(found: list[str]) -> list[str]:
    """Replace runs of number words by one number: two hundred and five -> 205."""
    if _SPELT.isdisjoint(found):
        return [_COUNTS.get(word, word) if word.isalpha() else _single(word) for word in found]
    result: list[str] = []
    total = current = 0
    run: list[str] = []
    for word in [*found, ""]:
        value = _SMALL.get(word, _TENS.get(word))
        if value is not None and _continues(run, word):
            current += value
            run.append(word)
        elif word in _SCALES and run:
            total, current = (total, current * 100) if word == "hundred" else (total + current * _SCALES[word], 0)
            run.append(word)
        elif word == "and" and run and run[-1] in _SCALES:
            run.append(word)
        else:
            if run:
                result += [str(total + current)] + ["and"] * (run[-1] == "and")
            total, current, run = 0, 0, []
            if value is not None:
                current, run = value, [word]
            elif word:
                result.append(_single(word))
    return result


def _continues(run: list[str], word: str) -> bool:
    """Say whether the number word continues the number before it: "twenty one", "hundred five"; not "five five"."""
    if not run or word in _TENS:
        return not run or run[-1] in _SCALES or run[-1] == "and"
    return run[-1] in _TENS or run[-1] in _SCALES or run[-1] == "and"


@lru_cache(maxsize=16384)
def _single(word: str) -> str:
    if word.isalpha():  # the common case
        return _COUNTS.get(word, word)
    ordinal = _ORDINAL_DIGITS.fullmatch(word) if word[:1].isdigit() else None
    return ordinal[1] if ordinal else word


Pair = frozenset[str]
"""Two constants in normal form, without order."""


def as_pair(left: str, right: str) -> Pair:
    """Return the unordered pair of the two constants' normal forms."""
    return frozenset((normalise(left), normalise(right)))
