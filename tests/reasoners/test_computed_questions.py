"""The questions of corpus and LoCoMo whose answer no turn says: each has an expression, and the gold values give it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from goalmem_cli.logic.computing.amounts import UnsettledError, compared, read_amount
from goalmem_cli.logic.computing.expressions import parse_expression, variables_of
from goalmem_cli.logic.computing.kinds import gathered
from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.logic.normal import content_stems, numbers
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem import GoalMem
from goalmem_cli.reasoners.showing import ShownLine, lines_shown
from goalmem_cli.records import Question, Turn
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Status, Trace
from goalmem_cli.transcripts import read_file
from tests.reasoners.scripting import FULL, MOMENT, plan
from tests.reasoners.test_gold_replay import FOLDER, LIMITS, ROOT, rejections

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

    assert trace.status is Status.ANSWERED, (trace.notes, rejections(trace))
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
