"""Generate questions from what was said in each place, and choose among them evenly over types and forms."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import NamedTuple

from goalmem_cli.lab.bench.came.records import Form, Place, QuestionLabels, StoryQuestion, StoryTurn, Thread
from goalmem_cli.lab.bench.came.wording import TYPES, Words


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
