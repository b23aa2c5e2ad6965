"""Split texts and queries into the tokens of the text index, for the local store and for Milvus.

Words are folded (`folding.py`) and stemmed as English, unless the conversation is in one of the languages of `STEMMED`.
Those lose their stop words, and are stemmed by their own rules before their accents go. All other languages stay
usable, because queries pass the same steps. Scripts without spaces, and emoji, are split into single characters and
pairs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import tantivy

from goalmem_cli.store.indexes import folding

STEMMED = {
    "da": "danish", "de": "german", "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ru": "russian", "sv": "swedish",
}  # fmt: skip
"""The languages besides English that tantivy has both a stemmer and stop words for, with its names of them."""

_LONGEST_WORD = 200


@cache
def words_analyzer(language: str = "") -> tantivy.TextAnalyzer:
    """Return the analyzer for text that is written with spaces, which makes words."""
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(filters.remove_long(_LONGEST_WORD))
    if language in STEMMED:
        own = STEMMED[language]
        builder = builder.filter(filters.lowercase()).filter(filters.stopword(own)).filter(filters.stemmer(own))
        return builder.filter(filters.ascii_fold()).build()
    return builder.filter(filters.lowercase()).filter(filters.ascii_fold()).filter(filters.stemmer("english")).build()


@cache
def grams_analyzer() -> tantivy.TextAnalyzer:
    """Return the analyzer for other text, which makes single characters and pairs."""
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(1, 2)).build()


def indexed(text: str, language: str = "") -> list[str]:
    """Return the tokens of a text for the index, in order: words, then characters and pairs."""
    words = words_analyzer(language).analyze(to_words(text, language))
    return [*words, *(gram for run in folding.runs(folding.fold(text)) for gram in grams_analyzer().analyze(run))]


def to_words(text: str, language: str = "") -> str:
    """Return what `words_analyzer` gets of a text in that language."""
    return folding.spaced(folding.with_accents(text) if language in STEMMED else folding.fold(text))


def asked(text: str, languages: Iterable[str] = ()) -> tuple[list[str], list[str]]:
    """Return the tokens of a query: its words, and its pairs of unspaced letters and its emoji; any may match.

    The words are stemmed as English, and as each of the `languages`.
    """
    folded = folding.fold(text)
    grams = [
        gram
        for run in folding.runs(folded)
        for gram in grams_analyzer().analyze(run)
        if len(gram) > 1 or len(run) == 1 or folding.is_sign(gram)
    ]
    words = words_analyzer().analyze(folding.spaced(folded))
    return [*words, *(word for language in languages for word in asked_in(text, language))], grams


def asked_in(text: str, language: str) -> list[str]:
    """Return a query's words stemmed as that language, as typed and without accents, which some leave out."""
    analyzer = words_analyzer(language)
    typed = analyzer.analyze(to_words(text, language))
    return list(dict.fromkeys((*typed, *analyzer.analyze(folding.spaced(folding.fold(text))))))
