"""The notation of computed answers, and what a plan allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic import Variable
from goalmem_cli.logic.computing.expressions import (
    BESIDE,
    LABELLED,
    ORDERED,
    Call,
    Expression,
    ExpressionError,
    Function,
    Literal,
    Now,
    Use,
    parse_expression,
    variables_of,
)
from goalmem_cli.logic.computing.kinds import check_expression, gathered

_PLAIN = [function for function in Function if function not in ORDERED | LABELLED | {Function.DURING}]
_ONE = (Function.COUNT, Function.SUM, Function.AVERAGE, Function.MOST, Function.DURATION, Function.WEEKDAY)
uses = st.sampled_from("xyzwvu").map(Use)
literals = st.text("abc XYZ019,:()", min_size=1).map(lambda text: " ".join(text.split())).filter(bool).map(Literal)
labels = st.lists(
    st.sampled_from(["Susie", "Seraphim", "the old bike", "no. 2", "Zoë"]), min_size=2, max_size=4, unique=True
)


def calls(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """Return calls of every kind of function over the inner expressions."""

    def plain(function: Function) -> st.SearchStrategy[Expression]:
        size = 1 if function in _ONE else 2
        arguments = st.lists(inner, min_size=size, max_size=size).map(tuple)
        return arguments.map(lambda chosen: Call(function, chosen))

    ordered = st.builds(
        lambda function, use, by, place: Call(function, (use,), (), by, place if function is Function.NTH else 0),
        st.sampled_from(sorted(ORDERED - BESIDE)), uses, st.sampled_from("dxy"), st.integers(1, 1000),
    )  # fmt: skip
    beside = st.builds(
        lambda function, use, mark, by: Call(function, (use, mark), (), by),
        st.sampled_from(sorted(BESIDE)), uses, inner, st.sampled_from("dxy"),
    )  # fmt: skip
    during = st.builds(
        lambda use, times, by: Call(Function.DURING, (use, *times), (), by[0], 0, by[1]),
        uses, st.lists(inner, min_size=1, max_size=2), st.sampled_from(["yz", "dx"]),
    )  # fmt: skip
    labelled = st.sampled_from(sorted(LABELLED)).flatmap(
        lambda function: labels.flatmap(
            lambda names: st.lists(inner, min_size=len(names), max_size=len(names)).map(
                lambda chosen: Call(function, tuple(chosen), tuple(names))
            )
        )
    )
    return st.one_of(st.sampled_from(_PLAIN).flatmap(plain), ordered, beside, during, labelled)


terms = st.one_of(uses, st.just(Now()), literals)
expressions = st.one_of(terms, calls(terms), calls(st.one_of(terms, calls(terms))))


@given(expressions)
def test_an_expression_prints_as_it_is_read(expression: Expression) -> None:
    """Printing and reading give the same expression, whatever it is."""
    assert parse_expression(str(expression)) == expression


@given(expressions, st.sampled_from([" ", "  ", "\n"]))
def test_blanks_between_the_parts_do_not_count(expression: Expression, blank: str) -> None:
    """A model may leave blanks out or put more of them in."""
    text = str(expression)
    if '"' not in text:
        assert parse_expression(text.replace(", ", f",{blank}")) == expression


@given(st.text('abx()(),:"12 by now countfirst', max_size=40))
def test_whatever_is_written_gives_an_expression_or_the_reason(text: str) -> None:
    """Nothing else comes out of reading than a value or an ExpressionError."""
    try:
        found = parse_expression(text)
    except ExpressionError as error:
        assert str(error)
    else:
        assert parse_expression(str(found)) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("total(x)", "no function 'total'"),
        ("count(x, y)", "takes 1 argument"),
        ("between(x)", "takes 2 arguments"),
        ("count(without(both(x, y), z))", "nested more than once"),
        ("first(x)", "expected 'by'"),
        ("nth(x by d)", "expected ','"),
        ("nth(x by d, 0)", "a place from 1"),
        ("next(x by d)", "takes 2 arguments"),
        ("least(x)", "expected 'by'"),
        ("product(x)", "takes 2 arguments"),
        ("each(x)", "takes 2 arguments"),
        ("during(x from y, '1990')", "expected 'to'"),
        ("during(x from y to z)", "takes 2 to 3 arguments"),
        ("during(x by y, '1990')", "expected 'from'"),
        ("during(x from y to soon, '1990')", "a variable after to"),
        ("later(x, y)", "a label"),
        ("later(A: x, A: y)", "one label twice"),
        ("count(x) or so", "nothing after it"),
        ("the number of x", "a variable"),
        ('without(x, "")', "not empty"),
        ("", "a variable"),
    ],
)
def test_what_is_no_expression_is_refused_with_the_reason(text: str, why: str) -> None:
    """A model that is asked once more is told what was wrong."""
    with pytest.raises(ExpressionError, match=why.replace("(", r"\(").replace(")", r"\)")):
        parse_expression(text)


VARIABLES = (
    Variable("x", "book", is_starred=True), Variable("y", "film"), Variable("d", "date"), Variable("e", "day", True),
    Variable("p", "price", is_starred=True), Variable("n", "number of books"), Variable("t", "duration"),
    Variable("w", "date", is_starred=True),
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["x", "count(x)", "count(w)", "sum(p)", "first(x by d)", "last(x by p)", "between(d, now)", "count(both(x, y))",
     "without(x, 'Dune')", "difference(sum(p), n)", "later(A: d, B: w)", "more(A: count(x), B: n)", "duration(d)",
     "duration(t)", "weekday(first(d by d))", "ordered(x by d)", "next(x by d, 'Dune')", "previous(x by d, y)", "same(x, y)",
     "during(x from d to w, '1990')", "count(during(x from d to w, '1990', now))", "count(ordered(x by d))",
     "product(n, p)", "each(sum(p), n)", "each(p, '3')", "least(x by p)", "greatest(x by n)", "product(count(x), p)",
     "difference(product(n, p), p)", "during(x from d to w, first(w by w))", "age(d)", "age(d, now)", "difference(t, t)"],
)  # fmt: skip
def test_what_a_plan_allows(text: str) -> None:
    """An expression may use the plan's variables, each for what its type can be."""
    check_expression(parse_expression(text), VARIABLES)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("count(z)", "no variable z; it has x, y, d"),
        ("first(x by z)", "no variable z"),
        ("count(d)", "count cannot take d: it is a date"),
        ("count(n)", "count cannot take n: it is a number"),
        ("sum(d)", "sum cannot take d: it is a date"),
        ("weekday(p)", "weekday cannot take p: it is a number"),
        ("between(d, p)", "between cannot take p: it is a number"),
        ("between(d, t)", "between cannot take t: it is a duration"),
        ("age(n)", "age cannot take n: it is a number"),
        ("later(A: n, B: d)", "later cannot take n"),
        ("during(x from d to p, '1990')", "during cannot take p: it is a number"),
        ("during(x from d to z, '1990')", "no variable z"),
        ("during(x from d to w, n)", "during cannot take n: it is a number"),
        ("during(count(x) from d to w, now)", "during orders a variable"),
        ("next(x by y, 'Dune')", "y orders nothing"),
        ("first(x by y)", "y orders nothing"),
        ("first(count(x) by d)", "first orders a variable"),
        ("product(d, p)", "product cannot take d: it is a date"),
        ("each(p, d)", "each cannot take d: it is a date"),
        ("least(x by d)", "least cannot order by d: it is a date"),
        ("greatest(x by y)", "y orders nothing: it is no number"),
        ("count(product(n, p))", "not product"),
        ("count(sum(p))", "not sum"),
        ("count(before(d, w))", "cannot take what before gives"),
        ("sum(between(d, w))", "several values"),
        ("now", "needs nothing of the plan"),
        ('"three"', "needs nothing of the plan"),
    ],
)
def test_what_a_plan_does_not_allow_is_refused_with_the_reason(text: str, why: str) -> None:
    """A variable that is not there, or one of the wrong kind, is named."""
    with pytest.raises(ExpressionError, match=why):
        check_expression(parse_expression(text), VARIABLES)


def test_the_variables_of_an_expression() -> None:
    """They are those that it computes from and those that it orders by; of some it takes every value."""
    expression = parse_expression("difference(sum(p), nth(x by d, 2))")
    assert variables_of(expression) == ("p", "x", "d")
    assert gathered(expression) == {"p", "x", "d"}
    assert gathered(parse_expression("between(d, now)")) == frozenset()
    assert gathered(parse_expression("during(x from y to z, d)")) == {"x", "y", "z"}
    assert gathered(parse_expression("next(x by d, y)")) == {"x", "d"}
    assert gathered(parse_expression("least(x by y)")) == {"x", "y"}
    assert gathered(parse_expression("product(x, y)")) == frozenset()
    assert gathered(parse_expression("x")) == frozenset()
