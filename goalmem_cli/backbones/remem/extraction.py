"""From a session's turns to gists and facts: stretches short enough for one request, and what its reply says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goalmem_cli.asking import in_one_line
from goalmem_cli.backbones.remem.filler import without_filler
from goalmem_cli.backbones.remem.graph import Gist, Statement
from goalmem_cli.backbones.remem.times import judge_point, judge_span
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic.days import WEEKDAYS
from goalmem_cli.prompts import Profile
from goalmem_cli.records import Turn
from goalmem_cli.store.passages import split_into_passages

EXTRACT = "remem_extract"
_SIZES: Mapping[Profile, tuple[int, int]] = {"full": (12, 2400), "compact": (4, 600)}
_BEFORE, _BEFORE_LETTERS = 2, 160
_NONE = "none"
_ITEM = re.compile(r"(gist|fact) (T\d+): (.+)")


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one request is about: lines, each a turn or a passage of a long one, and the turns right before them."""

    lines: tuple[tuple[Turn, str], ...]
    before: tuple[Turn, ...] = ()

    @property
    def labels(self) -> list[str]:
        """What the reply calls the lines: T1, T2 ..."""
        return [f"T{number}" for number in range(1, len(self.lines) + 1)]

    @property
    def place(self) -> int:
        """Where it begins: the ordinal of its first turn."""
        return self.lines[0][0].ordinal

    @property
    def name(self) -> str:
        """What people call it: by its first and its last turn."""
        first, last = self.lines[0][0].label, self.lines[-1][0].label
        return f"{first} to {last}" if first != last else first

    def inputs(self, problem: str) -> dict[str, object]:
        """Return what the prompt is filled with; `problem` says what was wrong with the last reply."""
        lines = [
            f"{label}. {in_one_line(turn.speaker)}: {in_one_line(text)} [{_said(turn)}]"
            for label, (turn, text) in zip(self.labels, self.lines, strict=True)
        ]
        before = [f"{in_one_line(turn.speaker)}: {in_one_line(turn.text)[:_BEFORE_LETTERS]}" for turn in self.before]
        return {"before": before, "lines": lines, "problem": problem}

    def turns(self, labels: Sequence[str]) -> tuple[Turn, ...]:
        """Return the turns that the labels stand for, each once, in the order of the conversation.

        Raises:
            ReplyUnusable: there is none, or one is none of the lines.
        """
        known = dict(zip(self.labels, (turn for turn, _ in self.lines), strict=True))
        if unknown := [label for label in labels if label not in known]:
            raise ReplyUnusable(f"{unknown[0][:20]!r} is none of the messages")
        if not labels:
            raise ReplyUnusable("it must name the message that tells it")
        found = {known[label].id: known[label] for label in labels}
        return tuple(sorted(found.values(), key=lambda turn: turn.ordinal))


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a chunk's messages tell; `left_out` counts the entries that tell nothing (see `filler`)."""

    gists: tuple[Gist, ...] = ()
    facts: tuple[Statement, ...] = ()
    left_out: int = 0


def chunks_of(turns: Sequence[Turn], profile: Profile) -> Iterator[Chunk]:
    """Yield the turns of a session a few at a time; a long turn is read by its passages."""
    most_lines, most_letters = _SIZES[profile]
    lines: list[tuple[Turn, str]] = []
    letters = 0
    for line in _lines_of(turns):
        if lines and (len(lines) == most_lines or letters + len(line[1]) > most_letters):
            yield _chunk(turns, lines)
            lines, letters = [], 0
        lines.append(line)
        letters += len(line[1])
    if lines:
        yield _chunk(turns, lines)


def read_json(reply: Any, chunk: Chunk) -> Extracted:
    """Return what a JSON reply that fits its schema says.

    Raises:
        ReplyUnusable: it names messages that are not there, or something blank.
    """
    gists = tuple(_gist(chunk, item["turns"], item["text"], item["when"]) for item in reply["gists"])
    facts = tuple(
        _fact(
            chunk, item["turns"], [item[name] for name in ("subject", "predicate", "object")],
            item["point_in_time"], item["start_time"], item["end_time"],
        )
        for item in reply["facts"]
    )  # fmt: skip
    return _extracted(gists, facts, chunk)


def read_lines(text: str, chunk: Chunk) -> Extracted:
    """Return what a reply of lines says.

    Raises:
        ReplyUnusable: a line is no gist and no fact, or names a message that is not there.
    """
    gists: list[Gist] = []
    facts: list[Statement] = []
    said = text.strip()
    for line in [] if said == _NONE else said.split("\n"):
        match = _ITEM.fullmatch(line.strip())
        if match is None:
            raise ReplyUnusable(f"the line {line[:60]!r} is no gist and no fact")
        kind, label, told = match.groups()
        parts = [part.strip() for part in told.split("|")]
        least = 1 if kind == "gist" else 3
        if not least <= len(parts) <= least + 1:
            raise ReplyUnusable(f"the line {line[:60]!r} has not the parts of a {kind}")
        when = parts[least] if len(parts) > least else ""
        if kind == "gist":
            gists.append(_gist(chunk, [label], parts[0], when))
        else:
            facts.append(_fact(chunk, [label], parts[:3], when))
    return _extracted(gists, facts, chunk)


def _extracted(gists: Sequence[Gist], facts: Sequence[Statement], chunk: Chunk) -> Extracted:
    speakers = {turn.speaker for turn in (*chunk.before, *(turn for turn, _ in chunk.lines))}
    return Extracted(*without_filler(gists, facts, speakers))


def _gist(chunk: Chunk, labels: Sequence[str], text: str, when: str) -> Gist:
    turns, said = chunk.turns(labels), _not_blank(text)
    return Gist(said, turns, judge_point(when, said, turns))


def _fact(
    chunk: Chunk, labels: Sequence[str], parts: Sequence[str], point: str, start: str = "", end: str = ""
) -> Statement:
    turns = chunk.turns(labels)
    subject, predicate, thing = map(_not_blank, parts)
    told = f"{subject} {predicate} {thing}"
    is_span = not point.strip() and bool(start.strip() or end.strip())
    event = judge_span(start, end, told, turns) if is_span else judge_point(point, told, turns)
    return Statement(subject, predicate, thing, turns, event)


def _not_blank(text: str) -> str:
    told = in_one_line(text)
    if not told:
        raise ReplyUnusable("a gist or a part of a fact is blank")
    return told


def _lines_of(turns: Sequence[Turn]) -> Iterator[tuple[Turn, str]]:
    for turn in turns:
        for passage in split_into_passages(turn.text) or [turn.text]:
            if passage.strip():
                yield turn, passage


def _chunk(turns: Sequence[Turn], lines: Sequence[tuple[Turn, str]]) -> Chunk:
    first = lines[0][0].ordinal
    before = [turn for turn in turns if turn.ordinal < first][-_BEFORE:]
    return Chunk(tuple(lines), tuple(before))


def _said(turn: Turn) -> str:
    if turn.said is None:
        return "nobody knows when"
    return f"said {turn.said:%Y-%m-%d %H:%M}, {WEEKDAYS[turn.said.weekday()].capitalize()}"
