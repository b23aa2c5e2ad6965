"""`goalmem bench goals`: made-up chats that grow, the answers that are right of them, and what kept goals make of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.goals import KINDS, GoldModel, measure_goals, without_forgotten
from goalmem_cli.lab.bench.stories import CLOSED, TWO_STEPS, made_up_story
from goalmem_cli.library.forgetting import forget
from goalmem_cli.library.memory import opened
from goalmem_cli.logic import parse_atom
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.testing import HashEmbedder, ScriptedModel, faked
from goalmem_cli.wiring import Factories, LoadedModel


@given(st.integers(0, 50))
def test_stories_hang_together(seed: int) -> None:
    """Chats only grow, what is forgotten was told, and each goal's answer is what was told last of its matters."""
    story = made_up_story(16, 4, seed)
    assert made_up_story(16, 4, seed) == story
    assert len(story.goals) == len({goal.question for goal in story.goals}) == 16
    assert {goal.kind for goal in story.goals} == set(KINDS)
    told = list(story.before.tellings)
    long = {chat.name: len(chat.turns) for chat in story.before.chats}
    for step in story.steps:
        assert all(each in told for each in step.forgotten)
        before = {goal.question: goal.answer(told) for goal in story.goals}
        told = step.after(told)
        for goal in story.goals:
            if goal.answer(told) != before[goal.question]:
                assert goal.matters(told) & step.matters or goal.kind == TWO_STEPS
        for chat in step.chats:
            assert len(chat.turns) > long[chat.name]
            long[chat.name] = len(chat.turns)
    assert all(each.turn.text for each in told)


def test_goals_have_plans_that_the_engine_reads() -> None:
    """A closed question has no variable; the second of two steps is about the value of the first."""
    for goal in made_up_story(16, 1, 0).goals:
        atoms = [parse_atom(text) for text in goal.subgoals]
        names = [[variable.name for variable in atom.variables] for atom in atoms]
        assert names == {CLOSED: [[]], TWO_STEPS: [["x"], ["x", "y"]]}.get(goal.kind, [["x"]])
        assert goal.person in {constant.value for constant in atoms[0].constants}


def test_the_gold_model_knows_only_its_goals() -> None:
    """Asked anything else, it says so."""
    with pytest.raises(ModelError, match="no gold reply"):
        GoldModel([], []).complete(
            [Request("plan_and_prove", "", (), "Question: Who?\n", "Plan: to be written\n", JsonShape({}))]
        )


def test_changes_are_caught_and_little_else_is_proved_again(tmp_path: Path) -> None:
    """The real store and engine run; at the end every goal has the answer that is right."""
    story = made_up_story(16, 4, 3)
    model = GoldModel(story.goals, (story.before, *story.steps))
    with opened(tmp_path / "store", factories=faked(model, HashEmbedder()), certainty=0) as memory:
        found = measure_goals(memory, story)
    whole = found.figures[-1]
    assert whole.goals == 16
    assert whole.checks == 64 == whole.told + whole.untouched
    assert whole.changes > 2
    assert whole.caught == whole.noticed == whole.changes, found.missed
    assert whole.false_alarms <= 0.1 * whole.untouched
    assert whole.right == whole.right_anew == 16
    assert whole.proved - whole.in_vain >= whole.changes
    assert 0 < whole.calls < whole.anew / 3


def test_what_was_forgotten_does_not_come_back_with_its_chat(tmp_path: Path) -> None:
    """As `ingest` has it, though the chat that goes on still has the turn."""
    story = made_up_story(8, 2, 3)
    (gone, *_), chats = story.before.tellings, story.before.chats
    with opened(tmp_path / "store", factories=faked(ScriptedModel(()), HashEmbedder())) as memory:
        memory.kept.add_all(chats)
        forget(memory.kept, Selection(content_keys=frozenset({gone.turn.content_key})))
        stored = [turn.content_key for chat in without_forgotten(memory.kept, chats) for turn in chat.turns]
    assert gone.turn.content_key not in stored
    assert len(stored) == sum(len(chat.turns) for chat in chats) - 1


def test_the_command_prints_figures(goalmem: Callable[..., Any]) -> None:
    """A row for each kind of goals and one for all; `--json` has every count."""
    ran = goalmem("bench", "goals", "--goals", "8", "--steps", "1", "--json")
    (*rows, whole) = json.loads(ran.out)["figures"]
    assert [row["kind"] for row in rows] == list(KINDS)
    assert whole["goals"] == whole["checks"] == 8 == sum(row["goals"] for row in rows)
    shown = goalmem("bench", "goals", "--goals", "8", "--steps", "1")
    assert shown.code == 0
    assert all(word in shown.out for word in ("noticed", "untouched", *KINDS))


def test_the_command_asks_a_model_if_one_is_named(goalmem: Callable[..., Any]) -> None:
    """Instead of the gold replies: one that settles nothing catches no change."""
    model = ScriptedModel(lambda _: "{")
    loaded = Factories(model=lambda _: LoadedModel(model, "scripted", "full", 8192))
    ran = goalmem(
        "bench", "goals", "--goals", "2", "--steps", "1", "--model", "smollm2-135m", "--json", factories=loaded
    )
    whole = json.loads(ran.out)["figures"][-1]
    assert (whole["goals"], whole["caught"]) == (2, 0)
    assert whole["anew"] > 0
