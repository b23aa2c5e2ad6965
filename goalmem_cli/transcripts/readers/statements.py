"""Code shared by the benchmarks about time: each row carries its facts, and each fact is a statement with its time.

Rows with the same facts, in any order, share one conversation, named by a hash of the facts. Its turns are ordered by
time. A turn's time is when what it states began: 1983 is 1 January 1983.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from goalmem_cli.logic.dates import parse_date
from goalmem_cli.records import content_hash
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.nodes import Node, json_lines
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp

SPEAKER = "Chronicle"
"""The speaker of all statements."""
EVIDENCE = "evidence"
"""The key, in made-up rows, of the facts that imply the answer."""
_HASH_DIGITS = 12
_NEVER = datetime(1, 1, 1)
_TIMED = re.compile(r"\b(?:from|since|in|on|during)\s+(?P<start>(?:(?!\b(?:from|since|in|on|during)\b).)+?)"
                    r"(?:\s+(?:to|until|till)\s.*)?$")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact in words, and when what it states began (None if it names no time)."""

    text: str
    began: datetime | None

    @classmethod
    def from_text(cls, text: str) -> Statement:
        """Read the time at the end of the text: "from 1983 to 1989", "since May 1983", "in 1983"."""
        plain = " ".join(text.split())
        found = _TIMED.search(plain.rstrip(" ."))
        return cls(plain, None if found is None else _first_moment(found["start"]))


@lru_cache(maxsize=4096)  # a file of such rows repeats the same years
def _first_moment(time: str) -> datetime | None:
    when = parse_date(time)
    period = None if when is None or when.year is None else when.within(when.year)
    return None if period is None else datetime(period.first.year, period.first.month, period.first.day)


def in_order(facts: Iterable[str]) -> tuple[Statement, ...]:
    """Return the facts as statements, each once, ordered by when they began; those without a time come last."""
    distinct = set(map(Statement.from_text, facts))
    return tuple(sorted(distinct, key=lambda one: (one.began is None, one.began or _NEVER, one.text)))


def name_of(facts: Iterable[str]) -> str:
    """Return the name of the conversation with these facts."""
    return content_hash(*sorted({" ".join(fact.split()) for fact in facts}))[:_HASH_DIGITS]


def rows(source: Source) -> Iterator[Node]:
    """Yield the rows of a JSON array, or of a file with one row a line, one at a time.

    Raises:
        InputError: the text is not JSON; a line that is not JSON is skipped if the source allows it.
    """
    return _elements(source) if source.head.lstrip().startswith("[") else json_lines(source)


def _elements(source: Source) -> Iterator[Node]:
    """Yield the elements of the document's array one at a time, each with the line that it begins on."""
    text = JsonText(source, source.chunks())
    for index in text.elements():
        line = text.line
        yield Node(text.value(), source.file, f"[{index}]", line)
    text.finish()


def drafts(
    source: Source, facts_of: Callable[[Node], Sequence[str]], told: Callable[[Sequence[str]], Sequence[Statement]]
) -> Iterator[Draft]:
    """Yield the conversation of each row whose facts no earlier row has; only names of earlier ones are kept.

    `facts_of` reads a row's facts, and `told` turns them into statements, in order.

    Raises:
        InputError: a row does not have the layout, and may not be skipped.
    """
    known: set[str] = set()

    def read(row: Node) -> Iterator[Draft]:
        """Yield the conversation of a row's facts, unless an earlier row had the same facts."""
        facts = facts_of(row)
        name = name_of(facts)
        if name not in known:
            known.add(name)
            yield from Draft(name, place=row.place).fill(_message(*one) for one in enumerate(told(facts), 1))

    return source.readable(rows(source), read)


def label_of(number: int) -> str:
    """Return the label of the statement at this position of its conversation, counted from 1: `S1`."""
    return f"S{number}"


def _message(number: int, told: Statement) -> Message:
    said = None if told.began is None else Stamp(told.began)
    return Message(SPEAKER, told.text, said, label_of(number), session=0 if told.began is None else told.began.year)
