"""CAME-Bench's questions."""

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.came import answer_set, read_cases
from goalmem_cli.lab.evaluation.datasets.questions import Repair
from goalmem_cli.transcripts import read_file
from tests.lab.evaluation.reading import questions_by

TURNS = [
    {"id": "trip-1-turn-1", "role": "user", "content": "Let us plan day 1.", "partition": ["trip-1", "day-1"]},
    {"id": "trip-1-turn-2", "role": "assistant", "content": "How about the Anchor Inn?", "partition": ["trip-1"]},
    {"id": "trip-1-turn-3", "role": "user", "content": "Book it.", "partition": ["trip-1"], "action": "DECIDE"},
]


def lines(values: Iterable[object]) -> str:
    """Return the values as JSONL."""
    return "".join(f"{json.dumps(value)}\n" for value in values)


def trajectory(folder: Path, *questions: object, turns: Iterable[object] = TURNS) -> Path:
    """Write a trajectory of three turns with the questions, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "turns.jsonl").write_text(lines(turns), encoding="utf-8")
    (folder / "questions.jsonl").write_text(lines(questions), encoding="utf-8")
    return folder


def question(**keys: object) -> dict[str, object]:
    """Return a question in the published layout, its keys replaced or extended."""
    return {
        "id": "type_1-Day1",
        "type": "type_1",
        "content": "What is the final hotel chosen for Day 1?",
        "answer": {"free_form_answer": "Anchor Inn"},
        "question_turn_ids": [turn["id"] for turn in TURNS],
        "answer_turn_ids": ["trip-1-turn-2", "trip-1-turn-3"],
        "answer_type": "ANSWER_TYPE_FREEFORM",
        **keys,
    }


def read(folder: Path) -> tuple[list[Case], dict[str, int]]:
    """Return the folder's questions and what was repaired, with how often."""
    return questions_by(read_cases)(folder / "turns.jsonl")


def test_a_question_as_golden(tmp_path: Path) -> None:
    """A question is asked by the user, of the conversation called after the folder, with a set of answers."""
    folder = trajectory(tmp_path / "traj-0", question())
    cases, repairs = read(folder)

    assert cases == [
        Case(
            "traj-0:type_1-Day1",
            "traj-0",
            "What is the final hotel chosen for Day 1?",
            "Anchor Inn",
            ("trip-1-turn-2", "trip-1-turn-3"),
            "type_1",
            answers=("Anchor Inn",),
            asker="user",
        )
    ]
    assert repairs == {}
    (conversation,) = read_file(folder / "turns.jsonl", "came")
    assert (conversation.own_id or conversation.name) == "traj-0"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anchor Inn", ("Anchor Inn",)),
        ("Reed (2024); Hall (2025)\nReed (2024)", ("Reed (2024)", "Hall (2025)")),
        ('["Reed (2024); Hall (2025)"]', ("Reed (2024)", "Hall (2025)")),
        ('["Reed (2024)", "Hall (2025)"]', ("Reed (2024)", "Hall (2025)")),
        ("[Reed", ("[Reed",)),
        ("Reed, Hall, and Moss", ("Reed", "Hall", "Moss")),
        ("Reed, Inc.; Hall", ("Reed, Inc.", "Hall")),
        ("1,200 euros", ("1,200 euros",)),
        (
            "Stay at Anchor Inn; Breakfast at Pan; Lunch at A, B and C; Dinner at Oak; Visit Old Gate, Mill and Tower",
            ("Anchor Inn", "Pan", "A, B and C", "Oak", "Old Gate", "Mill", "Tower"),
        ),
        ("Visit: Mill", ("Mill",)),
        (" ; ", ()),
    ],
)
def test_the_answer_set(text: str, expected: tuple[str, ...]) -> None:
    """An answer names what stands between its separators; of a plan it names the places."""
    assert answer_set(text) == expected


@pytest.mark.parametrize(
    ("answer", "text", "answers"),
    [
        ("Anchor Inn", "Anchor Inn", ("Anchor Inn",)),
        (["Reed", "Hall"], "Reed; Hall", ("Reed", "Hall")),
        ({"free_form_answer": '["Reed; Hall"]'}, "Reed; Hall", ("Reed", "Hall")),
        ({"free_form_answer": "Stay at A; Visit B and C"}, "Stay at A; Visit B and C", ("A", "B", "C")),
        ({"multiple_choice_ids": {"choice_ids": ["A", "B"]}}, "A; B", ("A", "B")),
        ({"free_form_answer": ""}, None, ()),
    ],
)
def test_the_forms_of_an_answer(tmp_path: Path, answer: object, text: str | None, answers: tuple[str, ...]) -> None:
    """The answer's text is kept, and its parts are the set, however the file writes them."""
    (case,), _ = read(trajectory(tmp_path / "t", question(answer=answer)))

    assert (case.answer, case.answers) == (text, answers)


@pytest.mark.parametrize("written", ["type_3", "Type 3", "TYPE-3", "3", 3, "Context-aware multi-hop reasoning"])
def test_the_forms_of_a_type(tmp_path: Path, written: object) -> None:
    """A type may be written as a code, a number or a name."""
    assert read(trajectory(tmp_path / "t", question(type=written)))[0][0].category == "type_3"


def test_repairs_are_counted(tmp_path: Path) -> None:
    """Evidence that is not there, a question about a part of the trajectory, and a number as answer are counted."""
    cases, repairs = read(
        trajectory(
            tmp_path / "t",
            question(answer_turn_ids=["trip-1-turn-2", "trip-1-turn-2", "trip-9-turn-9"]),
            question(id=None, question_turn_ids=["trip-1-turn-1"], answer={"free_form_answer": 4}),
            question(id="q3", question_turn_ids=None, answer_turn_ids=None),
        )
    )

    assert [case.id for case in cases] == ["t:type_1-Day1", "t:2", "t:q3"]
    assert [len(case.evidence) for case in cases] == [1, 2, 0]
    assert repairs == {
        Repair.NUMBER_ANSWER: 1,
        Repair.REPEATED_EVIDENCE: 1,
        Repair.ABSENT_EVIDENCE: 1,
        Repair.NO_EVIDENCE: 1,
        Repair.PART_ASKED: 1,
    }


def test_a_debate_has_no_asker(tmp_path: Path) -> None:
    """Where nobody has the user's role nobody asks; a date is the question's time."""
    turns = [{"id": "a", "role": "pro-side-debater", "content": "Yes.", "partition": ["topic-1"]}]
    (case,), _ = read(trajectory(tmp_path / "t", question(date="2025-05-15T08:00"), turns=turns))

    assert (case.asker, case.asked) == (None, datetime(2025, 5, 15, 8))


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ({"type": "FREE_FORM"}, "line 1, type"),
        ({"content": 5}, "line 1, content"),
        ({"answer": {}}, "line 1, answer.free_form_answer"),
        ({"answer": True}, "line 1, answer"),
        ({"answer_turn_ids": "x"}, "line 1, answer_turn_ids"),
        ({"date": "soon"}, "line 1, date"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, keys: dict[str, object], place: str) -> None:
    """A question without the layout is an error with the line and the path to the value."""
    folder = trajectory(tmp_path / "t", question(**keys))
    with pytest.raises(InputError) as caught:
        read(folder)

    assert (caught.value.path, caught.value.place) == (str(folder / "questions.jsonl"), place)


def test_a_trajectory_needs_turns(tmp_path: Path) -> None:
    """Turns without any text are no conversation to ask about."""
    with pytest.raises(InputError, match="no messages"):
        read(trajectory(tmp_path / "t", question(), turns=[{"id": "a", "role": "user", "content": " "}]))
