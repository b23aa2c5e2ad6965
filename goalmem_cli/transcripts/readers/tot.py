"""Reads the rows of Test of Time (arXiv 2406.09170): semantic ones with facts in `prompt`, arithmetic ones without."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.readers.statements import Statement, drafts, in_order
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.source import Source

PROMPT = "prompt"
_FACT = re.compile(r"\S.* was the \S.* of \S.* (?:from [0-9]{1,4} to [0-9]{1,4}|in [0-9]{1,4})\.?")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_ASKS = re.compile(
    r".*\?|.*\bJSON\b.*|if (?:it|the question) cannot\b.*"
    r"|\(?(?:answer|calculate|compute|determine|do not|express|find|format|give|name|reply|report|return|round|tell|use"
    r"|write)\b.*",
    re.IGNORECASE,
)
"""A sentence that asks or says how to reply; it states nothing to remember."""
_GRANTED = re.compile(
    r"(?P<told>(?:assuming|given|if|suppose|when)\b(?! (?:it|the question) cannot).+?),\s*"
    r"(?:at what|how|in how|in what|on (?:what|which)|what|when|where|which|who)\b.*\?",
    re.IGNORECASE,
)
"""A question that makes an assumption: "If today is 18 May 2023, when ...?"."""


class TotReader(RecordReader):
    """Reads one conversation from all rows with the same facts: the lines of `prompt` that state one, by years.

    An arithmetic row has its statements in `question`. Its sentences are the conversation, except those that ask or say
    how to reply.
    """

    name = "tot"
    suffixes = (".json", ".jsonl", ".ndjson")
    sign = "questions of Test of Time with `question_type` and `label`"

    def _is_meant(self, row: Node) -> bool:
        return all(map(row.has, ("question", "question_type", "label")))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        return drafts(source, facts_of, _told)


def facts_of(row: Node) -> tuple[str, ...]:
    """Return the facts of a row's prompt, or the sentences of an arithmetic question that state something.

    Raises:
        InputError: it has no text to read, or its prompt holds no fact.
    """
    if not row.has(PROMPT):
        return _carried(row.required("question").filled_text())
    prompt = row.child(PROMPT)
    facts = tuple(piece for piece in map(str.strip, _SENTENCES.split(prompt.filled_text())) if _FACT.fullmatch(piece))
    if not facts:
        raise prompt.error("holds no fact like 'E1 was the R2 of E3 from 1983 to 1989.'")
    return facts


def _carried(question: str) -> tuple[str, ...]:
    pieces = [piece.strip() for piece in _SENTENCES.split(question) if piece.strip()]
    granted = [found["told"] if (found := _GRANTED.fullmatch(piece)) else piece for piece in pieces]
    told = [piece for piece in granted if not _ASKS.fullmatch(piece)]
    return tuple(dict.fromkeys(told or pieces))


def _told(facts: Sequence[str]) -> tuple[Statement, ...]:
    """Return facts ordered by their years; other sentences keep their order."""
    if all(map(_FACT.fullmatch, facts)):
        return in_order(facts)
    return tuple(Statement(" ".join(fact.split()), None) for fact in facts)
