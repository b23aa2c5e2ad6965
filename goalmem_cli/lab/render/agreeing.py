"""Tables of the agreement between judges, and between judges and marks made by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from goalmem_cli.lab.evaluation.metrics.agreement import Agreement
from goalmem_cli.lab.evaluation.summaries.agreeing import Compared, Marks
from goalmem_cli.lab.render.cells import Figures, difference, share
from goalmem_cli.lab.render.report import SplitTable
from goalmem_cli.render.text import counted, plain, safe

MOST_SHOWN = 20
_COLUMNS = ("agreement", "kappa", "answers", "both right", "right for\nfirst", "right for\nsecond", "both wrong")
_UNDEFINED = "kappa is undefined where both give one and the same mark to every answer"


def agreements(pairs: Sequence[Compared]) -> RenderableType:
    """Return a section for each pair of raters: figures, answers that they mark differently, and what is left out."""
    return Group(*(part for pair in pairs for part in _section(pair)))


def _section(pair: Compared) -> Iterator[RenderableType]:
    """Yield the title, tables and notes of one pair of raters."""
    yield plain(f"{pair.first.name} (first) and {pair.second.name} (second)", "bold underline")
    yield Text()
    rows = [(("all", ""), _cells(pair.overall))]
    if len(pair.rows) > 1:
        rows += [(key, _cells(each)) for key, each in pair.rows.items()]
    yield SplitTable(Figures("Agreement", ("reasoner", "backbone"), _COLUMNS, tuple(rows)))
    yield Text()
    if pair.differing:
        yield SplitTable(_differing(pair))
        yield Text()
    notes = [*_notes(pair.first, pair.first_alone), *_notes(pair.second, pair.second_alone)]
    if pair.other_answers:
        notes.append(f"{counted(pair.other_answers, 'answer')} left out: the two runs answer differently")
    if pair.overall.n and pair.overall.kappa is None:
        notes.append(_UNDEFINED)
    for note in notes:
        yield Text.assemble(("note: ", "dim"), safe(note))
    if notes:
        yield Text()


def _cells(found: Agreement) -> tuple[str, ...]:
    counts = (found.n, found.both_right, found.first_alone, found.second_alone, found.both_wrong)
    equal = "" if found.equal is None else share(found.equal)
    kappa = "undefined" if found.kappa is None else difference(found.kappa)
    return (equal, kappa, *map(str, counts))


def _differing(pair: Compared) -> Figures:
    """Return the table of the answers that both raters mark differently, at most `MOST_SHOWN`."""
    rows = tuple(
        (key, ("right", "wrong") if is_right else ("wrong", "right")) for key, is_right in pair.differing.items()
    )
    rest = len(rows) - MOST_SHOWN
    note = f"and {counted(rest, 'answer')} more: --json has all" if rest > 0 else ""
    keys = ("question", "reasoner", "backbone")
    return Figures("Marked differently", keys, ("first", "second"), rows[:MOST_SHOWN], note)


def _notes(marks: Marks, alone: int) -> Iterator[str]:
    """Yield which of a rater's answers are not compared, and why."""
    if alone:
        yield f"{marks.name}: {counted(alone, 'answer')} that the other has not marked"
    if marks.refusals:
        yield f"{marks.name}: {counted(marks.refusals, 'refusal')} left out, which no model was asked about"
    if marks.unread:
        yield f"{marks.name}: {counted(marks.unread, 'answer')} without a verdict that could be read"
    if marks.split:
        yield f"{marks.name}: {counted(marks.split, 'answer')} called right as often as wrong"
