"""Units as backbones derive them: in the place of the last turn that they come from, and known at its time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from goalmem_cli.backbones.scope import within_time
from goalmem_cli.records import FORWARDED_FROM, QUOTED_FROM, QUOTES, Hit, Query, Turn, Unit, content_hash

IN_PLACE_OF = "in_place_of"
"""The attribute that lists what a unit took the place of, a line each, with the day until which that held."""


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
    """Return a unit that was derived from these turns of one conversation, of which there is at least one.

    It stands where the last of them does, so that a question as of an earlier time does not see it; it has the
    `speaker`, or else the one whose words all of them are. Backbone, kind, text, turns and `identity` tell it from
    others. `event` is when what it tells began and ended.
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
    """Say whether all words of the turns are one person's: they have one speaker, who quotes nobody, and forwards all
    of them from one, or none.
    """
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
    """Return what these units, of which there is at least one, share: a phrase, say, or a label.

    It comes from all of their turns and stands where the first of them does. Backbone, kind, text and `identity` alone
    tell it from others, so that it stays the same unit whichever units are behind it.
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
    """Return the texts that an attribute lists; none where a store made elsewhere has none."""
    value = unit.attributes.get(name)
    return list(map(str, value)) if isinstance(value, list) else []


def saying_what_it_replaced(hit: Hit, replaced: Sequence[str]) -> Hit:
    """Return the hit, whose unit lists these lines as what it took the place of; as it is where there are none."""
    if not replaced:
        return hit
    attributes = {**hit.unit.attributes, IN_PLACE_OF: list(replaced)}
    return replace(hit, unit=replace(hit.unit, attributes=attributes))


def number(unit: Unit, name: str) -> float:
    """Return the number that an attribute is; 0 where a store made elsewhere has none."""
    value = unit.attributes.get(name)
    return float(value) if isinstance(value, (int, float)) else 0.0


def passing(query: Query) -> Callable[[Unit], bool]:
    """Return what says whether a unit passes the query's filters, as a store has them.

    Without a time, a unit passes none by time.
    """
    is_within = within_time(query)

    def passes(unit: Unit) -> bool:
        if query.conversations is not None and unit.conversation not in query.conversations:
            return False
        if query.speakers is not None and unit.speaker not in query.speakers:
            return False
        return is_within(unit)

    return passes
