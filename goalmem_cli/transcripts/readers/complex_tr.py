"""Reads the rows of Complex-TR (Tan et al., 2024): one question each, with one fact on each line of `fact_context`."""

from __future__ import annotations

from collections.abc import Iterator

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.readers.statements import drafts, in_order
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.source import Source

FACTS, ANSWERS = "fact_context", "text_answers"


class ComplexTrReader(RecordReader):
    """Reads one conversation from all rows with the same facts, ordered by when the facts began."""

    name = "complex-tr"
    suffixes = (".jsonl", ".ndjson", ".json")
    sign = "questions of Complex-TR with `fact_context` and `text_answers`"

    def _is_meant(self, row: Node) -> bool:
        return row.has(FACTS) and row.has(ANSWERS)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        return drafts(source, facts_of, in_order)


def facts_of(row: Node) -> tuple[str, ...]:
    """Return the facts of a row; raises InputError if it has none."""
    lines = row.required(FACTS).filled_text().splitlines()
    return tuple(line for line in map(str.strip, lines) if line)
