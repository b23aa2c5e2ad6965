"""Make derived units and nodes, and read their attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from goalmem_cli.backbones.scope import within_time
from goalmem_cli.records import FORWARDED_FROM, QUOTED_FROM, QUOTES, Hit, Query, Turn, Unit, content_hash

IN_PLACE_OF = "in_place_of"
"""The attribute that lists what a unit replaced, a line each, with the day until which that held."""


def derived_unit(
    backbone: str,
    kind: str,
    text: str,
    turns: Sequence[Turn],
    *,
    identity: Sequence[str] = (),
    event: tuple[datetime | None, datetime | None] = (None, None),
    attributes: Mapping[str, object] | None = None,
    speaker: str | None = None,
) -> Unit:
    """Return a unit derived from these turns of one conversation; at least one is needed.

    It has the place and time of the last turn, so that a question as of an earlier time does not see it. Its speaker is
    `speaker`, or else the one person who said all the turns. Its id is a hash of backbone, kind, text, turns and
    `identity`. `event` is when what it tells began and ended.
    """
    last = max(turns, key=lambda turn: turn.ordinal)
    forwarded = {turn.attributes.get(FORWARDED_FROM) for turn in turns}
    attributes = dict(attributes or {})
    if not attributes.keys() & {FORWARDED_FROM, QUOTED_FROM} and len(forwarded) == 1 and (author := forwarded.pop()):
        attributes[FORWARDED_FROM] = author
    return Unit(
        id=content_hash(backbone, kind, text, *identity, *(turn.id for turn in turns)),
        kind=kind,
        text=text,
        conversation=last.conversation,
        speaker=last.speaker if speaker is None and is_one_voice(turns) else speaker or "",
        said=last.local,
        turns=tuple(turn.id for turn in turns),
        labels=tuple(turn.label for turn in turns),
        backbone=backbone,
        session=last.session,
        ordinal=last.ordinal,
        event_from=event[0],
        event_to=event[1],
        attributes=attributes,
    )


def is_one_voice(turns: Sequence[Turn]) -> bool:
    """Say whether all words of the turns are one person's: one speaker, no quotes, all forwarded from one or none."""
    voices = {(turn.speaker, turn.attributes.get(FORWARDED_FROM)) for turn in turns if QUOTES not in turn.attributes}
    return len(voices) == 1 and not any(QUOTES in turn.attributes for turn in turns)


def node(
    backbone: str,
    kind: str,
    text: str,
    behind: Sequence[Unit],
    attributes: Mapping[str, object] | None = None,
    *,
    identity: Sequence[str] = (),
) -> Unit:
    """Return a unit for what these units share, such as a phrase or a label; at least one is needed.

    It names all their turns, and has the place and time of the first unit. Its id is a hash of backbone, kind, text and
    `identity` only, so that it stays the same when the units `behind` it change.
    """
    first = min(behind, key=lambda unit: (unit.conversation, unit.session, unit.ordinal, unit.id))
    sources = {
        turn: label
        for unit in sorted(behind, key=lambda unit: unit.id)
        for turn, label in zip(unit.turns, unit.labels, strict=True)
    }
    return Unit(
        id=content_hash(backbone, kind, text, *identity),
        kind=kind,
        text=text,
        conversation=first.conversation,
        speaker="",
        said=first.said,
        turns=tuple(sources),
        labels=tuple(sources.values()),
        backbone=backbone,
        session=first.session,
        ordinal=first.ordinal,
        attributes=attributes or {},
    )


def listed(unit: Unit, name: str) -> list[str]:
    """Return the texts that an attribute lists; [] if a store made elsewhere lacks it."""
    value = unit.attributes.get(name)
    return list(map(str, value)) if isinstance(value, list) else []


def saying_what_it_replaced(hit: Hit, replaced: Sequence[str]) -> Hit:
    """Return the hit with these lines as what its unit replaced; unchanged if there are none."""
    if not replaced:
        return hit
    attributes = {**hit.unit.attributes, IN_PLACE_OF: list(replaced)}
    return replace(hit, unit=replace(hit.unit, attributes=attributes))


def number(unit: Unit, name: str) -> float:
    """Return an attribute as a number; 0 if a store made elsewhere lacks it."""
    value = unit.attributes.get(name)
    return float(value) if isinstance(value, (int, float)) else 0.0


def passing(query: Query) -> Callable[[Unit], bool]:
    """Return a function that says whether a unit passes the query's filters, with the same rules as a store.

    A unit without a time passes no filter by time.
    """
    is_within = within_time(query)
    conversations = None if query.conversations is None else frozenset(query.conversations)

    def passes(unit: Unit) -> bool:
        """Say whether a unit passes the query's conversations, speakers and times."""
        if conversations is not None and unit.conversation not in conversations:
            return False
        if query.speakers is not None and unit.speaker not in query.speakers:
            return False
        return is_within(unit)

    return passes
