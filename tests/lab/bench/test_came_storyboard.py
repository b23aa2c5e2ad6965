"""The storyboard of made-up trajectories, and how its events are said."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, pairwise

import pytest

from goalmem_cli.lab.bench.came.records import FOCUS, Event, Form, Mention, Place, Trajectory
from goalmem_cli.lab.bench.came.trajectories import DOMAINS, made_up_trajectories
from goalmem_cli.store.passages import MAX_TOKENS, estimate_tokens
from tests.lab.bench.came_reference import CITING, NUMBERS

INTRODUCING = ("propose option", "propose argument")


@pytest.fixture(params=[(domain, seed) for domain in DOMAINS for seed in range(3)], ids=str)
def made(request: pytest.FixtureRequest) -> Trajectory:
    """Trajectories of both domains, of several seeds."""
    domain, seed = request.param
    (one,) = made_up_trajectories(domain, 1500, 1, seed)
    return one


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_same_arguments_give_the_same_trajectories(domain: str) -> None:
    """Another seed, number or length gives another one, under another name, of exactly so many turns."""
    made = list(made_up_trajectories(domain, 300, 2, 5))
    assert made == list(made_up_trajectories(domain, 300, 2, 5))
    others = [*made, *made_up_trajectories(domain, 300, 1, 6), *made_up_trajectories(domain, 301, 1, 5)]
    assert [len(other.turns) for other in others] == [300, 300, 300, 301]
    assert len({other.name for other in others}) == 4
    assert len({tuple(turn.text for turn in other.turns[:40]) for other in others}) == 4
    assert len({turn.id for other in others for turn in other.turns}) == 1201


def test_no_text_is_too_long(made: Trajectory) -> None:
    """Neither a turn nor a note nor a question is so long that it would be cut."""
    texts = [turn.text for turn in made.turns] + [turn.labels.note for turn in made.turns]
    texts += [question.text for question in made.questions]
    assert all(0 < estimate_tokens(text) <= MAX_TOKENS for text in texts)
    assert not any(mark in text for text in texts for mark in "{}") and "]. " not in "".join(texts)


def test_time_goes_on(made: Trajectory) -> None:
    """Every turn is said after the one before, and now and then there is a night between them."""
    gaps = [later.said - earlier.said for earlier, later in pairwise(made.turns)]
    assert all(gap.total_seconds() > 0 for gap in gaps)
    assert sum(gap.total_seconds() > 8 * 3600 for gap in gaps) > 10


def test_turns_say_what_their_events_hold(made: Trajectory) -> None:
    """A value stands in the text, a note names every entity, and an entity stands in the text if it is named."""
    for turn in made.turns:
        event = turn.event
        assert event.value in turn.text, turn
        assert event.value in turn.labels.note
        assert all(entity in turn.labels.note for entity in turn.labels.entities)
        assert turn.labels.scope == f"{event.place.topic}, {event.place.scope}"
        assert event.place.topic in turn.labels.note and turn.labels.note.casefold().startswith(turn.role)
        for mention in turn.mentions:
            assert (mention.entity in turn.text) == (mention.form is Form.NAME), turn


def test_references_can_be_resolved(made: Trajectory) -> None:
    """A number counts what was introduced there before; a pronoun means what the turn before alone spoke of."""
    for index, turn in enumerate(made.turns):
        for mention in turn.mentions:
            before = [earlier.event for earlier in made.turns[: index + 1]]
            if mention.form is Form.ORDINAL:
                assert counted(mention, turn.event, before) == mention.entity
                assert NUMBERS[mention.number - 1] in turn.text
            elif mention.form is Form.PRONOUN:
                previous = made.turns[index - 1]
                assert previous.event.place == turn.event.place
                assert mention.entity in {one.entity for one in previous.mentions}
                if made.domain == "travel":
                    assert len(previous.mentions) == 1


def counted(mention: Mention, event: Event, before: list[Event]) -> str:
    """Return the entity that a number means, by a search through what was said in its place."""
    local = [one for one in before if one.place == event.place]
    if mention.entity == event.other and event.owner:
        cited = [
            one.other for one in local if one.kind in CITING and (one.role, one.target) == (event.role, event.target)
        ]
        return cited[mention.number - 1]
    introduced = [one.target for one in local if one.kind in INTRODUCING and one.owner == event.owner]
    return introduced[mention.number - 1]


def test_names_are_rare(made: Trajectory) -> None:
    """Most turns about something that is known already leave its name out, and most leave out the topic."""
    forms = Counter(
        mention.form
        for turn in made.turns
        if turn.event.kind not in INTRODUCING
        for mention in turn.mentions
        if mention.entity == turn.event.target
    )
    assert forms[Form.NAME] < forms.total() / 2
    assert forms[Form.PRONOUN] > 50
    assert forms[Form.ORDINAL] > 50
    assert sum(turn.event.place.topic in turn.text for turn in made.turns) < len(made.turns) / 5


def test_goals_are_interleaved(made: Trajectory) -> None:
    """A place is left and come back to, and so is a topic."""
    places = [turn.event.place for turn in made.turns]
    for stretches in (places, [place.topic for place in places]):
        runs: Counter[object] = Counter(key for key, _ in groupby(stretches))
        assert sum(count > 1 for count in runs.values()) > len(runs) / 3


def test_options_come_before_what_is_done_with_them() -> None:
    """No option is asked about, compared, turned down or chosen before its proposal, nor told of before the question."""
    for seed in range(3):
        (made,) = made_up_trajectories("travel", 1500, 1, seed)
        proposed: set[tuple[Place, str]] = set()
        asked: set[tuple[Place, str, str]] = set()
        chosen: dict[Place, list[str]] = {}
        for event in (turn.event for turn in made.turns):
            if event.kind == "propose option":
                assert (event.place, event.target) not in proposed
                proposed.add((event.place, event.target))
            for name in filter(None, (event.target, event.other)):
                assert (event.place, name) in proposed
            if event.kind == "ask for detail":
                asked.add((event.place, event.target, event.attribute))
            if event.kind == "give detail":
                assert (event.place, event.target, event.attribute) in asked
            if event.kind == "turn down option":
                assert event.target not in chosen.get(event.place, [])
            if event.kind == "change choice":
                chosen[event.place].remove(event.other)
            if event.kind in ("choose option", "change choice"):
                chosen.setdefault(event.place, []).append(event.target)
                assert len(set(chosen[event.place])) == len(chosen[event.place])


def test_the_cheaper_is_the_cheaper() -> None:
    """What is said to be cheaper of two was told to cost less, going by what was told last."""
    (made,) = made_up_trajectories("travel", 3000, 1, 1)
    prices: dict[tuple[Place, str], int] = {}
    compared = 0
    for event in (turn.event for turn in made.turns):
        if event.attribute == "Price" and event.kind in ("give detail", "correct detail"):
            prices[event.place, event.target] = int(event.value.split()[0])
        if event.kind == "compare options":
            compared += 1
            assert prices[event.place, event.target] < prices[event.place, event.other]
    assert compared > 10


def test_arguments_come_before_what_is_done_with_them() -> None:
    """A concession needs an attack and a defence, which need the argument; a summary ends what a side says there."""
    for seed in range(3):
        (made,) = made_up_trajectories("debate", 1500, 1, seed)
        done: set[tuple[Place, str, str]] = set()
        cited: set[tuple[Place, str, str, str]] = set()
        closed: set[tuple[Place, str]] = set()
        needs = {
            "attack argument": ("propose argument",),
            "defend argument": ("attack argument",),
            "concede argument": ("attack argument", "defend argument"),
        }
        for event in (turn.event for turn in made.turns if turn.event.kind != FOCUS):
            assert (event.place, event.role) not in closed
            assert all((event.place, event.target, need) in done for need in needs.get(event.kind, ()))
            done.add((event.place, event.target, event.kind))
            if event.kind in CITING:
                assert not any((event.place, event.other) == (place, source) for place, source, _, _ in cited)
                cited.add((event.place, event.other, event.role, event.target))
            if event.kind in ("correct figure", "withdraw evidence"):
                assert (event.place, event.other, event.role, event.target) in cited
            if event.kind == "summarise":
                closed.add((event.place, event.role))
        assert closed


def test_like_facts_interfere(made: Trajectory) -> None:
    """The same things are spoken of in several places, with another value in each."""
    values: dict[tuple[str, str], set[str]] = {}
    for turn in made.turns:
        event = turn.event
        if event.value and event.target:
            key = (event.other or event.target, event.attribute)
            values.setdefault(key, set()).add(event.value)
    several = [key for key, found in values.items() if len(found) > 1]
    assert len(several) > len(values) / 4


@pytest.mark.parametrize("domain", DOMAINS)
def test_topics_are_never_mistaken(domain: str) -> None:
    """No two trips or rounds of a long trajectory have the same name."""
    (made,) = made_up_trajectories(domain, 12_000, 1, 0)
    order = list(dict.fromkeys(turn.event.place.topic for turn in made.turns))
    last = {turn.event.place.topic: index for index, turn in enumerate(made.turns)}
    first = {turn.event.place.topic: index for index, turn in reversed(list(enumerate(made.turns)))}
    assert len(order) > 25
    assert max(sum(first[topic] <= at <= last[topic] for topic in order) for at in range(0, 12_000, 50)) == 3
