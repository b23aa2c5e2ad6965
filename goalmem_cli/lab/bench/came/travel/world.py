"""The closed world of travel planning: places to stay, eat and see in six towns, and what is known of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

MONTHS = """January February March April May June July August September October November December""".split()
TOWNS = ("Marrowby", "Saltmere", "Quillhaven", "Ostrand", "Velmora", "Tarnfield")
FIRST_YEAR = 2026

_AGAIN = 0.5


class Category(StrEnum):
    """What there is in a town; the value is its gold entity type."""

    HOTEL = "Hotel"
    RESTAURANT = "Restaurant"
    ATTRACTION = "Attraction"


SLOTS: Mapping[str, Category] = {
    "hotel": Category.HOTEL,
    "breakfast": Category.RESTAURANT,
    "lunch": Category.RESTAURANT,
    "dinner": Category.RESTAURANT,
    "sights": Category.ATTRACTION,
}
"""What a day's plan consists of, in the order in which a plan is told."""

MEALS = ("breakfast", "lunch", "dinner")


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that is asked about a place: its gold entity type, and how its value reads.

    `phrase` names it in a question, `told` says it of something with `{value}` in place.
    """

    name: str
    phrase: str
    told: str


PRICE, RATING = "Price", "Rating"

ATTRIBUTES: Mapping[Category, tuple[Attribute, ...]] = {
    Category.HOTEL: (
        Attribute(PRICE, "the price per night", "costs {value} per night"),
        Attribute(RATING, "the guest rating", "has a guest rating of {value}"),
        Attribute("Walk", "the walk from the station", "is a walk of {value} from the station"),
        Attribute("Check-in", "the check-in time", "has check-in from {value}"),
    ),
    Category.RESTAURANT: (
        Attribute(PRICE, "the price per person", "costs {value} per person"),
        Attribute(RATING, "the guest rating", "has a guest rating of {value}"),
        Attribute("Table", "the time of the free table", "has a table free at {value}"),
    ),
    Category.ATTRACTION: (
        Attribute(PRICE, "the price per ticket", "costs {value} per ticket"),
        Attribute(RATING, "the guest rating", "has a guest rating of {value}"),
        Attribute("Opening", "the opening time", "opens at {value}"),
        Attribute("Length", "the time that a visit takes", "takes {value} to visit"),
    ),
}

_KINDS: Mapping[Category, tuple[str, ...]] = {
    Category.HOTEL: ("Hotel", "Inn", "Lodge", "Guesthouse"),
    Category.RESTAURANT: ("Kitchen", "Grill", "Tavern", "Table"),
    Category.ATTRACTION: ("Museum", "Garden", "Tower", "Gallery"),
}
_NUMBERS: Mapping[Category, int] = {Category.HOTEL: 12, Category.RESTAURANT: 16, Category.ATTRACTION: 12}
_FIRST = "Amber Cedar Copper Heron Juniper Lantern Linden Marble Olive Orchard Pearl Poplar Saffron Swallow".split()
_SECOND = "Anchor Arch Bridge Court Fountain Gate Harbour Hill Meadow Mill Quay Spire Terrace Well".split()
_PRICES: Mapping[str, tuple[int, int]] = {
    "hotel": (48, 189),
    "breakfast": (6, 24),
    "lunch": (11, 39),
    "dinner": (18, 74),
    "sights": (4, 32),
}


class TravelWorld:
    """The places of each town; the same for every trajectory of a seed.

    Names share their words across towns and categories, so that no word of a name gives it away.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed
        chance = random.Random(f"{seed}: travel world")  # noqa: S311 - these are no secrets
        pairs = [f"{first} {second}" for first in _FIRST for second in _SECOND]
        self._places: dict[tuple[str, Category], tuple[str, ...]] = {}
        for category, kinds in _KINDS.items():
            names = iter(chance.sample(pairs, len(TOWNS) * _NUMBERS[category]))
            for town in TOWNS:
                drawn = [next(names) for _ in range(_NUMBERS[category])]
                self._places[town, category] = tuple(f"{name} {chance.choice(kinds)}" for name in drawn)

    def places(self, town: str, category: Category) -> tuple[str, ...]:
        """Return the names of a town's places of a category."""
        return self._places[town, category]

    def value(self, name: str, attribute: str, slot: str, when: str) -> str:
        """Return what is told of a place on an occasion: another price, table or rating in another month or day."""
        chance = random.Random(f"{self._seed}: {name}, {attribute}, {slot}, {when}")  # noqa: S311 - likewise
        if attribute == PRICE:
            return f"{chance.randint(*_PRICES[slot])} euros"
        if attribute == RATING:
            return f"{chance.randint(61, 97) / 10} of 10"
        if attribute in ("Walk", "Length"):
            return f"{chance.randint(3, 38) if attribute == 'Walk' else 5 * chance.randint(6, 34)} minutes"
        earliest = {"breakfast": 7, "lunch": 12, "dinner": 18, "hotel": 13, "sights": 8}[slot]
        return f"{earliest + chance.randint(0, 3):02}:{chance.choice(('00', '10', '15', '20', '30', '40', '45', '50'))}"


def slot_types(slot: str) -> tuple[str, ...]:
    """Return the gold entity types of a slot of a day: what is chosen, and the meal if it is one; none of none."""
    if not slot:
        return ()
    return (SLOTS[slot].value, slot.capitalize()) if slot in MEALS else (SLOTS[slot].value,)


def trips(chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield the town of each trip and what it is called, no two alike: half go to a town again, in another month."""
    left: dict[str, list[str]] = {town: [] for town in TOWNS}
    years = dict.fromkeys(TOWNS, FIRST_YEAR - 1)
    seen: list[str] = []
    while True:
        town = chance.choice(seen if seen and chance.random() < _AGAIN else TOWNS)
        if not left[town]:
            years[town] += 1
            left[town] = chance.sample(MONTHS, len(MONTHS))
        seen.append(town)
        yield town, f"{left[town].pop()} {years[town]} trip to {town}"
