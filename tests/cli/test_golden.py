"""What the bundled model with its adapter makes of the sample conversations, as the README says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Goalmem, Outcome
from tests.conftest import SAMPLES


@pytest.fixture
def asked(goalmem: Goalmem) -> Any:
    """Ask with the default settings, and return the outcome and its document."""
    assert goalmem("ingest", str(SAMPLES)).code == 0

    def ask(question: str, *words: str) -> tuple[Outcome, dict[str, Any]]:
        outcome = goalmem("ask", question, "--json", "--threads", "1", *words)
        return outcome, json.loads(outcome.out)

    return ask


def cited(document: dict[str, Any]) -> set[str]:
    """Return the labels of the turns that the answer rests on."""
    facts = document["facts"]
    return {label for number in document["evidence"] for label in facts[number]["turns"]}


def test_two_turns_of_different_months_answer_a_question_together(asked: Any) -> None:
    """One man is told of in two sessions: each turn proves its own subgoal, and both of them bind him."""
    outcome, document = asked("Who bought the old Tourer, and who saved Tomas's morning meeting?")

    assert outcome.code == 0
    assert document["answer"] == "Jarek"
    assert sorted(document["attempts"][0]["subgoals"]) == [
        "(x:person) bought the old Tourer",
        "(x:person) saved (Tomas)",
    ]
    assert cited(document) == {"D4:1", "D3:5"}


def test_a_relative_date_is_read_against_the_day_it_was_said(asked: Any) -> None:
    """ "Last Friday" of a Sunday in May is the 19th."""
    outcome, document = asked("When did Alice go to Momoco with Priya?")

    assert outcome.code == 0
    assert document["answer"] == "19 May 2023"
    assert cited(document) == {"D2:4"}


def test_what_memory_does_not_tell_is_refused_with_the_subgoal_that_failed(asked: Any) -> None:
    """Nora's whisk was a present, and nobody says what it cost."""
    outcome, document = asked("What did Nora pay for the bamboo whisk?")
    failed = [entry for attempt in document["attempts"] for entry in attempt["steps"][-1]["unresolved"]]

    assert outcome.code == 1
    assert document["answer"] is None
    assert {entry["why"] for entry in failed}


def test_who_wants_to_be_surer_is_refused_more(asked: Any) -> None:
    """The date above is nearly sure, which is not enough where nothing but certainty is; the refusal says so."""
    outcome, document = asked("When did Alice go to Momoco with Priya?", "--certainty", "100")

    assert outcome.code == 1
    assert document["answer"] is None and 0 < document["certainty"] < 1
    assert "19 May 2023" in document["notes"][-1] and "under 100%" in document["notes"][-1]
