"""The words of questions and answers in each language, read from a file per language, such as `de.yaml`.

Each file has two parts. The first lists words in small letters. In a language with `is_spaceless` a word may stand
anywhere in the text.

- `person`, `place`, `time`, `number`, `other`: words that ask for something. A question that has neither one of these
  nor a word of `choice` asks for yes or no. `all`, `now`: the question asks for everything, or for how things are now.
- `yes`, `no`, `likely`: the verdicts. `unknown`: replies which say that the facts do not tell.
- `i`, `you`, `others`: words that show whom a text is about.
- `common`: more common words that show the language.

The second part has the words of times and numbers. `logic.languages.tables` explains it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from goalmem_cli.languages.patterns import late

FOLDER = Path(__file__).parent
CODES = ("de", "es", "fr", "pt", "zh", "ja")
_WORD = late(r"[^\W_]+(?:['’-][^\W_]+)*")
_CLAUSES = late(r"[,;:，；：]")
_IS_IT = late(r"(?<!')(?<!où )(?<!quand )(?<!comment )(?<!pourquoi )\best-ce qu(?:e\b|')")
_OPENING = 4
ASKING = ("person", "place", "time", "number", "other")
"""The lists of words that ask for something."""
_LISTS = (
    "person", "place", "time", "number", "other", "choice", "all", "now", "yes", "no", "i", "you", "others", "unknown",
    "common",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language. The docstring of this module explains the lists."""

    code: str
    is_spaceless: bool
    likely: str
    lists: Mapping[str, tuple[str, ...]]

    def has(self, text: str, *names: str) -> bool:
        """Say whether the text has a word of the named lists."""
        return any(self._is_in(word, text) for name in names for word in self.lists[name])

    def _is_in(self, word: str, text: str) -> bool:
        return word in _plain(text) if self.is_spaceless else f" {word} " in _spaced(text)

    def asks_for_something(self, question: str) -> bool:
        """Say whether the question asks for something, such as a person, so that yes or no cannot answer it."""
        return self._asks(question) and not self._is_marked(question)

    def asks_yes_or_no(self, question: str) -> bool:
        """Say whether yes or no answers the question: it asks neither for something nor for a choice."""
        if self.has(question, "choice"):
            return False
        return self._is_marked(question) or not self._asks(question)

    def _asks(self, question: str) -> bool:
        """Say whether the question has a word that asks for something.

        In languages with spaces the word must stand near the beginning of a clause. Later in a clause, most of these
        words only join clauses: "¿Tiene Ana un perro que ladra?"
        """
        text = question if self.is_spaceless else " ".join(_openings(question))
        return self.has(text, *ASKING)

    def _is_marked(self, question: str) -> bool:
        """Say whether the question ends with a Chinese particle that asks for yes or no."""
        plain = _plain(question).rstrip("?？!。． ")
        return self.code == "zh" and plain.endswith(("吗", "么")) and not plain.endswith(("什么", "怎么"))

    def verdict(self, answer: str) -> str:
        """Return the English verdict (yes, no, likely yes, likely no) that the answer begins with, else "".

        The answer is in this language. If that is written without spaces, the verdict must be the whole answer.
        """
        said = _plain(answer).strip(" .,!。！、，")
        is_likely = said.startswith(self.likely)
        said = said.removeprefix(self.likely).strip(" ,、，")
        for english in ("no", "yes"):
            if any(said == word or (not self.is_spaceless and said.startswith((f"{word} ", f"{word},")))
                   for word in self.lists[english]):  # fmt: skip
                return f"likely {english}" if is_likely else english
        return ""

    def says(self, verdict: str) -> str:
        """Return a verdict (yes, no, likely yes, likely no) in this language."""
        word = self.lists[verdict.rpartition(" ")[2]][0]
        return f"{self.likely}{'' if self.is_spaceless else ' '}{word}" if verdict.startswith("likely") else word

    def is_unknown(self, answer: str) -> bool:
        """Say whether the answer says that the facts do not tell it."""
        return _plain(answer).strip(" .!。！") in self.lists["unknown"]


@cache
def table() -> Mapping[str, Words]:
    """Return the languages of the table, by code."""
    return {code: _words_of(code, part_of(code, 0)) for code in CODES}


def part_of(code: str, number: int) -> Mapping[str, Any]:
    """Return one part of a language's file, counted from 0. Later parts are not read."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with (FOLDER / f"{code}.yaml").open(encoding="utf-8") as file:
        found: Mapping[str, Any] = next(islice(yaml.load_all(file, Loader=loader), number, None))
    return found


def _words_of(code: str, said: Mapping[str, Any]) -> Words:
    lists = {
        name: tuple(_plain("\n".join(map(str, said[name]))).split("\n")) if said.get(name) else () for name in _LISTS
    }
    return Words(code, bool(said.get("is_spaceless")), _plain(str(said["likely"])), lists)


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


@lru_cache(maxsize=1024)
def _spaced(text: str) -> str:
    """Return the words of a text with a space around each."""
    return f" {' '.join(_WORD.findall(_plain(text)))} "


def _openings(question: str) -> list[str]:
    """Return the first words of each clause, without the "est-ce que" that marks a yes-or-no question in French."""
    clauses = [_WORD.findall(_IS_IT.sub("", _plain(clause))) for clause in _CLAUSES.split(question)]
    return [" ".join((*words[:_OPENING], ".")) for words in clauses]


_KNOWN_BY = (*ASKING, "all", "now", "choice", "yes", "no", "i", "you", "others", "common")


def own_words(words: Collection[str]) -> dict[str, frozenset[str]]:
    """Return language code -> those of the words (in small letters) that show it, for languages with spaces."""
    return {code: _known_by(code).intersection(words) for code, each in table().items() if not each.is_spaceless}


@cache
def _known_by(code: str) -> frozenset[str]:
    lists = table()[code].lists
    return frozenset(word for name in _KNOWN_BY for word in lists[name])


def words_of(text: str) -> Words | None:
    """Return the table entry for the language of a question or statement; None if it is English or not in the table."""
    from goalmem_cli.languages.finding import language_asked

    code = language_asked(text)
    return table().get(code) if code not in ("", "en") else None


def is_foreign(text: str) -> bool:
    """Say whether a question is surely not in English. Its language need not be in the table."""
    from goalmem_cli.languages.finding import language_asked

    return language_asked(text) not in ("", "en")


def verdict_in_any(answer: str) -> str:
    """Return the verdict of an answer in any language of the table, or "" if it is no verdict."""
    return next(filter(None, (each.verdict(answer) for each in table().values())), "")


def is_unknown_in_any(answer: str) -> bool:
    """Say whether an answer in any language of the table says that the facts do not tell."""
    return any(each.is_unknown(answer) for each in table().values())
