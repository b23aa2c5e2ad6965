"""Put events into words with the tables of a domain, and ask about what was said, evenly over types and forms.

A template is filled with the words of an event (`{role}`, `{target}`, `{value}` ...); a name in brackets is replaced by
a draw from the pool of that name.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import NamedTuple

from goalmem_cli.lab.bench.came.records import (
    Event,
    Form,
    Group,
    Mention,
    Place,
    QuestionLabels,
    Shift,
    StoryQuestion,
    StoryTurn,
    Thread,
)

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


class Domain(NamedTuple):
    """The generator's interface to a domain: its words, the threads of its topics, and the questions on a trajectory.

    `topics` yields topics without end, in the world of a seed.
    """

    words: Words
    topics: Callable[[str, random.Random], Iterator[list[Thread]]]
    questions: Callable[[Sequence[StoryTurn]], Iterator[StoryQuestion]]


class TurnList(list[StoryTurn]):
    """Turns in order."""

    def of(self, *kinds: str, **fields: str) -> TurnList:
        """Return the turns whose events have these kinds and these field values."""
        found = (turn for turn in self if turn.event.kind in kinds)
        return TurnList(turn for turn in found if all(getattr(turn.event, key) == fields[key] for key in fields))

    def by(self, field: str) -> dict[str, StoryTurn]:
        """Return the last turn for each value of this field of the events."""
        return {getattr(turn.event, field): turn for turn in self}

    def by_thing(self) -> dict[tuple[str, str], TurnList]:
        """Return the turns by the thing and attribute that they are about."""
        found: dict[tuple[str, str], TurnList] = {}
        for turn in self:
            found.setdefault((turn.event.other or turn.event.target, turn.event.attribute), TurnList()).append(turn)
        return found


class Asker:
    """Makes questions from the turns of each place in a trajectory and all values given for a thing."""

    def __init__(self, words: Words, turns: Sequence[StoryTurn], telling: tuple[str, ...]) -> None:
        """Take a trajectory, and the kinds of events that give values."""
        self._words = words
        self._order = {turn.id: number for number, turn in enumerate(turns)}
        self._named: dict[tuple[Place, str], StoryTurn] = {}
        self.places: dict[Place, TurnList] = {}
        for turn in turns:
            self.places.setdefault(turn.event.place, TurnList()).append(turn)
            for mention in turn.mentions:
                self._named.setdefault((turn.event.place, mention.entity), turn)
        told = TurnList(turns).of(*telling).by_thing()
        self._values = {key: {turn.event.value for turn in found} for key, found in told.items()}

    def topics(self) -> dict[str, dict[Place, TurnList]]:
        """Return the places by topic."""
        found: dict[str, dict[Place, TurnList]] = {}
        for place, turns in self.places.items():
            found.setdefault(place.topic, {})[place] = turns
        return found

    def is_told_elsewhere(self, told: TurnList) -> bool:
        """Return whether other turns give other values for what these turns are about."""
        ((key, _),) = told.by_thing().items()
        return len(self._values[key]) > len(told)

    def ask(
        self, form: str, answers: Iterable[str], holding: Iterable[StoryTurn], place: Place, *,
        target: str = "", attribute: str = "", owner: str = "", about: Iterable[str] = (), answer: str | None = None,
        is_hard: bool = True, **words: str,
    ) -> StoryQuestion:  # fmt: skip
        """Return a question of a form; `holding` are the turns with its answer.

        Its evidence also includes the turns that name the answers, the target and the entities in `about`.
        """
        kind, distinct = self._words.questions[form], tuple(dict.fromkeys(answers))
        evidence = self._with_names(list(holding), {*distinct, target, *about})
        scopes = tuple(dict.fromkeys(turn.labels.scope for turn in evidence))
        looked_for = [turn.labels.entity_types for turn in evidence if turn.event.kind in kind.events]
        types = kind.types or tuple(dict.fromkeys(chain.from_iterable(looked_for)))
        labels = QuestionLabels(scopes, (place.label,) if place.scope else scopes, kind.events, types)
        words |= self._words_of(place, attribute) | {"target": target, "owner": owner.capitalize()}
        return StoryQuestion(
            "", kind.type, form, kind.text.format(**words), "; ".join(distinct) if answer is None else answer,
            distinct, tuple(turn.id for turn in evidence), labels, place, target, attribute, owner, is_hard,
        )  # fmt: skip

    def _with_names(self, holding: Sequence[StoryTurn], entities: Iterable[str]) -> list[StoryTurn]:
        """Return the turns, plus those that name entities that they only refer to, in order."""
        found = {turn.id: turn for turn in holding}
        named = {(turn.event.place, one.entity) for turn in holding for one in turn.mentions if one.form is Form.NAME}
        for turn in holding:
            referred = {(turn.event.place, mention.entity) for mention in turn.mentions if mention.entity in entities}
            found |= {self._named[key].id: self._named[key] for key in referred - named}
        return sorted(found.values(), key=lambda turn: self._order[turn.id])

    def _words_of(self, place: Place, attribute: str) -> dict[str, str]:
        words = {"topic": place.topic, "scope": place.scope}
        if (slot := self._words.slots.get(place.slot)) is not None:
            words |= {"noun": slot.noun, "where": slot.where.format(**words)}
            words |= {"what": slot.attribute(attribute).phrase} if attribute else {}
        return words


def chosen(questions: Iterable[StoryQuestion], per_type: int, chance: random.Random) -> tuple[StoryQuestion, ...]:
    """Return at most `per_type` questions of each type, hard ones first, alternating over the type's forms."""
    forms: dict[tuple[str, str], list[StoryQuestion]] = {}
    for one in questions:
        forms.setdefault((one.type, one.form), []).append(one)
    found: list[StoryQuestion] = []
    for kind in TYPES:
        members = [members for (of, _), members in forms.items() if of == kind]
        for each in members:
            chance.shuffle(each)
            each.sort(key=lambda one: not one.is_hard)
        in_turn = [one for one in chain.from_iterable(zip_longest(*members)) if one is not None]
        found += [replace(one, id=f"{kind}-{number}") for number, one in enumerate(in_turn[:per_type], 1)]
    return tuple(found)
