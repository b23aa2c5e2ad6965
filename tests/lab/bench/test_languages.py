"""The conversations in other languages: that each is what the issue asked for, and that goalmem reads all of them."""

import json
import re
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from babel.dates import get_day_names

from goalmem_cli.lab.bench.languages.talks import AUTHORS, FOLDER, talks, write_talks
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.languages.finding import language_asked, language_of
from goalmem_cli.main import run
from goalmem_cli.transcripts import read_file

FILES = sorted(FOLDER.glob("*.json"))
CATEGORIES = {"single-hop": 4, "two-hop": 1, "time": 2, "yes or no": 4, "count": 4, "unanswerable": 5}
OF_THE_FIRST = {"de": 2, "es": 2, "fr": 1, "ja": 1, "pt": 1, "zh": 1}
OF_THE_SECOND = {"fr": 1, "ja": 1, "pt": 1, "zh": 1}
AGO = {"vorgestern": 2, "anteayer": 2, "avant-hier": 2, "anteontem": 2, "三日前": 3}


def read(file: Path) -> dict[str, Any]:
    """Return the document of a file."""
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return document


def turns_of(document: dict[str, Any]) -> dict[str, str]:
    """Return the texts of a conversation by label."""
    sessions = [value for value in document["conversation"].values() if isinstance(value, list)]
    return {turn["dia_id"]: turn["text"] for session in sessions for turn in session}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_conversation_has_what_was_asked_for(file: Path) -> None:
    """Thirty turns at least; fifteen questions in its language and five in English, five of the twenty unanswerable."""
    document = read(file)
    turns, questions = turns_of(document), document["qa"]
    asked_in = Counter(question["language"] for question in questions)
    kinds = Counter(question["type"] for question in questions)

    assert document["sample_id"] == file.stem and file.stem.startswith(f"{document['language']}-")
    assert document["author"] in AUTHORS
    assert 30 <= len(turns) <= 60
    assert asked_in == {document["language"]: 15, "en": 5}
    assert kinds.keys() == CATEGORIES.keys() and kinds["unanswerable"] == 5 and min(kinds.values()) >= 2
    assert all(question["category"] == CATEGORIES[question["type"]] for question in questions)
    assert len({question["question"] for question in questions}) == 20


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_language_is_the_one_that_it_says(file: Path) -> None:
    """Turns and questions, as goalmem finds it."""
    document = read(file)
    assert language_of(" ".join(turns_of(document).values())) == document["language"]
    for question in document["qa"]:
        assert (language_asked(question["question"]) or "en") == question["language"], question


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_answer_is_told_in_its_evidence(file: Path) -> None:
    """The answer, or words that it is worked out from, stand in a turn that it cites; two-hop cites two at least."""
    document = read(file)
    turns = turns_of(document)
    for question in document["qa"]:
        if question["type"] == "unanswerable":
            continue
        cited = [turns[label].casefold() for label in question["evidence"]]
        told = question.get("told", [])
        assert len(cited) >= (2 if question["type"] == "two-hop" else 1), question
        assert all(any(words.casefold() in text for text in cited) for words in told), question
        written = [question["answer"], *question.get("accepted", []), *told]
        assert any(words.casefold() in text for words in written for text in cited), question
        if question["type"] == "time":
            assert is_one_date(question), question


def is_one_date(question: dict[str, Any]) -> bool:
    """Say whether an accepted date in ISO form has the numbers of the answer; a month or year needs none."""
    days = [each for each in question.get("accepted", []) if re.fullmatch(r"\d{4}-\d\d-\d\d", each)]
    numbers = {int(number) for number in re.findall(r"\d+", question["answer"])}
    return numbers <= {int(part) for part in days[0].split("-")} if days else max(numbers) > 2000


def said(document: dict[str, Any], label: str) -> date:
    """Return the day on which a turn was said."""
    session = label.removeprefix("D").partition(":")[0]
    return datetime.strptime(document["conversation"][f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y").date()


def weekdays(language: str) -> dict[str, int]:
    """Return the days of the week by their names in a language, long and short, Monday 0: "sexta" for sexta-feira."""
    names = [get_day_names(width, locale=language) for width in ("wide", "abbreviated" if language == "zh" else "wide")]
    return {name.casefold().partition("-")[0]: number for each in names for number, name in each.items()}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_relative_time_is_the_date_that_the_answer_says(file: Path) -> None:
    """A day of the week is that of the date, at most two weeks off; two days ago is two days before the turn."""
    document = read(file)
    days = weekdays(document["language"])
    checked = 0
    for question in document["qa"]:
        iso = [each for each in question.get("accepted", []) if re.fullmatch(r"\d{4}-\d\d-\d\d", each)]
        if question["type"] != "time" or not iso:
            continue
        day, told = date.fromisoformat(iso[0]), " ".join(question.get("told", [])).casefold()
        cited = [said(document, label) for label in question["evidence"]]
        for name in filter(told.__contains__, days):
            assert day.weekday() == days[name], question
            assert any(abs((day - each).days) <= 14 for each in cited), question
            checked += 1
        for name in filter(told.__contains__, AGO):
            assert day in [each - timedelta(days=AGO[name]) for each in cited], question
            checked += 1
    assert checked


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_cannot_be_answered_has_no_evidence(file: Path) -> None:
    """It has no answer either, but turns that come near it and what a careless reader would say."""
    document = read(file)
    turns = turns_of(document)
    for question in document["qa"]:
        is_unanswerable = question["type"] == "unanswerable"
        assert is_unanswerable == ("answer" not in question) == ("evidence" not in question), question
        assert is_unanswerable == bool(question.get("distractors")) == bool(question.get("adversarial_answer"))
        assert turns.keys() >= {*question.get("distractors", []), *question.get("evidence", [])}


def test_there_are_two_in_each_language() -> None:
    """The first author wrote both in German and Spanish; the other four languages have one of each author."""
    by_author = {name: Counter(talk.language for talk in talks() if talk.author == name) for name in AUTHORS}
    assert by_author == {"first": OF_THE_FIRST, "second": OF_THE_SECOND}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """The readers give back every turn and question with its language, and repair nothing."""
    files = write_talks(tmp_path, talks())
    dataset = read_dataset([tmp_path])

    assert not dataset.repairs
    assert len(dataset.cases) == 20 * len(FILES)
    for file in files:
        document = read(file)
        (conversation,) = read_file(file)
        assert {turn.label: turn.text for turn in conversation.turns} == turns_of(document)
        assert all(turn.said is not None for turn in conversation.turns)
        cases = [case for case in dataset.cases if case.conversation == document["sample_id"]]
        assert [(case.question, case.kind, case.asked_in) for case in cases] == [
            (question["question"], question["type"], question["language"]) for question in document["qa"]
        ]
        assert {case.language for case in cases} == {document["language"]}
        assert [list(case.accepted) for case in cases] == [each.get("accepted", []) for each in document["qa"]]


def test_the_command_writes_chosen_languages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bytes are those of the package; counts are those of what was written; names that are not there are refused."""
    out = tmp_path / "talks"
    arguments = ["bench", "languages", str(out), "--author", "first"]
    assert run([*arguments, "--language", "de,zh", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["languages"]

    assert {path.name: path.read_bytes() for path in out.iterdir()} == {
        path.name: path.read_bytes() for path in FILES if path.name in ("de-1.json", "de-2.json", "zh-1.json")
    }
    assert {name: (each["conversations"], each["questions"]) for name, each in found.items()} == {
        "de": (2, 40),
        "zh": (1, 20),
    }
    assert (found["zh"]["in_english"], found["zh"]["unanswerable"]) == (5, 5)
    assert run([*arguments, "--language", "de,tlh"]) == 2
    assert "'tlh'" in capsys.readouterr().err


def test_retrieval_is_measured_by_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`goalmem eval` prints the evidence recall of each language and of each language of the question."""
    out = tmp_path / "talks"
    assert run(["bench", "languages", str(out), "--language", "de,ja", "--author", "first"]) == 0
    words = ["eval", str(out), "--retrieval-only", "--backbone", "bm25-plain", "--out", str(tmp_path / "run")]
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["runs"]

    parts = entry["by_part"]
    assert {name: part["n"] for name, part in parts["language"].items()} == {"de": 30, "ja": 15}
    asked = parts["language of the question"]
    assert {name: part["n"] for name, part in asked.items()} == {
        "de, asked in de": 22, "de, asked in en": 8, "ja, asked in en": 4, "ja, asked in ja": 11,
    }  # fmt: skip
    assert all(part["metrics"].keys() == {"recall@10"} for part in asked.values())
    assert asked["ja, asked in ja"]["metrics"]["recall@10"]["mean"] > 0.5
    assert "unanswerable" not in parts["kind"]
