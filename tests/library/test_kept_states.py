"""What forgetting takes out of kept goals, and how a kept proof begins again."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.library.answering import Terms
from goalmem_cli.library.forgetting import forget
from goalmem_cli.library.goals.adopting import adopt
from goalmem_cli.library.goals.keeping import question_of
from goalmem_cli.library.goals.noticing import _MEANT, LINK, _names_in
from goalmem_cli.library.goals.outcomes import is_same
from goalmem_cli.library.memory import Memory, opened
from goalmem_cli.logic.support import Support
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.goal_mem.kept_proofs import begun_of, depends_on
from goalmem_cli.reasoners.goal_mem.plans import taken_up
from goalmem_cli.records import Hit, Question, Unit
from goalmem_cli.store.goal_records import FORGOTTEN, GoalState, GoalStatus, KeptPlan, Outcome
from goalmem_cli.store.traces import TraceFolder
from goalmem_cli.testing import HashEmbedder, ScriptedModel, faked
from goalmem_cli.trace import Attempt, Ending, Fact, Grounded, Status, Step, Trace
from tests.library.keeping import FIRST_DAY, chat, replies
from tests.reasoners.scripting import another, claims, plan, proved

LINES = [
    "Rosa: I work at Halden, in the archive.", "Bruno: I bought a Saab in Ghent.", "Rosa: Emil is my flatmate.",
    "Bruno: Is he nice?", "Rosa: Emil works at Castor.", "Bruno: The kettle broke.",
    *(f"Bruno: I saw a {bird} in the {place}." for bird in ("heron", "finch", "swan", "crane", "gull", "rook")
      for place in ("park", "garden", "marsh")),
]  # fmt: skip
SINGLE: dict[str, Any] = {
    "plan": ["(Rosa) works at (x:company)"], "told": ["I work at Halden"], "is": {"x": "Halden"},
    "goal": "Where does Rosa work?",
}  # fmt: skip
UNKNOWN = SINGLE | {"told": [], "is": {}}
TWO: dict[str, Any] = {
    "plan": ["the flatmate of (Rosa) is (x:person)", "(x:person) works at (y:company)"],
    "told": ["Emil is my flatmate.", "Emil works at Castor."], "is": {"x": "Emil", "y": "Castor"},
    "goal": "Where does Rosa's flatmate work?",
}  # fmt: skip
Kept = Callable[[dict[str, Any]], Memory]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    """A function that returns a memory of the chat with the case's goal; the model goes on to reply as the case says.

    Before its next reply it calls the case's `meanwhile`.
    """
    memories = []

    def keep(case: dict[str, Any]) -> Memory:
        def reply(request: Request) -> str:
            case.pop("meanwhile", lambda: None)()
            return replies(case)(request)

        model = ScriptedModel(reply)
        memory = opened(
            tmp_path / "store", factories=faked(model, HashEmbedder()), certainty=0, **case.pop("settings", {})
        )
        memories.append(memory)
        memory.kept.add_all([chat("c", [LINES])])
        memory.goals.add(case["goal"], Terms(), "goal")
        return memory

    yield keep
    for memory in memories:
        memory.close()


def forgotten(memory: Memory, text: str) -> GoalState:
    """Forget the turn with this text, and return the goal's state after that; nothing of the text is in its file."""
    (turn,) = [turn for turn in memory.turns("c") if turn.text == text]
    forget(memory.kept, Selection(content_keys=frozenset({turn.content_key})))
    (file,) = (memory.kept.path / "goals").glob("*.json")
    assert text not in file.read_text("utf-8")
    return memory.goals.folder.get("goal").state


def test_forgetting_what_a_proof_only_saw_leaves_the_answer(kept: Kept) -> None:
    """The goal stands without being proved again; forgetting what it rests on undermines it."""
    memory = kept(SINGLE)
    state = forgotten(memory, "I bought a Saab in Ghent.")
    assert (state.status, state.answer) == (GoalStatus.ANSWERED, "Halden")
    assert [fact.text for fact in state.evidence] == ["I work at Halden, in the archive."]
    ((_, touch),) = memory.goals.touched()
    assert touch is None
    state = forgotten(memory, "I work at Halden, in the archive.")
    assert (state.status, state.answer, state.why) == (GoalStatus.UNDERMINED, None, FORGOTTEN)


@pytest.mark.parametrize("case", [SINGLE | {"settings": {"budget": 1}}, SINGLE, UNKNOWN])
def test_a_goal_of_another_memory_brings_back_no_turn_beside_its_facts(
    kept: Kept, case: dict[str, Any], tmp_path: Path
) -> None:
    """Its answer stays, since what it rests on is here."""
    text, state = "I bought a Saab in Ghent.", (goal := kept(dict(case)).goals.folder.get("goal")).state
    assert text in str(goal)
    with opened(tmp_path / "other", factories=faked(ScriptedModel(()), HashEmbedder())) as other:
        other.kept.add_all([chat("c", [LINES])])
        (turn,) = [turn for turn in other.turns("c") if turn.text == text]
        forget(other.kept, Selection(content_keys=frozenset({turn.content_key})))
        assert adopt(other.kept, [goal.document()]) == (1, 0)
        (file,) = (other.kept.path / "goals").glob("*.json")
        assert text not in file.read_text("utf-8")
        adopted = other.goals.folder.get("goal").state
        assert (adopted.answer, adopted.traces) == (state.answer, ())


@pytest.mark.parametrize("case", [SINGLE, UNKNOWN, TWO])
def test_a_goal_stays_as_it_is_where_all_its_turns_are(kept: Kept, case: dict[str, Any], tmp_path: Path) -> None:
    """Its status and its answer, and each fact but for the turns beside it."""
    state = (goal := kept(dict(case)).goals.folder.get("goal")).state
    with opened(tmp_path / "other", factories=faked(ScriptedModel(()), HashEmbedder())) as other:
        other.kept.add_all([chat("c", [LINES])])
        assert adopt(other.kept, [goal.document()]) == (1, 0)
        adopted = other.goals.folder.get("goal").state
        assert (adopted.status, adopted.answer, adopted.watches) == (state.status, state.answer, state.watches)
        assert [fact.text for fact in adopted.facts] == [fact.text for fact in state.facts]


def test_a_memory_that_redacts_takes_no_secret_from_an_imported_goal(kept: Kept, tmp_path: Path) -> None:
    """Also where only its answer has one."""
    goal, secret = kept(SINGLE).goals.folder.get("goal"), "AKIA" + "ABCDEFGH" * 2
    document = replace(goal, states=(replace(goal.state, answer=secret),)).document()
    with opened(tmp_path / "other", factories=faked(ScriptedModel(()), HashEmbedder())) as other:
        other.kept.add_all([chat("c", [LINES])])
        assert adopt(other.kept, [document], redacts=True) == (1, 0)
        adopted = other.goals.folder.get("goal").state
        assert (adopted.answer, adopted.watches) == ("[redacted: aws key]", goal.state.watches)


def test_an_unknown_goal_stands_unless_a_near_turn_is_forgotten(kept: Kept) -> None:
    """It goes on to be touched by what would answer it."""
    memory = kept(UNKNOWN)
    last = memory.goals.folder.get("goal").state.watches[0].found[-1]
    state = forgotten(memory, next(turn.text for turn in memory.turns("c") if turn.id == last))
    assert (state.status, state.trace is not None) == (GoalStatus.UNKNOWN, True)
    ((_, touch),) = memory.goals.touched()
    assert touch is None
    memory.kept.add_all([chat("c", [LINES, ["Rosa: I have a new job, I work at Merrin now."]])])
    ((_, touch),) = memory.goals.touched()
    assert touch is not None
    assert forgotten(memory, "I work at Halden, in the archive.").status is GoalStatus.UNDERMINED


def test_a_plan_that_failed_goes_with_the_far_turn_that_it_named(tmp_path: Path) -> None:
    """The first plan has only the question's words, and stays; the second one has a name from that turn."""
    works, hired, text = SINGLE["plan"][0], "(Zanzibar) hired (Rosa)", "Zanzibar painted the fence."

    def reply(request: Request) -> str:
        is_first = "Plan: to be written" in request.tail and not seen
        seen.append(request.tail)
        further = another(works, hired, works) if is_first else ()
        return proved(plan=plan(works, works) if is_first else "", status="stop", wording="unknown", next=further)(
            request
        )

    seen: list[str] = []
    with opened(tmp_path / "store", factories=faked(ScriptedModel(reply), HashEmbedder()), certainty=0) as memory:
        memory.kept.add_all([chat("c", [[*LINES, f"Bruno: {text}"]])])
        goal = memory.goals.add(SINGLE["goal"], Terms(), "goal")
        assert "Zanzibar" in str(goal.state.trace and goal.state.trace.attempts)
        state = forgotten(memory, text)
    assert (state.status, "Zanzibar" in str(state), state.plan is not None) == (GoalStatus.UNKNOWN, False, True)


def test_of_three_values_in_conflict_the_forgotten_one_goes(tmp_path: Path) -> None:
    """It is neither among the kept values nor in a query; the two that the state shows stay."""
    lives = "(Ana) lives in (x:city)"

    def reply(request: Request) -> str:
        told = (claims(1, f"live in {city}", x=city) for city in ("Leeds", "York", "Hull"))
        return proved(*told, plan=plan(lives, lives) if "to be written" in request.tail else "", status="stop")(request)

    talks = [
        chat(name, [[f"Ana: I live in {city}."]]) for name, city in zip("bcd", ("Leeds", "York", "Hull"), strict=True)
    ]
    timeless = [replace(talk, turns=tuple(replace(turn, said=None) for turn in talk.turns)) for talk in talks]
    with opened(tmp_path / "store", factories=faked(ScriptedModel(reply), HashEmbedder()), certainty=0) as memory:
        memory.kept.add_all(timeless)
        goal = memory.goals.add("Where does Ana live?", Terms(), "goal")
        assert (goal.state.status, "York" in str(goal.state.watches)) == (GoalStatus.IN_CONFLICT, True)
        state = forgotten(memory, "I live in York.")
        both = {state.answer, state.rival}
        assert (state.status, both, "York" in str(state)) == (GoalStatus.IN_CONFLICT, {"Leeds", "Hull"}, False)


def test_what_replaced_a_cited_turn_is_watched_though_the_memory_changed_meanwhile(kept: Kept) -> None:
    """Forgetting it touches the goal; the turn that came meanwhile does so too."""
    case = SINGLE | {"goal": "Where did Rosa work?"}
    memory = kept(case)
    told = [*LINES, "Rosa: I have left Halden, I work at Merrin now."]
    memory.kept.add_all([chat("c", [told])])
    case["meanwhile"] = lambda: memory.kept.add_all([chat("c", [[*told, "Bruno: I work at Pellier."]])])
    goal = memory.goals.add("Where did Rosa work then?", Terms(), "then")
    (left,) = [turn for turn in memory.turns("c") if "left Halden" in turn.text]
    assert {unit for watch in goal.state.watches for unit in watch.later} == {left.id}
    assert not any(watch.found for watch in goal.state.watches)


def test_a_changed_first_step_opens_the_second(kept: Kept) -> None:
    """The value of the first step does not hold it back, and the answer follows."""
    case = dict(TWO)
    memory = kept(case)
    assert memory.goals.folder.get("goal").state.answer == "Castor"
    case |= {"told": ["Wanda is my flatmate now", "Wanda works at Redfern"], "is": {"x": "Wanda", "y": "Redfern"}}
    more = ["Rosa: Emil has moved out, Wanda is my flatmate now.", "Rosa: Wanda works at Redfern."]
    memory.kept.add_all([chat("c", [LINES, more])])
    ((goal, touch),) = memory.goals.touched()
    checked = memory.goals.check(goal, touch)
    assert checked.outcome is Outcome.CHANGED
    assert checked.goal.state.answer == "Redfern"
    assert checked.calls == 1  # nothing is asked anew


def test_a_later_turn_that_a_proof_in_steps_did_not_see_is_looked_at(kept: Kept) -> None:
    """The proof goes on with it; not if it was in view, and not with turns that say nothing else."""
    memory = kept(dict(TWO))
    goal = memory.goals.folder.get("goal")
    assert goal.state.trace is not None
    trace = replace(goal.state.trace, facts={each: goal.state.trace.facts[each] for each in goal.state.trace.evidence})
    assert memory.goals._overlooked(goal, question_of(goal), trace) is None
    memory.kept.add_all([chat("c", [LINES, ["Rosa: I said it wrongly: Merrin is where Emil works.", "Bruno: Ah."]])])
    begun = memory.goals._overlooked(goal, question_of(goal), trace)
    assert begun is not None
    new = [hit.unit for hit in begun.hits if "Merrin" in hit.unit.text]
    assert (len(new), begun.subgoals) == (1, goal.state.plan.subgoals if goal.state.plan else ())
    seen = Fact("F99", new[0].id, ("D1:0",), "c", "Rosa", new[0].said, new[0].text)
    shown = replace(trace, facts={**trace.facts, "F99": seen})
    assert memory.goals._overlooked(goal, question_of(goal), shown) is None


def test_a_step_that_means_two_is_proved_again_for_either(kept: Kept) -> None:
    """The plan has one step, which a turn on Emil settles; another flatmate opens it."""
    case = TWO | {
        "plan": ["the flatmate of (Rosa) works at (x:company)"],
        "told": TWO["told"][1:],
        "is": {"x": "Castor"},
    }
    memory = kept(case)
    case |= {"told": ["Wanda works at Redfern"], "is": {"x": "Redfern"}}
    more = ["Rosa: Wanda works at Redfern.", "Rosa: Emil has moved out, Wanda is my flatmate now."]
    memory.kept.add_all([chat("c", [LINES, more])])
    ((goal, touch),) = memory.goals.touched()
    assert memory.goals.check(goal, touch).goal.state.answer == "Redfern"


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Does Ana Lind's sister live here?", "Ana Lind's sister"), ("Is Ana's sister in Leeds?", "Ana's sister"),
        ("Where does the boss of Tom live?", "the boss of Tom"), ("What is my flatmate's number?", "my flatmate"),
        ("Where does O'Brien's wife work?", "O'Brien's wife"), ("Is Óscar's ex-husband here?", "Óscar's ex-husband"),
        ("Where does my mother-in-law live?", "my mother-in-law"), ("Where do Ana's sisters live?", None),
        ("Who is Ana's sister?", None), ("What is Ana's rent?", None), ("When is Ana's sisterhood dinner?", None),
    ],
)  # fmt: skip
def test_who_is_meant_is_found_in_a_question(question: str, meant: str | None) -> None:
    """But not where the question asks just for that."""
    found = _MEANT.search(question)
    assert (found and found[0]) == meant


CROWD = [
    *(f"Rosa: My flatmate {did}, and my flatmate sang." for did in ("cooked soup", "burnt rice", "went out", "slept")),
    "Rosa: My flatmate loves Netflix.", "Rosa: Honestly, my flatmate snores.", "Bruno: Rosa's flatmate sold me a Volvo.",
    "Rosa: My flatmate and I went to Leeds.", "Bruno: My flatmate is Otto.",
]  # fmt: skip


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Memory]:
    """A memory with a goal of two steps that was read as a whole, citing what the second step needs."""
    with opened(tmp_path / "store", factories=faked(ScriptedModel(()), HashEmbedder())) as memory:
        memory.kept.add_all([chat("c", [[*LINES, *CROWD]])])
        (turn,) = [turn for turn in memory.turns("c") if turn.text == "Emil works at Castor."]
        cited = Fact("F1", turn.id, (turn.id,), "c", "Rosa", FIRST_DAY, turn.text)
        trace = Trace(
            Status.ANSWERED, "goal-mem", TWO["goal"], FIRST_DAY, "Castor", None, {}, {"F1": cited}, ("F1",), ()
        )
        memory.goals.keep(Question(TWO["goal"], FIRST_DAY), trace, "goal", memory.goals.generation)
        yield memory


@pytest.mark.parametrize(
    ("new", "touches"),
    [
        ("Rosa: Emil has begun as a cook, he works at Merrin.", True), ("Rosa: Wanda is my flatmate from May.", True),
        ("Bruno: My flatmate works at Merrin now.", False), ("Bruno: Emil rang me.", False),
        ("Bruno: Honestly, I work too much now.", False), ("Bruno: The trains to Leeds are late again.", False),
    ],
)  # fmt: skip
def test_who_is_meant_is_watched_where_no_step_was_proved(read: Memory, new: str, touches: bool) -> None:
    """A turn about the flatmate by name touches the goal, and one that says that it is another."""
    assert {watch.query for watch in read.goals.folder.get("goal").state.watches} == {
        TWO["goal"], "Rosa's flatmate", "Where does Emil work?",
    }  # fmt: skip
    read.kept.add_all([chat("c", [[*LINES, *CROWD], [new]])])
    ((_, touch),) = read.goals.touched()
    assert (touch is not None) is touches
    assert touch is None or LINK in touch.subgoals


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Emil is my flatmate.", ["Emil"]), ("I know that Wanda's still my flatmate.", ["Wanda"]),
        ("My new flatmate is called Óscar.", ["Óscar"]), ("My flatmate is Dr. Brandt, from Ulm.", ["Dr. Brandt"]),
        ("With my flatmate Emil I fly to Spain.", ["Emil"]), ("Emil, my flatmate, snores.", ["Emil"]),
        ("My flatmate loves Netflix.", []), ("Honestly, my flatmate snores.", []), ("My flatmate is Irish.", []),
        ("I gave my flatmate Dune.", []), ("Is it Emil? Emil is my flatmate?", []), ("Here is my flatmate.", []),
        ("Emil is not my flatmate.", []), ("Emil is my flatmate's brother.", []), ("Bruno, my flatmate, you see, left.", []),
    ],
)  # fmt: skip
def test_a_text_says_who_somebody_is(text: str, names: list[str]) -> None:
    """And not what somebody likes, is, or gets; nor to whom it is said."""
    assert list(_names_in(text, "[Mm]y (?:new )?flatmate", {frozenset({"bruno"})})) == names


def test_forgetting_who_was_meant_undermines_the_goal(read: Memory) -> None:
    """The answer goes, and the name with it."""
    state = forgotten(read, "Emil is my flatmate.")
    assert (state.status, state.answer) == (GoalStatus.UNDERMINED, None)
    assert "Emil" not in str(state)


def test_each_try_of_a_check_leaves_its_trace(kept: Kept) -> None:
    """The kept plan tried again, and the question asked anew."""
    case = dict(SINGLE)
    memory = kept(case)
    folder = TraceFolder(memory.kept.path / "traces")
    before = folder.ids()
    case |= {"told": []}
    memory.kept.add_all([chat("c", [LINES, ["Rosa: I do not work at Halden any more."]])])
    ((goal, touch),) = memory.goals.touched()
    checked = memory.goals.check(goal, touch)
    assert (checked.outcome, checked.goal.state.answer) == (Outcome.LOST, None)
    assert len(folder.ids()) == len(before) + 2


def test_a_goal_keeps_the_traces_of_its_beginning_and_its_last_check(kept: Kept) -> None:
    """Those of the checks between go, with their prompts."""
    memory = kept(SINGLE)
    folder = TraceFolder(memory.kept.path / "traces")
    (first,) = folder.ids()
    for _ in range(3):
        checked = memory.goals.check(memory.goals.folder.get("goal"), None)
        assert (checked.outcome, checked.goal.state.traces) == (Outcome.STILL, (first,))
        assert folder.ids() == [first, *checked.goal.state.last_traces]
    assert len(folder.ids()) == 2


@pytest.mark.parametrize("is_check", [False, True])
def test_what_is_forgotten_while_the_model_answers_is_kept_nowhere(kept: Kept, is_check: bool) -> None:
    """Not in prompts, nor beside a fact that stays."""
    case, text = SINGLE | {"settings": {"budget": 1}}, "I bought a Saab in Ghent."
    memory = kept(case)
    assert all(text in file.read_text("utf-8") for file in (memory.kept.path / "traces").glob("*.json"))
    (turn,) = [turn for turn in memory.turns("c") if turn.text == text]
    case["meanwhile"] = lambda: forget(memory.kept, Selection(content_keys=frozenset({turn.content_key})))
    if is_check:
        memory.goals.check(memory.goals.folder.get("goal"), None)
    else:
        memory.goals.add(case["goal"], Terms(), "another")
    assert "meanwhile" not in case
    files = [file for name in ("goals", "traces") for file in (memory.kept.path / name).glob("*.json")]
    assert [file for file in files if text in file.read_text("utf-8")] == []
    assert memory.goals.folder.get("goal" if is_check else "another").state.answer == "Halden"


def fact(number: str, text: str) -> Fact:
    """Return a fact of Rosa's."""
    return Fact(number, f"unit {number}", (number,), "c", "Rosa", FIRST_DAY, text)


def grounding(subgoal: int, number: str, **values: str) -> Grounded:
    """Return a grounding by one fact."""
    bindings = {name: (value,) for name, value in values.items()}
    return Grounded(subgoal, (number,), bindings, dict.fromkeys(values, Support.STATED))


def traced(subgoals: tuple[str, ...], answers: tuple[str, ...], *found: Grounded, several: str = "") -> Trace:
    """Return the trace of a proof in one round, which the facts F1 to F3 settled."""
    facts = {each: fact(each, f"Told by {each}.") for each in ("F1", "F2", "F3")}
    step = Step(0, grounded=found, several=tuple(several))
    attempt = Attempt(1, subgoals[-1], subgoals, (step,), Ending.GROUNDED, answers=answers)
    bound: dict[str, tuple[str, ...]] = {}
    for item in found:
        bound |= {name: tuple(dict.fromkeys((*bound.get(name, ()), *of))) for name, of in item.bindings.items()}
    evidence = tuple(dict.fromkeys(number for item in found for number in item.facts))
    return Trace(
        Status.ANSWERED, "goal-mem", "Where?", FIRST_DAY, "so", None, bound, facts, evidence, (attempt,)
    )  # fmt: skip


def hits() -> dict[str, Hit]:
    """Return the units of the facts as hits."""
    units = [Unit(f"unit {n}", "turn", f"Told by {n}.", "c", "Rosa", FIRST_DAY, (n,), (n,)) for n in ("F1", "F2", "F3")]
    return {unit.id: Hit(unit, 1.0) for unit in units}


@pytest.mark.parametrize(("touched", "kept_steps"), [({0}, []), ({1}, [0]), ({2}, [0, 1]), (set(), [0, 1, 2])])
def test_a_proof_begins_with_the_steps_that_are_not_touched(touched: set[int], kept_steps: list[int]) -> None:
    """A step goes with the one that its value came from, but not with one that came later."""
    subgoals = ("the flatmate of (Rosa) is (x:person)", "(x:person) works at (y:firm)", "(y:firm) is in (z:town)")
    found = (
        grounding(0, "F1", x="Emil"),
        grounding(1, "F2", x="Emil", y="Castor"),
        grounding(2, "F3", y="Castor", z="Ghent"),
    )
    begun = begun_of(traced(subgoals, ("z",), *found), touched, hits(), ())
    assert begun is not None
    assert [claim.subgoal for claim in begun.claims] == kept_steps


def test_a_plan_of_an_older_version_is_written_again() -> None:
    """It named no answer beside its bindings; one that this version cannot read stands for nothing either."""
    bound = grounding(0, "F1", x="Leeds")
    assert begun_of(traced(("(Ana) lives in (x:city)",), ("x",), bound), (), hits(), ()) is not None
    assert begun_of(traced(("(Ana) lives in (x:city)",), (), bound), (), hits(), ()) is None
    strange = begun_of(traced(("Ana lives in ((x",), ("x",), bound), (), hits(), ())
    assert strange is not None
    assert taken_up(strange, Question("Where does Ana live?", FIRST_DAY)) is None


def test_a_kept_list_has_all_its_values() -> None:
    """Its variable keeps its star, and every turn of it is watched."""
    found = (grounding(0, "F1", x="Ghent"), grounding(0, "F2", x="Lyon"))
    trace = traced(("(Rosa) was in (x:town)",), ("count(x)",), *found, several="x")
    begun = begun_of(trace, set(), hits(), ())
    assert begun is not None
    assert begun.subgoals == ("(Rosa) was in (x:town*)",)
    assert [claim.bindings["x"] for claim in begun.claims] == [("Ghent",), ("Lyon",)]
    assert {unit for each in depends_on(trace) for unit in each.cited} == {"unit F1", "unit F2"}


def test_a_step_is_watched_with_its_value_and_without() -> None:
    """Types that the question does not name are left out; so is what a closed question asks about, once."""
    open_ = traced(("(Rosa) lives in (x:place)",), ("x",), grounding(0, "F1", x="Leeds"))
    assert [each.query for each in depends_on(open_)] == ["Rosa lives in", "Rosa lives in Leeds"]
    closed = traced(("(Rosa) lives in (Leeds)",), (), grounding(0, "F1"))
    assert [each.query for each in depends_on(closed)] == ["Rosa lives in Leeds", "Rosa lives in"]
    typed = replace(open_, question="Which place does Rosa live in?")
    assert depends_on(typed)[0].query == "Rosa lives in place"


def test_a_plan_is_the_questions_own_if_it_adds_no_word() -> None:
    """Types may be any words."""
    plan = KeptPlan("(Rosa) lives in (x:place)", ("(Rosa) lives in (x:place)",), ("x",))
    assert plan.is_of("Where does Rosa live?")
    assert not plan.is_of("Where does she live?")
    assert not replace(plan, goal="not ( a plan").is_of("Where does Rosa live?")


@pytest.mark.parametrize(
    ("before", "now", "is_so"),
    [
        ("York, Leeds", "Leeds and York", True), ("Ana", "Ana Smith", True), ("No", "no", True),
        ("Leeds", "Leeds, York", False), ("yes", "likely yes", False), ("blue", "not blue", False), ("yes", "no", False),
    ],
)  # fmt: skip
def test_answers_are_the_same_in_any_wording(before: str, now: str, is_so: bool) -> None:
    """But a longer list is another answer, and so are doubt and denial."""
    trace = replace(traced(("(Rosa) is (x:word)",), ("x",), grounding(0, "F1", x=now)), answer=now)
    state = GoalState(GoalStatus.ANSWERED, FIRST_DAY, FIRST_DAY, answer=before)
    assert is_same(state, trace) is is_so
