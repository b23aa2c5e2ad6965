"""Split texts and queries into the tokens of the text index, for the local store and for Milvus.

Words are folded (`folding.py`) and stemmed as English, unless the conversation is in one of the languages of `STEMMED`.
Those lose their stop words, and are stemmed by their own rules before their accents go. All other languages stay
usable, because queries pass the same steps. Scripts without spaces, and emoji, are split into single characters and
pairs.
"""

from __future__ import annotations

import re
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
_LEAST_COMMIT = 7
_WHOLE = re.compile(
    r"(?<![\w./\\@+-])(?P<path>(?:[~.]{0,2}[/\\])?(?:[\w.@+-]{1,80}[/\\]){0,12}[\w@+-]{1,80}(?:\.\w{1,12}){0,3}"
    r"\.(?:[a-z]\w{1,7}|[chr]))(?!\w)"
    r"|(?<!\w)(?P<commit>(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{7,40})(?!\w)"
    r"|(?<!\w)(?P<error>\w{0,60}(?:error|exception):[^\n`]{1,200})"
    r"|(?:^[ \t]*\$[ \t]+|`)(?P<command>[a-z][^\n`]{1,200})(?:`|$)",
    re.MULTILINE,
)
_MAY_BE_WHOLE = re.compile(r"\.[a-z]|[`$]|\d[a-f]|[a-f]\d|(?:error|exception):")
"""Matches every text that has one of these, and some others; most texts have none."""


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


def wholes(text: str) -> list[str]:
    """Return the file names, commits, error messages and commands in a text, each as a token of its own.

    A path counts with each of its ends, so that it is found by its file's name; a commit by its first seven digits.
    """
    found: list[str] = []
    lowered = folding.fold(text).lower()
    if not _MAY_BE_WHOLE.search(lowered):
        return found
    for match in _WHOLE.finditer(lowered):
        kind, whole = match.lastgroup, " ".join(match[match.lastgroup or 0].split()).rstrip(" .")
        if kind == "path":
            names = whole.replace("\\", "/").split("/")
            found += ["/".join(names[at:]) for at in range(len(names)) if names[at].strip(".~")]
        else:
            found.append(whole[:_LEAST_COMMIT] if kind == "commit" else whole)
        if kind == "command":
            found += wholes(whole)
    return found


def indexed(text: str, language: str = "") -> list[str]:
    """Return the tokens of a text for the index, in order: words, `wholes`, then characters and pairs."""
    words = [*words_analyzer(language).analyze(to_words(text, language)), *wholes(text)]
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
    other = (word for language in languages for word in asked_in(text, language))
    return [*words, *other], grams


def asked_in(text: str, language: str) -> list[str]:
    """Return a query's words stemmed as that language, as typed and without accents, which some leave out."""
    analyzer = words_analyzer(language)
    typed = analyzer.analyze(to_words(text, language))
    return list(dict.fromkeys((*typed, *analyzer.analyze(folding.spaced(folding.fold(text))))))
