"""How the share of temporal questions with an annotated answer is counted."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.lab.evaluation.metrics.date_coverage import contains, times_table
from goalmem_cli.logic.dates import Period
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import read_file

LOCOMO = Path(__file__).parents[4] / "shared/data/locomo/locomo5.json"
SAID = datetime(2023, 5, 25, 13, 14)  # a Thursday

TEXTS = {
    "D1:1": "I ran a race last Saturday.",
    "D1:2": "We're camping next month!",
    "D1:3": "Look at this.",
    "D1:4": "I bought it today.",
    "D1:5": "I've played for two years now.",
    "D1:6": "We married on 3 June 2019.",
}


def counted(answer: str, *evidence: str, category: str = "2") -> tuple[int, int, int]:
    """Return how many questions hold a date, have a relative expression, and are found, for one question."""
    turns = [Turn("chat", 0, place, "Ann", text, SAID, own_id) for place, (own_id, text) in enumerate(TEXTS.items())]
    case = Case("1", "chat", "When?", answer, evidence, category)
    table = times_table([case], [Conversation("chat", "locomo", tuple(turns))])
    return len(table.cases), len(table.relative), sum(case.is_found for case in table.cases)


@pytest.mark.parametrize(
    ("answer", "evidence", "expected"),
    [
        ("20 May 2023", ["D1:1"], (1, 1, 1)),
        ("The Saturday before 25 May 2023", ["D1:1"], (1, 1, 1)),
        ("The Sunday before 25 May 2023", ["D1:1"], (1, 1, 0)),
        ("May 2023", ["D1:1"], (1, 1, 1)),
        ("2023", ["D1:1"], (1, 1, 1)),
        ("20 May", ["D1:1"], (1, 1, 1)),
        ("June 2023", ["D1:2"], (1, 1, 1)),
        ("5 June 2023", ["D1:2"], (1, 1, 0)),
        ("20 May 2023 and June 2023", ["D1:1", "D1:2"], (1, 1, 1)),
        ("20 May 2023 and June 2023", ["D1:1"], (1, 1, 0)),
        ("25 May 2023", ["D1:3"], (1, 0, 0)),
        ("25 May 2023", ["D1:1"], (1, 1, 0)),
        ("25 May 2023", ["D1:4"], (1, 1, 1)),
        ("Since 2021", ["D1:5"], (1, 1, 1)),
        ("June 2019", ["D1:6"], (1, 0, 1)),
        ("her mother", ["D1:1"], (0, 0, 0)),
        ("4 years", ["D1:1"], (0, 0, 0)),
    ],
)
def test_what_counts(answer: str, evidence: list[str], expected: tuple[int, int, int]) -> None:
    """The same days or days within the answer's count; coarser ones, and the day of speaking unsaid, do not."""
    assert counted(answer, *evidence) == expected


def test_other_categories_are_left_out() -> None:
    """Only temporal questions are counted."""
    assert counted("20 May 2023", "D1:1", category="4") == (0, 0, 0)


def test_a_week_of_a_month_may_be_counted_in_two_ways() -> None:
    """The first week of April is its first seven days, or a calendar week that begins in it."""
    assert contains("first week of April 2022", [Period(date(2022, 4, 4), date(2022, 4, 10))])
    assert contains("first week of April 2022", [Period(date(2022, 4, 1), date(2022, 4, 7))])
    assert not contains("first week of April 2022", [Period(date(2022, 4, 11), date(2022, 4, 17))])
    assert not contains("blue", [Period(date(2022, 4, 11), date(2022, 4, 17))])


@pytest.mark.shared
@pytest.mark.skipif(not LOCOMO.exists(), reason="shared data is not there")
def test_the_share_on_locomo() -> None:
    """Annotated evidence contains the answer's date for more than the 85% that the project asks for."""
    table = times_table(read_dataset([LOCOMO]).cases, read_file(LOCOMO, "locomo"))
    assert table.temporal == 157
    assert len(table.relative) >= 110
    assert table.share >= 0.9
