"""Times as people type them."""

from datetime import datetime, timedelta, timezone

import pytest

from goalmem_cli.cli.typed_times import earliest, latest, stretch
from goalmem_cli.errors import UsageError

INSTANT = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("2023", datetime(2023, 1, 1), datetime(2024, 1, 1)),
        ("2023-05", datetime(2023, 5, 1), datetime(2023, 6, 1)),
        ("2023-12", datetime(2023, 12, 1), datetime(2024, 1, 1)),
        ("2024-02", datetime(2024, 2, 1), datetime(2024, 3, 1)),
        ("2023-05-21", datetime(2023, 5, 21), datetime(2023, 5, 22)),
        ("2023-05-21T18:20", datetime(2023, 5, 21, 18, 20), datetime(2023, 5, 21, 18, 21)),
        ("2023-05-21 18:20", datetime(2023, 5, 21, 18, 20), datetime(2023, 5, 21, 18, 21)),
    ],
)
def test_a_time_stands_for_its_whole_stretch(text: str, first: datetime, after: datetime) -> None:
    """Since means its first instant, until its last: a bare date the end of that day."""
    assert earliest(text, "--since") == first
    assert latest(text, "--until") == after - INSTANT


def test_a_second_is_itself() -> None:
    """A time with seconds is one instant, with the offset that was typed and none that was not."""
    assert latest("2023-05-21T18:20:05", "--until") == datetime(2023, 5, 21, 18, 20, 5)
    zone = timezone(timedelta(hours=2))
    assert earliest("2023-05-21T18:20:05+02:00", "--since") == datetime(2023, 5, 21, 18, 20, 5, tzinfo=zone)


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2023-13", "2023-02-30", "23-05-21", "2023-05-21T25:00", "0000", "2023-5"]
)
def test_what_is_no_time_is_refused_with_the_forms_that_are(text: str) -> None:
    """The error names the flag and what was typed; the hint lists the forms."""
    with pytest.raises(UsageError, match="--as-of") as caught:
        latest(text, "--as-of")
    assert "2023-05-21T18:20" in caught.value.hint


@pytest.mark.parametrize(
    ("length", "begun"),
    [
        ("1d", datetime(2024, 3, 30, 12)),
        ("30d", datetime(2024, 3, 1, 12)),
        ("2w", datetime(2024, 3, 17, 12)),
        ("1m", datetime(2024, 2, 29, 12)),
        ("4m", datetime(2023, 11, 30, 12)),
        ("1y", datetime(2023, 3, 31, 12)),
        (" 13 m ", datetime(2023, 2, 28, 12)),
    ],
)
def test_a_length_counts_back(length: str, begun: datetime) -> None:
    """Months and years keep the day, or take the last where a month is shorter; the end stays open."""
    assert stretch(None, None, length, lambda: datetime(2024, 3, 31, 12)) == (begun, None)
    assert stretch(None, "2024-03", length, lambda: datetime(2024, 3, 31, 12))[1] == datetime(2024, 4, 1) - INSTANT
