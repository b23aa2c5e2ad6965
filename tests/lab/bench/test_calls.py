"""The same calls are made in every way, and what they cost is counted right."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.calls import (
    CallCost,
    CallsComparison,
    QuestionCosts,
    RecordedQuestion,
    RecordingModel,
    Weights,
    calls_document,
    calls_from_document,
    compare_calls,
    compare_processes,
    make_calls,
    record_questions,
)
from goalmem_cli.lab.bench.timing import median_ms, run_python, timed
from goalmem_cli.ports import Completion, LanguageModel
from goalmem_cli.records import Question
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.trace import Status, Trace
from tests.lab.bench.conftest import asking


class Counted:
    """A model whose completions have the lengths that it is given."""

    def __init__(self, *completions: Completion) -> None:
        self._completions = list(completions)

    def complete(self, requests: object) -> list[Completion]:
        """Return the next completion."""
        return [self._completions.pop(0)]


def test_costs_are_sums_over_the_calls() -> None:
    """Tokens that were cached were not evaluated."""
    model = Counted(Completion("a", 10, 4, 2), Completion("b", 20, 0, 3))
    cost = make_calls(model, ((asking("a"),), (asking("b"),)))
    assert (cost.prompt_tokens, cost.evaluated_tokens, cost.reply_tokens) == (30, 26, 5)
    assert cost.seconds > 0
    assert cost + CallCost(1, 2, 3, 4.0) == CallCost(31, 28, 8, cost.seconds + 4.0)


def test_a_comparison_adds_up_its_questions() -> None:
    """Each way by itself."""
    costs = [CallCost(tokens, tokens, tokens, float(tokens)) for tokens in (100, 20, 10)]
    question = QuestionCosts("q", 3, 4, *costs)
    compared = CallsComparison((question, question))
    assert [compared.plain, compared.cold, compared.warm] == [cost + cost for cost in costs]


@pytest.mark.slow
def test_the_plain_way_evaluates_every_token(
    weights: Weights, recorded: list[RecordedQuestion], tmp_path: Path
) -> None:
    """goalmem's way evaluates what is fixed once where nothing is kept, and not at all where it is."""
    reported: list[tuple[int, int]] = []
    compared = compare_calls(weights, recorded, tmp_path, lambda *done: reported.append(done))
    assert [(question.calls, question.requests) for question in compared.questions] == [(2, 3), (1, 1)]
    for question in compared.questions:
        assert question.plain.evaluated_tokens == question.plain.prompt_tokens
        assert question.plain.prompt_tokens == question.cold.prompt_tokens == question.warm.prompt_tokens
        assert min(cost.seconds for cost in (question.plain, question.cold, question.warm)) > 0
        assert min(cost.reply_tokens for cost in (question.plain, question.cold, question.warm)) > 0
    assert compared.plain.evaluated_tokens > compared.cold.evaluated_tokens > compared.warm.evaluated_tokens
    assert reported == [(1, 2), (2, 2)]


def test_a_process_for_each_question(weights: Weights, recorded: list[RecordedQuestion], tmp_path: Path) -> None:
    """Each loads the model and makes the same calls; the states on disk serve the second process."""
    (costs,) = compare_processes(weights, recorded[1:], tmp_path)
    assert costs.question == recorded[1].text
    assert costs.plain.evaluated_tokens == costs.plain.prompt_tokens == costs.warm.prompt_tokens
    assert costs.warm.evaluated_tokens < costs.warm.prompt_tokens
    assert costs.plain_seconds > costs.plain.seconds
    assert costs.warm_seconds > costs.warm.seconds


def test_a_process_that_fails_is_no_measurement(
    weights: Weights, recorded: list[RecordedQuestion], tmp_path: Path
) -> None:
    """Its last words are told."""
    broken = replace(weights, shipped=tmp_path / "nothing.gguf")
    with pytest.raises(ModelError, match=r"ended with 1: .*nothing\.gguf"):
        compare_processes(broken, recorded[1:], tmp_path)


@pytest.mark.slow
def test_plain_calls_are_repeatable_and_keep_nothing(weights: Weights, recorded: list[RecordedQuestion]) -> None:
    """The same request gives the same reply, in the form asked for, each time from its first token on."""
    requests = [replace(request, max_tokens=20) for request in recorded[0].requests]
    with closing(weights.plain()) as model:
        first, again = model.complete(requests), model.complete(requests)
    assert first == again
    assert [completion.cached_tokens for completion in first] == [0, 0, 0]
    assert first[2].text.replace(" ", "") in ('{"place":"Leeds"}', '{"place":"Oslo"}')


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


def test_work_is_done_once_more_than_it_is_measured() -> None:
    """The first time only brings along what the work needs."""
    calls: list[int] = []
    assert median_ms(lambda: calls.append(1), 4) >= 0
    assert len(calls) == 5
    assert timed(lambda: calls.append(1)) >= 0
    assert len(calls) == 6


def test_a_process_is_measured_with_what_became_of_it() -> None:
    """Exit code, seconds, memory, and its last words in one line."""
    ran = run_python(["-c", "import sys, time; time.sleep(0.2); sys.exit('went\\n wrong')"])
    assert (ran.status, ran.said) == (1, "went wrong")
    assert ran.seconds > 0.2
    if sys.platform != "win32":
        assert ran.peak_bytes > 1_000_000
