"""Reads the trajectories of CAME-Bench: one folder each, with one turn on each line of its `turns.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.readers.locomo import own_id_of
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node, json_lines
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp

TURNS, QUESTIONS, LABELS = "turns.jsonl", "questions.jsonl", "labels.jsonl"
"""A trajectory's files; only made-up ones have labels."""

_MARKS = ("partition", "timestamp_mapping")
_SPEAKERS, _TEXTS, _IDS = ("role", "speaker"), ("content", "text"), ("id", "turn_id")
# The benchmark's scripts write this mark and a turn's time after its text.
_TIME_MARK = "----TIMESTAMP:"


class CameReader(RecordReader):
    """Reads one trajectory from a file, named by its folder. Its questions are in another file there.

    A turn has `role` (or `speaker`), `content` (or `text`) and `id` (or `turn_id`). Its time is the first of
    `timestamp_mapping`, else `timestamp`, else the time after ``----TIMESTAMP:`` at the end of the text. Published
    trajectories may have no times.
    """

    name = "came"
    suffixes = (".jsonl", ".ndjson")
    sign = "trajectories of CAME-Bench"

    def _is_meant(self, line: Node) -> bool:
        return any(map(line.has, _TEXTS)) and any(map(line.has, _MARKS))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        return drafts_from_turns(source)


def drafts_from_turns(source: Source) -> Iterator[Draft]:
    """Yield the trajectory's draft whenever it is full, and at the end.

    Raises:
        InputError: a line is not JSON or does not have the layout, and may not be skipped; the place is the line and
            the path in it.
    """
    path = Path(source.file)
    draft = Draft(title=path.resolve().parent.name if path.name == TURNS else None)
    return draft.fill(source.readable(json_lines(source), lambda node: (_message(draft, node),)))


def required_of(node: Node, keys: tuple[str, ...]) -> Node:
    """Return the value of the first of the keys that the object has.

    Raises:
        InputError: it has none of them, or is no object.
    """
    return node.required(next((key for key in keys if node.has(key)), keys[0]))


def _message(draft: Draft, node: Node) -> Message:
    """Return the message of a line; a time mark at the end of the text is removed, and used if there is no other."""
    speaker = required_of(node, _SPEAKERS).filled_text()
    text, said = required_of(node, _TEXTS).optional_text(), _said(draft, node)
    body, mark, written = text.rpartition(_TIME_MARK)
    if mark and (behind := _stamp(Node(written, node.file, node.path, node.line))) is not None:
        text, said = body.rstrip(), said or behind
    role = node.child("role").optional_text() or None
    own_id = own_id_of(draft, node.child(next((key for key in _IDS if node.has(key)), _IDS[0])))
    return Message(speaker, text, said, own_id, role)


def _said(draft: Draft, node: Node) -> Stamp | None:
    """Return the turn's time. A value that is no time, such as a count of steps, is left out and counted."""
    mapping = node.child("timestamp_mapping")
    given = [mapping.child(key) for key in mapping.keys()] if mapping.value is not None else []  # noqa: SIM118
    given = [time for time in (*given, node.child("timestamp")) if time.value not in (None, "")]
    stamps = [stamp for time in given if (stamp := _stamp(time)) is not None]
    draft.count("turns with a time that is none, left out", int(bool(given) and not stamps))
    return stamps[0] if stamps else None


def _stamp(node: Node) -> Stamp | None:
    stamp = node.stamp() if isinstance(node.value, str) else None
    return None if stamp is None or stamp.unread else stamp
