"""Summaries as one JSON document, and as CSV rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from goalmem_cli.json_records import plain
from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval
from goalmem_cli.lab.evaluation.summaries.summary import Judged, Row, Summary

if TYPE_CHECKING:  # importing it loads YAML and every reader
    from goalmem_cli.lab.evaluation.summaries.published import Reported

SCHEMA_VERSION = 1
COLUMNS = ("dataset", "reasoner", "backbone", "queries", "model", "category", "metric", "mean", "low", "high", "n")
OVERALL = "all"

_DIGITS = 6
_TOKENS = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def document(summaries: Sequence[Summary], reported: Sequence[Reported] | None = None) -> dict[str, object]:
    """Return the JSON document of `eval --json` and `report --json`, with an entry for every row.

    Published figures come in a separate list, if wanted.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "runs": [_entry(summary, row) for summary in summaries for row in summary.rows],
        **({} if reported is None else {"published": [plain(one) | {"is_measured": False} for one in reported]}),
    }


def rows_csv(summaries: Sequence[Summary], reported: Sequence[Reported] = ()) -> str:
    """Return the summaries as CSV, one figure per line; texts that a spreadsheet would run as formulas are quoted.

    Published figures have paper and table as dataset, and no interval.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for summary in summaries:
        for row in summary.rows:
            named = (summary.manifest.dataset, row.reasoner, row.backbone, row.queries, summary.manifest.model)
            for category, metric, figure in _figures(summary, row):
                texts = (*named, category, metric)
                writer.writerow([*map(harmless, texts), *_numbers(figure), figure.n])
    for one in reported:
        named = (f"reported: {one.source}", one.method, one.backbone or "", "", one.model)
        writer.writerow([*map(harmless, (*named, one.category or OVERALL, one.metric)), one.value, "", "", ""])
    return file.getvalue()


def harmless(text: str) -> str:
    """Return a cell's text so that no spreadsheet takes it for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _entry(summary: Summary, row: Row) -> dict[str, object]:
    """Return the JSON of a row: counts, means with bounds, and the settings of its run."""
    manifest = summary.manifest
    return {
        "dataset": manifest.dataset,
        **{name: getattr(row, name) for name in ("reasoner", "backbone", "n")},
        "model": manifest.model,
        "metrics": _with_bounds(row.metrics),
        "by_category": {
            code: {"name": category.name, "n": category.n, "metrics": _with_bounds(category.metrics)}
            for code, category in row.by_category.items()
        },
        "by_part": {
            title: {name: {"n": part.n, "metrics": _with_bounds(part.metrics)} for name, part in parts.items()}
            for title, parts in row.by_part.items()
        },
        "retrieval": {"recall": _with_bounds({str(k): each for k, each in row.recall.items()})},
        "refusal": plain(row.refusal) if row.refusal is not None else {},
        "usage": _with_bounds(row.usage),
        "indexing": {name: getattr(row.indexing, name) for name in (*_TOKENS, "seconds")},
        **({} if row.grown is None else {"graph": {**plain(row.grown), "degrees": row.grown.counts.degrees}}),
        **({"labels": plain(row.labels)} if row.labels else {}),
        **({"faults": _with_bounds(row.faults)} if row.faults else {}),
        "queries": row.queries or None,
        **{name: getattr(row, name) for name in ("without_queries", "unplanned", "unfinished", "failed", "unranked")},
        **_with_bounds({} if row.left_out is None else {"left_out": row.left_out}),
        "distributions": {
            name: {str(value): count for value, count in counts.items()} for name, counts in row.distributions.items()
        },
        "within": {name: _with_bounds({str(k): each for k, each in row.within[name].items()}) for name in row.within},
        "errors": dict(row.errors),
        "reasoning": {**_with_bounds(row.reasoning), "support": dict(row.support)} if row.reasoning else {},
        "judges": [_judged(judged) for judged in row.judged],
        "paired": {"baseline": summary.baseline, "differences": _with_bounds(row.paired)} if row.paired else {},
        **{name: plain(getattr(manifest, name)) for name in ("repairs", "settings", "version")},
    }


def _figures(summary: Summary, row: Row) -> Iterator[tuple[str, str, Interval]]:
    """Yield every figure of a row that has an interval, with its category and name."""
    recall = {f"recall@{k}": each for k, each in row.recall.items()}
    built = row.indexing.prompt_tokens + row.indexing.completion_tokens
    indexing = {"indexing tokens a question": _exactly(built / summary.cases, summary.cases)} if built else {}
    differences = {f"{name} minus {summary.baseline}": each for name, each in row.paired.items()}
    left_out = {} if row.left_out is None else {"left_out": row.left_out}
    judges = {f"judge {each.judge} {each.prompt}": each.accuracy for each in row.judged if each.accuracy is not None}
    for part in (row.metrics, recall, left_out, row.usage, indexing, row.reasoning, judges, differences):
        yield from ((OVERALL, name, each) for name, each in part.items())
    for category in row.by_category.values():
        yield from ((category.name, name, each) for name, each in category.metrics.items())
    for title, parts in row.by_part.items():
        for named, own in parts.items():
            yield from ((f"{title}: {named}", name, each) for name, each in own.metrics.items())


def _exactly(value: float, n: int) -> Interval:
    return Interval(value, value, value, n)


def _with_bounds(intervals: Mapping[str, Interval]) -> dict[str, object]:
    return {
        name: {**dict(zip(("mean", "low", "high"), _numbers(each), strict=True)), "n": each.n}
        for name, each in intervals.items()
    }


def _numbers(figure: Interval) -> Iterable[float]:
    return [round(number, _DIGITS) for number in (figure.mean, figure.low, figure.high)]


def _judged(judged: Judged) -> dict[str, object]:
    """Return the JSON of one judge's verdicts on a row."""
    accuracy = {} if judged.accuracy is None else {"accuracy": judged.accuracy}
    return {
        **{name: getattr(judged, name) for name in ("judge", "prompt", "verdicts", "unscored", "is_self_judged")},
        **_with_bounds(accuracy),
        "usage": {name: getattr(judged.usage, name) for name in _TOKENS},
    }
