"""The prover `stepwise`, of small models: the question is read first, then a plan's steps, and the question again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from goalmem_cli.fitted import Fitted
from goalmem_cli.ports import Completion, Request
from goalmem_cli.reasoners.facts import token_cost
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits, calls_of
from goalmem_cli.reasoners.goal_mem.provers.readings import CITED
from goalmem_cli.records import Question, Turn
from goalmem_cli.testing import ListBackbone, ScriptedModel
from goalmem_cli.trace import Ending, Status, Trace
from tests.reasoners.scripting import COMPACT, FEW, MOMENT, chat

Reading = str | Completion | Callable[[Request], str | Completion]


def asked_in(request: Request) -> str:
    """Return the question that a reading is asked."""
    return request.tail.partition("Question: ")[2].partition("\n")[0]


def shown_in(request: Request) -> list[str]:
    """Return the lines of the facts that a reading shows."""
    return request.growing.strip().splitlines()


def read(answer: str, *words: str, likelihood: float | None = 0.98) -> Callable[[Request], Completion]:
    """Return a reading that cites the facts with those words, the first one shown where none of them is.

    The model finds the words of its answer so likely.
    """

    def reply(request: Request) -> Completion:
        lines = shown_in(request)
        known = [line.partition(".")[0] for each in words for line in lines if each in line]
        cited = ", ".join(dict.fromkeys(known)) or lines[0].partition(".")[0]
        return Completion(f"answer: {answer}\nfacts: {cited}", 1, 0, 1, likelihood=likelihood)

    return reply


REFUSED: Reading = "answer: unknown"


def run(
    reading: Reading,
    question: str,
    turns: Sequence[Turn],
    plan: str = "no plan",
    steps: Reading = REFUSED,
    fitted: Fitted = FEW,
    limits: Limits = Limits(max_depth=2),  # noqa: B008 - it is frozen
    *,
    is_strict: bool = False,
) -> tuple[Trace, list[Request]]:
    """Return the trace of a question and what was asked, where the model reads the question and the steps as told."""

    def reply(request: Request) -> str | Completion:
        if request.step == "decompose":
            return plan
        said = reading if asked_in(request) == question else steps
        return said(request) if callable(said) else said

    model = ScriptedModel(reply)
    engine = GoalMem(ListBackbone(turns, least=0), model, COMPACT, limits, fitted=fitted, strict=is_strict)
    return engine.answer(Question(question, MOMENT)), model.seen


def texts(trace: Trace) -> list[str]:
    """Return what the turns say that the answer rests on."""
    return [trace.facts[number].text for number in trace.evidence]


def why(trace: Trace, attempt: int = 0) -> str:
    """Return why the first subgoal of an attempt is open."""
    return trace.attempts[attempt].steps[-1].unresolved[0].why


# The course


TURNS = chat(
    "Ana: My neighbour Graca came over with a cake.",
    "Ben: Who is that?",
    "Ana: Graca bakes for the whole street, a walnut loaf on Fridays.",
    "Ben: I paid twelve euros for my loaf.",
)
LOAF = "Which loaf does the neighbour of Ana bake?"
ONE = "(the neighbour of Ana) bakes (x:loaf)\n1. (the neighbour of Ana) bakes (x:loaf)"
TWO = "(the neighbour of Ana) bakes (x:loaf)\n1. (y:person) is a neighbour of (Ana)\n2. (y:person) bakes (x:loaf)"
CAKE, WALNUT = read("a cake", "cake", likelihood=0.5), read("walnut loaf", "walnut", likelihood=0.7)
TWO_FACTS = Fitted(rounds=((2,),))
"""What is read first are the two turns about Graca; the other two are left for further readings."""


def knows_steps(request: Request) -> Completion:
    """Read both steps of the plan."""
    is_first = "neighbour" in asked_in(request)
    return (read("Graca", "cake") if is_first else read("walnut loaf", "walnut", likelihood=0.9))(request)


def course(
    *readings: Reading, plan: str = ONE, steps: Reading = REFUSED, fitted: Fitted = TWO_FACTS, budget: int = 60
) -> tuple[Trace, list[str], list[list[str]]]:
    """Return the trace of a question that is read as told, time by time; what was asked, and which facts were shown."""
    left = list(readings)

    def reading(request: Request) -> str | Completion:
        said = left.pop(0)
        return said(request) if callable(said) else said

    trace, seen = run(reading, LOAF, TURNS, plan, steps, fitted, Limits(max_depth=2, budget=budget))
    asked = ["plan" if request.step == "decompose" else asked_in(request) for request in seen]
    return trace, asked, [shown_in(request) for request in seen if request.step == "read"]


def test_a_sure_reading_ends_after_one_call() -> None:
    """No plan is made, and the goal is the question itself, by rule."""
    trace, asked, _ = course(read("walnut loaf", "walnut", likelihood=0.95))
    (attempt,) = trace.attempts

    assert (trace.answer, asked, trace.usage.calls) == ("walnut loaf", [LOAF], 1)
    assert trace.goal == "(x:loaf) does the neighbour of (Ana) bake"
    assert (attempt.breadth, attempt.subgoals, attempt.planned) == (0, (trace.goal,), (trace.goal,))
    assert (attempt.ending, attempt.steps[0].queries) == (Ending.GROUNDED, (LOAF,))


def test_steps_are_read_one_after_another_with_what_was_found_put_in() -> None:
    """An unsure reading has a plan made; its steps are put as questions, and the question is read from what they found."""
    trace, asked, _ = course(CAKE, WALNUT, plan=TWO, steps=knows_steps)

    assert asked == [LOAF, "plan", "Which person is a neighbour of Ana?", "Graca bakes which loaf?", LOAF]
    assert trace.answer == "walnut loaf" and trace.attempts[-1].planned
    assert trace.attempts[-1].steps[0].queries == (LOAF, "Graca is a neighbour of Ana", "Graca bakes walnut loaf")
    assert [dict(item.bindings) for step in trace.attempts[1].steps for item in step.grounded] == [
        {"y": ("Graca",)}, {"y": ("Graca",), "x": ("walnut loaf",)},
    ]  # fmt: skip


def test_proved_steps_answer_where_the_question_is_not_read() -> None:
    """What the plan's last step bound is the answer then."""
    trace, _, _ = course(REFUSED, REFUSED, plan=TWO, steps=knows_steps)

    assert trace.answer == "walnut loaf" and not trace.attempts[-1].planned


def test_a_first_reading_that_stands_goes_before_proved_steps() -> None:
    """Where the question is refused the second time, what was read of it first is the answer."""
    trace, _, _ = course(CAKE, REFUSED, plan=TWO, steps=knows_steps)

    assert trace.answer == "a cake"


@pytest.mark.parametrize("budget", [2, 60])
@pytest.mark.parametrize(("plan", "sizes"), [(ONE, [4]), (TWO, [3, 3, 4])])
def test_each_further_reading_begins_as_the_first_did(plan: str, sizes: list[int], budget: int) -> None:
    """What a model in this process has read of the facts, it does not read again: what is new stands behind it."""
    fitted = Fitted(rounds=((2,),), added=(1, 400), again=(4, 1800))
    _, _, (first, *others) = course(*[REFUSED] * 3, plan=plan, fitted=fitted, budget=budget)

    assert len(first) == 2 and all(facts[:2] == first for facts in others)
    assert [len(facts) for facts in others] == sizes  # one more for a step and after the steps; then four in all


def test_nothing_is_read_twice_from_the_same_facts() -> None:
    """Where the first reading showed all there is, the model is asked for the plan and its steps, and no more."""
    trace, asked, _ = course(CAKE, plan=TWO, fitted=Fitted())

    assert asked.count(LOAF) == 1 and trace.answer == "a cake"
    assert "no further fact" in why(trace, 2)


def test_a_plan_of_one_step_is_read_again_from_more_facts() -> None:
    """The second reading counts; where it is refused the first stands."""
    again, asked, _ = course(CAKE, WALNUT)
    first, _, _ = course(CAKE, REFUSED)

    assert again.answer == "walnut loaf" and asked == [LOAF, "plan", LOAF]
    assert first.answer == "a cake"


@pytest.mark.parametrize("plan", ["no plan at all", ONE[:10]])
def test_a_plan_that_cannot_be_read_is_no_failure(plan: str) -> None:
    """The question is read again, and the trace says why there is no plan."""
    trace, _, _ = course(REFUSED, WALNUT, plan=plan)

    assert trace.answer == "walnut loaf" and any("no plan could be read" in note for note in trace.notes)


def test_what_nothing_settles_is_unknown() -> None:
    """Refused each time, and steps that find nothing: within the bound of calls."""
    trace, _, _ = course(*[REFUSED] * 4, plan=TWO)

    assert trace.status is Status.UNKNOWN
    assert trace.usage.calls <= calls_of("stepwise", 3, 2)[1]


MOVE = chat("Ana: The party was on 3 May 2023.", "Ben: It was fun.", "Ana: I moved on 20 May 2023.")
GAP_PLAN = """(x:number of days) after the party (Ana) moved
1. the party was on (y:date)
2. (Ana) moved on (z:date)
3. (z:date) is (x:number of days) after (y:date)"""


@pytest.mark.parametrize(
    ("question", "calls"),
    [("How many days after the party did Ana move?", 0), ("By how many days did the move of Ana follow the party?", 1)],
)
def test_the_time_between_two_dates_is_computed(question: str, calls: int) -> None:
    """The model reads the dates. It plans only if the question's words do not name both."""

    def dates(request: Request) -> Completion:
        is_party = "party" in asked_in(request).lower()
        return (read("3 May 2023", "The party") if is_party else read("20 May 2023", "I moved"))(request)

    trace, seen = run(read("12 days", "party"), question, MOVE, GAP_PLAN, dates)
    assert (trace.answer, len(trace.evidence)) == ("17 days", 2)
    assert "12 days" in why(trace)
    assert sum(request.step == "decompose" for request in seen) == calls


def test_what_cannot_be_computed_clearly_is_not_taken() -> None:
    """A reading that is likelier than the steps stays, and so does one if the dates give no exact time."""
    question, told = "How many days after the party did Ana move?", chat("Ana: I moved 17 days after the party.")

    said, turns = read("17 days", "17 days", likelihood=0.5), (*MOVE, *told)
    for steps in (read("3 May 2023", "The party", likelihood=0.1), read("May 2023", "The party", likelihood=0.9)):
        assert run(said, question, turns, steps=steps)[0].answer == "17 days"
    assert run(REFUSED, "How many days after the party (at Jo's) did Ana move?", MOVE)[0].status is Status.UNKNOWN


@pytest.mark.parametrize(
    "plan",
    [
        "(the neighbour of Ana) bakes (x:loaf) and (z:cake)\n1. (the neighbour of Ana) bakes (x:loaf)\n2. (Ana) eats (z:cake)",
        "(the neighbour of Ana) bakes (x:number of loaves)\n1. (the neighbour of Ana) bakes (x:loaf)\n2. (x:loaf) is fresh",
    ],
)  # fmt: skip
def test_steps_are_read_for_one_answer_that_is_not_computed(plan: str) -> None:
    """What asks for two things, or for a number of things, is read as a whole."""
    question = "How many loaves and which cake does the neighbour of Ana bake?"
    _, seen = run(REFUSED, question, TURNS, plan, knows_steps, TWO_FACTS)

    assert {asked_in(request) for request in seen if request.step == "read"} == {question}


def test_unusable_readings_are_no_failure_where_another_is_read() -> None:
    """A question has failed where no reply to it could be used, and says why."""
    trace, _, _ = course("no such line", "no such line", WALNUT)
    refused, _, _ = course("no such line", "no such line", REFUSED)
    failed, _, _ = course(*["no such line"] * 4)

    assert trace.attempts[0].ending is Ending.UNUSABLE_REPLY
    assert (trace.answer, refused.status, failed.status) == ("walnut loaf", Status.UNKNOWN, Status.FAILED)
    assert "proof: " in str(failed.failure)


def test_a_reading_is_no_failure_where_only_the_steps_are_unusable() -> None:
    """The question was read, and refused."""
    trace, _, _ = course(*[REFUSED] * 3, plan=TWO, steps="no such line")

    assert trace.attempts[1].ending is Ending.UNUSABLE_REPLY
    assert trace.status is Status.UNKNOWN


# The reading of a question


PETS = chat(
    "Ana: What pets do you keep?",
    "Ben: My pets are a parrot, I keep it in the kitchen.",
    "Ben: And I keep a tortoise as well, of all pets.",
    "Ana: I had a goldfish once.",
)
KEPT = "What pets does Ben keep?"
PLAN_OF_PETS = "(Ben) keeps (x:pets)\n1. (Ben) keeps (x:pets)"


def pets(reading: Reading, *, fitted: Fitted = FEW, is_strict: bool = False) -> Trace:
    """Return the trace of the question for Ben's pets."""
    return run(reading, KEPT, PETS, fitted=fitted, is_strict=is_strict)[0]


def test_the_engine_finds_the_fact_that_states_what_was_read() -> None:
    """A small model cites what stands last; the fact that has the answer's words goes before that one."""
    trace = pets(read("a tortoise", "parrot"))

    assert (trace.answer, texts(trace)) == ("a tortoise", [PETS[2].text, PETS[1].text])


def test_of_facts_that_state_it_the_one_cited_counts() -> None:
    """Whichever was found first."""
    turns = chat("Ben: What pets I keep: a parrot.", "Ben: A parrot is mine.")
    for turn, words in zip(turns, ("What pets", "is mine"), strict=True):
        assert texts(run(read("a parrot", words), KEPT, turns)[0]) == [turn.text]


@pytest.mark.parametrize(
    ("text", "answer", "is_stated"),
    [
        ("Tickets are 9 euros, children half.", "4.50 euros", True),
        ("Tickets are 9 euros, children half.", "9 euros", True),
        ("Tickets are 9 euros, and twice that at the door.", "18 euros", True),
        ("Tickets are 9 euros, children half.", "4.50 dollars", False),
        ("Tickets are 9 euros, children half.", "18 euros", False),
        ("Tickets are 9 euros, the door opens at half past six.", "4.50 euros", False),
        ("The tickets for the double room are 9 euros.", "18 euros", False),
    ],
)
def test_a_number_by_a_told_factor_is_stated(text: str, answer: str, is_stated: bool) -> None:
    """Half of nine euros is four and a half, also where nothing may be inferred; half past six halves nothing."""
    turns = chat(f"Ben: {text}", "Ana: Good.")
    trace, _ = run(read(answer, "ickets"), "How much is a ticket for a child?", turns, is_strict=True)

    assert (trace.answer == answer) is is_stated


def test_among_several_people_you_is_who_spoke_before() -> None:
    """What Mina tells Ben of his solo is about Ben; what she tells Ana of hers is not."""
    asked = "Who has to sing Ben's solo?"
    turns = chat("Ben: I am in Zagreb.", "Mina: Then Anders has to sing your solo.", "Ana: It rains.")
    trace, _ = run(read("Anders", "Anders"), asked, turns)
    turned = chat("Ana: It rains.", "Mina: Then Anders has to sing your solo.", "Ben: I am in Zagreb.")
    other, _ = run(read("Anders", "Anders"), asked, turned)

    assert (trace.answer, texts(trace)) == ("Anders", [turns[1].text])
    assert other.status is Status.UNKNOWN


MORE, ALL = "By how many pounds does it go up for Ana?", "How many pounds is it altogether for Ana?"


@pytest.mark.parametrize(
    ("question", "cited", "answer", "working"),
    [
        (MORE, ("rent",), "7 pounds", "7 pounds = 55 - 48"),
        (MORE, ("rent",), "£7", ""),
        (MORE, ("rent",), "7 euros", ""),
        (MORE, ("rent",), "7%", ""),
        (MORE, ("rent",), "9 pounds", ""),
        (MORE, ("rent",), "103 pounds", ""),
        (MORE, ("tiles",), "7 pounds", ""),
        (MORE, ("off",), "30 pounds", ""),
        (ALL, ("tiles", "each"), "36 pounds", "36 pounds = 12 * 3"),
        (ALL, ("rent",), "103 pounds", "103 pounds = 55 + 48"),
        (ALL, ("rent",), "2640 pounds", ""),
        ("How many pounds is it for Ana?", ("rent",), "7 pounds", ""),
    ],
)
def test_a_number_may_be_worked_out_from_the_cited_facts(
    question: str, cited: tuple[str, ...], answer: str, working: str
) -> None:
    """No turn says how much more the rent is, but two of its numbers do; the question says what to do with them."""
    turns = chat(
        "Ana: The rent of my plot goes up from 48 to 55 pounds.",
        "Ana: I need 12 tiles for the path on my plot.",
        "Ana: Tiles like mine are 3 pounds each.",
        "Ana: My spade was 50 pounds, and I got 20% off.",
    )
    trace, _ = run(read(answer, *cited), question, turns, fitted=Fitted(), is_strict=True)

    assert trace.answer == (answer if working else None)
    if working:
        (item,) = trace.attempts[0].steps[0].grounded
        assert working in item.notes
        assert set(texts(trace)) == {turn.text for turn in turns if any(word in turn.text for word in cited)}
    else:
        assert "do not state what was read" in why(trace)


def test_an_answer_of_two_facts_rests_on_both() -> None:
    """A list that no single turn says is proved by those that together do, also where nothing may be inferred."""
    for is_strict in (False, True):
        trace = pets(read("parrot, tortoise", "parrot"), is_strict=is_strict)
        assert (trace.answer, set(texts(trace))) == ("parrot, tortoise", {PETS[1].text, PETS[2].text})


@pytest.mark.parametrize(("count", "is_proved"), [(CITED, True), (CITED + 1, False)])
def test_an_answer_of_many_facts_is_stated_by_none(count: int, is_proved: bool) -> None:
    """Words picked from all that is shown prove nothing together."""
    names = ["parrot", "tortoise", "hamster", "donkey", "spider"][:count]
    turns = chat(*(f"Ben: I keep a {name} as one of my pets." for name in names))
    trace, _ = run(read(", ".join(names)), KEPT, turns)

    assert (trace.status is Status.ANSWERED) is is_proved


@pytest.mark.parametrize(
    ("reading", "reason"),
    [
        (read("a crocodile", "parrot"), "do not state what was read: a crocodile"),
        (read("parrot, crocodile", "parrot"), "do not state what was read: parrot, crocodile"),
        (read("a goldfish", "goldfish"), "do not state what was read: a goldfish"),
        (read("the pets", "parrot"), "no fact entails it"),
        (REFUSED, "do not tell it"),
    ],
    ids=["invented", "half invented", "another's", "no news", "refused"],
)
def test_what_the_checks_refuse_is_no_answer(reading: Reading, reason: str) -> None:
    """However sure the model is: what no fact of Ben states, or what only repeats the question, is no proof."""
    trace = pets(reading)

    assert trace.attempts[0].ending is Ending.MAX_DEPTH
    assert reason in why(trace)
    assert (trace.status, trace.answer) == (Status.UNKNOWN, None)


def test_a_fact_cited_beside_has_to_tell_of_whom_it_should_too() -> None:
    """Ana's goldfish is no evidence for what Ben keeps."""
    trace = pets(read("a parrot", "parrot", "goldfish"))

    assert (trace.answer, texts(trace)) == ("a parrot", [PETS[1].text])


def test_what_the_model_is_trusted_with_the_judge_refuses_all_the_same() -> None:
    """A reading that is likely enough is not asked of whom its facts tell; who speaks of himself is checked anyway."""
    trace = pets(read("a goldfish", "goldfish"), fitted=Fitted(trusted=0.9))

    assert trace.status is Status.UNKNOWN
    assert "Ana speaks of themselves" in trace.attempts[0].steps[0].rejected[0].why


@pytest.mark.parametrize("trusted", [0.9, 1.1])
@pytest.mark.parametrize(
    ("turns", "question", "answer"),
    [
        (("Ana: It lies in Porto.", "Ben: Nice weather!"), "In which town is the Heron?", "Porto"),
        (
            ("Ana: I keep two lazy tortoises as pets on the balcony.", "Ben: For me it is rabbits."),
            "Which lazy pets does Ben keep on the balcony?", "rabbits",
        ),
    ],
    ids=["nobody names the boat, and it is likely meant", "Ana's turn is nearer to the question"],
)  # fmt: skip
def test_a_trusted_reading_is_not_asked_of_whom_its_facts_tell(
    turns: tuple[str, ...], question: str, answer: str, trusted: float
) -> None:
    """Whoever seems to be meant: a reading that is likely enough stands."""
    trace, _ = run(read(answer, answer), question, chat(*turns), fitted=replace(FEW, trusted=trusted))

    assert (trace.answer == answer) is (trusted < 1)


def test_a_doubtful_reading_that_stands_is_the_answer() -> None:
    """How sure it is, is told."""
    trace = pets(read("a parrot", "parrot", likelihood=0.5))

    assert trace.answer == "a parrot"
    assert trace.attempts[-1].steps[0].grounded[0].grounding_certainty == pytest.approx(0.5)


def by_count(readings: dict[int, Reading]) -> Callable[[Request], str | Completion]:
    """Return what reads by how many facts are shown."""

    def reply(request: Request) -> str | Completion:
        said = readings[len(shown_in(request))]
        return said(request) if callable(said) else said

    return reply


def test_of_several_readings_the_surest_that_stands_is_taken() -> None:
    """A small model is surer of what it reads from few facts, or from more; what no fact states counts for nothing."""
    parrot, tortoise = read("a parrot", likelihood=0.6), read("a tortoise", likelihood=0.8)
    invented = read("a crocodile", likelihood=0.89)

    assert pets(by_count({2: parrot, 4: tortoise})).answer == "a tortoise"
    assert pets(by_count({2: tortoise, 4: parrot})).answer == "a tortoise"
    assert pets(by_count({2: parrot, 4: invented})).answer == "a parrot"
    assert pets(by_count({2: REFUSED, 4: parrot})).answer == "a parrot"


def test_without_probabilities_the_reading_of_the_most_facts_is_taken() -> None:
    """A model that tells none cannot say which of its words are surest; that they differ is no conflict of the facts."""
    parrot, tortoise = read("a parrot", likelihood=None), read("a tortoise", likelihood=None)

    assert pets(by_count({2: parrot, 4: tortoise})).answer == "a tortoise"
    assert pets(by_count({2: tortoise, 4: parrot})).answer == "a parrot"


def test_why_there_is_no_answer_is_what_the_reading_of_the_most_facts_says() -> None:
    """That it was refused says less than what was read and does not stand."""
    trace = pets(by_count({2: read("a crocodile"), 4: REFUSED}))

    assert "do not state what was read: a crocodile" in why(trace)


@pytest.mark.parametrize(("likelihood", "counts", "calls"), [(0.95, [2, 4], 1), (0.85, [2, 4, 7, 8], 2)])
def test_more_facts_are_read_only_where_the_best_few_do_not_tell(
    likelihood: float, counts: list[int], calls: int
) -> None:
    """Two readings in a call, and where none of them is sure two more in another."""
    turns = [*PETS, *chat(*(f"Ben: I painted fence number {number}." for number in range(4)), conversation="fences")]
    trace, seen = run(read("a parrot", "parrot", likelihood=likelihood), KEPT, turns, plan=PLAN_OF_PETS)
    before = next((place for place, request in enumerate(seen) if request.step == "decompose"), len(seen))

    assert [len(shown_in(request)) for request in seen[:before]] == counts
    assert trace.attempts[-1].steps[0].usage.calls == calls
    assert trace.answer == "a parrot"


def test_what_the_question_finds_is_read_the_likeliest_last() -> None:
    """The question is asked as it stands, over its own hits, at most so many."""
    turns = chat(*(f"Ben: I keep pet number {number}." for number in range(20)), "Ana: Ben, what pets do you keep?")
    _, seen = run(read("pet number 3"), KEPT, turns, fitted=Fitted(rounds=((11,),)))
    shown = shown_in(seen[0])

    assert asked_in(seen[0]) == KEPT
    assert len(shown) == 11
    assert "what pets do you keep?" in shown[-1]


# Yes and no


@pytest.mark.parametrize(
    ("said", "verdict", "state"),
    [
        ("yes", "yes", "grounded"),
        ("likely no", "likely no", "contradicted"),
        ("No; he sold it", "no", "contradicted"),
    ],
)
def test_yes_and_no_are_read(said: str, verdict: str, state: str) -> None:
    """What was read begins with the verdict, however sure: a yes grounds the goal, a no contradicts it."""
    trace, _ = run(read(said, "parrot", likelihood=0.6), "Does Ben keep a parrot?", PETS)

    assert (trace.answer, texts(trace)) == (verdict, [PETS[1].text])
    assert len(getattr(trace.attempts[-1].steps[0], state)) == 1


def test_of_several_verdicts_the_surest_is_taken() -> None:
    """That they differ is no conflict of the facts."""
    yes, no = read("yes", "parrot", likelihood=0.7), read("no", "parrot", likelihood=0.8)

    assert run(by_count({2: yes, 4: no}), "Does Ben keep a parrot?", PETS)[0].answer == "no"
    assert run(by_count({2: no, 4: yes}), "Does Ben keep a parrot?", PETS)[0].answer == "no"


ROME = chat("Ana: I have never been to Rome.", "Ben: Pity!", "Ana: In Rome I lost my hat in 2019.", "Ben: Oh!")


@pytest.mark.parametrize(
    ("without", "answer", "sides"),
    [
        (read("yes", "hat", likelihood=0.9), None, {"yes": ROME[2].text, "no": ROME[0].text}),
        (read("yes", "hat", likelihood=0.5), "no", {}),
        (read("no", "Oh", likelihood=0.9), "no", {}),
        (REFUSED, "no", {}),
    ],
)
def test_a_no_by_never_is_held_against_what_else_is_said(
    without: Reading, answer: str | None, sides: dict[str, str]
) -> None:
    """The question is read again without the turn that says so; a sure yes is in conflict with it."""
    seen: list[int] = []

    def reading(request: Request) -> str | Completion:
        has_never = any("never" in line for line in shown_in(request))
        seen.append(has_never)
        said = read("no", "never") if has_never else without
        return said(request) if callable(said) else said

    trace, _ = run(reading, "Has Ana been to Rome?", ROME, fitted=Fitted())
    assert (seen, trace.answer) == ([True, False], answer)
    assert {side.value: trace.facts[side.facts[0]].text for side in trace.conflict} == sides
    assert trace.status is (Status.ANSWERED if answer else Status.UNKNOWN)


def test_a_no_without_never_is_read_once() -> None:
    """What was so at one time may be otherwise at another."""
    turns = chat("Ana: I have not been to Rome this year.", "Ben: Pity!", "Ana: In Rome I lost my hat in 2019.")
    trace, asked = run(read("no", "this year"), "Has Ana been to Rome?", turns, fitted=Fitted())
    assert (trace.answer, len(asked)) == ("no", 1)


@pytest.mark.parametrize("said", ["a parrot", "Yes and no"])
def test_what_is_no_verdict_is_not_taken_for_one(said: str) -> None:
    """A closed question that is answered by a phrase is not answered."""
    trace, _ = run(read(said, "parrot"), "Does Ben keep a parrot?", PETS)

    assert f"what was read is no verdict: {said}" in why(trace)
    assert trace.answer is None


def test_a_verdict_of_anothers_fact_is_refused() -> None:
    """What Ana says of herself says neither yes nor no of Ben."""
    trace, _ = run(read("yes", "goldfish"), "Did Ben have a goldfish?", PETS)

    assert trace.answer is None
    assert "Ana speaks of themselves" in trace.attempts[0].steps[0].rejected[0].why


def test_proved_steps_are_no_verdict() -> None:
    """Of a closed question only a reading says yes or no."""
    plan = "(Ben) keeps a parrot\n1. (Ben) keeps (x:pets)\n2. (x:pets) are a parrot"
    trace, _ = run(REFUSED, "Does Ben keep a parrot?", PETS, plan, read("parrot", "parrot"))

    assert trace.status is Status.UNKNOWN


# Times


@pytest.mark.parametrize(
    ("reading", "answer"),
    [("24 April 2023", "the week before 1 May 2023"), ("26 April 2023", None), ("1 May 2023", "1 May 2023")],
)
def test_one_end_of_what_a_fact_means_is_read_as_all_of_it(reading: str, answer: str | None) -> None:
    """Of "last week" the model copies the first day; the engine knows which week it was, and takes no other day."""
    turns = chat("Ben: I began with pottery last week.", "Ana: I had a goldfish once.")
    trace, _ = run(read(reading, "pottery"), "When did Ben begin with pottery?", turns)

    assert trace.answer == answer
    assert texts(trace) == ([turns[0].text] if answer else [])


def test_a_time_is_read_where_a_fact_means_it() -> None:
    """A day that a fact's words mean at the time they were said is proved by that fact, whether its words say it or not."""
    turns = chat("Ana: Hello Ben.", "Ben: I got the parrot yesterday.", "Ben: I feed the parrot on Sundays.", day=3)
    trace, _ = run(read("2 May 2023", "Sundays"), "When did Ben get the parrot?", turns)

    assert (trace.answer, texts(trace)[0]) == ("2 May 2023", turns[1].text)


def test_a_time_that_no_fact_means_is_no_reading() -> None:
    """A day that nobody spoke of, nor on, is dropped like any other word that nobody said."""
    trace, _ = run(read("9 July 2021"), "When did Ben get the parrot?", PETS)

    assert trace.status is Status.UNKNOWN


# About whom


def test_what_another_did_is_not_asked_of_the_one_named() -> None:
    """A question is refused that is nearest to what somebody else tells, unless the reading is trusted."""
    turns = chat("Ana: I keep two lazy tortoises on my balcony.", "Ben: I keep off that balcony.")
    question = "Which lazy pets does {} keep on the balcony?"
    refused, _ = run(read("that balcony", "keep off"), question.format("Ben"), turns)
    own, _ = run(read("two tortoises", "tortoises"), question.format("Ana"), turns)

    assert refused.status is Status.UNKNOWN
    assert why(refused) == "what comes nearest to the question is said by Ana, not by Ben"
    assert own.answer == "two tortoises"


def test_what_another_person_tells_is_refused_however_small_the_budget() -> None:
    """The check is not lost where the budget of facts is spent by the first reading."""
    turns = chat("Ben: I moved to the city of Lisbon last spring.", "Ana: I saw it.", "Ben: It rains.")
    for budget in (1, 2, 60):
        trace, _ = run(
            read("Lisbon", "Lisbon", likelihood=0.5), "Which city did Ana move to?", turns,
            "(Ana) moved to (x:city)\n1. (Ana) moved to (x:city)", fitted=Fitted(), limits=Limits(budget=budget),
        )  # fmt: skip
        assert trace.status is Status.UNKNOWN


def test_when_something_was_may_be_told_by_another_turn_than_the_nearest() -> None:
    """A time is meant by "yesterday", in a turn that has no other word of the question."""
    turns = chat("Ana: I cheered at the lazy marathon in the old town.", "Ben: I did it yesterday.")
    question = "When did Ben run the lazy marathon in the old town?"
    time, _ = run(read("30 April 2023", "yesterday"), question, turns)
    other, _ = run(read("yesterday", "yesterday"), question.replace("When", "With whom"), turns)

    assert time.answer == "30 April 2023"
    assert "is said by Ana, not by Ben" in why(other)


def test_what_nobody_says_takes_nothing_from_the_one_named() -> None:
    """What a backbone derived has no speaker: it is nobody else's."""
    turns = [replace(turn, speaker="") for turn in chat("X: Ben keeps two lazy tortoises, his pets, on the balcony.")]
    turns += chat("Ben: Nice weather on that balcony.")
    trace, _ = run(read("two lazy tortoises"), "Which lazy pets does Ben keep on the balcony?", turns)

    assert trace.answer == "two lazy tortoises"


def test_who_is_only_addressed_is_no_answer() -> None:
    """Thanks, Ben! tells nothing of Ben."""
    turns = chat("Ben: What a trip!", "Ana: Thanks, Ben! I went to Leeds with Kim.")
    question = "Who went to Leeds with Ana?"
    addressed, _ = run(read("Ben", "Leeds"), question, turns)
    told, _ = run(read("Kim", "Leeds"), question, turns)

    assert why(addressed).endswith("comes near, but only addresses Ben")
    assert (addressed.answer, told.answer) == (None, "Kim")


@pytest.mark.parametrize(
    ("question", "answer", "word", "reason"),
    [
        ("Which cat does Nora have?", "Mr. Okafor", "Okafor", "Mr. Okafor is a person, no cat"),
        ("Who is Deniz?", "Luis", "brother", "Luis is a name, and does not tell who somebody is"),
    ],
)
def test_a_person_is_no_animal_and_a_speakers_name_tells_not_who_somebody_is(
    question: str, answer: str, word: str, reason: str
) -> None:
    """However sure the model is, and though the turn says the name: the engine refuses it, and says why."""
    turns = chat("Nora: Mr. Okafor allows cats.", "Luis: My brother Deniz allows none.")
    trace, _ = run(read(answer, word), question, turns)

    assert trace.status is Status.UNKNOWN
    assert reason in why(trace)


def test_what_one_says_of_himself_is_not_taken_for_the_others() -> None:
    """Both talk, and only the one named, or a turn that names him, can tell of him."""
    turns = chat(
        "Ana: I ran the marathon in March.", "Ben: I ran the marathon in June.", "Ana: Ben ran it in June, he says."
    )
    question = "In which month did Ben run the marathon?"
    march, june = (run(read(month, month), question, turns)[0] for month in ("March", "June"))

    assert (march.answer, june.answer) == (None, "June")


# The steps of a plan


SISTER = chat(
    "Priya: My sister Anjali moved to Leeds.", "--", "Priya: Anjali has eleven cello pupils, a sister to be proud of."
)
TAUGHT = "Which instrument does Priya's sister teach?"
STEPS = (
    "The sister of (Priya) teaches (x:instrument)\n1. (y:person) is the sister of (Priya)\n"
    "2. (y:person) has (x:instrument) pupils"
)


def by_words(readings: Mapping[str, Reading]) -> Callable[[Request], str | Completion]:
    """Return what reads a step by words of its question; it refuses the others."""

    def reply(request: Request) -> str | Completion:
        said = next((said for word, said in readings.items() if word in asked_in(request)), REFUSED)
        return said(request) if callable(said) else said

    return reply


def steps_of(trace: Trace) -> list[dict[str, tuple[str, ...]]]:
    """Return what the steps of the plan were bound to, in the order in which they were."""
    (attempt,) = (attempt for attempt in trace.attempts if attempt.breadth)
    return [dict(item.bindings) for step in attempt.steps for item in step.grounded]


def test_a_step_that_lacks_two_values_is_read_for_both() -> None:
    """Only where no step lacks a single one; its certainty is that of the less sure of them."""
    plan = "(Priya) knows (x:person)\n1. (x:person) moved to (y:town)\n2. (x:person) has pupils in (y:town)"
    steps = by_words(
        {"Which person": read("Anjali", "Leeds", likelihood=0.9), "which town": read("Leeds", "Leeds", likelihood=0.6)}
    )
    trace, seen = run(REFUSED, "Which person does Priya know?", SISTER, plan, steps)
    asked = [asked_in(request) for request in seen if request.step == "read"]

    assert asked[asked.index("Which person moved to some town?") + 1] == "Some person moved to which town?"
    assert steps_of(trace)[0] == {"x": ("Anjali",), "y": ("Leeds",)}
    (grounded,) = trace.attempts[1].steps[0].grounded
    assert grounded.grounding_certainty == pytest.approx(0.6)


def test_a_step_has_no_certainty_where_the_model_tells_none() -> None:
    """It is proved all the same."""
    trace, _ = run(REFUSED, TAUGHT, SISTER, STEPS, by_words({"sister": read("Anjali", "Leeds", likelihood=None)}))
    (grounded,) = trace.attempts[1].steps[0].grounded

    assert (dict(grounded.bindings), grounded.grounding_certainty) == ({"y": ("Anjali",)}, None)


def test_a_step_of_which_one_value_is_not_read_proves_nothing() -> None:
    """The trace says why."""
    plan = "(Priya) knows (x:person)\n1. (x:person) moved to (y:town)\n2. (x:person) has pupils in (y:town)"
    trace, _ = run(
        REFUSED, "Which person does Priya know?", SISTER, plan, by_words({"Which person": read("Anjali", "Leeds")})
    )

    assert not steps_of(trace)
    assert why(trace, 1) == "read together, the facts do not tell it"


@pytest.mark.parametrize(("verdict", "is_so"), [("yes", True), ("likely yes", True), ("no", False)])
def test_a_step_without_a_variable_is_read_for_yes_or_no(verdict: str, is_so: bool) -> None:
    """No is no proof of it, and the trace says what was read."""
    plan = f"(Priya) has (x:instrument) pupils\n1. (Anjali) is the sister of (Priya)\n{STEPS.splitlines()[2]}"
    plan = plan.replace("(y:person)", "(Anjali)")
    steps = by_words({"sister": read(verdict, "Leeds"), "has": read("cello", "cello")})
    trace, seen = run(REFUSED, TAUGHT.replace("Priya's sister", "Priya's Anjali"), SISTER, plan, steps)

    assert "Anjali is the sister of Priya?" in map(asked_in, seen)
    assert ({} in steps_of(trace)) is is_so
    assert is_so or why(trace, 1) == "what was read is no"


def test_the_checks_hold_for_steps_too() -> None:
    """What no fact of those shown to it states is refused, with the reason; so is what only addresses somebody."""
    invented, _ = run(REFUSED, TAUGHT, SISTER, STEPS, by_words({"sister": read("Napoleon", "Leeds")}))
    turns = chat("Ben: What a trip!", "Ana: Thanks, Ben! I went to Leeds with Kim.")
    plan = "(Ana) saw (x:town) with (y:person*)\n1. (Ana) went to Leeds with (y:person*)\n2. (Ana) saw (x:town)"
    listed, _ = run(
        REFUSED, "Which town did Ana see with whom?", turns, plan.replace(" with (y:person*)\n1", "\n1"),
        by_words({"person": read("Ben, Kim", "Leeds")}),
    )  # fmt: skip

    assert not steps_of(invented)
    assert "do not state what was read: Napoleon" in why(invented, 1)
    assert steps_of(listed) == [{"y": ("Kim",)}]


def test_a_step_shows_what_it_led_to_and_what_was_read_before() -> None:
    """Of the facts that it leads to beyond those, as many as fit: the first may be a long one."""
    long = f"Ben: Graca bakes a walnut loaf {'and rests ' * 40}on Fridays."
    turns = [*TURNS[:2], *chat(long, "Ben: Graca bakes a rye loaf.", conversation="bread")]

    def shown(tokens: int, most: int = 3000, said: Sequence[Turn] = turns) -> list[str]:
        fitted = Fitted(rounds=((1,),), added=(3, tokens))
        steps = by_words({"neighbour": read("Graca", "cake")})
        _, seen = run(REFUSED, LOAF, said, TWO, steps, fitted, Limits(max_depth=2, max_fact_tokens=most))
        asked = next(request for request in seen if asked_in(request) == "Graca bakes which loaf?")
        return [word for word in ("cake", "walnut", "rye") if word in asked.growing]

    assert shown(1000) == ["cake", "walnut", "rye"]
    assert shown(30) == ["cake", "walnut"]
    most = token_cost("Ben", long, ()) + 10  # it has no room beside what was read before
    assert shown(30, most, [turns[0], turns[2]]) == ["cake"]


def test_steps_over_an_empty_memory_ask_nothing() -> None:
    """Nor does the question: only the plan is asked for."""
    _, seen = run(REFUSED, TAUGHT, [], STEPS)

    assert [request.step for request in seen] == ["decompose"]


def test_unusable_steps_are_tried_once_more() -> None:
    """Then the attempt ends, and the question is read again."""
    trace, seen = run(REFUSED, TAUGHT, SISTER, STEPS, "no such line")

    assert trace.attempts[1].ending is Ending.UNUSABLE_REPLY
    assert sum("sister of Priya?" in asked_in(request) for request in seen) == 2
