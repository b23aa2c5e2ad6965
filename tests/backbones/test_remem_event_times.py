"""The time of an event: the model's reading held against the resolver's."""

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.backbones.remem.event_times import (
    Course,
    Event,
    Judged,
    Verdict,
    disagreements,
    judge_point,
    judge_span,
    period_of,
    written,
)
from goalmem_cli.records import Turn
from tests.backbones.remem_samples import SAID, gist, turns

DATES = st.dates()


def said(text: str) -> list[Turn]:
    """Return a turn of Monday, 8 May 2023."""
    return [Turn("chat", 0, 0, "Priya", text, SAID)]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2023", "2023-01-01 2023-12-31"), ("2024-02", "2024-02-01 2024-02-29"), ("2023-05-07", "2023-05-07 2023-05-07"),
        (" 2023-5-7 ", "2023-05-07 2023-05-07"), ("2023-05-12/2023-05-18", "2023-05-12 2023-05-18"),
        ("2023/2024-02", "2023-01-01 2024-02-29"),
    ],
)  # fmt: skip
def test_a_period_is_a_year_a_month_a_day_or_two_of_them(text: str, days: str) -> None:
    """Each names its first and its last day."""
    period = period_of(text)

    assert period is not None
    assert f"{period.first} {period.last}" == days


@pytest.mark.parametrize(
    "text", ["yesterday", "2023-02-31", "2023-13", "0000", "2023-05/2022", "12", "-", "2023-05-07T"]
)
def test_what_is_no_period_is_an_error(text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError, match=r"date|day|before"):
        period_of(text)


@given(DATES, DATES)
def test_a_written_period_is_read_as_it_was(one: object, other: object) -> None:
    """Writing and reading a period gives it back."""
    first, last = sorted((str(one), str(other)))
    period = period_of(f"{first}/{last}")

    assert period is not None
    assert period_of(written(period)) == period


@pytest.mark.parametrize(
    ("text", "proposed", "verdict", "event"),
    [
        ("I moved last Saturday.", "2023-05-06", Verdict.AGREED, "6 May 2023"),
        ("I moved last Saturday.", "2023-05", Verdict.AGREED, "6 May 2023"),
        ("I moved last week.", "2023-05-03", Verdict.AGREED, "1-7 May 2023"),
        ("I moved last Saturday.", "2023-05-13", Verdict.CORRECTED, "6 May 2023"),
        ("I moved last Saturday.", "2023-02-31", Verdict.CORRECTED, "6 May 2023"),
        ("I moved last Saturday.", "", Verdict.RESOLVED, "6 May 2023"),
        ("I moved on 3 May 2023.", "2023-05-03", Verdict.AGREED, "3 May 2023"),
        ("I have been here since last Saturday.", "2023-05-06", Verdict.AGREED, "since 6 May 2023"),
        ("I moved at the end of the season.", "2023-04", Verdict.INFERRED, "April 2023"),
        ("I moved.", "", None, ""),
        ("I moved.", "soon", Verdict.CORRECTED, ""),
        ("I moved yesterday and left on 1 May 2021.", "2020", Verdict.CORRECTED, "7 May 2023"),
        ("I moved yesterday and left on 1 May 2021.", "", Verdict.RESOLVED, "7 May 2023"),
        ("I moved yesterday or on 1 May 2021.", "2020", Verdict.CORRECTED, ""),
        ("I moved yesterday or on 1 May 2021.", "", None, ""),
        ("I moved yesterday and left on 1 May 2021.", "2021-05-01", Verdict.AGREED, "1 May 2021"),
    ],
)
def test_a_point_is_checked_against_the_resolver(text: str, proposed: str, verdict: Verdict | None, event: str) -> None:
    """Agreement takes the resolver's days; otherwise the resolver wins, unless it knows nothing or several things."""
    judged = judge_point(proposed, "Priya moved.", said(text))

    assert (judged.verdict, judged.event.text) == (verdict, event)
    assert judged.proposed == (proposed if verdict is Verdict.CORRECTED else "")


@pytest.mark.parametrize(
    ("text", "told", "day"),
    [
        ("I mended the fence last Monday.", datetime(2024, 1, 20, 15, 57), "2024-01-15"),
        ("I mended the fence last Sunday.", datetime(2024, 1, 20, 15, 57), "2024-01-14"),
        ("Peter sold me three cows on Jan 15th.", datetime(2024, 1, 20, 15, 57), "2024-01-15"),
        ("My advisor saw me last Thursday morning.", datetime(2025, 1, 20, 14, 28), "2025-01-16"),
    ],
)
def test_the_paper_s_relative_times_are_agreed_on(text: str, told: datetime, day: str) -> None:
    """The days that its demonstrations give (Figures 3 and 4) are the resolver's too."""
    judged = judge_point(day, "It happened.", [replace(each, said=told) for each in said(text)])
    known = judged.event.start

    assert judged.verdict is Verdict.AGREED
    assert known is not None
    assert known.first.isoformat() == known.last.isoformat() == day


def test_of_two_expressions_the_one_that_is_told_counts() -> None:
    """A sentence that keeps its words about time says which of the turn's expressions it means."""
    two = said("I moved yesterday, and three weeks ago I sold the boat.")

    assert judge_point("", "Priya sold the boat three weeks ago.", two).event.text == "17-23 April 2023"
    assert judge_point("2022", "Priya moved yesterday.", two).event.text == "7 May 2023"


@pytest.mark.parametrize(
    ("start", "end", "verdict", "event"),
    [
        ("2018", "2021-02", Verdict.AGREED, "from 2018 to February 2021"),
        ("2018", "", Verdict.AGREED, "since 2018"),
        ("", "2021-02", Verdict.AGREED, "until February 2021"),
        ("2021-02", "2018", Verdict.CORRECTED, ""),
        ("2018", "rubbish", Verdict.CORRECTED, "since 2018"),
        ("", "", None, ""),
    ],
)
def test_each_end_of_a_span_is_checked(start: str, end: str, verdict: Verdict | None, event: str) -> None:
    """An end that is not given is open; a span that ends before it begins has no time."""
    judged = judge_span(start, end, "Priya coached E95", said("I coached E95 from 2018 to February 2021."))

    assert (judged.verdict, judged.event.text) == (verdict, event)


def test_disagreements_are_counted() -> None:
    """What the model resolved otherwise than the resolver is kept beside the time, and counted."""
    turn = turns()[0]
    units = [gist(turn, "Priya moved.", when) for when in ("2023-05-06", "2023-05-07", "", "2020")]

    assert disagreements(units) == 2
    assert [unit.attributes.get("proposed") for unit in units] == [None, "2023-05-07", None, "2020"]
    assert {unit.event_from for unit in units} == {SAID.replace(day=6, hour=0, minute=0)}


def test_without_a_time_of_speaking_only_dates_are_checked() -> None:
    """A transcript without times resolves nothing relative; what the model says then is its own."""
    timeless = [replace(turn, said=None) for turn in said("I moved last Saturday.")]

    assert judge_point("2023-05-06", "Priya moved.", timeless).verdict is Verdict.INFERRED
    assert judge_point("", "Priya moved.", timeless) == Judged(Event())


@pytest.mark.parametrize(
    ("text", "told", "verdict", "event"),
    [
        ("I had that performance!", "Priya had that performance.", Verdict.INFERRED, "by 8 May 2023, nobody knows when"),
        ("I had that performance last week!", "Priya had that performance.", Verdict.AGREED, "1-7 May 2023"),
        ("I perform tomorrow.", "Priya performed.", Verdict.CORRECTED, "9 May 2023"),
        ("I had that performance. I sing tomorrow.", "Priya had that performance.", Verdict.INFERRED,
         "by 8 May 2023, nobody knows when"),
    ],
)  # fmt: skip
def test_before_the_message_nobody_knows_when(text: str, told: str, verdict: Verdict, event: str) -> None:
    """It can be said, shows as such, and gives way to what the clause knows better."""
    judged = judge_point("before", told, said(text))

    assert (judged.verdict, judged.event.text) == (verdict, event)
    assert judged.event.bounds[1] is not None


def test_what_was_before_is_a_unit_of_its_own_course() -> None:
    """Its beginning is open, its end the day of the message at the latest, and it says that it was once."""
    unit = gist(replace(turns()[0], text="I had that performance."), "Priya had that performance.", "before")
    spoken = gist(replace(turns()[0], text="I have to finish before Friday."), "Priya has to finish.")

    assert unit.text == "Priya had that performance (by 8 May 2023, nobody knows when)."
    assert (unit.event_from, str(unit.event_to)[:10], unit.attributes["course"]) == (None, "2023-05-08", "before")
    assert spoken.text == "Priya has to finish (by 11 May 2023, nobody knows when)."
    assert judge_point("before", "Priya sang.", [replace(turns()[0], said=None)]) == Judged()


def test_what_is_after_a_time_is_once_and_open() -> None:
    """No state since then, but one event, nobody knows when."""
    judged = judge_point("", "Priya moves", said("I will move after 3 June 2023."))

    assert judged.event.text == "from 4 June 2023 on, nobody knows when"
    assert (judged.event.bounds[1], judged.event.attributes) == (None, {"course": "after"})


def test_a_span_until_before_ends_by_the_message() -> None:
    """A state that is over by now ends on the day of the message at the latest; no beginning is made of it."""
    span = judge_span("2018", "before", "Priya coached E95", said("I coached E95, and that is over."))

    assert span.event.text == "from 2018 to 8 May 2023"
    assert judge_span("before", "", "Priya coached E95", said("I coached E95.")) == Judged(Event(course=Course.DURING))
