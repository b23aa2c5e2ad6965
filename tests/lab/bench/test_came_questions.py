"""Questions about made-up trajectories: their answers, their evidence, and the labels to look for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from goalmem_cli.lab.bench.came.records import Form, StoryQuestion, StoryTurn, Trajectory
from goalmem_cli.lab.bench.came.trajectories import DOMAINS, made_up_trajectories
from goalmem_cli.lab.bench.came.wording import TYPES
from goalmem_cli.lab.evaluation.datasets.came import answer_set
from goalmem_cli.lab.evaluation.metrics.overlap import set_scores
from tests.lab.bench.came_reference import ANSWERS, answers

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
