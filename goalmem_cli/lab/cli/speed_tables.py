"""The results of `goalmem bench speed` as tables and as parts of its JSON document."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from goalmem_cli.stages import MODEL

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.calls import AskCost, CallCost, CallsComparison, ProcessCosts
    from goalmem_cli.lab.bench.outside import OutsideCost
    from goalmem_cli.lab.bench.proofs import ProofCost
    from goalmem_cli.lab.bench.store import SizeFigures

MEGABYTE = 2**20

Document = dict[str, object]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the column heads and the cells; every column but the first holds numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def calls_table(compared: CallsComparison) -> Table:
    """Return the mean cost of a question each way, and the ratios to plain llama-cpp-python."""
    ways = {"plain": compared.plain, "goalmem, nothing kept": compared.cold, "goalmem": compared.warm}
    number = len(compared.questions)
    rows = [
        ["prompt tokens evaluated", *(f"{cost.evaluated_tokens / number:,.0f}" for cost in ways.values())],
        ["times fewer", *_times(cost.evaluated_tokens for cost in ways.values())],
        ["tokens written", *(f"{cost.reply_tokens / number:,.0f}" for cost in ways.values())],
        ["seconds", *(f"{cost.seconds / number:.2f}" for cost in ways.values())],
        ["times less", *_times(cost.seconds for cost in ways.values())],
    ]
    calls = sum(question.calls for question in compared.questions)
    return Table((f"a question of {number}, {calls} calls together", *ways), rows)


def calls_document(compared: CallsComparison) -> Document:
    """Return the costs of each question, their sums, and the ratios of plain to goalmem."""
    plain = compared.plain
    ways = {"cold": compared.cold, "warm": compared.warm}
    return {
        "questions": [asdict(question) for question in compared.questions],
        "plain": asdict(plain),
        **{name: asdict(cost) | _less(plain, cost) for name, cost in ways.items()},
    }


def _less(plain: CallCost, cost: CallCost) -> Document:
    return {
        "times_fewer_tokens": _ratio(plain.evaluated_tokens, cost.evaluated_tokens),
        "times_less_seconds": _ratio(plain.seconds, cost.seconds),
    }


def processes_table(processes: Sequence[ProcessCosts]) -> Table:
    """Return the mean cost of a question that runs in its own process."""
    tokens = [
        _mean(each.plain.evaluated_tokens for each in processes),
        _mean(each.warm.evaluated_tokens for each in processes),
    ]
    seconds = [_mean(each.plain_seconds for each in processes), _mean(each.warm_seconds for each in processes)]
    rows = [
        ["prompt tokens evaluated", *(f"{each:,.0f}" for each in tokens)],
        ["times fewer", *_times(tokens)],
        ["seconds, from the start of the process", *(f"{each:.2f}" for each in seconds)],
        ["times less", *_times(seconds)],
    ]
    return Table((f"a question as a process, of {len(processes)}", "plain", "goalmem"), rows)


def processes_document(processes: Sequence[ProcessCosts]) -> list[Document]:
    """Return the costs of each question, with the ratios of plain to goalmem."""
    return [
        asdict(each)
        | {
            "times_fewer_tokens": _ratio(each.plain.evaluated_tokens, each.warm.evaluated_tokens),
            "times_less_seconds": _ratio(each.plain_seconds, each.warm_seconds),
        }
        for each in processes
    ]


def proofs_table(costs: Sequence[ProofCost], reading: str) -> Table:
    """Return the cost per question of each group and reasoner; `times` is its tokens divided by those of `reading`."""
    read = {cost.group: cost.usage.prompt_tokens for cost in costs if cost.reasoner == reading}
    rows = [
        [
            f"{cost.group}: {cost.reasoner}", f"{cost.right}/{cost.questions}",
            f"{(cost.usage.calls - cost.checks) / cost.questions:.2f}", f"{cost.checks / cost.questions:.2f}",
            f"{cost.most_calls}", f"{cost.usage.prompt_tokens / cost.questions:,.0f}",
            f"{(cost.usage.prompt_tokens - cost.usage.cached_tokens) / cost.questions:,.0f}",
            f"{cost.usage.prompt_tokens / read[cost.group]:.2f}",
        ]
        for cost in costs
    ]  # fmt: skip
    return Table(("by gold replies", "right", "calls", "checks", "most", "tokens", "evaluated", "times"), rows)


def proofs_document(costs: Sequence[ProofCost]) -> list[Document]:
    """Return the total cost of each group's questions with each reasoner."""
    return [asdict(cost) for cost in costs]


def ask_table(cost: AskCost) -> Table:
    """Return the cost of a question that runs in its own process."""
    seconds = (cost.first_seconds, cost.seconds, cost.longest_seconds)
    row = [f"{cost.asked}", f"{cost.unknown}", *(f"{each:.1f}" for each in seconds)]
    columns = ("questions", "unknown", "first, s", "median, s", "longest, s", "memory, MB")
    return Table(columns, [[*row, f"{cost.peak_bytes / MEGABYTE:,.0f}"]])


def outside_table(costs: Sequence[OutsideCost]) -> Table:
    """Return the work of a question outside the model, with one column for each profile of prompts."""
    rows = {
        "calls of the model": [f"{each.model_calls}" for each in costs],
        "files": [f"{each.files}" for each in costs],
        "functions": [f"{each.functions}" for each in costs],
        "their calls": [f"{each.calls:,}" for each in costs],
        "calls with the libraries'": [f"{each.all_calls:,}" for each in costs],
        "starts of the database": [f"{each.starts}" for each in costs],
        "openings of the store": [f"{each.openings}" for each in costs],
        "readings": [f"{each.readings}" for each in costs],
        "rankings of the store": [f"{each.retrievals}" for each in costs],
        "scorings of relevance": [f"{each.scorings}" for each in costs],
        "facts built": [f"{each.facts}" for each in costs],
        "ms": [f"{each.milliseconds:.0f}" for each in costs],
    }
    rows |= {f"of it {name}, ms": [f"{each.stage_ms(name):.1f}" for each in costs] for name in _stages_of(costs)}
    columns = ("outside the model", *(f"{each.prompts} prompts" for each in costs))
    return Table(columns, [[row, *cells] for row, cells in rows.items()])


def _stages_of(costs: Sequence[OutsideCost]) -> list[str]:
    return list(
        dict.fromkeys(stage.name for each in costs for stage in each.stages if not stage.name.startswith(MODEL))
    )


def store_table(sizes: Sequence[SizeFigures], name: str = "store") -> Table:
    """Return the measurements of the memory `name`, with one column for each size."""
    rows = {
        "ingest, turns/s": [f"{each.ingest.turns_per_second:,.0f}" for each in sizes],
        "embedder, texts/s": [f"{each.texts_per_second:,.0f}" for each in sizes],
        "retrieval, ms": [f"{each.retrieval.whole_ms:.1f}" for each in sizes],
        "retrievals/s": [f"{each.retrieval.queries_per_second:.1f}" for each in sizes],
        "of it opening, ms": [f"{each.retrieval.opening_ms:.1f}" for each in sizes],
        "of it words, ms": [f"{each.retrieval.words_ms:.1f}" for each in sizes],
        "of it vectors, ms": [f"{each.retrieval.vectors_ms:.1f}" for each in sizes],
        "of it hits, ms": [f"{each.retrieval.hits_ms:.1f}" for each in sizes],
        "search from process start, s": [f"{each.search.seconds:.2f}" for each in sizes],
        "its memory, MB": [f"{each.search.peak_bytes / MEGABYTE:,.0f}" for each in sizes],
        "files, MB": [f"{each.search.file_bytes / MEGABYTE:,.0f}" for each in sizes],
    }
    columns = (name, *(f"{each.units:,}" for each in sizes))
    return Table(columns, [[row, *cells] for row, cells in rows.items()])


def store_document(figures: SizeFigures) -> Document:
    """Return the measurements at one size, with the rates."""
    return asdict(figures) | {
        "turns_per_second": figures.ingest.turns_per_second,
        "queries_per_second": figures.retrieval.queries_per_second,
    }


def _times(values: Iterable[float]) -> list[str]:
    """Return the first value divided by each other one, as text; "" for the first itself."""
    first, *others = values
    return ["", *(_time(first, other) for other in others)]


def _time(most: float, least: float) -> str:
    ratio = _ratio(most, least)
    return "" if ratio is None else f"{ratio:.1f}"


def _ratio(most: float, least: float) -> float | None:
    """Return `most / least`, or None if `least` is 0."""
    return most / least if least else None


def _mean(values: Iterable[float]) -> float:
    return statistics.fmean(values)
