"""Days that are written in numbers, in the form in which a model reads all days."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic.dates import Period, When, dates_in, named_in, parse_date, with_days_in_words
from goalmem_cli.logic.support import Support, support_of
from tests.logic.test_checks import Told


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("What happened on 16.01.2024?", "What happened on 16 January 2024?"),
        ("29.12.2023, 22:42:04 it was", "29 December 2023, 22:42:04 it was"),
        ("by 2024-01-16.", "by 16 January 2024."),
        ("16/01/2024 or 01/16/2024", "16 January 2024 or 16 January 2024"),
        ("5/5/2024", "5 May 2024"),
    ],
)
def test_a_day_in_numbers_is_put_in_words(written: str, read: str) -> None:
    """With dots the day is first, with hyphens the year; a time behind it stays."""
    assert with_days_in_words(written) == read


@pytest.mark.parametrize(
    "text",
    [
        "03/04/2024", "31.02.2024", "version 1.2.2024-rc", "10.11.2024.5", "192.168.1.2024", "1.500.2024", "12.5",
        "+49 30.12.20241", "https://example.org/2024-01-16/news", "2024-13-01", "16:01:2024", "a16.01.2024",
    ],
)  # fmt: skip
def test_what_is_no_day_or_may_be_two_is_left(text: str) -> None:
    """Versions, addresses, prices, and a day of which either number may be the month."""
    assert with_days_in_words(text) == text


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)))
def test_both_forms_mean_the_same_day(day: date) -> None:
    """The checks read either: so do those of what a question names, and of what a fact means."""
    forms = [f"{day.day}.{day.month}.{day.year}", f"{day:%d.%m.%Y}", day.isoformat()]
    if day.day > 12 or day.day == day.month:
        forms += [f"{day:%d/%m/%Y}", f"{day.month}/{day.day}/{day.year}"]
    meant = When(day.year, day.month, day.day)
    for written in forms:
        assert with_days_in_words(written) == f"{day.day} {day:%B} {day.year}"
        assert dates_in(f"on {written}, at noon") == [meant] and parse_date(written) == meant
        assert named_in(f"What did Ana do on {written}?", None) == [Period(day, day)]
        spelt = f"{day.day} {day:%B} {day.year}"
        for value, said in ((spelt, written), (written, spelt)):
            assert support_of(value, [Told("Ana", f"The boat came on {said}.")]) is not Support.INFERRED


@pytest.mark.parametrize("written", ["03/04/2024", "04/03/2024"])
def test_a_day_that_may_be_two_supports_neither(written: str) -> None:
    """A fact that has it says its year, and no more."""
    told = [Told("Ana", f"The boat came on {written}.")]

    assert {support_of(day, told) for day in ("3 April 2024", "4 March 2024")} == {Support.INFERRED}
    assert named_in(f"What came on {written}?", None) == [Period(date(2024, 1, 1), date(2024, 12, 31))]


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=60))
def test_text_without_such_a_day_is_not_touched(text: str) -> None:
    """Nothing else changes, and a second time nothing does."""
    read = with_days_in_words(text)
    assert with_days_in_words(read) == read
    if not re.search(r"\d\d?[./]\d\d?[./]\d{4}|\d{4}-\d\d-\d\d", text):
        assert read == text
