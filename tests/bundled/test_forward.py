"""The reasoners that go forward with the bundled model: whatever it says, replies can be used and bounds are kept."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from goalmem_cli.backbones.remem.backbone import Remem as Graph
from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.reasoners import direct, full_context, memguide, oracle, react, reflect, reformulate
from goalmem_cli.reasoners.direct import Direct
from goalmem_cli.reasoners.full_context import FullContext
from goalmem_cli.reasoners.inquiry import Budget, Tools
from goalmem_cli.reasoners.memguide import MemGuide
from goalmem_cli.reasoners.react import React
from goalmem_cli.reasoners.reflect import Reflect
from goalmem_cli.reasoners.reformulate import Reformulate
from goalmem_cli.reasoners.structured.remem import RECOLLECTION, Remem, RememSingle, calls
from goalmem_cli.reasoners.tiser import Tiser
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone
from goalmem_cli.trace import Status, Stop, Trace
from tests.backbones.derived import no_kit
from tests.backbones.remem_samples import stored
from tests.reasoners.forward import COMPACT, QUESTION, TURNS, Build, check
from tests.reasoners.scripting import MOMENT
from tests.reasoners.test_full_context import Kept
from tests.reasoners.test_oracle import knowing


@dataclass(frozen=True)
class Case:
    """A reasoner, the most calls that it makes, and what it is asked within how many tokens."""

    build: Build
    most_calls: int
    question: str = QUESTION
    tokens: int = 400

    @property
    def budget(self) -> Budget:
        """What it may look at."""
        return Budget(60, self.tokens)


def everything(tools: Tools) -> FullContext:
    """Return the reasoner that reads all the turns."""
    return FullContext(tools, Kept(TURNS))


CASES = [
    pytest.param(Case(Direct, direct.calls()[1]), id="direct"),
    pytest.param(Case(knowing(0, 5), oracle.calls()[1]), id="oracle"),
    *(
        pytest.param(case, id=name, marks=pytest.mark.slow)
        for name, case in {
            "full-context": Case(everything, full_context.calls()[1]),
            "full-context, cut": Case(everything, full_context.calls()[1], tokens=60),
            "memguide": Case(MemGuide, memguide.calls()[1]),
            "react": Case(React, react.calls()[1]),
            "reflect": Case(Reflect, reflect.calls()[1]),
            "tiser": Case(Tiser, direct.calls()[1], "When did they move to Leeds?"),
        }.items()
    ),
]


@pytest.fixture
def model(bundled_path: Path) -> Iterator[LlamaModel]:
    """The bundled model, on one thread so that tests do not fight over the machine."""
    with closing(LlamaModel.from_file(bundled_path, context=4096, threads=1)) as loaded:
        yield loaded


def answered(case: Case, model: LlamaModel) -> Trace:
    """Return the trace of the question, with the prompts of the model's profile, after checking the bounds."""
    tools = Tools(ListBackbone(TURNS, least=0), model, COMPACT, case.budget, "bundled")
    trace = case.build(tools).answer(Question(case.question, MOMENT))
    check(trace, case.most_calls, case.budget)
    return trace


@pytest.mark.parametrize("case", CASES)
def test_every_reply_can_be_used(model: LlamaModel, case: Case) -> None:
    """Grammars see to it, step by step; none is refused."""
    trace = answered(case, model)

    assert trace.status is not Status.FAILED
    assert trace.stopped is not Stop.UNUSABLE_REPLY
    assert not [action.name for action in trace.actions if action.failure]


@pytest.mark.slow
def test_a_question_gets_its_rewrites(model: LlamaModel) -> None:
    """As many as are asked for, and then an answer of the right form."""
    trace = answered(Case(Reformulate, reformulate.calls()[1]), model)

    assert trace.status is not Status.FAILED
    assert len(trace.actions[0].said) == 5


@pytest.mark.slow
def test_tools_of_the_episodic_graph_are_called(model: LlamaModel, tmp_path: Path) -> None:
    """The agent calls tools and answers in their form, and so does the reader after one retrieval."""
    graph = Graph(stored(tmp_path), no_kit)
    tools = Tools(graph, model, COMPACT, Budget(60, 400), "bundled")
    question = Question("How often was Momoco visited?", MOMENT)
    agent = Remem(tools, graph, RECOLLECTION).answer(question)
    single = RememSingle(tools, graph).answer(question)

    assert agent.status is not Status.FAILED and single.status is not Status.FAILED
    assert agent.usage.calls <= 2 * calls(RECOLLECTION)[1]
    assert agent.actions[0].said
