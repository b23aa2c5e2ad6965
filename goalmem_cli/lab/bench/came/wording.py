"""Put events into words with the tables of a domain, with references or with full names.

A template is filled with the words of an event (`{role}`, `{target}`, `{value}` ...); a name in brackets is replaced by
a draw from the pool of that name.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from goalmem_cli.lab.bench.came.records import Event, Form, Group, Mention, Shift

_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?] ))[a-z]")
_POOL = re.compile(r"\[([\w {}]+)\]")
_SHIFTS: Mapping[Shift, tuple[str, ...]] = {
    Shift.TOPIC: ("Let us turn to the {topic}, to {here}.", "On the {topic}, and there on {here}."),
    Shift.SCOPE: ("Now to {here}.", "As to {here}.", "Let us look at {here}."),
    Shift.SLOT: ("As for {slot}.", "Now {slot}.", "Let us get to {slot}."),
}

REVISION, RECALL, MULTI_HOP, SYNTHESIS = TYPES = ("type_1", "type_2", "type_3", "type_4")

Templates = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an entity: its name (a gold entity type) and its possible values.

    `phrase` names it in a question; `told` states it, with `{value}` for the value.
    """

    name: str
    phrase: str
    values: tuple[str, ...]
    told: str = ""

    def value(self, *occasion: str) -> str:
        """Return the value on an occasion; the same occasion always gives the same value."""
        return random.Random(", ".join((self.name, *occasion))).choice(self.values)  # noqa: S311 - no secret


@dataclass(frozen=True, slots=True)
class Slot:
    """The subject of a place's goal: its gold entity types, a noun for an entity, and the attributes.

    `where` names the place and topic in a note or question, `label` what the conversation turns to.
    """

    types: tuple[str, ...]
    noun: str
    label: str
    where: str
    attributes: tuple[Attribute, ...]

    def attribute(self, name: str) -> Attribute:
        """Return the attribute of that name."""
        return next(attribute for attribute in self.attributes if attribute.name == name)


class AskForm(NamedTuple):
    """A kind of question: its type, the event types of the turns that hold its answer, and its words.

    `types` are the gold entity types to look for, if they are not all those of these turns.
    """

    type: str
    events: tuple[str, ...]
    text: str
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """The tables of a domain, most of them by kind of event.

    `types` are the gold entity types of events without an attribute, or additional ones. `references` are for `target`
    and `other`. With `is_cited`, the other entity is cited about the target and numbered separately. `questions` are by
    form.
    """

    roles: tuple[str, str]
    slots: Mapping[str, Slot]
    types: Templates
    texts: Templates
    pools: Templates
    references: Mapping[str, Mapping[Form, tuple[str, ...]]]
    questions: Mapping[str, AskForm]
    is_cited: bool = False

    def entities(self, event: Event) -> list[tuple[str, Group]]:
        """Return the entities of an event, each with its numbering group."""
        place = (event.place.label, event.place.slot)
        own = ("target", *place, event.owner)
        other = ("other", *place, event.role, event.target) if self.is_cited else own
        return [(name, group) for name, group in ((event.target, own), (event.other, other)) if name]

    def said(self, event: Event, mentions: Sequence[Mention], chance: random.Random) -> tuple[str, str]:
        """Return the text of an event's turn, using the mentions, and a note.

        The note says the same with full names, and adds who says it and where.
        """
        words = self._words(event)
        template = chance.choice(self.texts[event.kind])
        template = _POOL.sub(lambda match: chance.choice(self.pools[match[1].format(**words)]), template)
        referring, naming = dict(words), dict(words)
        for mention in mentions:
            key, own = "target" if mention.entity == event.target else "other", words | {"name": mention.entity}
            naming[key] = self.references[key][Form.NAME][0].format(**own)
            reference = chance.choice(self.references[key][mention.form])
            referring[key] = reference.format(**own, nth=ordinal(mention.number))
        named = _sentences(template.format(**naming)) or "Turns to it."
        return _sentences(template.format(**referring)), _sentences(f"{event.role}, {words['where']}: {named}")

    def turned(self, event: Event, shift: Shift, chance: random.Random) -> str:
        """Return the words with which a turn moves to the place of an event, naming only what changed."""
        return _sentences(chance.choice(_SHIFTS[shift]).format(**self._words(event)))

    def entity_types(self, event: Event) -> tuple[str, ...]:
        """Return the gold entity types of an event: those of its slot and of what it says."""
        told = (event.attribute,) if event.attribute else ()
        return (*self.slots[event.place.slot].types, *self.types.get(event.kind, told))

    def _words(self, event: Event) -> dict[str, str]:
        slot, place = self.slots[event.place.slot], event.place
        words = {
            "target": event.target, "other": event.other, "claim": event.target, "value": event.value,
            "noun": slot.noun, "whose": "our" if event.owner == event.role else "your", "topic": place.topic,
            "slot": slot.label, "here": f"{slot.label} on {place.scope}" if slot.label else place.scope,
            "where": slot.where.format(topic=place.topic, scope=place.scope),
        }  # fmt: skip
        if event.attribute:
            attribute = slot.attribute(event.attribute)
            words |= {"what": attribute.phrase, "told": attribute.told.format(value=event.value)}
        return words


def ordinal(number: int) -> str:
    """Return the ordinal: a word up to twelfth, digits after that."""
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _sentences(text: str) -> str:
    return _SENTENCE_START.sub(lambda match: match[0].upper(), text)
