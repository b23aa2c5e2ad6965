"""A report for the terminal, in tables that are split if the screen is too narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from goalmem_cli.lab.evaluation.summaries.summary import Summary
from goalmem_cli.lab.render.cells import Figures, Section
from goalmem_cli.lab.render.figures import sections
from goalmem_cli.render.text import plain, safe

_GAP = 2
_LEAST_KEY = 8


def report(summaries: Sequence[Summary], beside: Callable[[list[Section]], list[Section]] = list) -> RenderableType:
    """Return the report on the summaries, a section for each dataset; `beside` may add to the sections."""
    return Group(*(part for section in beside(sections(summaries)) for part in _section(section)))


def _section(section: Section) -> Iterator[RenderableType]:
    """Yield the title, tables and notes of a section."""
    yield plain(section.dataset, "bold underline")
    yield Text()
    for table in section.tables:
        yield SplitTable(table)
        yield Text()
    for note in section.notes:
        yield Text.assemble(("note: ", "dim"), safe(note))
    if section.notes:
        yield Text()


class SplitTable:
    """A table that is split into parts below one another if it is too wide; each part repeats the names of rows."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the table in the available width."""
        yield plain(self._figures.title, "bold")
        if self._figures.note:
            yield plain(self._figures.note, "dim")
        for first, last in self._parts(options.max_width):
            if first:
                yield Text()
            yield self._part(first, last)

    def _parts(self, width: int) -> Iterator[tuple[int, int]]:
        """Yield (first column, column after the last) of each part; a part has at least one column."""
        figures = self._figures
        taken = sum(
            _width([key, *(names[place] for names, _ in figures.rows)]) + _GAP for place, key in enumerate(figures.keys)
        )
        widths = [
            _width([*column.split("\n"), *(cells[place] for _, cells in figures.rows)]) + _GAP
            for place, column in enumerate(figures.columns)
        ]
        left = max(width - taken, *widths)
        first, used = 0, 0
        for place, needed in enumerate(widths):
            if place > first and used + needed > left + _GAP:
                yield first, place
                first, used = place, 0
            used += needed
        yield first, len(widths)

    def _part(self, first: int, last: int) -> Table:
        """Return the table with only the columns from `first` up to, but not including, `last`."""
        figures = self._figures
        table = Table(box=None, padding=(0, _GAP, 0, 0), header_style="bold", pad_edge=False)
        for key in figures.keys:
            table.add_column(plain(key), overflow="fold", vertical="top", min_width=min(_LEAST_KEY, len(key)))
        for column in figures.columns[first:last]:
            table.add_column(_heading(column), justify="right", no_wrap=True)
        for names, cells in figures.rows:
            table.add_row(*map(plain, names), *map(plain, cells[first:last]))
        return table


def _heading(column: str) -> Text:
    name, _, rest = column.partition("\n")
    return Text.assemble(safe(name), (f"\n{safe(rest)}", "dim") if rest else "")


def _width(texts: Sequence[str]) -> int:
    return max(plain(text).cell_len for text in texts)
