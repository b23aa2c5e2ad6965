"""Decide about each episode's names and facts, episode by episode (Graphiti sections 2.2.1 and 2.2.2).

A name means a known entity or a new one. A fact is new or repeats a known fact, and it may contradict others. The
times that follow from this are computed in `validity`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from goalmem_cli.backbones.graphiti import DECIDE, NAME, RESOLVE
from goalmem_cli.backbones.graphiti.episode_reading import Told, ends_of
from goalmem_cli.backbones.graphiti.near import Growing
from goalmem_cli.backbones.graphiti.settings import GraphitiSettings
from goalmem_cli.backbones.graphiti.validity import ADD, CONTRADICTS, SAME
from goalmem_cli.backbones.structured import resolution
from goalmem_cli.backbones.structured.decisions import DECISION, Act, Event, Undecided, acts_of, decision_unit
from goalmem_cli.backbones.structured.resolution import NEW, Policy, Resolved
from goalmem_cli.backbones.structured.summaries import named
from goalmem_cli.backbones.structured.triples import key_of
from goalmem_cli.backbones.structured.walking import TurnWalk
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.records import Part, Unit, content_hash

NONE = "NONE"
EVENTS: Mapping[str, Event] = {SAME: Event("must"), CONTRADICTS: Event("must"), NONE: Event()}
RESOLUTION = "resolution"
Ends: TypeAlias = tuple[str, str]
"""The source and target entities of a fact, by the ids of their first mentions."""


@dataclass(frozen=True)
class Naming:
    """The names of an episode, their resolution without a model, and the entities known before."""

    walk: Growth
    mentions: tuple[Unit, ...]
    resolved: tuple[Resolved, ...]
    known: tuple[Unit, ...]
    lines: tuple[str, ...]
    prompt = RESOLVE
    events = resolution.EVENTS

    @cached_property
    def part(self) -> Part:
        """The part of the decision; its name depends on all names that were compared."""
        of: list[str] = []
        shown = list(self.mentions)
        for mention, each in zip(self.mentions, self.resolved, strict=True):
            places = each.candidates if each.same is None else (each.same,)
            of += [mention.id, "?" if each.same is None else "=", *(self.known[place].id for place in places)]
            shown += [self.known[place] for place in places]
        return self.walk.part(RESOLUTION, content_hash(*of), shown)

    @property
    def asks(self) -> list[Undecided]:
        """The question about all open names, in a list; [] if no name is open."""
        names = [in_one_line(unit.text) for unit in self.mentions]
        asked = resolution.to_ask(names, self.resolved, self.known)
        return [] if asked is None else [Undecided(asked.new, asked.candidates, {"lines": list(self.lines)})]

    def units(self, said: Sequence[Sequence[Act]]) -> tuple[Unit, ...]:
        """Return the decision; a name without an act is a new entity."""
        acts = said[0] if said else ()
        places = resolution.answered(acts, self.resolved, self.known)
        kept = [
            Act(NEW if place is None else SAME, "" if place is None else self.known[place].id, unit.text, unit.id)
            for unit, place in zip(self.mentions, places, strict=True)
        ]
        return (decision_unit(NAME, self.part, kept, self.mentions[0].turns),)


@dataclass(frozen=True)
class Compared:
    """A fact, the known fact with the same words, known facts between the same entities, and other near facts."""

    fact: Unit
    same: Unit | None = None
    between: tuple[Unit, ...] = ()
    others: tuple[Unit, ...] = ()

    @property
    def shown(self) -> tuple[Unit, ...]:
        """The facts that it is compared with, in the order of their numbers."""
        return (*self.between, *self.others) if self.same is None else (self.same,)

    def kept(self, said: Sequence[Act]) -> list[Act]:
        """Return the acts to keep; only a fact between the same two entities can be the same."""
        likes = {unit.id for unit in self.between}
        same = [act.on for act in said if act.event == SAME and act.on in likes]
        same = [self.same.id] if self.same is not None else same
        against = dict.fromkeys(act.on for act in said if act.event == CONTRADICTS and act.on not in same[:1])
        first = Act(SAME, same[0], self.fact.text, self.fact.id) if same else Act(ADD, "", self.fact.text, self.fact.id)
        return [first, *(Act(CONTRADICTS, on, unit=self.fact.id) for on in against)]


@dataclass(frozen=True)
class Telling:
    """The facts of an episode, each with the facts that it is compared with."""

    walk: Growth
    compared: tuple[Compared, ...]
    prompt = DECIDE
    events = EVENTS

    @cached_property
    def part(self) -> Part:
        """The part of the decision; its name depends on all facts that were shown."""
        of = [
            text
            for each in self.compared
            for text in (each.fact.id, "?" if each.same is None else "=", str(len(each.between)),
                         *(unit.id for unit in each.shown))
        ]  # fmt: skip
        shown = [unit for each in self.compared for unit in (each.fact, *each.shown)]
        return self.walk.part(DECISION, content_hash(*of), shown)

    @property
    def open(self) -> list[Compared]:
        """The facts about which the model is asked."""
        return [each for each in self.compared if each.same is None and each.shown]

    @property
    def asks(self) -> list[Undecided]:
        """The questions for the model, one for each open fact."""
        return [
            Undecided((in_one_line(each.fact.text),), each.shown, {"between": len(each.between)}) for each in self.open
        ]

    def units(self, said: Sequence[Sequence[Act]]) -> tuple[Unit, ...]:
        """Return the decision; a fact without an act is new."""
        of = {each.fact.id: acts for each, acts in zip(self.open, said, strict=False)}
        kept = [act for each in self.compared for act in each.kept(of.get(each.fact.id, ()))]
        told = dict.fromkeys(turn for each in self.compared for turn in each.fact.turns)
        return (decision_unit(NAME, self.part, kept, list(told)),)


WalkStep: TypeAlias = Naming | Telling


class Growth(TurnWalk[WalkStep, Told, GraphitiSettings]):
    """The walk of a conversation's graph, episode by episode: first the names, then the facts."""

    def _begin(self) -> None:
        settings = self._settings
        self._policy = Policy(settings.candidates, settings.name_cosine, settings.letters)
        self._entities: dict[str, Unit] = {}
        self._entity_of: dict[str, str] = {}
        self._facts = Growing()
        self._ends: list[Ends] = []
        self._between: dict[frozenset[str], list[int]] = {}
        self._place: dict[str, int] = {}
        self._contradicted: set[str] = set()

    def _steps(self) -> Iterator[WalkStep]:
        for told in self._told:
            for make in (self._naming, self._telling):
                if (step := make(told)) is not None:
                    yield step

    def take(self, step: WalkStep, units: Sequence[Unit]) -> None:
        """Update the graph with the units of a decision."""
        self.names.add(step.part.name)
        acts = [act for unit in units if unit.kind == DECISION for act in acts_of(unit)]
        if isinstance(step, Naming):
            mentions = {unit.id: unit for unit in step.mentions}
            for act in acts:
                self._entity_of[act.unit] = act.on or act.unit
                if not act.on:
                    self._entities[act.unit] = mentions[act.unit]
            return
        facts = {each.fact.id: each.fact for each in step.compared}
        for act in acts:
            if act.event == ADD:
                self._place[act.unit] = len(self._ends)
                self._facts.add(facts[act.unit], self.vectors[act.unit])
                self._ends.append(self._ends_of(facts[act.unit]))
                self._between.setdefault(frozenset(self._ends[-1]), []).append(len(self._ends) - 1)
            elif act.event == CONTRADICTS:
                self._contradicted.add(act.on)

    def part(self, layer: str, name: str, shown: Sequence[Unit]) -> Part:
        """Return the part of a decision, with all turns of the units shown."""
        turns = {id_: self.turns[id_] for unit in shown for id_ in unit.turns}
        ordered = tuple(sorted(turns.values(), key=lambda turn: turn.ordinal))
        return Part(ordered[0].conversation, named(layer, name), ordered)

    def _naming(self, told: Told) -> Naming | None:
        """Return the step that resolves the names of an episode, None if it has none."""
        if not told.mentions:
            return None
        known = tuple(self._entities.values())
        vectors = np.stack([self.vectors[unit.id] for unit in told.mentions])
        rows = np.stack([self.vectors[unit.id] for unit in known]) if known else vectors[:0]
        names = [unit.text for unit in told.mentions]
        resolved = resolution.resolve(names, vectors, [unit.text for unit in known], rows, self._policy)
        lines = tuple(f"{in_one_line(turn.speaker)}: {in_one_line(text)}" for turn, text in told.stretch.lines)
        return Naming(self, told.mentions, tuple(resolved), known, lines)

    def _telling(self, told: Told) -> Telling | None:
        """Return the step for the facts of an episode between two different entities; None if there are none."""
        said: dict[tuple[Ends, str], Unit] = {}
        compared = []
        for fact in told.facts:
            ends = self._ends_of(fact)
            if ends[0] != ends[1]:
                compared.append(self._compared(fact, ends, said.get((ends, key_of(fact.text)))))
                said.setdefault((ends, key_of(fact.text)), fact)
        return Telling(self, tuple(compared)) if compared else None

    def _compared(self, fact: Unit, ends: Ends, said: Unit | None) -> Compared:
        """Return a fact with the facts to compare; `said` is an earlier fact of this episode with the same words.

        A known fact with the same words is the same, unless it was contradicted since. Then it may hold again; the
        original takes it for known.
        """
        units = self._facts.units
        between = self._between.get(frozenset(ends), [])
        same = [
            units[place]
            for place in between
            if self._ends[place] == ends and key_of(units[place].text) == key_of(fact.text)
            and units[place].id not in self._contradicted
        ]  # fmt: skip
        if said is not None or same:
            return Compared(fact, same[0] if same else said)
        most, least = self._settings.similar, self._settings.compared_cosine
        vector = self.vectors[fact.id]
        likes = self._facts.near(fact.text, vector, between, most, least)
        taken = {self._place[unit.id] for unit in likes}
        rest = set(range(len(units))) - taken
        return Compared(fact, None, tuple(likes), tuple(self._facts.near(fact.text, vector, rest, most, least)))

    def _ends_of(self, fact: Unit) -> Ends:
        one, other = (self._entity_of.get(id_, id_) for id_ in ends_of(fact))
        return one, other
