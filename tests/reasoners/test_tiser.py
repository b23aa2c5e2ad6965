"""`tiser`: a timeline and a check of it before the answer, in one reply."""

from __future__ import annotations

import json

import pytest

from goalmem_cli.ports import Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.reasoners.direct import calls
from goalmem_cli.reasoners.inquiry import Budget
from goalmem_cli.reasoners.tiser import Tiser
from goalmem_cli.trace import Status, Stop
from tests.reasoners.forward import (
    COMPACT,
    FULL,
    QUESTION,
    RUBBISH,
    TURNS,
    Asked,
    adversarial,
    ask,
    both_profiles,
    says,
    stays_within,
)  # fmt: skip

WHEN = "When did they move to Leeds?"
EVENTS = ["2 May 2023 - Ben pays the vet", "3 May 2023 - they move to Leeds"]
TOLD = says(["We moved to Leeds"], timeline=EVENTS, answer="3 May 2023")
THOUGHT = says(
    ["We moved to Leeds"], reasoning="The move is wanted.", timeline=EVENTS,
    reflection="The vet is before the move, so the order is right.", answer="3 May 2023",
)  # fmt: skip


def steps(asked: Asked) -> tuple[list[str], Stop | None]:
    """Return what was done and why it ended."""
    return asked.steps, asked.trace.stopped


def test_the_timeline_and_its_check_stand_before_the_answer_in_the_trace() -> None:
    """The reply thinks, lays out the facts in time, checks that, and only then answers; the trace keeps all of it."""
    asked = ask(Tiser, WHEN, THOUGHT, book=FULL)
    assert steps(asked) == (["retrieve", "tiser"], Stop.ONE_ROUND)
    said = asked.trace.actions[-1].said
    assert said == (
        ("reasoning", "The move is wanted."), ("timeline", EVENTS[0]), ("timeline", EVENTS[1]),
        ("reflection", "The vet is before the move, so the order is right."), ("facts", asked.trace.evidence[0]),
        ("answer", "3 May 2023"),
    )  # fmt: skip
    assert asked.trace.answer == "3 May 2023"
    assert asked.evidence == [TURNS[4].text]


def test_a_small_model_writes_lines_of_a_timeline_and_the_answer() -> None:
    """In the compact profile a few dated lines come first, then the answer and its facts."""
    asked = ask(Tiser, WHEN, TOLD, book=COMPACT)
    assert steps(asked) == (["retrieve", "tiser"], Stop.ONE_ROUND)
    assert [name for name, _ in asked.trace.actions[-1].said] == ["timeline", "timeline", "answer", "facts"]
    assert asked.trace.answer == "3 May 2023"
    assert asked.evidence == [TURNS[4].text]


@both_profiles
def test_it_sees_what_direct_sees(book: PromptBook) -> None:
    """One retrieval with the question, as many hits as the budget holds, whatever the backbone."""
    asked = ask(
        Tiser, QUESTION, says(reasoning="r", reflection="r", answer="unknown"), book=book, budget=Budget(2, 3000)
    )
    (query,) = asked.backbone.queries
    assert query.text == QUESTION
    assert len(asked.trace.facts) == 2
    assert asked.trace.usage.calls == 1
    assert calls() == (1, 1)
    assert asked.trace.prompts.keys() == {"tiser"}


@both_profiles
def test_a_timeline_may_lead_to_no_answer(book: PromptBook) -> None:
    """Unknown cites nothing, however much stands on the timeline."""
    reply = says(reasoning="r", timeline=EVENTS, reflection="Not about Zoe.", answer="unknown")
    if book is COMPACT:
        reply = says(timeline=EVENTS, answer="unknown")
    asked = ask(Tiser, "Has Zoe moved to Leeds?", reply, book=book)
    assert (asked.trace.status, asked.trace.answer, asked.trace.evidence) == (Status.UNKNOWN, None, ())


@both_profiles
@pytest.mark.parametrize("bad", ["no answer", "a fact not shown", "rubbish"])
def test_replies_of_another_form_fail_after_a_second_try(book: PromptBook, bad: str) -> None:
    """It is asked once more, told what was wrong; twice unusable is failed."""

    def reply(request: Request) -> str:
        if bad == "rubbish":
            return RUBBISH
        fields = {"reasoning": "r", "timeline": EVENTS, "reflection": "r", "facts": [], "answer": "Leeds"}
        fields |= {"facts": ["F99"]} if bad == "a fact not shown" else {"answer": ""}
        if book is FULL:
            return json.dumps(fields)
        return f"timeline: {EVENTS[0]}\nanswer: {fields['answer']}\nfacts: {', '.join(fields['facts'])}"

    asked = ask(Tiser, WHEN, reply, reply, book=book)
    assert (asked.trace.status, asked.trace.usage.calls) == (Status.FAILED, 2)
    assert asked.trace.failure
    assert asked.trace.failure.startswith("tiser: ")
    assert "used:" in asked.model.seen[1].tail or "usable:" in asked.model.seen[1].tail
    mended = ask(Tiser, WHEN, reply, THOUGHT if book is FULL else TOLD, book=book)
    assert mended.trace.answer == "3 May 2023"


@both_profiles
def test_without_a_fact_the_model_is_not_asked(book: PromptBook) -> None:
    """Nothing retrieved is unknown at no cost."""
    asked = ask(Tiser, "Zebra?", book=book)
    assert (asked.trace.status, asked.trace.usage.calls) == (Status.UNKNOWN, 0)
    assert asked.trace.notes == ("nothing was retrieved",)


@adversarial
def test_whatever_the_model_writes_it_ends_within_its_bounds(
    book: PromptBook, seed: int, units: int, tokens: int
) -> None:
    """No reply makes it ask more, show more or cite what was not shown."""
    stays_within(Tiser, calls()[1], book, seed, units, tokens)
