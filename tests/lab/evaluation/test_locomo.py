"""LoCoMo's questions and their repairs."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.lab.evaluation.cases import Case, GoldPlan, GoldStep
from goalmem_cli.lab.evaluation.datasets.locomo import CATEGORIES, MEM0_CATEGORIES, read_cases
from goalmem_cli.lab.evaluation.datasets.questions import Repair
from goalmem_cli.transcripts import read_file
from tests.lab.evaluation.reading import questions_by

read = questions_by(read_cases)

ROOT = Path(__file__).resolve().parents[3]
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
    cases, repairs = read(path)

    assert cases == [Case("s:1", "s", "Who?", "A", ("D1:3", "D1:1"), "4")]
    assert repairs == {}
    assert cases[0].conversation == read_file(path)[0].name


@pytest.mark.parametrize("answer", [{}, {"answer": None}, {"answer": "No"}, {"answer": 5}])
@pytest.mark.parametrize("tempting", [{}, {"adversarial_answer": "B"}])
def test_an_adversarial_question_has_no_answer(
    tmp_path: Path, answer: dict[str, object], tempting: dict[str, object]
) -> None:
    """Category 5 is unanswerable whatever keys it has or lacks; what a careless reader would say is kept."""
    asked = {"question": "Who?", "evidence": ["D1:1"], "category": 5, **answer, **tempting}
    (case,), repairs = read(written(tmp_path, asked))

    assert (case.id, case.conversation, case.category) == ("set:1", "set", "5")
    assert (case.answer, case.adversarial_answer) == (None, tempting.get("adversarial_answer"))
    assert case.is_unanswerable
    assert repairs == ({Repair.ADVERSARIAL_ANSWER: 1} if answer.get("answer") else {})


def test_an_adversarial_question_needs_no_evidence(tmp_path: Path) -> None:
    """One without the key is whole; one whose evidence is empty is counted, as it was meant to have some."""
    asked = {"question": "Who?", "category": 5, "adversarial_answer": "Ben"}
    assert not read(written(tmp_path, asked))[1]
    assert read(written(tmp_path, {**asked, "evidence": []}))[1] == {Repair.NO_EVIDENCE: 1}


def test_ids_are_the_places_of_the_questions(tmp_path: Path) -> None:
    """Two questions with the same words, as the published files have some, are two cases."""
    cases, _ = read(written(tmp_path, question(), question(), sample_id="s"))

    assert [case.id for case in cases] == ["s:1", "s:2"]


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
        (["D1:1. D1:2."], ("D1:1", "D1:2"), {Repair.SPLIT_EVIDENCE: 1}),
        ([], (), {Repair.NO_EVIDENCE: 1}),
        (None, (), {Repair.NO_EVIDENCE: 1}),
    ],
)
def test_evidence_is_repaired_and_counted(
    tmp_path: Path, evidence: object, kept: tuple[str, ...], repairs: dict[Repair, int]
) -> None:
    """Evidence that names turns is kept in the file's spelling; the rest is dropped; each repair is counted."""
    (case,), counted = read(written(tmp_path, question(evidence)))

    assert case.evidence == kept
    assert counted == repairs


def test_answers_that_are_numbers_become_text(tmp_path: Path) -> None:
    """A number is read as its digits, and counted."""
    cases, repairs = read(written(tmp_path, question(answer=2022), question(answer=2.5), question(answer=None)))

    assert [case.answer for case in cases] == ["2022", "2.5", None]
    assert repairs == {"answers that are numbers, read as text": 2}


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
        read(written(tmp_path, asked))

    assert caught.value.place == place


def test_a_sample_without_messages_has_no_questions(tmp_path: Path) -> None:
    """A conversation that says nothing cannot be asked: its questions are left out, and counted."""
    empty = {"sample_id": "empty", "session_1": [], "qa": [question(), question()]}
    path = written(tmp_path, question(), sample_id="s")
    path.write_text(json.dumps([empty, *json.loads(path.read_text("utf-8"))]), "utf-8")
    cases, repairs = read(path)

    assert [case.id for case in cases] == ["s:1"]
    assert repairs[Repair.NO_MESSAGES] == 2


PLANNED = question(
    goal="(A) met (x:person)",
    answer_variables=["x"],
    subgoals=[
        {"text": "(A) met (x:person)", "facts": ["D1:1", "D30:5"], "bindings": {"x": "B"}},
        {"text": "(x:person) is tall", "facts": [], "bindings": {}, "unresolved": "never said"},
    ],
    refinements=[
        {"of": 1, "missing": "m", "relation": "semantic", "query": "how tall", "text": "(B) has (y:height)",
         "facts": ["D1:2"], "bindings": {"y": "2 m"}}
    ],
    alternative=["(x:person) came to see (A)"],
    distractors=["D1:2"],
)  # fmt: skip


def test_a_gold_plan_comes_with_its_question(tmp_path: Path) -> None:
    """The corpus form's plan is read, and its sample belongs to the domain that its id begins with."""
    (case,), repairs = read(written(tmp_path, PLANNED, sample_id="old-friends-07"))

    assert case.plan == GoldPlan(
        "(A) met (x:person)",
        ("x",),
        (GoldStep("(A) met (x:person)", ("D1:1", "D30:5"), {"x": "B"}), GoldStep("(x:person) is tall")),
        (GoldStep("(B) has (y:height)", ("D1:2",), {"y": "2 m"}, "how tall", 1, "semantic"),),
        ("(x:person) came to see (A)",),
        ("D1:2",),
    )
    assert (case.domain, case.conversation, repairs) == ("old-friends", "old-friends-07", {})

    (case,), _ = read(written(tmp_path, PLANNED, sample_id="old-friends-07", domain="club"))
    assert case.domain == "club"  # a sample may name it


@pytest.mark.parametrize(
    ("text", "asker"), [("Whom did I meet?", "A"), ("Is my friend tall?", "A"), ("Whom did A meet?", None)]
)
def test_who_asks_about_themselves_is_told_by_the_plan(tmp_path: Path, text: str, asker: str | None) -> None:
    """The one speaker whom the plan names asks a question with "I" or "my"; other questions have no asker."""
    talk = {"speaker_a": "A", "speaker_b": "B"}
    (case,), _ = read(written(tmp_path, {**PLANNED, "question": text}, **talk))

    assert case.asker == asker


def test_a_question_may_name_its_asker(tmp_path: Path) -> None:
    """goalmem's own files name who asks, with a plan or without."""
    (case,), _ = read(written(tmp_path, {**question(), "asker": "B"}))
    assert case.asker == "B"
    talk = {"speaker_a": "A", "speaker_b": "B"}
    (case,), _ = read(written(tmp_path, {**PLANNED, "question": "Whom did I meet?", "asker": "B"}, **talk))
    assert case.asker == "B"


@pytest.mark.parametrize(
    ("spoil", "place"),
    [
        (lambda asked: asked.pop("goal"), "goal"),
        (lambda asked: asked.update(goal="A met somebody"), "goal"),
        (lambda asked: asked.pop("subgoals"), "subgoals"),
        (lambda asked: asked.update(subgoals=[]), "subgoals"),
        (lambda asked: asked.update(subgoals={}), "subgoals"),
        (lambda asked: asked.update(answer_variables="x"), "answer_variables"),
        (lambda asked: asked["subgoals"][0].update(text="(A) met ((x:person))"), "subgoals[0].text"),
        (lambda asked: asked["subgoals"][0].update(facts=["D9:9"]), "subgoals[0].facts[0]"),
        (lambda asked: asked["subgoals"][1].pop("bindings"), "subgoals[1].bindings"),
        (lambda asked: asked["subgoals"][0].update(bindings={"x": 5}), "subgoals[0].bindings.x"),
        (lambda asked: asked["refinements"][0].update(of=2), "refinements[0].of"),
        (lambda asked: asked["refinements"][0].update(of=True), "refinements[0].of"),
        (lambda asked: asked["refinements"][0].pop("query"), "refinements[0].query"),
    ],
)
def test_a_malformed_plan_is_an_error_with_its_place(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], object], place: str
) -> None:
    """A plan is read whole or not at all: what is wrong with it is named by its path."""
    asked = copy.deepcopy(PLANNED)
    spoil(asked)
    with pytest.raises(InputError) as caught:
        read(written(tmp_path, asked))

    assert caught.value.place == f"[0].qa[0].{place}"


def test_two_conventions_name_the_same_codes() -> None:
    """Mem0's names are LoCoMo's in another order, and both leave the adversarial questions as they are."""
    assert list(CATEGORIES) == list(MEM0_CATEGORIES) == ["1", "2", "3", "4", "5"]
    assert set(CATEGORIES.values()) == set(MEM0_CATEGORIES.values())
    assert CATEGORIES["4"] == MEM0_CATEGORIES["2"] == "single-hop"
    assert CATEGORIES["5"] == MEM0_CATEGORIES["5"] == "adversarial"


def test_the_samples_questions() -> None:
    """The sample conversation's questions need no repair; one is unanswerable, one rests on two sessions."""
    cases, repairs = read(ROOT / "sample_convos" / "momoco.json")

    assert (len(cases), repairs) == (8, {})
    assert [case.question for case in cases if case.answer is None] == ["What did Ben order to eat at Momoco?"]
    first = cases[0]
    assert first.question == "Which drink with matcha in it did Alice order at cafe Momoco?"
    assert (first.id, first.answer, first.evidence) == ("momoco-01:1", "Kyoto Latte", ("D1:3", "D2:1"))
    assert all(case.plan is not None and case.domain == "momoco" for case in cases)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
def test_published_questions() -> None:
    """The published file's questions are all there, and its known faults are the ones repaired."""
    cases, repairs = read(SHARED / "locomo" / "locomo5.json")

    assert len(cases) == len({case.id for case in cases}) == 1020
    assert repairs == {
        Repair.NUMBER_ANSWER: 6,
        Repair.ADVERSARIAL_ANSWER: 2,
        Repair.SPLIT_EVIDENCE: 4,
        Repair.UNPARSABLE_EVIDENCE: 1,
        Repair.ABSENT_EVIDENCE: 1,
        Repair.NO_EVIDENCE: 2,
    }
    assert sum(1 for case in cases if not case.is_unanswerable and case.evidence) == 786
    assert {case.category for case in cases if case.is_unanswerable} == {"5"}
    assert all(case.plan is None and case.domain == "" for case in cases)
