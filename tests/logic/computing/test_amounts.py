"""Amounts as people write them, and arithmetic that never says more than they do."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic.computing.amounts import (
    Amount,
    AmountUnit,
    UnsettledError,
    add,
    apart,
    compared,
    divided,
    in_one_style,
    read_amount,
    read_stopwatch,
)
from goalmem_cli.logic.computing.saying import say_amount


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("€1,150", "€1,150"), ("1,150 euros", "1,150 euros"), ("£24.50", "£24.50"), ("$5k", "$5,000"),
        ("US$ 3", "US$3"), ("£2 million", "£2,000,000"), ("40%", "40%"), ("40 percent", "40%"),
        ("twenty minutes", "20 minutes"), ("1 minute 30 seconds", "1 minute 30 seconds"),
        ("3 hours and 40 minutes", "3 hours 40 minutes"), ("an hour and a half", "1 hour 30 minutes"),
        ("two and a half hours", "2 hours 30 minutes"), ("half an hour", "30 minutes"), ("a week", "1 week"),
        ("a couple of weeks", "2 weeks"), ("about four months", "about 4 months"), ("1 year 6 months", "1 year 6 months"),
        ("two to three weeks", "2 or 3 weeks"), ("30-60 seconds", "30 to 60 seconds"), ("€10 to €20", "€10 to €20"),
        ("at least 5 dogs", "at least 5 dogs"), ("up to 20 guests", "at most 20 guests"), ("a dozen eggs", "12 eggs"),
        ("4 smart bulbs", "4 smart bulbs"), ("4 in the hall", "4"), ("$15 per person", "$15"), ("10 km", "10 km"),
        ("seven", "7"), ("0.5 kg", "0.5 kg"), ("two hundred and five", "205"), ("100 dollars a month", "100 dollars"),
        ("1.150,50 euros", "1,150.5 euros"), ("1 150,50", "1,150.5"), ("1\u00a0150,50 €", "€1,150.50"), ("5k€", "€5,000"),
        ("1\u202f150.50", "1,150.5"), ("1\u2009150 km", "1,150 km"), ("1'150.50", "1,150.5"), ("12,- euros", "12 euros"),
        ("CHF 1’150.50", "CHF 1,150.50"), ("1.234.567,89", "1,234,567.89"), ("3,5 kg", "3.5 kg"), ("€ 1 150", "€1,150"),
        ("250 000 people", "250,000 people"), ("₹1,50,000", "₹150,000"), ("45k", "45,000"), ("£2m", "£2,000,000"),
        ("1,5 million", "1,500,000"), ("half a dozen", "6"), ("half a million", "500,000"), ("nine hours", "9 hours"),
        ("a hundred and fifty euros", "150 euros"), ("a thousand dollars", "1,000 dollars"), ("1h30", "1 hour 30 minutes"),
        ("three quarters of an hour", "45 minutes"), ("5 €", "€5"), ("-5 degrees", "-5 degrees"), ("1.150", "1.15"),
    ],
)  # fmt: skip
def test_amounts_are_read_and_said(text: str, said: str) -> None:
    """What people write is understood, and said in its own unit."""
    amount = read_amount(text)
    assert amount is not None
    assert say_amount(amount) == said


@pytest.mark.parametrize(
    "text",
    [
        "the cat",
        "",
        "126 over 80",
        "5 friends and 3 cousins",
        "5 May 2023",
        "€5 and $6",
        "room of one's own",
        "24.12.2023",
        "1,2,3",
        "2 500 g packs",
    ],
)
def test_what_is_no_single_amount_is_none(text: str) -> None:
    """Nothing is made of a text without a number, or with several that are not one amount."""
    assert read_amount(text) is None


@pytest.mark.parametrize(
    ("texts", "others", "read"),
    [
        (["1.150 euros", "12,50 euros"], [], "1,150 euros"),
        (["1.150 euros", "12.50 euros"], ["It was 1.100,20."], "1.150 euros"),
        (["1.150"], ["There were 1.200.000 of them, and 980,5 on average."], "1,150"),
        (["1,150"], ["It weighs 3,5 kg."], "1.150"),
        (["1.150"], ["We met at 3.30 pm on 24.12.2022."], "1.150"),
        (["1.150"], ["It was 3,5 kg for her.", "It was 3.5 kg for him."], "1.150"),
        (["room 1.150", "12,50"], [], "room 1.150"),
        (
            ["1,150 euros", "20 euros"],
            ["On June 5,2023 we looked at rooms 4,5 and pages 12,13, and won 3,1."],
            "1,150 euros",
        ),
    ],
)
def test_ambiguous_numbers_are_read_as_those_beside_them(texts: list[str], others: list[str], read: str) -> None:
    """1.150 is more than a thousand where a comma separates decimals elsewhere; where nothing tells, it is 1.15."""
    assert in_one_style(texts, others)[0] == read


whole = st.integers(0, 10**7)


@given(whole, st.sampled_from(["", " euros", " dogs", " km", "%"]))
def test_a_written_number_is_that_number(number: int, unit: str) -> None:
    """With and without marks for thousands, and with decimals."""
    groups = f"{number:,}"
    written = [str(number), groups, *(groups.replace(",", mark) for mark in "'\u00a0\u202f")]
    written += [f"{groups.replace(',', mark)}{part}" for mark, part in (("", ",0"), (".", ",00"), (" ", ",00"))]
    for text in (f"{text}{unit}" for text in written):
        amount = read_amount(text)
        assert amount is not None
        assert amount.exact == number


ranges = st.tuples(st.fractions(-50, 50), st.fractions(0, 20)).map(lambda pair: Amount(pair[0], pair[0] + pair[1]))
share = st.fractions(0, 1)


def within(amount: Amount, place: Fraction) -> Fraction:
    """Return a number that the amount can be."""
    assert amount.low is not None
    assert amount.high is not None
    return amount.low + place * (amount.high - amount.low)


def allows(amount: Amount, number: Fraction) -> bool:
    """Say whether the number can be the amount."""
    return (amount.low is None or amount.low <= number) and (amount.high is None or number <= amount.high)


@given(ranges, ranges, share, share, st.integers(1, 9))
def test_ranges_hold_all_that_can_be(left: Amount, right: Amount, one: Fraction, other: Fraction, count: int) -> None:
    """Whatever the amounts really are, sum, difference and share lie within what is computed."""
    mine, theirs = within(left, one), within(right, other)
    assert allows(add(left, right), mine + theirs)
    assert allows(apart(left, right), abs(mine - theirs))
    assert allows(divided(left, count), mine / count)
    order = compared(left, right)
    if order is not None:
        assert order == (mine > theirs) - (mine < theirs)


@given(st.lists(whole, min_size=1, max_size=8))
def test_sums_of_exact_amounts_are_exact(numbers: list[int]) -> None:
    """Money adds up to the cent, as plain numbers do."""
    cents = [Amount.of(Fraction(number, 100), AmountUnit("EUR", "€", is_sign=True)) for number in numbers]
    total = cents[0]
    for amount in cents[1:]:
        total = add(total, amount)
    assert total.exact == Fraction(sum(numbers), 100)


def test_open_ends_stay_open() -> None:
    """At least five and three are at least eight; whether that is more than nine is not settled."""
    five, three, nine = (read_amount(text) for text in ("at least 5", "3", "9"))
    assert five is not None and three is not None and nine is not None
    assert say_amount(add(five, three)) == "at least 8"
    assert compared(five, nine) is None
    assert compared(five, three) == 1


@pytest.mark.parametrize(("left", "right", "why"), [("€5", "$5", "currencies"), ("5 dogs", "5 km", "units")])
def test_different_units_are_not_mixed(left: str, right: str, why: str) -> None:
    """The reason names them."""
    one, other = read_amount(left), read_amount(right)
    assert one is not None and other is not None
    for operation in (add, apart, compared):
        with pytest.raises(UnsettledError, match=f"different {why}"):
            operation(one, other)


def test_a_bare_number_takes_the_unit_of_the_others() -> None:
    """5 and 70 euros are 75 euros."""
    one, other = read_amount("5"), read_amount("70 euros")
    assert one is not None and other is not None
    assert say_amount(add(one, other)) == "75 euros"


@pytest.mark.parametrize(
    ("text", "asked", "said"),
    [("14 days", "week", "2 weeks"), ("16 days", "week", "about 2 weeks"), ("2 days", "week", "2 days"),
     ("90 minutes", "hour", "about 2 hours"), ("2 years", "month", "2 years"), ("18 months", "year", "about 2 years"),
     ("18 months", "", "1 year 6 months"), ("18 months", "month", "18 months")],
)  # fmt: skip
def test_lengths_in_the_unit_asked_for(text: str, asked: str, said: str) -> None:
    """What is no whole number of the unit is rounded and says so; nothing is rounded away."""
    amount = read_amount(text)
    assert amount is not None
    assert say_amount(amount, asked) == said


@pytest.mark.parametrize(("text", "seconds"), [("7:44", 464), ("1:58:30", 7110), ("0:09.5", Fraction(19, 2))])
def test_what_a_stopwatch_shows_is_a_length_of_time(text: str, seconds: Fraction) -> None:
    """Minutes and seconds, with the hours before them."""
    found = read_stopwatch(text)

    assert found is not None
    assert (found.low, found.unit.key) == (seconds, "second")
    assert read_stopwatch("7 pm") is None
