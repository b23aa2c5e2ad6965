"""The adapter's model card: its data, its training and its results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from goalmem_cli.lab.tuning.batches import MIX

RECORD = "training.json"
CARD = "README.md"


def write_record(record: Mapping[str, object], folder: Path) -> None:
    """Write the record of a training, and the card, beside the adapter."""
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    (folder / CARD).write_text(card(record), "utf-8")


def add_evaluation(folder: Path, name: str, figures: Mapping[str, object]) -> None:
    """Add a run's figures to the record and the card."""
    record = json.loads((folder / RECORD).read_text("utf-8"))
    update_record(folder, {"evaluation": {**record["evaluation"], name: dict(figures)}})


def add_certainty(folder: Path, reasoner: str, made: Mapping[str, object]) -> None:
    """Add the calibration of the reasoner's answers to the record and the card."""
    record = json.loads((folder / RECORD).read_text("utf-8"))
    update_record(folder, {"certainty": {**record.get("certainty", {}), reasoner: dict(made)}})


def update_record(folder: Path, entries: Mapping[str, object]) -> None:
    """Add entries to the record, replacing earlier ones, and write the card again."""
    record = json.loads((folder / RECORD).read_text("utf-8"))
    write_record(record | dict(entries), folder)


def card(record: Mapping[str, object]) -> str:
    """Return the model card of a record as Markdown."""
    older = [kind for kind, _ in _items(record["mix"]) if kind not in MIX]
    lines = [
        f"# goalmem's own adapter for {record['base']}",
        "",
        "A low-rank adapter (LoRA, GGUF) that makes the model take two steps of goalmem: decompose a question, and",
        "read an answer from facts, or refuse. It is made for goalmem's compact prompts of these and for nothing",
        "else; in any other talk it is of no use.",
        *([f"It was also trained for what goalmem asks of it no more: {', '.join(older)}."] if older else []),
        "",
        "| | |",
        "| --- | --- |",
        f"| base | {record['base']} ({record['base_digest']}) |",
        f"| adapter | {record['bytes']} bytes, {record['digest']} |",
        f"| data | {record['conversations']} conversations; sets of names: {_figures(record['copies'])} |",
        f"| copies differ in | {', '.join(name for name, is_so in _items(record['variety']) if is_so) or 'nothing'} |",
        f"| shares of rows, by kind | {_figures(record['mix'])} |",
        f"| started from | {record['start'] or 'nothing'} |",
        f"| training | {record['steps']} steps, {record['tokens']} tokens, {record['minutes']} minutes |",
        f"| steps left out, as their gradient was not finite | {record.get('left_out', 0)} |",
        f"| machine | {record['device']} |",
        f"| course | {_figures(record['course'])} |",
        f"| llama.cpp beside the trained model | {_figures(record['check'])} |",
        f"| versions | {_figures(record['versions'])} |",
        "",
        "The conversations were written for goalmem and are its own. Never trained on, as it is measured on them:",
        f"{', '.join(map(str, _list(record['held_out'])))}, and the minis' held-out part.",
        *(["One training conversation in twenty was set aside to choose by."] if record["aside_losses"] else []),
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
    for reasoner, made in _items(record.get("certainty", {})):
        lines += ["", f"## How certain an answer of `{reasoner}` is", "", *_certainty(dict(_items(made)))]
    return "\n".join(lines) + "\n"


def _certainty(made: Mapping[str, object]) -> Iterator[str]:
    """Yield the card's lines on how certain answers are: the calibration's weights, errors and tables.

    The errors are those of cross-validation (`fitted`) and those on held-out conversations (`checked`).
    """
    yield "The share of answers with such signs that was right (F1 of 0.5 or more), by a logistic regression with the"
    yield f"weights {', '.join(f'{weight:.2f}' for weight in _list(made['weights']))}."
    for name in ("fitted", "checked"):
        checked = dict(_items(made[name]))
        if not checked:
            yield from ("", "On conversations that are held out, the error of these weights was not measured.")
            continue
        told = "each conversation left out of its own fit" if name == "fitted" else "conversations that are held out"
        yield from (
            "",
            f"On {checked['asked']} questions, {told}: expected calibration error {checked['error']:.3f}.",
        )
        if not checked["bins"]:  # the error alone was kept
            continue
        yield from ("", "| answers | certain | right |", "| --- | --- | --- |")
        for each in map(dict, map(_items, _list(checked["bins"]))):
            yield f"| {each['count']} | {each['certainty']:.0%} | {each['right']:.0%} |"
        yield from (
            "",
            "| certain at least | answered | of them right | F1 | answerable refused | unanswerable refused |",
        )
        yield "| --- | --- | --- | --- | --- | --- |"
        for each in list(map(dict, map(_items, _list(checked["curve"]))))[::2]:
            shares = ("least", "answered", "right"), ("refused", "unanswerable_refused")
            before, after = (" | ".join(f"{each[key]:.0%}" for key in keys) for keys in shares)
            yield f"| {before} | {each['f1']:.3f} | {after} |"


def _figures(figures: object) -> str:
    return ", ".join(f"{name} {'+'.join(map(str, _list(value))) or value}" for name, value in _items(figures))


def _items(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, Mapping) else []


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []
