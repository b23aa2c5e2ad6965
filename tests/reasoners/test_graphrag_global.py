"""`graphrag-global`: every report is read, a batch at a time, and the answer cites those that it rests on."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from goalmem_cli.backbones.graphrag.backbone import GraphRAG
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.errors import UsageError
from goalmem_cli.memory_records import ConversationSummary
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.catalogue import REASONERS, Sources
from goalmem_cli.reasoners.inquiry import Budget, Tools
from goalmem_cli.reasoners.structured.graphrag_global import MAP, NAME, REDUCE, STEPS, GraphRAGGlobal, calls
from goalmem_cli.records import Hit, Query, Question, Turn
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Status, Trace
from tests.reasoners.forward import both_profiles
from tests.reasoners.scripting import MOMENT, chat

TURNS = chat("Ann: I teach the cello.", "Ben: I drive a van.", "Cleo: The boat is blue.")
FULL, COMPACT = (PromptBook.load(None, profile) for profile in ("full", "compact"))


class Reported:
    """A memory with a report on each turn; `asked` are the queries."""

    def __init__(self, count: int = 3) -> None:
        self.asked: list[Query] = []
        self._turns = TURNS[:count]

    def reports(self, query: Query) -> list[Hit]:
        """Return the reports, whatever the query."""
        self.asked.append(query)
        return [
            Hit(derived_unit("graphrag", "report", f"About {turn.speaker}\n{turn.text}", (turn,)), 5.0)
            for turn in self._turns
        ]


def says(request: Request) -> str:
    """Return a point for each report but those about boats, and an answer from the first two points."""
    is_json = isinstance(request.shape, JsonShape)
    if request.step == REDUCE:
        numbers = re.findall(r"^(P\d+) ", request.growing, re.MULTILINE)[: 2 if is_json else 1]
        if is_json:
            return json.dumps({"points": numbers, "answer": "teaching and driving"})
        return f"points: {numbers[0]}\nanswer: teaching and driving"
    facts = re.findall(r"^(F\d+)\. (.*)$", request.growing, re.MULTILINE)
    points = [(number, 0 if "boat" in text else 40 + 10 * ("cello" in text), text) for number, text in facts]
    if is_json:
        return json.dumps(
            {"points": [{"facts": [n], "score": score, "description": text} for n, score, text in points]}
        )
    return "\n".join(f"points: {n} {score} {text}" for n, score, text in points)


def ask(model: ScriptedModel, book: PromptBook = FULL, tokens: int = 3000, batches: int = 5, count: int = 3) -> Trace:
    """Return the trace of a question."""
    tools = Tools(ListBackbone(), model, book, Budget(60, tokens), "scripted")
    return GraphRAGGlobal(tools, Reported(count), batches).answer(Question("What do people do?", MOMENT))


@both_profiles
def test_the_answer_cites_the_reports_behind_its_points(book: PromptBook) -> None:
    """The best point comes first, what scores nothing is left out, and evidence has the turns of its reports."""
    model = ScriptedModel(says)
    trace = ask(model, book)
    cited = [trace.facts[number] for number in trace.evidence]

    assert (trace.status, trace.answer, trace.reasoner) == (Status.ANSWERED, "teaching and driving", NAME)
    assert [request.step for request in model.seen] == [MAP, REDUCE]
    assert cited[0].text == "About Ann\nI teach the cello."
    assert cited[0].turns == (TURNS[0].label,)
    assert all("boat" not in fact.text for fact in cited)
    assert "P1 (50): " in model.seen[1].growing
    assert "boat" not in model.seen[1].growing
    assert trace.usage.calls == 2


@both_profiles
def test_reports_are_read_in_batches(book: PromptBook) -> None:
    """As many at a time as the budget holds; at most so many calls, and what was not read is said."""
    model = ScriptedModel(says)
    trace = ask(model, book, tokens=14)
    assert [request.step for request in model.seen] == [MAP, MAP, MAP, REDUCE]
    assert trace.status is Status.ANSWERED
    few = ask(ScriptedModel(says), book, tokens=14, batches=2)
    assert few.notes[0] == "1 of 3 reports were not read: there was room for 2 calls"
    assert few.usage.calls <= calls(2)[1]


def test_the_order_is_the_same_each_time() -> None:
    """Shuffled, so that neighbours are not read together, but by a seed."""
    first, second = (ask(ScriptedModel(says)) for _ in range(2))
    assert [fact.text for fact in first.facts.values()] == [fact.text for fact in second.facts.values()]


def test_nothing_said_is_unknown() -> None:
    """Without reports nobody is asked; without points there is no second call."""
    assert ask(ScriptedModel([]), count=0).status is Status.UNKNOWN
    trace = ask(ScriptedModel(['{"points": []}']))
    assert (trace.status, trace.notes) == (Status.UNKNOWN, ("no report says anything of it",))
    refused = ask(ScriptedModel([says, '{"points": [], "answer": "unknown"}']))
    assert (refused.status, refused.evidence) == (Status.UNKNOWN, ())


@pytest.mark.parametrize(
    "wrong",
    [
        '{"points": [{"facts": ["F9"], "score": 5, "description": "x"}]}',
        '{"points": [{"facts": ["F1"], "score": 101, "description": "x"}]}',
        '{"points": [{"facts": [], "score": 5, "description": "x"}]}',
    ],
)
def test_a_point_that_names_nothing_is_asked_for_again(wrong: str) -> None:
    """Twice, then the batch has no points."""
    assert ask(ScriptedModel([wrong, says, says])).status is Status.ANSWERED
    trace = ask(ScriptedModel([wrong, wrong]))
    assert trace.status is Status.UNKNOWN
    assert trace.actions[-1].failure


@pytest.mark.parametrize("wrong", ['{"points": ["P9"], "answer": "x"}', '{"points": [], "answer": "x"}'])
def test_an_answer_that_rests_on_nothing_is_none(wrong: str) -> None:
    """Asked for again, then the question has failed."""
    assert ask(ScriptedModel([says, wrong, wrong])).status is Status.FAILED
    assert ask(ScriptedModel([says, wrong, says])).status is Status.ANSWERED


def test_it_reads_the_reports_of_graphrag_alone() -> None:
    """Another backbone is a clear error; the question's scope and time hold for reports too."""
    tools = Tools(ListBackbone(), ScriptedModel([]), FULL)
    with pytest.raises(UsageError, match="graphrag"):
        REASONERS[NAME].build(tools, Sources(ListTranscript()))
    memory = Reported()
    question = Question("What?", MOMENT, conversations=("chat",), as_of=MOMENT)
    GraphRAGGlobal(replace(tools, model=ScriptedModel(says)), memory, 5).answer(question)
    assert memory.asked == [Query("What?", ("chat",), until=MOMENT, asked=MOMENT)]
    assert hasattr(GraphRAG, "reports")
    assert set(STEPS) <= FULL.prompts.keys() & COMPACT.prompts.keys()


class ListTranscript:
    """A transcript of nothing."""

    def turns(self, conversations: Sequence[str] | None = None) -> list[Turn]:
        """Return no turns."""
        return []

    def conversations(self) -> list[ConversationSummary]:
        """Return none."""
        return []
