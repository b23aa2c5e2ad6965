"""Measure how fast transcripts are read, on generated turns in the layout of each format."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Any
from xml.sax.saxutils import quoteattr

import yaml

from goalmem_cli.lab.bench.talk import made_up_conversation
from goalmem_cli.records import Turn
from goalmem_cli.transcripts import Source, conversations_in, format_of

Values = Mapping[str, Any]


def layout_of(name: str, turns: Sequence[Turn]) -> tuple[str, str]:
    """Return the file ending and the text of a transcript of that format with these turns, which have times."""
    layout = _layouts()[name]
    said = [_values(turns, turn, layout.get("sides", ("user", "assistant"))) for turn in turns]
    if "$answer" in str(layout["turn"]):
        said = [one | _answer(other) for one, other in zip(said[::2], [*said[1::2], None], strict=False)]
    names = [turn.speaker for turn in turns[:2]]
    said[0] |= {
        "second": names[-1], "name_a": min(names), "name_b": max(names), "count": len(turns), "ends": len(turns) - 1,
    }  # fmt: skip
    whole = said[0] | _parts(layout, said)
    if "lines" in layout:
        return ".jsonl", "".join(json.dumps(line) + "\n" for line in _filled(layout["lines"], whole))
    document = _filled(layout.get("whole", "$turns"), whole)
    text = document if isinstance(document, str) else json.dumps(document)
    return layout.get("ending", ".json"), layout.get("before", "") + text


@cache
def _layouts() -> Mapping[str, dict[str, Any]]:
    found: Mapping[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
    return found


def _values(turns: Sequence[Turn], turn: Turn, sides: Sequence[object]) -> dict[str, Any]:
    """Return the values for the placeholders in a turn's layout."""
    said, began, n, side = _said_at(turn), _said_at(turns[0]), turn.ordinal, turn.ordinal % 2
    seconds = int(said.timestamp())
    return {
        "said": said, "text": turn.text, "attribute": quoteattr(turn.text), "speaker": turn.speaker,
        "lower": turn.speaker.lower(), "who": sides[side], "side": side, "side_number": side + 1,
        "n": n, "number": n + 1, "before": n - 1, "after": n + 2, "parent": f"m{n - 1}" if n else None,
        "six": f"{n:06}", "big": 10**17 + n,
        "session": turn.session, "s": turn.session + 1, "year": 1000 + (n + 1) % 9000,
        "iso": f"{said:%Y-%m-%dT%H:%M:%S.000Z}", "day": said.day, "seconds": seconds, "ms": 1000 * seconds,
        "own_ms": 1000 * seconds + n, "since": seconds - int(began.timestamp()),
        "clock": _clock(n), "clock_after": _clock(n + 1), "is_last": n == len(turns) - 1,
    }  # fmt: skip


def _said_at(turn: Turn) -> datetime:
    if turn.said is None:
        raise ValueError("made-up turns have times")
    return turn.said.replace(tzinfo=UTC)


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _answer(other: Values | None) -> dict[str, Any]:
    return {"answer": "", "is_alone": True} if other is None else {"answer": other["text"], "answer_ms": other["ms"]}


def _parts(layout: Values, said: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the written turns under the name that the layout has for them: a list, a text, by key, or by session."""
    if "session" in layout:
        return _sessions(layout, said)
    if "key" in layout:
        return {"keyed": layout["keyed"] | {_filled(layout["key"], one): _turn(layout, one) for one in said}}
    written = [_turn(layout, one) for one in (reversed(said) if layout.get("is_reversed") else said)]
    if not isinstance(layout["turn"], str):
        return {"turns": written}
    days = [_filled(layout.get("day", ""), one) for one in said]
    begun = [day if not place or day != days[place - 1] else "" for place, day in enumerate(days)]
    return {"turns": layout.get("between", "").join(map("".join, zip(begun, written, strict=True)))}


def _sessions(layout: Values, said: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the sessions as one mapping, or the values of each key as a list."""
    found: dict[str, list[Any]] = {}
    for _, members in groupby(said, lambda one: one["session"]):
        own = [one | {"place": place} for place, one in enumerate(members, 1)]
        turns = {"turns": [_turn(layout, one) for one in own]}
        for key, value in _filled(layout["session"], own[0] | turns).items():
            found.setdefault(key, []).append(value)
    if "sessions" not in layout:
        return found
    return {"sessions": _filled(layout["sessions"], said[0]) | {key: values[0] for key, values in found.items()}}


def _turn(layout: Values, one: Values) -> Any:
    """Return a turn as its layout writes it, with additions for the first, the last or a lone turn."""
    written = _filled(layout["turn"], {"answer_ms": one["ms"], **one})
    is_so = {"first": not one["n"], "last": one["is_last"], "alone": one.get("is_alone", False)}
    for name in is_so:
        written = written | layout[name] if name in layout and is_so[name] else written
    return written


def _filled(shape: Any, values: Values) -> Any:
    """Return a part of a layout with its placeholders filled; a list in place of a list item is spliced in."""
    if isinstance(shape, dict):
        return {_filled(key, values): _filled(part, values) for key, part in shape.items()}
    if isinstance(shape, list):
        return list(_members(shape, values))
    if not isinstance(shape, str) or not ("$" in shape or "%" in shape):
        return shape
    if shape[1:] in values and shape[0] == "$":
        return values[shape[1:]]
    return Template(values["said"].strftime(shape) if "%" in shape else shape).substitute(values)


def _members(shape: Sequence[Any], values: Values) -> Iterator[Any]:
    for part in shape:
        if part == "$turns":
            yield from values["turns"]
        else:
            yield _filled(part, values)


@dataclass(frozen=True, slots=True)
class ReadingFigures:
    """The reading speed of a format: `seconds` is the median CPU time of detecting and reading the file."""

    format: str
    turns: int
    bytes: int
    seconds: float

    @property
    def turns_a_second(self) -> float:
        """The number of turns read per second."""
        return self.turns / max(self.seconds, 1e-9)

    @property
    def megabytes_a_second(self) -> float:
        """The number of million bytes read per second."""
        return self.bytes / 1e6 / max(self.seconds, 1e-9)


def measure_reading(formats: Sequence[str], turns: int, rounds: int, folder: Path) -> Iterator[ReadingFigures]:
    """Write `turns` turns in each format into the folder, read them, and yield the results.

    Raises:
        InputError, ValueError: a reader does not accept a generated layout.
    """
    said = made_up_conversation(turns).turns
    for name in formats:
        ending, text = layout_of(name, said)
        file = folder / f"{name}{ending}"
        file.write_text(text, "utf-8")
        if (found := format_of(Source.from_path(file))) != name:
            raise ValueError(f"the made-up transcript of {name} is read as {found}")
        read = _read(file)
        spent = [_seconds(file) for _ in range(rounds)]
        yield ReadingFigures(name, read, file.stat().st_size, statistics.median(spent))


def _read(file: Path) -> int:
    """Return the number of turns read; they are not kept, as in ingesting."""
    return sum(len(stretch.turns) for stretch in conversations_in(Source.from_path(file)))


def _seconds(file: Path) -> float:
    begun = time.process_time()
    _read(file)
    return time.process_time() - begun
