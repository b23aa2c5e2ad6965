"""Split a session into exchanges, and cut the exchanges into segments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from goalmem_cli.backbones.secom import NAME, SEGMENT
from goalmem_cli.backbones.structured.units import derived_unit, is_one_voice
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.records import Turn, Unit
from goalmem_cli.store.units import text_with_marks

_LETTERS = 400  # of a turn that a model sees, enough to show its topic


@dataclass(frozen=True, slots=True)
class Exchange:
    """A few turns in a row, usually one each of two people."""

    turns: tuple[Turn, ...]

    @property
    def line(self) -> str:
        """The exchange in one line for a model; long turns are cut off."""
        told = ((turn.speaker, text_with_marks(turn)) for turn in self.turns)
        return " / ".join(f"{in_one_line(speaker)}: {in_one_line(text)[:_LETTERS]}" for speaker, text in told)


def exchanges_of(turns: Sequence[Turn], size: int) -> list[Exchange]:
    """Return a session's turns in exchanges of `size` turns; the last one may have fewer."""
    return [Exchange(tuple(turns[start : start + size])) for start in range(0, len(turns), size)]


def cut(exchanges: Sequence[Exchange], starts: Collection[int]) -> list[list[Exchange]]:
    """Return the exchanges in segments; a segment begins at position 0 and at each position in `starts`."""
    segments: list[list[Exchange]] = []
    for place, exchange in enumerate(exchanges):
        if not segments or place in starts:
            segments.append([])
        segments[-1].append(exchange)
    return segments


def segment_unit(segment: Sequence[Exchange]) -> Unit:
    """Return a segment as a unit with the full text of its turns, a line each.

    The speaker stands before each line if several people speak or are quoted.
    """
    turns = [turn for exchange in segment for turn in exchange.turns]
    is_one = is_one_voice(turns)
    told = [(turn.speaker, text_with_marks(turn)) for turn in turns]
    text = "\n".join(text if is_one else f"{speaker}: {text}" for speaker, text in told)
    return derived_unit(NAME, SEGMENT, text, turns)


def starts_of(segments: Sequence[Unit], exchanges: Sequence[Exchange]) -> set[int]:
    """Return the positions of the exchanges with which stored segments begin."""
    firsts = {segment.turns[0] for segment in segments}
    return {place for place, exchange in enumerate(exchanges) if exchange.turns[0].id in firsts}
