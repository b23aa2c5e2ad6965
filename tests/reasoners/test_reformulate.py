"""`reformulate`: one retrieval with several wordings of the question (GOAL-MEM Appendix F), and each way that ends."""

import pytest

from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.inquiry import Budget, Tools
from goalmem_cli.reasoners.reformulate import Reformulate, ReformulateSettings, calls
from goalmem_cli.testing import Reply
from goalmem_cli.trace import Status, Stop
from tests.reasoners.forward import QUESTION, RUBBISH, SHELF, adversarial, ask, both_profiles, says, stays_within


def two(tools: Tools) -> Reformulate:
    """Return the reasoner with two rewrites."""
    return Reformulate(tools, ReformulateSettings(2))


@both_profiles
def test_the_question_and_its_rewrites_are_all_queries(book: PromptBook) -> None:
    """What only a rewrite finds reaches the reader, in one round and two calls."""
    rewrites = says(query=["Biscuit dog", "vet euros"])
    asked = ask(Reformulate, QUESTION, rewrites, says(answer="12 euros", facts=["vet"]), book=book)

    assert asked.steps == ["rewrite", "retrieve", "read"]
    assert asked.trace.actions[1].queries == (QUESTION, "Biscuit dog", "vet euros")
    assert [query.text for query in asked.backbone.queries] == [QUESTION, "Biscuit dog", "vet euros"]
    assert (asked.trace.answer, asked.trace.stopped) == ("12 euros", Stop.ONE_ROUND)
    assert asked.evidence == ["I paid 12 euros for the vet yesterday."]
    assert (asked.model.calls, asked.model.calls) == calls()


@both_profiles
def test_units_are_shared_evenly_and_merged_in_turn(book: PromptBook) -> None:
    """Three queries and six units: two hits each, the best of each query first."""
    replies: list[Reply] = [says(query=["brick", "candle"]), says(answer="unknown")]
    asked = ask(two, "apple", *replies, turns=SHELF, budget=Budget(6), book=book)

    merged = [f"{thing} number {number}" for number in (0, 1) for thing in ("apple", "brick", "candle")]
    assert asked.texts == (merged if book.profile == "compact" else sorted(merged))  # as they were said


def test_each_query_brings_at_least_one_hit_and_the_pool_is_clipped() -> None:
    """With fewer units than queries the first queries' best hits fill the pool, and every other hit is counted."""
    asked = ask(two, "apple", says(query=["brick", "candle"]), says(answer="unknown"), turns=SHELF, budget=Budget(2))

    assert asked.texts == ["apple number 0", "brick number 0"]
    assert asked.trace.actions[1].skipped == 4


def test_a_unit_that_several_queries_find_is_one_fact() -> None:
    """Hits are deduplicated over the queries."""
    asked = ask(
        Reformulate, "apple", says(query=["apple number", "number apple 0"]), says(answer="unknown"), turns=SHELF[:2]
    )

    assert asked.texts == ["apple number 0", "apple number 1"]


@both_profiles
def test_rewrites_that_repeat_are_dropped(book: PromptBook) -> None:
    """Case, articles and punctuation make no other query; neither does the question again."""
    rewrites = says(query=[QUESTION.upper(), "the dog Biscuit", "Dog Biscuit!", "  ", "a   vet"])
    asked = ask(Reformulate, QUESTION, rewrites, says(answer="unknown"), book=book)

    assert asked.trace.actions[1].queries == (QUESTION, "the dog Biscuit", "a vet")


def test_more_rewrites_than_asked_for_are_left_out() -> None:
    """A model that writes too many gets as many as it was asked for."""
    asked = ask(two, QUESTION, says(query=["dog", "vet", "waiter"]), says(answer="unknown"))

    assert asked.trace.actions[1].queries == (QUESTION, "dog", "vet")
    assert "2" in asked.model.seen[0].tail


@both_profiles
@pytest.mark.parametrize("unusable", [RUBBISH, "", says(query=["Apple?"])], ids=["rubbish", "empty", "the question"])
def test_without_a_usable_rewrite_the_question_stands_alone(book: PromptBook, unusable: Reply) -> None:
    """After two unusable replies the question has all the units, as for `direct`, and the trace says so."""
    replies = [unusable, unusable, says(answer="three", facts=["apple number 3"])]
    asked = ask(two, "apple", *replies, turns=SHELF, budget=Budget(4), book=book)

    assert (len(asked.texts), asked.trace.answer) == (4, "three")
    assert asked.trace.actions[0].failure
    assert asked.trace.actions[1].queries == ("apple",)
    assert "question alone" in asked.trace.notes[0]


@both_profiles
def test_an_unusable_rewrite_is_asked_for_once_more(book: PromptBook) -> None:
    """The second request says what was wrong with the first reply."""
    asked = ask(Reformulate, QUESTION, says(query=[QUESTION]), says(query=["dog"]), says(answer="unknown"), book=book)

    assert "no query differs" in asked.model.seen[1].tail
    assert asked.trace.actions[1].queries == (QUESTION, "dog")
    assert not asked.trace.notes


@both_profiles
def test_two_unusable_readings_fail(book: PromptBook) -> None:
    """Facts that could not be read from are a failure, not unknown."""
    trace = ask(Reformulate, QUESTION, says(query=["dog"]), RUBBISH, RUBBISH, book=book).trace

    assert (trace.status, trace.answer) == (Status.FAILED, None)
    assert str(trace.failure).startswith("read: ")


def test_without_a_fact_nothing_is_read() -> None:
    """Where no query finds anything the question is unknown."""
    trace = ask(Reformulate, "Zanzibar?", says(query=["Timbuktu"])).trace

    assert (trace.status, trace.usage.calls) == (Status.UNKNOWN, 1)


def test_the_asker_is_named_where_the_question_speaks_of_them() -> None:
    """A rewrite can put the asker's name for I."""
    asked = ask(Reformulate, "What did I order?", says(query=["Alice ordered"]), says(answer="unknown"), asker="Alice")

    assert "Alice" in asked.model.seen[0].growing


@adversarial
def test_whatever_the_model_writes(book: PromptBook, seed: int, units: int, tokens: int) -> None:
    """Calls, budget and citations keep their bounds."""
    trace = stays_within(Reformulate, calls()[1], book, seed, units, tokens)

    assert sum(len(action.queries) for action in trace.actions) <= 6
