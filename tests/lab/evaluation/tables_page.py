"""The page of the manual about the papers' tables, made from `tables.yaml` and `published.yaml` behind its head.

`python -m tests.lab.evaluation.tables_page` writes it anew.
"""

from pathlib import Path

from goalmem_cli.lab.cli.tables import figure_line, lines_of
from goalmem_cli.lab.evaluation.summaries.published import read_tables
from goalmem_cli.lab.evaluation.summaries.reproducing import listed, reproduced

PAGE = Path(__file__).parents[3] / "goalmem_cli" / "guide" / "tables.md"


def page() -> str:
    """Return the page's text."""
    papers, (titles, _) = listed(), read_tables()
    parts = [PAGE.read_text("utf-8").partition("\n## ")[0]]  # what stands before the first paper is written by hand
    for paper, told in papers.papers.items():
        parts += [
            f"## {titles[paper].title}\n",
            f"Hours: {told.hours}. Tokens: {told.tokens}. In all tables these differ:\n",
        ]
        parts += ["\n".join(f"- {text}" for text in told.differs) + "\n"]
        cannot, items, made = list[str](), list[str](), dict[int, list[str]]()
        for each in reproduced(paper):
            name, *lines = [line for line in lines_of(each, papers.data) if line]
            own = [
                line for line in lines if not line.startswith(("hours:", "tokens:", "models:", *shared(told.differs)))
            ]
            said = "; ".join(line for line in own if not line.startswith("    "))
            commands = [line for line in own if line.startswith("    ")]
            called = f"Table {name.partition(', table ')[2]}"
            of = next((number for number, known in made.items() if {*commands} <= {*known}), None)
            if commands and of is not None:
                items.append(
                    f"- **{called}** ({'; '.join(filter(None, (said, f'commands: among those of table {of}')))})"
                )
            elif commands:
                parts += [f"**{called}**{f' ({said})' if said else ''}", "", *commands, ""]
                made[each.listed.table] = commands
            else:
                cannot.append(f"{called} ({said.removeprefix('cannot be made: ')})")
        figures = [one for one in papers.figures if one.paper == paper]
        cannot += [f"Figure {one.figure}: {one.what} ({one.missing})" for one in figures if one.missing]
        for line in (figure_line(one).partition(", figure ")[2] for one in figures if not one.missing):
            items.append("- **Figure {}** ({}".format(*line.split(" (", 1)))
        parts += ["\n".join(items), ""]
        parts += [f"These cannot be made: {'; '.join(cannot)}.", ""] if cannot else []
    return "\n".join(parts).rstrip("\n") + "\n"


def shared(differs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines that hold for all tables."""
    return tuple(f"differs: {text}" for text in differs)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
