"""Compute from the decisions when facts held, and since when their end was known (Graphiti section 2.2.3).

The original overwrites these times. Here the same rules are applied in the same order to the decisions up to a given
time. So the times can be computed for any moment, and a forgotten decision has no effect. In the original, a fact stays
invalid even if the episode that invalidated it is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from goalmem_cli.backbones.graphiti import FACT
from goalmem_cli.backbones.structured.decisions import Deed, deeds_of, history_of, told_by
from goalmem_cli.backbones.structured.units import passing
from goalmem_cli.logic.dates import say_period
from goalmem_cli.logic.days import single
from goalmem_cli.ports import Happening
from goalmem_cli.records import Query, Unit

ADD, SAME, CONTRADICTS, INVALIDATES, EXPIRES = "ADD", "SAME", "CONTRADICTS", "INVALIDATES", "EXPIRES"


@dataclass
class Validity:
    """A fact with its times: `valid` to `invalid` is when it held, `expired` is when its end became known.

    `by` is the id of the fact that ended it. `told` are the facts that say the same, itself first.
    """

    fact: Unit
    valid: datetime | None
    invalid: datetime | None
    is_expired: bool = False
    expired: datetime | None = None
    by: str = ""
    told: list[Unit] = field(default_factory=list)

    def expire(self, said: datetime | None) -> None:
        """Record that its end became known at `said`, unless it was known before."""
        if not self.is_expired:
            self.is_expired, self.expired = True, said

    @property
    def dates(self) -> str:
        """When it held, as text for a model; "" if unknown."""
        begun, ended = (
            None if each is None else say_period(single(each.date())) for each in (self.valid, self.invalid)
        )
        if begun and ended:
            return f"from {begun} to {ended}"
        return f"since {begun}" if begun else f"until {ended}" if ended else ""

    @property
    def text(self) -> str:
        """The fact with its dates."""
        return f"{self.fact.text} [{self.dates}]" if self.dates else self.fact.text


def validities(units: Sequence[Unit], at: datetime | None = None) -> dict[str, Validity]:
    """Return by id the times of each fact as known at a time (None: now), in the order in which facts came.

    `units` are facts and decisions. A fact that repeats another has no entry of its own.
    """
    is_said = passing(Query("", until=at))
    facts = {unit.id: unit for unit in units if unit.kind == FACT and is_said(unit)}
    found: dict[str, Validity] = {}
    means: dict[str, str] = {}
    for deeds in of_each_fact(units):
        first = deeds[0].act
        if is_said(deeds[0].decision) and first.unit in facts:
            same = means.get(first.on, "") if first.event == SAME else ""
            means[first.unit] = same or first.unit
            _carry_out(found, facts[first.unit], same, deeds)
    return found


def of_each_fact(units: Sequence[Unit]) -> list[list[Deed]]:
    """Return the deeds about each fact, in order; the first says whether it is new or repeats another."""
    found: list[list[Deed]] = []
    for deed in deeds_of(units):
        if not found or found[-1][0].act.unit != deed.act.unit:
            found.append([])
        found[-1].append(deed)
    return found


def _carry_out(found: dict[str, Validity], fact: Unit, same: str, deeds: Sequence[Deed]) -> None:
    """Add a fact, or a further telling of the fact `same`, and end the facts that it contradicts."""
    if same:
        new = found[same]
    else:
        new = found[fact.id] = Validity(fact, fact.event_from, fact.event_to)
    new.told.append(fact)
    against = [found[deed.act.on] for deed in deeds if deed.act.event == CONTRADICTS and deed.act.on in found]
    invalidate(new, [each for each in against if each is not new], deeds[0].decision.said)


def invalidate(new: Validity, against: Sequence[Validity], said: datetime | None) -> None:
    """Update the times of a new fact and of the facts that it contradicts.

    If one fact ended before the other began, nothing changes. Otherwise the fact that began earlier ends when the other
    begins. If times are missing or equal, nothing ends.
    """
    if new.invalid is not None:
        new.expire(said)
    if not new.is_expired:
        later = [(each.valid, each) for each in against if each.valid is not None and _before(new.valid, each.valid)]
        if later:
            new.invalid, first = min(later, key=lambda pair: pair[0])
            new.by = first.fact.id
            new.expire(said)
    for old in against:
        if _not_after(old.invalid, new.valid) or _not_after(new.invalid, old.valid):
            continue
        if _before(old.valid, new.valid):
            old.invalid, old.by = new.valid, new.fact.id
            old.expire(said)


def _before(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and one < other


def _not_after(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and one <= other


def history(units: Sequence[Unit], unit: str) -> list[Happening]:
    """Return for people what happened to a fact, to the facts that it ended, and to those that ended it, in order.

    `units` are facts and decisions. A contradiction is shown by its effect: it invalidates the known fact, or the new
    fact expires at once, or neither.
    """
    known, facts = validities(units), {each.id: each for each in units if each.kind == FACT}
    of = {said.id: id_ for id_, each in known.items() for said in each.told}
    found = []
    for deed in history_of(units, unit):
        event, on = deed.act.event, deed.act.on
        if event == CONTRADICTS and on in known and (new := of.get(deed.act.unit)) is not None:
            event = INVALIDATES if known[on].by == new else EXPIRES if known[new].by == on else CONTRADICTS
            on = new if event == EXPIRES else on
        shown = on if event not in (ADD, SAME) else deed.act.unit
        if shown in facts:
            turns = told_by(deed.decision)
            found.append(Happening(event, deed.decision.said, turns, facts[shown].text, shown))
    return found
