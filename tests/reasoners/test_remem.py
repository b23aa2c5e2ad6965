"""`remem` and `remem-single`: the episodic graph explored by a tool loop, and by one retrieval (REMem section 3.2)."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.remem.backbone import Remem as Memory
from goalmem_cli.backbones.remem.settings import RememSettings
from goalmem_cli.errors import UsageError
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.catalogue import REASONERS, Sources
from goalmem_cli.reasoners.inquiry import Budget, Tools
from goalmem_cli.reasoners.prompt_texts import fact_line
from goalmem_cli.reasoners.structured.remem import (
    NAME,
    RECOLLECTION,
    SINGLE,
    TISER_STEPS,
    WITH_TISER,
    Remem,
    RememSingle,
    RememTiser,
    calls,
)
from goalmem_cli.records import Question
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ListBackbone, Reply, ScriptedModel
from goalmem_cli.trace import Fact, Status, Stop, Trace, as_document, from_document
from tests.backbones.derived import no_kit
from tests.backbones.remem_samples import SAID, stored
from tests.conftest import examples
from tests.reasoners.forward import COMPACT, FULL, RUBBISH, Adversary, both_profiles
from tests.reasoners.scripting import number_of

QUESTION = "How often was Momoco visited?"
ASKED = datetime(2023, 6, 1, 12)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with the gists and facts of two sessions."""
    return stored(tmp_path_factory.mktemp("remem"))


@pytest.fixture(scope="module")
def memory(store: Store) -> Memory:
    """The graph over it."""
    return Memory(store, no_kit)


@dataclass(frozen=True)
class Asked:
    """A question that was asked, and what the model saw of it."""

    trace: Trace
    model: ScriptedModel

    @property
    def steps(self) -> list[str]:
        """What was done, in order."""
        return [action.name for action in self.trace.actions]

    @property
    def calls(self) -> list[str]:
        """Which tools were called, and with what."""
        return [query for action in self.trace.actions for query in action.queries]


def says(*facts: str, **fields: str | int) -> Callable[[Request], str]:
    """Return a reply of these fields in the form that the request asks for; facts and a gist are named by words."""

    def reply(request: Request) -> str:
        numbers = [number_of(request, text) for text in facts]
        named: dict[str, Any] = {"thought": "something is missing"} if request.step == "remem" else {}
        named |= {name: number_of(request, str(said)) if name == "gist" else said for name, said in fields.items()}
        if isinstance(request.shape, JsonShape):
            return json.dumps(named | ({"facts": numbers} if numbers or "answer" in fields else {}))
        lines = [f"{name}: {value}" for name, value in named.items()]
        return "\n".join([*lines, f"facts: {', '.join(numbers)}"] if numbers else lines)

    return reply


def retrieves(query: str, **times: str) -> Reply:
    """Return a call of the tool that one begins with."""
    return says(tool="semantic_retrieve", query=query, **times)


def finishes(answer: str, *facts: str) -> Reply:
    """Return an answer that rests on the facts with these words."""
    return says(*facts, tool="output_answer", answer=answer)


def ask(
    memory: Memory, *replies: Reply, book: PromptBook = FULL, steps: int = 5, question: Question | None = None,
    budget: Budget | None = None,
) -> Asked:  # fmt: skip
    """Return the question, asked of the agent with the scripted replies, all of which are used up."""
    left = list(replies)
    model = ScriptedModel(lambda request: _next(left, request))
    tools = Tools(memory, model, book, budget or Budget(), "scripted")
    trace = Remem(tools, memory, steps).answer(question or Question(QUESTION, ASKED))
    assert not left, f"{len(left)} replies were not asked for"
    assert from_document(json.loads(json.dumps(as_document(trace)))) == trace
    return Asked(trace, model)


def _next(left: list[Reply], request: Request) -> str:
    assert left, f"no reply left for step {request.step!r}"
    reply = left.pop(0)
    return reply if isinstance(reply, str) else reply(request)


@both_profiles
def test_it_counts_with_a_tool_and_names_what_was_counted(memory: Memory, book: PromptBook) -> None:
    """Retrieve, count, answer: the number is the tool's, the evidence are the facts behind it."""
    count = says(tool="find_entity_contexts", object="Momoco", aggregation="count")
    asked = ask(memory, retrieves("Momoco"), count, finishes("2", "(Tom, visited", "(Priya, visited"), book=book)

    assert asked.steps == ["remem", "retrieve", "remem", "retrieve", "remem"]
    assert (asked.trace.status, asked.trace.answer, asked.trace.stopped) == (Status.ANSWERED, "2", Stop.FINISHED)
    assert [asked.trace.facts[number].turns for number in asked.trace.evidence] == [("D2:1",), ("D2:2",)]
    assert asked.calls == [
        "semantic_retrieve(query: Momoco)", "find_entity_contexts(object: Momoco, aggregation: count)",
    ]  # fmt: skip
    assert "2 match; count 2" in asked.model.seen[-1].growing
    assert [action.said for action in asked.trace.actions if action.name == "retrieve"] == [
        (), (("found", "2 match; count 2"),)
    ]  # fmt: skip
    assert asked.trace.reasoner == NAME


@both_profiles
def test_the_history_only_grows(memory: Memory, book: PromptBook) -> None:
    """Each prompt begins with the one before; a fact is shown once in full, and named again by its number."""
    first = says(tool="find_entity_contexts", object="Momoco", ordering="asc", limit=1)
    asked = ask(memory, retrieves("Momoco"), first, finishes("April", "(Priya, visited"), book=book)
    prompts = [request.growing for request in asked.model.seen]
    number = number_of(asked.model.seen[-1], "(Priya, visited")

    assert prompts[1].startswith(prompts[0])
    assert prompts[2].startswith(prompts[1])
    assert prompts[2].count("(Priya, visited, the Momoco)") == 1
    assert re.search(
        rf"found: {number}; 2 match; offset 1 shows what follows$", prompts[2], re.MULTILINE | re.IGNORECASE
    )


@both_profiles
def test_it_looks_around_a_gist(memory: Memory, book: PromptBook) -> None:
    """A gist seen before is named by its number; the tool is not offered before there is one."""
    around = says(tool="find_gist_contexts", gist="Tom visited Momoco yesterday", end_time="2022")
    asked = ask(memory, retrieves("yesterday"), around, finishes("E95", "E95"), book=book)

    assert re.fullmatch(r"find_gist_contexts\(gist: F\d+, end_time: 2022, end_operator: le\)", asked.calls[1])
    assert "(Priya, coached, E95)" in asked.model.seen[-1].growing


@both_profiles
def test_all_parameters_reach_the_tool(memory: Memory, book: PromptBook) -> None:
    """The trace shows each as it was understood."""
    every = says(
        tool="find_entity_contexts", subject="Priya", predicate="visited", object="Momoco", start_time="2023",
        start_operator="ge", end_time="2023-05", end_operator="lt", ordering="desc", limit="2" if book is COMPACT else 2,
        offset="1" if book is COMPACT else 1, aggregation="count_unique_objects",
    )  # fmt: skip
    lexical = says(tool="lexical_retrieve", query="Momoco", start_time="2023-04-20", start_operator="eq")
    asked = ask(memory, lexical, every, finishes("unknown"), book=book)

    assert asked.calls == [
        "lexical_retrieve(query: Momoco, start_time: 2023-04-20, start_operator: eq)",
        (
            "find_entity_contexts(subject: Priya, predicate: visited, object: Momoco, start_time: 2023, "
            "start_operator: ge, end_time: 2023-05, end_operator: lt, limit: 2, ordering: desc, offset: 1, "
            "aggregation: count_unique_objects)"
        ),
    ]
    assert "nothing; 1 match; count 1" in asked.model.seen[-1].growing
    assert (asked.trace.status, asked.trace.evidence) == (Status.UNKNOWN, ())


@both_profiles
def test_what_is_without_time_and_what_matches_in_part_is_said(memory: Memory, book: PromptBook) -> None:
    """A name that no fact has as a whole is told from one that some have."""
    asked = ask(
        memory, retrieves("Momoco"), says(tool="find_entity_contexts", object="city"),
        says(tool="find_entity_contexts", object="nowhere"), finishes("York", "York city"), book=book,
    )  # fmt: skip
    number = number_of(asked.model.seen[-1], "York city")

    assert f"{number}; 1 match only by words of the name" in asked.model.seen[-1].growing
    assert "nothing; 0 match" in asked.model.seen[-1].growing


@both_profiles
def test_after_the_last_step_it_has_to_answer(memory: Memory, book: PromptBook) -> None:
    """Only the answer is on offer then, and it is read with all that was observed, numbers too."""
    count = says(tool="find_entity_contexts", object="Momoco", aggregation="count")
    asked = ask(memory, retrieves("Momoco"), count, finishes("2", "(Tom, visited"), book=book, steps=2)

    assert (asked.trace.answer, asked.trace.stopped) == ("2", Stop.LIMIT)
    assert "output_answer" in _tools(asked.model.seen[1])
    assert _tools(asked.model.seen[2]) == {"output_answer"}
    assert "count 2" in asked.model.seen[2].growing
    assert "within 2 steps" in asked.trace.notes[0]
    assert asked.model.calls == calls(2)[1] == 3


def _tools(request: Request) -> set[str]:
    if isinstance(request.shape, JsonShape):
        properties: Any = request.shape.schema["properties"]
        return set(properties["tool"]["enum"])
    rules = {"retrieve", "entity", "gist", "finish"} & set(re.findall(r"\w+", request.shape.grammar.splitlines()[0]))
    names = {
        "retrieve": {"semantic_retrieve", "lexical_retrieve"}, "entity": {"find_entity_contexts"},
        "gist": {"find_gist_contexts"}, "finish": {"output_answer"},
    }  # fmt: skip
    return {name for rule in rules for name in names[rule]}


@both_profiles
@pytest.mark.parametrize(("off", "left"), [("lexical_retrieve", "semantic"), ("semantic_retrieve", "lexical")])
def test_a_tool_that_is_off_cannot_be_called(store: Store, book: PromptBook, off: str, left: str) -> None:
    """The shape of the reply does not have it, and a reply that has is not usable."""
    without = Memory(store, lambda: pytest.fail("the model was loaded"), RememSettings(**{off: False}))
    called = says(tool=off, query="Momoco")
    asked = ask(
        without, called, says(tool=f"{left}_retrieve", query="Momoco"), finishes("2", "(Tom, visited"), book=book
    )
    shape = asked.model.seen[0].shape
    written = json.dumps(shape.schema) if isinstance(shape, JsonShape) else shape.grammar

    assert off.split("_")[0] not in written
    assert left in written
    assert asked.calls == [f"{left}_retrieve(query: Momoco)"]


@both_profiles
def test_the_tools_on_offer_follow_what_was_found(memory: Memory, book: PromptBook) -> None:
    """It begins with a retrieval; no gist, no context of one; nothing seen, no name to look for, and no answer."""
    nothing = says(tool="lexical_retrieve", query="Zanzibar")
    dated = retrieves("E57", start_time="2021-03", start_operator="eq", end_time="2030", end_operator="ge")
    asked = ask(memory, nothing, dated, retrieves("Momoco"), finishes("unknown"), book=book)
    base = {"semantic_retrieve", "lexical_retrieve"}
    named = base | {"find_entity_contexts", "output_answer"}

    assert [_tools(request) for request in asked.model.seen] == [base, base, named, named | {"find_gist_contexts"}]


@both_profiles
def test_a_call_is_made_once(memory: Memory, book: PromptBook) -> None:
    """The same call again is refused, and the model asked for another."""
    asked = ask(memory, retrieves("Momoco"), retrieves("Momoco"), retrieves("York"), finishes("unknown"), book=book)

    assert asked.calls == ["semantic_retrieve(query: Momoco)", "semantic_retrieve(query: York)"]
    assert "made before" in asked.model.seen[2].tail


@both_profiles
def test_nothing_found_at_all_is_unknown(memory: Memory, book: PromptBook) -> None:
    """A memory without anything on the matter gives unknown, without an answer step."""
    nothing = (says(tool="lexical_retrieve", query=query) for query in ("Zanzibar", "Timbuktu"))
    asked = ask(memory, *nothing, book=book, steps=2)

    assert (asked.trace.status, asked.trace.stopped, asked.model.calls) == (Status.UNKNOWN, Stop.LIMIT, 2)


@both_profiles
@pytest.mark.parametrize(
    "fields",
    [
        {"tool": "sing"},
        {"tool": "output_answer", "answer": "cocoa"},
        {"tool": "find_gist_contexts", "gist": "F9"},
        {"tool": "find_gist_contexts"},
        {"tool": "semantic_retrieve"},
        {"tool": "semantic_retrieve", "query": "  "},
        {"tool": "find_entity_contexts"},
        {"tool": "find_entity_contexts", "subject": "Tom", "limit": "0"},
        {"tool": "find_entity_contexts", "subject": "Tom", "limit": "many"},
        {"tool": "find_entity_contexts", "subject": "Tom", "offset": "-1"},
        {"tool": "find_entity_contexts", "subject": "Tom", "ordering": "random"},
        {"tool": "find_entity_contexts", "subject": "Tom", "aggregation": "sum"},
        {"tool": "lexical_retrieve", "query": "Tom", "start_time": "long ago"},
        {"tool": "lexical_retrieve", "query": "Tom", "start_time": "2023", "start_operator": "near"},
    ],
    ids=str,
)
def test_a_call_that_means_nothing_is_refused(memory: Memory, book: PromptBook, fields: Mapping[str, str]) -> None:
    """It is asked for once more, and then what was found until then is read."""
    asked = ask(memory, retrieves("York"), says(**fields), says(**fields), says(answer="unknown"), book=book)

    assert (asked.trace.status, asked.trace.stopped) == (Status.UNKNOWN, Stop.UNUSABLE_REPLY)
    assert asked.steps == ["remem", "retrieve", "remem", "read"]
    assert "used:" in asked.model.seen[2].tail or "usable:" in asked.model.seen[2].tail


@both_profiles
def test_nothing_usable_before_any_retrieval_is_failed(memory: Memory, book: PromptBook) -> None:
    """Memory was never asked, so that it is not known to hold no answer."""
    asked = ask(memory, RUBBISH, RUBBISH, book=book)

    assert (asked.trace.status, asked.trace.stopped, asked.steps) == (Status.FAILED, Stop.UNUSABLE_REPLY, ["remem"])


def test_a_parameter_said_twice_is_refused(memory: Memory) -> None:
    """A line reply that names two subjects names none."""
    twice = "thought: x\ntool: semantic_retrieve\nquery: Tom\nstart_time: 2020\nstart_time: 2021"

    assert ask(memory, twice, twice, book=COMPACT).trace.status is Status.FAILED


def test_a_time_in_words_is_read_from_the_time_of_asking(memory: Memory) -> None:
    """Asked on 1 June 2023, last month is May."""
    asked = ask(memory, retrieves("Momoco", start_time="last month", end_time="last month"), finishes("unknown"))

    assert asked.calls == [
        "semantic_retrieve(query: Momoco, start_time: 2023-05, start_operator: ge, end_time: 2023-05, end_operator: le)"
    ]
    assert {fact.turns for fact in asked.trace.facts.values()} == {("D2:1",)}


@both_profiles
def test_unusable_steps_fall_back_on_reading(memory: Memory, book: PromptBook) -> None:
    """What was found until then is read with the prompt that every reasoner reads with."""
    asked = ask(memory, retrieves("Momoco"), RUBBISH, RUBBISH, says("(Tom, visited", answer="Tom"), book=book)

    assert asked.steps == ["remem", "retrieve", "remem", "read"]
    assert (asked.trace.answer, asked.trace.stopped) == ("Tom", Stop.UNUSABLE_REPLY)
    assert asked.trace.notes


@both_profiles
def test_an_unusable_last_answer_is_a_failure(memory: Memory, book: PromptBook) -> None:
    """It is not taken for unknown."""
    trace = ask(memory, retrieves("Momoco"), RUBBISH, RUBBISH, book=book, steps=1).trace

    assert (trace.status, trace.stopped) == (Status.FAILED, Stop.LIMIT)


def test_the_question_s_scope_and_time_hold_for_the_tools(memory: Memory) -> None:
    """What was told after the time of asking is not found; nor is another conversation's."""
    early = Question(QUESTION, ASKED, as_of=SAID + timedelta(hours=1))
    asked = ask(memory, retrieves("Priya Tom moved visited"), finishes("unknown"), question=early)
    elsewhere = Question(QUESTION, ASKED, conversations=("elsewhere",))

    assert {fact.turns[0] for fact in asked.trace.facts.values()} <= {"D1:1", "D1:2"}
    assert asked.trace.facts
    assert not ask(memory, retrieves("Momoco"), steps=1, question=elsewhere).trace.facts


def test_what_several_said_reads_without_a_speaker() -> None:
    """A gist of two people's turns has none, and its line begins with what it tells."""
    both = Fact("F1", "u", ("D1:1", "D1:2"), "chat", "", SAID, "Priya and Tom moved.")

    assert fact_line(both) == "F1. Priya and Tom moved. [said 1:56 pm, 8 May 2023]"


def test_what_the_budget_leaves_no_room_for_is_counted(memory: Memory) -> None:
    """A found fact that is not shown is not the same as nothing found."""
    asked = ask(memory, retrieves("Momoco"), finishes("unknown"), budget=Budget(1))

    assert re.search(r"^Found: F1; \d that there is no room for$", asked.model.seen[1].growing, re.MULTILINE)
    assert len(asked.trace.facts) == 1
    assert asked.trace.actions[1].skipped > 0


@both_profiles
def test_one_retrieval_then_the_answer(memory: Memory, book: PromptBook) -> None:
    """`remem-single` shows gists and facts in turn, best first, and reads the answer: one call."""
    model = ScriptedModel([says("(Tom, visited", answer="Tom")])
    reasoner = RememSingle(Tools(memory, model, book, Budget(), "scripted"), memory)
    trace = reasoner.answer(Question("Who visited Momoco yesterday?", ASKED))

    assert (trace.reasoner, trace.answer, trace.stopped) == (SINGLE, "Tom", Stop.ONE_ROUND)
    assert [action.name for action in trace.actions] == ["retrieve", "read"]
    assert {fact.text[0] == "(" for fact in list(trace.facts.values())[:2]} == {True, False}
    assert model.calls == 1


def test_with_tiser_the_answer_is_read_from_a_timeline(memory: Memory) -> None:
    """Once the agent would answer, and where its steps are used up: the timeline decides, over all it observed."""
    told = {"reasoning": "r", "timeline": ["7 May 2023 - a visit"], "reflection": "right"}

    def checked(request: Request) -> str:
        return json.dumps({**told, "facts": [number_of(request, "(Tom, visited")], "answer": "Tom"})

    book = PromptBook.load(None, "full", TISER_STEPS)
    finished: list[Reply] = [retrieves("Momoco"), finishes("2", "(Tom, visited"), checked]
    for replies, steps in ((finished, 5), (finished[::2], 1)):
        left = list(replies)
        model = ScriptedModel(partial(_next, left))
        tools = Tools(memory, model, book, Budget(), "scripted")
        trace = RememTiser(tools, memory, steps).answer(Question(QUESTION, ASKED))
        assert (trace.reasoner, trace.answer) == ("remem-tiser", "Tom")
        assert [action.name for action in trace.actions][-1] == "tiser"
        assert not left


@pytest.mark.parametrize("name", [NAME, SINGLE, WITH_TISER])
def test_both_are_made_over_their_backbone_alone(memory: Memory, store: Store, name: str) -> None:
    """Another backbone has no graph to explore: that is said, with what to do."""
    entry = REASONERS[name]
    model = ScriptedModel([])
    sources = Sources(store)

    assert isinstance(entry.build(Tools(memory, model, FULL), sources), Remem | RememSingle)
    with pytest.raises(UsageError) as caught:
        entry.build(Tools(ListBackbone(), model, FULL), sources)
    assert caught.value.hint == "--backbone remem"


@both_profiles
@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**9), units=st.integers(1, 60), tokens=st.integers(0, 600))
def test_whatever_the_model_writes(memory: Memory, book: PromptBook, seed: int, units: int, tokens: int) -> None:
    """Calls and budget keep their bounds, and nothing is cited that was not found."""
    model = ScriptedModel(Adversary(seed))
    tools = Tools(memory, model, book, Budget(units, tokens), "adversary")
    trace = Remem(tools, memory, RECOLLECTION).answer(Question(QUESTION, ASKED))
    found = [number for action in trace.actions for number in action.new_facts]

    assert trace.usage.calls == model.calls <= 2 * calls(RECOLLECTION)[1]
    assert len(found) == len(set(found)) == len(trace.facts) <= units
    assert set(trace.evidence) <= set(found)
    assert (trace.answer is not None) == (trace.status is Status.ANSWERED)
    assert (trace.failure is not None) == (trace.status is Status.FAILED)
    assert from_document(json.loads(json.dumps(as_document(trace)))) == trace
