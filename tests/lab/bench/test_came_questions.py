"""Questions about made-up trajectories: their answers, their evidence, and the labels to look for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import groupby, pairwise

import pytest

from goalmem_cli.lab.bench.came.came_questions import TYPES
from goalmem_cli.lab.bench.came.records import FOCUS, Event, Form, Mention, Place, StoryQuestion, StoryTurn, Trajectory
from goalmem_cli.lab.bench.came.trajectories import DOMAINS, made_up_trajectories
from goalmem_cli.lab.evaluation.datasets.came import answer_set
from goalmem_cli.lab.evaluation.metrics.overlap import set_scores
from goalmem_cli.store.passages import MAX_TOKENS, estimate_tokens
from tests.lab.bench.came_reference import ANSWERS, CITING, NUMBERS, answers

ALL = 10_000  # as many questions of each type as there are
ADDED_UP = "price of a trip's hotels"


@cache
def trajectory(domain: str, seed: int) -> Trajectory:
    """A trajectory with everything that can be asked about it."""
    (made,) = made_up_trajectories(domain, 2500, 1, seed, per_type=ALL)
    return made


@pytest.fixture(params=[(domain, seed) for domain in DOMAINS for seed in range(3)], ids=str)
def made(request: pytest.FixtureRequest) -> Trajectory:
    """Trajectories of both domains, of several seeds."""
    return trajectory(*request.param)


def with_evidence(made: Trajectory) -> Iterator[tuple[StoryQuestion, list[StoryTurn]]]:
    """Yield each question with the turns of its evidence."""
    turns = {turn.id: turn for turn in made.turns}
    for question in made.questions:
        yield question, [turns[name] for name in question.evidence]


def test_answers_are_those_of_a_search_through_all_events(made: Trajectory) -> None:
    """The state that is kept as events come gives the answers that looking through all of them gives."""
    events = [turn.event for turn in made.turns]
    assert len(made.questions) > 200
    for question in made.questions:
        assert set(question.answers) == answers(question, events), question
        assert question.answers


def test_the_evidence_suffices(made: Trajectory) -> None:
    """From the turns of the evidence alone the same answer follows."""
    for question, evidence in with_evidence(made):
        assert set(question.answers) == answers(question, [turn.event for turn in evidence]), question


def test_what_is_answered_stands_in_the_evidence(made: Trajectory) -> None:
    """Each item of the answer is said in a turn of the evidence, but for sums, and trips that the talk is on."""
    for question, evidence in with_evidence(made):
        if question.form == "proposed elsewhere":
            assert any(question.answers == (turn.event.place.topic,) for turn in evidence)
        elif question.form != ADDED_UP:
            for item in question.answers:
                assert any(item in turn.text for turn in evidence), (question, item)


def test_each_turn_of_the_evidence_is_needed(made: Trajectory) -> None:
    """A turn holds what the question is about, or names what another turn of the evidence only refers to."""
    for question, evidence in with_evidence(made):
        unnamed = {mention.entity for turn in evidence for mention in turn.mentions if mention.form is not Form.NAME}
        for turn in evidence:
            is_naming = any(turn.names(entity) for entity in unnamed)
            assert turn.event.kind in question.labels.events or is_naming, (question, turn)


def test_every_reference_to_an_answer_can_be_resolved(made: Trajectory) -> None:
    """What the answer or the question names, and a turn of the evidence does not, another turn of it names."""
    for question, evidence in with_evidence(made):
        asked = {*question.answers, question.target}
        referred = {mention.entity for turn in evidence for mention in turn.mentions} & asked
        for entity in referred:
            assert any(turn.names(entity) for turn in evidence), (question, entity)


def test_the_labels_lead_to_the_evidence(made: Trajectory) -> None:
    """Its turns are of the scopes; those that hold the answer are of the event types and share an entity type."""
    known = {
        "scopes": {turn.labels.scope for turn in made.turns},
        "events": {turn.labels.event for turn in made.turns},
        "types": {name for turn in made.turns for name in turn.labels.entity_types},
    }
    for question, evidence in with_evidence(made):
        labels = question.labels
        assert {turn.labels.scope for turn in evidence} == set(labels.scopes)
        assert set(labels.named_scopes) <= set(labels.scopes)
        holding = [turn for turn in evidence if turn.labels.event in labels.events]
        assert holding
        for turn in holding:
            assert set(turn.labels.entity_types) & set(labels.entity_types), (question, turn)
        assert set(labels.scopes) <= known["scopes"]
        assert set(labels.events) <= known["events"]
        assert set(labels.entity_types) <= known["types"]


def test_every_question_differs(made: Trajectory) -> None:
    """No two questions have the same words or id, and every form occurs."""
    assert len({question.text for question in made.questions}) == len(made.questions)
    assert len({question.id for question in made.questions}) == len(made.questions)


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_form_occurs(domain: str) -> None:
    """Over some trajectories of both domains every form of question is asked."""
    forms = {question.form for seed in range(3) for question in trajectory(domain, seed).questions}
    assert forms <= set(ANSWERS)
    assert len(forms) == {"travel": 13, "debate": 11}[domain]


def test_answers_read_back_as_they_were(made: Trajectory) -> None:
    """The reader's answer set of the written answer is the answers, and scores itself in full."""
    for question in made.questions:
        assert answer_set(question.answer) == question.answers
        scores = set_scores("; ".join(question.answers), question.answers)
        assert (scores.precision, scores.recall) == (1, 1), question


def test_like_answers_are_not_taken_for_one_another() -> None:
    """Names share their words, and yet an answer with another one's name scores nothing."""
    for question in trajectory("travel", 0).questions:
        if question.form == "final choice" and len(question.answers) == 1:
            others = {name for turn in trajectory("travel", 0).turns for name in turn.labels.entities}
            for other in sorted(others - set(question.answers))[:40]:
                assert set_scores(other, question.answers).f1 == 0


def test_questions_are_limited_evenly() -> None:
    """So many of each type at most, of all its forms; hard ones before easy ones."""
    (few,) = made_up_trajectories("travel", 2500, 1, 0, per_type=6)
    counts = {kind: [question.form for question in few.questions if question.type == kind] for kind in TYPES}
    assert {kind: len(forms) for kind, forms in counts.items()} == dict.fromkeys(TYPES, 6)
    assert len(set(counts["type_1"])) == 5
    told: dict[tuple[str, str], set[str]] = {}
    for turn in few.turns:
        if turn.event.kind in ("give detail", "correct detail"):
            told.setdefault((turn.event.target, turn.event.attribute), set()).add(turn.event.value)
    for question in few.questions:
        if question.type == "type_2":
            assert len(told[question.target, question.attribute]) > 1


INTRODUCING = ("propose option", "propose argument")


@pytest.fixture(params=[(domain, seed) for domain in DOMAINS for seed in range(3)], ids=str)
def story(request: pytest.FixtureRequest) -> Trajectory:
    """Trajectories of both domains, of several seeds."""
    domain, seed = request.param
    (one,) = made_up_trajectories(domain, 1500, 1, seed)
    return one


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_same_arguments_give_the_same_trajectories(domain: str) -> None:
    """Another seed, number or length gives another one, under another name, of exactly so many turns."""
    story = list(made_up_trajectories(domain, 300, 2, 5))
    assert story == list(made_up_trajectories(domain, 300, 2, 5))
    others = [*story, *made_up_trajectories(domain, 300, 1, 6), *made_up_trajectories(domain, 301, 1, 5)]
    assert [len(other.turns) for other in others] == [300, 300, 300, 301]
    assert len({other.name for other in others}) == 4
    assert len({tuple(turn.text for turn in other.turns[:40]) for other in others}) == 4
    assert len({turn.id for other in others for turn in other.turns}) == 1201


def test_no_text_is_too_long(story: Trajectory) -> None:
    """Neither a turn nor a note nor a question is so long that it would be cut."""
    texts = [turn.text for turn in story.turns] + [turn.labels.note for turn in story.turns]
    texts += [question.text for question in story.questions]
    assert all(0 < estimate_tokens(text) <= MAX_TOKENS for text in texts)
    assert not any(mark in text for text in texts for mark in "{}") and "]. " not in "".join(texts)


def test_time_goes_on(story: Trajectory) -> None:
    """Every turn is said after the one before, and now and then there is a night between them."""
    gaps = [later.said - earlier.said for earlier, later in pairwise(story.turns)]
    assert all(gap.total_seconds() > 0 for gap in gaps)
    assert sum(gap.total_seconds() > 8 * 3600 for gap in gaps) > 10


def test_turns_say_what_their_events_hold(story: Trajectory) -> None:
    """A value stands in the text, a note names every entity, and an entity stands in the text if it is named."""
    for turn in story.turns:
        event = turn.event
        assert event.value in turn.text, turn
        assert event.value in turn.labels.note
        assert all(entity in turn.labels.note for entity in turn.labels.entities)
        assert turn.labels.scope == f"{event.place.topic}, {event.place.scope}"
        assert event.place.topic in turn.labels.note and turn.labels.note.casefold().startswith(turn.role)
        for mention in turn.mentions:
            assert (mention.entity in turn.text) == (mention.form is Form.NAME), turn


def test_references_can_be_resolved(story: Trajectory) -> None:
    """A number counts what was introduced there before; a pronoun means what the turn before alone spoke of."""
    for index, turn in enumerate(story.turns):
        for mention in turn.mentions:
            before = [earlier.event for earlier in story.turns[: index + 1]]
            if mention.form is Form.ORDINAL:
                assert counted(mention, turn.event, before) == mention.entity
                assert NUMBERS[mention.number - 1] in turn.text
            elif mention.form is Form.PRONOUN:
                previous = story.turns[index - 1]
                assert previous.event.place == turn.event.place
                assert mention.entity in {one.entity for one in previous.mentions}
                if story.domain == "travel":
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


def test_names_are_rare(story: Trajectory) -> None:
    """Most turns about something that is known already leave its name out, and most leave out the topic."""
    forms = Counter(
        mention.form
        for turn in story.turns
        if turn.event.kind not in INTRODUCING
        for mention in turn.mentions
        if mention.entity == turn.event.target
    )
    assert forms[Form.NAME] < forms.total() / 2
    assert forms[Form.PRONOUN] > 50
    assert forms[Form.ORDINAL] > 50
    assert sum(turn.event.place.topic in turn.text for turn in story.turns) < len(story.turns) / 5


def test_goals_are_interleaved(story: Trajectory) -> None:
    """A place is left and come back to, and so is a topic."""
    places = [turn.event.place for turn in story.turns]
    for stretches in (places, [place.topic for place in places]):
        runs: Counter[object] = Counter(key for key, _ in groupby(stretches))
        assert sum(count > 1 for count in runs.values()) > len(runs) / 3


def test_options_come_before_what_is_done_with_them() -> None:
    """No option is asked about, compared, turned down or chosen before its proposal, nor told of before the question."""
    for seed in range(3):
        (story,) = made_up_trajectories("travel", 1500, 1, seed)
        proposed: set[tuple[Place, str]] = set()
        asked: set[tuple[Place, str, str]] = set()
        chosen: dict[Place, list[str]] = {}
        for event in (turn.event for turn in story.turns):
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
    (story,) = made_up_trajectories("travel", 3000, 1, 1)
    prices: dict[tuple[Place, str], int] = {}
    compared = 0
    for event in (turn.event for turn in story.turns):
        if event.attribute == "Price" and event.kind in ("give detail", "correct detail"):
            prices[event.place, event.target] = int(event.value.split()[0])
        if event.kind == "compare options":
            compared += 1
            assert prices[event.place, event.target] < prices[event.place, event.other]
    assert compared > 10


def test_arguments_come_before_what_is_done_with_them() -> None:
    """A concession needs an attack and a defence, which need the argument; a summary ends what a side says there."""
    for seed in range(3):
        (story,) = made_up_trajectories("debate", 1500, 1, seed)
        done: set[tuple[Place, str, str]] = set()
        cited: set[tuple[Place, str, str, str]] = set()
        closed: set[tuple[Place, str]] = set()
        needs = {
            "attack argument": ("propose argument",),
            "defend argument": ("attack argument",),
            "concede argument": ("attack argument", "defend argument"),
        }
        for event in (turn.event for turn in story.turns if turn.event.kind != FOCUS):
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


def test_like_facts_interfere(story: Trajectory) -> None:
    """The same things are spoken of in several places, with another value in each."""
    values: dict[tuple[str, str], set[str]] = {}
    for turn in story.turns:
        event = turn.event
        if event.value and event.target:
            key = (event.other or event.target, event.attribute)
            values.setdefault(key, set()).add(event.value)
    several = [key for key, found in values.items() if len(found) > 1]
    assert len(several) > len(values) / 4


@pytest.mark.parametrize("domain", DOMAINS)
def test_topics_are_never_mistaken(domain: str) -> None:
    """No two trips or rounds of a long trajectory have the same name."""
    (story,) = made_up_trajectories(domain, 12_000, 1, 0)
    order = list(dict.fromkeys(turn.event.place.topic for turn in story.turns))
    last = {turn.event.place.topic: index for index, turn in enumerate(story.turns)}
    first = {turn.event.place.topic: index for index, turn in reversed(list(enumerate(story.turns)))}
    assert len(order) > 25
    assert max(sum(first[topic] <= at <= last[topic] for topic in order) for at in range(0, 12_000, 50)) == 3
