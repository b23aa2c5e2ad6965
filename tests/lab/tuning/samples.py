"""The sample conversations as a corpus to train on, and what their examples say."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from goalmem_cli.lab.evaluation.cases import Case, GoldStep
from goalmem_cli.lab.tuning.batches import Example
from goalmem_cli.lab.tuning.corpus import Talk
from tests.conftest import SAMPLES

NAMES = ("assistant-01", "momoco-01", "work-02")
FILES = {"assistant-01": "assistant-01", "momoco-01": "momoco", "work-02": "work-02"}


def write_corpus(folder: Path, named: Mapping[str, str]) -> Path:
    """Write sample conversations into the folder; `named` maps the name that each gets there to its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, own in named.items():
        sample = json.loads((SAMPLES / f"{FILES[own]}.json").read_text("utf-8"))
        (folder / f"{name}.json").write_text(json.dumps({**sample, "sample_id": name}), "utf-8")
    return folder


def steps_of(case: Case) -> tuple[GoldStep, ...]:
    """Return the gold subgoals and refinements of a question."""
    assert case.plan is not None
    return (*case.plan.subgoals, *case.plan.refinements)


def texts_of(talk: Talk) -> list[str]:
    """Return whatever a conversation and its gold plans say, queries apart, in one order."""
    texts = [text for turn in talk.conversation.turns for text in (turn.speaker, turn.text)]
    for case in talk.cases:
        assert case.plan is not None
        texts += [case.question, case.answer or "", case.asker or "", case.plan.goal, *case.plan.alternative]
        texts += [text for step in steps_of(case) for text in (step.text, *step.bindings.values())]
    return texts


def queries_of(talk: Talk) -> list[str]:
    """Return the search queries of the refinements."""
    return [step.query for case in talk.cases for step in steps_of(case)]


def asked_in(example: Example) -> tuple[str, str | None]:
    """Return the question of a prompt, and who asks it."""
    prompt = example.request.growing + example.request.tail
    question = re.search(r"^Question: (.+)$", prompt, re.MULTILINE)
    asker = re.search(r"^Asked by: (.+)$", prompt, re.MULTILINE)
    assert question is not None
    return question[1], asker[1] if asker else None
