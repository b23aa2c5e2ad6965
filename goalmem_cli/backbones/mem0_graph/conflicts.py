"""Decide which known triples each pair contradicts; these are invalid from then on (Mem0 section 2.2).

The original's code deletes what its paper marks as invalid (issue 4187). Here it stays, with the day until which it
held. If both ends of a triple are new, the original gives the second the first one's vector; here each has its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from goalmem_cli.backbones.mem0_graph import CONFLICTS, NAME, NAMED, RELATION, TRIPLE
from goalmem_cli.backbones.mem0_graph.graph_reading import NAMES
from goalmem_cli.backbones.mem0_graph.settings import Mem0GraphSettings
from goalmem_cli.backbones.structured.alike import DIGITS
from goalmem_cli.backbones.structured.decisions import DECISION, Act, Event, Undecided, acts_of, decision_unit
from goalmem_cli.backbones.structured.resolution import Policy, merged
from goalmem_cli.backbones.structured.summaries import summary_part
from goalmem_cli.backbones.structured.triples import ends_of, key_of, keys_of
from goalmem_cli.backbones.structured.units import derived_unit, listed
from goalmem_cli.backbones.structured.walking import TurnWalk, Vector
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.records import Part, Unit
from goalmem_cli.store.units import text_with_marks

_LETTERS = 2000  # of a message that are shown; nearly every message is shorter
ADD, NONE, INVALIDATE = "ADD", "NONE", "INVALIDATE"
EVENTS: Mapping[str, Event] = {INVALIDATE: Event("must", ends=True), NONE: Event()}


def entities(drafts: Iterable[Unit], vectors: Mapping[str, Vector], merges: float) -> dict[str, str]:
    """Return for each name the first name of its entity; names with a cosine of at least `merges` are one entity.

    `drafts` are of one conversation, and `vectors` has the vector of each name. Names are in normal form, and compared
    in the order in which they were told.
    """
    ordered = sorted(drafts, key=lambda unit: (unit.ordinal, unit.id))
    names = list(dict.fromkeys(end for unit in ordered for end in ends_of(unit)))
    if not names:
        return {}
    rows = np.stack([vectors[name] for name in names])
    policy = Policy(candidates=1, least=merges, letters=None, joins=merges)
    return {name: names[place] for name, place in zip(names, merged(names, rows, policy), strict=True)}


@dataclass(frozen=True)
class ConflictStep:
    """A pair's names and draft triples, the triples that it may contradict, and known equals of its own by draft id."""

    walk: Growth
    named: Unit
    drafts: tuple[Unit, ...]
    candidates: tuple[Unit, ...]
    repeated: Mapping[str, Unit]

    @cached_property
    def part(self) -> Part:
        """The part of the decision; its name depends on everything that was compared."""
        shown = {unit.id: unit for unit in (self.named, *self.drafts, *self.candidates, *self.repeated.values())}
        return summary_part(CONFLICTS, list(shown.values()), self.walk.turns)

    @property
    def undecided(self) -> Undecided | None:
        """The question for the model: which triples each message makes untrue; None if there are no candidates."""
        if not self.candidates:
            return None
        turns = [self.walk.turns[id_] for id_ in self.named.turns]
        told = ((turn.speaker, text_with_marks(turn)) for turn in turns)
        lines = (f"{speaker}: {text}" if speaker else text for speaker, text in told)
        return Undecided(tuple(in_one_line(line)[:_LETTERS] for line in lines), self.candidates)

    def units(self, acts: Sequence[Act]) -> tuple[Unit, ...]:
        """Return the new triples and the decision; without acts nothing becomes invalid."""
        ended = {act.on: act for act in reversed(acts) if act.event == INVALIDATE}
        kept: list[Act] = []
        made: list[Unit] = []
        for place, draft in enumerate(self.drafts):
            before = self.repeated.get(draft.id)
            if before is not None and before.id not in ended:
                kept.append(Act(NONE, before.id))
                continue
            turns = [self.walk.turns[id_] for id_ in draft.turns]
            identity = (self.part.name, str(place))
            made.append(derived_unit(NAME, TRIPLE, draft.text, turns, identity=identity, attributes=draft.attributes))
            kept.append(Act(ADD, text=draft.text, unit=made[-1].id))
        known = {unit.id: unit for unit in self.candidates}
        kept += [replace(act, unit=self._instead(act, known[act.on], made)) for act in ended.values()]
        return (*made, decision_unit(NAME, self.part, kept, self.named.turns))

    def _instead(self, act: Act, ended: Unit, made: Sequence[Unit]) -> str:
        """Return the id of the new triple that replaces an ended one: same subject, told by the act's message."""
        by = self.named.turns[act.new - 1] if act.new else ""
        of = self.walk.entity_of(ends_of(ended)[0])
        return next((unit.id for unit in made if by in unit.turns and self.walk.entity_of(ends_of(unit)[0]) == of), "")


class Growth(TurnWalk[ConflictStep, tuple[Unit, ...], Mem0GraphSettings]):
    """The walk of a conversation's triples, pair by pair; it takes the vectors of names by their normal form."""

    def _begin(self) -> None:
        drafts = [unit for units in self._told for unit in units if unit.kind == RELATION]
        self._entities = entities(drafts, self.vectors, self._settings.merges)

    def entity_of(self, name: str) -> str:
        """Return the entity's name for a name."""
        return self._entities.get(name, name)

    def _steps(self) -> Iterator[ConflictStep]:
        for told in self._told:
            if told:
                yield self._step(told)

    def take(self, step: ConflictStep, units: Sequence[Unit]) -> None:
        """Update the current triples with the units of a decision."""
        self.names.add(step.part.name)
        acts = [act for unit in units if unit.kind == DECISION for act in acts_of(unit)]
        for act in acts:
            if act.ends:
                self._current.pop(act.on, None)
        self._current |= {unit.id: unit for unit in units if unit.kind == TRIPLE}

    def _step(self, told: Sequence[Unit]) -> ConflictStep:
        """Return the step that looks for triples which new triples contradict."""
        (named,) = [unit for unit in told if unit.kind == NAMED]
        drafts = tuple(unit for unit in told if unit.kind == RELATION)
        said = {self._identity(unit): unit for unit in self._current.values()}
        repeated = {draft.id: said[key] for draft in drafts if (key := self._identity(draft)) in said}
        return ConflictStep(self, named, drafts, tuple(self._around(listed(named, NAMES))), repeated)

    def _identity(self, unit: Unit) -> tuple[str, ...]:
        subject, predicate, thing = keys_of(unit)
        return self.entity_of(subject), predicate, self.entity_of(thing)

    def _around(self, names: Sequence[str]) -> list[Unit]:
        """Return the current triples of entities similar to any of the names, in the order in which they were told."""
        current = list(self._current.values())
        if not names or not current:
            return []
        ends = [[self.entity_of(end) for end in ends_of(unit)] for unit in current]
        nodes = list(dict.fromkeys(end for pair in ends for end in pair))
        place = {node: number for number, node in enumerate(nodes)}
        asked = np.stack([self.vectors[key_of(name)] for name in names])
        cosines = (np.stack([self.vectors[node] for node in nodes]) @ asked.T).round(DIGITS)
        near = np.stack([cosines[[place[end] for end in pair]].max(axis=0) for pair in ends])
        best = np.full(len(current), -np.inf)
        for column in near.T:
            order = [row for row in np.argsort(-column, kind="stable").tolist() if column[row] >= self._settings.least]
            for row in order[: self._settings.relations]:
                best[row] = max(best[row], column[row])
        order = np.argsort(-best, kind="stable")[: self._settings.conflicting].tolist()
        return [current[row] for row in sorted(order) if np.isfinite(best[row])]
