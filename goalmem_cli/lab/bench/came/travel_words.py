"""The tables of travel planning: options, their attributes, and the words for every event."""

from __future__ import annotations

from goalmem_cli.lab.bench.came.records import FOCUS, Form
from goalmem_cli.lab.bench.came.wording import (
    MULTI_HOP,
    RECALL,
    REVISION,
    SYNTHESIS,
    AskForm,
    Attribute,
    Slot,
    Words,
)

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
