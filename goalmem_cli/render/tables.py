"""Tables of hits, stores, models, prompts and traces that fit 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from goalmem_cli.records import Hit, Unit
from goalmem_cli.render.text import as_it_is, change_line, labels_of, later_line, plain, safe, told_by, when
from goalmem_cli.stages import Exchange, Stage

_SHOWN_OF_ID = 12


def hits_table(hits: Sequence[Hit], *, is_explained: bool = False) -> RenderableType:
    """Return the hits, best first: speaker, time and place, then the text; with `is_explained`, also its ranks."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(justify="right", style="dim", no_wrap=True)
    rows.add_column()
    for number, hit in enumerate(hits, start=1):
        rows.add_row(str(number), Group(*_hit_lines(hit, is_explained)))
    return rows


def hits_document(hits: Sequence[Hit]) -> list[dict[str, object]]:
    """Return the hits as JSON data for `search --json`."""
    return [
        {
            "unit": hit.unit.id,
            "turns": list(hit.unit.labels),
            "conversation": hit.unit.conversation,
            "speaker": hit.unit.speaker,
            "said": hit.unit.said.isoformat() if hit.unit.said is not None else None,
            "text": hit.unit.text,
            "attributes": dict(hit.unit.attributes),
            "score": hit.score,
            "ranks": dict(hit.ranks),
            "change": hit.change or None,
            "later": _later_document(hit.moved_on) if hit.moved_on is not None else None,
        }
        for hit in hits
    ]


def _later_document(unit: Unit) -> dict[str, object]:
    """Return the JSON of a later turn that changes what a hit says."""
    return {
        "unit": unit.id,
        "turns": list(unit.labels),
        "conversation": unit.conversation,
        "speaker": unit.author,
        "said": unit.said.isoformat() if unit.said is not None else None,
        "text": unit.text,
    }


def stages_table(stages: Iterable[Stage]) -> Table:
    """Return a table of the question's stages: how often each ran, and its seconds."""
    rows = [(each.name, each.times, f"{each.seconds:.2f}") for each in stages]
    return plain_table(("stage", "times", "seconds"), rows, numbers=("times", "seconds"))


def exchanges_text(exchanges: Iterable[Exchange]) -> str:
    """Return each prompt with its reply as text, with a heading per exchange and per message."""
    told = []
    for number, each in enumerate(exchanges, start=1):
        read = f"{each.prompt_tokens:,} prompt tokens ({each.cached_tokens:,} cached)"
        parts = [f"=== {number}. {safe(each.step)}: {read}, {each.completion_tokens:,} written"]
        parts += [
            f"--- {safe(role)}\n{as_it_is(text.rstrip())}" for role, text in (*each.messages, ("reply", each.reply))
        ]
        told.append("\n".join(parts))
    return "\n\n".join(told)


def plain_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Iterable[str] = (), whole: Iterable[str] = ()
) -> Table:
    """Return a table of text cells; `numbers` columns are right-aligned, `whole` columns never wrap."""
    right, unbroken = set(numbers), set(whole)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in right else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column in unbroken | right)
    for row in rows:
        table.add_row(*(plain("" if cell is None else str(cell)) for cell in row))
    return table


def pairs(content: Mapping[str, object]) -> Table:
    """Return a mapping as a table of two columns."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in content.items():
        table.add_row(plain(key), plain("" if value is None else str(value)))
    return table


def _hit_lines(hit: Hit, is_explained: bool) -> Iterable[Text]:
    """Yield a hit's lines: speaker, time, place, text, later turn and, if wanted, ranks."""
    unit = hit.unit
    labels = labels_of(unit.labels)
    kind = f", {safe(unit.kind)}" if unit.kind != "turn" else ""
    place = f"{safe(unit.conversation)} {labels}".strip()
    yield Text.assemble((told_by(unit.speaker), "bold"), (f"{when(unit.said)}, {place}{kind}", "dim"))
    yield plain(unit.text)
    if (later := hit.moved_on) is not None:
        yield later_line(later.author, later.said, later.labels, later.text)
    elif hit.change:
        yield change_line(hit.change)
    if is_explained:
        ranks = ", ".join(f"{safe(name)} {rank}" for name, rank in hit.ranks.items())
        yield Text(f"score {hit.score:.4f}; ranks: {ranks or 'none'}; unit {unit.id[:_SHOWN_OF_ID]}", style="cyan")
