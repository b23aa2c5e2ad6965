"""Link each new note to similar ones, and change their contexts and tags (A-MEM sections 3.2 and 3.3).

The original overwrites a neighbour without a record. Here each change makes a new version that replaces the one before.
So the state at any time can be found, and a change is undone if the turn that caused it is forgotten. The original
takes search ranks for positions, and so rewrites notes that it has not shown (its issue 32). Here a reply names the
notes that it was shown by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from goalmem_cli.backbones.amem import NAME, NOTE
from goalmem_cli.backbones.amem.notes import LINKS, details_of, key_of, line_of, split, version
from goalmem_cli.backbones.amem.settings import AMemSettings
from goalmem_cli.backbones.structured.alike import nearest_rows
from goalmem_cli.backbones.structured.decisions import DECISION, Act, Event, Undecided, decision_unit
from goalmem_cli.backbones.structured.summaries import summary_part
from goalmem_cli.backbones.structured.units import listed
from goalmem_cli.backbones.structured.walking import TurnWalk
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.records import Part, Unit

ADD, CONNECT, TAG, UPDATE, NONE = "ADD", "LINK", "TAG", "UPDATE", "NONE"
EVENTS: Mapping[str, Event] = {
    CONNECT: Event("must"),
    TAG: Event(text=True),
    UPDATE: Event("must", text=True, ends=True),
    NONE: Event(),
}
BETWEEN = "#"
"""The separator between a new context and new tags."""


@dataclass(frozen=True)
class EvolvingStep:
    """The draft of a new note, and the present versions of the notes most similar to it."""

    walk: Evolution
    draft: Unit
    neighbours: tuple[Unit, ...]

    @cached_property
    def part(self) -> Part:
        """The part of the decision; its name depends on everything that was shown."""
        return summary_part(DECISION, (self.draft, *self.neighbours), self.walk.turns)

    @property
    def undecided(self) -> Undecided | None:
        """The question for the model; None for the first note of a conversation."""
        if not self.neighbours:
            return None
        details = details_of(self.draft).text
        said = f"{in_one_line(self.draft.speaker)}: " * bool(self.draft.speaker) + self.draft.text
        return Undecided((f"{said} [{details}]" if details else said,), self.neighbours, line=line_of)

    def units(self, acts: Iterable[Act]) -> tuple[Unit, ...]:
        """Return the note, the new versions of its neighbours, and the decision."""
        now = {unit.id: unit for unit in self.neighbours}
        details, links = details_of(self.draft), list[str]()
        versions: list[Unit] = []
        kept: list[Act] = []
        for place, act in enumerate(acts):
            if act.event == NONE:
                continue
            if act.event == UPDATE:
                before = now[act.on]
                now[act.on] = self._changed(before, act.text, place)
                versions.append(now[act.on])
                kept.append(replace(act, on=before.id, unit=now[act.on].id))
                continue
            if act.event == TAG:
                details = replace(details, tags=split(act.text))
            else:
                links.append(key_of(now[act.on]))
            kept.append(act)
        turns = [self.walk.turns[id_] for id_ in self.draft.turns]
        note = version(self.draft, details, tuple(dict.fromkeys(links)), turns, (self.part.name,))
        acts = [Act(ADD, text=note.text, unit=note.id), *kept]
        return (note, *versions, decision_unit(NAME, self.part, acts, self.draft.turns))

    def _changed(self, before: Unit, text: str, place: int) -> Unit:
        """Return a version of a note with the context and tags of `text`; a blank one stays as it was."""
        context, _, tags = (each.strip() for each in text.partition(BETWEEN))
        details = details_of(before)
        details = replace(details, context=context or details.context, tags=split(tags) or details.tags)
        ids = dict.fromkeys((*before.turns, *self.draft.turns))
        turns = [self.walk.turns[id_] for id_ in ids]
        return version(before, details, listed(before, LINKS), turns, (self.part.name, str(place)))


class Evolution(TurnWalk[EvolvingStep, Unit, AMemSettings]):
    """The walk of the drafts of a conversation's notes, each compared with those before."""

    def _steps(self) -> Iterator[EvolvingStep]:
        for draft in self._told:
            yield EvolvingStep(self, draft, tuple(self._nearest(draft)))

    def take(self, step: EvolvingStep, units: Sequence[Unit]) -> None:
        """Update the current versions with the units of a decision.

        A version without a vector gets that of the new note's draft.
        """
        self.names.add(step.part.name)
        for unit in units:
            if unit.kind == NOTE:
                self.vectors.setdefault(unit.id, self.vectors[step.draft.id])
                self._current[key_of(unit)] = unit

    def _nearest(self, draft: Unit) -> list[Unit]:
        """Return the current notes most similar to the draft, in the order in which they came."""
        known = list(self._current.values())
        if not known:
            return []
        rows = np.stack([self.vectors[unit.id] for unit in known])
        near = nearest_rows(rows, self.vectors[draft.id], self._settings.neighbours)
        return [known[place] for place in sorted(near)]
