"""Write generated stories in the corpus form: LoCoMo conversations and questions with gold plans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from goalmem_cli.lab.bench.sums.questions import Sum
from goalmem_cli.lab.bench.sums.story import Story
from goalmem_cli.store.files import reporting

HINT = "check the folder's permissions and the free space, or name another folder"
CATEGORIES = {"duration": 2}
"""LoCoMo's category by question type: durations are temporal, all others multi-hop."""


def write_story(out: Path, story: Story, questions: Sequence[Sum]) -> Path:
    """Write one conversation with its questions to a file of its name, and return the file.

    Besides the fields of the corpus form, each question has the `expression` that computes its answer, and the
    `groundings` of its values, one per thing.

    Raises:
        StoreError: it cannot be written.
    """
    file = out / f"{story.name}.json"
    document = {
        "sample_id": story.name,
        "conversation": dict(_conversation(story)),
        "qa": [_question(question) for question in questions],
    }
    with reporting(file, HINT):
        out.mkdir(parents=True, exist_ok=True)
        file.write_bytes(json.dumps(document, ensure_ascii=False, indent=1).encode())
    return file


def _conversation(story: Story) -> Iterator[tuple[str, Any]]:
    yield from zip(("speaker_a", "speaker_b"), story.people, strict=True)
    for number, found in groupby(story.turns, key=lambda turn: turn.session):
        turns = list(found)
        if (said := turns[0].said) is not None:
            time = f"{said.hour % 12 or 12}:{said:%M} {'am' if said.hour < 12 else 'pm'}"
            yield f"session_{number}_date_time", f"{time} on {said.day} {said:%B}, {said.year}"
        told = [{"speaker": turn.speaker, "dia_id": turn.label, "text": turn.text} for turn in turns]
        yield f"session_{number}", told


def _question(question: Sum) -> dict[str, Any]:
    """Return a question in the corpus form; the values of several groundings of a subgoal are joined with commas."""
    subgoals = []
    for number, text in enumerate(question.subgoals):
        own = [gold for gold in question.groundings if gold.subgoal == number]
        names = dict.fromkeys(name for gold in own for name in gold.bindings)
        bound = {name: ", ".join(gold.bindings[name] for gold in own) for name in names}
        subgoals.append({"text": text.replace("*)", ")"), "facts": [gold.turn for gold in own], "bindings": bound})
    names = dict.fromkeys(name for gold in question.groundings for name in gold.bindings)
    return {
        "question": question.text,
        "answer": ", ".join(question.answer),
        "evidence": list(dict.fromkeys(gold.turn for gold in question.groundings)),
        "category": CATEGORIES.get(question.type, 1),
        "goal": subgoals[0]["text"],
        "variables": {name: name for name in names},
        "answer_variables": [name for name in names if name in _used(question.expression)],
        "subgoals": subgoals,
        "type": question.type,
        "expression": question.expression,
        "groundings": [
            {"subgoal": gold.subgoal, "facts": [gold.turn], "bindings": dict(gold.bindings)}
            for gold in question.groundings
        ],
    }


def _used(expression: str) -> set[str]:
    return {word for word in expression.replace("(", " ").replace(")", " ").replace(",", " ").split() if len(word) == 1}
