"""The model card of the adapter: what it was made of, how, and how well it does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

RECORD = "training.json"
CARD = "README.md"


def write_record(record: Mapping[str, object], folder: Path) -> None:
    """Write what a training did and the card beside the adapter."""
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    (folder / CARD).write_text(card(record), "utf-8")


def add_evaluation(folder: Path, name: str, figures: Mapping[str, object]) -> None:
    """Put a run's figures into the record and the card."""
    record = json.loads((folder / RECORD).read_text("utf-8"))
    update_record(folder, {"evaluation": {**record["evaluation"], name: dict(figures)}})


def update_record(folder: Path, entries: Mapping[str, object]) -> None:
    """Put entries into the record, in place of earlier ones, and into the card."""
    record = json.loads((folder / RECORD).read_text("utf-8"))
    write_record(record | dict(entries), folder)


def card(record: Mapping[str, object]) -> str:
    """Return the card of a record as Markdown."""
    course = record["course"]
    lines = [
        "# goalmem-smollm2: goalmem's own adapter",
        "",
        "A low-rank adapter (LoRA, GGUF) that makes SmolLM2-135M-Instruct take the steps of goalmem: decompose a",
        "question, hold a subgoal against a fact, refine, word an answer, settle yes or no, read an answer, refuse.",
        "It is made for goalmem's compact prompts and for nothing else; in any other talk it is of no use.",
        "",
        "| | |",
        "| --- | --- |",
        f"| base | {record['base']} ({record['base_digest']}) |",
        f"| adapter | {record['bytes']} bytes, {record['digest']} |",
        f"| data | {record['conversations']} conversations; sets of names: {_figures(record['copies'])} |",
        f"| started from | {record['start'] or 'nothing'} |",
        f"| training | {record['steps']} steps, {record['tokens']} tokens, {record['minutes']} minutes |",
        f"| machine | {record['device']} |",
        f"| course | {', '.join(f'{name} {value}' for name, value in _items(course))} |",
        f"| llama.cpp beside the trained model | {_figures(record['check'])} |",
        f"| versions | {', '.join(f'{name} {value}' for name, value in _items(record['versions']))} |",
        "",
        "The conversations were written for goalmem and are its own. Never trained on, as it is measured on them:",
        f"{', '.join(map(str, _list(record['held_out'])))}, and the minis' held-out part. One training conversation in",
        "twenty was set aside to choose by.",
        "",
        "| step | examples there were | not of the form | seen | last loss | set aside | held out, before | after |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    columns = (
        "available", "dropped", "examples", "losses", "aside_losses", "held_out_losses_before", "held_out_losses",
    )  # fmt: skip
    tables = [dict(_items(record[name])) for name in columns]
    lines += [f"| {kind} | {' | '.join(str(table.get(kind, 0)) for table in tables)} |" for kind in tables[0]]
    lines += ["", "Losses are means over the tokens of replies.", "", "## Measured", ""]
    lines += [f"- {name}: {_figures(figures)}" for name, figures in _items(record["evaluation"])] or ["Not yet."]
    return "\n".join(lines) + "\n"


def _figures(figures: object) -> str:
    return ", ".join(f"{name} {value}" for name, value in _items(figures))


def _items(value: object) -> list[tuple[str, object]]:
    return list(value.items()) if isinstance(value, Mapping) else []


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []
