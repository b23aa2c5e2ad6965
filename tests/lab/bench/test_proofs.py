"""What proofs cost where a model replies by the gold plan: each order beside reading, by kinds of questions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from goalmem_cli.lab.bench.proofs import CountedReplies, GoldQuestion, Group, ProofCost, measure_proofs
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.lab.evaluation.replies import GoldReplies
from goalmem_cli.ports import LanguageModel, Reasoner, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.direct import STEPS, Direct
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.inquiry import Tools
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone
from tests.lab.bench.conftest import asking
from tests.reasoners.scripting import FULL, MOMENT, TOGETHER

SAMPLES = Path(__file__).parents[3] / "sample_convos" / "momoco.json"


def letters(request: Request) -> list[int]:
    """Return a token for each character of the prompt."""
    return list(f"{request.system}|{request.growing}{request.tail}".encode())


def test_what_a_prompt_shares_with_the_one_before_was_kept() -> None:
    """Of its own step, and never all of it: the last token is always evaluated."""
    kept: dict[str, list[int]] = {}
    model = CountedReplies(lambda _: "x", letters, kept)  # type: ignore[arg-type]
    first, again = asking("abc"), asking("abcdef")
    counts = [model.complete([request])[0] for request in (first, again, again)]

    sizes = [len(letters(request)) for request in (first, again, again)]
    assert [count.prompt_tokens for count in counts] == sizes
    assert counts[0].cached_tokens == 0
    assert 0 < counts[1].cached_tokens < sizes[1]
    assert counts[2].cached_tokens == sizes[2] - 1


@pytest.fixture(scope="module")
def costs() -> dict[tuple[Group, str], ProofCost]:
    """Return what the sample's questions cost in both orders and to read, over all of its turns."""
    dataset = read_dataset([SAMPLES])
    (conversation,) = dataset.conversations({dataset.cases[0].conversation})
    turns = {turn.label: turn for turn in conversation.turns}
    questions = [
        GoldQuestion(
            Question(case.question, MOMENT, case.asker), partial(GoldReplies, case, turns), frozenset(case.evidence),
            turns[case.evidence[0]].conversation if case.evidence else "", case.is_unanswerable,
        )
        for case in dataset.cases
    ]  # fmt: skip
    backbone, limits = ListBackbone(conversation.turns, least=0), Limits(budget=400, max_fact_tokens=40_000)
    build: dict[str, Callable[[LanguageModel], Reasoner]] = {
        "direct": lambda model: Direct(Tools(backbone, model, PromptBook.load(None, "full", STEPS))),
        "paper": lambda model: GoalMem(backbone, model, FULL, limits, planning="paper"),
        "together": lambda model: GoalMem(backbone, model, TOGETHER, limits),
    }
    found = measure_proofs(questions, build, letters, "together")
    return {(cost.group, cost.reasoner): cost for cost in found}


def test_one_call_where_the_evidence_is_in_the_first_facts(costs: dict[tuple[Group, str], ProofCost]) -> None:
    """So is reading; the other order asks three times at least. What cannot be answered takes three calls at most."""
    hand = {name: costs[Group.AT_HAND, name] for name in ("together", "paper", "direct")}
    for cost in hand.values():
        assert cost.right == cost.questions > 0
    assert (
        hand["together"].usage.calls - hand["together"].checks
        == hand["direct"].usage.calls
        == hand["together"].questions
    )
    assert hand["paper"].usage.calls >= 3 * hand["paper"].questions

    refused = costs[Group.REFUSED, "together"]
    assert refused.right == refused.questions > 0
    assert refused.most_calls <= 3
