"""`oracle`: the gold evidence and nothing else."""

from collections.abc import Callable, Sequence

from goalmem_cli.ports import Reasoner
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.inquiry import Budget, Tools
from goalmem_cli.reasoners.oracle import Oracle, calls
from goalmem_cli.records import Hit, Question
from goalmem_cli.store.units import units_from_turns
from goalmem_cli.trace import Status, Stop
from tests.reasoners.forward import QUESTION, RUBBISH, TURNS, adversarial, ask, both_profiles, says, stays_within

HITS = [Hit(unit, 0.0) for unit in units_from_turns(TURNS)]


def knowing(*places: int) -> Callable[[Tools], Reasoner]:
    """Return what builds an oracle that knows the turns at these places for every question."""

    def gold(_: Question) -> Sequence[Hit]:
        return [HITS[place] for place in places]

    return lambda tools: Oracle(tools, gold)


@both_profiles
def test_it_reads_the_evidence_in_order_of_time(book: PromptBook) -> None:
    """The model sees the evidence and no other turn, the earliest first; nothing is retrieved."""
    asked = ask(knowing(4, 0), QUESTION, says(["Kyoto"], answer="Kyoto Latte"), book=book)
    assert asked.texts == [TURNS[0].text, TURNS[4].text]
    assert asked.backbone.queries == []
    assert asked.steps == ["retrieve", "read"]
    assert (asked.trace.status, asked.trace.answer, asked.trace.stopped) == (
        Status.ANSWERED, "Kyoto Latte", Stop.ONE_ROUND,
    )  # fmt: skip
    assert asked.evidence == [TURNS[0].text]
    assert asked.trace.usage.calls == calls()[1] == 1


@both_profiles
def test_the_evidence_is_that_of_the_question(book: PromptBook) -> None:
    """It is looked up by the very question that is asked."""
    seen: list[Question] = []

    def gold(question: Question) -> Sequence[Hit]:
        seen.append(question)
        return HITS[:1]

    ask(lambda tools: Oracle(tools, gold), QUESTION, says(answer="unknown"), book=book, asker="Alice")
    assert [(question.text, question.asker) for question in seen] == [(QUESTION, "Alice")]


@both_profiles
def test_without_evidence_it_is_unknown_and_asks_nobody(book: PromptBook) -> None:
    """A question that has none, as the unanswerable ones, costs nothing."""
    asked = ask(knowing(), QUESTION, book=book)
    assert (asked.trace.status, asked.trace.usage.calls) == (Status.UNKNOWN, 0)
    assert asked.trace.notes == ("nothing was retrieved",)


def test_evidence_beyond_the_budget_is_counted() -> None:
    """What there is no room for is not shown, and the trace says how much."""
    asked = ask(knowing(0, 1, 2), QUESTION, says(answer="unknown"), budget=Budget(2, 3000))
    assert asked.texts == [TURNS[0].text, TURNS[1].text]
    assert asked.trace.actions[0].skipped == 1


@both_profiles
def test_unknown_and_failed_end_it_too(book: PromptBook) -> None:
    """The model may find that the evidence does not tell, or write nothing that can be used."""
    unknown = ask(knowing(0), QUESTION, says(answer="unknown"), book=book)
    assert (unknown.trace.status, unknown.trace.evidence) == (Status.UNKNOWN, ())
    failed = ask(knowing(0), QUESTION, says(["F2"], answer="tea"), RUBBISH, book=book)
    assert failed.trace.status is Status.FAILED
    assert (failed.trace.failure or "").startswith("read: ")


@adversarial
def test_whatever_the_model_writes_it_ends_within_its_bounds(
    book: PromptBook, seed: int, units: int, tokens: int
) -> None:
    """No reply makes it ask more, show more or cite what was not shown."""
    stays_within(knowing(0, 1, 4, 5), calls()[1], book, seed, units, tokens)
