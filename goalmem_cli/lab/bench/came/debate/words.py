"""Words for the storyboard of debate: what each event says, with its references and in full."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from goalmem_cli.lab.bench.came.debate import plan
from goalmem_cli.lab.bench.came.debate.world import BACKGROUND
from goalmem_cli.lab.bench.came.records import FOCUS, Event, Form, Mention, Place, Shift
from goalmem_cli.lab.bench.came.wording import filled, ordinal

_SHIFTS: Mapping[Shift, tuple[str, ...]] = {
    Shift.TOPIC: (
        "On the {topic}, and there on {scope}.",
        "I come to the {topic}, to {scope}.",
        "Back to the {topic} and the matter of {scope}.",
    ),
    Shift.SCOPE: ("Let us move to {scope}.", "Now to {scope}.", "As to {scope} in this round."),
}

_SAID: Mapping[str, tuple[str, ...]] = {
    plan.INFORM: (
        "For orientation, {what} is {value}, by the latest count.",
        "Let me give some background first: {what} is {value}.",
        "To set the frame, we put {what} at {value}.",
    ),
    plan.ARGUE: (
        "We hold that {claim}. {study} finds this for {value} of those who were asked.",
        "Our point is that {claim}, and {study} reports it in {value} of the cases.",
        "Consider that {claim}: with {value} in {study}, that is no guess.",
    ),
    plan.ATTACK: (
        "{argument} does not hold. In {study} it was the reverse for {value}.",
        "I dispute {argument}, for {study} counts {value} where nothing of the kind took place.",
        "Against {argument} stands {study}, with {value} who saw no such thing.",
    ),
    plan.DEFEND: (
        "{argument} stands all the same: {study} looked again and confirmed it for {value}.",
        "We keep to {argument}, since {study} has {value} on our side.",
        "The attack on {argument} overlooks {study}, where it is {value}.",
    ),
    plan.CONCEDE: (
        "We give up {argument}, the objection was a fair one.",
        "Very well, we concede {argument}.",
        "I grant you this one, and no longer rely on {argument}.",
    ),
    plan.CORRECT: (
        "I misread {study}: it has to be {value}.",
        "A correction, the figure from {study} is {value} and not what I gave.",
        "Let me put this right, {study} says {value}.",
    ),
    plan.WITHDRAW: (
        "I withdraw {study}, its sample was too small.",
        "Please disregard {study}, we no longer stand by it.",
        "We take {study} off the table.",
    ),
    plan.SUMMARISE: (
        "That is our side of the matter here, and the weight of it speaks for itself.",
        "To sum up, we have shown where our case is firm, and leave the rest to the judges.",
        "With this we close on this matter, and ask you to weigh what was said on both sides.",
    ),
}

_NOTES: Mapping[str, str] = {
    plan.INFORM: "{side} gives as background that {what} is {value}",
    plan.ARGUE: "{side} argues that {target}, citing {other} with {value}",
    plan.ATTACK: "{side} attacks the argument of {owner} that {target}, citing {other} with {value}",
    plan.DEFEND: "{side} defends its argument that {target}, citing {other} with {value}",
    plan.CONCEDE: "{side} concedes its argument that {target}",
    plan.CORRECT: "{side} corrects the figure of {other} to {value}, cited on the argument that {target}",
    plan.WITHDRAW: "{side} withdraws {other}, cited on the argument that {target}",
    plan.ELABORATE: "{side} says more on the argument of {owner} that {target}",
    plan.SUMMARISE: "{side} sums up",
    FOCUS: "{side} turns to it",
}

_FOR = (
    "{argument} is not a matter of taste but of what people meet every day",
    "whoever has looked into {argument} knows how often it is passed over",
    "one need only ask in any street to hear what lies behind {argument}",
    "there is a long history to {argument}, and it points our way",
    "the example of our neighbours supports {argument}",
    "with {argument} we are at the heart of the motion",
    "it would be too easy to set {argument} aside as a detail",
    "the other side's case has nothing to set against {argument}",
)
_AGAINST = (
    "{argument} sounds well until one asks who would notice it",
    "whoever has looked into {argument} knows how much of it rests on hope",
    "one need only ask in any street to hear the doubts about {argument}",
    "there is a long history to {argument}, and it points the other way",
    "the example of our neighbours speaks against {argument}",
    "with {argument} the other side misses the heart of the motion",
    "take {argument} away and little of their case remains",
    "{argument} mistakes what happens at times for what happens as a rule",
)
_STRESSES = (
    "Those who would have to live with the outcome deserve an honest reckoning.",
    "I ask everybody in this room to think of somebody they know.",
    "That much should be common ground between us.",
    "It is on this that a fair judgement has to rest.",
    "The burden of showing otherwise lies across the table.",
    "We will come back to it as often as we have to.",
    "The numbers alone do not tell the whole of it, but they do not lie either.",
    "Nobody gains by looking away from it.",
)
_ARGUMENT_PRONOUNS = ("that argument", "this point", "that claim")
_STUDY_PRONOUNS = ("that study", "this source", "the study just cited")
_SIDES = {"pro": "Pro", "con": "Con"}


def question_place(place: Place) -> str:
    """Return the place as a question names it."""
    return f"on {place.scope} in the {place.topic}"


def side_name(side: str) -> str:
    """Return what a side is called."""
    return _SIDES[side]


def said(event: Event, mentions: Sequence[Mention], chance: random.Random) -> str:
    """Return what the turn of an event says, its argument and its study as the mentions refer to them."""
    words = {"value": event.value, "claim": event.target, "what": BACKGROUND.get(event.attribute, "")}
    for mention in mentions:
        if mention.entity == event.target:
            words["argument"] = _argument(event, mention, chance)
    for mention in mentions:
        if mention.entity == event.other:
            words["study"] = _study(mention, words.get("argument", ""), chance)
    if event.kind == plan.ELABORATE:
        reasons = _FOR if event.owner == event.role else _AGAINST
        return filled((f"{chance.choice(reasons)}. {chance.choice(_STRESSES)}",), chance, **words)
    return filled(_SAID[event.kind], chance, **words)


def turned(place: Place, shift: Shift, chance: random.Random) -> str:
    """Return how a turn says that the talk goes to a place, naming no more of it than changed."""
    return filled(_SHIFTS[shift], chance, topic=place.topic, scope=place.scope)


def note(event: Event) -> str:
    """Return the event in words that name everything."""
    words = {
        "side": _SIDES[event.role], "owner": _SIDES.get(event.owner, ""), "target": event.target, "other": event.other,
        "value": event.value, "what": BACKGROUND.get(event.attribute, ""),
    }  # fmt: skip
    return f"{_NOTES[event.kind].format(**words)}, {question_place(event.place)}."


def _argument(event: Event, mention: Mention, chance: random.Random) -> str:
    whose = "our" if event.owner == event.role else "your"
    if mention.form is Form.NAME:
        return f"{whose} argument that {mention.entity}"
    if mention.form is Form.PRONOUN:
        return chance.choice(_ARGUMENT_PRONOUNS)
    return f"{whose} {ordinal(mention.number)} {chance.choice(('argument', 'point'))}"


def _study(mention: Mention, argument: str, chance: random.Random) -> str:
    if mention.form is Form.NAME:
        return mention.entity
    if mention.form is Form.PRONOUN:
        return chance.choice(_STUDY_PRONOUNS)
    return f"the {ordinal(mention.number)} study that I cited on {argument}"
