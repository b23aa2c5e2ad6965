"""Stretches of talk that a model reads at once: whole turns, long ones by their passages, each line with a label.

Their entries refer to the lines by these labels, which a reply's schema enumerates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from goalmem_cli.backbones.structured.units import is_one_voice
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic.days import WEEKDAYS
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.records import Turn
from goalmem_cli.store.passages import MAX_TOKENS
from goalmem_cli.store.units import passages_with_marks, text_with_marks

_BEFORE_LETTERS = 160


@dataclass(frozen=True, slots=True)
class Stretch:
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

    @property
    def sources(self) -> tuple[Turn, ...]:
        """The turns of its lines, each once, in the order of the conversation."""
        return tuple({turn.id: turn for turn, _ in self.lines}.values())

    @property
    def told(self) -> str:
        """What is said in it, a line each, with who says it where several do, or one quotes another."""
        is_one = is_one_voice(self.sources)
        return "\n".join(text if is_one else f"{turn.speaker}: {text}" for turn, text in self.lines)

    def inputs(self, problem: str) -> dict[str, object]:
        """Return what the prompt is filled with; `problem` says what was wrong with the last reply."""
        lines = [
            f"{label}. {in_one_line(turn.speaker)}: {in_one_line(text)} [{_said(turn)}]"
            for label, (turn, text) in zip(self.labels, self.lines, strict=True)
        ]
        told = ((turn.speaker, text_with_marks(turn)) for turn in self.before)
        before = [f"{in_one_line(speaker)}: {in_one_line(text)[:_BEFORE_LETTERS]}" for speaker, text in told]
        return {"before": before, "lines": lines, "problem": problem}

    def places(self, labels: Sequence[str]) -> tuple[int, ...]:
        """Return which of the lines the labels stand for, counted from 1, each once, in order.

        Raises:
            ReplyUnusable: there is none, or one is none of the lines.
        """
        known = {label: place for place, label in enumerate(self.labels, 1)}
        if unknown := [label for label in labels if label not in known]:
            raise ReplyUnusable(f"{unknown[0][:20]!r} is none of the messages")
        if not labels:
            raise ReplyUnusable("it must name the message that tells it")
        return tuple(sorted({known[label] for label in labels}))

    def turns(self, places: Sequence[int]) -> tuple[Turn, ...]:
        """Return the turns of these lines, each once, in the order of the conversation."""
        found = [self.lines[place - 1][0] for place in places]
        return tuple(sorted({turn.id: turn for turn in found}.values(), key=lambda turn: turn.ordinal))


def stretches_of(
    turns: Sequence[Turn],
    most: int,
    size: Callable[[str], int] = len,
    *,
    lines: int | None = None,
    before: int = 0,
    passage: int = MAX_TOKENS,
    overlap: int = 0,
) -> Iterator[Stretch]:
    """Yield the turns of a session in order, as many at a time as have a size of at most `most` and so many `lines`.

    A turn of more than `passage` tokens comes in passages; blank ones are left out. A stretch has at least one line,
    and comes with so many of the turns `before` it; it begins with the last lines of the one before, as far as these
    have a size of at most `overlap` and leave room for another. Turns that follow change the last stretch at most.
    """
    for taken in _taken(_lines_of(turns, passage), most, size, lines, overlap):
        yield _stretch(turns, taken, before)


def shorter(stretch: Stretch, most: int, lines: int | None = None) -> Iterator[Stretch]:
    """Yield the lines of a stretch as stretches of at most so many letters and so many `lines`."""
    for taken in _taken(stretch.lines, most, len, lines):
        yield Stretch(tuple(taken))


def _taken(
    lines: Iterable[tuple[Turn, str]], most: int, size: Callable[[str], int], count: int | None, overlap: int = 0
) -> Iterator[list[tuple[Turn, str]]]:
    taken: list[tuple[Turn, str]] = []
    full = 0
    for line in lines:
        more = size(line[1])
        if taken and (len(taken) == count or full + more > most):
            yield taken
            taken = _ending(taken, min(overlap, most - more), size)
            full = sum(size(text) for _, text in taken)
        taken.append(line)
        full += more
    if taken:
        yield taken


def _ending(lines: Sequence[tuple[Turn, str]], most: int, size: Callable[[str], int]) -> list[tuple[Turn, str]]:
    """Return the last lines, as many as have a size of at most `most`."""
    begin = len(lines)
    while begin and size(lines[begin - 1][1]) <= most:
        begin -= 1
        most -= size(lines[begin][1])
    return list(lines[begin:])


def _lines_of(turns: Sequence[Turn], passage: int) -> Iterator[tuple[Turn, str]]:
    for turn in turns:
        for text, _ in passages_with_marks(turn, passage) or [(turn.text, None)]:
            if text.strip():
                yield turn, text


def _stretch(turns: Sequence[Turn], lines: Sequence[tuple[Turn, str]], before: int) -> Stretch:
    first = lines[0][0].ordinal
    earlier = [turn for turn in turns if turn.ordinal < first]
    return Stretch(tuple(lines), tuple(earlier[-before:] if before else ()))


def _said(turn: Turn) -> str:
    said = turn.local
    if said is None:
        return "nobody knows when"
    return f"said {said:%Y-%m-%d %H:%M}, {WEEKDAYS[said.weekday()].capitalize()}"
