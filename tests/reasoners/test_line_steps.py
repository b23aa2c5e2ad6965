"""The compact profile: line replies, one request a subgoal, all in one call."""

from __future__ import annotations

from goalmem_cli.ports import GrammarShape, Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.records import Question, Turn
from goalmem_cli.trace import Ending, Status, Trace
from tests.fakes import ListBackbone, Reply, ScriptedModel
from tests.reasoners.scripting import COMPACT, MOMENT, chat, number_of

TURNS = chat(
    "Priya: My sister Anjali moved to Leeds.", "--", "Priya: Anjali has eleven cello pupils, a sister to be proud of."
)


def run(turns: list[Turn], question: str, *replies: Reply, depth: int = 1) -> tuple[Trace, ScriptedModel]:
    """Return the trace of a question answered with line replies."""
    model = ScriptedModel(replies)
    engine = GoalMem(ListBackbone(turns), model, COMPACT, Limits(max_breadth=1, max_depth=depth))
    return engine.answer(Question(question, MOMENT)), model


def cites(text: str, rest: str) -> Reply:
    """Return a line that cites the fact with the text."""
    return lambda request: f"{number_of(request, text)} | {rest}"


PLAN = "goal: The sister of (Priya) teaches (x:instrument)\nanswer: x\n1. (y:person) is the sister of (Priya)\n2. (y:person) has (x:instrument) pupils"


def test_one_short_request_for_each_subgoal_in_one_call() -> None:
    """Unification asks about each subgoal on its own, and the engine merges what comes back."""
    trace, model = run(
        TURNS, "Which instrument does Priya's sister teach?", PLAN,
        cites("Leeds", "y = Anjali"), cites("cello", "y = Anjali; x = cello"), "cello",
    )  # fmt: skip

    assert trace.answer == "cello"
    assert model.calls == 3
    assert [request.step for request in model.seen] == ["decompose", "unify", "unify", "answer"]
    assert model.seen[1].growing == model.seen[2].growing


def test_grammar_enumerates_what_exists() -> None:
    """Fact numbers and variables in the grammar are those of the call, so that no other can be written."""
    _, model = run(TURNS, "Which instrument?", PLAN, "none", "none", "stop", "stop")
    shape = model.seen[1].shape

    assert isinstance(shape, GrammarShape)
    assert '"F1" | "F2"' in shape.grammar
    assert '"y = " value' in shape.grammar
    assert "x = " not in shape.grammar
    assert "no" not in shape.grammar.replace("none", "")


def test_none_and_stop_end_the_attempt() -> None:
    """Lines that give nothing leave every subgoal unresolved, and refinement may stop."""
    trace, _ = run(TURNS, "Which instrument?", PLAN, "none", "none", "stop", "stop")

    assert trace.status is Status.UNKNOWN
    assert trace.attempts[0].ending is Ending.REFINEMENT_STOPPED
    assert [entry.subgoal for entry in trace.attempts[0].steps[0].unresolved] == [0, 1]


def test_refinement_lines_make_antecedents() -> None:
    """A refinement line gives relation, statement and query."""
    trace, _ = run(
        TURNS, "Which instrument?", PLAN, cites("Leeds", "y = Anjali"), "none",
        "semantic | (Anjali) has pupils for (x:instrument) | cello pupils",
        cites("cello", "x = cello"), cites("cello", "x = cello"), "cello",
    )  # fmt: skip

    assert trace.answer == "cello"
    assert trace.attempts[0].steps[0].refined[0].relation == "semantic"


def test_undecided_pair_gets_a_request_of_its_own() -> None:
    """Two names that the checks cannot equate are judged in the next call, beside the subgoals."""
    trace, model = run(
        TURNS, "Which instrument?", PLAN, cites("Leeds", "y = my sister"), cites("cello", "y = Anjali; x = cello"),
        "semantic | (y:person) lives in (Leeds) | Leeds", "stop",
        cites("Leeds", "y = my sister"), cites("cello", "y = Anjali; x = cello"), cites("Leeds", "y = Anjali"), "same",
        "cello",
    )  # fmt: skip

    assert trace.answer == "cello"
    assert [request.step for request in model.seen].count("same") == 1


def test_unusable_lines_fail_the_step() -> None:
    """A line that is not of the form is retried once, then the step has failed."""
    trace, _ = run(TURNS, "Which instrument?", "no plan", "goal: nothing")
    unified, _ = run(TURNS, "Which instrument?", PLAN, "F1", "none", "F1 | z = cello", "none")

    assert trace.status is unified.status is Status.FAILED


def test_starred_variables_take_several_values_from_a_line() -> None:
    """The values of a starred variable stand in one line with commas."""
    turns = chat("Ana: I paint and swim.")

    def reply(request: Request) -> str:
        if request.step == "decompose":
            return "goal: (Ana) does (x:hobby*)\nanswer: x\n1. (Ana) likes to (x:hobby*)"
        return "F1 | x = paint, swim" if request.step == "unify" else "paint, swim"

    model = ScriptedModel(reply)
    trace = GoalMem(ListBackbone(turns, least=0), model, COMPACT, Limits()).answer(
        Question("What does Ana do?", MOMENT)
    )

    assert trace.substitution == {"x": ("paint", "swim")}
