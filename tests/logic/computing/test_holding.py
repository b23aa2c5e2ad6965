"""What held when, what came before what, and all in order: against plain Python over the years."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic.computing.rows import Row
from tests.logic.computing.test_evaluation import computed, rows_of, value

Span = tuple[str, int, int]

spans = st.lists(
    st.tuples(st.sampled_from(["E1", "E12", "E7", "Ana"]), st.integers(1980, 1999), st.integers(0, 8)).map(
        lambda one: (one[0], one[1], one[1] + one[2])
    ),
    min_size=1,
    max_size=8,
)


def told(found: list[Span]) -> list[Row]:
    """Return a row for each span."""
    return rows_of(*({"x": thing, "y": str(first), "z": str(last)} for thing, first, last in found))


@given(spans, st.integers(1978, 2002), st.integers(0, 6))
def test_what_held_during_a_time(found: list[Span], first: int, length: int) -> None:
    """It is what has a year in common with the time, each thing once; counted, none is none."""
    last = first + length
    wanted = list(
        dict.fromkeys(name for name, *ends in found if any(first <= y <= last for y in range(ends[0], ends[1] + 1)))
    )

    assert list(computed(f"during(x from y to z, '{first}', '{last}')", told(found)).values) == wanted
    assert value(f"count(during(x from y to z, '{first}', '{last}'))", told(found)) == str(len(wanted))


@given(spans)
def test_things_in_order(found: list[Span]) -> None:
    """They go by when they began, each as it first came; two things of one year leave the order open."""
    distinct = sorted({(first, name) for name, first, _ in found})
    result = computed("ordered(x by y)", told(found))

    if len({first for first, _ in distinct}) == len(distinct):
        assert list(result.values) == list(dict.fromkeys(name for _, name in distinct))
    else:
        assert "is not settled" in result.why


@given(spans, st.sampled_from(["previous", "next"]))
def test_what_comes_right_before_or_after(found: list[Span], side: str) -> None:
    """It is the neighbour by when they began, where the thing and the order are clear, and there is one."""
    distinct = sorted({(first, name) for name, first, _ in found})
    result = computed(f"{side}(x by y, 'Ana')", told(found))
    places = [place for place, (_, name) in enumerate(distinct) if name == "Ana"]
    near = places[0] + (1 if side == "next" else -1) if len(places) == 1 else -1

    if len(places) == 1 and len({first for first, _ in distinct}) == len(distinct):
        assert list(result.values) == ([distinct[near][1]] if 0 <= near < len(distinct) else [])
    elif len(places) != 1:
        assert result.values == ()


def test_the_calculation_is_said() -> None:
    """It says of how many, which they are, and cites the facts of all."""
    rows = told([("E1", 1983, 1989), ("E2", 1990, 1991)])
    result = computed("during(x from y to z, '1985')", rows)

    assert (result.values, result.facts) == (("E1",), ("F1", "F2"))
    assert result.how == "of 2 in 1985: E1 (1983 to 1989)"
    assert computed("next(x by y, 'E1')", rows).how == "E2 (1990) is next to E1 (1983)"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("during(x from y to z, 'May 1983')", "not settled whether E1 (1983 to 1989) reaches into that time"),
        ("during(x from y to z, '1990', '1985')", "1985 is before 1990"),
        ("during(x from y to z, 'soon')", "'soon' is no date"),
        ("during(x from y to z, '1970')", "nothing is left"),
        ("next(x by y, 'E1')", "nothing comes after E1 (1983)"),
        ("previous(x by y, 'E9')", "E9 is none of E1 (1983)"),
    ],
)
def test_what_is_open_is_said(text: str, why: str) -> None:
    """A month within the first year, an empty time, a thing that is not there: the reason stands for the answer."""
    assert why.replace("'soon'", "soon") in computed(text, told([("E1", 1983, 1989)])).why


def test_an_event_at_the_time_of_another() -> None:
    """The time may be a variable, or computed."""
    rows = [*told([("E1", 1983, 1989), ("E2", 1990, 1991)]), *rows_of({"w": "1990"})]
    assert value("during(x from y to z, w)", rows) == "E2"
