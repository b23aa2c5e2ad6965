"""A fact says what its relative expressions mean, so that neither model nor reader has to count days."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.reasoners.asking import fact_line
from goalmem_cli.reasoners.goal_mem.facts import FactBook
from goalmem_cli.reasoners.goal_mem.records import Limits
from goalmem_cli.reasoners.showing import Shown
from goalmem_cli.records import Conversation, Question, Turn
from tests.store.samples import open_store

SAID = datetime(2023, 5, 21, 18, 20)


def facts(folder: Path, text: str) -> FactBook:
    """Return the facts that a question about swimming retrieves from a store that holds the text."""
    store = open_store(folder / "store")
    store.add(Conversation("c", "openai", (Turn("c", 0, 0, "Ana", text, SAID),)))
    book = FactBook(FlatBackbone(store), Question("When did Ana go swimming?", SAID), Limits(), "full")
    book.retrieve(["Ana swimming"], Shown(), is_first=True)
    return book


def test_a_fact_reads_with_its_times(tmp_path: Path) -> None:
    """As DESIGN has it: the time it was said, then each expression and the days it means."""
    (fact,) = facts(tmp_path, "I went swimming last Friday, and two weekends ago too.").facts.values()
    assert fact_line(fact) == (
        "F1. Ana: I went swimming last Friday, and two weekends ago too. [said 6:20 pm, 21 May 2023; "
        '"last Friday" = 19 May 2023; "two weekends ago" = 6-7 May 2023]'
    )


def test_a_fact_without_relative_times_has_none(tmp_path: Path) -> None:
    """A duration is no date."""
    (fact,) = facts(tmp_path, "I went swimming for two hours.").facts.values()
    assert fact.times == ()
    assert fact_line(fact).endswith("[said 6:20 pm, 21 May 2023]")


def test_open_ends_keep_their_direction(tmp_path: Path) -> None:
    """Before and since are not the day itself."""
    (fact,) = facts(
        tmp_path, "I have been swimming since last March, but never before yesterday in the sea."
    ).facts.values()
    assert '"since last March" = since March 2023' in fact.times
    assert '"before yesterday" = before 20 May 2023' in fact.times
