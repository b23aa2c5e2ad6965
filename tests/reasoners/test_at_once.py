"""The compact profile's first attempt: the goal read at once from all that the question finds, and checked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from goalmem_cli.ports import Completion, Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.records import Question, Turn
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Ending, Status, Trace
from tests.reasoners.scripting import COMPACT, FEW, MOMENT, chat, is_of_all

PETS = chat(
    "Ana: What pets do you keep?",
    "Ben: My pets are a parrot, I keep it in the kitchen.",
    "Ben: And I keep a tortoise as well, of all pets.",
    "Ana: I had a goldfish once.",
)
PLAN = "(Ben) keeps (x:pets)\n1. (Ben) keeps (x:pets)"
TWO_STEPS = "(Ben) keeps (x:pets)\n1. (Ben) keeps (y:animals) in the kitchen\n2. (y) are (x:pets)"
QUESTION = "What pets does Ben keep?"


def read(text: str, likelihood: float = 0.98) -> Completion:
    """Return a reading to whose every token the model gives that likelihood."""
    tokens = len(text.split())
    return Completion(text, 1, 0, tokens, first_token_probability=1.0, likelihood=likelihood**tokens)


def run(
    reading: str | Completion | Callable[[Request], Completion], plan: str = PLAN, question: str = QUESTION,
    turns: list[Turn] = PETS, held: str = "y = tortoise", verdict: str = "no",
) -> tuple[Trace, list[Request]]:  # fmt: skip
    """Return the trace of a question and what was asked, where every fact binds what `held` says."""

    def reply(request: Request) -> str | Completion:
        if request.step == "read" and not is_of_all(request):
            return read("answer: nothing")
        if request.step == "read":
            return reading(request) if callable(reading) else reading
        if request.step == "unify":
            return Completion(held, 1, 0, 1, first_token_probability=0.9, likelihood=0.9)
        said = {"decompose": plan, "refine": "stop", "verdict": verdict}
        return said.get(request.step, "as found")

    model = ScriptedModel(reply)
    engine = GoalMem(ListBackbone(turns, least=0), model, COMPACT, Limits(max_breadth=1, max_depth=1), fitted=FEW)
    return engine.answer(Question(question, MOMENT)), model.seen


def steps(seen: list[Request]) -> list[str]:
    """Return which steps were asked, each once."""
    return list(dict.fromkeys(request.step for request in seen))


def texts(trace: Trace) -> list[str]:
    """Return what the turns say that the answer rests on."""
    return [trace.facts[number].text for number in trace.evidence]


def cited(place: int, question: str = QUESTION) -> str:
    """Return the number that a turn has among what the question finds."""
    trace, _ = run("answer: unknown", question=question)
    return next(number for number, fact in trace.facts.items() if fact.text == PETS[place].text)


def test_a_sure_reading_is_the_whole_proof() -> None:
    """Two calls: the plan, whose goal it is held to, and the reading; its only subgoal is the goal."""
    trace, seen = run(read(f"answer: a parrot\nfacts: {cited(1)}"))
    (attempt,) = trace.attempts

    assert (trace.answer, texts(trace), steps(seen)) == ("a parrot", [PETS[1].text], ["decompose", "read"])
    assert (attempt.breadth, attempt.subgoals, attempt.planned) == (
        0,
        ("(Ben) keeps (x:pets)",),
        ("(Ben) keeps (x:pets)",),
    )
    assert attempt.ending is Ending.GROUNDED
    assert trace.usage.calls == 2
    assert attempt.steps[0].queries == (QUESTION,)


def test_the_engine_finds_the_fact_that_states_what_was_read() -> None:
    """A small model cites what stands last; the fact that has the answer's words is put in that one's place."""
    trace, _ = run(read(f"answer: a tortoise\nfacts: {cited(1)}"))

    assert trace.answer == "a tortoise"
    assert texts(trace)[0] == PETS[2].text


@pytest.mark.parametrize(
    ("reading", "answer"),
    [("24 April 2023", "the week before 1 May 2023"), ("26 April 2023", None), ("1 May 2023", "1 May 2023")],
)
def test_one_end_of_what_a_fact_means_is_read_as_all_of_it(reading: str, answer: str | None) -> None:
    """Of "last week" the model copies the first day; the engine knows which week it was, and takes no other day."""
    turns = chat("Ben: I began with pottery last week.", "Ana: I had a goldfish once.")
    plan = "(Ben) began with pottery on (x:date)\n1. (Ben) began with pottery on (x:date)"
    trace, _ = run(read(f"answer: {reading}\nfacts: F1"), plan, "When did Ben begin with pottery?", turns)

    assert trace.answer == answer
    assert texts(trace) == ([turns[0].text] if answer else [])


REFUSED = pytest.mark.parametrize(
    ("reading", "why"),
    [
        ("answer: a crocodile\nfacts: F1", "do not state what was read"),
        ("answer: a goldfish\nfacts: F1", "Ben neither says nor is named in it"),
        ("answer: unknown", "do not tell it"),
    ],
    ids=["invented", "another's", "refused"],
)


@REFUSED
def test_what_the_checks_refuse_is_no_answer(reading: str, why: str) -> None:
    """However sure the model is: what no fact states, or another's fact, is no proof; a plan of one step has no other."""
    trace, seen = run(read(reading))
    (attempt,) = trace.attempts

    assert attempt.ending is Ending.MAX_DEPTH
    assert why in attempt.steps[0].unresolved[0].why
    assert (trace.status, trace.answer, steps(seen)) == (Status.UNKNOWN, None, ["decompose", "read"])


@REFUSED
def test_what_is_refused_is_left_to_a_plan_of_several_steps(reading: str, why: str) -> None:
    """Two facts may prove together what no reading of all tells."""
    plan = f"{PLAN}\n2. (Ben) keeps (x:animals) in the kitchen"
    trace, _ = run(read(reading), plan)
    first, second = trace.attempts

    assert why in first.steps[0].unresolved[0].why
    assert second.breadth == 1
    assert trace.substitution["x"] == ("tortoise",)


def test_a_doubtful_reading_that_stands_is_the_answer() -> None:
    """What the checks let stand needs no proof of the same step; how sure it is, is told."""
    trace, _ = run(read(f"answer: a parrot\nfacts: {cited(1)}", 0.5))
    (attempt,) = trace.attempts

    assert trace.answer == "a parrot"
    assert attempt.steps[0].grounded[0].certainty == pytest.approx(0.5)


def by_count(readings: dict[int, Completion]) -> Callable[[Request], Completion]:
    """Return what reads by how many facts are shown."""
    return lambda request: readings[len(request.growing.strip().splitlines())]


def test_of_several_readings_the_surest_that_stands_is_taken() -> None:
    """A small model is surer of what it reads from few facts, or from more; what no fact states counts for nothing."""
    parrot, tortoise = read(f"answer: a parrot\nfacts: {cited(1)}", 0.6), read("answer: a tortoise\nfacts: F1", 0.8)
    invented = read("answer: a crocodile\nfacts: F1", 0.89)

    assert run(by_count({2: parrot, 4: tortoise}))[0].answer == "a tortoise"
    assert run(by_count({2: tortoise, 4: parrot}))[0].answer == "a tortoise"
    assert run(by_count({2: parrot, 4: invented}))[0].answer == "a parrot"
    assert run(by_count({2: read("answer: unknown", 0.89), 4: parrot}))[0].answer == "a parrot"


def test_without_probabilities_the_reading_of_the_most_facts_is_taken() -> None:
    """A model that tells none cannot say which of its words are surest; that they differ is no conflict of the facts."""
    parrot, tortoise = Completion("answer: a parrot\nfacts: F1"), Completion("answer: a tortoise\nfacts: F1")

    assert run(by_count({2: parrot, 4: tortoise}))[0].answer == "a tortoise"
    assert run(by_count({2: tortoise, 4: parrot}))[0].answer == "a parrot"


@pytest.mark.parametrize(("likelihood", "counts", "calls"), [(0.95, [2, 4], 2), (0.85, [2, 4, 7, 8], 3)])
def test_more_facts_are_read_only_where_the_best_few_do_not_tell(
    likelihood: float, counts: list[int], calls: int
) -> None:
    """Two readings in a call, and where none of them is sure two more in another."""
    turns = [*PETS, *chat(*(f"Ben: I painted fence number {number}." for number in range(4)), conversation="fences")]
    trace, seen = run(read("answer: a parrot\nfacts: F1", likelihood), turns=turns)

    assert [len(request.growing.strip().splitlines()) for request in seen if is_of_all(request)] == counts
    assert (trace.answer, trace.usage.calls) == ("a parrot", calls)


def test_a_list_is_the_surest_readings_own() -> None:
    """What another reading names is not added to it."""
    plan = "(Ben) keeps (x:pets*)\n1. (Ben) keeps (x:pets*)"
    parrot, both = (read(f"answer: {said}\nfacts: F1", sure) for said, sure in (("parrot", 0.9), ("tortoise", 0.8)))
    trace, _ = run(by_count({2: parrot, 4: both}), plan, "Which pets does Ben keep?")

    assert trace.answer == "parrot"


def test_a_list_names_everything_once() -> None:
    """A small model says the same again."""
    plan = "(Ben) keeps (x:pets*)\n1. (Ben) keeps (x:pets*)"
    trace, _ = run(read("answer: parrot, parrot\nfacts: F1"), plan, "Which pets does Ben keep?")

    assert trace.answer == "parrot"


def test_a_plan_of_several_steps_is_proved_beside_a_sure_reading() -> None:
    """Where both say the same, the proof shows the steps of what was read; where they differ, the reading stands."""
    sure = read(f"answer: a parrot\nfacts: {cited(1)}")
    same, _ = run(sure, TWO_STEPS, held="y = parrot")
    other, _ = run(sure, TWO_STEPS, held="y = tortoise; z = tortoise")

    assert same.substitution["x"] in {("parrot",), ("a parrot",)}
    assert other.answer == "a parrot"
    assert other.attempts[-1].breadth == 0


@pytest.mark.parametrize(("verdict", "state"), [("yes", "grounded"), ("likely no", "contradicted")])
def test_yes_and_no_are_read_at_once(verdict: str, state: str) -> None:
    """What was read is the verdict, however sure: a yes grounds the goal, a no contradicts it."""
    plan = "(Ben) keeps a parrot\n1. (Ben) keeps a parrot"
    question = "Does Ben keep a parrot?"
    trace, seen = run(read(f"answer: {verdict}\nfacts: {cited(1, question)}", 0.6), plan, question)

    assert (trace.answer, steps(seen)) == (verdict, ["decompose", "read"])
    assert len(getattr(trace.attempts[-1].steps[0], state)) == 1
    assert texts(trace) == [PETS[1].text]


def test_what_is_no_verdict_is_not_taken_for_one() -> None:
    """A closed question that is answered by a phrase is not answered."""
    plan = "(Ben) keeps a parrot\n1. (Ben) keeps a parrot"
    trace, _ = run(read(f"answer: a parrot\nfacts: {cited(1)}"), plan, "Does Ben keep a parrot?", held="yes")

    assert "what was read is no verdict" in trace.attempts[0].steps[0].unresolved[0].why
    assert trace.answer is None


def test_what_is_computed_is_not_read() -> None:
    """The engine counts, whatever the model would read."""
    plan = "(Ben) keeps (x:number of pets)\n1. (Ben) keeps (x:pets)"
    _, seen = run(read("answer: 2\nfacts: F1"), plan, "How many pets does Ben keep?")

    assert not any(map(is_of_all, seen))


def test_an_unusable_reading_is_no_failure_of_the_question() -> None:
    """The plan goes on; a question has failed where its plans could not be read."""
    trace, _ = run("no such line")

    assert trace.attempts[0].ending is Ending.UNUSABLE_REPLY
    assert trace.status is Status.ANSWERED
