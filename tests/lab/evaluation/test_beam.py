"""BEAM's questions, and the chats that they are asked of."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.beam import CATEGORIES, read_cases
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.lab.evaluation.datasets.questions import Repair
from goalmem_cli.transcripts import read_file
from tests.lab.evaluation.reading import questions_by
from tests.transcripts.layouts import BEAM
from tests.transcripts.reading import detect

QUESTIONS: dict[str, list[dict[str, object]]] = {
    "abstention": [
        {"question": "Who paid for the boat?", "ideal_response": "Nothing is told of that.", "rubric": ["x"]}
    ],
    "event_ordering": [
        {
            "question": "In which order?",
            "answer": "Hull, sail",
            "source_chat_ids": [[0, 2], 2],
            "rubric": ["Hull", "Sail"],
        }
    ],
    "knowledge_update": [
        {
            "question": "How long is it?",
            "answer": 8,
            "source_chat_ids": {"original_info": [0], "updated_info": [[2, 9]]},
        }
    ],
}


def chat(folder: Path, questions: object = QUESTIONS, batches: object = BEAM) -> Path:
    """Write a chat with its questions in the published layout, and return its folder."""
    (folder / "probing_questions").mkdir(parents=True)
    (folder / "chat.json").write_text(json.dumps(batches), "utf-8")
    (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(questions), "utf-8")
    return folder


def read(folder: Path) -> tuple[list[Case], dict[str, int]]:
    """Return the folder's questions and what was repaired, with how often."""
    return questions_by(read_cases)(folder / "chat.json")


def test_a_chat_as_golden(tmp_path: Path) -> None:
    """A chat is called after its tier and folder; days hold until the next one; marks of its plan are no text."""
    (conversation,) = read_file(chat(tmp_path / "100K" / "7") / "chat.json")

    assert detect("chat.json", json.dumps(BEAM).encode()) == conversation.format == "beam"
    assert conversation.name == "100K-7"
    assert [(turn.role, turn.label, turn.session, turn.said) for turn in conversation.turns] == [
        ("user", "0", 0, datetime(2024, 3, 5)),
        ("assistant", "1", 0, datetime(2024, 3, 5)),
        ("user", "2", 1, datetime(2024, 4, 10)),
    ]
    assert conversation.turns[0].text == "I'm building a boat of 7 m, can you help me plan the hull?"
    (other,) = read_file(chat(tmp_path / "boats") / "chat.json")
    assert other.name == "boats"


def test_questions_as_golden(tmp_path: Path) -> None:
    """Evidence is read from every nesting; abilities are categories, and what should be refused is unanswerable."""
    cases, repairs = read(chat(tmp_path / "7"))

    assert [(case.id, case.category, case.answer, case.evidence) for case in cases] == [
        ("7:abstention:1", "abstention", "Nothing is told of that.", ()),
        ("7:event_ordering:1", "event_ordering", "Hull, sail", ("0", "2")),
        ("7:knowledge_update:1", "knowledge_update", "8", ("0", "2")),
    ]
    assert [case.is_unanswerable for case in cases] == [True, False, False]
    assert cases[1].nuggets == ("Hull", "Sail")
    assert {case.asker for case in cases} == {"user"}
    assert repairs == {
        Repair.NUMBER_ANSWER: 1,
        Repair.REPEATED_EVIDENCE: 1,
        Repair.ABSENT_EVIDENCE: 1,
        Repair.NO_EVIDENCE: 1,
    }
    assert set(QUESTIONS) < set(CATEGORIES)


def test_chats_of_several_tiers_are_one_dataset(tmp_path: Path) -> None:
    """A tier's folder, or that of all of them, is read; a chat is named by its folder or by either of its files."""
    for tier, number in (("100K", "1"), ("100K", "3"), ("1M", "1")):
        chat(tmp_path / "beam" / tier / number)
    dataset = read_dataset([tmp_path / "beam"])

    assert list(dict.fromkeys(case.conversation for case in dataset.cases)) == ["100K-1", "100K-3", "1M-1"]
    assert Repair.NO_QUESTIONS not in dataset.repairs
    one = tmp_path / "beam" / "100K" / "3"
    named = [read_dataset([one, *more]) for more in ([], [one / "chat.json"])]
    named += [read_dataset([one / name]) for name in ("chat.json", "probing_questions/probing_questions.json")]
    assert {(found.name, found.digest, len(found.cases)) for found in named} == {("3", named[0].digest, 3)}


def test_an_ability_that_is_not_known_is_a_category_of_its_own(tmp_path: Path) -> None:
    """Later editions may ask for more."""
    dataset = read_dataset([chat(tmp_path / "7", {"humour": [{"question": "Why?"}]})])

    assert list(dataset.categories) == [*CATEGORIES, "humour"]


@pytest.mark.parametrize(
    "questions", [[1], {"abstention": {}}, {"abstention": [{}]}, {"event_ordering": [{"question": "x", "rubric": "y"}]}]
)
def test_what_has_not_the_layout_is_refused(tmp_path: Path, questions: object) -> None:
    """The error names the file of the questions, and the place."""
    with pytest.raises(InputError) as caught:
        read(chat(tmp_path / "7", questions))

    assert caught.value.path.endswith("probing_questions.json")


def test_a_chat_without_messages_has_no_questions(tmp_path: Path) -> None:
    """They are left out, and counted."""
    assert read(chat(tmp_path / "7", batches=[{"batch_number": 1, "turns": []}])) == ([], {Repair.NO_MESSAGES: 3})
