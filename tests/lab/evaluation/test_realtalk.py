"""REALTALK's questions, and whom they call by which name."""

import json
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.questions import Repair
from goalmem_cli.lab.evaluation.datasets.realtalk import read_cases
from goalmem_cli.transcripts import read_file
from tests.lab.evaluation.reading import questions_by

read = questions_by(read_cases)

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "realtalk"

TURNS = [("Mia", "Hi Theodor, did you see Carla's photo?"), ("theodor", "I did, Anne! And Olga called.")]


def events(a: str, b: str) -> dict[str, object]:
    """Return the events of a session, all of one speaker beginning with one name."""
    return {
        "agent_a": [{"sub-event": f"{a} takes a photo."}, {"sub-event": f"{a} buys a tent."}],
        "agent_b": [{"sub-event": f"{b} calls Olga."}, {"sub-event": ""}],
    }


def written(folder: Path, *asked: tuple[str, str], **keys: object) -> Path:
    """Write a chat between Mia and theodor with the questions and answers, and return its path."""
    turns = [
        {"clean_text": text, "speaker": speaker, "date_time": "29.12.2023, 22:42:04", "dia_id": f"D1:{number}"}
        for number, (speaker, text) in enumerate(TURNS, 1)
    ]
    qa = [{"question": text, "answer": answer, "evidence": ["D1:1"], "category": 1} for text, answer in asked]
    path = folder / "Chat_1_Mia_Theo.json"
    path.write_text(json.dumps({"session_1": turns, "qa": qa, **keys}), encoding="utf-8")
    return path


def test_a_question_as_golden(tmp_path: Path) -> None:
    """A question whose names are those of the turns comes through as it is, under the reader's name for the chat."""
    path = written(tmp_path, ("When did Mia see Theodor?", "2023"), events_session_1=events("Mia", "Theodor"))
    cases, repairs = read(path)
    name = read_file(path)[0].name

    assert cases == [Case(f"{name}:1", name, "When did Mia see Theodor?", "2023", ("D1:1",), "1")]
    assert repairs == {}


def test_the_other_name_of_a_pair_is_the_other_speakers(tmp_path: Path) -> None:
    """Events begin with Anne's and Theodor's names; one of them speaks as theodor, so Anne is Mia, in the answer too."""
    path = written(
        tmp_path,
        ("What is Anne's hobby, according to Theodor?", "Anne likes tents"),
        ("Who is Olga?", "Theodor's aunt"),
        events_session_1=events("Anne", "Theodor"),
    )
    cases, repairs = read(path)

    assert [case.question for case in cases] == ["What is Mia's hobby, according to Theodor?", "Who is Olga?"]
    assert [case.answer for case in cases] == ["Mia likes tents", "Theodor's aunt"]
    assert repairs == {"questions that say Anne for Mia, renamed": 1}


def test_the_name_object_is_such_a_pair_too(tmp_path: Path) -> None:
    """What the file's `name` calls a speaker is replaced when the other name of it is a speaker's."""
    pair = {"speaker_1": "Annika", "speaker_2": "Theodor Blum"}
    cases, repairs = read(written(tmp_path, ("Is Annika tall?", "no"), name=pair))

    assert cases[0].question == "Is Mia tall?"
    assert repairs == {"questions that say Annika for Mia, renamed": 1}


def test_a_pair_of_strangers_is_left_and_counted(tmp_path: Path) -> None:
    """Where neither name of a pair is a speaker's, nothing says who is who: the questions stay, and are counted."""
    path = written(
        tmp_path, ("Where does Anne live?", "Rome"), ("Who called?", "Olga"), events_session_1=events("Anne", "Paul")
    )
    cases, repairs = read(path)

    assert cases[0].question == "Where does Anne live?"
    assert list(repairs.values()) == [1]
    assert "left so" in next(iter(repairs))


def test_events_that_begin_with_many_names_say_nothing(tmp_path: Path) -> None:
    """Only a name that begins most of a speaker's events is taken for the speaker's."""
    mixed = events("Anne", "Theodor")
    mixed["agent_a"] = [{"sub-event": f"{name} sleeps."} for name in ("Anne", "Olga", "Carla")]
    cases, repairs = read(written(tmp_path, ("Is Anne tall?", "no"), events_session_1=mixed))

    assert (cases[0].question, repairs) == ("Is Anne tall?", {})


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Does Theodar sing?", "Does Theodor sing?"),
        ("Does Thiodor sing?", "Does Thiodor sing?"),
        ("Does Theodora sing?", "Does Theodora sing?"),
        ("Does Thearar sing?", "Does Thearar sing?"),
        ("Is Carla tall?", "Is Carla tall?"),
    ],
)
def test_slips_of_the_pen(tmp_path: Path, asked: str, expected: str) -> None:
    """A name that no turn says and that differs from a speaker's in at most two letters behind the third is a slip."""
    assert read(written(tmp_path, (asked, "yes")))[0][0].question == expected


def test_who_is_spoken_of_is_no_slip(tmp_path: Path) -> None:
    """A name that the turns say is somebody's, however near to a speaker's name it is."""
    turns = [{"clean_text": "Theodar came.", "speaker": name, "dia_id": f"D1:{name}"} for name in ("Mia", "Theodor")]
    cases, _ = read(written(tmp_path, ("Does Theodar sing?", "yes"), session_1=turns))

    assert cases[0].question == "Does Theodar sing?"


def test_categories_are_its_own(tmp_path: Path) -> None:
    """REALTALK has the categories 1 to 3; evidence is repaired as LoCoMo's is."""
    path = written(tmp_path, ("Who?", "B"))
    chat = json.loads(path.read_text("utf-8"))
    chat["qa"][0] |= {"evidence": ["D1:1. D1:02", "D9:9"], "category": 3}
    path.write_text(json.dumps(chat), "utf-8")
    (case,), repairs = read(path)

    assert (case.category, case.evidence) == ("3", ("D1:1", "D1:2"))
    assert repairs == {Repair.SPLIT_EVIDENCE: 1, Repair.NORMALISED_EVIDENCE: 1, Repair.ABSENT_EVIDENCE: 1}
    chat["qa"][0]["category"] = 4
    path.write_text(json.dumps(chat), "utf-8")
    with pytest.raises(InputError, match="from 1 to 3"):
        read(path)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
def test_the_published_chats() -> None:
    """Kate is Emi, Elisa and Eliza are elise; much of the evidence are images that were never published."""
    (emi, kevin) = (read(path) for path in sorted(SHARED.glob("*.json")))

    assert [len(cases) for cases, _ in (emi, kevin)] == [70, 73]
    assert not any("Kate" in f"{case.question} {case.answer}" for case in emi[0])
    assert sum("Emi" in f"{case.question} {case.answer}" for case in emi[0]) == 35
    assert emi[1] == {
        Repair.SPLIT_EVIDENCE: 1,
        Repair.ABSENT_EVIDENCE: 28,
        "questions that say Eliza for Elise, renamed": 1,
        "questions that say Kate for Emi, renamed": 35,
    }
    assert kevin[1] == {Repair.ABSENT_EVIDENCE: 3, "questions that say Elisa for Elise, renamed": 1}
