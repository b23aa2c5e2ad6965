"""`goalmem bench sums`: made-up conversations with computed answers, and the engine's calculation held to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from goalmem_cli.lab.bench.sums.files import write_story
from goalmem_cli.lab.bench.sums.questions import questions_of
from goalmem_cli.lab.bench.sums.replay import replay_prompts, replayed
from goalmem_cli.lab.bench.sums.story import made_up_story
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.main import run
from goalmem_cli.transcripts import read_file

TYPES = {"count", "total", "average", "order", "comparison", "duration", "set"}


@pytest.mark.parametrize("seed", range(2))
def test_gold_plans_give_the_exact_answers(seed: int) -> None:
    """Every question of a story is right where its gold plan and groundings are given; the command does 2,000."""
    story, prompts = made_up_story(f"test-{seed}", 300, seed), replay_prompts()
    found = [replayed(story, question, prompts) for question in questions_of(story, 60, seed)]

    assert [(one.question.text, one.trace.answer, one.trace.notes) for one in found if not one.is_right] == []
    assert {one.question.type for one in found} == TYPES


def test_every_function_that_compares_times_is_asked_for() -> None:
    """Also an order of all, what came right before and after, and what was so on a day or while something else was."""
    story = made_up_story("test", 400, 2)
    asked = questions_of(story, 10_000)
    used = " ".join(question.expression for question in asked)
    assert all(f"{name}(x by z" in used for name in ("first", "last", "nth", "ordered", "previous", "next"))
    assert "during(x from y to z, '" in used and "during(x from y to z, v, w)" in used and "count(during(" in used
    for question in asked:
        if question.expression == "ordered(x by z)":
            days = {one.thing: one.day for one in story.purchases if f"{one.person} buy {one.kind}s" in question.text}
            assert list(question.answer) == sorted(days, key=lambda thing: days[thing])


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """The readers give back every turn and question with its gold plan, and repair nothing."""
    story = made_up_story("test", 200, 7)
    questions = questions_of(story, 40)
    file = write_story(tmp_path, story, questions)

    (conversation,) = read_file(file)
    dataset = read_dataset([file])
    assert [(turn.label, turn.speaker, turn.text) for turn in conversation.turns] == [
        (turn.label, turn.speaker, turn.text) for turn in story.turns
    ]
    assert not dataset.repairs
    assert [(case.question, case.answer) for case in dataset.cases] == [
        (question.text, ", ".join(question.answer)) for question in questions
    ]
    assert all(case.plan is not None and case.evidence for case in dataset.cases)


def test_lookalikes_tell_of_nothing_that_is_asked() -> None:
    """Only turns of the person who is asked about are evidence, and only those that say that it happened."""
    story = made_up_story("test", 400, 1)
    turns = {turn.label: turn for turn in story.turns}

    assert len(story.turns) == 400
    assert sum("My sister" in turn.text or "nearly" in turn.text for turn in story.turns) > 10
    for purchase in story.purchases:
        turn = turns[purchase.turn]
        assert turn.speaker == purchase.person
        assert purchase.thing in turn.text
        assert "sister" not in turn.text


def test_the_command_writes_the_same_bytes_and_counts_what_is_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twice the same arguments give the same file; a replay is right on all of it."""
    arguments = ["bench", "sums", "--turns", "120", "--questions", "14", "--seed", "3", "--replay", "--json"]
    written = []
    for name in ("one", "two"):
        assert run([*arguments, str(tmp_path / name)]) == 0
        document = json.loads(capsys.readouterr().out)
        written.append((tmp_path / name / "sums-120-3-1.json").read_bytes())
        assert document["right"] == document["questions"]
        assert sum(document["questions"].values()) == 14

    assert written[0] == written[1]
