"""`reflect`: retrieval until the facts are judged sufficient (GOAL-MEM Appendix F), and each way that ends."""

import pytest

from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.inquiry import Budget, Tools
from goalmem_cli.reasoners.reflect import Reflect, ReflectSettings, calls
from goalmem_cli.testing import Reply
from goalmem_cli.trace import Status, Stop
from tests.reasoners.forward import COMPACT, QUESTION, RUBBISH, adversarial, ask, both_profiles, says, stays_within
from tests.reasoners.scripting import chat

ENOUGH = says(why="all is told", sufficient=True, query="")
UNKNOWN = says(answer="unknown")
SHELF = chat(*(f"Ann: {thing} number {number}" for thing in ("apple", "brick", "candle") for number in range(4)))


def wants(query: str) -> Reply:
    """Return that the facts do not suffice, and what to look for."""
    return says(why="something is missing", sufficient=False, query=query)


def two(tools: Tools) -> Reflect:
    """Return the reasoner with two turns."""
    return Reflect(tools, ReflectSettings(2))


@both_profiles
def test_sufficient_facts_end_it(book: PromptBook) -> None:
    """The first retrieval is with the question; content with it, the model is asked for the answer at once."""
    asked = ask(Reflect, QUESTION, ENOUGH, says(answer="Kyoto Latte", facts=["Latte"]), book=book)

    assert asked.steps == ["retrieve", "reflect", "read"]
    assert (asked.trace.answer, asked.trace.stopped) == ("Kyoto Latte", Stop.SUFFICIENT)
    assert asked.evidence == ["I ordered a Kyoto Latte at Momoco."]
    assert asked.model.calls == calls()[0]


@both_profiles
def test_a_proposed_query_adds_to_the_pool(book: PromptBook) -> None:
    """The next turn sees the new facts after the old ones, and every query so far."""
    replies = [wants("Biscuit dog"), ENOUGH, says(answer="Biscuit", facts=["Biscuit"])]
    asked = ask(Reflect, QUESTION, *replies, book=book)
    first, second, _ = asked.model.seen

    assert asked.steps == ["retrieve", "reflect", "retrieve", "reflect", "read"]
    assert asked.trace.actions[2].queries == ("Biscuit dog",)
    assert "Biscuit ate" not in first.growing
    assert second.growing.startswith(first.growing)
    assert "Biscuit ate" in second.growing
    assert QUESTION in second.tail
    assert "Biscuit dog" in second.tail
    assert asked.trace.answer == "Biscuit"


@both_profiles
@pytest.mark.parametrize("query", ["", "  ", QUESTION.lower(), "The Biscuit dog!"])
def test_no_further_query_ends_it(book: PromptBook, query: str) -> None:
    """Neither an empty query nor one that was issued before is retrieved with."""
    asked = ask(Reflect, QUESTION, wants("Biscuit dog"), wants(query), UNKNOWN, book=book)

    assert asked.trace.stopped is Stop.NO_QUERY
    assert len(asked.backbone.queries) == 2


@both_profiles
def test_nothing_new_ends_it(book: PromptBook) -> None:
    """A query that finds only what is known is the last one."""
    asked = ask(Reflect, QUESTION, wants("Kyoto Latte Momoco"), UNKNOWN, book=book)

    assert asked.trace.stopped is Stop.NOTHING_NEW
    assert asked.trace.actions[2].new_facts == ()
    assert asked.steps[-1] == "read"


@both_profiles
def test_facts_without_room_end_it_by_the_budget(book: PromptBook) -> None:
    """A query that finds something new for which no tokens are left did not find nothing."""
    turns = chat("Ann: apple " + "in a barn " * 30, "Ann: a brick of red clay from the yard")
    asked = ask(Reflect, "apple", wants("brick"), UNKNOWN, turns=turns, budget=Budget(60, 130), book=book)

    assert asked.trace.stopped is Stop.BUDGET_SPENT
    assert [action.skipped for action in asked.trace.actions if action.queries] == [0, 1]


@both_profiles
def test_the_limit_of_turns_ends_it(book: PromptBook) -> None:
    """After the last turn's retrieval the answer is read, its facts included."""
    asked = ask(two, QUESTION, wants("Biscuit"), wants("vet"), says(answer="12 euros", facts=["vet"]), book=book)

    assert asked.trace.stopped is Stop.LIMIT
    assert asked.steps == ["retrieve", "reflect", "retrieve", "reflect", "retrieve", "read"]
    assert asked.evidence == ["I paid 12 euros for the vet yesterday."]
    assert asked.model.calls == calls(ReflectSettings(2))[1]


@both_profiles
def test_an_unusable_reflection_ends_the_search_but_not_the_question(book: PromptBook) -> None:
    """After two unusable replies the answer is still read from the pool, and the trace says why."""
    asked = ask(Reflect, QUESTION, RUBBISH, RUBBISH, says(answer="Kyoto Latte", facts=["Latte"]), book=book)

    assert (asked.trace.status, asked.trace.stopped) == (Status.ANSWERED, Stop.UNUSABLE_REPLY)
    assert asked.trace.actions[1].failure
    assert "no reflection could be used" in asked.trace.notes[0]


@both_profiles
def test_an_unusable_reflection_is_asked_for_once_more(book: PromptBook) -> None:
    """A usable second reply counts, and the turn is one turn."""
    asked = ask(two, QUESTION, RUBBISH, wants("Biscuit"), RUBBISH, ENOUGH, UNKNOWN, book=book)

    assert asked.trace.stopped is Stop.SUFFICIENT
    assert (asked.model.calls, asked.trace.usage.calls) == (5, 5)
    assert not asked.trace.notes


@pytest.mark.parametrize(
    "reply", ["why: x\nsufficient: perhaps", "why: x\nquery: y", "why: x\nsufficient: no\nquery: dog\nquery: vet"]
)
def test_lines_that_do_not_decide_are_unusable(reply: str) -> None:
    """Of lines, a verdict other than yes and no, none, and two queries are refused."""
    trace = ask(Reflect, QUESTION, reply, reply, UNKNOWN, book=COMPACT).trace

    assert trace.stopped is Stop.UNUSABLE_REPLY


def test_a_first_retrieval_without_facts_is_reflected_on() -> None:
    """The model may still find words that the memory knows."""
    asked = ask(Reflect, "Zanzibar?", wants("Biscuit"), ENOUGH, says(answer="Biscuit", facts=["Biscuit"]))

    assert asked.trace.answer == "Biscuit"


def test_sufficient_without_facts_is_unknown() -> None:
    """Nothing can be read from nothing."""
    trace = ask(Reflect, "Zanzibar?", ENOUGH).trace

    assert (trace.status, trace.stopped) == (Status.UNKNOWN, Stop.SUFFICIENT)


@both_profiles
def test_two_unusable_readings_fail(book: PromptBook) -> None:
    """Facts that could not be read from are a failure, not unknown."""
    trace = ask(Reflect, QUESTION, ENOUGH, RUBBISH, RUBBISH, book=book).trace

    assert (trace.status, trace.stopped) == (Status.FAILED, Stop.SUFFICIENT)


def test_units_are_shared_evenly_over_the_retrievals() -> None:
    """Six units and two turns: each of the three retrievals brings two."""
    asked = ask(two, "apple", wants("brick"), wants("candle"), UNKNOWN, turns=SHELF, budget=Budget(6))

    assert asked.texts == [f"{thing} number {number}" for thing in ("apple", "brick", "candle") for number in range(2)]


def test_tokens_are_kept_for_later_retrievals() -> None:
    """The first retrieval takes half of the tokens at most, so that each later one still shows a fact."""
    asked = ask(two, "apple", wants("brick"), wants("candle"), UNKNOWN, turns=SHELF, budget=Budget(60, 72))

    assert [len(action.new_facts) for action in asked.trace.actions if action.name == "retrieve"] == [2, 1, 1]
    assert asked.trace.actions[0].skipped == 2


def test_a_long_fact_is_shown_where_its_share_is_smaller() -> None:
    """The best hit is not lost because it takes more than half of the tokens."""
    turns = chat("Ann: apple " + "in a barn " * 30, "Ann: apple pie")
    asked = ask(two, "apple", ENOUGH, UNKNOWN, turns=turns, budget=Budget(60, 160))

    assert [text[:9] for text in asked.texts] == ["apple in "]


@adversarial
def test_whatever_the_model_writes(book: PromptBook, seed: int, units: int, tokens: int) -> None:
    """Calls, budget and citations keep their bounds; no query is issued twice."""
    trace = stays_within(Reflect, calls()[1], book, seed, units, tokens)
    queries = [query for action in trace.actions for query in action.queries]

    assert len(queries) == len(set(queries)) <= 6
