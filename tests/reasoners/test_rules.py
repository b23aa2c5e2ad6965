"""Rules that proved themselves: which questions begin with one, what that answers, and what a rule may hold.

The questions are in paraphrases.yaml. The scripted model is gullible: it proves whatever plan it is given, wherever the
turns say so. So an answer is right only where the plan is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.records import Begun
from goalmem_cli.reasoners.rules.forms import taken_apart
from goalmem_cli.reasoners.rules.learning import RuleFirst, begun_with, learned
from goalmem_cli.records import Question
from goalmem_cli.render.sharing import proof_text
from goalmem_cli.render.tree import rule_line
from goalmem_cli.store.rules import KeptRule, RuleFile
from goalmem_cli.testing import ListBackbone, Reply, ScriptedModel
from goalmem_cli.trace import Status, Trace, as_document, from_document
from tests.conftest import CHECKOUT
from tests.reasoners.scripting import (
    MOMENT,
    TOGETHER,
    Claimed,
    answered,
    chat,
    claims,
    grounds,
    number_of,
    plan,
    proved,
    unified,
    wants,
)

WRITTEN: Mapping[str, Any] = yaml.safe_load(
    (CHECKOUT / "tests" / "reasoners" / "paraphrases.yaml").read_text(encoding="utf-8")
)
FORMS: Sequence[Mapping[str, Any]] = WRITTEN["forms"]
NAMES: Sequence[str] = WRITTEN["names"]
LOOK_ALIKE = 6
"""Whose names the questions that look alike have; 0 are those of the question that a rule is learned from."""


def filled(text: str, form: Mapping[str, Any], which: int) -> str:
    """Return a text of a form with the names and values of this number."""
    values = {"1": NAMES[which]} | {key: str(form[key][which]) for key in ("2", "x", "y") if key in form}
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value)
    return text


@dataclass(frozen=True)
class Asked:
    """A question of the data with its plan, its turns, and the answer."""

    question: str
    goal: str
    subgoals: tuple[str, ...]
    said: tuple[str, ...]
    values: Mapping[str, str]

    @property
    def answer(self) -> str:
        return self.values["x"]

    @property
    def claims(self) -> list[Claimed]:
        """What the turns say of each subgoal."""
        values: Mapping[str, Any] = self.values
        return [
            claims(number, said, **{name: value for name, value in values.items() if f"({name}:" in subgoal})
            for number, (subgoal, said) in enumerate(zip(self.subgoals, self.said, strict=True), 1)
        ]


def asked(form: Mapping[str, Any], which: int, wording: str = "") -> Asked:
    """Return the form's question about these names, in this wording."""
    fill = partial(filled, form=form, which=which)
    values = {name: str(form[name][which]) for name in ("x", "y") if name in form}
    return Asked(
        fill(wording or form["question"]), fill(form["goal"]), tuple(map(fill, form["subgoals"])),
        tuple(map(fill, form["said"])), values,
    )  # fmt: skip


EVERY = [asked(form, which) for form in FORMS for which in range(len(NAMES))]
WORDINGS = [
    (number, asked(form, which, wording))
    for number, form in enumerate(FORMS)
    for which, wording in enumerate(form["other wordings"], 1)
]
TURNS = chat(*(f"Zoe: {said}" for each in EVERY for said in each.said))


def gullible(own: Asked | None) -> Callable[[Request], str]:
    """Return a model that plans as the data say (None: not at all), and proves every plan for which there are turns."""

    def reply(request: Request) -> str:
        is_planning = "goal" in getattr(request.shape, "schema", {})["properties"]
        given = [each for each in EVERY if all(f". {subgoal} -- " in request.tail for subgoal in each.subgoals)]
        known = own if own is not None and is_planning else next(iter(given), None)
        if known is None:
            written = plan("(nothing) is (x:known)", "(nothing) is (x:known)") if is_planning else ""
            return proved(plan=written, status="stop")(request)
        written = plan(known.goal, *known.subgoals) if is_planning else ""
        seen = [claim for claim in known.claims if claim[1][0] in request.growing]
        missing = [claim for claim in known.claims if claim not in seen]
        wished = [wants(claim[0], *(claim[2].values() if seen else ())) for claim in missing]  # what the others bind
        status = "look" if missing else "settled"
        wording = "unknown" if missing else known.answer
        return proved(*seen, plan=written, open=wished, status=status, wording=wording)(request)

    return reply


def engine(model: ScriptedModel, begun: Begun | None) -> GoalMem:
    """Return the engine over all turns."""
    return GoalMem(ListBackbone(TURNS), model, TOGETHER, Limits(), planning="together", begun=begun)


def answer(rules: RuleFile | None, own: Asked | None, question: str) -> Trace:
    """Return the trace of a question, asked with these rules or without."""
    make = partial(engine, ScriptedModel(gullible(own)))
    reasoner = make(None) if rules is None else RuleFirst(rules, make)
    return reasoner.answer(Question(question, MOMENT))


@cache
def _learned() -> tuple[KeptRule, ...]:
    """Return the rules that the first question of each form leaves."""
    rules = [learned(answer(None, asked(form, 0), asked(form, 0).question), _question(form)) for form in FORMS]
    assert None not in rules
    return tuple(rule for rule in rules if rule is not None)


def _question(form: Mapping[str, Any]) -> Question:
    return Question(asked(form, 0).question, MOMENT)


@pytest.fixture
def rules(tmp_path: Path) -> RuleFile:
    """The rules of all twenty forms."""
    file = RuleFile(tmp_path)
    file.save(_learned())
    return file


def test_most_other_wordings_begin_with_a_rule_and_none_is_wronger(rules: RuleFile) -> None:
    """Of 100 wordings 70 begin with the rule of their form, and each is answered as it is without."""
    began, right, calls = list[int](), {True: 0, False: 0}, {True: 0, False: 0}
    for number, own in WORDINGS:
        traces = {True: answer(rules, own, own.question), False: answer(None, own, own.question)}
        for is_with, trace in traces.items():
            right[is_with] += trace.answer == own.answer
            calls[is_with] += trace.usage.calls
        assert traces[True].answer == own.answer or traces[False].answer != own.answer, own.question
        if (rule := traces[True].rule) is not None and rule.is_settled:
            assert rule.name == _learned()[number].name, own.question
            began.append(number)
    assert len(began) >= 70
    assert sum(number >= 10 for number in began) >= 30
    assert right[True] >= right[False] >= 95
    assert calls[True] <= calls[False]


def test_places_keep_their_roles_in_another_order(rules: RuleFile) -> None:
    """What stands where in the plan follows from the standard order of words, not from that of the question."""
    form = taken_apart("In June 2022, what did Dave buy?", MOMENT)
    assert form is not None
    rule = next(rule for rule in rules.all() if "bought" in rule.goal)
    begun = begun_with(rule, Question("In June 2022, what did Dave buy?", MOMENT), form)
    assert begun is not None
    assert begun.goal == "(Dave) bought (x:thing) in (June 2022)"


def test_questions_that_look_alike_begin_with_none(rules: RuleFile) -> None:
    """A question of nearly the same words that asks something else is not answered from a rule."""
    for form in FORMS:
        for wording in form["look alike"]:
            trace = answer(rules, None, filled(wording, form, LOOK_ALIKE))
            assert trace.rule is None, trace.question
            assert trace.status is Status.UNKNOWN


def test_roles_tenses_and_negations_make_another_form() -> None:
    """The same words in other places are another form."""
    for left, right in (
        ("Who called Ana?", "Who did Ana call?"),
        ("Where does Ana live?", "Where did Ana live?"),
        ("Where does Ana live?", "Where does Ana live now?"),
        ("Why did Ana leave York?", "Why didn't Ana leave York?"),
        ("Who was visited by Ana?", "Who was visiting Ana?"),
        ("When was Ana's wedding?", "When is Ana's wedding?"),
        ("Where is Ana staying?", "Where is Ana living?"),
        ("Where did Ana see Ben?", "Where did Ana visit Ben?"),
        ("How does Ana play?", "How well does Ana play?"),
        ("What is Ana's sister's dog called?", "What is Ana's dog's sister called?"),
    ):
        forms = [found.form for text in (left, right) if (found := taken_apart(text, MOMENT)) is not None]
        assert len(set(forms)) == 2, (left, right)


def test_a_rule_that_settles_nothing_costs_calls_and_is_given_up(rules: RuleFile) -> None:
    """The question is asked as always, the calls in vain count, and after three failures the rule is not tried."""
    own = asked(FORMS[0], 1)
    spoiled = replace(_learned()[0], subgoals=("({1}) lives at (x:number)",), tried=1, settled=1)
    rules.put(spoiled)
    for _ in range(3):
        trace = answer(rules, own, own.question)
        assert (trace.answer, trace.usage.calls) == (own.answer, 2)
        assert trace.rule is not None
        assert (trace.rule.is_settled, trace.rule.usage.calls) == (False, 1)
        assert "it settled nothing in 1 call" in rule_line(trace.rule)
    (rule,) = (rule for rule in rules.all() if rule.form == spoiled.form)
    assert (rule.tried, rule.settled, rule.calls, rule.is_promising) == (4, 1, 3, False)
    trace = answer(rules, own, own.question)
    assert (trace.answer, trace.rule, trace.usage.calls) == (own.answer, None, 1)


def test_a_plan_that_never_settled_one_gives_way_to_one_that_did(rules: RuleFile) -> None:
    """Where a rule fails at its first question, the plan that settles this one takes its place."""
    own = asked(FORMS[0], 1)
    rules.put(replace(_learned()[0], subgoals=("({1}) lives at (x:number)",)))
    assert answer(rules, own, own.question).usage.calls == 2
    trace = answer(rules, own, own.question)
    assert trace.rule is not None
    assert (trace.rule.is_settled, trace.usage.calls) == (True, 1)


def test_a_trace_shows_the_rule(rules: RuleFile) -> None:
    """Tree and JSON name the rule; the attempts are those of its plan."""
    own = asked(FORMS[0], 3)
    trace = answer(rules, own, own.question)
    assert trace.rule is not None
    assert trace.rule.is_settled
    assert trace.attempts[-1].subgoals == own.subgoals
    assert f"rule: {trace.rule.name}, Where does {{name}} live now? (tried first now)" in proof_text(trace)
    assert from_document(as_document(trace)) == trace
    again = answer(rules, own, own.question)
    assert "settled 1 of 1 question before" in proof_text(again)


def test_a_rule_has_nothing_but_form_and_plan() -> None:
    """No name, thing, time or value of the conversation is in a rule."""
    for form, rule in zip(FORMS, _learned(), strict=True):
        told = " ".join((rule.form, rule.text, rule.goal, *rule.subgoals, *rule.answers)).casefold()
        for key in ("2", "x", "y"):
            assert str(form.get(key, ["?"])[0]).casefold() not in told.replace("?", "")
        assert NAMES[0].casefold() not in told.split()


@pytest.mark.parametrize(
    ("question", "goal"),
    [
        ("Where does Ana live?", "(Ana) lives with (Rufus) in (x:city)"),  # a name from the memory
        ("Where does Ana live?", "(Ana) lives in (x:city near Selby)"),
        ("Where does Ana live with Ben?", "(Ana) lives in (x:city)"),  # Ben is left out
        ("Where does she live?", "(Ana) lives in (x:city)"),  # whoever was spoken of before
        ("When did Ana move in May 2023?", "(Ana) moved on (x:date) in (2023-05)"),
    ],
)
def test_no_rule_is_made_of_what_is_not_the_questions(question: str, goal: str) -> None:
    """A plan with other words than the question's, or without one of its names or times, makes no rule."""
    turns = chat("Zoe: Ana lives with Rufus in Leeds since she moved on 3 May 2023.")
    value = "3 May 2023" if "date" in goal else "Leeds"
    found = proved(claims(1, "Ana lives", x=value), plan=plan(goal, goal), status="settled", wording=value)
    asking = Question(question, MOMENT)
    begun = GoalMem(ListBackbone(turns), ScriptedModel([found]), TOGETHER, Limits(), planning="together")
    trace = begun.answer(asking)
    assert trace.status is Status.ANSWERED
    assert learned(trace, asking) is None


def test_the_asker_is_a_place_of_its_own() -> None:
    """ "I" is whoever asks: the plan of one asker serves another."""
    turns = chat("Zoe: I live in Leeds.")
    found = proved(
        claims(1, "live in Leeds", x="Leeds"), plan=plan("(Zoe) lives in (x:city)", "(Zoe) lives in (x:city)"),
        status="settled", wording="Leeds",
    )  # fmt: skip
    asking = Question("Where do I live?", MOMENT, "Zoe")
    make = GoalMem(ListBackbone(turns), ScriptedModel([found]), TOGETHER, Limits(), planning="together")
    rule = learned(make.answer(asking), asking)
    assert rule is not None
    assert rule.subgoals == ("({0}) lives in (x:city)",)
    text = "Can you tell me where I live?"
    form = taken_apart(text, MOMENT)
    assert form is not None
    begun = begun_with(rule, Question(text, MOMENT, "Yan"), form)
    assert begun is not None
    assert begun.subgoals == ("(Yan) lives in (x:city)",)
    assert begun_with(rule, Question(text, MOMENT), form) is None


def test_the_paper_prover_saves_the_call_that_plans() -> None:
    """With one call a step, a rule saves the decomposition."""
    from goalmem_cli.reasoners.goal_mem import GoalMem as Engine
    from tests.reasoners.scripting import FULL

    own = asked(FORMS[0], 2)
    begun = Begun(own.goal, own.subgoals, ("x",))
    replies: list[Reply] = [unified(grounds(1, own.said[0], x=own.answer)), answered(own.answer)]
    model = ScriptedModel(replies)
    trace = Engine(ListBackbone(TURNS), model, FULL, Limits(), planning="paper", begun=begun).answer(
        Question(own.question, MOMENT)
    )
    assert (trace.answer, model.calls) == (own.answer, 2)
    assert number_of(model.seen[0], own.said[0])


def test_a_file_that_is_none_of_rules_stops_no_question(rules: RuleFile) -> None:
    """A damaged file counts as no rules; the answer stands, and the trace says that its rule was not kept."""
    rules.path.write_text("[3]", encoding="utf-8")
    own = asked(FORMS[0], 1)
    trace = answer(rules, own, own.question)
    assert (trace.answer, trace.rule) == (own.answer, None)
    assert any("the rule was not kept" in note for note in trace.notes)
