"""Travel planning: a user and an assistant plan several trips at once, day by day."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count

from goalmem_cli.lab.bench.came.came_questions import (
    MULTI_HOP,
    RECALL,
    REVISION,
    SYNTHESIS,
    Asker,
    AskForm,
    Attribute,
    Domain,
    Slot,
    TurnList,
    Words,
    ordinal,
)
from goalmem_cli.lab.bench.came.records import FOCUS, Event, Form, Move, Place, StoryQuestion, StoryTurn, Thread, merged

USER, ASSISTANT = "user", "assistant"
LIMIT, NEW_LIMIT = "state requirement", "change requirement"
PROPOSE, DESCRIBE = "propose option", "describe option"
ASK = "ask for detail"
TELL, CORRECT = DETAILS = ("give detail", "correct detail")
HOTEL, SIGHTS = "hotel", "sights"
COMPARE, REJECT = "compare options", "turn down option"
CHOOSE, REPLACE = DECISIONS = ("choose option", "change choice")

PRICE = "Price"
PLANNED = {HOTEL: "Stay at", "breakfast": "Breakfast at", "lunch": "Lunch at", "dinner": "Dinner at", SIGHTS: "Visit"}
_RATINGS = tuple(f"{tenths / 10} of 10" for tenths in range(61, 98))


def _slot(
    noun: str, types: tuple[str, ...], label: str, where: str, price: tuple[str, int, int], time: Attribute
) -> Slot:
    unit, least, most = price
    prices = tuple(f"{euros} euros" for euros in range(least, most))
    attributes = (
        Attribute(PRICE, f"the price per {unit}", prices, f"costs {{value}} per {unit}"),
        Attribute("Rating", "the guest rating", _RATINGS, "has a guest rating of {value}"),
        time,
    )
    return Slot(types, noun, label, f"for {where}{{scope}} of the {{topic}}", attributes)


def _times(first: int) -> tuple[str, ...]:
    return tuple(f"{hour:02}:{minute:02}" for hour in range(first, first + 4) for minute in range(0, 60, 5))


def _meal(name: str, least: int, most: int, first: int) -> Slot:
    table = Attribute("Table", "the time of the free table", _times(first), "has a table free at {value}")
    types = ("Restaurant", name.capitalize())
    return _slot("restaurant", types, name, f"{name} on ", ("person", least, most), table)


_CHECK_IN = Attribute("Check-in", "the check-in time", _times(13), "has check-in from {value}")
_OPENING = Attribute("Opening", "the opening time", _times(8), "opens at {value}")
_SLOTS = {
    HOTEL: _slot("hotel", ("Hotel",), "the hotel", "the night of ", ("night", 48, 190), _CHECK_IN),
    "breakfast": _meal("breakfast", 6, 25, 7),
    "lunch": _meal("lunch", 11, 40, 12),
    "dinner": _meal("dinner", 18, 75, 18),
    SIGHTS: _slot("sight", ("Attraction",), "the sights", "", ("ticket", 4, 33), _OPENING),
}

WORDS = Words(
    roles=(USER, ASSISTANT),
    slots=_SLOTS,
    types={LIMIT: ("Budget",), NEW_LIMIT: ("Budget",)},
    texts={
        FOCUS: ("",),
        LIMIT: ("I do not want to spend more than {value} here.", "Please keep this one within {value}."),
        NEW_LIMIT: ("I thought about the money again: up to {value} is fine.", "Let us say {value} at most instead."),
        PROPOSE: ("How about {target}?", "I came across {target}, which might suit us here."),
        DESCRIBE: ("{target} [{noun} look], [remark]. The place also [{noun} feature]. [opinion]",),
        ASK: ("Could you find out {what} for {target}?", "Do you know {what} for {target}?"),
        TELL: ("I looked it up: {target} {told}.", "{target} {told}, going by what they sent me."),
        CORRECT: ("I have to correct myself: {target} {told}.", "They wrote to me again, and now {target} {told}."),
        COMPARE: ("Between {target} and {other}, you spend less with {target}.", "{target} is cheaper than {other}."),
        REJECT: ("I would rather leave out {target}.", "{target} is not for us, strike it off."),
        CHOOSE: ("Good, let us take {target}.", "{target} it is, please put it down."),
        REPLACE: ("I changed my mind: {target} instead of {other}.", "Please put down {target}, and drop {other}."),
    },
    pools={
        "hotel look": ("has thick walls and tall windows", "was a shipowner's house once", "sits in a quiet lane"),
        "hotel feature": ("keeps a small library on the landing", "has rooms that look onto an inner yard"),
        "restaurant look": ("cooks over an open fire", "has long tables that strangers share", "is in an old net loft"),
        "restaurant feature": ("buys its fish from the boats next door", "bakes its own dark bread"),
        "sight look": ("shows how the town looked before the flood", "is laid out around a sundial", "has a tall dome"),
        "sight feature": ("has a bell that is still rung by hand", "lets visitors into the cellars"),
        "remark": (
            "and people come back to it for the calm", "and the staff take their time with everybody",
            "which makes it pleasant in any weather", "so that one easily stays longer than planned",
        ),
        "opinion": (
            "I think it would go well with the rest of the day.", "It is the sort of place that you said you like.",
            "You would not need to hurry there.", "It has a charm of its own without being grand.",
        ),
    },
    references={
        entity: {
            Form.NAME: ("{name}",),
            Form.ORDINAL: ("the {nth} one", "the {nth} {noun} on our list"),
            Form.PRONOUN: ("it", "that place", "that one"),
        }
        for entity in ("target", "other")
    },
    questions={
        "final choice": AskForm(REVISION, DECISIONS, "Of the {noun}s, what is chosen in the end {where}?"),
        "ever chosen": AskForm(REVISION, DECISIONS, "Of the {noun}s, what was chosen at any time {where}?"),
        "turned down": AskForm(REVISION, (REJECT,), "Which of the {noun}s proposed {where} did the user turn down?"),
        "changed limit": AskForm(REVISION, (LIMIT, NEW_LIMIT),
            "What may a {noun} cost at most {where}, as the user last set it?"),
        "detail": AskForm(RECALL, DETAILS, "What is {what} for {target}, an option {where}?"),
        "corrected detail": AskForm(REVISION, DETAILS,
            "What is {what} for {target}, an option {where}, after what was corrected?"),
        "detail of the nth": AskForm(MULTI_HOP, (PROPOSE, *DETAILS),
            "What is {what} for the {nth} {noun} that was proposed {where}?"),
        "detail of the one given up": AskForm(MULTI_HOP, (*DECISIONS, *DETAILS),
            "What is {what} for the {noun} chosen first {where}, and then given up?"),
        "proposed": AskForm(MULTI_HOP, (PROPOSE,), "Which {noun}s were proposed {where}?"),
        "proposed elsewhere": AskForm(MULTI_HOP, (*DECISIONS, PROPOSE),
            "For which other trip was the {noun} proposed that is chosen in the end {where}?"),
        "plan of a day": AskForm(SYNTHESIS, DECISIONS,
            "What is the plan in the end for {scope} of the {topic}? Answer in the form: {parts}"),
        "hotels of a trip": AskForm(SYNTHESIS, DECISIONS,
            "Which hotels are chosen in the end for the {topic}, over all its days?"),
        "price of a trip's hotels": AskForm(SYNTHESIS, (*DECISIONS, *DETAILS),
            "What do the hotels chosen in the end for the {topic} cost together, a night for each day?",
            ("Hotel", PRICE)),
    },
)  # fmt: skip


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
_BY_ASSISTANT = (DESCRIBE, TELL, CORRECT, COMPARE)


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
        moves += [self._event(REJECT, name) for name in rejected]
        moves += [self._event(CHOOSE, name) for name in chosen]
        if chance.random() < 0.5:
            values = self._slot.attribute(PRICE).values
            low, high = sorted(chance.sample(range(len(values)), 2))
            moves.insert(0, self._event(LIMIT, attribute=PRICE, value=values[low]))
            if chance.random() < 0.5:
                moves.append(self._event(NEW_LIMIT, attribute=PRICE, value=values[high]))
        for name in late:
            moves += self._about(name)
        return moves + self._changes(chosen[-1], [name for name in left if name not in rejected] + late)

    def _about(self, name: str) -> list[Move]:
        """Return the moves about one option, starting with its proposal."""
        chance = self._chance
        proposal = self._event(PROPOSE, name, role=USER if chance.random() < 0.35 else ASSISTANT)
        moves = [proposal + self._event(DESCRIBE, name) * chance.randint(1, 2)]
        price, *others = self._slot.attributes
        asked = [price] if chance.random() < 0.75 else []
        for attribute in asked + chance.sample(others, chance.randint(1 - len(asked), 1)):
            value = attribute.value(self._world, name, self._place.label, self._place.slot)
            question = self._event(ASK, name, attribute=attribute.name)
            told = self._event(TELL, name, attribute=attribute.name, value=value)
            moves += [question + told] if chance.random() < _AT_ONCE else [question, told]
            if chance.random() < 0.15:
                value = chance.choice([other for other in attribute.values if other != value])
                moves.append(self._event(CORRECT, name, attribute=attribute.name, value=value))
            if attribute is price:
                self._prices[name] = _euros(value)
        return moves

    def _compared(self) -> list[Move]:
        """Sometimes return a comparison of the cheapest and the most expensive option, if prices differ."""
        prices = sorted((price, name) for name, price in self._prices.items())
        if len(prices) < 2 or prices[0][0] == prices[-1][0] or self._chance.random() < 0.4:
            return []
        return [self._event(COMPARE, prices[0][1], prices[-1][1], PRICE)]

    def _changes(self, chosen: str, left: list[str]) -> list[Move]:
        """Return the replacements of the choice; an option that was given up may return."""
        moves = []
        for _ in range(self._chance.choice((0, 0, 1, 1, 2)) if left else 0):
            new = left.pop()
            moves.append(self._event(REPLACE, new, chosen))
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
    for turn in said.of(*DECISIONS):
        found.pop(turn.event.other, None)
        found[turn.event.target] = turn
    return found


def _questions(turns: Sequence[StoryTurn]) -> Iterator[StoryQuestion]:
    asker = Asker(WORDS, turns, DETAILS)
    proposals = TurnList(turns).of(PROPOSE).by_thing()
    for place, said in asker.places.items():
        yield from _about_choices(asker, place, said)
        yield from _about_details(asker, place, said)
        yield from _about_options(asker, place, said, proposals)
    for topic, places in asker.topics().items():
        for scope in dict.fromkeys(place.scope for place in places):
            yield from _about_day(asker, Place(topic, scope), places)
        yield from _about_hotels(asker, Place(topic, "", HOTEL), places)


def _about_choices(asker: Asker, place: Place, said: TurnList) -> Iterator[StoryQuestion]:
    final, replaced = _decided(said), said.of(REPLACE)
    if final:
        yield asker.ask("final choice", final, final.values(), place, is_hard=bool(replaced))
    if replaced:
        decisions = said.of(*DECISIONS)
        yield asker.ask("ever chosen", decisions.by("target"), decisions, place)
    if rejected := said.of(REJECT):
        yield asker.ask("turned down", rejected.by("target"), rejected, place)
    if limits := said.of(NEW_LIMIT):
        yield asker.ask("changed limit", limits.by("value"), limits, place)


def _about_details(asker: Asker, place: Place, said: TurnList) -> Iterator[StoryQuestion]:
    proposed, replaced = list(said.of(PROPOSE)), said.of(REPLACE)
    for (name, attribute), told in said.of(*DETAILS).by_thing().items():
        ask = partial(asker.ask, answers=[told[-1].event.value], place=place, target=name, attribute=attribute)
        form, is_hard = "detail" if len(told) == 1 else "corrected detail", asker.is_told_elsewhere(told)
        yield ask(form, holding=told[-1:], is_hard=is_hard)
        if len(told) > 1:
            continue
        number = next(n for n, turn in enumerate(proposed, 1) if turn.event.target == name)
        holding = [*proposed[:number], *told]
        yield ask("detail of the nth", holding=holding, is_hard=number > 1, nth=ordinal(number))
        if [turn.event.other for turn in replaced] == [name] and place.slot != SIGHTS:
            yield ask("detail of the one given up", holding=[*told, *said.of(CHOOSE), *replaced])


def _about_options(
    asker: Asker, place: Place, said: TurnList, proposals: Mapping[tuple[str, str], TurnList]
) -> Iterator[StoryQuestion]:
    if len(proposed := said.of(PROPOSE)) > 1:
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
        parts = "; ".join(f"{PLANNED[slot]} [{WORDS.slots[slot].noun}]" for slot in found)
        answer = "; ".join(f"{PLANNED[slot]} {' and '.join(final)}" for slot, final in found.items())
        yield asker.ask("plan of a day", names, holding, day, answer=answer, parts=parts)


def _about_hotels(asker: Asker, trip: Place, places: Mapping[Place, TurnList]) -> Iterator[StoryQuestion]:
    nights = [said for place, said in places.items() if place.slot == HOTEL]
    found = [(said, name, turn) for said in nights for name, turn in _decided(said).items()]
    names, holding = [name for _, name, _ in found], [turn for _, _, turn in found]
    if len(set(names)) > 1:
        yield asker.ask("hotels of a trip", names, holding, trip)
    priced = [said.of(*DETAILS, target=name, attribute=PRICE)[-1:] for said, name, _ in found]
    if len(found) > 1 and all(priced):
        total = sum(_euros(told.event.value) for (told,) in priced)
        holding += [told for (told,) in priced]
        yield asker.ask("price of a trip's hotels", [f"{total} euros"], holding, trip, about=names)


TRAVEL = Domain(WORDS, _topics, _questions)
