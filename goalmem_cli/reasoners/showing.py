"""Lays out facts for the full prompts: one block per round, in order of time, with a heading for each session.

The order lets a model understand "her" and replies, and headings save a time on every line. A block never changes once
shown, so each prompt of an attempt begins like the one before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from goalmem_cli.logic.dates import with_days_in_words
from goalmem_cli.logic.moments import Moment
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.reasoners.chronology import chronological
from goalmem_cli.reasoners.prompt_texts import named_as, say_clock, say_time, saying_to, told_line, told_words
from goalmem_cli.records import Hit, Unit
from goalmem_cli.trace import Fact

Placed = TypeVar("Placed", bound=Fact | Unit)

SAID = ("turn", "passage")
"""The kinds of unit that somebody said. All others are derived from those, and are shown as notes."""
_APART = timedelta(hours=1) // timedelta(microseconds=1)
"""A line shows its own time if it is at least this far, in microseconds, from the last time shown."""
_LETTERS_PER_TOKEN = 3.2  # of English
_TOKENS_PER_BYTE = 0.72  # of other scripts in UTF-8, at worst: emoji
_LINE_END = 2
_SHOWN = re.compile(r"(F\d+)\. (?:([^:]+?)(?: to [^:]+)?: )?(.*)")


@dataclass(frozen=True, slots=True)
class Block:
    """What one round showed: its facts in the order shown, and the prompt's lines with headings.

    `tokens` is the estimated number of tokens of the lines, rather too high. `brought` holds the numbers of facts that
    came along with others: they count as tokens, not as units.
    """

    facts: tuple[Fact, ...] = ()
    lines: tuple[str, ...] = ()
    tokens: int = 0
    brought: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything shown so far, one block per round. New blocks are added at the end."""

    blocks: tuple[Block, ...] = ()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every fact shown, in the order shown."""
        return tuple(fact for block in self.blocks for fact in block.facts)

    @property
    def lines(self) -> tuple[str, ...]:
        """The prompt's lines of all blocks, in order."""
        return tuple(line for block in self.blocks for line in block.lines)

    @property
    def units(self) -> int:
        """The number of facts that count as units of the budget."""
        return sum(len(block.facts) - len(block.brought) for block in self.blocks)

    @property
    def tokens(self) -> int:
        """The estimated number of tokens of the lines, rather too high."""
        return sum(block.tokens for block in self.blocks)

    def plus(self, block: Block) -> Shown:
        """Return this with one more block. A block without facts adds nothing."""
        return Shown((*self.blocks, block)) if block.facts else self


def block_of(facts: Iterable[Fact], brought: Iterable[str] = ()) -> Block:
    """Return the facts in the order of `in_order`, with a heading wherever session or day changes.

    A heading has the time of its first fact, and the conversation if that changes too. A fact shows its own time if it
    was said an hour or more after the last time shown. Derived facts come last, each with its time.
    """
    ordered = in_order(list(facts))
    lines: list[str] = []
    heading: tuple[object, ...] = ()
    written: datetime | None = None
    for fact in ordered:
        if (place := _stretch(fact)) != heading:
            lines.append(heading_of(fact, is_named=place[:1] != heading[:1] or not is_said(fact)))
            heading, written = place, fact.said
        is_timed = is_said(fact) and not is_apart(written, fact.said)
        lines.append(f"{fact.number}. {told_line(fact, '' if is_timed else _own_time(fact))}")
        written = written if is_timed else fact.said
    return Block(tuple(ordered), tuple(lines), sum(map(line_tokens, lines)), frozenset(brought))


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A fact's line in a prompt: its number, its speaker, and its text with the brackets that follow."""

    number: str
    speaker: str
    told: str

    def says(self, text: str) -> bool:
        """Say whether this is the line of a fact with that text, given that lines have days in words."""
        text = with_days_in_words(in_one_line(text))
        return self.told == text or self.told.startswith(f"{text} [")


def lines_shown(prompt: str) -> list[ShownLine]:
    """Return the facts among the lines of a prompt, for scripted replies that cite them."""
    found = (_SHOWN.fullmatch(line) for line in prompt.splitlines())
    return [ShownLine(match[1], match[2] or "", match[3]) for match in found if match]


def line_tokens(line: str) -> int:
    """Return the estimated number of tokens of a prompt's line, rather too high."""
    letters = len(line.encode("ascii", "ignore"))
    return int(letters / _LETTERS_PER_TOKEN + (len(line.encode()) - letters) * _TOKENS_PER_BYTE) + _LINE_END


def in_order(facts: Sequence[Placed]) -> list[Placed]:
    """Return facts or units by time, each session in one piece and in its own order, and derived ones last."""
    said = [fact for fact in facts if is_said(fact)]
    sessions = dict.fromkeys((fact.conversation, fact.session) for fact in chronological(said, _itself))
    places = {session: place for place, session in enumerate(sessions)}
    told = sorted(said, key=lambda fact: (places[fact.conversation, fact.session], fact.ordinal, fact.part))
    return [*told, *chronological([fact for fact in facts if not is_said(fact)], _itself)]


def _itself(placed: Placed) -> Placed:
    return placed


def line_of_unit(hit: Hit, number: str, times: Sequence[str]) -> str:
    """Return the line of the hit as a fact with that number, below a heading that has its time."""
    unit = hit.unit
    said = "" if is_said(unit) else _own_time(unit)
    told = saying_to(unit.speaker, hit.to)
    if unit.is_passed_on:
        told = named_as(unit.author, unit.speaker, is_quoted=unit.is_quoted)
    return f"{number}. {told_words(told, unit.text, times, said)}"


def is_said(fact: Fact | Unit) -> bool:
    """Say whether somebody said this, so that it is not derived."""
    return fact.kind in SAID


def _stretch(fact: Fact) -> tuple[object, ...]:
    """Return the key that facts under one heading share."""
    if not is_said(fact):
        return (fact.conversation,)
    return (fact.conversation, fact.session, fact.said and fact.said.date())


def heading_of(fact: Fact | Unit, *, is_named: bool) -> str:
    """Return the heading above a fact. It names the conversation if `is_named`."""
    name = in_one_line(fact.conversation)
    if not is_said(fact):
        return f"[From notes of {name}]"
    return f"[{name}, {say_time(fact.said)}]" if is_named else f"[{say_time(fact.said)}]"


def _own_time(fact: Fact | Unit) -> str:
    """Return the time on the fact's own line: without the day, if the heading of its session has it."""
    if fact.said is None:
        return say_time(None)
    return f"said {say_clock(fact.said) if is_said(fact) else say_time(fact.said)}"


def is_apart(written: datetime | None, said: datetime | None) -> bool:
    """Say whether a line needs its own time: an hour or more lies between it and the last time `written`."""
    if written is None or said is None:
        return written is not said
    return abs(Moment.from_datetime(said).clock - Moment.from_datetime(written).clock) >= _APART
