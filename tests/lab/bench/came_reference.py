"""The answers to questions about made-up trajectories, worked out again by looking through all the events."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from goalmem_cli.lab.bench.came.records import Event, StoryQuestion

Events = Sequence[Event]


def answers(question: StoryQuestion, events: Events) -> set[str]:
    """Return the set that answers the question, going by these events alone."""
    return ANSWERS[question.form](question, events)


def here(question: StoryQuestion, events: Events, *kinds: str) -> list[Event]:
    """Return the events of these kinds at the question's place, of the whole topic or scope if it names no more."""
    place = question.place
    return [
        event
        for event in events
        if event.kind in kinds
        and event.place.topic == place.topic
        and place.scope in ("", event.place.scope)
        and place.slot in ("", event.place.slot)
    ]


def decided(events: Events) -> list[Event]:
    """Return the decisions that no later one in the same place undoes."""
    made = [event for event in events if event.kind in ("choose option", "change choice")]
    return [
        event
        for number, event in enumerate(made)
        if not any((later.place, later.other) == (event.place, event.target) for later in made[number + 1 :])
    ]


def final(question: StoryQuestion, events: Events) -> set[str]:
    """What is chosen in the end."""
    return {event.target for event in decided(here(question, events, "choose option", "change choice"))}


def ever(question: StoryQuestion, events: Events) -> set[str]:
    """What was chosen at any time."""
    return {event.target for event in here(question, events, "choose option", "change choice")}


def named_by(kind: str) -> Callable[[StoryQuestion, Events], set[str]]:
    """What events of one kind are about."""
    return lambda question, events: {event.target for event in here(question, events, kind)}


def last_limit(question: StoryQuestion, events: Events) -> set[str]:
    """The limit that was set last."""
    return {here(question, events, "state requirement", "change requirement")[-1].value}


def last_told(question: StoryQuestion, events: Events) -> set[str]:
    """What was told last of the target's attribute."""
    told = here(question, events, "give detail", "correct detail")
    about = [event.value for event in told if (event.target, event.attribute) == (question.target, question.attribute)]
    return {about[-1]}


def told_of_the_nth(question: StoryQuestion, events: Events) -> set[str]:
    """What was told of the one whose number the question says."""
    proposed = [event.target for event in here(question, events, "propose option")]
    number = next(
        n for n, word in enumerate(("first", "second", "third", "fourth", "fifth")) if f" {word} " in question.text
    )
    assert proposed[number] == question.target
    return last_told(question, events)


def told_of_the_one_given_up(question: StoryQuestion, events: Events) -> set[str]:
    """What was told of the first choice, which a later one replaced."""
    (replaced,) = here(question, events, "change choice")
    assert here(question, events, "choose option")[0].target == replaced.other == question.target
    return last_told(question, events)


def other_trips(question: StoryQuestion, events: Events) -> set[str]:
    """The other topics in which what is chosen in the end was proposed."""
    (chosen,) = final(question, events)
    proposed = {event.place.topic for event in events if (event.kind, event.target) == ("propose option", chosen)}
    return proposed - {question.place.topic}


def total(question: StoryQuestion, events: Events) -> set[str]:
    """The last prices of the chosen hotels, added up."""
    prices = 0
    for choice in decided(here(question, events, "choose option", "change choice")):
        told = [
            event.value
            for event in events
            if event.kind in ("give detail", "correct detail")
            and (event.place, event.target, event.attribute) == (choice.place, choice.target, "Price")
        ]
        prices += int(told[-1].removesuffix(" euros"))
    return {f"{prices} euros"}


def standing(question: StoryQuestion, events: Events) -> set[str]:
    """A side's claims that it did not concede."""
    made = {event.target for event in here(question, events, "propose argument") if event.role == question.owner}
    return made - {event.target for event in here(question, events, "concede argument")}


CITING = ("propose argument", "attack argument", "defend argument")


def withdrawn(question: StoryQuestion, events: Events) -> set[str]:
    """The studies that a side withdrew."""
    return {event.other for event in here(question, events, "withdraw evidence") if event.role == question.owner}


def kept(question: StoryQuestion, events: Events) -> set[str]:
    """The studies that a side cited and did not withdraw."""
    cited = {event.other for event in here(question, events, *CITING) if event.role == question.owner}
    return cited - withdrawn(question, events)


def last_figure(question: StoryQuestion, events: Events) -> set[str]:
    """The figure that a side gave last from a study."""
    given = here(question, events, *CITING, "correct figure")
    return {[event.value for event in given if (event.role, event.other) == (question.owner, question.target)][-1]}


def background(question: StoryQuestion, events: Events) -> set[str]:
    """What a side gave as background."""
    given = here(question, events, "supply background")
    return {event.value for event in given if (event.role, event.attribute) == (question.owner, question.attribute)}


def nth_claim(question: StoryQuestion, events: Events) -> str:
    """The claim of a side whose number the question says."""
    made = [event.target for event in here(question, events, "propose argument") if event.role == question.owner]
    number = next(
        n for n, word in enumerate(("first", "second", "third", "fourth")) if f" {word} argument " in question.text
    )
    return made[number]


def against_nth(question: StoryQuestion, events: Events) -> set[str]:
    """The studies cited against the nth claim."""
    claim = nth_claim(question, events)
    return {event.other for event in here(question, events, "attack argument") if event.target == claim}


def defence_of_nth(question: StoryQuestion, events: Events) -> set[str]:
    """The figures given in defence of the nth claim."""
    claim = nth_claim(question, events)
    return {event.value for event in here(question, events, "defend argument") if event.target == claim}


def against_study(question: StoryQuestion, events: Events) -> set[str]:
    """The studies cited against the claim that a study was cited for."""
    made = here(question, events, "propose argument")
    (claim,) = [event.target for event in made if (event.role, event.other) == (question.owner, question.target)]
    return {event.other for event in here(question, events, "attack argument") if event.target == claim}


def attacks(question: StoryQuestion, events: Events) -> set[str]:
    """The studies cited against any claim of a side."""
    return {event.other for event in here(question, events, "attack argument") if event.role != question.owner}


ANSWERS: dict[str, Callable[[StoryQuestion, Events], set[str]]] = {
    "final choice": final,
    "ever chosen": ever,
    "corrected detail": last_told,
    "changed limit": last_limit,
    "turned down": named_by("turn down option"),
    "detail": last_told,
    "detail of the nth": told_of_the_nth,
    "detail of the one given up": told_of_the_one_given_up,
    "proposed": named_by("propose option"),
    "proposed elsewhere": other_trips,
    "plan of a day": final,
    "hotels of a trip": final,
    "price of a trip's hotels": total,
    "standing arguments": standing,
    "corrected figure": last_figure,
    "withdrawn evidence": withdrawn,
    "evidence kept": kept,
    "figure": last_figure,
    "background": background,
    "evidence against the nth": against_nth,
    "figure in defence of the nth": defence_of_nth,
    "evidence against evidence": against_study,
    "evidence of all attacks": attacks,
    "all concessions": named_by("concede argument"),
}
"""Each form of question with what answers it."""
