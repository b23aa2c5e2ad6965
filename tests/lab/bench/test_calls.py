"""The same calls are made in every way, and what they cost is counted right."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.calls import (
    CallCost,
    CallsComparison,
    QuestionCosts,
    RecordedQuestion,
    Weights,
    compare_calls,
    compare_processes,
    make_calls,
)
from goalmem_cli.ports import Completion
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
