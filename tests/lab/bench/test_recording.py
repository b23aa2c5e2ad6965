"""What a reasoner asks of its model is kept, to be asked again."""

from __future__ import annotations

import json
from datetime import datetime

from goalmem_cli.lab.bench.calls import (
    RecordedQuestion,
    RecordingModel,
    calls_document,
    calls_from_document,
    record_questions,
)
from goalmem_cli.ports import LanguageModel
from goalmem_cli.records import Question
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.trace import Status, Trace
from tests.lab.bench.conftest import asking

ASKED = datetime(2024, 1, 1)


class Counting:
    """A reasoner that makes as many calls as the question has words."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def answer(self, question: Question) -> Trace:
        """Ask about each word."""
        for word in question.text.split():
            self._model.complete([asking(word)])
        return Trace(Status.UNKNOWN, "counting", question.text, question.asked)


def test_calls_are_passed_on_and_taken_once() -> None:
    """The model's replies come back; what was asked is there until it is taken."""
    model = RecordingModel(ScriptedModel(["green", "red", "blue"]))
    assert [each.text for each in model.complete([asking("a"), asking("b")])] == ["green", "red"]
    model.complete([asking("c")])
    assert model.take() == ((asking("a"), asking("b")), (asking("c"),))
    assert model.take() == ()


def test_questions_of_too_few_calls_are_passed_over() -> None:
    """The first questions that take enough calls are kept with these calls, and no question after them is asked."""
    model = ScriptedModel(lambda _: "yes")
    questions = [Question(text, ASKED) for text in ("one", "two words", "now three words", "just two", "the last one")]
    reported: list[tuple[int, int]] = []
    found = record_questions(
        questions, model, Counting, wanted=2, least_calls=2, report=lambda *done: reported.append(done)
    )
    assert [question.text for question in found] == ["two words", "now three words"]
    assert [len(question.calls) for question in found] == [2, 3]
    assert found[0].requests == [asking("two"), asking("words")]
    assert reported == [(1, 2), (2, 2)]
    assert model.calls == 6


def test_calls_survive_json(recorded: list[RecordedQuestion]) -> None:
    """Both shapes of replies come back as they were."""
    for question in recorded:
        assert calls_from_document(json.loads(json.dumps(calls_document(question.calls)))) == question.calls
