"""The storyboard of travel planning: which moves lead to a day's hotel, meals and sights, and in which order."""

from __future__ import annotations

import random
from collections.abc import Iterator

from goalmem_cli.lab.bench.came.interleaving import Move, Thread, merged
from goalmem_cli.lab.bench.came.records import Event, Place
from goalmem_cli.lab.bench.came.travel.world import ATTRIBUTES, PRICE, SLOTS, TravelWorld, trips

USER, ASSISTANT = "user", "assistant"

LIMIT, NEW_LIMIT = "state requirement", "change requirement"
PROPOSE, DESCRIBE = "propose option", "describe option"
ASK, TELL, CORRECT = "ask for detail", "give detail", "correct detail"
COMPARE, REJECT = "compare options", "turn down option"
CHOOSE, REPLACE = "choose option", "change choice"

_DAYS = (2, 4)
_LIMITS = {"hotel": (70, 160), "breakfast": (9, 20), "lunch": (15, 35), "dinner": (25, 65), "sights": (8, 28)}
_AT_ONCE = 0.5  # how often an answer follows its question without anything between them


def travel_topics(world: TravelWorld, chance: random.Random) -> Iterator[list[Thread]]:
    """Yield the threads of one trip after another: each day's hotel, meals and sights."""
    for town, topic in trips(chance):
        threads = []
        for day in range(1, chance.randint(*_DAYS) + 1):
            for slot in SLOTS:
                place = Place(topic, f"day {day}", slot)
                threads.append(Thread(place, tuple(_SlotPlan(world, town, place, chance).moves())))
        yield threads


class _SlotPlan:
    """What is said on the way to one decision: options come up, are asked about, compared, chosen and replaced."""

    def __init__(self, world: TravelWorld, town: str, place: Place, chance: random.Random) -> None:
        self._world = world
        self._place = place
        self._chance = chance
        self._category = SLOTS[place.slot]
        self._is_many = place.slot == "sights"
        options = world.places(town, self._category)
        self._options = chance.sample(options, chance.randint(4, 5) if self._is_many else chance.randint(3, 4))
        self._told: dict[tuple[str, str], str] = {}

    def moves(self) -> list[Move]:
        """Return the moves in their order: a decision comes after all but one of the options, at times, are up."""
        late = self._options[-1] if self._chance.random() < 0.4 else None
        first = [name for name in self._options if name != late]
        chains = [self._about(name) for name in first]
        limit = self._chance.randrange(*_LIMITS[self._place.slot]) if self._chance.random() < 0.5 else None
        opening = [] if limit is None else [self._limited(LIMIT, limit)]
        return [*opening, *merged(chains, self._chance), *self._ending(first, late, limit)]

    def _about(self, name: str) -> list[Move]:
        """Return what is said of one option, from its proposal on."""
        role = USER if self._chance.random() < 0.35 else ASSISTANT
        described = [self._event(DESCRIBE, ASSISTANT, name) for _ in range(self._chance.randint(1, 2))]
        moves: list[Move] = [(self._event(PROPOSE, role, name), *described)]
        kinds = [attribute.name for attribute in ATTRIBUTES[self._category]]
        asked = [PRICE] if self._chance.random() < 0.75 else []
        asked += self._chance.sample(kinds[1:], self._chance.randint(0, 1) if asked else 1)
        for attribute in asked:
            value = self._world.value(name, attribute, self._place.slot, self._place.label)
            question = self._event(ASK, USER, name, attribute=attribute)
            told = self._event(TELL, ASSISTANT, name, attribute=attribute, value=value)
            moves += [(question, told)] if self._chance.random() < _AT_ONCE else [(question,), (told,)]
            if self._chance.random() < 0.15:
                value = self._other_value(name, attribute, value)
                moves.append((self._event(CORRECT, ASSISTANT, name, attribute=attribute, value=value),))
            self._told[name, attribute] = value
        return moves

    def _ending(self, first: list[str], late: str | None, limit: int | None) -> list[Move]:
        """Return the decision, and what changes it again."""
        moves = self._compared(first)
        order = self._chance.sample(first, len(first))
        chosen = order[: 2 if self._is_many else 1]
        rejected = [name for name in order[len(chosen) :] if self._chance.random() < 0.35]
        moves += [(self._event(REJECT, USER, name),) for name in rejected]
        moves += [(self._event(CHOOSE, USER, name),) for name in chosen]
        if limit is not None and self._chance.random() < 0.5:
            moves.append(self._limited(NEW_LIMIT, limit + self._chance.randint(2, 19)))
        if late is not None:
            moves += self._about(late)
        open_still = [name for name in self._options if name not in chosen and name not in rejected]
        for _ in range(self._chance.choice((0, 0, 1, 1, 2))):
            given_up = chosen[-1]
            new = late if late in open_still else self._chance.choice([*open_still, None])
            if new is not None:
                moves.append((self._event(REPLACE, USER, new, other=given_up),))
                chosen[-1] = new
                open_still = [*(name for name in open_still if name != new), given_up]
        return moves

    def _compared(self, names: list[str]) -> list[Move]:
        """Return the comparison of the two options with the greatest difference in price, if there is one."""
        prices = sorted(
            (int(self._told[name, PRICE].split()[0]), name) for name in names if (name, PRICE) in self._told
        )
        if len(prices) < 2 or prices[0][0] == prices[-1][0] or self._chance.random() < 0.4:
            return []
        return [(self._event(COMPARE, ASSISTANT, prices[0][1], other=prices[-1][1], attribute=PRICE),)]

    def _limited(self, kind: str, limit: int) -> Move:
        return (self._event(kind, USER, attribute=PRICE, value=f"{limit} euros"),)

    def _other_value(self, name: str, attribute: str, value: str) -> str:
        """Return a value that differs from the one that was told first."""
        again, slot, when = 0, self._place.slot, self._place.label
        while (other := self._world.value(name, attribute, slot, f"{when}, corrected {again}")) == value:
            again += 1
        return other

    def _event(
        self, kind: str, role: str, target: str = "", other: str = "", attribute: str = "", value: str = ""
    ) -> Event:
        return Event(kind, role, self._place, target, other, attribute, value)
