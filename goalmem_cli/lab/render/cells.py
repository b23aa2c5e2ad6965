"""The parts of a report's tables: text cells, headings, and figures in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval

LABELS: Mapping[str, str] = {
    "f1": "F1",
    "token_f1": "F1 (SQuAD)",
    "mem0_f1": "F1 (Mem0)",
    "bleu1": "BLEU-1",
    "exact": "exact match",
    "exact_strict": "strict match",
    "set_precision": "set precision",
    "set_recall": "set recall",
    "set_f1": "set F1",
    "set_accuracy": "set accuracy",
    "answer_f1": "answer F1",
    "judge": "judged right",
    "judge_precision": "judged precision",
    "refused_answerable": "refused, answerable",
    "refused_unanswerable": "refused, unanswerable",
    "all_f1": "F1 (SQuAD)",
    "all_bleu1": "BLEU-1",
    "all_judge": "judged right",
    "prompt_tokens": "prompt tokens",
    "cached_tokens": "of them cached",
    "completion_tokens": "completion tokens",
    "shown_tokens": "of them beside fixed prompts",
    "search_tokens": "tokens before the last call, without fixed prompts",
    "memory_tokens": "tokens of the backbone's own calls",
    "plan_parsed": "plans that parse",
    "subgoal_match": "subgoals matched",
    "grounding_precision": "grounding precision",
    "grounding_recall": "grounding recall",
    "bindings_right": "bindings right",
}
"""What the tables call a metric that does not go by its own name."""

Format = Callable[[Interval], str]


@dataclass(frozen=True, slots=True)
class Figures:
    """One table. `keys` are the headings of the first columns, which name a row; `rows` are (key cells, other cells).

    `note` explains the figures. If the table is a heat map, `heat` has a value from 0 to 9 for each of the other cells,
    or None.
    """

    title: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    note: str = ""
    heat: tuple[tuple[int | None, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """The tables of one dataset; `notes` are what qualifies their figures."""

    dataset: str
    tables: tuple[Figures, ...]
    notes: tuple[str, ...]


def label(metric: str) -> str:
    """Return the name of a metric in tables."""
    return LABELS.get(metric, metric)


def heading(metric: str) -> str:
    """Return the name of a metric at the head of a table."""
    name = label(metric)
    return name[:1].upper() + name[1:]


def share(figure: Interval) -> str:
    """Return a share with its interval: ``0.231 [0.20, 0.26]``."""
    return f"{figure.mean:.3f} [{figure.low:.2f}, {figure.high:.2f}]"


def difference(figure: Interval) -> str:
    """Return a difference with its interval, signs written: ``+0.031 [+0.01, +0.05]``."""
    return f"{figure.mean:+.3f} [{figure.low:+.2f}, {figure.high:+.2f}]"


def amount(figure: Interval) -> str:
    """Return an amount with its interval, to as many places as its size warrants: ``1,204 [1,100, 1,310]``."""
    places = 0 if figure.mean >= 100 else 1 if figure.mean >= 10 else 2
    return f"{figure.mean:,.{places}f} [{figure.low:,.{places}f}, {figure.high:,.{places}f}]"


def heats(values: Sequence[Sequence[float | None]]) -> tuple[tuple[int | None, ...], ...]:
    """Return each value scaled from 0 (the least) to 9 (the greatest); empty if there are fewer than two values."""
    there = [value for line in values for value in line if value is not None]
    if len(there) < 2:
        return ()
    least, room = min(there), max(there) - min(there)
    return tuple(
        tuple(None if value is None else round(9 * (value - least) / room) if room else 0 for value in line)
        for line in values
    )
