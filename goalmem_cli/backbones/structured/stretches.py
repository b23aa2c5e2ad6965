"""Split talk into stretches that a model reads at once: turns, or passages of long ones, as labelled lines.

Entries of a reply refer to lines by these labels; the reply's schema enumerates them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from goalmem_cli.backbones.structured.units import derived_unit, is_one_voice
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic.days import WEEKDAYS
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.records import FORWARDED_FROM, QUOTED_FROM, QUOTES, Turn, Unit
from goalmem_cli.store.passages import MAX_TOKENS
from goalmem_cli.store.units import passages_with_marks, text_with_marks

_BEFORE_LETTERS = 160


@dataclass(frozen=True, slots=True)
class Stretch:
    """The talk that one request is about: lines of (turn, text of it or of its passage), and the turns `before`."""

    lines: tuple[tuple[Turn, str], ...]
    before: tuple[Turn, ...] = ()

    @property
    def labels(self) -> list[str]:
        """The labels of the lines in a reply: T1, T2 ..."""
        return [f"T{number}" for number in range(1, len(self.lines) + 1)]

    @property
    def place(self) -> int:
        """The ordinal of its first turn."""
        return self.lines[0][0].ordinal

    @property
    def name(self) -> str:
        """Its name for people: the labels of its first and last turn."""
        first, last = self.lines[0][0].label, self.lines[-1][0].label
        return f"{first} to {last}" if first != last else first

    @property
    def sources(self) -> tuple[Turn, ...]:
        """The distinct turns of its lines, in the order of the conversation."""
        return tuple({turn.id: turn for turn, _ in self.lines}.values())

    @property
    def told(self) -> str:
        """Its text, a line each; the speaker stands before each line if several people speak or are quoted."""
        is_one = is_one_voice(self.sources)
        return "\n".join(text if is_one else f"{turn.speaker}: {text}" for turn, text in self.lines)

    def inputs(self, problem: str) -> dict[str, object]:
        """Return the inputs of the prompt; `problem` says what was wrong with the last reply."""
        lines = [
            f"{label}. {in_one_line(turn.speaker)}: {in_one_line(text)} [{_said(turn)}]"
            for label, (turn, text) in zip(self.labels, self.lines, strict=True)
        ]
        told = ((turn.speaker, text_with_marks(turn)) for turn in self.before)
        before = [f"{in_one_line(speaker)}: {in_one_line(text)[:_BEFORE_LETTERS]}" for speaker, text in told]
        return {"before": before, "lines": lines, "problem": problem}

    def places(self, labels: Sequence[str]) -> tuple[int, ...]:
        """Return the sorted numbers of the lines that the labels name, counted from 1, each once.

        Raises:
            ReplyUnusable: there is no label, or one names no line.
        """
        known = {label: place for place, label in enumerate(self.labels, 1)}
        if unknown := [label for label in labels if label not in known]:
            raise ReplyUnusable(f"{unknown[0][:20]!r} is none of the messages")
        if not labels:
            raise ReplyUnusable("it must name the message that tells it")
        return tuple(sorted({known[label] for label in labels}))

    def turns(self, places: Sequence[int]) -> tuple[Turn, ...]:
        """Return the distinct turns of these lines, in the order of the conversation."""
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
    """Yield the turns of a session in order, in stretches of at most `lines` lines and a total `size` of `most`.

    A turn of more than `passage` tokens is split into passages; blank ones are skipped. A stretch has at least one
    line. Its `before` are the given number of turns before it. It repeats the last lines of the previous stretch up to
    a size of `overlap`, if they leave room for a new line. New turns at the end change the last stretch at most.
    """
    for taken in _taken(_lines_of(turns, passage), most, size, lines, overlap):
        yield _stretch(turns, taken, before)


def shorter(stretch: Stretch, most: int, lines: int | None = None) -> Iterator[Stretch]:
    """Yield the lines of a stretch in stretches of at most `most` letters and `lines` lines."""
    for taken in _taken(stretch.lines, most, len, lines):
        yield Stretch(tuple(taken))


def _taken(
    lines: Iterable[tuple[Turn, str]], most: int, size: Callable[[str], int], count: int | None, overlap: int = 0
) -> Iterator[list[tuple[Turn, str]]]:
    """Yield groups of lines of at most `most` in size and `count` lines; each repeats the end of the one before."""
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
    """Return the last lines whose total size is at most `most`."""
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


def turn_leaves(backbone: str, kind: str, session: Sequence[Turn]) -> list[Unit]:
    """Return a unit for each turn in order, or for each passage of a long turn; blank ones are skipped."""
    passages: Counter[str] = Counter()
    leaves = []
    for stretch in stretches_of(session, 0):
        for turn, text in stretch.lines:
            passages[turn.id] += 1
            leaves.append(
                derived_unit(
                    backbone, kind, text, (turn,), identity=(str(passages[turn.id]),),
                    attributes=_passed_on(turn, passages[turn.id] - 1), speaker=turn.speaker,
                )
            )  # fmt: skip
    return leaves


def _passed_on(turn: Turn, place: int) -> dict[str, object]:
    """Return the attributes that name the author of a forwarded or quoted passage; {} for the speaker's own words."""
    passed = {name: value for name, value in turn.attributes.items() if name == FORWARDED_FROM}
    author = passages_with_marks(turn, MAX_TOKENS)[place][1] if QUOTES in turn.attributes else None
    return passed if author is None else {**passed, QUOTED_FROM: author}


def node_line(node: Unit, *, is_leaf: bool) -> str:
    """Return a node in one line for a model: a leaf with its speaker and day, or a summary's text."""
    if not is_leaf:
        return in_one_line(node.text)
    day = f" [{node.said:%Y-%m-%d}]" if node.said is not None else ""
    speaker = f"{in_one_line(node.speaker)}: " if node.speaker else ""
    return f"{speaker}{in_one_line(node.text)}{day}"
