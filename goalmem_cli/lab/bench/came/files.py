"""Write trajectories in CAME-Bench's layout, one folder each, with gold labels in a separate file; read the labels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from goalmem_cli.json_records import plain, rebuild
from goalmem_cli.lab.bench.came.records import QuestionLabels, StoryQuestion, StoryTurn, Trajectory, TurnLabels
from goalmem_cli.store.files import reporting
from goalmem_cli.transcripts.readers.came import LABELS, QUESTIONS, TURNS
from goalmem_cli.transcripts.reading.nodes import Node, json_lines
from goalmem_cli.transcripts.reading.source import Source

HINT = "check the folder's permissions and the free space, or name another folder"

_TURN, _QUESTION = "turn", "question"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GoldLabels:
    """The labels of a trajectory's turns and questions, by their ids."""

    turns: dict[str, TurnLabels] = field(default_factory=dict)
    questions: dict[str, QuestionLabels] = field(default_factory=dict)


def write_trajectory(out: Path, trajectory: Trajectory) -> Path:
    """Write a trajectory's three files into a folder of its name, and return the folder.

    Raises:
        StoreError: a file cannot be written.
    """
    folder = out / trajectory.name
    turns, questions = trajectory.turns, trajectory.questions
    labels = [{_TURN: turn.id} | plain(turn.labels) for turn in turns]
    labels += [{_QUESTION: question.id} | plain(question.labels) for question in questions]
    _write(folder / TURNS, (_turn(trajectory.name, turn) for turn in turns))
    _write(folder / LABELS, labels)
    _write(folder / QUESTIONS, map(_question, questions))
    return folder


def read_labels(folder: Path) -> GoldLabels:
    """Return the gold labels of the trajectory in a folder.

    Raises:
        InputError: there are none, or a line has another layout.
    """
    found = GoldLabels()
    for node in json_lines(Source.from_path(folder / LABELS)):
        if node.has(_TURN):
            found.turns[node.child(_TURN).filled_text()] = _labels(TurnLabels, node, _TURN)
        else:
            found.questions[node.required(_QUESTION).filled_text()] = _labels(QuestionLabels, node, _QUESTION)
    return found


def _labels(kind: type[T], node: Node, own: str) -> T:
    try:
        found: T = rebuild(kind, {key: node.child(key).value for key in node.keys() if key != own})  # noqa: SIM118
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise node.error(f"holds no labels of a {own}: {error}") from error
    return found


def _turn(trajectory: str, turn: StoryTurn) -> dict[str, object]:
    said = turn.said.isoformat(timespec="minutes")
    return {
        "id": turn.id,
        "role": turn.role,
        "content": turn.text,
        "partition": [trajectory],
        "timestamp_mapping": {trajectory: said},
    }


def _question(question: StoryQuestion) -> dict[str, object]:
    return {
        "id": question.id,
        "type": question.type,
        "form": question.form,
        "content": question.text,
        "answer": {"free_form_answer": question.answer},
        "answer_turn_ids": list(question.evidence),
    }


def _write(path: Path, lines: Iterable[dict[str, object]]) -> None:
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    with reporting(path, HINT):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
