"""Expressions over rows, against plain Python."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic.computing.evaluation import Computed, evaluate
from goalmem_cli.logic.computing.expressions import parse_expression
from goalmem_cli.logic.computing.rows import Given, Row, joined
from goalmem_cli.logic.days import MONTHS

NOW = datetime(2023, 6, 20, 9)


def spell(day: date) -> str:
    """Return a day as people write it."""
    return f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def rows_of(*told: Mapping[str, str]) -> list[Row]:
    """Return rows of values, each given by a fact of its own."""
    return [Row({name: Given(value, (f"F{n}",)) for name, value in row.items()}) for n, row in enumerate(told, 1)]


def computed(text: str, rows: Sequence[Row], asked: str = "") -> Computed:
    """Return what the expression comes to."""
    return evaluate(parse_expression(text), rows, now=NOW, asked=asked)


def value(text: str, rows: Sequence[Row], asked: str = "") -> str:
    """Return the only value, or why there is none."""
    found = computed(text, rows, asked)
    return ", ".join(found.values) or found.why


THINGS = ["apple", "bread", "cheese", "dates", "eggplant", "flour"]
moments = st.dates(date(2022, 1, 1), date(2023, 12, 31))
bought = st.lists(st.tuples(st.sampled_from(THINGS), moments, st.integers(1, 99)), min_size=1, max_size=9)
Bought = list[tuple[str, date, int]]


def purchases(told: Bought) -> list[Row]:
    """Return a row for each purchase: what, when, for how much."""
    return rows_of(*({"x": thing, "d": spell(day), "p": f"{price} euros"} for thing, day, price in told))


@given(bought)
def test_counting_adding_and_averaging_are_exact(told: Bought) -> None:
    """Two purchases of a kind on two days are two, told twice they are one; prices add up over purchases."""
    rows = purchases(told)
    assert value("count(x)", rows) == str(len({(thing, day) for thing, day, _ in told}))
    each = [price for _, _, price in set(told)]
    assert value("sum(p)", rows).removesuffix(" euros") == f"{sum(each):,}"
    mean = value("average(p)", rows).removesuffix(" euros").replace(",", "")
    assert abs(float(mean) - sum(each) / len(each)) <= 0.0051


@given(bought)
def test_the_most_frequent_thing_is_named_only_where_it_is_one(told: Bought) -> None:
    """As often as another is not the most."""
    often = Counter(thing for thing, _, _ in set(told)).most_common(2)
    found = computed("most(x)", purchases(told))
    if len(often) > 1 and often[0][1] == often[1][1]:
        assert "none is the most" in found.why
    else:
        assert found.values == (often[0][0],)


@given(bought, st.integers(1, 9))
def test_first_last_and_nth_follow_the_dates(told: Bought, place: int) -> None:
    """Sorting by date gives the same, and a tie gives none."""
    rows = purchases(told)
    ordered = sorted({(day, thing) for thing, day, _ in told})
    dates = [day for day, _ in ordered]
    for text, at in (("first(x by d)", 0), ("last(x by d)", len(ordered) - 1), (f"nth(x by d, {place})", place - 1)):
        found = computed(text, rows)
        if at < len(ordered) and dates.count(dates[at]) == 1:
            assert found.values == (ordered[at][1],)
        else:
            assert found.values == ()
            assert "not settled" in found.why or "there are only" in found.why


@given(bought)
def test_by_an_amount_it_is_the_cheapest_and_the_dearest(told: Bought) -> None:
    """What orders may be a number as well as a date."""
    rows = purchases(told)
    ordered = sorted({(price, thing) for thing, _, price in told})
    for text, at, place in (("first(x by p)", 0, 0), ("last(x by p)", -1, len(ordered) - 1)):
        prices = [price for price, _ in ordered]
        if prices.count(prices[at]) == 1:
            assert value(text, rows) == ordered[place][1]


@given(bought, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_decides_nothing(told: Bought, random: Random) -> None:
    """Whatever was found first."""
    rows = purchases(told)
    other = random.sample(rows, len(rows))
    for text in ("count(x)", "sum(p)", "first(x by d)", "last(x by p)", "most(x)", "between(first(d by d), last(d by d))"):  # fmt: skip
        mine, theirs = computed(text, rows), computed(text, other)
        assert mine.values == theirs.values
        assert set(mine.facts) == set(theirs.facts)


@given(bought)
def test_the_least_and_the_greatest_are_by_amount_alone(told: Bought) -> None:
    """2000 is a price there, and no year; a tie names none."""
    rows = rows_of(*({"x": thing, "p": f"{price}.50"} for thing, _, price in told))
    ordered = sorted({(price, thing) for thing, _, price in told})
    prices = [price for price, _ in ordered]
    for text, at in (("least(x by p)", 0), ("greatest(x by p)", -1)):
        if prices.count(prices[at]) == 1:
            assert value(text, rows) == ordered[at][1]
        else:
            assert "not settled" in value(text, rows)


@given(st.integers(1, 999), st.integers(1, 999))
def test_products_and_shares_undo_each_other(count: int, price: int) -> None:
    """So many at a price each, and what they come to shared among as many."""
    rows = rows_of({"x": str(count)}, {"y": f"€{price}"}, {"z": f"€{count * price}"})
    assert value("product(x, y)", rows) == value("product(y, x)", rows) == f"€{count * price:,}"
    assert value("each(z, x)", rows) == f"€{price}"
    assert value(f"each(z, '{count}')", rows) == f"€{price}"


@pytest.mark.parametrize(
    ("text", "rows", "said"),
    [
        ("product(x, y)", [{"x": "40 crates a week"}, {"y": "12 each"}], "40 crates a week × 12 each = 480"),
        ("product(x, y)", [{"x": "three"}, {"y": "20 minutes"}], "three × 20 minutes = 60 minutes"),
        ("product(x, y)", [{"x": "nine hours"}, {"y": "15 an hour"}], "nine hours × 15 an hour = 135"),
        ("product(x, y)", [{"x": "€500 a month"}, {"y": "2 years"}], "€500 a month × 2 years = €12,000"),
        ("product(x, y)", [{"x": "3 hours a day"}, {"y": "5 days"}], "3 hours a day × 5 days = 15 hours"),
        ("product(x, y)", [{"x": "€500 a month"}, {"y": "5 weeks"}], "weeks are no fixed number of months"),
        ("each(x, y)", [{"x": "60 euros"}, {"y": "3 friends"}], "60 euros / 3 friends = 20 euros"),
        ("least(x by p)", [{"x": "oak", "p": "2000"}, {"x": "ash", "p": "1.150,50"}],
         "ash (1.150,50) is least of 2; the others: oak (2000)"),
        ("product(x, y)", [{"x": "5 euros"}, {"y": "3 hours"}], "euros times hour is nothing"),
        ("product(x, y)", [{"x": "3"}, {"y": "at least 5"}], "not known how much"),
        ("product(x, y)", [{"x": "3"}, {"y": "5"}, {"y": "6"}], "y has several values"),
        ("each(x, y)", [{"x": "60 euros"}, {"y": "0"}], "no number to share something among"),
        ("each(x, y)", [{"x": "60 euros"}, {"y": "2 or 3"}], "no number to share something among"),
        ("least(x by p)", [{"x": "oak", "p": "€9"}, {"x": "ash", "p": "$9"}], "different currencies"),
    ],
)  # fmt: skip
def test_products_shares_and_the_least_are_said_in_words(text: str, rows: list[dict[str, str]], said: str) -> None:
    """Or why the values do not give them."""
    found = computed(text, rows_of(*rows))
    assert said in (found.how or found.why)


sets = st.lists(st.sampled_from(THINGS), min_size=1, max_size=5, unique=True)


@given(sets, sets)
def test_sets_are_those_of_plain_python(mine: list[str], theirs: list[str]) -> None:
    """In both, in either, in the first only."""
    rows = rows_of(*({"x": thing} for thing in mine), *({"y": thing} for thing in theirs))
    for text, wanted in (("both", set(mine) & set(theirs)), ("either", {*mine, *theirs}), ("without", {*mine} - {*theirs})):  # fmt: skip
        found = computed(f"{text}(x, y)", rows)
        assert set(found.values) == wanted
        assert value(f"count({text}(x, y))", rows) == str(len(wanted))
        if not wanted:
            assert found.why == f"nothing is left by {text}(x, y)"


@given(moments, moments, moments)
def test_dates_compare_and_lie_apart_as_they_do(first: date, second: date, third: date) -> None:
    """Earlier, later, before, after and between agree with the calendar."""
    rows = rows_of({"x": spell(first)}, {"y": spell(second)}, {"z": spell(third)})
    apart = abs((first - second).days)
    assert value("between(x, y)", rows, "day") == f"{apart} day{'s' * (apart != 1)}"
    if first != second:
        assert value("before(x, y)", rows) == ("yes" if first < second else "no")
        assert value("after(x, y)", rows) == ("yes" if first > second else "no")
        assert value("earlier(Susie: x, Seraphim: y)", rows) == ("Susie" if first < second else "Seraphim")
        assert value("same(x, y)", rows) == "no"
    else:
        assert "overlap" in value("before(x, y)", rows)
        assert value("same(x, y)", rows) == "yes"
    if len({first, second, third}) == 3:
        named = {first: "A", second: "B", third: "C"}
        assert value("later(A: x, B: y, C: z)", rows) == named[max(named)]


@given(st.integers(0, 999), st.integers(0, 999))
def test_amounts_compare_and_differ_as_they_do(mine: int, theirs: int) -> None:
    """More, less and the difference, which is never negative."""
    rows = rows_of({"x": f"€{mine}"}, {"y": f"€{theirs}"})
    assert value("difference(x, y)", rows) == f"€{abs(mine - theirs)}"
    if mine != theirs:
        assert value("more(Ann: x, Ben: y)", rows) == ("Ann" if mine > theirs else "Ben")
        assert value("less(Ann: x, Ben: y)", rows) == ("Ben" if mine > theirs else "Ann")
    else:
        assert "not settled" in value("more(Ann: x, Ben: y)", rows)


groundings = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(THINGS[:3]), st.sampled_from(THINGS[:3])), max_size=8
)


@given(groundings)
def test_rows_are_the_natural_join(told: list[tuple[int, str, str]]) -> None:
    """Subgoals that share variables make rows where these agree, in whatever order; others stay apart."""
    names = {0: ("x", "y"), 1: ("y", "z"), 2: ("u", "v")}
    given_to = [
        (subgoal, dict(zip(names[subgoal], (Given(left), Given(right)), strict=True))) for subgoal, left, right in told
    ]
    tables = {subgoal: {(left, right) for number, left, right in told if number == subgoal} for subgoal in names}
    found = [{name: given.value for name, given in row.values.items()} for row in joined(given_to)]
    linked = {(x, y, z) for (x, y), (other, z) in product(tables[0], tables[1]) if y == other}
    if tables[0] and tables[1]:
        assert {(row["x"], row["y"], row["z"]) for row in found if "x" in row} == linked
    assert {(row["u"], row["v"]) for row in found if "u" in row} == tables[2]


def test_the_calculation_is_said_in_words() -> None:
    """What was computed from what, as a person would check it."""
    rows = rows_of({"x": "5 May 2023"}, {"y": "17 May 2023"}, {"p": "70 euros"}, {"q": "40 euros"})
    assert computed("between(x, y)", rows).how == "5 May 2023 to 17 May 2023 is 12 days"
    assert computed("between(x, y)", rows, "week").how == "5 May 2023 to 17 May 2023 is 12 days, about 2 weeks"
    assert computed("difference(q, p)", rows).how == "70 euros - 40 euros = 30 euros"
    assert computed("earlier(Susie: x, Seraphim: y)", rows).how == (
        "Susie 5 May 2023, Seraphim 17 May 2023: earlier is Susie"
    )
    assert computed("before(x, y)", rows).how == "5 May 2023 is before 17 May 2023"
    assert computed("weekday(x)", rows).how == "5 May 2023 is a Friday"
    assert computed("age(x)", rows).how == "born 5 May 2023: 0 on 20 June 2023"
    assert computed("duration(x)", rows).how == "5 May 2023 to 20 June 2023 is 46 days"
    assert computed("count(x)", rows_of({"x": "a letter"}, {"x": "a postcard"})).how == "a letter, a postcard: 2"
    assert computed("sum(p)", rows_of({"p": "€5"}, {"p": "€7.50"})).how == "€5 + €7.50 = €12.50"


def test_aliases_count_once_and_events_on_two_days_twice() -> None:
    """Matcha and Matcha Powder are one thing; a party in May and one in June are two; told twice it is one."""
    assert value("count(x)", rows_of({"x": "Matcha"}, {"x": "Matcha Powder"}, {"x": "the matcha"})) == "1"
    party = {"x": "a party", "d": "5 May 2023"}
    assert value("count(x)", rows_of(party, {"x": "a party", "d": "6 June 2023"})) == "2"
    assert value("count(x)", rows_of(party, {"x": "the party", "d": "May 5, 2023"})) == "1"
    elements = computed("count(x)", rows_of(party, party, {"x": "a party", "d": "6 June 2023"})).elements
    assert [element.facts for element in elements] == [("F1", "F2"), ("F3",)]


def test_two_payments_of_five_are_two() -> None:
    """Told by two facts they are two, also without a date; the same one told again about the same thing is one."""
    assert value("sum(p)", rows_of({"p": "5 euros"}, {"p": "5 euros"})) == "10 euros"
    shoes = {"p": "80 euros", "x": "the shoes", "d": "5 May 2023"}
    assert value("sum(p)", rows_of(shoes, {**shoes, "x": "running shoes"})) == "80 euros"
    assert value("sum(p)", rows_of(shoes, {**shoes, "x": "a hat"})) == "160 euros"


def test_what_a_person_is_beside_does_not_multiply() -> None:
    """Ann's two cats make her no two friends, and her bike costs once whatever its colours are."""
    facts = [
        (0, {"x": Given("Ann", ("F1",))}),
        (1, {"x": Given("Ann", ("F2",)), "y": Given("Tom", ("F2",))}),
        (1, {"x": Given("Ann", ("F3",)), "y": Given("Kit", ("F3",))}),
    ]
    assert value("count(x)", joined(facts)) == "1"
    assert value("count(y)", joined(facts)) == "2"


@pytest.mark.parametrize(
    ("text", "rows", "why"),
    [
        ("count(x)", [], "nothing was found for x"),
        ("average(p)", [], "nothing was found for p"),
        ("first(x by d)", [{"x": "tea"}], "nothing was found for x by d"),
        ("sum(p)", [{"p": "5 euros"}, {"p": "$5"}], "different currencies"),
        ("sum(p)", [{"p": "a lot"}], "a lot is no amount"),
        ("between(x, y)", [{"x": "5 May 2023"}, {"y": "Anna"}], "Anna is no date"),
        ("between(x, y)", [{"x": "5 May 2023"}, {"y": "3 May"}], "3 May has no year"),
        ("between(x, y)", [{"x": "5 May 2023"}, {"x": "3 May 2023"}, {"y": "2022"}], "x has several values"),
        ("first(x by d)", [{"x": "tea", "d": "May 2023"}, {"x": "milk", "d": "5 May 2023"}], "is not settled"),
        ("later(A: x, B: y)", [{"x": "2023"}, {"y": "5 May 2023"}], "is not settled"),
        ("nth(x by d, 3)", [{"x": "tea", "d": "May 2023"}], "there are only 1"),
        ("weekday(x)", [{"x": "May 2023"}], "not one day"),
        ("same(x, y)", [{"x": "my sister"}, {"y": "Anna"}], "not settled whether my sister is Anna"),
        ("age(x)", [{"x": "5 May 2030"}], "5 May 2030 is after 20 June 2023"),
        ("both(x, y)", [{"x": "tea"}, {"y": "milk"}], "nothing is left by both"),
    ],
)  # fmt: skip
def test_what_the_values_do_not_settle_is_unknown_with_the_reason(
    text: str, rows: list[dict[str, str]], why: str
) -> None:
    """Nothing is guessed."""
    found = computed(text, rows_of(*rows))
    assert found.values == ()
    assert why in found.why


def test_who_settles_aliases_may_be_asked() -> None:
    """What words leave open a model may have judged."""
    rows = rows_of({"x": "my sister"}, {"y": "Anna"}, {"y": "Tom"})
    found = evaluate(
        parse_expression("both(x, y)"), rows, same=lambda left, right: {left, right} == {"my sister", "Anna"}
    )
    assert found.values == ("my sister",)
    assert found.facts == ("F1", "F2", "F3")


def test_all_but_one_and_nested_once() -> None:
    """A constant of the question may be left out; a function may take another's result."""
    sports = rows_of({"x": "basketball"}, {"x": "surfing"}, {"x": "yoga"})
    assert value('without(x, "basketball")', sports) == "surfing, yoga"
    assert value('count(without(x, "Basketball"))', sports) == "2"
    trips = rows_of(
        {"x": "Rome", "d": "5 May 2023"}, {"x": "Oslo", "d": "9 June 2023"}, {"x": "Bonn", "d": "1 July 2022"}
    )
    assert value("between(first(d by d), last(d by d))", trips, "month") == "about 11 months"
    assert value("weekday(last(d by d))", trips) == "Friday"
    costs = rows_of({"p": "€5"}, {"p": "€6"}, {"q": "€20"})
    assert value("difference(sum(p), q)", costs) == "€9"
    assert value("more(Ann: sum(p), Ben: q)", costs) == "Ben"


@given(st.integers(1, 60), st.integers(1, 60))
def test_lengths_of_time_add_up(minutes: int, seconds: int) -> None:
    """Minutes and seconds are one kind."""
    rows = rows_of({"t": f"{minutes} minutes"}, {"t": f"{seconds} seconds"})
    found = computed("sum(t)", rows, "second").values[0]
    assert found == f"{int(timedelta(minutes=minutes, seconds=seconds).total_seconds()):,} seconds"
