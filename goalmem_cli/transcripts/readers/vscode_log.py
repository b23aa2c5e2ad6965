"""Replays logs of the changes to a chat of VS Code (microsoft/vscode, `objectMutationLog.ts` of 2026)."""

from __future__ import annotations

from functools import partial
from typing import Any

from goalmem_cli.transcripts.reading.nodes import Node, json_lines
from goalmem_cli.transcripts.reading.source import Source

WHOLE, _SET, _PUSH, _DELETE = range(4)
"""What a line does: it gives the whole session, or sets, extends or deletes the value at its path `k`."""
_SESSION = "session"


def session_of(source: Source) -> Node:
    """Return the session that the log's lines make; a line that cannot be applied is skipped.

    Raises:
        InputError: a line cannot be applied, and may not be skipped.
    """
    held: dict[object, object] = {_SESSION: None}
    for line in json_lines(source):
        source.is_readable(partial(_follow, held, line))
    return Node(held[_SESSION], source.file)


def _follow(held: dict[object, object], line: Node) -> None:
    """Apply the line's change to the session.

    Raises:
        InputError: it is no change, or its path leads to what the session does not have.
    """
    kind = line.required("kind").value
    if kind == WHOLE:
        held[_SESSION] = line.required("v").value
        return
    *way, last = (_SESSION, *(step.value for step in line.required("k").elements()))
    place: object = held
    for step in way:
        place = _members(place, step, line)[step]
    members, given = _members(place, last, line), line.child("v")
    if kind == _PUSH:
        listed, kept = members[last], line.child("i").value
        if not isinstance(listed, list):
            listed = members[last] = []
        del listed[kept if isinstance(kept, int) and kept >= 0 else len(listed) :]
        listed.extend(each.value for each in ([] if given.value is None else given.elements()))
    elif kind in (_SET, _DELETE):
        members[last] = given.value if kind == _SET else None
    else:
        raise line.error(f"{kind!r} is no kind of change")


def _members(place: object, step: object, line: Node) -> Any:
    """Return the object or array, with the step as one of its keys or indices.

    Raises:
        InputError: it does not have the step, and cannot have it.
    """
    if isinstance(place, dict) and isinstance(step, str):
        place.setdefault(step, None)
        return place
    if isinstance(place, list) and isinstance(step, int) and 0 <= step <= len(place):
        place += [None] * (step == len(place))
        return place
    raise line.child("k").error("leads to what the session does not have")
