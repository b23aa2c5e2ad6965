"""Outside text on its way to a terminal or into JSON."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.render.text import document, safe, safe_lines, shortened, told_by, when

ANYTHING = st.text(alphabet=st.characters(exclude_categories=()))


@given(ANYTHING)
def test_safe_text_holds_no_control_character(text: str) -> None:
    """Whatever comes in, nothing that a terminal obeys comes out, and it can be written as UTF-8."""
    line = safe(text)
    assert not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in line)
    line.encode("utf-8")


def test_safe_text_keeps_ordinary_text_of_any_script() -> None:
    """Letters, marks and emoji of any script stay as they are."""
    text = "Zoë ordered 抹茶 and קפה 👩‍🍳 [bold]"
    assert safe(text) == text


def test_lines_of_an_answer_are_kept() -> None:
    """An answer of two lines stays two lines."""
    assert safe_lines("one\ntwo\x1b[1m") == "one\ntwo␛[1m"


@given(ANYTHING)
def test_a_document_reads_back_as_it_was(text: str) -> None:
    """Unsafe characters stand as escapes, so JSON loses nothing and the terminal obeys nothing."""
    written = document({"text": text})
    assert json.loads(written) == {"text": text}
    written.encode("utf-8")
    assert not any(unicodedata.category(character) == "Cc" and character != "\n" for character in written)


def test_shortened_says_that_something_is_left_out() -> None:
    """A cut text ends in an ellipsis and keeps to its limit; a short one stays whole."""
    assert shortened("a b c", 5) == "a b c"
    assert shortened("abcdef", 4) == "abc…"


def test_times_for_people() -> None:
    """A time without an offset pretends none, one with an offset shows it, no time says so."""
    assert when(datetime(2023, 5, 7, 8, 5)) == "7 May 2023 08:05"
    assert when(datetime(2023, 5, 7, 8, 5, tzinfo=UTC)) == "7 May 2023 08:05 +0000"
    assert when(None) == "time unknown"


def test_what_several_told_has_no_name_before_it() -> None:
    """A name is set off from what follows; where there is none, nothing is."""
    assert told_by("Zoë") == "Zoë, "
    assert told_by("") == told_by(" ") == ""
