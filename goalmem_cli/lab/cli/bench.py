"""`goalmem bench`: measure parts of goalmem on questions with known evidence or on generated turns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.cli.invocation import begin
from goalmem_cli.lab.cli import (
    bench_came,
    bench_changes,
    bench_goals,
    bench_size,
    bench_speed,
    bench_structures,
    bench_sums,
    bench_tot,
    retired,
)

if TYPE_CHECKING:
    from goalmem_cli.lab.evaluation.metrics.date_coverage import DatedCase, TimesTable

SCHEMA_VERSION = 1

group = typer.Typer(
    help="Measure the reading of dates, calculations, and speed.",
    context_settings=CONTEXT,
    epilog=examples("goalmem bench times sample_convos/momoco.json", guide="measuring"),
)


@group.callback()
def _group() -> None:
    """Keep the group a group while it has one command."""


def register(app: typer.Typer) -> None:
    """Add the group to the app."""
    app.add_typer(group, name="bench")


@group.command("times", epilog=examples("goalmem bench times sample_convos/momoco.json --verbose", guide="measuring"))
def times(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Conversations with questions, in LoCoMo's form.")],
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Print how often the evidence's dates hold the answer.

    Counted are the questions of category 2 whose answer holds a date; --verbose shows those whose evidence misses it.
    Neither model nor store is needed.
    """
    from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
    from goalmem_cli.lab.evaluation.metrics.date_coverage import times_table
    from goalmem_cli.transcripts import read_file

    run = begin(context, quiet=quiet, verbose=verbose)
    dataset = read_dataset([file], "locomo")
    for repair, times_repaired in dataset.repairs.items():
        run.screen.note(f"{file}: {times_repaired} {repair}")
    table = times_table(dataset.cases, read_file(file, "locomo"))
    for case in table.cases:
        for line in () if case.is_found else _missed(case):
            run.screen.detail(line)
    if json:
        run.screen.document(_times_document(table))
        return 0
    from goalmem_cli.render.tables import plain_table

    found = f"{len(table.found)} ({table.share:.1%})"
    rows = [
        ("temporal questions", table.temporal),
        ("whose answer holds a date", len(table.cases)),
        ("and whose evidence has a relative expression", len(table.relative)),
        ("and whose annotated evidence contains the date", found),
    ]
    run.screen.show(plain_table(("questions", "number"), rows, numbers=("number",)))
    return 0


group.command(
    "speed",
    epilog=examples("goalmem bench speed --only calls,batch", "goalmem bench speed --units 1000", guide="measuring"),
)(bench_speed.speed)
group.command("size", epilog=examples("goalmem bench size --only whatsapp,telegram --turns 100000", guide="measuring"))(
    bench_size.size
)
group.command(
    "came",
    epilog=examples("goalmem bench came made-up --domain debate --turns 1000 --trajectories 2", guide="measuring"),
)(bench_came.came)
group.command(
    "tot", epilog=examples("goalmem bench tot made-up --questions 40 --algorithms er,star --replay", guide="measuring")
)(bench_tot.tot)
group.command("changes", epilog=examples("goalmem bench changes --facts 200 --wrong 0,0.1", guide="measuring"))(
    bench_changes.changes
)
group.command("goals", epilog=examples("goalmem bench goals --goals 40 --steps 4", guide="measuring"))(
    bench_goals.goals
)
group.command("sums", epilog=examples("goalmem bench sums made-up --turns 400 --replay", guide="measuring"))(
    bench_sums.sums
)


def _missed(case: DatedCase) -> list[str]:
    told = [
        f"    {turn.label}, {turn.said or 'time unknown'}: {turn.text} [{'; '.join(turn.lines())}]"
        for turn in case.evidence
    ]
    return [f"{case.case.conversation}: {case.case.question}", f"  {case.case.answer}", *told]


def _times_document(table: TimesTable) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "temporal": table.temporal,
        "dated": len(table.cases),
        "relative": len(table.relative),
        "found": len(table.found),
        "share": table.share,
        "cases": [
            {
                "conversation": case.case.conversation,
                "question": case.case.question,
                "answer": case.case.answer,
                "is_relative": case.is_relative,
                "is_found": case.is_found,
                "evidence": [
                    {
                        "turn": turn.label,
                        "said": turn.said.isoformat() if turn.said is not None else None,
                        "text": turn.text,
                        "annotations": list(turn.lines()),
                    }
                    for turn in case.evidence
                ],
            }
            for case in table.cases
        ],
    }


group.command(
    "structures",
    epilog=examples("goalmem bench structures made-up/travel-300-0-0 --backbone hipporag", guide="measuring"),
)(bench_structures.structures)
retired.register(group)
