"""The compact profile's readings: the answer taken from several facts at once, and what the engine makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from goalmem_cli.ports import Completion, Request
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.readings import SHOWN
from goalmem_cli.records import Question, Turn
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Status, Trace
from tests.reasoners.scripting import COMPACT, FEW, MOMENT, chat, is_of_all

PETS = chat(
    "Ana: What pets do you keep?",
    "Ben: My pets are a parrot, I keep it in the kitchen.",
    "Ben: And I keep a tortoise as well, of all pets.",
    "Ana: I had a goldfish once.",
)
PLAN = "(Ben) keeps (x:pets)\n1. (Ben) keeps (x:pets)"
QUESTION = "What pets does Ben keep?"


def read(answer: str, likelihood: float = 0.5) -> Completion:
    """Return a reading of two tokens."""
    return Completion(f"answer: {answer}\n", 1, 0, 2, first_token_probability=1.0, likelihood=likelihood)


def run(
    reading: Completion,
    plan: str = PLAN,
    question: str = QUESTION,
    turns: list[Turn] = PETS,
    held: Callable[[Request], str] = lambda _: "y = goldfish",
    refine: str = "stop",
) -> tuple[Trace, list[Request]]:
    """Return the trace of a question and what was asked, where every fact binds what `held` says."""

    def reply(request: Request) -> str | Completion:
        if is_of_all(request):
            return "of no use"  # the plan is proved, whatever it is
        if request.step == "unify":
            return Completion(held(request), 1, 0, 1, first_token_probability=0.9, likelihood=0.9)
        said: dict[str, str | Completion] = {"decompose": plan, "read": reading, "refine": refine}
        return said.get(request.step, "as found")

    model = ScriptedModel(reply)
    limits = Limits(max_breadth=1, max_depth=1)
    engine = GoalMem(ListBackbone(turns, least=0), model, COMPACT, limits, fitted=FEW, strict=True)
    return engine.answer(Question(question, MOMENT)), model.seen


def readings(seen: list[Request]) -> list[Request]:
    """Return the readings of a subgoal's likeliest facts."""
    return [request for request in seen if request.step == "read" and not is_of_all(request)]


def texts(trace: Trace) -> set[str]:
    """Return what the turns say that the answer rests on."""
    return {trace.facts[number].text for number in trace.evidence}


def test_an_answer_that_is_read_rests_on_the_fact_that_states_it() -> None:
    """The model names no fact: the engine finds the one that has the answer's words."""
    trace, _ = run(read("a parrot"))

    assert trace.substitution == {"x": ("a parrot",)}
    assert texts(trace) == {PETS[1].text}


def test_an_answer_of_two_facts_rests_on_both() -> None:
    """A list that no single turn says is proved by those that together do."""
    trace, _ = run(read("parrot, tortoise"))

    assert trace.substitution == {"x": ("parrot, tortoise",)}
    assert texts(trace) == {PETS[1].text, PETS[2].text}


def test_an_answer_that_no_fact_states_is_dropped() -> None:
    """What the model made up leaves the subgoal to what single facts bind."""
    trace, _ = run(read("a crocodile"), held=lambda request: "y = tortoise" if "tortoise" in request.tail else "none")

    assert trace.substitution == {"x": ("tortoise",)}


def test_a_reading_goes_before_what_one_fact_is_said_to_prove() -> None:
    """Of several facts the model tells better which has the answer than one by one, where it says yes to each."""
    trace, _ = run(
        read("a parrot", 0.16), held=lambda request: "y = tortoise" if "tortoise" in request.tail else "none"
    )
    (grounded,) = trace.attempts[-1].steps[0].grounded

    assert trace.substitution == {"x": ("a parrot",)}
    assert any(note.endswith("% certain") for note in grounded.notes)


def test_another_persons_fact_proves_no_reading() -> None:
    """The goldfish is Ana's, whoever reads it as Ben's."""
    trace, _ = run(read("a goldfish"), held=lambda _: "none")

    assert trace.status is Status.UNKNOWN
    assert "Ben neither says nor is named in it" in trace.attempts[-1].steps[0].unresolved[0].why


def test_what_the_question_finds_is_read_the_likeliest_last() -> None:
    """The question is asked as it stands, over its own hits, at most so many."""
    turns = chat(*(f"Ben: I keep pet number {number}." for number in range(20)), "Ana: Ben, what pets do you keep?")
    _, seen = run(read("pet number 3"), turns=turns)
    (request,) = readings(seen)
    shown = request.growing.strip().splitlines()

    assert QUESTION in request.tail
    assert len(shown) == SHOWN
    assert "what pets do you keep?" not in shown[0]


def test_what_another_did_is_not_asked_of_the_one_named() -> None:
    """A question is refused that is nearest to what somebody else tells: neither read nor held against single facts."""
    turns = chat("Ana: I keep two lazy tortoises on my balcony.", "Ben: Nice weather on that balcony, I guess.")
    plan, question = "(Ben) keeps (x:pets) on the balcony\n1. (Ben) keeps (x:pets) on the balcony", "{} on the balcony?"
    trace, seen = run(read("two tortoises"), plan, question.format("Which lazy pets does Ben keep"), turns)

    assert trace.status is Status.UNKNOWN
    assert trace.attempts[-1].steps[0].unresolved[0].why.endswith("is said by Ana, not by Ben")
    assert not {"read", "unify"} & {request.step for request in seen}
    answered, _ = run(
        read("two tortoises"), plan.replace("Ben", "Ana"), question.format("Which pets does Ana keep"), turns
    )
    assert answered.substitution == {"x": ("two tortoises",)}


def test_what_nobody_says_takes_nothing_from_the_one_named() -> None:
    """What a backbone derived has no speaker: it is nobody else's."""
    turns = [replace(turn, speaker="") for turn in chat("X: Ben keeps two lazy tortoises, his pets, on the balcony.")]
    plan = "(Ben) keeps (x:pets) on the balcony\n1. (Ben) keeps (x:pets) on the balcony"
    turns += chat("Ben: Nice weather on that balcony.")
    _, seen = run(read("two lazy tortoises"), plan, "Which lazy pets does Ben keep on the balcony?", turns)

    assert readings(seen)


def test_only_the_answer_is_read_and_only_when_nothing_else_is_open() -> None:
    """A subgoal with another open variable waits until that is bound."""
    turns = chat("Ben: My sister is Carla.", "Ben: Carla keeps a parrot.")
    plan = (
        "The sister of (Ben) keeps (x:pet)\n1. (y:person) is the sister of (Ben)\n2. (y:person) keeps (x:pet), a bird"
    )

    def held(request: Request) -> str:
        return "y = Carla" if "is the sister" in request.growing and "sister" in request.tail else "none"

    trace, seen = run(
        read("a parrot"),
        plan,
        "Which pet does Ben's sister keep?",
        turns,
        held,
        "semantic | (Carla) has (z:bird) | bird",
    )
    steps = [request.step for request in seen if not is_of_all(request)]

    assert trace.substitution == {"y": ("Carla",), "x": ("a parrot",)}
    assert steps.count("read") == 1
    assert steps.index("read") > steps.index("refine")


def test_a_time_is_read_where_a_fact_means_it() -> None:
    """A day that a fact's words mean at the time they were said is proved by that fact, whether its words say it or not."""
    turns = chat("Ana: Hello Ben.", "Ben: I got the parrot yesterday.", "Ben: I feed the parrot on Sundays.", day=3)
    plan = "(Ben) got the parrot on (x:date)\n1. (Ben) got the parrot on (x:date)"
    trace, seen = run(read("2 May 2023"), plan, "When did Ben get the parrot?", turns, lambda _: "none")

    assert readings(seen)
    assert trace.substitution == {"x": ("2 May 2023",)} and texts(trace) == {turns[1].text}


def test_a_time_that_no_fact_means_is_no_reading() -> None:
    """A day that nobody spoke of, nor on, is dropped like any other word that nobody said."""
    plan = "(Ben) got the parrot on (x:date)\n1. (Ben) got the parrot on (x:date)"
    trace, _ = run(read("9 July 2021"), plan, "When did Ben get the parrot?", held=lambda _: "none")

    assert trace.status is Status.UNKNOWN
