"""The times that transcripts give."""

import contextlib
from datetime import UTC, datetime, time, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.transcripts.reading.told_times import (
    stamp_from_day_first,
    stamp_from_epoch,
    stamp_from_text,
    time_of_day_from_text,
)

CEST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("text", "is_alone"),
    [
        ("2023-05-08T14:30:00Z", True),
        ("2023-05-08T14:30:00-00:00", True),
        ("2023-05-08 14:30:01 UTC", True),
        ("Mon May 08 14:30:01 +0000 2023", True),
        ("1683556201", True),
        ("2023-05-08T14:30:00+00:00", False),
        ("2023-05-08 14:30:00.123+0000", False),
        ("2023-05-08T14:30+00", False),
        ("2023-05-08T14:30:00+02:00", False),
        ("2023-05-08T14:30:00", False),
    ],
)
def test_utc_alone_is_told_from_an_offset_of_zero(text: str, *, is_alone: bool) -> None:
    """The instant alone has `datetime.UTC` itself; both are written alike, and are the same time."""
    stamp = stamp_from_text(text)
    assert stamp is not None
    assert (stamp.moment.tzinfo is UTC) is is_alone
    if stamp.moment.tzinfo is not None and not stamp.moment.utcoffset():
        assert stamp.moment == stamp.moment.replace(tzinfo=UTC)
        assert stamp.moment.isoformat() == stamp.moment.replace(tzinfo=UTC).isoformat()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56)),
        ("12:40 am on 27 March, 2022", datetime(2022, 3, 27, 0, 40)),
        ("12:40 pm on 27 March, 2022", datetime(2022, 3, 27, 12, 40)),
        ("8 May 2023 14:30", datetime(2023, 5, 8, 14, 30)),
        ("8 May 2023, 2:30 p.m.", datetime(2023, 5, 8, 14, 30)),
        ("May 8, 2023 at 2:30 pm", datetime(2023, 5, 8, 14, 30)),
        ("Mon, 8 sept. 2023 09:05:07", datetime(2023, 9, 8, 9, 5, 7)),
        ("2023-05-08 14:30", datetime(2023, 5, 8, 14, 30)),
        ("2023/05/30 (Tue) 23:40", datetime(2023, 5, 30, 23, 40)),
        ("2023/5/8, 2:30 pm", datetime(2023, 5, 8, 14, 30)),
        ("2023-05-08T14:30:00.5Z", datetime(2023, 5, 8, 14, 30, 0, 500000, UTC)),
        ("  2023-05-08   14:30:01 ", datetime(2023, 5, 8, 14, 30, 1)),
        ("2023-05-08 14:30:01 UTC", datetime(2023, 5, 8, 14, 30, 1, tzinfo=UTC)),
        ("2023-05-08 14:30:01 +0000 UTC", datetime(2023, 5, 8, 14, 30, 1, tzinfo=UTC)),
        ("2023-05-08 14:30:01 +02:00", datetime(2023, 5, 8, 14, 30, 1, tzinfo=CEST)),
        ("2023-05-08 2:30 PM", datetime(2023, 5, 8, 14, 30)),
        ("2023.05.08 14:30", datetime(2023, 5, 8, 14, 30)),
        ("20230508T143001Z", datetime(2023, 5, 8, 14, 30, 1, tzinfo=UTC)),
        ("Mon, 08 May 2023 14:30:01 GMT", datetime(2023, 5, 8, 14, 30, 1, tzinfo=UTC)),
        ("Mon, 8 May 2023 14:30:01 +0200 (CEST)", datetime(2023, 5, 8, 14, 30, 1, tzinfo=CEST)),
        (
            "Mon May 08 2023 14:30:01 GMT+0200 (Central European Summer Time)",
            datetime(2023, 5, 8, 14, 30, 1, tzinfo=CEST),
        ),
        ("Mon May 8 14:30:01 2023", datetime(2023, 5, 8, 14, 30, 1)),
        ("Mon May 08 14:30:01 +0000 2023", datetime(2023, 5, 8, 14, 30, 1, tzinfo=UTC)),
        ("8-May-2023 14:30", datetime(2023, 5, 8, 14, 30)),
        ("8 May 2023 23:59 PM", datetime(2023, 5, 8, 23, 59)),
        ("8 May 2023 24:35", datetime(2023, 5, 8, 0, 35)),
        ("1683556201", datetime(2023, 5, 8, 14, 30, 1, tzinfo=UTC)),
        ("1683556201000", datetime(2023, 5, 8, 14, 30, 1, tzinfo=UTC)),
        ("1683556201000000", datetime(2023, 5, 8, 14, 30, 1, tzinfo=UTC)),
        ("/Date(1683556201000)/", datetime(2023, 5, 8, 14, 30, 1, tzinfo=UTC)),
    ],
)
def test_forms(text: str, moment: datetime) -> None:
    """Each form gives its moment, with an offset only where the text has one."""
    stamp = stamp_from_text(text)

    assert stamp is not None
    assert (stamp.moment, stamp.moment.tzinfo, stamp.is_day) == (moment, moment.tzinfo, False)


@pytest.mark.parametrize(
    "text",
    ["", "soon", "May 2023", "8 Apples 2023", "08/05/2023", "8.5.2023", "14:30", "20230508", "٨ May 2023", "2023"],
)
def test_other_texts_are_no_times(text: str) -> None:
    """What is no full date, or could be two, is not read as a time."""
    assert stamp_from_text(text) is None


@pytest.mark.parametrize(
    "text",
    ["30 February 2023", "2023/13/05", "25:30 on 8 May, 2023", "2023-05-08T99:00", "2023-05-08 14:30 hello",
     "8 May 0000"],
)  # fmt: skip
def test_impossible_times_are_errors(text: str) -> None:
    """A text in the form of a time that no calendar has is an error, not an unknown time."""
    with pytest.raises(ValueError, match=r".+"):
        stamp_from_text(text)


def test_dotted_dates_are_times_only_where_the_day_comes_first() -> None:
    """`29.12.2023, 22:42:04` is read by a reader that knows the order, and by no other."""
    stamp = stamp_from_day_first("29.12.2023, 22:42:04")
    day = stamp_from_day_first("1.2.2023")

    assert stamp is not None
    assert day is not None
    assert (stamp.moment, stamp.is_day) == (datetime(2023, 12, 29, 22, 42, 4), False)
    assert (day.moment, day.is_day) == (datetime(2023, 2, 1), True)
    assert stamp_from_text("29.12.2023, 22:42:04") is None
    assert stamp_from_day_first("2023-02-01") is None
    with pytest.raises(ValueError, match="month"):
        stamp_from_day_first("12.29.2023")


@pytest.mark.parametrize(
    ("text", "is_placeholder"),
    [("0001-01-01T00:00:00Z", True), ("0001-01-01T00:00:00+14:00", True), ("9999-12-31T23:59:59-01:00", True),
     ("9999-12-31", True), ("0002-01-01", False), ("9998-12-31T23:59:59-14:00", False)],
)  # fmt: skip
def test_the_edges_of_the_calendar_are_placeholders(text: str, *, is_placeholder: bool) -> None:
    """What Go and .NET write for "no time" is known as that, whatever its offset."""
    stamp = stamp_from_text(text)

    assert stamp is not None
    assert stamp.is_placeholder is is_placeholder


@pytest.mark.parametrize(("text", "clock"), [("14:30", time(14, 30)), ("2:30PM", time(14, 30)), ("x", None)])
def test_times_of_day(text: str, clock: time | None) -> None:
    """A time of day is read with or without am and pm."""
    assert time_of_day_from_text(text) == clock


@given(st.datetimes(min_value=datetime(1980, 1, 1), max_value=datetime(2100, 1, 1)))
def test_epochs_give_back_their_moment(moment: datetime) -> None:
    """Seconds and milliseconds of a moment are that moment, and what is written is read back."""
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    seconds = int(moment.timestamp())

    assert stamp_from_epoch(seconds).moment == stamp_from_epoch(seconds * 1000).moment == moment
    written = stamp_from_text(moment.isoformat())
    assert written is not None
    assert written.moment == moment


@given(st.floats() | st.integers())
def test_any_number_is_a_time_or_an_error(number: float) -> None:
    """No number makes anything else of itself than a time in UTC or a ValueError."""
    with contextlib.suppress(ValueError):
        assert stamp_from_epoch(number).moment.tzinfo is UTC
