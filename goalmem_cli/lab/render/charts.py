"""Bar charts with intervals, in the units of an SVG picture; the page's template only draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval
from goalmem_cli.lab.evaluation.summaries.pairing import ablations, kind_of
from goalmem_cli.lab.evaluation.summaries.scores import OVER_ALL
from goalmem_cli.lab.evaluation.summaries.summary import LIMITS, PAIRED, SEARCH, USAGE, Row, Summary
from goalmem_cli.lab.render.cells import amount, difference, heading, share
from goalmem_cli.lab.render.figures import Member, in_words, names_of

WIDTH = 320
"""The width of a bar's drawing, in its own unit."""

_LEFT, _RIGHT = 4.0, WIDTH - 4.0
_SHARES = ("f1", "judge", "set_f1", "exact", "refused")
_BY_CATEGORY = ("judge", "set_f1", "f1", "recall@10")
_NICE = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)

Named = tuple[str, Interval]


@dataclass(frozen=True, slots=True)
class Bar:
    """One row's bar from the zero line: `start` and `end` of the bar, `low` and `high` of its interval, all in x."""

    label: str
    value: str
    start: float
    end: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """One metric's bars. `zero` is the x of the zero line; `ticks` are its scale's ends as (x, text)."""

    title: str
    bars: tuple[Bar, ...]
    zero: float
    ticks: tuple[tuple[float, str], ...]

    @property
    def description(self) -> str:
        """The chart in words, for readers who cannot see it."""
        return f"{self.title}: " + "; ".join(f"{bar.label} {bar.value}" for bar in self.bars)


@dataclass(frozen=True, slots=True)
class Charts:
    """Charts under one heading; they share a scale, unless they show amounts of different things."""

    title: str
    charts: tuple[Chart, ...]


def charts_of(summaries: Sequence[Summary]) -> list[Charts]:
    """Return the charts of one dataset's runs, without empty groups."""
    members = [(summary, row) for summary in summaries for row in summary.rows]
    labels = [in_words(name) for name in names_of(members)]
    depths = [f"@{k}" for k in sorted({k for _, row in members for k in row.recall})]
    groups = (
        Charts("Answers", _group(labels, members, _SHARES, lambda row: row.metrics, share)),
        Charts("Answers, over all questions", _group(labels, members, OVER_ALL, lambda row: row.metrics, share)),
        *_categories(labels, members),
        Charts("Evidence recall", _group(labels, members, depths, _recall, share)),
        Charts("Differences", _group(labels, members, PAIRED, lambda row: row.paired, difference)),
        *_ablations(labels, members),
        Charts("Cost of a question", _amounts(labels, members)),
        Charts("Realised search", _distributions(labels, members)),
        *_within(labels, members),
    )
    return [group for group in groups if group.charts]


def _group(
    labels: Sequence[str],
    members: Sequence[Member],
    names: Iterable[str],
    figures: Callable[[Row], Mapping[str, Interval]],
    written: Callable[[Interval], str],
) -> tuple[Chart, ...]:
    """Return a chart for each of the named metrics, all on one scale."""
    parts: dict[str, list[Named]] = {}
    for name in names:
        for label, (_, row) in zip(labels, members, strict=True):
            if figure := figures(row).get(name):
                parts.setdefault(heading(name), []).append((label, figure))
    return tuple(_charts(parts, written))


def _categories(labels: Sequence[str], members: Sequence[Member]) -> Iterator[Charts]:
    """Yield the charts by category, a group for each metric; a category is a chart with a bar for each row."""
    codes = {code: name for summary, _ in members for code, name in summary.categories.items()}
    for metric in _BY_CATEGORY:
        parts: dict[str, list[Named]] = {}
        for code, name in codes.items():
            for label, (_, row) in zip(labels, members, strict=True):
                category = row.by_category.get(code)
                if category is not None and metric in category.metrics:
                    parts.setdefault(name, []).append((label, category.metrics[metric]))
        if parts:
            yield Charts(f"{heading(metric)} by category", tuple(_charts(parts, share)))


def _ablations(labels: Sequence[str], members: Sequence[Member]) -> Iterator[Charts]:
    """Yield the charts of how variants differ from their whole system."""
    for whole, apart in ablations(members).items():
        parts: dict[str, list[Named]] = {}
        for name in PAIRED:
            for at, figures in apart.items():
                if name in figures:
                    parts.setdefault(heading(name), []).append((labels[at], figures[name]))
        title = f"{kind_of(members[at] for at in apart)} of {labels[whole]}"
        yield Charts(title, tuple(_charts(parts, difference)))


def _within(labels: Sequence[str], members: Sequence[Member]) -> Iterator[Charts]:
    """Yield the charts of right answers by the limit of depth or breadth."""
    for name in LIMITS:
        rows = zip(labels, members, strict=True)
        parts = {
            label: [(f"{name} {limit}", figure) for limit, figure in row.within[name].items()]
            for label, (_, row) in rows
            if name in row.within
        }
        yield Charts(f"Right within {name}", tuple(_charts(parts, share)))


def _recall(row: Row) -> Mapping[str, Interval]:
    return {f"@{k}": figure for k, figure in row.recall.items()}


def _amounts(labels: Sequence[str], members: Sequence[Member]) -> tuple[Chart, ...]:
    return tuple(chart for name in USAGE for chart in _group(labels, members, (name,), lambda row: row.usage, amount))


def _distributions(labels: Sequence[str], members: Sequence[Member]) -> tuple[Chart, ...]:
    """Return a chart for each row and each of breadth, depth and subgoals: the share of questions by value."""
    charts = []
    for name in SEARCH:
        for label, (_, row) in zip(labels, members, strict=True):
            if counts := row.distributions.get(name):
                total = sum(counts.values())
                bars = tuple(
                    Bar(str(value), f"{count} ({count / total:.0%})", _LEFT, _LEFT + (_RIGHT - _LEFT) * count / total)
                    for value, count in counts.items()
                )
                charts.append(Chart(f"{heading(name)}, {label}", bars, _LEFT, ((_LEFT, "0"), (_RIGHT, "100%"))))
    return tuple(charts)


def _charts(parts: Mapping[str, Sequence[Named]], written: Callable[[Interval], str]) -> Iterator[Chart]:
    """Yield a chart for each title with its bars, all on the scale of the largest and smallest bounds."""
    everything = [figure for bars in parts.values() for _, figure in bars]
    if not everything:
        return
    most = _rounded_up(max(figure.high for figure in everything))
    least = 0.0 - _rounded_up(-min(figure.low for figure in everything))
    scale = (_RIGHT - _LEFT) / ((most - least) or 1.0)

    def x(value: float) -> float:
        return round(_LEFT + (value - least) * scale, 2)

    ticks = tuple((x(value), f"{value:g}") for value in dict.fromkeys((least, 0.0, most)))
    for title, bars in parts.items():
        yield Chart(
            title,
            tuple(
                Bar(
                    label, written(figure), x(min(0.0, figure.mean)), x(max(0.0, figure.mean)),
                    x(figure.low), x(figure.high),
                )
                for label, figure in bars
            ),
            x(0.0),
            ticks,
        )  # fmt: skip


def _rounded_up(value: float) -> float:
    """Return the next round number that is not below the value; 0 for a negative value."""
    if value <= 0:
        return 0.0
    power = 1.0
    while value > 10 * power:
        power *= 10
    while value <= power and power > 1e-6:
        power /= 10
    return round(next(step * power for step in _NICE if step * power >= value * (1 - 1e-9)), 9)
