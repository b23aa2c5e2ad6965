"""Replies that break their form: what still stands in them is read, named as repaired, and nothing else is."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.pool import Pool
from goalmem_cli.reasoners.goal_mem.provers.mending import mended_json, mended_plan
from goalmem_cli.reasoners.goal_mem.provers.together import PROVE, for_round, read_proof
from goalmem_cli.reasoners.goal_mem.records import Proposed, Round, Spending
from goalmem_cli.records import Question
from goalmem_cli.testing import ListBackbone, ScriptedModel
from tests.lab.evaluation.gold_replies import GoldReplies
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
    return replace(proposed, repairs=(*repairs, *proposed.repairs))


def stands(proposed: Proposed) -> set[tuple[object, ...]]:
    """Return what the claims say of which subgoal, whatever letters and types the plan has: facts, verdict, and the
    values in the order of the variables, with those that are the answer marked.
    """
    plan = proposed.plan
    assert plan is not None
    return {
        (
            claim.subgoal,
            claim.facts,
            claim.verdict,
            *(
                (claim.bindings.get(v.name), v.name in plan.answer_variables)
                for v in plan.subgoals[claim.subgoal].variables
            ),
        )
        for claim in proposed.claims
    }


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
    written = {**reply, "answer": [re.sub(r"\b([xyzw])\b", r"(\1:)", text) for text in reply["answer"]]}
    text = re.sub(r'\((?=[xyzw]:)([xyzw])|"([xyzw])"', _other_letter, json.dumps(written))
    return re.sub(r"\(([abcd]):\)", r"\1", text)


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
    stood = kept = named = changed = 0
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
        changed += text != json.dumps(reply) and way != "keys in another order"

    assert stood > 40
    assert kept >= LEAST * stood, f"{kept} of {stood}"
    assert named >= 0.8 * changed  # an empty answer that is no list needs no repair


def test_what_can_be_read_is_left_as_it_is() -> None:
    """A reply of the right form has no repair, and its plan is the one that it writes."""
    for question, reply in gold():
        proposed = read(json.dumps(reply), question)

        assert proposed.plan is not None and proposed.repairs == ()
        assert str(proposed.plan.goal) == reply["goal"]
        assert mended_plan(reply, question).subgoals == tuple(reply["subgoals"])


RUBBISH = (
    "",
    "no json",
    "{}",
    "[]",
    "3",
    '{"groundings": 3}',
    "[" * 2000,
    "{" * 500,
    "{" * 16_000,
    "/*" * 4000,
    '{"subgoals": []}',
    '{"answer": "x"}',
)


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
    assert proposed.repairs == ("the goal was made of the question", "nothing needs (z:harbour) has a lighthouse")
    assert proposed.plan.left_out == ("(z:harbour) has a lighthouse",) and proposed.is_disorderly


PLAN: Gold = {
    "goal": "(Iva)'s friend lives in (x:place)", "current": False, "conclusion": False, "variables": [], "answer": ["x"],
    "subgoals": ["(y:person) is a friend of (Iva)", "(y:person) lives in (x:place)"],
}  # fmt: skip
HELD: Gold = {
    "subgoal": "S2", "facts": ["F2"], "verdict": "entailed", "why": "", "instead": False,
    "bindings": [{"variable": "y", "value": "Mo"}, {"variable": "x", "value": "Vigo"}],
}  # fmt: skip
REST: Gold = {"several": [], "same": [], "open": [], "next": [], "status": "settled", "wording": "Vigo"}
FRIEND = Question("Where does Iva's friend live?", MOMENT)


def reply(held: Gold = HELD, **plan: object) -> str:
    """Return a reply about Iva's friend with one grounding."""
    return json.dumps(PLAN | plan | {"groundings": [held]} | REST)


@pytest.mark.parametrize(
    "text",
    [
        reply(answer=["x", "v"]),
        reply(subgoals=[*PLAN["subgoals"], "( )"]),
        reply(subgoals=["", *PLAN["subgoals"]]),
        reply(subgoals=[*PLAN["subgoals"], f"(y:person) {'lives ' * 60} in (Osaka:city)"]),
        reply(subgoals=[*PLAN["subgoals"], *(f"(y:person) likes (thing {n})" for n in range(3))]),
        reply(subgoals=["Who is Iva's friend?", "Where does he live?"]),
        reply(
            goal=FRIEND.text, subgoals=["(x:person) is a friend of (Iva)", "(x:person) knows (y:person)"], answer=["w"]
        ),
        reply().split('"value": "Vigo')[0] + '"value": "Vi',
        reply()[: reply().index('"several"') - 3],
    ],
)
def test_what_would_change_a_plan_or_a_value_is_unusable(text: str) -> None:
    """An answer that is not clear, a subgoal lost or cut, and a grounding that was cut off."""
    with pytest.raises(ReplyUnusable):
        read(text, FRIEND)


@pytest.mark.parametrize(
    ("change", "claims"),
    [
        ({"facts": ["21 May: F3"]}, [(1, ("F3",))]),
        ({"facts": ["F1, F2"]}, [(1, ("F1", "F2"))]),
        ({"subgoal": "grounding 1 of S2"}, [(1, ("F2",))]),
        ({"subgoal": "(y:person) bought (2 cakes)"}, [(-1, ("F2",))]),
        ({"verdict": "belegt"}, []),
        ({"verdict": "of another"}, [(1, ("F2",))]),
    ],
)
def test_labels_and_verdicts_say_no_more_than_they_do(change: Gold, claims: list[tuple[int, tuple[str, ...]]]) -> None:
    """A number in a sentence is no label, and what is no verdict is none."""
    assert [(claim.subgoal, claim.facts) for claim in read(reply(HELD | change), FRIEND).claims] == claims


def test_grounding_without_a_verdict_holds_only_where_nothing_else_is_said() -> None:
    """A reason, or a key of its own, may say the opposite."""
    bare = {key: value for key, value in HELD.items() if key != "verdict"}

    assert [claim.verdict for claim in read(reply(bare), FRIEND).claims] == ["entailed"]
    assert not read(reply(bare | {"why": "F2 says it of Bo"}), FRIEND).claims
    assert not read(reply(bare | {"judgement": "of_another"}), FRIEND).claims


@pytest.mark.parametrize(
    "text",
    [
        reply().replace('"Vigo"}', "7:44}", 1),
        reply().replace('"value": "Vigo"', '"value": "Ann"s cello"', 1),
        reply(HELD | {"why": "}}}}"}).split('"Vigo')[0] + '"Vi',
    ],
)
def test_values_that_swallow_what_follows_are_none(text: str) -> None:
    """A missing quote, and a reply that is cut off behind brackets in a text."""
    try:
        proposed = read(text, FRIEND)
    except ReplyUnusable:
        return
    assert all(claim.bindings.get("x") is None for claim in proposed.claims)


def test_grounding_without_a_verdict_says_nothing_where_the_reply_refuses() -> None:
    """What says that it does not know settles nothing."""
    bare = {key: value for key, value in HELD.items() if key != "verdict"}
    text = json.dumps(PLAN | {"groundings": [bare]} | REST | {"status": "stop", "wording": "unknown"})

    assert not read(text, FRIEND).claims


def test_refusal_in_order_is_not_disorderly() -> None:
    """One label too many changes nothing of a reply that refuses."""
    denied = [HELD | {"verdict": "of_another", "bindings": [], "subgoal": label} for label in ("S1", "S3")]
    rest = REST | {"status": "stop", "wording": "unknown"}

    assert not read(json.dumps(PLAN | {"groundings": denied} | rest), FRIEND).is_disorderly


def test_what_only_looks_like_a_variable_stays() -> None:
    """A drive, a vitamin, a generation."""
    plan: Gold = {"subgoals": ["(y:person) keeps it on drive z: daily", "(y:person) lives in (x:place)"]}
    asked = Question("Where does the friend of generation Y live?", MOMENT)
    first, second = read(reply(**plan), FRIEND), read(reply(subgoals=["(x:place) is of generation (y)"]), asked)

    assert first.plan is not None and list(map(str, first.plan.subgoals)) == plan["subgoals"]
    assert second.plan is not None and str(second.plan.subgoals[0]) == "(x:place) is of generation (y)"


def test_letters_of_its_own_do_not_become_the_answer_s() -> None:
    """Where the answer's letter stands in no subgoal, the variable of the goal's type is the answer."""
    text = reply(
        HELD | {"bindings": [{"variable": "a", "value": "Mo"}, {"variable": "b", "value": "Vigo"}]},
        subgoals=["(a:person) is a friend of (Iva)", "(a:person) lives in (b:place)"],
    )
    proposed = read(text, FRIEND)

    assert proposed.plan is not None
    assert proposed.claims[0].bindings[proposed.plan.answer_variables[0]] == ("Vigo",)


@pytest.mark.parametrize("answer", [["the place"], ["y (place)"], "y"])
def test_answer_is_what_the_question_asks_for(answer: object) -> None:
    """Where the goal is the question as it stands, its letter says nothing, and its type does."""
    subgoals = ["(x:person) is a friend of (Iva)", "(x:person) lives in (y:place)"]
    proposed = read(reply(goal=FRIEND.text, subgoals=subgoals, answer=answer), FRIEND)

    assert proposed.plan is not None and proposed.plan.answer_variables == ("y",)


def test_several_values_of_a_letter_are_kept_and_no_number_is_none() -> None:
    """A list of values is several bindings; what JSON has for no number is no value."""
    two = HELD | {"bindings": [{"variable": "y", "value": "Mo"}, {"variable": "x", "value": ["Vigo", "Brest"]}]}
    odd = reply(HELD | {"bindings": [{"variable": "x", "value": float("nan")}]})

    assert read(reply(two), FRIEND).claims[0].bindings["x"] == ("Vigo", "Brest")
    assert not read(odd, FRIEND).claims[0].bindings


def test_constants_of_one_letter_stay_where_no_variable_has_it() -> None:
    """Team u is a team."""
    plan: Gold = {"subgoals": ["(y:person) plays in (team:u)", "(y:person) lives in (x:place)"]}
    proposed = read(reply(**plan), FRIEND)

    assert proposed.plan is not None and list(map(str, proposed.plan.subgoals)) == plan["subgoals"]
