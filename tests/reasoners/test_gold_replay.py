"""The corpus's gold plans, replayed as scripted replies: what a perfect model would say, the engine must accept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.reasoners.goal_mem import GoalMem, Limits
from goalmem_cli.reasoners.goal_mem.asking import VERDICTS
from goalmem_cli.records import Conversation, Question
from goalmem_cli.trace import Status, Trace
from goalmem_cli.transcripts import read_file
from tests.fakes import ListBackbone, ScriptedModel
from tests.reasoners.gold import GoldScript
from tests.reasoners.scripting import FULL, MOMENT

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data" / "corpus"
FOLDER = SHARED if SHARED.is_dir() else ROOT / "sample_convos"
LIMITS = Limits(max_breadth=2, budget=400, max_fact_tokens=40_000)


def gold_files() -> list[Path]:
    """Return the conversations with gold plans: the shared corpus beside the checkout, else the samples."""
    return [file for file in sorted(FOLDER.glob("*.json")) if '"subgoals"' in file.read_text(encoding="utf-8")]


Case = tuple[str, dict[str, Any], GoldScript, Callable[[], Trace]]


def replays(file: Path) -> Iterator[Case]:
    """Yield each question of a file with its script and a function that runs the engine on it."""
    conversation: Conversation = read_file(file)[0]
    turns = {turn.label: turn for turn in conversation.turns}
    speakers = sorted({turn.speaker for turn in conversation.turns} - {"Assistant"})
    for number, entry in enumerate(json.loads(file.read_text(encoding="utf-8"))["qa"]):
        script = GoldScript(entry, turns)
        is_first_person = re.search(r"\b(I|my|me|mine)\b", entry["question"]) is not None
        asker = next(
            (name for name in speakers if name in json.dumps(entry["subgoals"], ensure_ascii=False)), speakers[0]
        )
        question = Question(entry["question"], MOMENT, asker if is_first_person else None)
        engine = GoalMem(ListBackbone(conversation.turns, least=0), ScriptedModel(script), FULL, LIMITS)
        yield f"{file.stem}[{number}]", entry, script, lambda engine=engine, question=question: engine.answer(question)  # type: ignore[misc]


def rejections(trace: Trace) -> list[str]:
    """Return why the engine refused groundings, over all steps."""
    return [entry.why for attempt in trace.attempts for step in attempt.steps for entry in step.rejected]


@pytest.mark.parametrize("file", gold_files(), ids=lambda file: file.stem)
def test_gold_plans_end_as_the_corpus_says(file: Path) -> None:
    """Answerable questions end with their gold bindings, unanswerable ones unknown with the unresolved subgoal."""
    for name, entry, script, run in replays(file):
        trace = run()

        if entry["category"] == 5:
            unresolved = {number for number, step in enumerate(script.steps) if "unresolved" in step}
            last = {item.subgoal for item in trace.attempts[0].steps[-1].unresolved}
            assert trace.status is Status.UNKNOWN, name
            assert unresolved & last, name
            continue
        assert trace.status is Status.ANSWERED, (name, rejections(trace))
        if entry["answer_variables"]:
            for variable in entry["answer_variables"]:
                gold, found = script.bindings(variable), trace.substitution[variable]
                assert len(found) == len(gold), (name, found)
                assert all(
                    compare(a, b) in (Equality.EQUAL, Equality.ALIAS) for a, b in zip(gold, found, strict=True)
                ), name
        elif entry["answer"] in VERDICTS:
            assert trace.answer == entry["answer"], name
