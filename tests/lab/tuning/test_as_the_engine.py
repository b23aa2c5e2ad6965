"""The requests of the examples are those that the engine makes of the same memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.corpus import Talk
from goalmem_cli.ports import Embedder, GrammarShape, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.records import Question
from goalmem_cli.store.memory import Store
from goalmem_cli.testing import ScriptedModel
from tests.lab.tuning.samples import held_together, steps_of
from tests.reasoners.scripting import FEW


def place_of(request: Request) -> tuple[str, str]:
    """Return the statement and the fact of a unification, or the question and the rest of another prompt."""
    if request.step == "unify":
        return held_together(Example("", "", request, ""))
    return request.growing, request.tail


def unnamed(statement: str) -> str:
    """Return a statement without stars and without the names of its variables."""
    return re.sub(r"\([u-z]:", "(:", statement).replace("*", "")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, talks: list[Talk], embedder: Embedder) -> Store:
    """A memory of the samples."""
    memory = Store(tmp_path_factory.mktemp("engine") / "store", embedder, announce=lambda _: None)
    memory.add_all((talk.conversation for talk in talks), by_name=True)
    return memory


def asked_by_engine(
    store: Store, talks: list[Talk], book: PromptBook, reply: Callable[[Request], str]
) -> list[Request]:
    """Return whatever the engine asks of a model over all questions of the samples."""
    model = ScriptedModel(reply)
    engine = GoalMem(FlatBackbone(store), model, book, Limits(max_breadth=2, max_depth=2), fitted=FEW)
    for talk in talks:
        last = max(turn.said for turn in talk.conversation.turns if turn.said is not None)
        for case in talk.cases:
            engine.answer(Question(case.question, last, case.asker, (talk.name,)))
    return model.seen


@pytest.fixture(scope="module")
def requests(store: Store, talks: list[Talk], plain: list[Example], book: PromptBook) -> list[Request]:
    """What the engine asks of a model that plans and proves by gold, refines nothing and words no answer."""
    replies = {place_of(example.request): example.reply for example in plain}
    otherwise = {"decompose": "nothing", "unify": "none", "refine": "stop"}

    def reply(request: Request) -> str:
        is_gold = request.step in ("decompose", "unify")
        return replies.get(place_of(request) if is_gold else ("", ""), otherwise.get(request.step, "unknown"))

    return asked_by_engine(store, talks, book, reply)


@pytest.mark.slow
def test_questions_are_asked_as_the_engine_asks_them(plain: list[Example], requests: list[Request]) -> None:
    """Each first plan has the very request of the engine: prompt, asker, grammar, length."""
    wanted = [example.request for example in plain if example.kind == "decompose"]

    assert len(wanted) > 20
    assert [request for request in wanted if request not in requests] == []


@pytest.mark.slow
def test_failed_plans_are_named_as_the_engine_names_them(plain: list[Example], requests: list[Request]) -> None:
    """Where gold's first plan leads nowhere, the engine asks for the second one as the example does."""
    wanted = [example.request for example in plain if example.kind == "decompose again"]

    assert [request for request in wanted if request in requests]


def insistent(request: Request) -> Request:
    """Return the request without the word that refuses."""
    assert isinstance(request.shape, GrammarShape)
    return replace(request, shape=GrammarShape(request.shape.grammar.replace('"none" | ', "", 1)))


def test_statements_are_held_against_facts_as_the_engine_does(plain: list[Example], requests: list[Request]) -> None:
    """What both ask of a statement and a fact is the same to the letter, but that the engine wants a value at any rate."""
    asked = {place_of(request): request for request in requests if request.step == "unify"}
    common = [example for example in plain if example.request.step == "unify" and place_of(example.request) in asked]

    assert len({place_of(example.request) for example in common}) > 60
    assert all(insistent(example.request) == asked[place_of(example.request)] for example in common)


def test_bound_variables_are_put_into_statements_as_the_engine_does(
    store: Store, talks: list[Talk], plain: list[Example], book: PromptBook
) -> None:
    """A statement in which the engine puts what another subgoal bound is held against facts in the examples too."""
    replies = {place_of(example.request): example.reply for example in plain}
    refined = {example.request.growing: example.reply for example in plain if example.kind == "refine"}

    def reply(request: Request) -> str:
        if request.step == "refine":
            return refined.get(request.growing, "stop")
        if request.step == "unify" and request.growing.count(":") > 2:  # two variables: too much at once
            return "none"
        return replies.get(place_of(request), "none" if request.step == "unify" else "unknown")

    gold = {unnamed(step.text) for talk in talks for case in talk.cases for step in steps_of(case)}
    asked = {request.growing for request in asked_by_engine(store, talks, book, reply)}
    wanted = {example.request.growing for example in plain if example.request.step == "unify"}
    statements = {unnamed(growing.removeprefix("Statement: ").strip()) for growing in wanted & asked}

    assert statements - gold


def test_refinements_are_asked_for_as_the_engine_does(plain: list[Example], requests: list[Request]) -> None:
    """An unresolved subgoal of which nothing is known nor tried has the engine's own request."""
    asked = [request for request in requests if request.step == "refine"]
    wanted = [example.request for example in plain if example.kind == "refine"]

    assert [request for request in wanted if request in asked]
    assert {(request.system, request.max_tokens) for request in wanted} == {
        (request.system, request.max_tokens) for request in asked
    }
