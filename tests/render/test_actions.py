"""What reasoners without subgoals did, as text: finished and under way."""

import json
from dataclasses import replace
from datetime import datetime
from io import StringIO

import pytest
from rich.console import Console

from goalmem_cli.records import Usage
from goalmem_cli.render.live import LOADING, LiveTree, growing_tree, progress_line
from goalmem_cli.render.nodes import BRIEF, FULL
from goalmem_cli.render.tree import proof_tree, reason_line
from goalmem_cli.trace import Action, Fact, Status, Stop, Trace, as_document, from_document
from tests.render.test_tree import drawn
from tests.render.traces import ANSWERED as PROVED
from tests.render.traces import FACTS

ONE_CALL = Usage(1, 300, 200, 20, 1.25)
ACTIONS = (
    Action(
        "intent", (("intent", "the drink that Alice had"), ("queries", "Alice ordered a drink"), ("queries", "the menu")),
        usage=ONE_CALL,
    ),
    Action("retrieve", queries=("What did Alice order?", "Alice ordered a drink"), new_facts=("F1", "F2", "F3"), skipped=2),
    Action(
        "slots", (("sufficient", "no"), ("missing", "what is in the drink"), ("queries", "made with")), usage=ONE_CALL
    ),
    Action("retrieve", queries=("made with",), new_facts=("F4",)),
    Action("slots", failure="it must say sufficient once", usage=Usage(2, 300, 200, 20, 2.5)),
    Action("score", (("scores", "F1 9"), ("scores", "F4 10")), usage=ONE_CALL),
    Action("read", (("facts", "F1"), ("facts", "F4"), ("answer", "Kyoto Latte")), usage=ONE_CALL),
)  # fmt: skip
ANSWERED = Trace(
    Status.ANSWERED, "memguide", "What did Alice order?", datetime(2023, 6, 2), answer="Kyoto Latte", facts=FACTS,
    evidence=("F1", "F4"), actions=ACTIONS, stopped=Stop.UNUSABLE_REPLY, usage=Usage(6, 1500, 1000, 100, 7.5),
    notes=("no follow-up query was made",),
)  # fmt: skip
UNKNOWN = replace(
    ANSWERED,
    status=Status.UNKNOWN,
    answer=None,
    evidence=(),
    actions=(*ACTIONS[:-1], Action("read", (("answer", "unknown"),), usage=ONE_CALL)),
)
FAILED = replace(
    UNKNOWN,
    status=Status.FAILED,
    failure="read: it is cut off",
    actions=(*ACTIONS[:-1], Action("read", failure="it is cut off")),
)

AT_80 = """\
What did Alice order?
├── reasoner: memguide
├── intent  1 call, 1.2 s
│   ├── intent: the drink that Alice had
│   ├── queries: Alice ordered a drink
│   └── queries: the menu
├── retrieve  2 queries, 3 new facts, 2 hits left out
│   ├── query: What did Alice order?
│   └── query: Alice ordered a drink
├── slots  1 call, 1.2 s
│   ├── sufficient: no
│   ├── missing: what is in the drink
│   └── queries: made with
├── retrieve  1 query, 1 new fact
│   └── query: made with
├── slots  2 calls, 2.5 s
│   └── failed: it must say sufficient once
├── score  1 call, 1.2 s
│   └── scores: F1 9, F4 10
├── read  1 call, 1.2 s
│   ├── facts: F1, F4
│   └── answer: Kyoto Latte
├── stopped: the model's reply was unusable
├── answer: Kyoto Latte
│   evidence: F1 F4
│   ├── F1 Ben, 21 May 2023 18:20, momoco-01 D2:1
│   │   Alice finally gave in and ordered the Kyoto Latte at Momoco, and she has
│   │   not stopped talking about its roasted taste since then.
│   └── F4 Ben, 1 Jun 2023 12:00, momoco-01 D3:2
│       Their latte is whisked with matcha.
├── note: no follow-up query was made
└── 6 calls, 1,500 prompt tokens (1,000 cached), 100 completion tokens, 7.5 s
"""


def test_an_answered_question_at_80_columns() -> None:
    """Each action with its queries and reply, why it stopped, the answer, its evidence and the cost, in one tree."""
    assert drawn(proof_tree(ANSWERED), 80) == AT_80


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("trace", [ANSWERED, UNKNOWN, FAILED])
def test_no_line_is_wider_than_the_console(trace: Trace, width: int) -> None:
    """A tree keeps to the width it is given, brief or full."""
    for detail in (BRIEF, FULL):
        assert max(map(len, drawn(proof_tree(trace, detail), width).splitlines())) <= width


def test_what_a_tool_counted_stands_with_its_retrieval() -> None:
    """That nothing was new is said all the same."""
    counting = Action("retrieve", (("found", "2 match; count 2"),), ("find_entity_contexts(object: Momoco)",))
    text = drawn(proof_tree(replace(UNKNOWN, actions=(counting,))), 80)
    assert "retrieve  1 query, 0 new facts" in text
    assert "found: 2 match; count 2" in text


def test_full_detail_shows_every_new_fact_under_its_retrieval() -> None:
    """Brief shows the facts that the answer rests on; full those that each retrieval added, too."""
    full = drawn(proof_tree(ANSWERED, FULL), 80)
    for number in FACTS:
        assert f"── {number} " in full
    assert full.count("── F1 ") == 2
    brief = drawn(proof_tree(ANSWERED), 80)
    assert "── F2 " not in brief
    assert "── F3 " not in brief


def test_a_long_reply_is_shortened_unless_everything_is_wanted() -> None:
    """Brief cuts what a model thought at length and says so by an ellipsis; full does not."""
    action = Action("tiser", (("reasoning", "word " * 200), ("timeline", "7 May 2023 - tea")), usage=ONE_CALL)
    trace = replace(ANSWERED, actions=(action,))
    brief, full = drawn(proof_tree(trace), 80), drawn(proof_tree(trace, FULL), 80)
    assert "…" in brief
    assert brief.count("word") < 60
    assert (full.count("word"), "…" in full) == (200, False)
    assert "timeline: 7 May 2023 - tea" in brief


def test_a_repeated_value_is_shown_once_with_how_often() -> None:
    """A small model that writes the same line five times does not fill the screen with it."""
    action = Action("intent", (*[("queries", "the drink of Alice")] * 5, ("queries", "tea")), usage=ONE_CALL)
    text = drawn(proof_tree(replace(ANSWERED, actions=(action,))), 80)
    assert "queries: the drink of Alice (5 times)" in text
    assert text.count("the drink of Alice") == 1
    assert "queries: tea\n" in text


def test_an_unanswered_question_says_what_was_seen_and_shows_the_first_of_it() -> None:
    """Unknown names how many facts were read in vain; without subgoals there is none to blame."""
    assert reason_line(UNKNOWN) == "the model saw 4 facts and read no answer from them"
    text = drawn(proof_tree(UNKNOWN), 100)
    assert "unknown: the model saw 4 facts and read no answer from them" in text
    assert "first 3 of 4 facts" in text
    assert "── F3 Alice" in text
    assert "── F4 " not in text
    assert "first 3 of" not in drawn(proof_tree(UNKNOWN, FULL), 100)
    one = replace(UNKNOWN, facts={"F1": FACTS["F1"]})
    assert reason_line(one) == "the model saw 1 fact and read no answer from it"


def test_where_nothing_was_retrieved_that_is_the_reason() -> None:
    """No fact was there to read."""
    bare = replace(UNKNOWN, facts={}, actions=(Action("retrieve", queries=("zebra?",)),), notes=())
    assert reason_line(bare) == "nothing was retrieved"
    text = drawn(proof_tree(bare), 80)
    assert "retrieve  1 query, 0 new facts" in text
    assert "unknown: nothing was retrieved" in text


def test_a_failed_question_names_the_reply() -> None:
    """Failed says which reply could not be used, under its action and as the outcome."""
    text = drawn(proof_tree(FAILED), 80)
    assert "failed: it is cut off" in text
    assert "failed: read: it is cut off" in text


def test_text_of_a_model_or_a_transcript_cannot_style_or_steer_the_terminal() -> None:
    """Markup stays text, control characters are shown: in names, fields, queries, failures and facts."""
    bad = "[red]x[/red]\x1b[2J\x9b\r\n\u202e"
    hostile = Fact("F1", "u1", (bad,), bad, bad, None, bad, times=(bad,))
    action = Action(bad, ((bad, bad), ("why", bad * 4)), (bad,), ("F1",), failure=bad, usage=ONE_CALL)
    trace = replace(ANSWERED, reasoner=bad, actions=(action,), facts={"F1": hostile}, evidence=("F1",), answer=bad)
    for text in (
        drawn(proof_tree(trace, FULL), 120),
        drawn(growing_tree(bad, [], {"F1": hostile}, [action, action]), 120),
        progress_line([], [action]).plain,
    ):
        assert not {"\x1b", "\x9b", "\r", "\u202e"} & set(text)
        assert "[red]x[/red]␛[2J" in text


def test_a_trace_of_an_older_goalmem_is_still_read() -> None:
    """Traces from before there were actions load, and are drawn as they were."""
    document = json.loads(json.dumps(as_document(PROVED)))
    older = {name: value for name, value in document.items() if name not in {"actions", "stopped"}}
    assert from_document(older) == PROVED
    assert drawn(proof_tree(from_document(older)), 80) == drawn(proof_tree(PROVED), 80)
    newer = json.loads(json.dumps(as_document(ANSWERED)))
    assert drawn(proof_tree(from_document(newer)), 80) == AT_80


def test_the_growing_tree_shows_the_latest_action_whole() -> None:
    """Earlier actions are a line each; of the latest the reply is there too."""
    text = drawn(growing_tree("What?", [], FACTS, ACTIONS[:3]), 80)
    assert "retrieve  2 queries, 3 new facts, 2 hits left out" in text
    assert "query: What did Alice order?" not in text
    assert "missing: what is in the drink" in text


def test_the_line_under_way_says_what_was_done_and_found() -> None:
    """Before anything is done it says what is under way."""
    assert progress_line([], [], LOADING).plain == "loading the model"
    assert progress_line([], ACTIONS[:2]).plain == "retrieve done: 3 facts so far, 1 call"
    assert progress_line([], ACTIONS[:3]).plain == "slots done: 3 facts so far, 2 calls"


@pytest.mark.parametrize("is_full", [True, False])
def test_the_live_tree_watches_actions_and_leaves_nothing_behind(*, is_full: bool) -> None:
    """On a terminal each action is drawn; when the question ends, the drawing is gone."""
    stream = StringIO()
    console = Console(file=stream, width=80, force_terminal=True, markup=False, highlight=False)
    with LiveTree(console, "What?", is_full=is_full) as live:
        live.loaded()
        for action in ACTIONS:
            live.acted(action, FACTS)
    text = stream.getvalue()
    assert "read done: 4 facts so far, 6 calls" in text
    assert ("answer: " in text) is is_full
    assert text.rstrip().endswith("\x1b[2K") or "\x1b[1A" in text
