"""The answers to questions about made-up trajectories, worked out again by looking through all the events."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from goalmem_cli.lab.bench.came.records import Event, StoryQuestion

Events = Sequence[Event]
Answer = Callable[[StoryQuestion, Events], set[str]]

CHOOSING = ("choose option", "change choice")
TELLING = ("give detail", "correct detail")
CITING = ("propose argument", "attack argument", "defend argument")
NUMBERS = ("first", "second", "third", "fourth", "fifth", "sixth")


def answers(question: StoryQuestion, events: Events) -> set[str]:
    """Return the set that answers the question, going by these events alone."""
    return ANSWERS[question.form](question, events)


def here(question: StoryQuestion, events: Events, *kinds: str) -> list[Event]:
    """Return the events of these kinds at the question's place, of the whole topic or scope if it names no more."""
    asked = question.place
    found = [event for event in events if event.kind in kinds and event.place.topic == asked.topic]
    return [one for one in found if asked.scope in ("", one.place.scope) and asked.slot in ("", one.place.slot)]


def all_of(field: str, *kinds: str, by: str = "") -> Answer:
    """Return what gathers a field of all events of these kinds, of the owner or the role that the question names."""
    return lambda question, events: {
        getattr(event, field)
        for event in here(question, events, *kinds)
        if not by or getattr(event, by) == question.owner
    }


def without(every: Answer, gone: Answer) -> Answer:
    """Return what is in one answer and not in another."""
    return lambda question, events: every(question, events) - gone(question, events)


def decided(question: StoryQuestion, events: Events) -> list[Event]:
    """Return the decisions that no later one in the same place undoes."""
    made = here(question, events, *CHOOSING)
    undone = [{(later.place, later.other) for later in made[number:]} for number in range(1, len(made) + 1)]
    return [event for event, later in zip(made, undone, strict=True) if (event.place, event.target) not in later]


def final(question: StoryQuestion, events: Events) -> set[str]:
    """What is chosen in the end."""
    return {event.target for event in decided(question, events)}


def last_told(question: StoryQuestion, events: Events) -> set[str]:
    """What was told last of the target's attribute, or given from the study that the question names."""
    told = [one for one in here(question, events, *TELLING) if one.target == question.target]
    told += [one for one in here(question, events, *CITING, "correct figure") if one.other == question.target]
    return {[one.value for one in told if one.attribute == question.attribute][-1]}


def told_of_the_nth(question: StoryQuestion, events: Events) -> set[str]:
    """What was told of the one whose number the question says."""
    proposed = [event.target for event in here(question, events, "propose option")]
    assert proposed[numbered(question)] == question.target
    return last_told(question, events)


def told_of_the_one_given_up(question: StoryQuestion, events: Events) -> set[str]:
    """What was told of the first choice, which a later one replaced."""
    (replaced,) = here(question, events, "change choice")
    assert here(question, events, "choose option")[0].target == replaced.other == question.target
    return last_told(question, events)


def other_trips(question: StoryQuestion, events: Events) -> set[str]:
    """The other topics in which what is chosen in the end was proposed."""
    (chosen,) = final(question, events)
    proposed = {event.place.topic for event in events if event.kind == "propose option" and event.target == chosen}
    return proposed - {question.place.topic}


def total(question: StoryQuestion, events: Events) -> set[str]:
    """The last prices of the chosen hotels, added up."""
    prices = 0
    for choice in decided(question, events):
        told = [
            one for one in events if one.kind in TELLING and (one.place, one.target) == (choice.place, choice.target)
        ]
        prices += int([one.value for one in told if one.attribute == "Price"][-1].split()[0])
    return {f"{prices} euros"}


def numbered(question: StoryQuestion) -> int:
    """Return the place, from 0, of the number that the question says."""
    return next(place for place, word in enumerate(NUMBERS) if f" {word} " in question.text.partition(" in the ")[0])


def about_the_nth(field: str, kind: str) -> Answer:
    """Return what a kind of event says about the claim of a side whose number the question says."""

    def answer(question: StoryQuestion, events: Events) -> set[str]:
        made = [one.target for one in here(question, events, "propose argument") if one.role == question.owner]
        claim = made[numbered(question)]
        return {getattr(one, field) for one in here(question, events, kind) if one.target == claim}

    return answer


def against_study(question: StoryQuestion, events: Events) -> set[str]:
    """The studies cited against the claim that a study was cited for."""
    made = here(question, events, "propose argument")
    (claim,) = [event.target for event in made if (event.role, event.other) == (question.owner, question.target)]
    return {event.other for event in here(question, events, "attack argument") if event.target == claim}


def background(question: StoryQuestion, events: Events) -> set[str]:
    """What a side gave as background."""
    given = here(question, events, "supply background")
    return {one.value for one in given if (one.role, one.attribute) == (question.owner, question.attribute)}


withdrawn = all_of("other", "withdraw evidence", by="role")

ANSWERS: dict[str, Answer] = {
    "final choice": final,
    "ever chosen": all_of("target", *CHOOSING),
    "corrected detail": last_told,
    "changed limit": lambda question, events: {
        here(question, events, "state requirement", "change requirement")[-1].value
    },
    "turned down": all_of("target", "turn down option"),
    "detail": last_told,
    "detail of the nth": told_of_the_nth,
    "detail of the one given up": told_of_the_one_given_up,
    "proposed": all_of("target", "propose option"),
    "proposed elsewhere": other_trips,
    "plan of a day": final,
    "hotels of a trip": final,
    "price of a trip's hotels": total,
    "standing arguments": without(
        all_of("target", "propose argument", by="owner"), all_of("target", "concede argument", by="owner")
    ),
    "corrected figure": last_told,
    "withdrawn evidence": withdrawn,
    "evidence kept": without(all_of("other", *CITING, by="role"), withdrawn),
    "figure": last_told,
    "background": background,
    "evidence against the nth": about_the_nth("other", "attack argument"),
    "figure in defence of the nth": about_the_nth("value", "defend argument"),
    "evidence against evidence": against_study,
    "evidence of all attacks": all_of("other", "attack argument", by="owner"),
    "all concessions": all_of("target", "concede argument"),
}
"""Each form of question with what answers it."""
