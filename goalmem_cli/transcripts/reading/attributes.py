"""The attributes of a message: what it answers, when it was edited, who reacted to it and how.

All formats share one form, in JSON. What a format does not say is missing.

- ``reply_to``: the own id of the message that it answers, in the same conversation.
- ``quoted``: what the format shows of the message that it answers, if that is no id.
- ``edited``: the time of the last edit, or true if the time is unknown.
- ``reactions``: each reaction once, with its ``count`` and, if known, ``by`` whom.
- ``forwarded_from``: the author of a message that its sender only passed on, blank if unknown.
- ``quotes``: the parts of the text that are not the sender's, each with ``start``, ``end`` and, if known, ``from``.
- ``offset``: how many minutes the sender's clock was ahead of UTC, if the time is given both ways.
- ``speaker_id``: the format's own id of the speaker, with the format.
- ``speaker_number``: the speaker's telephone number, if the format gives it beside the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from goalmem_cli.records import FORWARDED_FROM, OFFSET, QUOTED, QUOTES, SPEAKER_ID, SPEAKER_NUMBER
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.texts import clean
from goalmem_cli.transcripts.reading.told_times import Stamp

REPLY_TO, EDITED, REACTIONS = "reply_to", "edited", "reactions"


@dataclass(frozen=True, slots=True)
class Reaction:
    """A reaction, the people known to have given it, and how many gave it (usually more than are known)."""

    text: str
    by: tuple[str, ...] = ()
    count: int = 1


def reactions_in(node: Node, text: str, by: str, name: Callable[[str], str]) -> list[Reaction]:
    """Return the `reactions` of a message, each an object with its text and one giver's id under these keys.

    `name` returns a giver's name.

    Raises:
        InputError: they do not have this layout.
    """
    return [
        Reaction(one.child(text).optional_text(), (name(one.child(by).optional_name() or ""),))
        for one in objects_in(node.child("reactions"))
    ]


def attributes(
    *,
    reply_to: str | None = None,
    quoted: str = "",
    edited: Stamp | bool | None = None,
    reactions: Iterable[Reaction] = (),
    forwarded_from: str | None = None,
    quotes: Sequence[Mapping[str, object]] = (),
    offset: int | None = None,
    speaker: tuple[str | None, str] = (None, ""),
    number: str = "",
) -> Mapping[str, object]:
    """Return the known attributes of a message. `speaker` is an id with its format, `number` a telephone number."""
    known: dict[str, object] = {}
    if reply_to:
        known[REPLY_TO] = reply_to
    if quoted.strip():
        known[QUOTED] = quoted.strip()
    if isinstance(edited, Stamp):
        known[EDITED] = edited.is_placeholder or edited.moment.isoformat()
    elif edited:
        known[EDITED] = True
    if forwarded_from is not None:
        known[FORWARDED_FROM] = forwarded_from.strip()
    if quotes:
        known[QUOTES] = list(quotes)
    if offset:
        known[OFFSET] = offset
    known |= _of_speaker(*speaker, number)
    if listed := _listed(reactions):
        known[REACTIONS] = listed
    return known


def _of_speaker(own_id: str | None, form: str, number: str) -> dict[str, object]:
    told = {SPEAKER_ID: f"{own_id.strip()}@{form}" if own_id and own_id.strip() else "", SPEAKER_NUMBER: number.strip()}
    return {key: value for key, value in told.items() if value}


_QUARTER = 15
_MOST_AHEAD, _MOST_BEHIND = 14 * 60, 12 * 60
"""The possible offsets from UTC, in minutes: quarters of an hour up to these."""


def offset_between(local: Stamp | None, instant: Stamp | None) -> int | None:
    """Return the minutes by which a clock with this time at the instant was ahead of UTC; None if no offset fits."""
    if local is None or instant is None or local.unread or local.is_day or local.moment.tzinfo is not None:
        return None
    if instant.moment.tzinfo is None:
        return None
    ahead = local.moment.replace(tzinfo=UTC) - instant.moment
    minutes = round(ahead.total_seconds()) / 60
    is_one = -_MOST_BEHIND <= minutes <= _MOST_AHEAD and not minutes % _QUARTER
    return int(minutes) if is_one else None


_NEVER = ("0", "false")
_START = datetime(1970, 1, 1)
"""What programs write for something that never happened, and the day that it gives, in some zone."""


def edited_at(node: Node) -> Stamp | bool:
    """Return the time of an edit; True if its time is unknown, False if there was none."""
    stamp = node.stamp()
    if stamp is None or node.value in _NEVER:
        return False
    if stamp.unread:
        return True
    return stamp if abs((stamp.moment.replace(tzinfo=None) - _START).days) > 1 else False


def objects_in(node: Node) -> list[Node]:
    """Return the objects in a list that may be missing; other elements are skipped.

    Raises:
        InputError: the value is neither null nor a list.
    """
    return [] if node.value is None else [one for one in node.elements() if isinstance(one.value, dict)]


def cleaned(value: object) -> object:
    """Return the value with lone surrogates, which UTF-8 cannot express, replaced in all its texts."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned(each) for each in value]
    return {clean(key): cleaned(each) for key, each in value.items()} if isinstance(value, dict) else value


def _listed(reactions: Iterable[Reaction]) -> list[dict[str, object]]:
    """Return the reactions as JSON, each once with its count and the people who gave it."""
    counts: dict[str, int] = {}
    people: dict[str, list[str]] = {}
    for one in reactions:
        if text := one.text.strip():
            counts[text] = counts.get(text, 0) + max(one.count, len(one.by))
            people.setdefault(text, []).extend(name for name in one.by if name)
    return [
        {"reaction": text, "count": count} | ({"by": people[text]} if people[text] else {})
        for text, count in counts.items()
    ]
