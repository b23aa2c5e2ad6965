"""The requests of the examples are those that the engine makes of the same memory."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.corpus import Talk
from goalmem_cli.logic import parse_atom
from goalmem_cli.models.bundled import SMOLLM2
from goalmem_cli.ports import Embedder, GrammarShape, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.provers.readings import step_question
from goalmem_cli.records import Question
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ScriptedModel
from tests.lab.tuning.samples import steps_of

STEPS = ("read step", "read step none")


@dataclass(frozen=True)
class Asked:
    """What the engine asks for each question of the samples, by its text, when it plans and reads steps by gold."""

    by_question: dict[str, list[Request]]

    @property
    def requests(self) -> list[Request]:
        """What it asks for all of them."""
        return [request for requests in self.by_question.values() for request in requests]


def lines_of(request: Request) -> dict[str, str]:
    """Return the number of each fact that a reading shows, by what its line says, in the order shown."""
    return {line.partition(". ")[2]: line.partition(". ")[0] for line in request.growing.splitlines()}


def without_facts(request: Request) -> tuple[str, str, str, int]:
    """Return all of a reading but its facts and their numbers."""
    assert isinstance(request.shape, GrammarShape)
    grammar = re.sub(r'"F\d+"( \| "F\d+")*', "FACT", request.shape.grammar)
    return request.system, request.tail, grammar, request.max_tokens


def gold_replies(plain: list[Example]) -> Callable[[Request], str]:
    """Return what plans and reads steps as the examples do, and knows no answer to a whole question."""
    plans = {example.request: example.reply for example in plain if example.kind == "decompose"}
    answers: dict[str, tuple[str, set[str]]] = {}
    for example in plain:
        if example.kind == "read step":
            answer, cited = example.reply.removeprefix("answer: ").split("\nfacts: ")
            told = {number: line for line, number in lines_of(example.request).items()}
            answers[example.request.tail] = answer, {told[number] for number in cited.split(", ")}

    def reply(request: Request) -> str:
        if request.step == "decompose":
            return plans.get(request, "nothing")
        answer, wanted = answers.get(request.tail, ("", set()))
        cited = [number for line, number in lines_of(request).items() if line in wanted]
        return f"answer: {answer}\nfacts: {', '.join(cited)}" if cited else "answer: unknown"

    return reply


@pytest.fixture(scope="module")
def asked(
    tmp_path_factory: pytest.TempPathFactory,
    talks: list[Talk],
    plain: list[Example],
    book: PromptBook,
    embedder: Embedder,
) -> Asked:
    """What the engine asks over all questions of the samples, each conversation in a memory of its own."""
    found: dict[str, list[Request]] = {}
    for talk in talks:
        store = Store(tmp_path_factory.mktemp("engine") / "store", embedder, announce=lambda _: None)
        store.add_all([talk.conversation], by_name=True)
        last = max(turn.said for turn in talk.conversation.turns if turn.said is not None)
        for case in talk.cases:
            model = ScriptedModel(gold_replies(plain))
            engine = GoalMem(FlatBackbone(store), model, book, Limits(), fitted=SMOLLM2.fitted)
            engine.answer(Question(case.question, last, case.asker, (talk.name,)))
            found[case.question] = model.seen
    return Asked(found)


def test_plans_are_asked_for_as_the_engine_does(plain: list[Example], asked: Asked) -> None:
    """Each decomposition has the very request of the engine: prompt, asker, grammar, length."""
    wanted = [example.request for example in plain if example.kind == "decompose"]

    assert len(wanted) > 20
    assert [request for request in wanted if request not in asked.requests] == []


def test_questions_are_read_as_the_engine_reads_them(plain: list[Example], asked: Asked) -> None:
    """A reading has the engine's request but for which facts it shows; those that both show have the same lines."""
    readings = {without_facts(request) for request in asked.requests if request.step == "read"}
    lines = {line for request in asked.requests if request.step == "read" for line in lines_of(request)}
    wanted = [example.request for example in plain if example.kind in ("read", "read none", "read together")]
    heads = {line.rpartition(" [")[0]: line for line in lines}
    shared = [line for request in wanted for line in lines_of(request) if line.rpartition(" [")[0] in heads]

    assert len(wanted) > 60 and all(without_facts(request) in readings for request in wanted)
    assert len(set(shared)) > 60 and set(shared) <= lines


def test_facts_are_read_in_the_engine_s_order(plain: list[Example], talks: list[Talk], asked: Asked) -> None:
    """What a question finds stands in its example as the engine shows it, the best last, but for evidence put in."""
    said = {(talk.name, turn.label): " ".join(turn.text.split()) for talk in talks for turn in talk.conversation.turns}
    evidence = {case.id: [said[talk.name, each] for each in case.evidence] for talk in talks for case in talk.cases}
    compared = 0
    for example in plain:
        if example.kind in ("read", "read none"):
            requests = next(each for each in asked.by_question.values() if each[0].tail == example.request.tail)
            steps = [request.step for request in requests]
            first = requests[: steps.index("decompose")] if "decompose" in steps else requests[:1]  # planned by rule
            engine = list(lines_of(max(first, key=lambda request: len(request.growing))))
            found = [each for each in lines_of(example.request) if not any(t in each for t in evidence[example.case])]
            assert [line for line in found if line in engine] == [line for line in engine if line in found]
            compared += sum(line in engine for line in found)
    assert compared > 200


def test_steps_are_read_as_the_engine_reads_them(plain: list[Example], talks: list[Talk], asked: Asked) -> None:
    """A step is the question that the engine puts, at times with what an earlier step bound in it, and read like any."""
    examples = {without_facts(example.request) for example in plain if example.kind in STEPS}
    readings = {without_facts(request) for request in asked.requests if request.step == "read"}
    atoms = [parse_atom(step.text) for talk in talks for case in talk.cases for step in steps_of(case)]
    as_planned = {step_question(atom, variable.name) for atom in atoms for variable in atom.variables}
    common = {tail.splitlines()[0].removeprefix("Question: ") for _, tail, _, _ in examples & readings}

    assert len(common) >= 20 and len(common - as_planned) > 2
    assert {(system, *rest) for system, _, *rest in examples} == {(system, *rest) for system, _, *rest in readings}
