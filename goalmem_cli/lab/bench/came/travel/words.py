"""Words for the storyboard of travel planning: what each event says, with its references and in full."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from goalmem_cli.lab.bench.came.records import FOCUS, Event, Form, Mention, Place, Shift
from goalmem_cli.lab.bench.came.travel import plan
from goalmem_cli.lab.bench.came.travel.world import ATTRIBUTES, MEALS, SLOTS, Attribute, Category
from goalmem_cli.lab.bench.came.wording import filled, ordinal

_NOUNS: Mapping[Category, str] = {
    Category.HOTEL: "hotel",
    Category.RESTAURANT: "restaurant",
    Category.ATTRACTION: "sight",
}
_SLOT_WORDS = {"hotel": "the hotel", "sights": "the sights"} | {meal: meal for meal in MEALS}
_PRONOUNS = ("it", "that place", "that one")
_COUNTED = ("the {nth} one", "the {nth} {noun}", "the {nth} {noun} on our list", "the {nth} one we have here")

_SHIFTS: Mapping[Shift, tuple[str, ...]] = {
    Shift.TOPIC: (
        "On the {topic}, {scope}: {slot}.",
        "Let us turn to the {topic}, and there to {slot} for {scope}.",
        "Now the {topic} again, {slot} on {scope}.",
    ),
    Shift.SCOPE: ("Now {scope}, {slot}.", "As for {slot} on {scope}.", "Let us look at {slot} for {scope}."),
    Shift.SLOT: ("As for {slot}.", "Now {slot} that day.", "Let us get to {slot}."),
}

_SAID: Mapping[str, tuple[str, ...]] = {
    plan.LIMIT: (
        "I do not want to spend more than {value} here.",
        "{value} is the most that I would pay for this.",
        "Please keep this one within {value}.",
    ),
    plan.NEW_LIMIT: (
        "I have thought about the money again: up to {value} is fine after all.",
        "We can go up to {value} here, forget what I said before.",
        "Let us say {value} at most instead.",
    ),
    plan.PROPOSE: (
        "How about {target}?",
        "One idea would be {target}.",
        "I came across {target}, which might suit us here.",
        "{target} could work for this.",
        "What do you think of {target}?",
    ),
    plan.ASK: (
        "Could you find out {what} for {target}?",
        "Do you know {what} for {target}?",
        "I would like to know {what} for {target} before we go on.",
    ),
    plan.TELL: (
        "I looked it up: {target} {told}.",
        "{target} {told}, going by what they sent me.",
        "As to your question, {target} {told}.",
    ),
    plan.CORRECT: (
        "I have to correct myself: {target} {told}, not what I said before.",
        "They wrote to me again, and now {target} {told}.",
        "An update on what I told you: {target} {told} after all.",
    ),
    plan.COMPARE: (
        "Between {target} and {other}, {target} is the cheaper of the two.",
        "If you put {target} next to {other}, you spend less with {target}.",
    ),
    plan.REJECT: (
        "I would rather leave out {target}.",
        "{target} is not for us, strike it off.",
        "No, not {target}.",
    ),
    plan.CHOOSE: (
        "Good, let us take {target}.",
        "{target} it is, please put it down.",
        "I have decided: {target}.",
    ),
    plan.REPLACE: (
        "I changed my mind: {target} instead of {other}.",
        "Please put down {target} after all, and drop {other}.",
        "On second thoughts we go for {target}, not {other}.",
    ),
}

_NOTES: Mapping[str, str] = {
    plan.LIMIT: "The user wants to pay at most {value} for {slot} on {scope} of the {topic}.",
    plan.NEW_LIMIT: "The user changes the most to pay for {slot} on {scope} of the {topic} to {value}.",
    plan.PROPOSE: "The {role} proposes {target} for {slot} on {scope} of the {topic}.",
    plan.DESCRIBE: "The assistant describes {target}, an option for {slot} on {scope} of the {topic}.",
    plan.ASK: "The user asks for {what} for {target}, for {slot} on {scope} of the {topic}.",
    plan.TELL: "The assistant says that {target} {told}, for {slot} on {scope} of the {topic}.",
    plan.CORRECT: "The assistant corrects that {target} {told}, for {slot} on {scope} of the {topic}.",
    plan.COMPARE: "The assistant says that {target} is cheaper than {other}, for {slot} on {scope} of the {topic}.",
    plan.REJECT: "The user turns down {target} for {slot} on {scope} of the {topic}.",
    plan.CHOOSE: "The user chooses {target} for {slot} on {scope} of the {topic}.",
    plan.REPLACE: "The user replaces {other} by {target} for {slot} on {scope} of the {topic}.",
    FOCUS: "The {role} turns to {slot} on {scope} of the {topic}.",
}

_SETTINGS: Mapping[Category, tuple[str, ...]] = {
    Category.HOTEL: (
        "has thick walls and tall windows", "was a shipowner's house once", "keeps a small library on the landing",
        "has rooms that look onto an inner yard", "is run by two sisters who know the town well",
        "has wooden floors and plain furniture", "sits in a lane without traffic", "has a roof where guests have tea",
    ),
    Category.RESTAURANT: (
        "cooks over an open fire", "has long tables that strangers share", "buys its fish from the boats next door",
        "writes its menu on a slate every morning", "has a courtyard with a vine over it",
        "bakes its own dark bread", "is known for a stew with plums", "seats its guests in an old net loft",
    ),
    Category.ATTRACTION: (
        "shows how the town looked before the flood", "has a staircase that everybody photographs",
        "keeps a collection of painted signs", "is laid out around a sundial", "has a bell that is still rung by hand",
        "lets visitors into the cellars", "was built by the guild of rope makers", "has benches under lime trees",
    ),
}  # fmt: skip
_DETAILS = (
    "and people come back to it for the calm", "and the staff take their time with everybody",
    "which makes it pleasant in any weather", "so that one easily stays longer than planned",
    "and it has not changed much over the years", "though it can be lively when the market is on",
    "and there are quiet corners if you look for them", "which is why locals recommend it too",
)  # fmt: skip
_OPINIONS = (
    "I think it would go well with the rest of the day.", "It is the sort of place that you said you like.",
    "You would not need to hurry there.", "It has a charm of its own without being grand.",
    "Travellers with children speak well of it, and so do those who come alone.",
    "It feels both simple and looked after.", "Getting there is no trouble from anywhere in the centre.",
    "If you like old towns, you will feel at home there.",
)  # fmt: skip


def question_place(place: Place) -> str:
    """Return the place as a question names it, from the slot to the trip."""
    slot = {"hotel": "the night of ", "sights": ""}.get(place.slot, f"{place.slot} on ")
    return f"{slot}{place.scope} of the {place.topic}"


def noun(place: Place) -> str:
    """Return what the place's options are called."""
    return _NOUNS[SLOTS[place.slot]]


def attribute_of(place: Place, name: str) -> Attribute:
    """Return the attribute of the place's options that has the name."""
    return next(attribute for attribute in ATTRIBUTES[SLOTS[place.slot]] if attribute.name == name)


def said(event: Event, mentions: Sequence[Mention], chance: random.Random) -> str:
    """Return what the turn of an event says, its entities as the mentions refer to them."""
    words = _words(event) | {
        key: _reference(event, mention, chance) for key, mention in zip(("target", "other"), mentions, strict=False)
    }
    if event.kind == plan.DESCRIBE:
        first, second = chance.sample(_SETTINGS[SLOTS[event.place.slot]], 2)
        told = f"{{target}} {first}, {chance.choice(_DETAILS)}. The place also {second}. {chance.choice(_OPINIONS)}"
        return filled((told,), chance, **words)
    return filled(_SAID[event.kind], chance, **words)


def turned(place: Place, shift: Shift, chance: random.Random) -> str:
    """Return how a turn says that the talk goes to a place, naming no more of it than changed."""
    return filled(_SHIFTS[shift], chance, topic=place.topic, scope=place.scope, slot=_SLOT_WORDS[place.slot])


def note(event: Event) -> str:
    """Return the event in words that name everything."""
    return _NOTES[event.kind].format(**_words(event))


def _words(event: Event) -> dict[str, str]:
    words = {
        "role": event.role, "target": event.target, "other": event.other, "value": event.value,
        "topic": event.place.topic, "scope": event.place.scope, "slot": _SLOT_WORDS[event.place.slot],
    }  # fmt: skip
    if event.attribute:
        attribute = attribute_of(event.place, event.attribute)
        words |= {"what": attribute.phrase, "told": attribute.told.format(value=event.value)}
    return words


def _reference(event: Event, mention: Mention, chance: random.Random) -> str:
    if mention.form is Form.NAME:
        return mention.entity
    if mention.form is Form.PRONOUN:
        return chance.choice(_PRONOUNS)
    return chance.choice(_COUNTED).format(nth=ordinal(mention.number), noun=noun(event.place))
