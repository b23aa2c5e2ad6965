"""Building blocks of every trace tree: labelled lines and facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rich.text import Text
from rich.tree import Tree

from goalmem_cli.records import Usage
from goalmem_cli.render.text import change_line, counted, labels_of, later_line, safe, shortened, told_by, when
from goalmem_cli.trace import Fact


@dataclass(frozen=True, slots=True)
class Detail:
    """How much to show: `text_length` characters of a fact (None: all), and `every_fact` or only relevant ones."""

    text_length: int | None = 240
    every_fact: bool = False


FULL = Detail(text_length=None, every_fact=True)
BRIEF = Detail()


def labelled(label: str, text: str, style: str = "dim") -> Text:
    """Return a line with a label before external text."""
    return Text.assemble((f"{safe(label)}: ", style), safe(text))


def add_facts(node: Tree, numbers: Iterable[str], facts: Mapping[str, Fact], detail: Detail) -> None:
    """Add each fact, and one line with the numbers that match no fact."""
    numbers = list(numbers)
    for number in numbers:
        if number in facts:
            node.add(_fact(facts[number], detail))
    missing = [number for number in numbers if number not in facts]
    if missing:
        node.add(labelled("facts", " ".join(missing)))


def heading(name: str, counts: Iterable[str]) -> Text:
    """Return the heading of an action: its name and its non-empty counts."""
    told = ", ".join(count for count in counts if count)
    return Text.assemble((safe(name), "bold"), (f"  {told}" if told else "", "dim"))


def cost(usage: Usage) -> str:
    """Return the cost of one step, or "" if it made no model call."""
    return f"{counted(usage.calls, 'call')}, {usage.seconds:.1f} s" if usage.calls else ""


def _fact(fact: Fact, detail: Detail) -> Text:
    """Return a fact's lines: number, speaker, time, place, text, and what changed it."""
    place = f"{safe(fact.conversation)} {labels_of(fact.turns)}".strip()
    by = fact.quoted_by or fact.forwarded_by
    passed_on = f"{'quoted' if fact.quoted_by else 'forwarded'} by {safe(by)}, " if by else ""
    line = Text.assemble(
        (f"{safe(fact.number)} ", "bold"), told_by(fact.speaker), (f"{passed_on}{when(fact.said)}, {place}\n", "dim"),
        shortened(fact.text, detail.text_length), (f" [{safe('; '.join(fact.times))}]" if fact.times else "", "dim"),
        (f" [in place of: {safe('; '.join(fact.instead))}]" if fact.instead else "", "dim"),
    )  # fmt: skip
    if (later := fact.moved_on) is not None:
        line = Text("\n").join([line, later_line(later.speaker, later.said, later.turns, later.text, later.number)])
    elif fact.change:
        line = Text("\n").join([line, change_line(fact.change)])
    return line
