"""Replies that break their form: what still stands in them is read, named as repaired, and nothing else is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.lab.evaluation.replies import GoldReplies
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.pool import Pool
from goalmem_cli.reasoners.goal_mem.provers.mending import mended_json
from goalmem_cli.reasoners.goal_mem.provers.mending_plans import mended_plan
from goalmem_cli.reasoners.goal_mem.provers.together import PROVE, for_round
from goalmem_cli.reasoners.goal_mem.provers.together_reading import read_proof
from goalmem_cli.reasoners.goal_mem.records import Claim, Proposed, Round, Spending
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone, ScriptedModel
from tests.reasoners.scripting import MOMENT, TOGETHER

SAMPLES = Path(__file__).parents[2] / "sample_convos"
Gold = dict[str, Any]
LEAST = 0.9


@cache
def gold() -> list[tuple[Question, Gold]]:
    """Return the first replies to the samples' questions by their gold plans: plan, proof and wording."""
    found = []
    for file in ("momoco", "work-02", "assistant-01"):
        dataset = read_dataset([SAMPLES / f"{file}.json"])
        (conversation,) = dataset.conversations({case.conversation for case in dataset.cases})
        turns = {turn.label: turn for turn in conversation.turns}
        for case in dataset.cases:
            replies, told = GoldReplies(case, turns), list[str]()

            def reply(request: Request, replies: GoldReplies = replies, told: list[str] = told) -> str:
                told.append(replies(request))
                return told[-1]

            backbone = ListBackbone(conversation.turns, least=0)
            limits = Limits(max_breadth=1, max_depth=0, budget=400, max_fact_tokens=40_000)
            question = Question(case.question, MOMENT, case.asker)
            GoalMem(backbone, ScriptedModel(reply), TOGETHER, limits, planning="together").answer(question)
            first = json.loads(told[0])
            if first["groundings"]:
                found.append((question, first))
    return found


def read(text: str, question: Question) -> Proposed:
    """Return what is read of a reply that plans and proves."""
    pool = Pool(ListBackbone([]), question, Limits(), "full", Spending())
    standing = Round(question, pool)
    reply, repairs = mended_json(text, for_round(TOGETHER[PROVE].schema or {}, standing), {"goal": question.text})
    proposed = read_proof(reply, standing, 4)
    return Proposed(proposed.plan, proposed.claims, repairs=(*repairs, *proposed.repairs), wording=proposed.wording)


def stands(proposed: Proposed) -> set[tuple[object, ...]]:
    """Return what the claims say: their facts and values, whatever letters and types the plan has."""
    return {said(claim) for claim in proposed.claims}


def said(claim: Claim) -> tuple[object, ...]:
    """Return the facts and values of a claim."""
    return claim.facts, frozenset(claim.bindings.values()), claim.verdict


# Twenty and more ways to break a reply


def in_plan(change: Callable[[str], str]) -> Callable[[Gold], str]:
    """Return what changes each text of the plan."""

    def broken(reply: Gold) -> str:
        plan = {"goal": change(reply["goal"]), "subgoals": list(map(change, reply["subgoals"]))}
        return json.dumps(reply | plan)

    return broken


def in_groundings(change: Callable[[Gold], Gold]) -> Callable[[Gold], str]:
    """Return what changes each grounding."""
    return lambda reply: json.dumps(reply | {"groundings": [change(dict(entry)) for entry in reply["groundings"]]})


def in_labels(change: Callable[[str], str]) -> Callable[[Gold], str]:
    """Return what changes the labels of groundings."""
    return in_groundings(lambda entry: entry | {"subgoal": change(entry["subgoal"])})


def other_letters(reply: Gold) -> str:
    """Return the reply with letters of its own for variables."""
    return re.sub(r'\((?=[xyzw]:)([xyzw])|"([xyzw])"', _other_letter, json.dumps(reply))


def _other_letter(found: re.Match[str]) -> str:
    letter = dict(zip("xyzw", "abcd", strict=True))[found[1] or found[2]]
    return f"({letter}" if found[1] else f'"{letter}"'


def without(*keys: str) -> Callable[[Gold], str]:
    """Return what leaves out keys, also of groundings."""

    def broken(reply: Gold) -> str:
        kept = {key: value for key, value in reply.items() if key not in keys}
        kept["groundings"] = [{k: v for k, v in entry.items() if k not in keys} for entry in reply["groundings"]]
        return json.dumps(kept)

    return broken


def cut_off(reply: Gold) -> str:
    """Return the reply without its end, as a model leaves it that says too much."""
    text = json.dumps(reply)
    return text[: text.index('"several"') + 12]


def invented(reply: Gold) -> str:
    """Return the reply with a subgoal that has nothing to do with the others, and brackets that are not closed."""
    return json.dumps(reply | {"subgoals": [*reply["subgoals"][:3], "(u:person) likes (v:music"]})


VARIABLE = re.compile(r"\(([xyzw]):([^)*]*)\*?\)")
BREAKS: dict[str, Callable[[Gold], str]] = {
    "fenced": lambda reply: f"```json\n{json.dumps(reply, indent=2)}\n```",
    "prose around": lambda reply: f"Sure! Here is the proof:\n{json.dumps(reply)}\nI hope this helps.",
    "single quotes": repr,
    "trailing commas": lambda reply: json.dumps(reply).replace("}", ",}").replace("]", ",]").replace("[,]", "[]"),
    "cut off": cut_off,
    "a list around": lambda reply: json.dumps([reply]),
    "keys in another order": lambda reply: json.dumps(dict(reversed(reply.items()))),
    "keys in capitals": lambda reply: json.dumps({key.upper(): value for key, value in reply.items()}),
    "a key of its own": lambda reply: json.dumps({"thoughts": "Let me see.", **reply}),
    "keys left out": without("several", "same", "open", "next", "status", "why", "instead", "current", "conclusion"),
    "wording in German": lambda reply: json.dumps(reply | {"wording": "das steht da", "status": "fertig"}),
    "square brackets": in_plan(lambda text: text.replace("(", "[").replace(")", "]")),
    "braces": in_plan(lambda text: text.replace("(", "{").replace(")", "}")),
    "no brackets for variables": in_plan(lambda text: VARIABLE.sub(lambda found: found[0][1:-1], text)),
    "a bracket not closed": in_plan(lambda text: text[: text.rindex(")")] + text[text.rindex(")") + 1 :]),
    "brackets twice": in_plan(lambda text: text.replace("(", "((").replace(")", "))")),
    "no types": in_plan(lambda text: VARIABLE.sub(r"(\1)", text)),
    "letter and type in another order": in_plan(lambda text: VARIABLE.sub(r"(\2:\1)", text)),
    "other letters": other_letters,
    "the goal is the question": lambda reply: json.dumps(reply | {"goal": "What was it that they said?"}),
    "answer with its type": lambda reply: json.dumps(reply | {"answer": [f"({each}:thing)" for each in reply["answer"]]}),
    "answer no list": lambda reply: json.dumps(reply | {"answer": ", ".join(reply["answer"])}),
    "a subgoal that nothing needs": invented,
    "labels as numbers": in_labels(lambda label: label[1:]),
    "labels in words": in_labels(lambda label: f"Subgoal {label}: proved"),
    "letters in capitals": in_groundings(
        lambda entry: entry | {"bindings": [each | {"variable": each["variable"].upper()} for each in entry["bindings"]]}
    ),
    "bindings by letter": in_groundings(
        lambda entry: entry | {"bindings": {each["variable"]: each["value"] for each in entry["bindings"]}}
    ),
    "groundings by label": lambda reply: json.dumps(
        reply
        | {"groundings": {e["subgoal"]: {k: v for k, v in e.items() if k != "subgoal"} for e in reply["groundings"]}}
    ),
    "facts in one text": in_groundings(lambda entry: entry | {"facts": ", ".join(entry["facts"])}),
    "facts with words": in_groundings(lambda entry: entry | {"facts": [f"Fact {each[1:]}" for each in entry["facts"]]}),
    "verdicts in other words": in_groundings(lambda entry: entry | {"verdict": "Supported"}),
}  # fmt: skip


@pytest.mark.parametrize("way", BREAKS)
def test_what_stands_in_a_broken_reply_is_read(way: str) -> None:
    """Of the groundings that stood, at least nine in ten are read, and the reply's repair is named."""
    stood = kept = named = 0
    for question, reply in gold():
        before = stands(read(json.dumps(reply), question))
        text = BREAKS[way](reply)
        stood += len(before)
        try:
            after = read(text, question)
        except ReplyUnusable:
            continue
        kept += len(before & stands(after))
        named += bool(after.repairs)

    assert stood > 40
    assert kept >= LEAST * stood, f"{kept} of {stood}"
    assert named or way == "keys in another order"


def test_what_can_be_read_is_left_as_it_is() -> None:
    """A reply of the right form has no repair, and its plan is the one that it writes."""
    for question, reply in gold():
        proposed = read(json.dumps(reply), question)

        assert proposed.plan is not None and proposed.repairs == ()
        assert str(proposed.plan.goal) == reply["goal"]
        assert mended_plan(reply, question).subgoals == tuple(reply["subgoals"])


RUBBISH = ("", "no json", "{}", "[]", "3", '{"groundings": 3}', "[" * 2000, '{"subgoals": []}', '{"answer": "x"}')


@pytest.mark.parametrize("text", RUBBISH)
def test_what_says_nothing_is_unusable(text: str) -> None:
    """Nothing is made up for a reply without a plan."""
    with pytest.raises(ReplyUnusable):
        read(text, Question("Where did Iva sail from?", MOMENT))


def test_a_question_for_a_goal_and_letters_without_values() -> None:
    """What a model of 1.5B behind a server wrote: the goal is the question, and no grounding says where."""
    reply = {
        "goal": "Where did Iva sail from?", "current": False, "conclusion": False, "variables": [], "answer": ["x"],
        "subgoals": ["(y:person) sailed from (x:place)", "(z:harbour) has a lighthouse"], "groundings": [
            {"subgoal": "S1", "facts": ["F1"], "verdict": "entailed", "bindings": [], "why": "", "instead": False},
            {"subgoal": "S2", "facts": ["F2"], "verdict": "entailed", "bindings": [], "why": "", "instead": False},
        ], "several": [], "same": [], "open": [], "next": [], "status": "settled", "wording": "x",
    }  # fmt: skip
    proposed = read(json.dumps(reply), Question("Where did Iva sail from?", MOMENT))

    assert proposed.plan is not None
    assert str(proposed.plan.goal) == "(x:place) did (Iva) sail from"
    assert list(map(str, proposed.plan.subgoals)) == ["(y:person) sailed from (x:place)"]
    assert [claim.subgoal for claim in proposed.claims] == [0]
    assert proposed.repairs == (
        "brackets of 'Where did Iva sail from?'", "nothing needs (z:harbour) has a lighthouse",
    )  # fmt: skip
