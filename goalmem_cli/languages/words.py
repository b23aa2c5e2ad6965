"""What goalmem knows of each language: a file for each, such as `de.yaml`, of two parts.

The first part has the words of questions, in small letters, so that one is not read as an English one. In a language
with `is_spaceless` they are looked for anywhere in the text.

- `person`, `place`, `time`, `number`, `other`: words that ask for something. A question without one asks for yes or no,
  if it has none of `choice`. `all`, `now`: it asks for all things, or for how it is now.
- `yes`, `no`, `likely`: the verdicts. `unknown`: replies that say that the facts do not tell it.
- `i`, `you`, `others`: whom a text is about.
- `common`: more small words by which the language is known.

The second part has the words of times and numbers, which `logic.languages.tables` explains.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

CODES = ("de", "es", "fr", "pt", "zh", "ja")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CLAUSES = re.compile(r"[,;:，；：]")
_IS_IT = re.compile(r"(?<!')(?<!où )(?<!quand )(?<!comment )(?<!pourquoi )\best-ce qu(?:e\b|')")
_OPENING = 4
ASKING = ("person", "place", "time", "number", "other")
"""The lists of words that ask for something."""
_LISTS = (
    "person", "place", "time", "number", "other", "choice", "all", "now", "yes", "no", "i", "you", "others", "unknown",
    "common",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language, as they are explained above."""

    code: str
    is_spaceless: bool
    likely: str
    lists: Mapping[str, tuple[str, ...]]

    def has(self, text: str, *names: str) -> bool:
        """Say whether the text has a word of these lists."""
        return any(self._is_in(word, text) for name in names for word in self.lists[name])

    def _is_in(self, word: str, text: str) -> bool:
        return word in _plain(text) if self.is_spaceless else f" {word} " in _spaced(text)

    def asks_for_something(self, question: str) -> bool:
        """Say whether the question has a word that asks for something, so that yes or no cannot answer it."""
        return self._asks(question) and not self._is_marked(question)

    def asks_yes_or_no(self, question: str) -> bool:
        """Say whether yes or no would answer the question: nothing in it asks for something, or for a choice."""
        if self.has(question, "choice"):
            return False
        return self._is_marked(question) or not self._asks(question)

    def _asks(self, question: str) -> bool:
        """Say whether it has a word that asks for something, in a language with spaces near a clause's beginning.

        Further on, most of these words only join clauses: "¿Tiene Ana un perro que ladra?"
        """
        text = question if self.is_spaceless else " ".join(_openings(question))
        return self.has(text, *ASKING)

    def _is_marked(self, question: str) -> bool:
        """Say whether a Chinese question has the mark of yes or no, which it has besides its other words."""
        plain = _plain(question).rstrip("?？!。． ")
        return self.code == "zh" and plain.endswith(("吗", "么")) and not plain.endswith(("什么", "怎么"))

    def verdict(self, answer: str) -> str:
        """Return yes, no, likely yes or likely no where the answer begins with it in this language, else ""."""
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
    """Return a part of a language's file, counted from 0; those after it are not read, as most texts need none."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with (Path(__file__).parent / f"{code}.yaml").open(encoding="utf-8") as file:
        found: Mapping[str, Any] = next(islice(yaml.load_all(file, Loader=loader), number, None))
    return found


def _words_of(code: str, said: Mapping[str, Any]) -> Words:
    lists = {name: tuple(map(_plain, map(str, said.get(name, ())))) for name in _LISTS}
    return Words(code, bool(said.get("is_spaceless")), _plain(str(said["likely"])), lists)


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


@lru_cache(maxsize=1024)
def _spaced(text: str) -> str:
    """Return the words of a text with a space around each."""
    return f" {' '.join(_WORD.findall(_plain(text)))} "


def _openings(question: str) -> list[str]:
    """Return the first words of each clause, but for what only marks a question of yes or no in French."""
    clauses = [_WORD.findall(_IS_IT.sub("", _plain(clause))) for clause in _CLAUSES.split(question)]
    return [" ".join((*words[:_OPENING], ".")) for words in clauses]


_KNOWN_BY = (*ASKING, "all", "now", "choice", "yes", "no", "i", "you", "others", "common")


def own_words(words: Collection[str]) -> dict[str, frozenset[str]]:
    """Return for each language of the table with spaces which of the words, in small letters, it is known by."""
    return {code: _known_by(code).intersection(words) for code, each in table().items() if not each.is_spaceless}


@cache
def _known_by(code: str) -> frozenset[str]:
    lists = table()[code].lists
    return frozenset(word for name in _KNOWN_BY for word in lists[name])


@lru_cache(maxsize=1024)
def words_of(text: str) -> Words | None:
    """Return the words of the language that a question or statement is in; None if English, or none of the table."""
    from goalmem_cli.languages.finding import language_asked

    code = language_asked(text)
    return table().get(code) if code not in ("", "en") else None


def is_foreign(text: str) -> bool:
    """Say whether a question is surely in another language than English, also one that the table has not."""
    from goalmem_cli.languages.finding import language_asked

    return language_asked(text) not in ("", "en")


def verdict_in_any(answer: str) -> str:
    """Return the verdict that an answer in any language of the table is, "" if it is none."""
    return next(filter(None, (each.verdict(answer) for each in table().values())), "")


def is_unknown_in_any(answer: str) -> bool:
    """Say whether an answer says in any language of the table that the facts do not tell it."""
    return any(each.is_unknown(answer) for each in table().values())
