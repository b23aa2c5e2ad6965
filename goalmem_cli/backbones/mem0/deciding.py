"""Decide pair by pair what to do with each pair's facts (Mem0 section 2.1): add them, or replace known memories.

Memories that the original overwrites or deletes stay stored here, but are not current. A fact is dropped only if the
model says that it is known. A fact that deletes a memory is added too; the original loses it (issue 4536). A fact
repeated in the same words changes nothing; the original has deleted such memories (issue 1674).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from goalmem_cli.backbones.mem0 import MEMORY, NAME
from goalmem_cli.backbones.mem0.settings import Mem0Settings
from goalmem_cli.backbones.structured.alike import DIGITS
from goalmem_cli.backbones.structured.decisions import (
    DECISION,
    Act,
    Event,
    Undecided,
    acts_of,
    carried_out,
    decision_unit,
)
from goalmem_cli.backbones.structured.summaries import summary_part
from goalmem_cli.backbones.structured.triples import key_of
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.backbones.structured.walking import TurnWalk
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.records import Part, Unit

ADD, UPDATE, DELETE, NONE = "ADD", "UPDATE", "DELETE", "NONE"
EVENTS: Mapping[str, Event] = {
    ADD: Event(text=True),
    UPDATE: Event("must", text=True, ends=True),
    DELETE: Event("must", ends=True),
    NONE: Event("may"),
}


@dataclass(frozen=True)
class DecidingStep:
    """The facts of a pair, the memories to compare them with, and, by position, memories equal to a fact in words."""

    walk: Growth
    facts: tuple[Unit, ...]
    candidates: tuple[Unit, ...]
    repeated: Mapping[int, Unit]

    @cached_property
    def part(self) -> Part:
        """The part of the decision; its name depends on everything that was compared."""
        shown = (*self.facts, *self.candidates, *self.repeated.values())
        return summary_part(DECISION, shown, self.walk.turns)

    @property
    def undecided(self) -> Undecided | None:
        """The question for the model; None if all facts are repeated, or there is nothing to compare them with."""
        new = [place for place in range(len(self.facts)) if place not in self.repeated]
        if not new or not self.candidates:
            return None
        return Undecided(tuple(in_one_line(self.facts[place].text) for place in new), self.candidates)

    def units(self, acts: Sequence[Act]) -> tuple[Unit, ...]:
        """Return the memories that a reply's acts make, and the decision; facts without an act are added."""
        new = [place for place in range(len(self.facts)) if place not in self.repeated]
        known = [Act(NONE, unit.id, new=place + 1) for place, unit in self.repeated.items()]
        decided = [Act(act.event, act.on, act.text, ends=act.ends, new=new[act.new - 1] + 1) for act in acts]
        settled = {act.new for act in (*known, *decided) if act.event == NONE or act.text}
        added = [
            Act(ADD, text=fact.text, new=place) for place, fact in enumerate(self.facts, 1) if place not in settled
        ]
        shown = {unit.id: unit for unit in (*self.candidates, *self.repeated.values())}
        made, kept = carried_out([*known, *decided, *added], EVENTS, shown, self._memory)
        return (*made, decision_unit(self.walk.backbone, self.part, kept, self.facts[0].turns))

    def _memory(self, place: int, text: str, before: Unit | None) -> Unit:
        """Return the memory that an act makes, with the turns of the memory before it."""
        fact = self.facts[0]
        ids = dict.fromkeys((*(before.turns if before else ()), *fact.turns))
        turns = [self.walk.turns[id_] for id_ in ids]
        return derived_unit(
            self.walk.backbone, MEMORY, text, turns, identity=(self.part.name, str(place)), attributes=fact.attributes
        )


class Growth(TurnWalk[DecidingStep, tuple[Unit, ...], Mem0Settings]):
    """The walk of one memory of a conversation, which grows pair by pair."""

    backbone = NAME

    def _steps(self) -> Iterator[DecidingStep]:
        for facts in self._told:
            if facts:
                yield self._step(facts)

    def take(self, step: DecidingStep, units: Sequence[Unit]) -> None:
        """Update the current memories with the units of a decision.

        A memory without a vector gets that of the first fact.
        """
        self.names.add(step.part.name)
        for unit in units:
            self.vectors.setdefault(unit.id, self.vectors[step.facts[0].id])
        acts = [act for unit in units if unit.kind == DECISION for act in acts_of(unit)]
        self._current |= {unit.id: unit for unit in units if unit.kind == MEMORY}
        for act in acts:
            if act.ends:
                self._current.pop(act.on, None)

    def _step(self, facts: tuple[Unit, ...]) -> DecidingStep:
        """Return the step that decides about new facts; facts in the words of a memory are repeats."""
        said = {key_of(unit.text): unit for unit in self._current.values()}
        repeated = {place: said[key] for place, fact in enumerate(facts) if (key := key_of(fact.text)) in said}
        new = [fact for place, fact in enumerate(facts) if place not in repeated]
        taken = {unit.id for unit in repeated.values()}
        rest = [unit for unit in self._current.values() if unit.id not in taken]
        return DecidingStep(self, facts, tuple(self._similar(new, rest)), repeated)

    def _similar(self, facts: Sequence[Unit], known: Sequence[Unit]) -> list[Unit]:
        """Return the known memories nearest to any of the facts, in the order in which they were made."""
        if not facts or not known:
            return []
        rows = np.stack([self.vectors[unit.id] for unit in known])
        cosines = (rows @ np.stack([self.vectors[fact.id] for fact in facts]).T).round(DIGITS)
        near = np.argsort(-cosines, axis=0, kind="stable")[: self._settings.similar]
        best = np.full(len(known), -np.inf)
        for column, places in enumerate(near.T):
            best[places] = np.maximum(best[places], cosines[places, column])
        order = np.argsort(-best, kind="stable")[: self._settings.candidates]
        return [known[place] for place in sorted(order.tolist()) if np.isfinite(best[place])]
