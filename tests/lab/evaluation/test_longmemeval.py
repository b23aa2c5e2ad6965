"""LongMemEval's questions."""

import json
import tracemalloc
from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.longmemeval import CATEGORIES, read_cases
from goalmem_cli.lab.evaluation.datasets.questions import Repair
from goalmem_cli.transcripts import read_file
from tests.lab.evaluation.reading import questions_by
from tests.transcripts.layouts import LONGMEMEVAL

read = questions_by(read_cases)


def marked(text: str, *, is_answer: bool = True) -> dict[str, object]:
    """Return a turn of the user, marked as evidence or not."""
    return {"role": "user", "content": text, "has_answer": is_answer}


def written(folder: Path, *questions: object) -> Path:
    """Write a file of questions and return its path."""
    path = folder / "longmemeval_s.json"
    path.write_text(json.dumps(list(questions)), encoding="utf-8")
    return path


def question(**keys: object) -> dict[str, object]:
    """Return a question with its haystack, its keys replaced or extended."""
    return {**LONGMEMEVAL, **keys}


def test_a_question_as_golden(tmp_path: Path) -> None:
    """A question is asked by the user, at its date, of its own haystack; the marked turns are its evidence."""
    path = written(tmp_path, LONGMEMEVAL)
    cases, repairs = read(path)
    asked = datetime(2023, 5, 30, 23, 40)

    assert cases == [
        Case(
            "q1", "q1", "Which cup?", "the blue one", ("answer_s2:1",), "single-session-user", asked=asked, asker="user"
        )
    ]
    assert repairs == {}
    (conversation,) = read_file(path)
    assert (cases[0].conversation, conversation.turns[-1].label) == (conversation.own_id, "answer_s2:1")


@pytest.mark.parametrize("kind", CATEGORIES)
def test_an_abstention_question_keeps_its_type(tmp_path: Path, kind: str) -> None:
    """`_abs` makes a question of any type unanswerable, and leaves category and answer, which says what is missing."""
    cases, _ = read(written(tmp_path, question(question_type=kind), question(question_id="q1_abs", question_type=kind)))

    assert [case.category for case in cases] == [kind, kind]
    assert [case.is_unanswerable for case in cases] == [False, True]
    assert cases[1].answer == "the blue one"


def test_evidence_is_labelled_as_the_transcript_is(tmp_path: Path) -> None:
    """Repeated session ids are told apart, numbers count blank turns, and dates put sessions in order: as in memory."""
    document = question(
        haystack_session_ids=["s", "s", "t"],
        haystack_dates=["2023/05/22 (Mon) 09:00", "2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        haystack_sessions=[
            [marked("first"), marked("second", is_answer=False)],
            [marked(" ", is_answer=False), marked("third")],
            [marked("no", is_answer=False)],
        ],
    )
    path = written(tmp_path, document)
    (case,), repairs = read(path)
    said = {turn.label: turn.text for turn in read_file(path)[0].turns}

    assert [said[label] for label in case.evidence] == ["third", "first"]
    assert case.evidence == ("s#2:2", "s:1")
    assert repairs == {}


def test_repairs_are_counted(tmp_path: Path) -> None:
    """Numbers as answers, evidence that cannot be pointed at, and its absence are repaired and counted."""
    unmarked = [[{"role": "user", "content": "x"}], []]
    cases, repairs = read(
        written(
            tmp_path,
            question(answer=3),
            question(question_id="q2", haystack_sessions=unmarked),
            question(question_id="q3", haystack_session_ids=None),
            question(question_id="q4", haystack_sessions=[[marked(" "), marked("x")], []]),
            question(question_id="q5", haystack_sessions=[[], []]),
        )
    )

    assert [case.id for case in cases] == ["q1", "q2", "q3", "q4"]
    assert [case.evidence for case in cases] == [("answer_s2:1",), (), (), ("s1:2",)]
    assert cases[0].answer == "3"
    assert repairs == {
        Repair.NUMBER_ANSWER: 1,
        Repair.ABSENT_EVIDENCE: 1,
        Repair.UNLABELLED_EVIDENCE: 1,
        Repair.NO_EVIDENCE: 2,
        Repair.NO_MESSAGES: 1,
    }


def test_a_date_may_be_missing(tmp_path: Path) -> None:
    """Without a date the question has no time of its own."""
    assert read(written(tmp_path, question(question_date=None)))[0][0].asked is None


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ({"question_type": "riddle"}, "[0].question_type"),
        ({"question_type": None}, "[0].question_type"),
        ({"question_id": ""}, "[0].question_id"),
        ({"question": ""}, "[0].question"),
        ({"answer": ["a"]}, "[0].answer"),
        ({"question_date": "soon"}, "[0].question_date"),
        ({"haystack_sessions": [[{"role": "user"}], []]}, "[0].haystack_sessions[0][0].content"),
        ({"haystack_sessions": [[{"content": "x"}], []]}, "[0].haystack_sessions[0][0].role"),
        ({"haystack_dates": []}, "[0].haystack_dates"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, keys: dict[str, object], place: str) -> None:
    """A question without the layout is an error with the path to the value."""
    with pytest.raises(InputError) as caught:
        read(written(tmp_path, question(**keys)))

    assert caught.value.place == place


def test_haystacks_are_not_held(tmp_path: Path) -> None:
    """Reading a file of many haystacks takes the memory of a few of them."""
    turns = [{"role": "user", "content": "a word of no use " * 60} for _ in range(500)]
    haystack = [turns, [marked("I bought the blue cup")]]
    path = written(tmp_path, *(question(question_id=f"q{number}", haystack_sessions=haystack) for number in range(40)))
    tracemalloc.start()
    cases, _ = read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(cases) == 40
    assert peak < path.stat().st_size / 2
