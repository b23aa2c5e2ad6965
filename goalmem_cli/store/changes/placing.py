"""Place the new turns of a transcript in a stored conversation of which the transcript has only a part.

The stored turns keep their order. In the transcript, a new turn lies between two stored turns, the nearest before it
and the nearest after it; it is placed between these. Its time decides where in between, and also if there are no
such turns.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from goalmem_cli.logic.moments import Moment
from goalmem_cli.records import Turn

_MADE = re.compile(r"((?:\d{8}-\d{6}|undated)-[0-9a-f]{6})(?:-\d+)?", re.ASCII)
"""An id as `TurnIds` makes it."""


def place_of(turn: Turn) -> str:
    """Return a key that identifies a turn in its conversation regardless of its text."""
    return f"id {turn.own_id}" if turn.own_id is not None else f"turn {turn.ordinal + 1}"


def base_of(own_id: str | None) -> str | None:
    """Return an id that a reader made of time, speaker and text without its number among equal ones; others as is."""
    made = None if own_id is None else _MADE.fullmatch(own_id)
    return own_id if made is None else made[1]


def _numbered_anew(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns with new numbers in ids that readers made and that two turns have, in the order of the turns."""
    ids = Counter(turn.own_id for turn in turns)
    twice = {base_of(own_id) for own_id, count in ids.items() if count > 1 and _MADE.fullmatch(own_id or "")}
    seen: Counter[str | None] = Counter()
    found = list[Turn]()
    for turn in turns:
        if (base := base_of(turn.own_id)) in twice:
            seen[base] += 1
            found.append(replace(turn, own_id=base if seen[base] == 1 else f"{base}-{seen[base]}"))
        else:
            found.append(turn)
    return found


def are_numbered_alike(stored: Sequence[Turn], incoming: Mapping[str, Turn]) -> bool:
    """Return whether transcript and store number sessions and turns alike, so that each turn's number is its place.

    That is so if forgotten turns of a conversation come back. `incoming` are `place_of` -> turn. Turns with own ids
    have to share one with the store, or come before all stored turns, since every transcript counts from 0.
    """
    known = {place_of(turn): turn for turn in stored}
    new = [turn for place, turn in incoming.items() if place not in known]
    shared = [(known[place], turn) for place, turn in incoming.items() if place in known]
    if not shared and any(turn.own_id is not None for turn in new) and not _is_before(new[-1], stored[0]):
        return False
    if any((one.session, one.ordinal) != (other.session, other.ordinal) for one, other in shared):
        return False
    line = sorted((*stored, *new), key=lambda turn: turn.ordinal)
    return all(one.ordinal < other.ordinal and one.session <= other.session for one, other in pairwise(line))


def merged_in_part(stored: Sequence[Turn], incoming: Sequence[Turn]) -> list[Turn]:
    """Return the merged turns in order, with new session and ordinal numbers if turns were added.

    `stored` is in order. For shared turns, the incoming text is used. A turn without an own id keeps its ordinal, since
    the ordinal identifies it; turns with own ids share the number of the next one if there is none free before it.
    """
    known = {place_of(turn): index for index, turn in enumerate(stored)}
    order = _woven(stored, incoming, [known.get(place_of(turn)) for turn in incoming])
    if len(order) == len(stored):
        return [placed.turn for placed in order]
    numbers: list[int] = []
    for placed, most in zip(order, _next_numbered(order), strict=True):
        before = numbers[-1] if numbers else -1
        numbers.append(min(before + 1, most) if placed.turn.own_id is not None else placed.turn.ordinal)
    return _renumbered(order, numbers)


def joined(stored: Sequence[Turn], incoming: Sequence[Turn], places: Sequence[int | None]) -> tuple[list[Turn], Turn]:
    """Return two windows of one conversation merged, and the last incoming turn as it is there.

    `places` has the index of the stored turn for each incoming one. Stored turns keep their ordinals, unless new turns
    come before them.
    """
    incoming = [
        turn if index is None or turn.said != stored[index].said else replace(turn, said=stored[index].said)
        for turn, index in zip(incoming, places, strict=True)
    ]  # the same instant, perhaps in another zone
    order = _woven(stored, incoming, places)
    again = _numbered_anew([placed.turn for placed in order])
    order = [replace(placed, turn=turn) for placed, turn in zip(order, again, strict=True)]
    last = next(index for index, placed in enumerate(order) if placed.told is incoming[-1])
    if len(order) == len(stored):
        return [placed.turn for placed in order], order[last].turn
    numbers = [order[0].turn.ordinal]
    moved = 0
    for one, other in pairwise(order):
        step = 1
        if one.told is not None and other.told is not None:
            step = max(1, other.told.ordinal - one.told.ordinal)
        number = other.turn.ordinal + moved
        if other.session is None or number <= numbers[-1]:
            number = numbers[-1] + step
        if other.session is not None:
            moved = number - other.turn.ordinal
        numbers.append(number)
    turns = _renumbered(order, numbers)
    return turns, turns[last]


def _woven(stored: Sequence[Turn], incoming: Sequence[Turn], places: Sequence[int | None]) -> list[_Placed]:
    """Return the stored and the new turns in their joint order; for shared turns, the incoming text is used.

    `places` has the index of the stored turn for each incoming one, None for a new turn.
    """
    told = {index: turn for turn, index in zip(incoming, places, strict=True) if index is not None}
    after: dict[int, list[_Placed]] = {}
    for turn, index in _anchors(stored, incoming, places):
        after.setdefault(index, []).append(_Placed(turn, None, turn))
    order = list(after.get(-1, ()))
    for index, turn in enumerate(stored):
        order += [_Placed(_with_text_of(turn, told.get(index)), turn.session, told.get(index)), *after.get(index, ())]
    return order


@dataclass(frozen=True, slots=True)
class _Placed:
    """A turn in its place, its stored session (None if the turn is new), and the transcript's turn, if any."""

    turn: Turn
    session: int | None
    told: Turn | None


def _with_text_of(turn: Turn, incoming: Turn | None) -> Turn:
    return turn if incoming is None else replace(incoming, session=turn.session, ordinal=turn.ordinal)


def _anchors(stored: Sequence[Turn], incoming: Sequence[Turn], places: Sequence[int | None]) -> list[tuple[Turn, int]]:
    """Return each new turn with the index of the stored turn that it comes after, -1 if it comes first."""
    moments = [None if turn.said is None else Moment.from_datetime(turn.said) for turn in stored]
    found: list[tuple[Turn, int]] = []
    last: int | None = None
    for turn, index, ceiling in zip(incoming, places, _next_known(places, len(stored)), strict=True):
        if index is not None:
            last = index
            continue
        if turn.said is not None:
            last = _last_said_by(Moment.from_datetime(turn.said), moments, -1 if last is None else last, ceiling)
        elif last is None:
            last = ceiling - 1
        found.append((turn, last))
    return found


def _next_known(places: Sequence[int | None], end: int) -> list[int]:
    """Return for each turn of the transcript the index of the stored turn that it, or the next shared one, equals.

    It is `end` if no shared turn follows.
    """
    found: list[int] = []
    for index in reversed(places):
        end = end if index is None else index
        found.append(end)
    return found[::-1]


def _next_numbered(order: Sequence[_Placed]) -> list[int]:
    """Return for each turn the ordinal of the next turn without an own id, or the largest number."""
    found: list[int] = []
    most = sys.maxsize
    for placed in reversed(order):
        most = most if placed.turn.own_id is not None else placed.turn.ordinal
        found.append(most)
    return found[::-1]


def _is_before(one: Turn, other: Turn) -> bool:
    """Say whether one turn comes before another: by its place, and not later by its time."""
    if one.said is None or other.said is None:
        return one.ordinal < other.ordinal
    return one.ordinal < other.ordinal and not Moment.from_datetime(one.said).is_later_than(
        Moment.from_datetime(other.said)
    )


def _last_said_by(said: Moment, moments: Sequence[Moment | None], floor: int, ceiling: int) -> int:
    """Return the index of the last stored turn with a time before the first one later than `said`.

    Only turns after `floor` and before `ceiling` count; `floor` if there is none.
    """
    found = floor
    for index in range(floor + 1, ceiling):
        moment = moments[index]
        if moment is None:
            continue
        if moment.is_later_than(said):
            break
        found = index
    return found


def _renumbered(order: Sequence[_Placed], numbers: Sequence[int]) -> list[Turn]:
    """Return the turns with these ordinals, and with consecutive session numbers."""
    before = _nearest_sessions(order)
    behind = _nearest_sessions(order[::-1])[::-1]
    turns: list[Turn] = []
    session = 0
    for index, (placed, number) in enumerate(zip(order, numbers, strict=True)):
        if index:
            is_within = before[index - 1] is not None and before[index - 1] == behind[index]
            session += _starts_session(order[index - 1], placed, is_within=is_within)
        turns.append(replace(placed.turn, session=session, ordinal=number))
    return turns


def _nearest_sessions(order: Sequence[_Placed]) -> list[int | None]:
    """Return for each turn its stored session, or that of the nearest stored turn before it, if any."""
    found: list[int | None] = []
    for placed in order:
        found.append(placed.session if placed.session is not None else found[-1] if found else None)
    return found


def _starts_session(one: _Placed, other: _Placed, *, is_within: bool) -> bool:
    """Return whether a new session starts between two neighbours.

    The stored sessions decide, else the transcript's. If neither has both turns, a session starts unless both lie
    within one stored session.
    """
    if one.session is not None and other.session is not None:
        return one.session != other.session
    if one.told is not None and other.told is not None:
        return one.told.session != other.told.session
    return not is_within
