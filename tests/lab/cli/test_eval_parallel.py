"""`goalmem eval --parallel`: the same results with fewer calls, what a run records of it, and Ctrl-C in the middle."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.config import Settings
from goalmem_cli.ports import Request
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel
from tests.invoking import Goalmem, seeing
from tests.lab.cli.test_eval import MOMOCO, document, replies, without_seconds

WORDS = (MOMOCO, "--reasoner", "direct,oracle,reformulate,goal-mem", "--max-breadth", "1", "--max-depth", "1")
# A server that never answers the third call, seen by the command as any other.
HANGING = """
import json, sys, threading
from goalmem_cli.main import main
from goalmem_cli.ports import Completion
from goalmem_cli.wiring import Factories, LoadedModel

class Hanging:
    calls = 0
    def complete(self, requests):
        Hanging.calls += 1
        if Hanging.calls > 6:
            print("hangs", file=sys.stderr, flush=True)
            threading.Event().wait()
        return [Completion(json.dumps({"facts": ["F1"], "answer": "tea"})) for _ in requests]

model = LoadedModel(Hanging(), "hanging", "full", 8192, is_shared=True, at_once=8)
main(sys.argv[1:], Factories(model=lambda _: model))
"""


def model_of(
    is_shared: bool, reply: Callable[[Request], str] = replies
) -> tuple[Factories, ScriptedModel, list[Settings]]:
    """Return factories with a scripted model, in process or a server, the model, and the settings it was made with."""
    model, made = ScriptedModel(reply), list[Settings]()

    def load(settings: Settings) -> LoadedModel:
        made.append(settings)
        return LoadedModel(model, "scripted", "full", 8192, digest="d1", at_once=settings.parallel, is_shared=is_shared)

    return seeing(load), model, made


def figures(made: Any) -> Any:
    """Return the document without what tells of the way to it."""
    for entry in made["runs"]:
        entry["settings"].pop("parallel", None)
    return without_seconds(made)


def answers_of(run: Path) -> dict[tuple[str, str], tuple[str, str | None]]:
    """Return how each question ended in each row, and the answer."""
    lines = [json.loads(line) for line in (run / "answered.jsonl").read_text("utf-8").splitlines()]
    assert len(lines) == len({(line["case"], line["reasoner"]) for line in lines})
    return {(line["case"], line["reasoner"]): (line["trace"]["status"], line["trace"]["answer"]) for line in lines}


@pytest.mark.slow
@pytest.mark.parametrize("is_shared", [False, True])
def test_several_at_a_time_give_the_figures_of_one_by_one(goalmem: Goalmem, is_shared: bool) -> None:
    """Every reasoner's answers are the same; in process fewer calls make them, on a server as many."""
    alone_factories, alone, _ = model_of(is_shared)
    factories, model, _ = model_of(is_shared)
    one_by_one = document(goalmem, *WORDS, "--parallel", "1", factories=alone_factories)
    together = document(goalmem, *WORDS, "--parallel", "3", factories=factories)

    assert figures(together) == figures(one_by_one)
    assert len(model.seen) == len(alone.seen)
    assert is_shared or model.calls < alone.calls / 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "variable", "is_shared", "recorded", "set_to"),
    [
        ((), None, False, None, 8),
        ((), "4", False, None, 4),
        (("--parallel", "1"), None, True, None, 1),
        (("--parallel", "3"), "4", False, "3", 3),
        ((), None, True, "8", 8),
        ((), "4", True, "4", 4),
        (("--parallel", "3"), None, True, "3", 3),
    ],
)
def test_how_many_at_a_time(
    goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch,
    words: Sequence[str], variable: str | None, is_shared: bool, recorded: str | None, set_to: int,
) -> None:  # fmt: skip
    """One in process and as many as set on a server, unless typed, which the model is told too; recorded if several."""
    if variable is not None:
        monkeypatch.setenv("GOALMEM_PARALLEL", variable)
    factories, _, made = model_of(is_shared)
    shown = document(goalmem, MOMOCO, "--reasoner", "direct", "--limit", "2", *words, factories=factories)
    assert shown["runs"][0]["settings"].get("parallel") == recorded
    assert [settings.parallel for settings in made] == [set_to]


def test_a_run_has_one_number_and_its_report_says_so(goalmem: Goalmem, tmp_path: Path) -> None:
    """Seconds of three at a time are not those of one by one: another number is another run."""
    words = ("eval", MOMOCO, "--reasoner", "direct", "--limit", "4", "--out", str(tmp_path / "run"))
    note = "3 questions at a time"
    first = goalmem(*words, "--parallel", "3", factories=model_of(False)[0])
    assert (first.code, note in " ".join(first.out.split())) == (0, True)
    other = goalmem(*words, factories=model_of(False)[0])
    assert other.code == 2
    assert "parallel is 3 in one and None in the other" in other.err
    again = goalmem(*words, "--parallel", "3", factories=model_of(False)[0])
    assert "nothing is left to measure" in again.err
    alone = goalmem(*words[:-1], str(tmp_path / "alone"), factories=model_of(False)[0])
    assert (alone.code, note in " ".join(alone.out.split())) == (0, False)


@pytest.mark.slow
@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("stops_at", [3, 9])
def test_interrupted_together_it_goes_on(goalmem: Goalmem, tmp_path: Path, stops_at: int, is_shared: bool) -> None:
    """Exit 130 with all that was done kept; the same command asks about the rest, to the same figures."""
    words = (MOMOCO, "--reasoner", "direct,oracle", "--parallel", "3")
    out = ("--out", str(tmp_path / "run"))

    def stopping(request: Request) -> str:
        if len(first.seen) > stops_at:
            raise KeyboardInterrupt
        return replies(request)

    factories, first, _ = model_of(is_shared, stopping)
    assert goalmem("eval", *words, *out, factories=factories).code == 130
    results = tmp_path / "run" / "answered.jsonl"
    kept = results.read_text("utf-8") if results.exists() else ""
    factories, second, _ = model_of(is_shared)
    made = document(goalmem, *words, *out, factories=factories)
    assert results.read_text("utf-8").startswith(kept)
    assert len(second.seen) == 16 - kept.count("\n") + (not kept)  # one more for trial where nothing was kept
    assert figures(made) == figures(document(goalmem, *words, factories=model_of(is_shared)[0]))


def test_a_judge_reads_as_many_answers_at_once_as_the_model_takes(goalmem: Goalmem, tmp_path: Path) -> None:
    """Eight answers in three calls, with the marks that single calls give."""
    out = str(tmp_path / "run")
    document(goalmem, MOMOCO, "--reasoner", "direct", "--out", out, factories=model_of(False)[0])
    factories, model, _ = model_of(False)
    goalmem("eval", "score", out, "--judge", "bundled", factories=factories)
    assert 0 < model.calls < len(model.seen) <= 8
    marks = (tmp_path / "run" / "verdicts.jsonl").read_text("utf-8")
    assert marks.count("\n") == len({(line["case"]) for line in map(json.loads, marks.splitlines())})


@pytest.mark.slow
def test_the_bundled_model_answers_alike(goalmem: Goalmem, tmp_path: Path) -> None:
    """Two questions at a time have the answers of one by one; a batch may round differently where words are near ties.

    So the reasoners here are those whose replies are short and held to what is there; and answers have to be 60% certain,
    so that the first question stays unanswered and the other is answered, however a processor rounds.
    """
    only = tmp_path / "only.txt"
    only.write_text("momoco-01:3\nmomoco-01:5\n")
    words = ("eval", MOMOCO, "--reasoner", "direct,goal-mem", "--only", str(only), "--max-breadth", "1",
             "--max-depth", "0", "-k", "3", "--certainty", "60", "--json")  # fmt: skip
    for number in ("1", "3"):
        outcome = goalmem(*words, "--parallel", number, "--out", str(tmp_path / number))
        assert outcome.code == 0, outcome.err
    alone, together = (answers_of(tmp_path / number) for number in ("1", "3"))
    assert len(alone) == 4
    assert {status for status, _ in alone.values()} >= {"answered", "unknown"}
    assert together == alone


@pytest.mark.slow
def test_control_c_while_the_model_writes(tmp_path: Path) -> None:
    """A real interruption of the real command: exit 130, whole lines only, and the same command finishes the run."""
    words = [sys.executable, "-m", "goalmem_cli", "eval", MOMOCO, "--reasoner", "direct", "--limit", "5",
             "-k", "1", "--parallel", "3", "--quiet", "--json", "--out", str(tmp_path / "run")]  # fmt: skip
    results = tmp_path / "run" / "answered.jsonl"
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as command:
        while command.poll() is None and not (results.exists() and results.read_bytes().count(b"\n") >= 1):
            time.sleep(0.01)
        command.send_signal(signal.SIGINT)
        _, said = command.communicate()
    assert (command.returncode, said) == (130, b"")
    kept = results.read_bytes()
    assert kept.endswith(b"\n")
    assert 1 <= kept.count(b"\n") < 5
    again = subprocess.run(words, capture_output=True, check=True)
    assert results.read_bytes().startswith(kept)
    assert json.loads(again.stdout)["runs"][0]["n"] == len(answers_of(tmp_path / "run")) == 5


@pytest.mark.slow
def test_control_c_while_a_server_is_silent(tmp_path: Path) -> None:
    """Nobody waits for the calls that are under way: the process ends, with what was done on the disk."""
    words = [sys.executable, "-c", HANGING, "eval", MOMOCO, "--reasoner", "direct", "--parallel", "3", "--quiet",
             "--out", str(tmp_path / "run")]  # fmt: skip
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as command:
        assert command.stderr is not None
        hanging = [command.stderr.readline() for _ in range(3)]
        command.send_signal(signal.SIGINT)
        _, said = command.communicate()
    assert hanging == ["hangs\n"] * 3
    assert (command.returncode, said) == (130, "")
    assert len(answers_of(tmp_path / "run")) == 5  # six replies, the first of which is the estimate's
