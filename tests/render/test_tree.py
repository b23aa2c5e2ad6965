"""The proof tree, as text."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from goalmem_cli.logic.computing.records import Calculation
from goalmem_cli.render.nodes import BRIEF, FULL
from goalmem_cli.render.tree import proof_tree, reason_line
from goalmem_cli.trace import Ending, Fact, Trace
from tests.render.traces import ANSWERED, CONTRADICTED, FACTS, FAILED, TOGETHER, UNKNOWN

AT_80 = """\
Which ingredient is in the drink that Alice ordered at Momoco?
├── goal: (Alice) ordered a drink with (y:ingredient) at (Momoco:cafe)
├── attempt 1
│   ├── IF   S1 (Alice) ordered (x:drink) at (Momoco:cafe) [grounded]
│   │   AND  S2 (x:drink) is made with (y:ingredient) [grounded]
│   │   THEN (Alice) ordered a drink with (y:ingredient) at (Momoco:cafe)
│   ├── step 0  2 queries, 3 new facts, 1 call, 1.2 s
│   │   ├── query: Alice ordered drink Momoco
│   │   ├── query: drink made with ingredient
│   │   ├── S1 grounded (Alice) ordered (x:drink) at (Momoco:cafe)
│   │   │   ├── x = Kyoto Latte (stated)
│   │   │   ├── F1 Ben, 21 May 2023 18:20, momoco-01 D2:1
│   │   │   │   Alice finally gave in and ordered the Kyoto Latte at Momoco, and
│   │   │   │   she has not stopped talking about its roasted taste since then.
│   │   │   └── note: Momoco is bridged
│   │   ├── S2 rejected (x:drink) is made with (y:ingredient)
│   │   │   ├── proposed: y = oat milk
│   │   │   ├── why: y: a milk is no ingredient of the drink
│   │   │   └── F2 Alice, time unknown, momoco-01
│   │   │       I only drink oat milk [bold]now[/bold].
│   │   ├── S2 unresolved (x:drink) is made with (y:ingredient): no fact says
│   │   │   what the drink is made with
│   │   ├── nearest 1 not cited
│   │   │   └── F3 Alice, 22 May 2023 09:05, momoco-01 D2:3
│   │   │       The new menu is up.
│   │   └── S2 refined (semantic): S3 (z:menu) lists (x:drink)
│   │       query: menu of Momoco
│   ├── step 1  1 query, 1 new fact, 1 call, 0.5 s
│   │   ├── query: menu of Momoco
│   │   └── S2 grounded (x:drink) is made with (y:ingredient)
│   │       ├── y = Matcha (inferred)
│   │       └── F4 Ben, 1 Jun 2023 12:00, momoco-01 D3:2
│   │           Their latte is whisked with matcha.
│   └── ended: every subgoal is settled
├── answer: Matcha
│   where: x = Kyoto Latte; y = Matcha
│   evidence: F1 F4
└── 4 calls, 1,204 prompt tokens (800 cached), 60 completion tokens, 4.2 s
"""


def drawn(renderable: RenderableType, width: int, *, is_terminal: bool = False) -> str:
    """Return what a console of that width writes, without the blanks that a wrapped line ends in."""
    stream = StringIO()
    console = Console(file=stream, width=width, markup=False, highlight=False, emoji=False, force_terminal=is_terminal)
    console.print(renderable)
    return "".join(line.rstrip() + "\n" for line in stream.getvalue().splitlines())


def test_an_answered_question_at_80_columns() -> None:
    """Goal, rule, steps, states, facts, bindings, refinements and cost stand in one tree of 80 columns."""
    assert drawn(proof_tree(ANSWERED), 80) == AT_80


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("trace", [ANSWERED, UNKNOWN, FAILED, CONTRADICTED])
def test_no_line_is_wider_than_the_console(trace: Trace, width: int) -> None:
    """A tree keeps to the width it is given."""
    assert max(map(len, drawn(proof_tree(trace), width).splitlines())) <= width


def test_a_wider_console_wraps_less() -> None:
    """At 120 columns a fact that took two lines at 80 takes fewer, and nothing else changes."""
    wide = drawn(proof_tree(ANSWERED), 120)
    assert len(wide.splitlines()) == len(AT_80.splitlines()) - 1
    assert " ".join(wide.replace("│", "").split()) == " ".join(AT_80.replace("│", "").split())


def test_an_unanswered_question_names_the_subgoal_and_the_reason() -> None:
    """Unknown says which subgoal failed and why, in the tree and on one line."""
    reason = "S2 (x:drink) is made with (y:ingredient): no fact says what the drink is made with"
    assert reason_line(UNKNOWN) == reason
    assert f"unknown: {reason}" in drawn(proof_tree(UNKNOWN), 200)


def test_an_undecided_closed_question_names_the_last_note() -> None:
    """Where every subgoal was settled, the reason is what the answer step noted, and the notes stand in the tree."""
    (attempt,) = ANSWERED.attempts
    undecided = replace(UNKNOWN, attempts=(attempt,), notes=("an alias was used", "the facts say neither yes nor no"))
    assert reason_line(undecided) == "the facts say neither yes nor no"
    text = drawn(proof_tree(undecided), 80)
    assert "unknown: the facts say neither yes nor no" in text
    assert "note: an alias was used" in text


def test_a_subgoal_that_was_grounded_later_is_not_the_reason() -> None:
    """Of two attempts the later one's unresolved subgoal counts, unless a later step settled it."""
    (settled,) = ANSWERED.attempts
    (failed,) = UNKNOWN.attempts
    trace = replace(UNKNOWN, attempts=(failed, replace(settled, breadth=2, ending=Ending.MAX_DEPTH)))
    assert reason_line(trace).startswith("S2 ")
    assert reason_line(replace(trace, attempts=trace.attempts[1:])) == "the maximum depth is reached"


def test_a_failed_question_names_the_reply() -> None:
    """Failed says which reply could not be used."""
    assert "failed: decompose: the reply is not JSON" in drawn(proof_tree(FAILED), 80)


def test_a_contradicted_subgoal_shows_its_facts() -> None:
    """A subgoal that a fact denies is shown as contradicted, with the fact."""
    text = drawn(proof_tree(CONTRADICTED), 80)
    assert "S1 contradicted (Alice) drinks (cow's milk)" in text
    assert "F2 Alice, time unknown" in text


def test_what_a_proof_together_adds_is_shown() -> None:
    """What speaks against a subgoal, what is looked for, what is provisional or a list, and the last check."""
    lines = [line.lstrip("│├└─ ") for line in drawn(proof_tree(TOGETHER), 100).splitlines()]

    start = lines.index("S1 denied (Alice) ordered (x:drink) at (Momoco:cafe)")
    assert lines[start + 1] == "why: F2 says it of Ben"
    assert lines[start + 2].startswith("settled: it was said again")
    for line in (
        "several values: y",
        "perhaps: x = Kyoto Latte",
        "dropped: S3 (z:menu) lists (x:drink)",
        "S2 to look for: matcha whisk; menu of Momoco",
        "ended: the facts say otherwise, or say it of something else",
        "answers the question as asked: no: it is Ben's drink",
        "checked since: it is the answer of plan 2",
        "note: there may be more",
    ):
        assert line in lines


def test_full_detail_shows_every_fact_whole() -> None:
    """Brief cuts a long text and says so by an ellipsis; full does neither."""
    long = replace(FACTS["F3"], text="word " * 200)
    trace = replace(ANSWERED, facts={**FACTS, "F3": long})
    assert "…" in drawn(proof_tree(trace, BRIEF), 80)
    full = drawn(proof_tree(trace, FULL), 80)
    assert "…" not in full
    assert full.count("word") == 200


def test_text_of_a_transcript_cannot_style_or_steer_the_terminal() -> None:
    """Escape sequences and control characters of a transcript are shown, not obeyed; markup stays text."""
    hostile = Fact("F1", "u1", ("\x1b]0;t\x07",), "c\x9b2J", "B\x1b[31men", None, "a\x1b[2Jb\r\nc\u202edrow")
    text = drawn(proof_tree(replace(ANSWERED, facts={**FACTS, "F1": hostile})), 80, is_terminal=False)
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e"} & set(text)
    assert "B␛[31men" in text
    assert "a␛[2Jb c\ufffddrow" in text


def test_hits_too_long_to_show_are_counted() -> None:
    """What the model could not be shown is said on the step."""
    step = replace(ANSWERED.attempts[0].steps[0], skipped=2)
    trace = replace(ANSWERED, attempts=(replace(ANSWERED.attempts[0], steps=(step,)),))
    console = Console(file=StringIO(), width=100)
    console.print(proof_tree(trace, BRIEF))

    assert isinstance(console.file, StringIO)
    assert "2 hits too long to show" in console.file.getvalue()


def test_calculation_is_shown_with_its_parts_and_the_time_of_asking() -> None:
    """An answer that was computed says from what; what goes by now says when now is."""
    found = Calculation("between(x, now)", ("12 days",), "21 May 2023 to 2 June 2023 is 12 days", ("F1",))
    text = drawn(proof_tree(replace(ANSWERED, answer="12 days", calculations=(found,))), 100)

    assert "computed: between(x, now) = 12 days (derived)" in text
    assert "from: 21 May 2023 to 2 June 2023 is 12 days, asked on 2 Jun 2023" in text
