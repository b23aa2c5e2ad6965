"""`goalmem bench`: measures parts of goalmem, on questions with known evidence or on made-up turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.lab.cli import (
    bench_came,
    bench_changes,
    bench_size,
    bench_speed,
    bench_structures,
    bench_sums,
    bench_tot,
    retired,
)

if TYPE_CHECKING:
    from goalmem_cli.lab.evaluation.cases import Dataset
    from goalmem_cli.lab.evaluation.metrics.date_coverage import DatedCase, TimesTable
    from goalmem_cli.lab.evaluation.metrics.recall import Asking, RecallTable, TimedRow, TimedTable
    from goalmem_cli.lab.evaluation.metrics.showing import ShownRow
    from goalmem_cli.memory_ports import KeptMemory

SCHEMA_VERSION = 1
SHOWN = ("evidence", "facts", "tokens")

group = typer.Typer(
    help="Measure retrieval, the reading of dates, and speed.",
    context_settings=CONTEXT,
    epilog=examples(
        "goalmem bench retrieval sample_convos/momoco.json",
        "goalmem bench times sample_convos/momoco.json",
        guide="measuring",
    ),
)


@group.callback()
def _group() -> None:
    """Keep the group a group while it has one command."""


def register(app: typer.Typer) -> None:
    """Add the group to the app."""
    app.add_typer(group, name="bench")


@group.command(
    "retrieval", epilog=examples("goalmem bench retrieval sample_convos/momoco.json --by-category", guide="measuring")
)
def retrieval(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Conversations with questions, in LoCoMo's form.")
    ],
    scope: Annotated[
        Literal["conversation", "domain"], typer.Option("--scope", help="What a question sees.")
    ] = "conversation",
    embedder: options.Embedder = None,
    by_category: Annotated[bool, typer.Option("--by-category", help="Show each category of question too.")] = False,
    milvus: options.OwnMilvus = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print each ranking's share of the evidence among the first k.

    No model is asked, and the store is one of its own. A second table is of the questions that name a time: without the
    ranking by times, and with it. A third has, for 60 units shown to a model, the evidence among them and their tokens.
    """
    from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
    from goalmem_cli.lab.evaluation.metrics.recall import Asking, retrieval_table, timed_table
    from goalmem_cli.transcripts import read_file
    from goalmem_cli.wiring import open_store

    dataset = read_dataset(files, "locomo")
    conversations = [talk for file in files for talk in read_file(file, "locomo")]
    asking = Asking.of(dataset.cases, conversations, by_domain=scope == "domain")
    with TemporaryDirectory(prefix="goalmem-bench-") as folder:
        run = begin(context, quiet=quiet, store=folder, embedder=embedder)
        _say_repairs(run, files, dataset)
        with run.over_milvus(Path(folder), is_wanted=milvus) as over:
            memory = open_store(over.settings, run.factories, run.screen.note)
            with run.screen.progress(len(conversations)) as begun:
                memory.add_all(conversations, report=lambda added: begun(added.conversation))
            run.screen.detail(f"{len(dataset.cases)} questions")
            table = retrieval_table(memory, dataset.cases, asking=asking)
            timed = timed_table(memory, dataset.cases, asking=asking)
            shown = _shown(run, memory, dataset, asking)
    if json:
        run.screen.document({**_document(table, timed), "shown": [asdict(row) for row in shown]})
        return 0
    from goalmem_cli.render.tables import plain_table

    depths = [f"@{depth}" for depth in table.depths]
    run.screen.show(
        plain_table(("ranking", *depths), _rows(table, dataset.categories if by_category else {}), numbers=depths)
    )
    run.screen.note(
        f"mean over {table.questions} questions with {table.evidence} evidence turns; "
        f"{table.left_out} questions left out (adversarial, or without evidence)"
    )
    if timed is not None:
        run.screen.show(plain_table(("naming a time", *depths), _timed_rows(timed), numbers=depths))
        run.screen.note(f"mean over the {timed.questions} questions that name a time")
    if shown:
        rows = [(row.form, f"{row.recall:.3f}", f"{row.facts:.1f}", f"{row.tokens:,.0f}") for row in shown]
        run.screen.show(plain_table(("60 units shown as", *SHOWN), rows, numbers=SHOWN))
    return 0


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
    _say_repairs(run, [file], dataset)
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
group.command("sums", epilog=examples("goalmem bench sums made-up --turns 400 --replay", guide="measuring"))(
    bench_sums.sums
)


def _shown(run: Invocation, memory: KeptMemory, dataset: Dataset, asking: Asking) -> list[ShownRow]:
    """Return what the facts of a first retrieval cost to read, in tokens of the smallest bundled model, if there."""
    from goalmem_cli.backbones.flat import FlatBackbone
    from goalmem_cli.errors import ModelMissing
    from goalmem_cli.lab.evaluation.metrics.showing import shown_table
    from goalmem_cli.models.bundled import SMOLLM2
    from goalmem_cli.models.catalogue import resolve

    try:
        path = resolve(SMOLLM2.name).path
    except ModelMissing as missing:
        run.screen.note(f"what facts cost to read is not counted: {missing.message}")
        return []
    from goalmem_cli.models.in_process.prompt_tokens import PromptTokens

    with closing(PromptTokens(path)) as tokens:
        return shown_table(FlatBackbone(memory), dataset.cases, tokens.count, asking)


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


def _say_repairs(run: Invocation, files: Sequence[Path], dataset: Dataset) -> None:
    place = str(files[0]) if len(files) == 1 else f"{len(files)} files"
    for repair, times in dataset.repairs.items():
        run.screen.note(f"{place}: {times} {repair}")


def _rows(table: RecallTable, split: Mapping[str, str]) -> list[list[str]]:
    """Return the table's rows, each followed by one for every category that is to be shown, by its name."""
    rows = []
    for row in table.rows:
        rows.append([row.ranking, *_shares(row.mean)])
        rows += [
            [f"  {split[category]}", *_shares(shares)]
            for category, shares in row.by_category.items()
            if category in split
        ]
    return rows


def _shares(shares: Sequence[float]) -> list[str]:
    return [f"{share:.3f}" for share in shares]


def _timed_rows(table: TimedTable) -> list[list[str]]:
    """Return two rows for each ranking, and for each gain: the means, and their intervals."""
    rows = []
    for name, row in (
        *((row.ranking, row) for row in table.rows),
        *((f"gain, {row.ranking}", row) for row in table.gains),
    ):
        rows.append([name, *(f"{share.mean:.3f}" for share in row.shares)])
        rows.append(["  95% interval", *(f"{share.low:.2f} to {share.high:.2f}" for share in row.shares)])
    return rows


def _timed_document(table: TimedTable) -> dict[str, object]:
    def written(rows: Sequence[TimedRow]) -> list[dict[str, object]]:
        return [
            {
                "ranking": row.ranking,
                "mean": [share.mean for share in row.shares],
                "low": [share.low for share in row.shares],
                "high": [share.high for share in row.shares],
            }
            for row in rows
        ]

    return {"questions": table.questions, "rankings": written(table.rows), "gains": written(table.gains)}


def _document(table: RecallTable, timed: TimedTable | None) -> dict[str, object]:
    rows = [
        {
            "ranking": row.ranking,
            "mean": list(row.mean),
            "micro": list(row.micro),
            "precision": list(row.precision),
            "by_category": {category: list(shares) for category, shares in row.by_category.items()},
        }
        for row in table.rows
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "depths": list(table.depths),
        "questions": table.questions,
        "evidence": table.evidence,
        "left_out": table.left_out,
        "rankings": rows,
        "naming_a_time": _timed_document(timed) if timed is not None else None,
    }


group.command(
    "structures",
    epilog=examples("goalmem bench structures made-up/travel-300-0-0 --backbone hipporag", guide="measuring"),
)(bench_structures.structures)
retired.register(group)
