"""What qwen-1.5b makes of the sample conversations: the golden thirty, a structured index, a chat."""

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

import goalmem_cli
from goalmem_cli.config import Settings
from goalmem_cli.loading import load_model
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.records import Question
from goalmem_cli.wiring import Factories, build_reasoner, open_store
from tests.cli.test_golden import ANSWERS, REFUSED
from tests.conftest import SAMPLES

pytestmark = [pytest.mark.large, pytest.mark.model]

MODEL = "qwen-1.5b"
LEAST = 26
NEVER = Path(__file__).with_name("never.json")


def goalmem(store: Path, *words: str, told: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command over the store with the model."""
    command = [sys.executable, "-m", "goalmem_cli", *words, "--store", str(store), "--model", MODEL]
    return subprocess.run(command, input=told, capture_output=True, text=True)


def filled(folder: Path, files: Path) -> Path:
    """Return a store of the files."""
    command = [sys.executable, "-m", "goalmem_cli", "ingest", str(files), "--store", str(folder), "--quiet"]
    assert subprocess.run(command).returncode == 0
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of the samples."""
    return filled(tmp_path / "store", SAMPLES)


def test_the_golden_thirty(store: Path) -> None:
    """At least 26 are right, those that nobody's words answer among them, and none of these is invented."""
    settings = Settings(store, model=MODEL)
    reasoner = build_reasoner(settings, open_store(settings, Factories(), lambda _: None), load_model(settings))
    asked = datetime(2026, 1, 5, 12)
    said = {question: reasoner.answer(Question(question, asked)).answer for question in (*ANSWERS, *REFUSED)}
    fell = {
        question: f"{said[question]!r} instead of {answer!r}"
        for question, answer in ANSWERS.items()
        if not content_stems(answer) <= content_stems(said[question] or "")
    }
    invented = {question: said[question] for question in REFUSED if said[question] is not None}

    print(f"{len(ANSWERS) - len(fell)} of {len(ANSWERS)} right, {len(invented)} invented: {fell} {invented}")  # noqa: T201
    assert len(said) == 30 and not invented
    assert len(ANSWERS) - len(fell) + len(REFUSED) >= LEAST, fell


def test_never_is_held_against_what_else_was_said(tmp_path: Path) -> None:
    """Of 24 chats by an author who did not know the code, "never" stands in 12; in 12 the same person says otherwise.

    The limits are what was measured once. "I never drink coffee" is not meant: only "have never" is read again.
    """
    ended = dict[bool, list[str]]({True: [], False: []})
    for number, case in enumerate(json.loads(NEVER.read_text("utf-8"))):
        with goalmem_cli.open(tmp_path / str(number), model=MODEL) as memory:
            file = tmp_path / f"{number}.md"
            file.write_text("\n".join(case["lines"]), "utf-8")
            memory.ingest(file)
            asker = "user" if any(line.startswith("assistant:") for line in case["lines"]) else None
            trace = memory.ask(case["question"], asker=asker)
        ended[case["in_conflict"]].append("in conflict" if trace.conflict else trace.answer or "unknown")

    print(ended)  # noqa: T201
    assert ended[True].count("in conflict") >= 4
    assert ended[False].count("no") >= 10


def test_a_structured_index(tmp_path: Path) -> None:
    """The steps of an index run without the adapter, and give units."""
    done = goalmem(filled(tmp_path / "store", SAMPLES / "sourdough.jsonl"), "index", "mem0")
    assert done.returncode == 0, done.stderr


def test_a_chat(store: Path) -> None:
    """What is told is remembered, and answered from."""
    done = goalmem(store, "chat", "--asker", "Alice", told="I moved to Leeds.\nWhere do I live?\n")
    assert done.returncode == 0 and "Leeds" in done.stdout, done.stdout + done.stderr
