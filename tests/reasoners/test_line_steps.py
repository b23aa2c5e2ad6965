"""The compact profile: line replies, one request for a subgoal and a fact, all in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from goalmem_cli.ports import Completion, GrammarShape, Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.line_steps import CANDIDATES
from goalmem_cli.records import Question, Turn
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Ending, Status, Trace
from tests.reasoners.scripting import COMPACT, FEW, MOMENT, chat

TURNS = chat(
    "Priya: My sister Anjali moved to Leeds.", "--", "Priya: Anjali has eleven cello pupils, a sister to be proud of."
)
PLAN = "The sister of (Priya) teaches (x:instrument)\n1. (y:person) is the sister of (Priya)\n2. (y:person) has (x:instrument) pupils"
ELSE = {"refine": "stop", "read": "of no use"}
"""What the model says where a test gives it no other words: nothing leads on, and the goal's reading is unusable, after
which a plan of one step is proved too."""
SISTER, PUPILS = "is the sister of", "pupils"

Said = str | Completion | Callable[[Request], str]


def replies(
    pairs: Mapping[tuple[str, str], str | Completion], plan: str = PLAN, **others: Said
) -> Callable[[Request], str | Completion]:
    """Return a model that replies to words of a statement and of a fact, ``none`` to others, and by step.

    Statements have their variables called y, then z, whatever they are called in the plan.
    """

    def reply(request: Request) -> str | Completion:
        if request.step == "decompose":
            return plan
        if request.step == "unify":
            known = [
                said
                for (statement, fact), said in pairs.items()
                if statement in request.growing and fact in request.tail
            ]
            held = known[0] if known else "none"
            return held if isinstance(held, Completion) else sure(held, 0.95)
        said = others.get(request.step, ELSE.get(request.step, "cello"))
        return said(request) if callable(said) else said

    return reply


def run(
    model: Callable[[Request], str | Completion], question: str = "Which instrument does Priya's sister teach?", *,
    turns: list[Turn] = TURNS, depth: int = 1,
) -> tuple[Trace, ScriptedModel]:  # fmt: skip
    """Return the trace of a question answered with line replies."""
    scripted = ScriptedModel(model)
    engine = GoalMem(ListBackbone(turns), scripted, COMPACT, Limits(max_breadth=1, max_depth=depth), fitted=FEW)
    return engine.answer(Question(question, MOMENT)), scripted


def sure(text: str, certainty: float) -> Completion:
    """Return a reply of which the model is so sure."""
    return Completion(text, 1, 0, 1, first_token_probability=certainty)


def test_each_subgoal_is_held_against_each_of_its_facts_in_one_call() -> None:
    """Unification asks of one subgoal and one fact at a time, in one call, and the engine merges what comes back."""
    pairs = {(SISTER, "Leeds"): "y = Anjali", (PUPILS, "cello"): "y = Anjali; z = cello"}
    trace, model = run(replies(pairs, read="answer: unknown"))

    assert trace.answer == "cello"
    assert model.calls == 4
    assert [request.step for request in model.seen] == ["decompose", "read", *["unify"] * 3, "answer"]
    assert {len(request.growing.splitlines()) for request in model.seen[2:5]} == {1}


def test_grammar_offers_the_variables_of_the_subgoal() -> None:
    """No other variable can be bound, and one without any is only proved or not."""
    _, model = run(replies({}, "(Priya) has (x:sister)\n1. (Priya) has (x:sister)\n2. (Priya) is proud"))
    first, second = (request.shape for request in model.seen[1:] if "Leeds" in request.tail)

    assert isinstance(first, GrammarShape) and isinstance(second, GrammarShape)
    assert '"y = " value' in first.grammar
    assert "x = " not in first.grammar
    assert second.grammar.startswith('root ::= "yes"')  # how sure it is of that is told by the word's probability


def test_surest_fact_that_passes_the_checks_grounds_a_subgoal() -> None:
    """Of several facts the surest is taken; one that the checks refuse leaves its place to the next."""
    turns = chat(
        "Priya: Anjali is my sister.",
        "Priya: My sister is called Anjali Rao.",
        "Priya: The sister of mine is out 30 euros.",
    )
    plan = "(x:person) is the sister of (Priya)\n1. (x:person) is the sister of (Priya)"
    pairs: dict[tuple[str, str], str | Completion] = {
        (SISTER, "30 euros"): sure("y = Napoleon", 0.99),
        (SISTER, "called"): sure("y = Anjali Rao", 0.9),
        (SISTER, "is my sister"): sure("y = Anjali", 0.3),
    }
    model = ScriptedModel(replies(pairs, plan, answer="Anjali Rao"))
    engine = GoalMem(ListBackbone(turns), model, COMPACT, Limits(max_breadth=1, max_depth=0), fitted=FEW, strict=True)
    trace = engine.answer(Question("Who is Priya's sister?", MOMENT))
    (step,) = trace.attempts[-1].steps

    assert trace.answer == "Anjali Rao"
    assert [trace.facts[fact].text for grounded in step.grounded for fact in grounded.facts] == [turns[1].text]
    assert [entry.bindings["x"] for entry in step.rejected] == [("Napoleon",)]


def test_what_a_fact_says_itself_is_not_left_to_the_model() -> None:
    """A turn that says all of the question proves it; one that does not has its verdict from the model."""
    turns = chat("Ana: I adopted a cat meanwhile.")

    def answer(question: str, plan: str) -> tuple[str | None, list[str]]:
        trace, model = run(replies({("cat", "cat"): "yes"}, plan, verdict="likely no"), question, turns=turns, depth=0)
        return trace.answer, [request.step for request in model.seen]

    plan = "(Ana) has a cat\n1. (Ana) has a cat"
    assert answer("Does Ana have a cat?", plan) == ("yes", ["decompose", "read", "read", "unify"])
    verdict = ["decompose", "read", "read", "unify", "verdict"]
    assert answer("Does Ana have a black cat?", plan) == ("likely no", verdict)


def test_who_is_only_addressed_grounds_nothing() -> None:
    """Of the names that a turn is said to bind, those are left that it tells of."""
    turns = chat("Ben: What a trip!", "Ana: Thanks, Ben! I went to Leeds with Kim.")
    said = {("went to Leeds", "Kim"): "y = Ben, Kim"}

    def asked(variable: str) -> Trace:
        plan = f"(Ana) went to Leeds with ({variable})\n1. (Ana) went to Leeds with ({variable})"
        return run(replies(said, plan, answer="Kim"), "Who went to Leeds with Ana?", turns=turns, depth=0)[0]

    (grounded,) = asked("x:person*").attempts[-1].steps[0].grounded
    assert grounded.bindings == {"x": ("Kim",)}
    said[("went to Leeds", "Kim")] = "y = Ben"
    assert asked("x:person").attempts[-1].steps[0].unresolved[0].why.endswith("comes near, but only addresses Ben")


@pytest.mark.parametrize(
    ("question", "plan", "said", "why"),
    [
        (
            "What is the name of Nora's cat?", "(Nora) has the cat (x:cat)\n1. (Nora) has the cat (x:cat)", "Mr. Okafor",
            "Mr. Okafor is a person, no cat",
        ),
        (
            "Who is Deniz?", "(Deniz) is (x:person)\n1. (Deniz) is (x:person)", "Luis",
            "Luis is a name, and does not tell who somebody is",
        ),
    ],
)  # fmt: skip
def test_a_person_is_no_animal_and_a_speaker_s_name_tells_not_who_somebody_is(
    question: str, plan: str, said: str, why: str
) -> None:
    """However sure the model is, and though the turn says the name: the engine refuses it, and says why."""
    turns = chat("Nora: Mr. Okafor allows cats.", "Luis: My brother Deniz allows none.")
    pairs = {("Nora", "Okafor"): f"y = {said}", ("Deniz", "brother"): f"y = {said}"}
    trace, _ = run(replies(pairs, plan), question, turns=turns, depth=0)
    whys = [unresolved.why for attempt in trace.attempts for step in attempt.steps for unresolved in step.unresolved]

    assert trace.status is Status.UNKNOWN
    assert any(why in told for told in whys), whys


def test_what_one_says_of_himself_is_not_taken_for_the_others() -> None:
    """Both talk, and only the one named, or a turn that names him, can tell of him."""
    turns = chat(
        "Ana: I ran the marathon in May.", "Ben: I ran the marathon in June.", "Ana: Ben ran it in June, he says."
    )
    plan = "(Ben) ran the marathon in (x:month)\n1. (Ben) ran the marathon in (x:month)"

    def reply(request: Request) -> str | Completion:
        month = "May" if "in May" in request.tail else "June"
        return {"decompose": plan, "refine": "stop", "read": "answer: nobody"}.get(request.step) or sure(
            f"y = {month}", 0.9
        )

    trace, _ = run(reply, "When did Ben run the marathon?", turns=turns)
    alone, _ = run(reply, "When did Ben run the marathon?", turns=chat("Ana: I ran the marathon in May.", "Ben: Oh!"))

    assert trace.substitution == {"x": ("June",)}
    assert "May" not in str(alone.substitution)


def test_surer_binding_of_a_shared_variable_wins_over_a_conflicting_one() -> None:
    """Alternatives are taken with those that were surer, so that one wrong reply does not refuse a right one."""
    trace, _ = run(
        replies({
            (SISTER, "Leeds"): sure("y = Anjali", 0.95), (SISTER, "cello"): sure("y = pupils", 0.3),
            (PUPILS, "cello"): sure("y = Anjali; z = cello", 0.9), (PUPILS, "Leeds"): sure("y = Leeds; z = Leeds", 0.3),
        })
    )  # fmt: skip

    assert trace.answer == "cello"
    assert trace.substitution == {"y": ("Anjali",), "x": ("cello",)}


def test_a_subgoal_is_held_against_a_fact_once_as_it_reads() -> None:
    """A later round asks of new facts only; what a variable was bound to makes another subgoal of it."""
    trace, model = run(
        replies({(SISTER, "Leeds"): "y = Anjali", ("(Anjali) has", "cello"): "y = cello"}, refine="stop"), depth=3
    )
    asked = [(request.growing, request.tail) for request in model.seen if request.step == "unify"]

    assert len(asked) == len(set(asked))
    assert trace.attempts[-1].steps[0].unresolved[0].subgoal == 1


def test_at_most_so_many_facts_are_held_against_a_subgoal_in_a_call() -> None:
    """The best facts of a subgoal come first; the others have to wait for a later round."""
    turns = chat(*(f"Priya: My sister has pupils number {number}." for number in range(30)))
    _, model = run(replies({}, "(x:thing) is a sister\n1. (x:thing) is a sister"), turns=turns, depth=0)

    assert [request.step for request in model.seen].count("unify") == CANDIDATES


def test_none_and_stop_end_the_attempt() -> None:
    """Lines that give nothing leave every subgoal unresolved, and refinement may stop."""
    trace, _ = run(replies({}))

    assert trace.status is Status.UNKNOWN
    assert trace.attempts[-1].ending is Ending.REFINEMENT_STOPPED
    assert [entry.subgoal for entry in trace.attempts[-1].steps[0].unresolved] == [0, 1]


def test_refinement_lines_make_antecedents_whose_facts_their_subgoal_sees_too() -> None:
    """A refinement line gives relation, statement and query; what the query finds may prove the subgoal itself."""
    turns = chat("Priya: My sister Anjali moved to Leeds.", "--", "Ben: The cello suits Anjali, she teaches it.")
    trace, _ = run(
        replies(
            {(SISTER, "Leeds"): "y = Anjali", ("(Anjali) has", "suits"): "y = cello"},
            refine="semantic | (Anjali) plays (x:instrument) | cello suits teaches",
        ),
        turns=turns,
    )

    assert trace.answer == "cello"
    assert trace.attempts[-1].steps[0].refined[0].relation == "semantic"


def test_undecided_pair_gets_a_request_of_its_own() -> None:
    """Two names that the checks cannot equate are judged in the next call, beside the subgoals."""
    turns = chat("Priya: The little one, my sister Anjali, moved to Leeds.", "--", f"Priya: {TURNS[1].text}")
    pairs: dict[tuple[str, str], str | Completion] = {
        ("(my little one) has", "cello"): "y = cello", (SISTER, "Leeds"): sure("y = my little one", 0.9),
        (PUPILS, "cello"): sure("y = Anjali; z = cello", 0.9),
    }  # fmt: skip
    model = replies(pairs, refine="semantic | (y:person) lives in (Leeds) | Leeds", same="same")
    trace, asked = run(model, turns=turns)

    assert trace.answer == "cello"
    assert [request.step for request in asked.seen].count("same") == 1


def test_unusable_lines_fail_the_step() -> None:
    """A line that is not of the form is retried once, then the step has failed."""
    trace, model = run(replies({}, "no plan"))
    unified, _ = run(replies({(SISTER, "Leeds"): "z = cello"}))

    assert trace.status is unified.status is Status.FAILED
    assert model.calls == 2


def test_starred_variables_take_the_values_of_every_fact() -> None:
    """The values of a starred variable stand in one line with commas, and several facts add up."""
    turns = chat("Ana: I paint and swim.", "Ana: I also like to draw.")
    plan = "(Ana) does (x:hobby*)\n1. (Ana) likes to (x:hobby*)"
    pairs = {("likes to", "paint"): "y = paint, swim", ("likes to", "draw"): "y = draw"}
    model = ScriptedModel(replies(pairs, plan, answer="paint, swim, draw"))
    trace = GoalMem(ListBackbone(turns, least=0), model, COMPACT, Limits(), fitted=FEW).answer(
        Question("What does Ana do?", MOMENT)
    )

    assert set(trace.substitution["x"]) == {"paint", "swim", "draw"}


def test_an_antecedent_that_says_what_its_subgoal_says_is_another_query_for_it() -> None:
    """A small model often only renames the variable: the subgoal is then held against what the query finds."""
    turns = chat("Priya: My sister Anjali moved to Leeds.", "--", "Ben: The cello suits Anjali, she teaches it.")
    trace, _ = run(
        replies(
            {(SISTER, "Leeds"): "y = Anjali", ("(Anjali) has", "suits"): "y = cello"},
            refine="semantic | (Anjali) has (z:instrument) pupils | cello suits teaches",
        ),
        turns=turns,
    )

    assert trace.answer == "cello"
    assert trace.attempts[-1].steps[0].refined == ()
    assert trace.attempts[-1].steps[1].queries[0] == "cello suits teaches"
