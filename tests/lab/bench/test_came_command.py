"""`goalmem bench came`: what it writes is what goalmem reads, stores and measures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.lab.bench.came.files import read_labels, write_trajectory
from goalmem_cli.lab.bench.came.trajectories import DOMAINS, made_up_trajectories
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.main import run
from goalmem_cli.ports import Request
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.transcripts import read_file
from goalmem_cli.transcripts.readers.came import LABELS
from goalmem_cli.wiring import LoadedModel
from tests.conftest import CHECKOUT
from tests.invoking import seeing


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file in a folder and those in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("domain", DOMAINS)
def test_what_is_written_is_read(domain: str, tmp_path: Path) -> None:
    """The readers give back every turn and question, and repair nothing of them."""
    (made,) = made_up_trajectories(domain, 400, 1, 3)
    folder = write_trajectory(tmp_path, made)

    (conversation,) = read_file(folder / "turns.jsonl", "came")
    assert (conversation.own_id or conversation.name) == made.name
    assert not conversation.notes
    read = [(turn.own_id, turn.role, turn.text, turn.said) for turn in conversation.turns]
    assert read == [(turn.id, turn.role, turn.text, turn.said) for turn in made.turns]

    dataset = read_dataset([folder / "turns.jsonl"])
    assert dataset.format == "came"
    assert not dataset.repairs
    for case, question in zip(dataset.cases, made.questions, strict=True):
        assert case.id == f"{made.name}:{question.id}"
        assert (case.question, case.answers, case.category) == (question.text, question.answers, question.type)
        assert case.evidence == question.evidence
        assert case.asker == ("user" if domain == "travel" else None)


@pytest.mark.parametrize("domain", DOMAINS)
def test_labels_are_read_back(domain: str, tmp_path: Path) -> None:
    """The file beside has the labels of every turn and question, by their ids."""
    (made,) = made_up_trajectories(domain, 300, 1)
    labels = read_labels(write_trajectory(tmp_path, made))
    assert labels.turns == {turn.id: turn.labels for turn in made.turns}
    assert labels.questions == {question.id: question.labels for question in made.questions}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"turn": "t-1", "scope": "day 1"}', "holds no labels of a turn"),
        ('{"turn": "t-1", "scope": 1, "event": "", "entity_types": [], "entities": [], "note": ""}', "no labels"),
        ('{"question": "q-1", "scopes": []}', "holds no labels of a question"),
        ('{"scope": "day 1"}', "question"),
        ("[", "line 1"),
    ],
)
def test_what_holds_no_labels_is_an_error(line: str, said: str, tmp_path: Path) -> None:
    """The error names the file and the line."""
    (tmp_path / LABELS).write_text(f"{line}\n", "utf-8")
    with pytest.raises(InputError, match=said) as raised:
        read_labels(tmp_path)
    assert LABELS in str(raised.value)


def test_the_command_writes_the_same_bytes_each_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In another process, with another hash of strings, too; a trajectory that is there is written again."""
    monkeypatch.setenv("COLUMNS", "300")  # so that no path is broken over lines
    words = ["bench", "came", "--domain", "debate", "--turns", "300", "--trajectories", "2", "--seed", "4"]
    assert run([*words, str(tmp_path / "a"), "--quiet"]) == 0
    first = contents(tmp_path / "a")
    assert len(first) == 6
    assert run([*words, str(tmp_path / "a"), "--quiet"]) == 0
    command = [sys.executable, "-m", "goalmem_cli", *words, str(tmp_path / "b"), "--quiet"]
    subprocess.run(command, cwd=CHECKOUT, env=os.environ | {"PYTHONHASHSEED": "17"}, capture_output=True, check=True)
    assert contents(tmp_path / "a") == contents(tmp_path / "b") == first
    assert "debate-300-4-1" in capsys.readouterr().out


def test_the_command_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One document with the folder, the turns, about how many tokens, and the questions by type."""
    assert run(["bench", "came", str(tmp_path), "--turns", "500", "--questions", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (one,) = document["trajectories"]
    assert (document["domain"], document["seed"], one["turns"]) == ("travel", 0, 500)
    assert one["folder"] == str(tmp_path / "travel-500-0-0")
    assert 5_000 < one["tokens"] < 50_000
    assert one["questions"] == {"type_1": 2, "type_2": 2, "type_3": 2, "type_4": 2}


def test_what_cannot_be_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Too short a trajectory, an unknown domain, and a place where no folder can be."""
    file = tmp_path / "file"
    file.write_text("")
    assert run(["bench", "came", str(tmp_path), "--turns", "10"]) == 2
    assert run(["bench", "came", str(tmp_path), "--domain", "cooking"]) == 2
    assert run(["bench", "came", str(file), "--turns", "300"]) == 3
    assert "name another folder" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
def test_from_nothing_to_figures(
    domain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A made-up trajectory is stored by `ingest`, and `eval` finds evidence in it, without a model."""
    monkeypatch.setenv("GOALMEM_STORE", str(tmp_path / "store"))
    out, folder = tmp_path / "made-up", tmp_path / "made-up" / f"{domain}-300-0-0"
    assert run(["bench", "came", str(out), "--domain", domain, "--turns", "300", "--quiet"]) == 0
    assert run(["ingest", str(folder), "--quiet"]) == 0
    capsys.readouterr()
    assert run(["stores", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stats"]["turns"] == 300

    assert run(["eval", str(out), "--queries", "question", "--out", str(tmp_path / "run"), "--json"]) == 0
    (measured,) = json.loads(capsys.readouterr().out)["runs"]
    shares = [measured["retrieval"]["recall"][str(depth)]["mean"] for depth in (10, 20, 40, 60)]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1
    assert set(measured["by_category"]) == {"type_1", "type_2", "type_3", "type_4"}


def test_answer_sets_are_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model that gives half of the gold answers, and something else for the others, has the score of that."""
    (made,) = made_up_trajectories("travel", 300, 1, per_type=4)
    folder = write_trajectory(tmp_path, made)
    known = {question.text: question.answer for question in made.questions[::2]}

    def reply(request: Request) -> str:
        asked = [question.text for question in made.questions if question.text in request.growing + request.tail]
        return json.dumps({"facts": ["F1"], "answer": known.get(asked[0], "nothing of the kind")})

    factories = seeing(lambda _: LoadedModel(ScriptedModel(reply), "scripted", "full", 8192, digest="d1"))
    words = ["eval", str(folder), "--reasoner", "direct", "--out", str(tmp_path / "run"), "--json"]
    assert run(words, factories) == 0
    measured = next(one for one in json.loads(capsys.readouterr().out)["runs"] if one["reasoner"] == "direct")
    expected = len(known) / len(made.questions)
    for name in ("set_precision", "set_recall", "set_f1"):
        assert measured["metrics"][name]["mean"] == pytest.approx(expected)
