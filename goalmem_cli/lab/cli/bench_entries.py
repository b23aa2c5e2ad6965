"""`goalmem bench entries`: how the backbone `remem` dates what it is told, held to gold plans."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import begin

if TYPE_CHECKING:
    from goalmem_cli.lab.evaluation.metrics.entry_times import DatedEntry, EntryTimes

SCHEMA_VERSION = 1


def entries(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Conversations with questions and plans, in LoCoMo's form.")
    ],
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Print how often `remem` gives a gold statement its gold date.

    Each statement of the plans is taken for an entry of the turns that ground it, once without a time of the model's,
    once with the gold date. --verbose shows those that get another. Neither model nor store is needed.
    """
    from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
    from goalmem_cli.lab.evaluation.metrics.entry_times import Outcome, Way, entry_times
    from goalmem_cli.transcripts import read_file

    run = begin(context, quiet=quiet, verbose=verbose)
    dataset = read_dataset(files, "locomo")
    table = entry_times(dataset.cases, [talk for file in files for talk in read_file(file, "locomo")])
    for entry in table.entries:
        if entry.outcomes[Way.BLANK] is Outcome.OTHER or entry.outcomes[Way.GOLD] is not Outcome.RIGHT:
            for line in _lines(entry):
                run.screen.detail(line)
    if json:
        run.screen.document(_document(table))
        return 0
    from goalmem_cli.render.tables import plain_table

    counts = {way: table.count(way) for way in Way}
    rows = [(outcome.value, *(counts[way][outcome] for way in Way)) for outcome in Outcome]
    ways = tuple(f"the model says {way}" for way in Way)
    run.screen.show(plain_table(("date of the entry", *ways), rows, numbers=ways))
    run.screen.note(
        f"{len(table.entries)} statements with a gold date; of {table.others} others {table.others_dated} are dated"
    )
    return 0


def _lines(entry: DatedEntry) -> list[str]:
    times = "; ".join(f"{way}: {event.text or 'none'}" for way, event in entry.events.items())
    said = [f"    {turn.label}, {turn.said or 'time unknown'}: {turn.text}" for turn in entry.turns]
    return [f"{entry.conversation}: {entry.told} ({entry.gold}; {times})", *said]


def _document(table: EntryTimes) -> dict[str, object]:
    from goalmem_cli.lab.evaluation.metrics.entry_times import Way

    return {
        "schema_version": SCHEMA_VERSION,
        "dated": len(table.entries),
        "outcomes": {way.value: {each.value: number for each, number in table.count(way).items()} for way in Way},
        "others": table.others,
        "others_dated": table.others_dated,
    }
