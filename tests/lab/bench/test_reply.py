"""What the form of a reply costs is counted right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from goalmem_cli.lab.bench.recording import RecordedQuestion
from goalmem_cli.lab.bench.reply import measure_replies, reply_forms
from goalmem_cli.lab.bench.ways import Weights
from goalmem_cli.lab.bench.writing import Writing
from goalmem_cli.ports import Example
from goalmem_cli.prompts import PromptBook


def test_writings_add_up() -> None:
    """The rate of two together is that of all tokens in all seconds, and nothing written has none."""
    together = Writing(10, 1.0) + Writing(20, 4.0)
    assert together.tokens_per_second == 6.0
    assert Writing().tokens_per_second == 0.0


def test_both_forms_of_the_same_worked_replies_are_compared() -> None:
    """Of steps for which both profiles have worked examples."""
    full, compact = PromptBook.load(None, "full"), PromptBook.load(None, "compact")
    worked = full["decompose"].examples[0]
    line = replace(compact["decompose"], examples=(Example(worked.input, "a goal\n1. a subgoal"),))
    book = replace(compact, prompts={**compact.prompts, "decompose": line})
    forms = {form.step: form for form in reply_forms(full, book, len)}
    assert {"decompose", "judge", "react", "rewrite"} <= forms.keys() <= compact.prompts.keys()
    assert forms["decompose"].json_tokens == len(worked.output)
    assert forms["decompose"].line_tokens == len("a goal\n1. a subgoal")
    longer = {name for name, form in forms.items() if form.line_tokens >= form.json_tokens}
    assert longer <= {"judge_order"}  # which names its field on every line


@pytest.mark.slow
def test_a_grammar_is_measured_on_the_requests_of_its_step(weights: Weights, recorded: list[RecordedQuestion]) -> None:
    """As many requests of a step as wanted, each with its grammar and without."""
    full, compact = PromptBook.load(None, "full", ["rewrite"]), PromptBook.load(None, "compact", ["rewrite"])
    reported: list[tuple[int, int]] = []
    figures = measure_replies(
        weights, recorded[0].requests, full, compact, samples=2, report=lambda *done: reported.append(done)
    )
    (cost,) = figures.grammars
    assert cost.step == "read"
    assert cost.compile_ms > 0
    assert 0 <= cost.held.tokens <= 2 * 7
    assert figures.held == cost.held
    assert figures.free.tokens > 0
    assert [form.step for form in figures.forms] == ["rewrite"]
    assert reported == [(1, 2), (2, 2)]
