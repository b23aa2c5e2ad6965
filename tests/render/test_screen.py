"""Streams, errors, tables and the growing tree."""

import json
import unicodedata
from datetime import UTC, datetime
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from goalmem_cli.records import Hit, Unit
from goalmem_cli.render.console import Screen, two_lines
from goalmem_cli.render.live import LOOKING, LiveTree, growing_tree, progress_line
from goalmem_cli.render.tables import hits_document, hits_table, pairs, plain_table
from goalmem_cli.render.text import document, safe, safe_lines, shortened, told_by, when
from goalmem_cli.trace import Attempt
from tests.render.test_tree import drawn
from tests.render.traces import FACTS, FIRST_STEP, GOAL, QUESTION, SECOND_STEP, SUBGOALS

HIT = Hit(
    Unit("u1", "turn", "I ordered the latte.", "momoco-01", "Alice", None, ("t1",), ("D1:3",)), 0.5, {"bm25": 2, "dense": 1}
)  # fmt: skip


def test_an_error_is_two_lines_whatever_its_text() -> None:
    """A message with line breaks still takes one line, and a missing hint gets one."""
    lines = two_lines("first\nsecond", "").plain.splitlines()
    assert lines[0] == "error: first second"
    assert lines[1].startswith("hint: ")
    assert len(lines) == 2


def test_the_answer_goes_to_stdout_and_notes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """stdout carries the answer and nothing else."""
    screen = Screen()
    screen.note("reading")
    screen.answer("Matcha")
    screen.warn("one turn without a time")
    captured = capsys.readouterr()
    assert captured.out == "Matcha\n"
    assert captured.err == "reading\nwarning: one turn without a time\n"


def test_quiet_drops_notes_and_keeps_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    """--quiet says nothing but what went wrong."""
    screen = Screen(is_quiet=True)
    screen.note("reading")
    screen.report("3 new turns")
    screen.warn("no time")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "warning: no time\n")


def test_details_are_for_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    """--verbose adds details that are not said otherwise."""
    Screen().detail("opened")
    Screen(is_verbose=True).detail("opened")
    assert capsys.readouterr().err == "opened\n"


def test_a_long_line_is_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    """An error's line stays one line, however long."""
    Screen(width=20).error("word " * 40, "more " * 40)
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_progress_is_not_drawn_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe gets no progress bar."""
    with Screen().progress(3) as begin, Screen().bytes_done("model") as reach:
        begin("one")
        reach("model", 1, None)
    assert capsys.readouterr().err == ""


def test_hits_show_who_when_where_and_why() -> None:
    """Each hit has its speaker, time, place and text; explained, its ranks too."""
    text = drawn(hits_table([HIT], is_explained=True), 80)
    assert "1  Alice, time unknown, momoco-01 D1:3" in text
    assert "I ordered the latte." in text
    assert "score 0.5000; ranks: bm25 2, dense 1" in text
    assert "ranks" not in drawn(hits_table([HIT]), 80)


def test_a_hit_as_json_has_the_issue_s_keys() -> None:
    """`search --json` names the unit, its turns as people call them, and what ranked it."""
    assert hits_document([HIT]) == [
        {
            "unit": "u1", "turns": ["D1:3"], "conversation": "momoco-01", "speaker": "Alice", "said": None,
            "text": "I ordered the latte.", "attributes": {}, "score": 0.5, "ranks": {"bm25": 2, "dense": 1}, "change": None, "later": None,
        }
    ]  # fmt: skip


def test_table_cells_are_text_not_markup() -> None:
    """What looks like markup in a name is shown as it is."""
    assert "[red]x[/red]" in drawn(plain_table(("name", "n"), [("[red]x[/red]", 3)], numbers=("n",)), 80)
    assert "a  [b]" in drawn(pairs({"a": "[b]"}), 80)


def test_the_tree_grows_with_each_step() -> None:
    """An attempt is there when it starts, and each step when it ends."""
    bare = Attempt(1, GOAL, SUBGOALS)
    started = drawn(growing_tree(QUESTION, [bare], {}), 80)
    assert "[open]" in started
    assert "step" not in started
    stepped = drawn(growing_tree(QUESTION, [Attempt(1, GOAL, SUBGOALS, (FIRST_STEP,))], FACTS), 80)
    assert "S1 grounded" in stepped
    assert FACTS["F1"].text[:20] in stepped


def test_progress_counts_what_is_settled() -> None:
    """The line under way names the attempt, the step and how many subgoals are settled."""
    assert progress_line([]).plain == LOOKING
    attempt = Attempt(2, GOAL, SUBGOALS, (FIRST_STEP,))
    assert progress_line([attempt]).plain == "attempt 2, step 1: 1 of 2 subgoals settled"


def test_what_a_question_read_again_found_is_its_own() -> None:
    """A question that is read again is one more attempt of its number: its step does not go to the first one, too."""
    with LiveTree(Console(file=StringIO()), QUESTION, is_full=True) as live:
        for step in (FIRST_STEP, SECOND_STEP):
            live.started(0, GOAL, SUBGOALS)
            live.stepped(0, step, FACTS)
    assert [each.steps for each in live.attempts] == [(FIRST_STEP,), (SECOND_STEP,)]


@pytest.mark.parametrize("is_full", [True, False])
def test_the_live_tree_is_an_observer_and_leaves_nothing_behind(*, is_full: bool) -> None:
    """On a terminal each step is drawn; when the question ends, the drawing is gone."""
    stream = StringIO()
    console = Console(file=stream, width=80, force_terminal=True, markup=False, highlight=False)
    with LiveTree(console, QUESTION, is_full=is_full) as live:
        live.started(1, GOAL, SUBGOALS)
        live.stepped(1, FIRST_STEP, FACTS)
        live.stepped(1, SECOND_STEP, FACTS)
    drawn_text = stream.getvalue()
    assert "2 of 2 subgoals settled" in drawn_text
    assert ("S2 grounded" in drawn_text) is is_full
    assert drawn_text.rstrip().endswith("\x1b[2K") or "\x1b[1A" in drawn_text


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
