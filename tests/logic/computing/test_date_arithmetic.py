"""Dates at their own precision: order, what lies between, ages and weekdays."""

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic.computing.amounts import UnsettledError, read_amount
from goalmem_cli.logic.computing.date_arithmetic import (
    Time,
    age,
    between,
    length_of,
    order,
    read_time,
    same_time,
    so_far,
    weekday,
)
from goalmem_cli.logic.computing.saying import say_amount
from goalmem_cli.logic.days import MONTHS, Period, month_of, single, whole_year

days = st.dates(date(1950, 1, 1), date(2080, 12, 31))
written = st.one_of(
    days.map(lambda day: (f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}", single(day))),
    days.map(lambda day: (f"{MONTHS[day.month - 1].capitalize()} {day.year}", month_of(day.year, day.month))),
    days.map(lambda day: (str(day.year), whole_year(day.year))),
)
spans = st.tuples(days, st.integers(0, 400)).map(lambda pair: Period(pair[0], pair[0] + timedelta(days=pair[1])))
periods = st.one_of(written.map(lambda pair: pair[1]), spans)
share = st.floats(0, 1)


def read(text: str) -> Time:
    """Return the time that a text names."""
    found = read_time(text)
    assert found is not None
    return found


def within(period: Period, place: float) -> date:
    """Return a day of the period."""
    return period.first + timedelta(days=round(place * (period.days - 1)))


@given(written)
def test_a_written_date_is_read_at_its_own_precision(pair: tuple[str, Period]) -> None:
    """A day is a day, a month all of it, a year the whole year."""
    text, period = pair
    assert read(text).period == period


@given(days, days)
def test_between_two_days_lie_their_days(left: date, right: date) -> None:
    """Plain Python counts the same, in whichever order they come."""
    found = between(Time(single(left)), Time(single(right)))
    assert found.exact == abs((left - right).days) * 86_400
    number = abs((left - right).days)
    assert say_amount(found, "day") == f"{number:,} day{'s' * (number != 1)}"


@given(days, days)
def test_whole_months_and_days_over_lead_from_one_day_to_the_other(left: date, right: date) -> None:
    """Counted from the earlier day; the days over are never a whole month."""
    first, last = sorted((left, right))
    calendar = between(Time(single(first)), Time(single(last))).calendar
    assert calendar is not None
    months, over = calendar
    month = month_of(first.year, first.month + months)
    there = month.first.replace(day=min(first.day, month.last.day))
    assert there + timedelta(days=over) == last
    assert 0 <= over < 31


@given(spans, spans, share, share)
def test_between_ranges_of_days_lies_a_range(left: Period, right: Period, one: float, other: float) -> None:
    """Whichever days were meant, what lies between is within the range; months and years are not told to the day."""
    found = between(Time(left), Time(right))
    if found.unit.key == "second":
        apart = abs((within(left, one) - within(right, other)).days) * 86_400
        assert found.low is not None and found.high is not None
        assert found.low <= apart <= found.high


@given(periods, periods, share, share)
def test_order_is_said_only_where_it_is_sure(left: Period, right: Period, one: float, other: float) -> None:
    """Whichever days were meant, they come in the order that is said; where it is open, either may."""
    mine, theirs = within(left, one), within(right, other)
    found = order(Time(left), Time(right))
    if found is not None:
        assert found == (mine > theirs) - (mine < theirs)
    else:
        assert left.first <= right.last
        assert right.first <= left.last
    if same_time(Time(left), Time(right)) is False:
        assert mine != theirs


@given(periods, periods, share, share)
def test_ages_are_completed_years(born: Period, at: Period, one: float, other: float) -> None:
    """Whichever days were meant, the age counted day by day lies within the range; a year of birth leaves two."""
    birth, day = within(born, one), within(at, other)
    if birth > day:
        return
    years = sum((birth.month, birth.day) <= (day.month, day.day) if year == day.year else True
                for year in range(birth.year + 1, day.year + 1))  # fmt: skip
    found = age(Time(born), Time(at))
    assert found.low is not None and found.high is not None
    assert found.low <= years <= found.high


@given(days)
def test_weekdays_are_those_of_the_calendar(day: date) -> None:
    """Plain Python names the same; a month has none."""
    assert weekday(Time(single(day))) == day.strftime("%A")
    with pytest.raises(UnsettledError, match="not one day"):
        weekday(Time(month_of(day.year, day.month)))


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ("5 May 2023", "17 May 2023", "12 days"), ("March 2023", "June 2023", "3 months"),
        ("5 May 2023", "July 2023", "about 2 months"), ("2016", "2023", "7 years"),
        ("6-7 April 2024", "10 April 2024", "3 or 4 days"), ("9:10 pm", "0:50", "3 hours 40 minutes"),
        ("24 May 2023", "15 August 2023", "2 months 22 days"), ("May 2023", "May 2023", "less than a month"),
        ("9:30 am, 5 May 2023", "10:45 pm, 6 May 2023", "1 day 13 hours 15 minutes"),
        ("summer of 2022", "June 2023", "10 to 12 months"), ("5 May 2023", "5 May 2023", "0 days"),
        ("March 2021", "June 2023", "2 years 3 months"), ("2023", "2023", "less than a year"),
    ],
)  # fmt: skip
def test_what_lies_between(left: str, right: str, said: str) -> None:
    """Months have no days, and ranges give ranges."""
    assert say_amount(between(read(left), read(right))) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [("from 5 May 2023 to 17 May 2023", "13 days"), ("March to June 2023", "4 months"), ("2016-2018", "3 years"),
     ("30 April - 2 May 2023", "3 days"), ("5 May 2023", None), ("May 2023", None)],
)  # fmt: skip
def test_how_long_a_range_lasts(text: str, said: str | None) -> None:
    """Both ends are included; a day, a month or a year is when something was, not how long."""
    found = length_of(read(text))
    assert (None if found is None else say_amount(found)) == said


def test_relative_words_are_read_as_they_were_said() -> None:
    """Last Friday is a day only where the time of speaking is known."""
    said = datetime(2023, 5, 21, 18, 20)
    assert read_time("last Friday", said) == read("19 May 2023")
    assert read_time("15 August", said) == read("15 August 2023")
    assert read_time("last Friday") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [("15 August", "has no year"), ("before 2016", "leaves open"), ("5 May 2023 and 7 June 2023", "several times")],
)
def test_a_time_that_is_not_clear_is_refused_with_the_reason(text: str, why: str) -> None:
    """Nothing is computed from a guess."""
    with pytest.raises(UnsettledError, match=why):
        read_time(text)


@pytest.mark.parametrize("text", ["the cat", "three weeks", "70 euros", "Anna"])
def test_what_names_no_time_is_none(text: str) -> None:
    """Things and lengths of time are no dates."""
    assert read_time(text) is None


@pytest.mark.parametrize(
    ("told", "now", "said"),
    [
        ("three years", datetime(2024, 6, 1), "about 5 years"), ("8 months", datetime(2022, 4, 1), "about 11 months"),
        ("two weeks", datetime(2022, 1, 29), "about 6 weeks"), ("3 years", datetime(2022, 11, 1), None),
        ("two hours", datetime(2024, 1, 1), None), ("3 years", datetime(2020, 1, 1), None),
    ],
)  # fmt: skip
def test_what_was_told_is_longer_by_now(told: str, now: datetime, said: str | None) -> None:
    """Where at least one more of its unit has passed; an hour is over before anybody asks."""
    amount = read_amount(told)
    assert amount is not None
    longer = so_far(amount, datetime(2022, 1, 1), now)
    assert (longer and say_amount(longer, amount.unit.shown)) == said
