"""Travel planning: a user and an assistant plan several trips at once, day by day."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count

from goalmem_cli.lab.bench.came import travel_words as words
from goalmem_cli.lab.bench.came.came_questions import Asker, Domain, TurnList
from goalmem_cli.lab.bench.came.interleaving import Move, Thread, merged
from goalmem_cli.lab.bench.came.records import Event, Place, StoryQuestion, StoryTurn
from goalmem_cli.lab.bench.came.travel_words import ASSISTANT, HOTEL, PRICE, SIGHTS, USER, WORDS
from goalmem_cli.lab.bench.came.wording import ordinal

_MONTHS = """January February March April May June July August September October November December""".split()
_TOWNS = ("Marrowby", "Saltmere", "Quillhaven", "Ostrand", "Velmora", "Tarnfield")
_TOWNS_A_YEAR = 3  # few, so that trips return to a town and its places
_FIRST_YEAR = 2026
_FIRST = "Amber Cedar Copper Heron Juniper Lantern Linden Marble Olive Orchard Pearl Poplar Saffron Swallow".split()
_SECOND = "Anchor Arch Bridge Court Fountain Gate Harbour Hill Meadow Mill Quay Spire Terrace Well".split()
_KINDS: Mapping[str, Sequence[str]] = {
    "hotel": ("Hotel", "Inn", "Lodge", "Guesthouse"),
    "restaurant": ("Kitchen", "Grill", "Tavern", "Table"),
    "sight": ("Museum", "Garden", "Tower", "Gallery"),
}
_PLACES_A_TOWN = 14
_DAYS = (2, 4)
_AT_ONCE = 0.5  # how often an answer directly follows its question
_BY_ASSISTANT = (words.DESCRIBE, words.TELL, words.CORRECT, words.COMPARE)


def _places(world: str) -> dict[tuple[str, str], list[str]]:
    """Return the names in each town by noun; names share words, so that no word identifies one."""
    chance = random.Random(f"{world} places")  # noqa: S311 - these are no secrets
    pairs = [f"{first} {second}" for first in _FIRST for second in _SECOND]
    found: dict[tuple[str, str], list[str]] = {}
    for noun, kinds in _KINDS.items():
        chance.shuffle(pairs)
        for number, town in enumerate(_TOWNS):
            names = pairs[number * _PLACES_A_TOWN : (number + 1) * _PLACES_A_TOWN]
            found[town, noun] = [f"{name} {chance.choice(kinds)}" for name in names]
    return found


def _topics(world: str, chance: random.Random) -> Iterator[list[Thread]]:
    """Yield the threads of one trip after another: each day's hotel, meals and sights."""
    places = _places(world)
    for year in count(_FIRST_YEAR):
        trips = [(town, month) for town in chance.sample(_TOWNS, _TOWNS_A_YEAR) for month in _MONTHS]
        for town, month in chance.sample(trips, len(trips)):
            threads = []
            for day in range(1, chance.randint(*_DAYS) + 1):
                for slot, about in WORDS.slots.items():
                    place = Place(f"{month} {year} trip to {town}", f"day {day}", slot)
                    moves = _Decision(world, place, places[town, about.noun], chance).moves()
                    threads.append(Thread(place, moves))
            yield threads


class _Decision:
    """The moves towards one decision: options are proposed, asked about, compared, chosen and replaced."""

    def __init__(self, world: str, place: Place, names: Sequence[str], chance: random.Random) -> None:
        self._world, self._place, self._chance = world, place, chance
        self._slot = WORDS.slots[place.slot]
        self._wanted = 2 if place.slot == SIGHTS else 1
        self._options = chance.sample(names, self._wanted + chance.randint(2, 3))
        self._prices: dict[str, int] = {}

    def moves(self) -> list[Move]:
        """Return the moves in order; the decision comes after all options, or sometimes all but one."""
        chance = self._chance
        late = self._options[-1:] if chance.random() < 0.4 else []
        first = [name for name in self._options if name not in late]
        moves = merged([self._about(name) for name in first], chance) + self._compared()
        order = chance.sample(first, len(first))
        chosen, left = order[: self._wanted], order[self._wanted :]
        rejected = [name for name in left if chance.random() < 0.35]
        moves += [self._event(words.REJECT, name) for name in rejected]
        moves += [self._event(words.CHOOSE, name) for name in chosen]
        if chance.random() < 0.5:
            values = self._slot.attribute(PRICE).values
            low, high = sorted(chance.sample(range(len(values)), 2))
            moves.insert(0, self._event(words.LIMIT, attribute=PRICE, value=values[low]))
            if chance.random() < 0.5:
                moves.append(self._event(words.NEW_LIMIT, attribute=PRICE, value=values[high]))
        for name in late:
            moves += self._about(name)
        return moves + self._changes(chosen[-1], [name for name in left if name not in rejected] + late)

    def _about(self, name: str) -> list[Move]:
        """Return the moves about one option, starting with its proposal."""
        chance = self._chance
        proposal = self._event(words.PROPOSE, name, role=USER if chance.random() < 0.35 else ASSISTANT)
        moves = [proposal + self._event(words.DESCRIBE, name) * chance.randint(1, 2)]
        price, *others = self._slot.attributes
        asked = [price] if chance.random() < 0.75 else []
        for attribute in asked + chance.sample(others, chance.randint(1 - len(asked), 1)):
            value = attribute.value(self._world, name, self._place.label, self._place.slot)
            question = self._event(words.ASK, name, attribute=attribute.name)
            told = self._event(words.TELL, name, attribute=attribute.name, value=value)
            moves += [question + told] if chance.random() < _AT_ONCE else [question, told]
            if chance.random() < 0.15:
                value = chance.choice([other for other in attribute.values if other != value])
                moves.append(self._event(words.CORRECT, name, attribute=attribute.name, value=value))
            if attribute is price:
                self._prices[name] = _euros(value)
        return moves

    def _compared(self) -> list[Move]:
        """Sometimes return a comparison of the cheapest and the most expensive option, if prices differ."""
        prices = sorted((price, name) for name, price in self._prices.items())
        if len(prices) < 2 or prices[0][0] == prices[-1][0] or self._chance.random() < 0.4:
            return []
        return [self._event(words.COMPARE, prices[0][1], prices[-1][1], PRICE)]

    def _changes(self, chosen: str, left: list[str]) -> list[Move]:
        """Return the replacements of the choice; an option that was given up may return."""
        moves = []
        for _ in range(self._chance.choice((0, 0, 1, 1, 2)) if left else 0):
            new = left.pop()
            moves.append(self._event(words.REPLACE, new, chosen))
            left.insert(0, chosen)
            chosen = new
        return moves

    def _event(
        self, kind: str, target: str = "", other: str = "", attribute: str = "", value: str = "", role: str = ""
    ) -> Move:
        role = role or (ASSISTANT if kind in _BY_ASSISTANT else USER)
        return (Event(kind, role, self._place, target, other, attribute, value),)


def _euros(value: str) -> int:
    return int(value.removesuffix(" euros"))


def _decided(said: TurnList) -> dict[str, StoryTurn]:
    """Return the final choices with the turns of their decisions."""
    found: dict[str, StoryTurn] = {}
    for turn in said.of(*words.DECISIONS):
        found.pop(turn.event.other, None)
        found[turn.event.target] = turn
    return found


def _questions(turns: Sequence[StoryTurn]) -> Iterator[StoryQuestion]:
    asker = Asker(WORDS, turns, words.DETAILS)
    proposals = TurnList(turns).of(words.PROPOSE).by_thing()
    for place, said in asker.places.items():
        yield from _about_choices(asker, place, said)
        yield from _about_details(asker, place, said)
        yield from _about_options(asker, place, said, proposals)
    for topic, places in asker.topics().items():
        for scope in dict.fromkeys(place.scope for place in places):
            yield from _about_day(asker, Place(topic, scope), places)
        yield from _about_hotels(asker, Place(topic, "", HOTEL), places)


def _about_choices(asker: Asker, place: Place, said: TurnList) -> Iterator[StoryQuestion]:
    final, replaced = _decided(said), said.of(words.REPLACE)
    if final:
        yield asker.ask("final choice", final, final.values(), place, is_hard=bool(replaced))
    if replaced:
        decisions = said.of(*words.DECISIONS)
        yield asker.ask("ever chosen", decisions.by("target"), decisions, place)
    if rejected := said.of(words.REJECT):
        yield asker.ask("turned down", rejected.by("target"), rejected, place)
    if limits := said.of(words.NEW_LIMIT):
        yield asker.ask("changed limit", limits.by("value"), limits, place)


def _about_details(asker: Asker, place: Place, said: TurnList) -> Iterator[StoryQuestion]:
    proposed, replaced = list(said.of(words.PROPOSE)), said.of(words.REPLACE)
    for (name, attribute), told in said.of(*words.DETAILS).by_thing().items():
        ask = partial(asker.ask, answers=[told[-1].event.value], place=place, target=name, attribute=attribute)
        form, is_hard = "detail" if len(told) == 1 else "corrected detail", asker.is_told_elsewhere(told)
        yield ask(form, holding=told[-1:], is_hard=is_hard)
        if len(told) > 1:
            continue
        number = next(n for n, turn in enumerate(proposed, 1) if turn.event.target == name)
        holding = [*proposed[:number], *told]
        yield ask("detail of the nth", holding=holding, is_hard=number > 1, nth=ordinal(number))
        if [turn.event.other for turn in replaced] == [name] and place.slot != SIGHTS:
            yield ask("detail of the one given up", holding=[*told, *said.of(words.CHOOSE), *replaced])


def _about_options(
    asker: Asker, place: Place, said: TurnList, proposals: Mapping[tuple[str, str], TurnList]
) -> Iterator[StoryQuestion]:
    if len(proposed := said.of(words.PROPOSE)) > 1:
        yield asker.ask("proposed", proposed.by("target"), proposed, place)
    if place.slot == SIGHTS:
        return
    for name, turn in _decided(said).items():
        others = [one for one in proposals[name, ""] if one.event.place.topic != place.topic]
        if len(trips := {one.event.place.topic for one in others}) == 1:
            yield asker.ask("proposed elsewhere", trips, [turn, *others], place, target=name)


def _about_day(asker: Asker, day: Place, places: Mapping[Place, TurnList]) -> Iterator[StoryQuestion]:
    planned = {slot: Place(day.topic, day.scope, slot) for slot in WORDS.slots}
    found = {slot: final for slot, place in planned.items() if (final := _decided(places.get(place, TurnList())))}
    if len(found) > 1:
        names = [name for final in found.values() for name in final]
        holding = [turn for final in found.values() for turn in final.values()]
        parts = "; ".join(f"{words.PLANNED[slot]} [{WORDS.slots[slot].noun}]" for slot in found)
        answer = "; ".join(f"{words.PLANNED[slot]} {' and '.join(final)}" for slot, final in found.items())
        yield asker.ask("plan of a day", names, holding, day, answer=answer, parts=parts)


def _about_hotels(asker: Asker, trip: Place, places: Mapping[Place, TurnList]) -> Iterator[StoryQuestion]:
    nights = [said for place, said in places.items() if place.slot == HOTEL]
    found = [(said, name, turn) for said in nights for name, turn in _decided(said).items()]
    names, holding = [name for _, name, _ in found], [turn for _, _, turn in found]
    if len(set(names)) > 1:
        yield asker.ask("hotels of a trip", names, holding, trip)
    priced = [said.of(*words.DETAILS, target=name, attribute=PRICE)[-1:] for said, name, _ in found]
    if len(found) > 1 and all(priced):
        total = sum(_euros(told.event.value) for (told,) in priced)
        holding += [told for (told,) in priced]
        yield asker.ask("price of a trip's hotels", [f"{total} euros"], holding, trip, about=names)


TRAVEL = Domain(WORDS, _topics, _questions)
