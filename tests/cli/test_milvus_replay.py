"""Questions over a memory in Milvus end as over a folder: the gold plans, replayed through `ask`; and a chat."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.reasoners.goal_mem import Planning
from goalmem_cli.records import Turn
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import LoadedModel
from tests.cli.test_ask import PROOF, QUESTION
from tests.invoking import Goalmem, Outcome, scripted, seeing
from tests.lab.evaluation.gold_replies import GoldReplies
from tests.reasoners.test_gold_replay import FOLDER, SHARED, gold_files

STEP = 32
"""Of the questions of the corpus, which take minutes, every so many are asked."""

BUDGET = "200"
"""Facts in view, as many as a conversation has: what is compared is how memories are read, not how they rank."""

Asked = tuple[Case, dict[str, Turn]]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Close what the commands leave open to this process."""
    yield
    close_embedded()


def questions(files: list[Path]) -> Iterator[Asked]:
    """Yield the questions of the files, with the turns of their conversations by label."""
    dataset = read_dataset(files)
    for conversation in dataset.conversations({case.conversation for case in dataset.cases}):
        turns = {turn.label: turn for turn in conversation.turns}
        for case in dataset.cases:
            if case.conversation == (conversation.own_id or conversation.name) and case.plan is not None:
                yield case, turns


def ask(goalmem: Goalmem, store: str, asked: Asked, planning: Planning) -> Outcome:
    """Ask a question, of a model that says what its gold plan says."""
    case, turns = asked
    model = ScriptedModel(GoldReplies(case, turns))
    words = [
        "ask",
        case.question,
        "--json",
        "--store",
        store,
        "--planning",
        planning,
        "--max-breadth",
        "2",
        "--budget",
        BUDGET,
    ]
    words += ["--conversation", case.conversation, "--as-of", "2030-01-01"]
    words += ["--asker", case.asker] if case.asker else []
    return goalmem(*words, factories=seeing(lambda _: LoadedModel(model, "gold", "full", 32_768)))


def told(outcome: Outcome) -> dict[str, Any]:
    """Return what a trace says, whatever the order was in which the facts came into view, and without its times."""
    trace = json.loads(outcome.out)
    facts = trace["facts"]

    def turns(numbers: list[str]) -> list[tuple[str, str]]:
        return sorted((facts[number]["conversation"], turn) for number in numbers for turn in facts[number]["turns"])

    grounded = [
        (found["subgoal"], turns(found["facts"]), found["bindings"])
        for attempt in trace["attempts"]
        for step in attempt["steps"]
        for found in step["grounded"]
    ]
    return {
        "code": outcome.code, "status": trace["status"], "answer": trace["answer"], "goal": trace["goal"],
        "substitution": trace["substitution"], "evidence": turns(trace["evidence"]), "grounded": grounded,
        "calls": trace["usage"]["calls"], "facts": turns(list(facts)),
    }  # fmt: skip


def ingested(goalmem: Goalmem, files: list[Path], folder: Path) -> tuple[str, str]:
    """Read the files into a folder and into Milvus, and return what `--store` is for both."""
    stores = str(folder / "folder"), f"milvus:{folder / 'database'}"
    for store in stores:
        assert goalmem("ingest", *map(str, files), "--store", store, "--quiet").code == 0
    return stores


def compared(goalmem: Goalmem, files: list[Path], folder: Path, planning: Planning, step: int) -> list[str]:
    """Ask every so many of the questions of both memories, and return the statuses, which are the same."""
    here, there = ingested(goalmem, files, folder)
    statuses = []
    for asked in list(questions(files))[::step]:
        ours, theirs = (told(ask(goalmem, store, asked, planning)) for store in (there, here))
        assert ours == theirs, asked[0].id
        statuses.append(ours["status"])
    return statuses


@pytest.mark.parametrize("planning", [pytest.param("paper", marks=pytest.mark.slow), "together"])
def test_gold_plans_end_as_over_a_folder(goalmem: Goalmem, tmp_path: Path, samples: Path, planning: Planning) -> None:
    """Answers, proofs and what they took are the same, over the conversations of the samples."""
    files = [file for file in sorted(samples.glob("*.json")) if '"subgoals"' in file.read_text("utf-8")]
    assert {"answered", "unknown"} == set(compared(goalmem, files, tmp_path, planning, 3))


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.skipif(FOLDER != SHARED, reason="shared data is not there")
def test_the_corpus_ends_as_over_a_folder(goalmem: Goalmem, tmp_path: Path) -> None:
    """The same among the 78 conversations of the corpus, in one memory."""
    assert len(compared(goalmem, gold_files(), tmp_path, "together", STEP)) > 15


def remembered(goalmem: Goalmem, store: str) -> list[tuple[object, ...]]:
    """Return what the memory has of a chat: who said what, and goalmem's answers with what they rest on."""
    found: list[tuple[object, ...]] = []
    for line in map(json.loads, goalmem("stores", "export", "--store", store).out.splitlines()):
        if "unit" in line:
            found.append(("answer", line["unit"]["text"], line["unit"]["labels"][:2]))
        elif line.get("turn", {}).get("role") == "user":
            found.append((line["turn"]["speaker"], line["turn"]["text"], line["turn"]["ordinal"]))
    return found


def test_a_chat_goes_as_over_a_folder(goalmem: Goalmem, tmp_path: Path, samples: Path) -> None:
    """What is said and answered is remembered there as it is here, and known to the next question."""
    outcomes, kept = [], []
    for store in ingested(goalmem, [samples / "momoco.json"], tmp_path):
        lines = f"{QUESTION}\nI moved to Leeds in May.\n/trace\n".encode()
        outcome = goalmem("chat", "--max-breadth", "1", "--store", store, stdin=lines, factories=scripted(PROOF))
        assert outcome.code == 0, outcome.err
        outcomes.append((outcome.out, outcome.err))
        kept.append(remembered(goalmem, store))
        found = json.loads(goalmem("search", "Where is Leeds?", "--store", store, "--json").out)["hits"][0]
        assert (found["conversation"], found["text"]) == ("goalmem", "I moved to Leeds in May.")
        assert goalmem("stores", "verify", "--store", store).code == 0
    assert outcomes[0][0] == outcomes[1][0] == "Kyoto Latte\n"
    assert outcomes[0][1].count("answer: Kyoto Latte") == outcomes[1][1].count("answer: Kyoto Latte") == 1
    assert kept[0] == kept[1]
    assert ("answer", "Kyoto Latte", ["D1:3", "D2:1"]) in kept[0]
    assert ("user", "I moved to Leeds in May.", 1) in kept[0]
