"""Sums count parts and not their total, and three things at 20 each as three."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic.computing.evaluation import Computed, evaluate
from goalmem_cli.logic.computing.expressions import parse_expression
from goalmem_cli.logic.computing.rows import Given, Row
from goalmem_cli.trace import Fact

LAMPS = "My cousin sold three of my lamps, 20 each."
NOON = datetime(2023, 5, 1, 12)


def computed(turns: Sequence[str], *told: tuple[int, Mapping[str, str]], text: str = "sum(p)") -> Computed:
    """Return what the expression comes to over rows, each the number of the turn that gave it and its values."""
    facts = {
        f"F{n}": Fact(
            f"F{n}", f"u{n}", (), "chat", "Ann", NOON + timedelta(minutes=n), turn,
            before=(("Ben", turns[n - 2]),) if n > 1 else (),
        )
        for n, turn in enumerate(turns, 1)
    }  # fmt: skip
    rows = [Row({name: Given(value, (f"F{n}",)) for name, value in row.items()}) for n, row in told]
    return evaluate(parse_expression(text), rows, facts=facts)


def test_three_at_twenty_each_and_the_reply_that_adds_them_up_are_sixty() -> None:
    """They were 80 before: one lamp and the reply. The calculation says which row is the total."""
    found = computed([LAMPS, "Sixty euros!"], (1, {"p": "20"}), (2, {"p": "sixty euros"}))

    assert found.values == ("60 euros",)
    assert found.how == "3 × 20 = 60 euros; sixty euros is the total of 3 × 20, and no further part"
    assert [element.value for element in found.elements] == ["20"]


PRICES = ("I paid 20 for a lamp.", "And 15 for the chair.")


@pytest.mark.parametrize(
    ("turns", "told", "value"),
    [
        ([LAMPS], [(1, {"p": "20 each"})], "60"),
        ([LAMPS], [(1, {"p": "20", "x": name}) for name in ("red lamp", "blue lamp", "green lamp")], "60"),
        ([*PRICES, "That makes 35 altogether."], [(1, {"p": "20"}), (2, {"p": "15"}), (3, {"p": "35"})], "35"),
        ([*PRICES, "So 35!"], [(1, {"p": "20"}), (2, {"p": "15"}), (3, {"p": "35"})], "70"),
        (["A lamp was 20, a chair 15: 35 in all."], [(1, {"p": "20"}), (1, {"p": "15"}), (1, {"p": "35"})], "35"),
        (["A lamp was 20, a chair 15.", "Wow, 35!"], [(1, {"p": "20"}), (1, {"p": "15"}), (2, {"p": "35"})], "35"),
        (["I bought a desk for 90.", *PRICES, "In total 35 for the small things."],
         [(1, {"p": "90"}), (2, {"p": "20"}), (3, {"p": "15"}), (4, {"p": "35"})], "125"),
        (["The lamp was €20.", "€20!"], [(1, {"p": "€20"}), (2, {"p": "€20"})], "€20"),
        (["The lamp was €20.", "How much was the chair?", "€20!"], [(1, {"p": "€20"}), (3, {"p": "€20"})], "€40"),
        (["The lamp was €20. And what was the chair?", "€20!"], [(1, {"p": "€20"}), (2, {"p": "€20"})], "€40"),
        (["The lamp was €20.", "The chair was €20."], [(1, {"p": "€20"}), (2, {"p": "€20"})], "€40"),
        (["I paid 60 in all for the lamps.", "The chair was 15."],
         [(1, {"p": "60", "x": "lamps"}), (2, {"p": "15", "x": "chair"})], "75"),
        (["The three of us paid 20 each."], [(1, {"p": "20"})], "20"),
        (["In 2022 I sold lamps at 12 each."], [(1, {"p": "12"})], "12"),
        (["I had 3 lamps and 2 chairs, 20 each."], [(1, {"p": "20"})], "20"),
        (["At my second market I sold lamps at 20 each."], [(1, {"p": "20"})], "20"),
        (["I took my two kids there and paid 20 each time."], [(1, {"p": "20"})], "20"),
        (["In all honesty 50 is a lot.", "The lamp was 20."], [(1, {"p": "50"}), (2, {"p": "20"})], "70"),
        (["We held a sale, which made 50.", "The lamp made 20."], [(1, {"p": "50"}), (2, {"p": "20"})], "70"),
        ([*PRICES, "Which makes 35."], [(1, {"p": "20"}), (2, {"p": "15"}), (3, {"p": "35"})], "35"),
        (["A dozen cups went for 2 apiece."], [(1, {"p": "2"})], "24"),
        (["I paid 20, and all in all 15 was too much for it."], [(1, {"p": "20"}), (1, {"p": "15"})], "35"),
        (["I bought 3 lamps, 20 euros each, 60 euros in total."],
         [(1, {"p": "20 euros"}), (1, {"p": "60 euros"})], "60 euros"),
        (["The 3 lamps cost 60 euros, 20 each."], [(1, {"p": "60 euros"}), (1, {"p": "20"})], "60 euros"),
        (["I sold 3 lamps, 20 each.", "Yes, 20 each for the 3 lamps."], [(1, {"p": "20"}), (2, {"p": "20"})], "60"),
        (["I bought 3 lamps, 20 each, and gave one to Ben."], [(1, {"p": "20", "x": "the lamp for Ben"})], "20"),
        *(([text], [(1, {"p": value})], value) for text, value in (
            ("On May 5 I sold lamps at 12 each.", "12"), ("27 inch monitors at 200 each.", "200"),
            ("iPhone 14 cases for 20 each.", "20"), ("In room 12 we sold lamps at 20 each.", "20"),
            ("We drove 40 miles and the lamps were 20 each.", "20"), ("5 star rooms at 250 each.", "250"),
            ("Size 9 boots were 40 each.", "40"), ("5 litre buckets, 12 each.", "12"), ("40 watt bulbs cost 3 each.", "3"),
            ("12 hours each at the cafe and 10 at home.", "12 hours"),
        )),
        (["The hotel was 200 overall.", "The train was 80.", "Food was 120."],
         [(1, {"p": "200", "x": "hotel"}), (2, {"p": "80", "x": "train"}), (3, {"p": "120", "x": "food"})], "400"),
        (["The lamp was 20 in total with shipping.", "The chair was 15.", "The cushion was 5."],
         [(1, {"p": "20"}), (2, {"p": "15"}), (3, {"p": "5"})], "40"),
        (["I came third overall, 10 km on Tuesday.", "I ran 10 km on Monday."],
         [(1, {"p": "10 km"}), (2, {"p": "10 km"})], "20 km"),
        (["Week one: 35 in total.", "Week two: 35 in total."], [(1, {"p": "35"}), (2, {"p": "35"})], "70"),
        (["I gave 20 euros for the present.", "And I 20 euros!"], [(1, {"p": "20 euros"}), (2, {"p": "20 euros"})], "40 euros"),
        (["Cakes brought 20.", "Pies brought 30.", "From tea they made 50."],
         [(1, {"p": "20"}), (2, {"p": "30"}), (3, {"p": "50"})], "100"),
        (["The total eclipse trip cost 500.", "The hotel was 200."], [(1, {"p": "500"}), (2, {"p": "200"})], "700"),
    ],
)  # fmt: skip
def test_a_total_is_no_further_part(turns: list[str], told: list[tuple[int, dict[str, str]]], value: str) -> None:
    """What is told as one and comes to the others is left out; what only happens to be as much is a part."""
    assert computed(turns, *told).values == (value,)


def test_a_total_that_the_others_do_not_come_to_settles_nothing() -> None:
    """Neither the parts nor the parts with the total are surely all."""
    rows = (1, {"p": "20"}), (2, {"p": "15"}), (3, {"p": "50"})
    assert computed([*PRICES, "In total I spent 50."], *rows).why == (
        "50 is told as a total, and the others come to 35"
    )  # fmt: skip


def test_an_average_is_over_the_parts() -> None:
    """Three lamps at 20 and a chair at 40 cost 25 on average."""
    found = computed([LAMPS, "The chair was 40."], (1, {"p": "20"}), (2, {"p": "40"}), text="average(p)")
    assert (found.values, found.how) == (("25",), "(3 × 20 + 40) / 4 = 25")


@given(st.lists(st.integers(1, 99), min_size=2, max_size=6))
def test_a_stated_total_changes_no_sum(prices: list[int]) -> None:
    """Whatever the parts are, their sum told altogether adds nothing to it."""
    turns = [f"Thing {chr(97 + n)} cost {price} euros." for n, price in enumerate(prices)]
    rows = [(n, {"p": f"{price} euros"}) for n, price in enumerate(prices, 1)]
    whole = sum(prices)
    both = computed([*turns, f"It was {whole} euros altogether."], *rows, (len(turns) + 1, {"p": f"{whole} euros"}))
    assert both.values == computed(turns, *rows).values == (f"{whole} euros",)
