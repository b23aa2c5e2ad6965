"""The streaming JSON cursor gives what the standard library gives, however the text is cut into stretches."""

import io
import json
from collections.abc import Iterator
from itertools import chain, repeat

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.nodes import Listing
from goalmem_cli.transcripts.reading.source import LONGEST_LINE, Source

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=()), max_size=12)
    | st.sampled_from(["\\", '"', "\ud83d\ude00", "\ud83d", "\u2028", "a\nb\tc", "\\u0041"])
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=5),
    max_leaves=20,
)
INDENTS = st.sampled_from([None, 0, 1, 7])
WIDTHS = st.integers(1, 9)
SIGNS = '[]{},:"\\ \n0123456789.-+eEtrufalsnINy/\x01'


def stretches(text: str, width: int) -> Iterator[str]:
    """Cut the text into pieces of so many characters."""
    return (text[at : at + width] for at in range(0, len(text), width))


def cursor(text: str, width: int) -> JsonText:
    """Return a cursor that gets the text in pieces of so many characters."""
    return JsonText(Source("x.json", lambda: io.BytesIO(b"")), stretches(text, width))


def walked(text: JsonText, depth: int) -> object:
    """Return the next value, its arrays and objects entered one by one down to the depth."""
    kind = text.peek() if depth else ""
    if kind == "[":
        elements: list[object] = []
        for index in text.elements():
            assert index == len(elements)
            elements.append(walked(text, depth - 1))
        return elements
    if kind == "{":
        members: dict[str, object] = {}
        for key in text.members():
            members[key] = walked(text, depth - 1)
        return members
    return text.value()


def read(text: str, width: int, depth: int) -> object:
    """Return the one document of the text."""
    json_text = cursor(text, width)
    value = walked(json_text, depth)
    json_text.finish()
    return value


def same(one: object, other: object) -> bool:
    """Compare with the kinds of numbers, and NaN equal to itself."""
    return repr(one) == repr(other)


@given(VALUES, INDENTS, st.booleans(), WIDTHS, st.integers(0, 6))
@example([1.5e300, -2], None, True, 4, 1)
@example([1.0], None, True, 3, 1)
@example("\ud83d\ude00", None, True, 9, 0)
def test_any_value_in_any_stretches(value: object, indent: int | None, is_ascii: bool, width: int, depth: int) -> None:
    """Whatever the value, the white space and the borders, it comes out as `json.loads` gives it."""
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)

    assert same(read(text, width, depth), json.loads(text))


@pytest.mark.parametrize("width", range(1, 12))
@pytest.mark.parametrize(
    "text",
    [
        "[1.25, 10, -0.5e-10, 2E+5, 1e5]", "-12.75", "0.1", "12e3 ", "[NaN, Infinity, -Infinity]", "[true,false,null]",
        r'["\u00e9\ud83d\ude00\\", "\"", "\ud83d", "\n"]', '{"a":{"b":[[],{},[[{}]]]}}', " \n\t[ \r\n1 ,\n 2 ] \n",
    ],
)  # fmt: skip
def test_tokens_cut_at_every_border(text: str, width: int) -> None:
    """Numbers, literals and escapes over a border are whole."""
    for depth in range(5):
        assert same(read(text, width, depth), json.loads(text))


@given(VALUES, INDENTS, WIDTHS, st.integers(0, 6), st.data())
def test_any_corruption_is_where_json_says(
    value: object, indent: int | None, width: int, depth: int, data: st.DataObject
) -> None:
    """Text with a character replaced, put in, or everything after it cut off is wrong where `json.loads` says."""
    text = json.dumps(value, indent=indent, ensure_ascii=data.draw(st.booleans()))
    at = data.draw(st.integers(0, len(text)))
    sign = data.draw(st.sampled_from(SIGNS))
    damaged = data.draw(st.sampled_from([text[:at], text[:at] + sign + text[at + 1 :], text[:at] + sign + text[at:]]))
    try:
        expected = json.loads(damaged)
    except json.JSONDecodeError as error:
        assume(not error.msg.startswith("Illegal trailing comma"))  # newer Pythons name the comma, older what follows
        with pytest.raises(InputError) as caught:
            read(damaged, width, depth)
        assert caught.value.place == f"line {error.lineno}, column {error.colno}"
        assert caught.value.reason == f"not JSON ({error.msg})"
    else:
        assert same(read(damaged, width, depth), expected)


def test_lines_and_columns_after_many_windows() -> None:
    """An error far into the text has its own line and column, on one line as on many."""
    records = [{"text": "x" * 50, "n": n} for n in range(400)]
    for indent in (None, 1):
        text = json.dumps(records, indent=indent)[:-1] + ", oops]"
        with pytest.raises(json.JSONDecodeError) as expected:
            json.loads(text)
        for width in (7, 100, 1000):
            with pytest.raises(InputError) as caught:
                read(text, width, 1)
            assert caught.value.place == f"line {expected.value.lineno}, column {expected.value.colno}"


def test_only_what_is_needed_is_in_the_window() -> None:
    """`consumed` grows with the elements, so what lies behind the cursor was let go."""
    text = cursor(json.dumps(["x" * 10] * 1000), 64)
    consumed = []
    for _ in text.elements():
        text.value()
        consumed.append(text.consumed)

    assert all(index * 14 - consumed[index] < 256 for index in range(1000))


@pytest.mark.parametrize("depth", [0, 1])
def test_limits_of_the_parser_are_input_errors(depth: int) -> None:
    """Nesting and numbers beyond what Python reads are errors with a place."""
    with pytest.raises(InputError, match=r"line 1, column \d+: the JSON is nested too deeply"):
        read("[" * 200_000, 4096, depth)
    with pytest.raises(InputError, match=r"line 1, column \d+: the JSON holds a number of too many digits"):
        read("[" + "9" * 5000 + "]", 64, depth)


@pytest.mark.slow
def test_a_value_longer_than_any_message_is_refused() -> None:
    """The limit is that of a line, whether or not the value's end was in sight; blanks between values have none."""
    stretch = 2**20
    for count in (LONGEST_LINE // stretch, 3 * LONGEST_LINE // stretch):
        text = JsonText(Source("x.json", io.BytesIO), chain(['["'], repeat("x" * stretch, count), ['x"]']))
        with pytest.raises(InputError, match=f"line 1, column 2: a value of over {LONGEST_LINE} characters"):
            [text.value() for _ in text.elements()]
    text = JsonText(Source("x.json", io.BytesIO), chain(["[1,"], repeat(" " * stretch, 3 * count), ["2]"]))
    assert [text.value() for _ in text.elements()] == [1, 2]


def test_a_listing_gives_its_array_and_the_rest() -> None:
    """The long array comes an element at a time; what is before and after it is known once it was passed."""
    listing = Listing(cursor('{"id": 7, "turns": [1, [2]], "title": "t"}', 5), "x.json", "[3]", "turns")
    items = [(node.place, node.value) for node in listing.items()]

    assert items == [("[3].turns[0]", 1), ("[3].turns[1]", [2])]
    assert listing.about.value == {"id": 7, "title": "t"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1}', "x.json: [3].turns: is missing"),
        ('{"turns": 5}', "x.json: [3].turns: expected an array, found a number"),
        ("5", "x.json: [3]: expected an object, found a number"),
    ],
)
def test_a_listing_without_its_array_is_an_error(text: str, message: str) -> None:
    """The place is the path to what is missing or of another kind."""
    with pytest.raises(InputError) as caught:
        list(Listing(cursor(text, 5), "x.json", "[3]", "turns").items())

    assert caught.value.message == message
