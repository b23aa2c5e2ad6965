"""The page of the manual about the papers' tables, made from `tables.yaml` and `published.yaml`.

`python -m tests.lab.evaluation.tables_page` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from goalmem_cli.lab.cli.tables import figure_line, lines_of
from goalmem_cli.lab.evaluation.summaries.published import read_tables
from goalmem_cli.lab.evaluation.summaries.reproducing import listed, reproduced

PAGE = Path(__file__).parents[3] / "goalmem_cli" / "guide" / "tables.md"
HEAD = """# Make the tables of the papers

`goalmem eval tables` says which commands make each table of the papers of GOAL-MEM, REMem and STITCH, what they need,
and what still differs. The commands follow from the rows that `goalmem report --published` sets beside a run: each row
is measured with just the settings that it needs.

```sh
goalmem eval tables stitch --table 2
```

With `--run` the commands are run whose data `--data` names. A report has the paper's rows beside yours, and behind it
the table stands as the paper has it: every row and column, what was measured, the paper's figure in brackets, and why a
cell has nothing. Columns for a part of a benchmark are filled by a run of that part alone, over a file with that word
in its name, or else in its folder's: `small`, `medium`, `large` for CAME-Bench, `oracle`, `s`, `m` for LongMemEval, as
in `--data came=came/small`. Of rows that differ only in model or embedder the first is filled; the title says yours.

    goalmem eval tables remem --table 3 --run --data locomo=locomo10.json --model M --judge J --out remem-3
    goalmem report remem-3/table-3-* --html remem-3.html

The page has the papers' figures and ablations as charts: see the figures of each paper below. A run whose system
was told something of its own (`GOALMEM_BACKBONES`) stands as a variant beside one that was not.

Interrupted anywhere, the same command goes on. `--limit` asks fewer questions. The papers' recipes need a model with
full prompts (3B parameters or more). How many hours it takes is the tokens by your model's speed: `goalmem eval matrix
... --estimate` says both. None of the data comes with goalmem; of the models the papers' own are not needed.
"""


def page() -> str:
    """Return the page's text."""
    papers, (titles, _) = listed(), read_tables()
    parts = [HEAD]
    for paper, told in papers.papers.items():
        parts += [f"## {titles[paper].title}\n", f"Tokens: {told.tokens}. In all tables these differ:\n"]
        parts += ["\n".join(f"- {text}" for text in told.differs) + "\n"]
        cannot, items, made = list[str](), list[str](), dict[int, list[str]]()
        for each in reproduced(paper):
            name, *lines = [line for line in lines_of(each, papers.data) if line]
            own = [line for line in lines if not line.startswith(("tokens:", "models:", *shared(told.differs)))]
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
