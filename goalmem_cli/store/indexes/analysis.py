"""Split texts and queries into the tokens of the text index, for the local store and for Milvus.

Words are folded (`folding.py`) and stemmed as English. Other languages stay usable, because queries pass the same
steps. Scripts without spaces, and emoji, are split into single characters and pairs.
"""

from __future__ import annotations

from functools import cache

import tantivy

from goalmem_cli.store.indexes import folding

_LONGEST_WORD = 200


@cache
def words_analyzer() -> tantivy.TextAnalyzer:
    """Return the analyzer for text that is written with spaces, which makes words."""
    filters = tantivy.Filter
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(filters.remove_long(_LONGEST_WORD))
    return builder.filter(filters.lowercase()).filter(filters.ascii_fold()).filter(filters.stemmer("english")).build()


@cache
def grams_analyzer() -> tantivy.TextAnalyzer:
    """Return the analyzer for other text, which makes single characters and pairs."""
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(1, 2)).build()


def indexed(text: str) -> list[str]:
    """Return the tokens of a text for the index, in order: words, then characters and pairs."""
    folded = folding.fold(text)
    words = words_analyzer().analyze(folding.spaced(folded))
    return [*words, *(gram for run in folding.runs(folded) for gram in grams_analyzer().analyze(run))]


def asked(text: str) -> tuple[list[str], list[str]]:
    """Return the tokens of a query: its words, and its pairs of unspaced letters and its emoji; any may match."""
    folded = folding.fold(text)
    grams = [
        gram
        for run in folding.runs(folded)
        for gram in grams_analyzer().analyze(run)
        if len(gram) > 1 or len(run) == 1 or folding.is_sign(gram)
    ]
    return words_analyzer().analyze(folding.spaced(folded)), grams
