"""Answers that the engine computes: the plan names the expression, the groundings give its values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from goalmem_cli.logic.computing.amounts import UnsettledError, compared, read_amount
from goalmem_cli.logic.computing.expressions import Function, parse_expression, variables_of
from goalmem_cli.logic.computing.kinds import gathered
from goalmem_cli.logic.computing.records import Part
from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.logic.normal import content_stems, numbers
from goalmem_cli.logic.support import Support
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.showing import ShownLine, lines_shown
from goalmem_cli.records import Question, Turn
from goalmem_cli.render.tree import reason_line
from goalmem_cli.testing import ListBackbone, Reply, ScriptedModel
from goalmem_cli.trace import Status, Trace, as_document, from_document
from goalmem_cli.transcripts import read_file
from tests.reasoners.scripting import (
    FULL,
    MOMENT,
    TOGETHER,
    Grounding,
    ask,
    ask_together,
    chat,
    claims,
    grounds,
    plan,
    proved,
    refusals,
    unified,
    wants,
)
from tests.reasoners.test_gold_replay import FOLDER, LIMITS, ROOT

LETTERS = chat(
    "Joanna: A letter from Ben came on 2 May 2023.",
    "Joanna: Another letter, from Ola, came on 9 May 2023.",
    "--",
    "Joanna: Ben sent me one more letter; it came on 17 May 2023.",
)
GOAL = "(Joanna) got a letter from (x:person) on (d:date)"
FOUND = (("from Ben", "Ben", "2 May 2023"), ("Another", "Ola", "9 May 2023"), ("one more", "Ben", "17 May 2023"))
ONE_ROUND = Limits(max_breadth=1, max_depth=0)


def paper(question: str, *answer: str, limits: Limits = ONE_ROUND, written: tuple[Reply, ...] = ()) -> Trace:
    """Return the trace of the letters' plan with that answer, with the prover `paper`, which may word it."""
    groundings = [grounds(1, text, x=name, d=day) for text, name, day in FOUND]
    replies: list[Reply] = [plan(GOAL, GOAL, answer=answer), unified(*groundings), *written]
    return ask(LETTERS, question, *replies, limits=limits, asked=datetime(2023, 6, 1))[0]


def together(question: str, *answer: str) -> Trace:
    """Return the trace of the letters' plan with that answer, with the prover `together`."""
    written = plan(*[GOAL.replace("d:", "z:")] * 2, answer=answer)
    groundings = [claims(1, text, x=name, z=day) for text, name, day in FOUND]
    reply = proved(*groundings, plan=written, status="settled", wording="7 letters")
    return ask_together(LETTERS, question, reply, limits=ONE_ROUND)[0]


@pytest.mark.parametrize(
    ("question", "answer", "computed"),
    [
        ("How many letters has Joanna received?", "count(x)", "3"),
        ("Who wrote to Joanna last?", "last(x by d)", "Ben"),
        ("Whose was the second letter?", "nth(x by d, 2)", "Ola"),
        ("Who wrote to Joanna most often?", "most(x)", "Ben"),
        ("Who but Ben wrote to Joanna?", "without(x, 'Ben')", "Ola"),
    ],
)
def test_the_engine_computes_what_no_turn_says(question: str, answer: str, computed: str) -> None:
    """Two letters of one person on two days are two; the value comes from the groundings, whatever a model would word."""
    for trace in (paper(question, answer), together(question, answer.replace("by d", "by z"))):
        assert (trace.status, trace.answer) == (Status.ANSWERED, computed)
        assert [calculation.support for calculation in trace.calculations] == [Support.DERIVED]


@pytest.mark.parametrize(
    ("worded", "status", "answer"),
    [
        ("three letters", Status.ANSWERED, "three letters"),
        (" ", Status.ANSWERED, "Ben, Ola"),
        ("unknown", Status.UNKNOWN, None),
        ("Not mentioned.", Status.UNKNOWN, None),
    ],
)
def test_as_in_the_paper_the_model_writes_the_answer(worded: str, status: Status, answer: str | None) -> None:
    """With `generates` nothing is computed, and what the model writes over the proof stands (GOAL-MEM 4.4).

    A refusal answers nothing; for a blank answer the bindings stand.
    """
    written = (json.dumps({"answer": worded}),) * 2
    limits = replace(ONE_ROUND, generates=True)
    trace = paper("How many letters has Joanna received?", "count(x)", limits=limits, written=written)
    assert (trace.status, trace.answer, trace.calculations) == (status, answer, ())


def test_each_thing_that_was_counted_cites_its_turns() -> None:
    """The calculation says what was counted and by which facts, and stands in the JSON document."""
    trace = paper("How many letters has Joanna received?", "count(x)")
    (found,) = trace.calculations

    assert found.parts == (Part("Ben", ("F1",)), Part("Ola", ("F2",)), Part("Ben", ("F3",)))
    assert (found.expression, found.how, found.facts) == ("count(x)", "Ben, Ola, Ben: 3", ("F1", "F2", "F3"))
    assert from_document(json.loads(json.dumps(as_document(trace)))) == trace


def test_the_time_of_asking_is_now() -> None:
    """What lies between a date and now ends on the day of asking."""
    trace = ask(
        LETTERS, "How long ago did Ola write?", plan("(Ola) wrote on (x:date)", "(Ola) wrote on (x:date)",
        answer=["between(x, now)"]), unified(grounds(1, "Ola", x="9 May 2023")), limits=ONE_ROUND,
        asked=datetime(2023, 5, 21),
    )[0]  # fmt: skip

    assert (trace.answer, trace.calculations[0].how) == ("12 days", "9 May 2023 to 21 May 2023 is 12 days")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("count(y)", "the answer variable y stands in no subgoal"),
        ("weekday(count(x))", "weekday cannot take count(x): it is a number"),
        ("without(x, 'Mary')", "'Mary', which does not stand in the question"),
        ("total(x)", "there is no function 'total'"),
    ],
)
def test_an_expression_that_does_not_fit_is_refused_and_the_plan_asked_for_once_more(answer: str, why: str) -> None:
    """The second request says what was wrong with it."""
    good = plan(GOAL, GOAL, answer=["count(x)"])
    schema = FULL["decompose"].schema
    assert schema is not None
    groundings = unified(*(grounds(1, text, x=name, d=day) for text, name, day in FOUND))
    trace, model = ask(
        LETTERS, "How many letters has Joanna received?", plan(GOAL, GOAL, answer=[answer]), good, groundings,
        limits=ONE_ROUND,
    )  # fmt: skip

    assert trace.answer == "3"
    told = model.seen[1].tail
    assert why in told or (answer == "total(x)" and "does not match" in told)


def test_what_the_values_do_not_settle_is_unknown_with_the_reason() -> None:
    """Two things of one month have no order; the question ends unknown, and says which two."""
    turns = chat("Ann: I got the cat in May 2023.", "Ann: The dog came in May 2023 too.")
    subgoals = ["(Ann) got the cat in (x:date)", "(Ann) got the dog in (y:date)"]
    trace = ask(
        turns, "Which did Ann get first, the cat or the dog?", plan("(Ann) got (x:date) and (y:date)", *subgoals,
        answer=["earlier(the cat: x, the dog: y)"]),
        unified(grounds(1, "cat", x="May 2023"), grounds(2, "dog", y="May 2023")), limits=ONE_ROUND,
    )[0]  # fmt: skip

    assert (trace.status, trace.answer) == (Status.UNKNOWN, None)
    assert reason_line(trace) == (
        "the answer cannot be computed: the order of the cat May 2023 and the dog May 2023 is not settled"
    )


@pytest.mark.parametrize(
    ("turns", "question", "goal", "found", "answer", "how"),
    [
        pytest.param(
            ("Ann: The sofa was 1.150 euros.", "Ann: The desk was 300 euros.", "Ben: I paid 12,50 euros, Ann."),
            "What did Ann pay in all?", "(Ann) paid (p:price*) for (x:thing*)",
            (grounds(1, "sofa", p="1.150 euros", x="sofa"), grounds(1, "desk", p="300 euros", x="desk")),
            "1,450 euros", "1,150 euros + 300 euros = 1,450 euros", id="1.150 is read as the talk writes 12,50",
        ),
        pytest.param(
            ("Ann: My cousin sold three of my lamps, 20 each.", "Ben: Sixty euros for lamps!"),
            "What did Ann's cousin get for the lamps?", "(the cousin of Ann) got (p:price*) for lamps",
            (grounds(1, "20 each", p="20"), grounds(1, "Sixty", p="sixty euros")),
            "60 euros", "3 × 20 = 60 euros; sixty euros is the total of 3 × 20, and no further part",
            id="parts and their total are not added up",
        ),
    ],
)  # fmt: skip
def test_sums_are_read_as_the_conversation_means_them(
    turns: tuple[str, ...], question: str, goal: str, found: tuple[Grounding, ...], answer: str, how: str
) -> None:
    """The calculation says how numbers were read, and what was not added."""
    planned = plan(goal, goal, answer=["sum(p)"])
    trace = ask(chat(*turns), question, planned, unified(*found), limits=ONE_ROUND)[0]

    assert (trace.answer, trace.calculations[0].how) == (answer, how)


def test_the_cheapest_of_three_is_found_in_their_list() -> None:
    """What "the cheapest of the three" names another turn tells, with the prices; the product is of two subgoals."""
    turns = chat(
        "Ann: The oak table is 2000 euros, the ash one 1.150,50 euros, the pine one 1250 euros.",
        "Ann: We took the cheapest of the three tables.", "Ann: Four chairs came with the table, at 45 euros each.",
    )  # fmt: skip
    goal, prices = "(x:table) costs (p:price)", (("oak", "2000"), ("ash", "1.150,50"), ("pine", "1250"))
    found = unified(*(grounds(1, "oak", x=name, p=f"{price} euros") for name, price in prices))
    cheapest = ask(turns, "Which table did Ann take, the cheapest of three?",
                   plan(goal, goal, answer=["least(x by p)"]), found, limits=ONE_ROUND)[0]  # fmt: skip
    chairs = "(n:number of chairs) chairs came with the table at (p:price) each"
    cost = ask(turns, "How much were the chairs of the table?", plan(chairs, chairs, answer=["product(n, p)"]),
               unified(grounds(1, "Four", n="four", p="45 euros")), limits=ONE_ROUND)[0]  # fmt: skip

    assert (cheapest.answer, cheapest.status) == ("ash", Status.ANSWERED)
    assert (cost.answer, cost.calculations[0].how) == ("180 euros", "4 × 45 euros = 180 euros")


@pytest.mark.parametrize(
    ("question", "asked", "answer", "how"),
    [
        ("How long has Ann played?", datetime(2025, 6, 3), "3 years when it was said, in May 2023",
         "if it went on, about 5 years on 3 June 2025"),
        ("How many years has Ann played?", datetime(2025, 6, 3), "3 years when it was said, in May 2023",
         "if it went on, about 5 years on 3 June 2025"),
        ("How long has Ann played?", datetime(2023, 9, 1), "3 years", ""),
        ("How long did Ann play?", datetime(2025, 6, 3), "3 years", ""),
    ],
)  # fmt: skip
def test_how_long_something_has_gone_on_says_when_that_was_said(
    question: str, asked: datetime, answer: str, how: str
) -> None:
    """Three years in 2023 are five in 2025: the answer says when it was told, the calculation how long it is by now."""
    turns = chat("Ann: I have played for three years.")
    goal = "(Ann) has played for (x:duration)"
    found = unified(grounds(1, "played", x="3 years"))
    trace = ask(turns, question, plan(goal, goal, answer=["duration(x)"]), found, limits=ONE_ROUND, asked=asked)[0]

    assert (trace.answer, trace.calculations[0].how) == (answer, how)


LAMPS = chat(
    "Ann: My cousin is selling lamps for me, she asks 20 euros each.", "Ben: Good luck!", "--", "Ben: It rains.", "--",
    "Ben: Look, three lamps went to neighbours!",
)  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (["product(x, y)"], "60 euros"),
        ([], "20 euros, three"),
        (["y"], "20 euros, three"),
        (["sum(x)"], "20 euros, three"),
    ],
)
def test_a_given_plan_may_have_another_answer_where_it_is_computed(answer: list[str], found: str) -> None:
    """Facts of a further round show that it has to be a product; plain variables stay as they were planned."""
    subgoals = ("(the cousin of Ann) asks (x:price) for lamps", "(y:number) lamps went to neighbours")
    written = plan("(Ann) got (x:price) for lamps", *subgoals, answer=["x", "y"])
    trace, model = ask_together(
        LAMPS, "What did Ann's cousin ask?",
        proved(claims(1, "20 euros", x="20 euros"), plan=written, open=[wants(2, "lamps went to the neighbours")]),
        proved(claims(2, "three lamps", y="three"), status="settled", wording="20 euros, three", answer=answer),
    )  # fmt: skip

    assert (trace.status, trace.answer, model.calls) == (Status.ANSWERED, found, 2)
    assert "Answer: x" in model.seen[1].tail


def test_another_answer_that_the_plan_does_not_allow_is_asked_for_again() -> None:
    """It has to be computed from the subgoals that are there; then it takes every value, as if it had been planned."""
    subgoals = ("(the cousin of Ann) asks (x:price) for lamps", "(y:number) lamps went to neighbours")
    written = plan("(Ann) got (x:price) for lamps", *subgoals)
    second = claims(2, "three lamps", y="three")
    trace, model = ask_together(
        LAMPS, "What did Ann's cousin ask?",
        proved(claims(1, "20 euros", x="20 euros"), plan=written, open=[wants(2, "lamps went to the neighbours")]),
        proved(second, status="settled", answer=["product(x, z)"]),
        proved(second, status="settled", answer=["sum(x)"]),
    )  # fmt: skip

    assert (trace.answer, model.calls) == ("20 euros", 3)
    assert "the answer variable z stands in no subgoal" in model.seen[2].tail


def test_the_prompts_know_every_function() -> None:
    """The schemas of both orders list the functions that there are, and no other."""
    for schema in (FULL["decompose"].schema, TOGETHER["plan_and_prove"].schema):
        text = yaml.safe_dump(schema, width=1000)
        listed = text.split("|(")[1].split(")")[0]
        assert set(listed.split("|")) == set(Function)


LISTED = yaml.safe_load(Path(__file__).with_name("computed_questions.yaml").read_text(encoding="utf-8"))
CORPUS = [entry for entry in LISTED["corpus"] if (FOLDER / f"{entry['file']}.json").is_file()]
LOCOMO = ROOT.parent / "shared" / "data" / "locomo" / "locomo5.json"


@dataclass(frozen=True, slots=True)
class Told:
    """What the gold plan says of one subgoal: its text, its bindings and the facts that it cites."""

    text: str
    bindings: Mapping[str, Sequence[str]]
    facts: Sequence[str]


@dataclass(frozen=True, slots=True)
class GoldValues:
    """Replies with a plan for the expressions, and with what the gold plan binds of their variables."""

    answers: Sequence[str]
    told: Sequence[Told]
    turns: Mapping[str, Turn]
    texts: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, entry: Mapping[str, Any], gold: Mapping[str, Any], turns: Mapping[str, Turn]) -> GoldValues:
        """Return the gold values of a listed question."""
        expressions = [parse_expression(text) for text in entry["answer"]]
        wanted = list(dict.fromkeys(name for expression in expressions for name in variables_of(expression)))
        lists = frozenset[str]().union(*map(gathered, expressions)) if "one" not in entry else frozenset[str]()
        one = entry.get("one", "")
        told = []
        for name in [*(name for name in wanted if name not in one), *one]:
            step = next(step for step in gold["subgoals"] if name in step["bindings"])
            text, called = step["text"], name
            if name in one:
                called, text = one[0], next(s["text"] for s in gold["subgoals"] if one[0] in s["bindings"])
            bindings = {other: [value] for other, value in step["bindings"].items() if f"({other}:" in step["text"]}
            if name in lists:
                bindings = {other: values[0].split(", ") for other, values in bindings.items()}
            bindings[called] = bindings[name]
            told.append(Told(text, {n: v for n, v in bindings.items() if f"({n}:" in text}, step["facts"][:4]))
        return cls(entry["answer"], told, turns)

    def __call__(self, request: Request) -> str:
        """Return the reply to a step's request."""
        texts = list(dict.fromkeys(told.text for told in self.told))
        if request.step == "decompose":
            return plan(texts[0], *texts, answer=self.answers)
        if request.step != "unify":
            return json.dumps({"status": "stop", "antecedents": []})
        facts = lines_shown(request.growing)
        groundings = []
        for told in self.told:
            label = f"S{texts.index(told.text) + 1}"
            if f"{label}. " in request.tail:
                values = [{"variable": n, "value": value} for n, found in told.bindings.items() for value in found]
                cited = [self._number(name, facts) for name in told.facts]
                groundings.append({"subgoal": label, "facts": cited, "verdict": "entailed", "bindings": values})
        return json.dumps({"groundings": groundings, "same": [], "unresolved": []})

    def _number(self, name: str, facts: Sequence[ShownLine]) -> str:
        return next(line.number for line in facts if line.says(self.turns[name].text))


def replay(entry: Mapping[str, Any]) -> tuple[Mapping[str, Any], Trace]:
    """Return a listed question of the corpus and what the engine makes of its gold values."""
    file = FOLDER / f"{entry['file']}.json"
    conversation = read_file(file)[0]
    gold = json.loads(file.read_text(encoding="utf-8"))["qa"][entry["question"]]
    script = GoldValues.of(entry, gold, {turn.label: turn for turn in conversation.turns})
    named = json.dumps(gold["subgoals"], ensure_ascii=False)
    asker = next((name for name in sorted({turn.speaker for turn in conversation.turns}) if name in named), None)
    engine = GoalMem(ListBackbone(conversation.turns, least=0), ScriptedModel(script), FULL, LIMITS, planning="paper")
    return gold, engine.answer(Question(gold["question"], MOMENT, asker))


def agrees(found: str, gold: str) -> bool:
    """Say whether an answer says what the gold one does: the same thing, amount or length of time, or its numbers."""
    amounts = read_amount(found), read_amount(gold)
    try:
        if amounts[0] is not None and amounts[1] is not None and compared(amounts[0], amounts[1]) == 0:
            return True
    except UnsettledError:
        pass
    is_same = compare(found, gold) in (Equality.EQUAL, Equality.ALIAS)
    stems = content_stems(found), content_stems(gold)
    return is_same or (numbers(found) == numbers(gold) and bool(numbers(gold))) or stems[1] <= stems[0]


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: f"{entry['file']}[{entry['question']}]")
def test_gold_values_give_the_gold_answer(entry: Mapping[str, Any]) -> None:
    """The engine computes from the gold plan's values what the corpus says, and every value that it took cites a fact."""
    gold, trace = replay(entry)

    assert trace.status is Status.ANSWERED, (trace.notes, refusals(trace))
    assert agrees(str(trace.answer), gold["answer"]), (trace.answer, gold["answer"])
    assert [found.expression for found in trace.calculations] == entry["answer"]
    assert all(part.facts for found in trace.calculations for part in found.parts)


def test_the_list_is_long_and_names_no_question_twice() -> None:
    """At least 120 questions are listed, each once; every expression is printed as it is written."""
    places = [(entry.get("file") or entry["sample"], entry["question"]) for part in LISTED.values() for entry in part]

    assert len(places) == len(set(places)) >= 120
    for entry in (*LISTED["corpus"], *LISTED["locomo5"]):
        assert [str(parse_expression(text)) for text in entry["answer"]] == entry["answer"]


@pytest.mark.shared
@pytest.mark.skipif(not LOCOMO.exists(), reason="shared data is not there")
def test_the_list_names_questions_of_locomo_that_have_an_answer() -> None:
    """Each place is there, and none is of an unanswerable question."""
    samples = {sample["sample_id"]: sample["qa"] for sample in json.loads(LOCOMO.read_text(encoding="utf-8"))}

    for entry in LISTED["locomo5"]:
        assert samples[entry["sample"]][entry["question"]]["category"] != 5
