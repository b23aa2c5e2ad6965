"""Link new events (MAGMA section 3.3): by time and similarity at once, by causes and entities afterwards.

The links of an event, and what a model sees with it, depend only on earlier events. So a conversation that grew is
linked like one that was read at once, and a forgotten event leaves no trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from goalmem_cli.backbones.magma import EXPLANATION, LINKS, NAME, READ
from goalmem_cli.backbones.magma.settings import MagmaSettings
from goalmem_cli.backbones.structured.alike import nearest_rows
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.stretches import node_line
from goalmem_cli.backbones.structured.summaries import summary_part
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.backbones.structured.walking import TurnWalk, Vector
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import NO_NUMBER, in_one_line, numbers_of, parse_json
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.records import Part, Unit

CAUSE, EFFECT, CONFIDENCE = "cause", "effect", "confidence"
"""The attributes of an explanation: the ids of the two events, and the model's confidence from 0 to 1."""
OF, ENTITIES = "event", "entities"
"""The attributes of a `read` unit: the id of the event, and the names in it."""
CAUSES, CAUSED_BY = "causes", "caused_by"
_NOTHING = "none"
_LINE = re.compile(r"(causes|caused_by) (\d+) (0\.\d|1\.0) \| (.+)")


def semantic_links(vectors: Sequence[Vector], settings: MagmaSettings) -> list[tuple[int, ...]]:
    """Return for each event the positions of the most similar earlier events, most similar first."""
    if not len(vectors):
        return []
    rows = np.stack(vectors)
    most, least = settings.neighbours, settings.least_cosine
    return [tuple(nearest_rows(rows[:place], row, most, least)) if place else () for place, row in enumerate(rows)]


@dataclass(frozen=True)
class WeavingStep:
    """The question for an event's causes and entities; `shown` are the events shown with it, in order."""

    walk: Weaving
    event: Unit
    shown: tuple[Unit, ...]

    @cached_property
    def part(self) -> Part:
        """The part of the reply; its name depends on everything that was shown."""
        return summary_part(LINKS, (self.event, *self.shown), self.walk.turns)

    def request(self, kit: Kit, problem: str) -> Request:
        """Return the request; the events shown are numbered from 1."""
        inputs = {
            "known": [node_line(unit, is_leaf=True) for unit in self.shown],
            "line": node_line(self.event, is_leaf=True),
            "problem": problem,
        }
        return kit.prompts[LINKS].request(inputs, {"numbers": numbers_of(self.shown)})

    def read(self, kit: Kit, text: str) -> tuple[Unit, ...]:
        """Return the `read` unit of the event, and an explanation for each causal link.

        Raises:
            ReplyUnusable: the reply has another form, or names an event that was not shown.
        """
        shape = self.request(kit, "").shape
        if isinstance(shape, JsonShape):
            reply = parse_json(text, shape.schema)
            names = list(reply[ENTITIES])
            causal = [(each["direction"], each["event"], each["confidence"], each["explanation"])
                      for each in reply["causal"]]  # fmt: skip
        else:
            names, causal = _of_lines(text)
        names = list(dict.fromkeys(name for each in names if (name := in_one_line(each)) and name != _NOTHING))
        links = {unit.id: unit for each in causal for unit in self._link(*each)}
        return (self.unread(names), *links.values())

    def units(self, read: Sequence[Unit]) -> tuple[Unit, ...]:
        """Return the units read, or an empty `read` unit if there are none."""
        return tuple(read) or (self.unread(),)

    def unread(self, names: Sequence[str] = ()) -> Unit:
        """Return the `read` unit with these names; it has all turns that were shown, and takes part in no ranking."""
        attributes = {OF: self.event.id, ENTITIES: list(names)}
        return derived_unit(
            NAME, READ, ", ".join(names) or READ, self.part.turns, identity=(self.part.name,), attributes=attributes
        )

    def _link(self, direction: str, number: str, confidence: float, text: str) -> Iterator[Unit]:
        """Yield a causal link that the model named; raises ReplyUnusable for an unknown event."""
        if number not in numbers_of(self.shown):
            raise ReplyUnusable(f"{number[:20]!r} is none of the events")
        told = in_one_line(text)
        if number == NO_NUMBER or not told:
            return
        other = self.shown[int(number) - 1]
        cause, effect = (self.event, other) if direction == CAUSES else (other, self.event)
        turns = [self.walk.turns[id_] for id_ in dict.fromkeys((*other.turns, *self.event.turns))]
        attributes = {CAUSE: cause.id, EFFECT: effect.id, CONFIDENCE: float(confidence)}
        yield derived_unit(
            NAME, EXPLANATION, told, turns, identity=(self.part.name, cause.id, effect.id), attributes=attributes
        )


def _of_lines(text: str) -> tuple[list[str], list[tuple[str, str, float, str]]]:
    """Parse lines like ``entity: Priya`` and ``caused_by 2 0.8 | She moved for the job.``; return names and links.

    Raises:
        ReplyUnusable: a line has another form.
    """
    names, causal = [], []
    for line in map(str.strip, text.strip().split("\n")):
        match = _LINE.fullmatch(line)
        if match:
            causal.append((match[1], match[2], float(match[3]), match[4]))
        elif line.startswith("entity: "):
            names.append(line.removeprefix("entity: "))
        else:
            raise ReplyUnusable(f"the line {line[:60]!r} is no entity and no cause")
    return names, causal


class Weaving(TurnWalk[WeavingStep, Unit, MagmaSettings]):
    """The walk of a conversation's events, each linked to those before."""

    def _begin(self) -> None:
        self._rows = [self.vectors[event.id] for event in self._told]
        self._near = semantic_links(self._rows, self._settings)
        self._linked: list[set[int]] = []
        self._place = {event.id: place for place, event in enumerate(self._told)}

    def _steps(self) -> Iterator[WeavingStep]:
        for place, event in enumerate(self._told):
            self._add(place)
            yield WeavingStep(self, event, tuple(self._told[each] for each in self._around(place)))

    def take(self, step: WeavingStep, units: Sequence[Unit]) -> None:
        """Add the causal links among the units of a step."""
        self.names.add(step.part.name)
        for unit in units:
            if unit.kind == EXPLANATION:
                ends = [self._place[str(unit.attributes[name])] for name in (CAUSE, EFFECT)]
                self._linked[ends[0]].add(ends[1])
                self._linked[ends[1]].add(ends[0])

    def _add(self, place: int) -> None:
        """Link an event to the one before it and to similar ones."""
        before = {*self._near[place], *({place - 1} if place else ())}
        self._linked.append(before)
        for each in before:
            self._linked[each].add(place)

    def _around(self, place: int) -> list[int]:
        """Return the sorted positions of at most `shown` events within two links.

        Direct links come first, the latest preferred; then the most similar events at two links.
        """
        first = sorted(self._linked[place])
        second = sorted({far for near in first for far in self._linked[near]} - {place, *first})
        found = first[-self._settings.shown :]
        left = self._settings.shown - len(found)
        if second and left > 0:
            rows = np.stack([self._rows[each] for each in second])
            found += [second[each] for each in nearest_rows(rows, self._rows[place], left)]
        return sorted(found)
