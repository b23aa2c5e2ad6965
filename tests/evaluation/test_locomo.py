"""LoCoMo's questions and their repairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.evaluation.locomo import Case, Repair, Repairs, read_cases
from goalmem_cli.transcripts import read_file

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"


def written(folder: Path, *questions: object, **keys: object) -> Path:
    """Write a file with one conversation of four turns, D1:1 to D1:3 and D30:5, and the questions; return its path."""
    ids = ("D1:1", "D1:2", "D1:3")
    sample = {
        "session_1": [{"speaker": "A", "dia_id": dia_id, "text": "x"} for dia_id in ids],
        "session_30": [
            {"speaker": "A", "dia_id": "D30:5", "text": "x"},
            {"speaker": "A", "dia_id": "D30:6", "text": ""},
        ],
        "qa": list(questions),
        **keys,
    }
    path = folder / "set.json"
    path.write_text(json.dumps([sample]), encoding="utf-8")
    return path


def question(evidence: object = ("D1:1",), **keys: object) -> dict[str, object]:
    """Return a question, its keys replaced or extended."""
    return {"question": "Who?", "answer": "A", "evidence": evidence, "category": 4, **keys}


def test_a_question_as_golden(tmp_path: Path) -> None:
    """A sound question comes through as it is, under the reader's name for the conversation, without repairs."""
    path = written(tmp_path, question(["D1:3", "D1:1"]), sample_id="s")
    cases, repairs = read_cases(path)

    assert cases == [Case("s", "Who?", "A", ("D1:3", "D1:1"), 4, None)]
    assert repairs.lines() == ()
    assert cases[0].conversation == read_file(path)[0].name


def test_an_adversarial_question_has_no_answer(tmp_path: Path) -> None:
    """Category 5 keeps what a careless reader would say, and no answer."""
    asked = {"question": "Who?", "adversarial_answer": "B", "evidence": ["D1:1"], "category": 5}
    (case,), _ = read_cases(written(tmp_path, asked))

    assert (case.answer, case.adversarial_answer) == (None, "B")
    assert case.conversation == "set"


@pytest.mark.parametrize(
    ("evidence", "kept", "repairs"),
    [
        (["D1:1; D1:2"], ("D1:1", "D1:2"), {Repair.SPLIT_EVIDENCE: 1}),
        (["D1:1 D1:2 D1:3", "D1:1"], ("D1:1", "D1:2", "D1:3"), {Repair.SPLIT_EVIDENCE: 1, Repair.REPEATED_EVIDENCE: 1}),
        (["D30:05"], ("D30:5",), {Repair.NORMALISED_EVIDENCE: 1}),
        (["D", "D1:1"], ("D1:1",), {Repair.UNPARSABLE_EVIDENCE: 1}),
        (["D:1:2", "D1:1"], ("D1:1",), {Repair.UNPARSABLE_EVIDENCE: 1}),
        (["", "D1:1"], ("D1:1",), {Repair.UNPARSABLE_EVIDENCE: 1}),
        (["D1:9"], (), {Repair.ABSENT_EVIDENCE: 1, Repair.NO_EVIDENCE: 1}),
        (["D30:6"], (), {Repair.ABSENT_EVIDENCE: 1, Repair.NO_EVIDENCE: 1}),
        ([], (), {Repair.NO_EVIDENCE: 1}),
        (None, (), {Repair.NO_EVIDENCE: 1}),
    ],
)
def test_evidence_is_repaired_and_counted(
    tmp_path: Path, evidence: object, kept: tuple[str, ...], repairs: dict[Repair, int]
) -> None:
    """Evidence that names turns is kept in the file's spelling; the rest is dropped; each repair is counted."""
    (case,), counted = read_cases(written(tmp_path, question(evidence)))

    assert case.evidence == kept
    assert {repair: count for repair, count in counted.counts.items() if count} == repairs


def test_answers_that_are_numbers_become_text(tmp_path: Path) -> None:
    """A number is read as its digits, and counted."""
    cases, repairs = read_cases(written(tmp_path, question(answer=2022), question(answer=2.5), question(answer=None)))

    assert [case.answer for case in cases] == ["2022", "2.5", None]
    assert repairs.of(Repair.NUMBER_ANSWER) == 2
    assert repairs.lines() == ("2 answers that are numbers, read as text",)


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        (question(category=6), "[0].qa[0].category"),
        (question(category=True), "[0].qa[0].category"),
        ({"category": 1}, "[0].qa[0].question"),
        (question([5]), "[0].qa[0].evidence[0]"),
        (question(answer=["A"]), "[0].qa[0].answer"),
        (5, "[0].qa[0]"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, asked: object, place: str) -> None:
    """A question without the layout is an error with the path to the value."""
    with pytest.raises(InputError) as caught:
        read_cases(written(tmp_path, asked))

    assert caught.value.place == place


def test_no_repairs_have_no_lines() -> None:
    """Repairs that were never made are not spoken of."""
    assert Repairs().lines() == ()


def test_the_samples_questions() -> None:
    """The sample conversation's questions need no repair; one is unanswerable, one rests on two sessions."""
    cases, repairs = read_cases(ROOT / "sample_convos" / "momoco.json")

    assert (len(cases), repairs.lines()) == (8, ())
    assert [case.question for case in cases if case.answer is None] == ["What did Ben order to eat at Momoco?"]
    assert cases[0] == Case(
        "momoco-01", "Which drink with matcha in it did Alice order at cafe Momoco?", "Kyoto Latte", ("D1:3", "D2:1"), 1
    )


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
def test_published_questions() -> None:
    """The published file's questions are all there, and its known faults are the ones repaired."""
    cases, repairs = read_cases(SHARED / "locomo" / "locomo5.json")

    assert len(cases) == 1020
    assert {repair: count for repair, count in repairs.counts.items() if count} == {
        Repair.NUMBER_ANSWER: 6,
        Repair.SPLIT_EVIDENCE: 4,
        Repair.UNPARSABLE_EVIDENCE: 1,
        Repair.ABSENT_EVIDENCE: 1,
        Repair.NO_EVIDENCE: 2,
    }
    assert sum(1 for case in cases if case.category < 5 and case.evidence) == 786
