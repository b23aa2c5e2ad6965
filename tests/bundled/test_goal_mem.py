"""The engine with the bundled model: it may prove little, but what it writes never gets past the checks."""

from pathlib import Path

import pytest

from goalmem_cli.logic import parse_atom
from goalmem_cli.models.bundled import ADAPTERS, SMOLLM2
from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone
from goalmem_cli.trace import Status
from tests.reasoners.scripting import FEW, MOMENT
from tests.reasoners.test_bounds import TURNS, check


@pytest.fixture(scope="module")
def model(bundled_path: Path) -> LlamaModel:
    """Return the bundled model with its adapter, on one thread so that the tests do not fight over the machine."""
    return LlamaModel.from_file(bundled_path, adapter=ADAPTERS / SMOLLM2.adapter, context=4096, threads=1)


@pytest.mark.slow
@pytest.mark.parametrize("question", ["What did Alice order at Momoco?", "Does Ben have a dog?"])
def test_bundled_model_stays_within_bound_and_evidence(model: LlamaModel, question: str) -> None:
    """Within the bound, no fact outside the store, no unchecked binding; usable replies, since grammars see to it.

    What it replies to the full prompts is in `test_together_grammar.py`, and what the engine makes of any such reply
    in `tests/reasoners/test_bounds.py`.
    """
    limits = Limits(max_breadth=1, max_depth=1, budget=4, max_fact_tokens=300)
    engine = GoalMem(ListBackbone(TURNS), model, PromptBook.load(None, "compact"), limits, fitted=FEW, strict=True)
    trace = engine.answer(Question(question, MOMENT))

    assert trace.usage.calls <= 2 * (3 + 2)
    assert trace.usage.prompt_tokens > trace.usage.cached_tokens
    check(trace, is_strict=True)
    assert trace.status is not Status.FAILED


@pytest.mark.slow
def test_same_question_gives_the_same_trace(model: LlamaModel) -> None:
    """Greedy decoding with a fixed seed repeats itself."""
    limits = Limits(max_breadth=1, max_depth=0, budget=4, max_fact_tokens=300)
    engine = GoalMem(ListBackbone(TURNS), model, PromptBook.load(None, "compact"), limits, fitted=FEW)
    first, second = (engine.answer(Question("Who has a dog?", MOMENT)) for _ in range(2))

    assert (first.answer, first.goal, first.substitution) == (second.answer, second.goal, second.substitution)
    assert [attempt.subgoals for attempt in first.attempts] == [attempt.subgoals for attempt in second.attempts]


@pytest.mark.parametrize(
    "question",
    [
        "Would it be safe to hang an orange bucket in Church Piece when the ewes are there?",
        "If a leading actor fell ill again, would Tara dare to jump in?",
    ],
)
def test_what_yes_or_no_answers_gets_a_goal_without_variables(model: LlamaModel, question: str) -> None:
    """Left to itself this model asks for a thing, whose name would then be the answer."""
    prompts = PromptBook.load(None, "compact")
    limits = Limits(max_breadth=1, max_depth=0, budget=4, max_fact_tokens=300)
    trace = GoalMem(ListBackbone(TURNS), model, prompts, limits, fitted=FEW).answer(Question(question, MOMENT))

    assert trace.goal
    assert not parse_atom(trace.goal).variables
    assert trace.answer in {None, "yes", "no", "likely yes", "likely no"}
