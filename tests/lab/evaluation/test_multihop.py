"""The benchmarks of questions over several paragraphs: MuSiQue, 2WikiMultihopQA and HotpotQA."""

import json
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.lab.evaluation.datasets.questions import Repair
from goalmem_cli.lab.evaluation.summaries.scores import score
from goalmem_cli.main import run
from goalmem_cli.trace import Status, Trace
from tests.lab.evaluation.test_time_questions import written
from tests.reasoners.scripting import MOMENT

TEXTS = {
    "Anna's boat": "The boat was built in Hull. It is blue.",
    "Hull": "Hull lies on the Humber.",
    "Leeds": "Leeds has a market.",
}
QUESTION = "On which river was Anna's boat built?"


def musique(name: str, *supporting: str, **keys: object) -> dict[str, object]:
    """Return a row of MuSiQue over all paragraphs, of which these are evidence."""
    paragraphs = [
        {"idx": place, "title": title, "paragraph_text": text, "is_supporting": title in supporting}
        for place, (title, text) in enumerate(TEXTS.items())
    ]
    known = {"question": QUESTION, "answer": "the Humber", "answer_aliases": ["Humber"], "answerable": True}
    return {"id": name, "paragraphs": paragraphs, "question_decomposition": [], **known, **keys}


def pairs(name: str, *supporting: str, **keys: object) -> dict[str, object]:
    """Return a row of 2WikiMultihopQA or HotpotQA over all paragraphs, by the further keys."""
    context = [[title, [f"{part}." for part in text.rstrip(".").split(". ")]] for title, text in TEXTS.items()]
    facts = [[title, 0] for title in supporting for _ in range(2)]
    known = {"question": QUESTION, "answer": "the Humber", "type": "comparison", "supporting_facts": facts}
    return {"_id": name, "context": context, **known, **keys}


ROWS = {
    "musique": musique("2hop__1_2", "Anna's boat", "Hull"),
    "2wiki": pairs("a", "Anna's boat", "Hull", evidences=[["Hull", "river", "the Humber"]]),
    "hotpotqa": pairs("b", "Anna's boat", "Hull", level="hard"),
}


@pytest.mark.parametrize("name", ROWS)
def test_paragraphs_are_turns_and_supporting_ones_the_evidence(tmp_path: Path, name: str) -> None:
    """Every paragraph is there once below its title; a second row with the same ones adds nothing."""
    row = ROWS[name]
    key = "id" if name == "musique" else "_id"
    dataset = read_dataset([written(tmp_path, row, row | {key: "3hop1__x", "question": "Where is the market?"})])
    (conversation,) = dataset.conversations({case.conversation for case in dataset.cases})
    case = dataset.cases[0]

    assert dataset.format == name
    assert [turn.text for turn in conversation.turns] == [f"{title}\n{text}" for title, text in TEXTS.items()]
    assert len({turn.session for turn in conversation.turns}) == len(TEXTS)
    assert [turn.text.split("\n")[0] for turn in conversation.turns if turn.label in case.evidence] == [
        "Anna's boat",
        "Hull",
    ]
    assert (case.question, case.answer) == (QUESTION, "the Humber")
    assert case.accepted == (("Humber",) if name == "musique" else ())
    assert [dataset.categories[each.category] for each in dataset.cases] == (
        ["2 hops", "3 hops, shape 1"] if name == "musique" else ["comparison"] * 2
    )
    assert not [note for note in dataset.notes if "evidence" in note]


def test_a_question_asked_again_without_a_paragraph_is_left_out(tmp_path: Path) -> None:
    """MuSiQue-Full's second row of an id lacks a paragraph that its first row brings, so it can be answered here."""
    again = musique("2hop__1_2", "Hull", answerable=False)
    again["paragraphs"] = [each for each in again["paragraphs"] if each["title"] != "Anna's boat"]  # type: ignore[attr-defined]
    dataset = read_dataset([written(tmp_path, again, ROWS["musique"])])
    (conversation,) = dataset.conversations({"musique"})
    (known,) = dataset.cases

    assert (known.id, known.is_unanswerable, known.answer) == ("2hop__1_2", False, "the Humber")
    assert len(conversation.turns) == len(TEXTS)
    assert dataset.repairs[Repair.ASKED_AGAIN] == 1
    assert dataset.skipped == ()


def test_aliases_count_as_the_answer() -> None:
    """The best of the accepted answers counts, as in HippoRAG's metric."""
    case = Case("a", "musique", QUESTION, "the river Humber", (), "2hop", accepted=("Humber",))
    trace = Trace(Status.ANSWERED, "direct", QUESTION, MOMENT, answer="The Humber")
    assert score(case, "musique", trace)["token_f1"] == 1.0


def test_the_files_of_hipporag_are_read(tmp_path: Path) -> None:
    """They have `text` and a list of answers, in one array."""
    row = musique("q", "Hull", answer=["the Humber", "Humber"], answer_aliases=None)
    row["paragraphs"] = [{"title": "Hull", "text": TEXTS["Hull"], "is_supporting": True, "idx": 0}]
    (case,) = read_dataset([written(tmp_path, row, name="rows.json")]).cases
    assert (case.answer, case.accepted, len(case.evidence)) == ("the Humber", ("Humber",), 1)


def test_rows_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """The others stay; a file without any is an error."""
    broken = pairs("a", evidences=[], context=[["Hull"]])
    path = written(tmp_path, broken, ROWS["2wiki"])
    dataset = read_dataset([path])
    assert [case.id for case in dataset.cases] == ["a"]
    assert dataset.skipped == (f"{path}: line 1, context[0]: expected a title and one more value, found 1",)
    with pytest.raises(InputError, match="holds no paragraph"):
        read_dataset([written(tmp_path, pairs("a", evidences=[], context=[]))])


def test_eval_finds_the_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Recall of paragraphs over a real store: of the three both wanted are found, by words alone."""
    path = written(tmp_path, ROWS["musique"])
    command = ["eval", str(path), "--retrieval-only", "--backbone", "bm25-plain", "--out", str(tmp_path / "run")]
    assert run([*command, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert row["retrieval"]["recall"]["10"]["mean"] == 1.0
