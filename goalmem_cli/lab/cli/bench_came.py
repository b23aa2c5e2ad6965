"""`goalmem bench came`: write generated trajectories with questions, exact answers and gold labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import begin

if TYPE_CHECKING:
    from goalmem_cli.render.console import Screen

SCHEMA_VERSION = 1
LEAST_TURNS, MOST_TURNS = 300, 100_000


def came(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder that gets a folder for each trajectory.")],
    domain: Annotated[Literal["travel", "debate"], typer.Option("--domain", help="What is talked about.")] = "travel",
    turns: Annotated[
        int, typer.Option("--turns", min=LEAST_TURNS, max=MOST_TURNS, help="How long each trajectory is.")
    ] = 1000,
    trajectories: Annotated[int, typer.Option("--trajectories", min=1, help="How many to make.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another one makes another world.")] = 0,
    questions: Annotated[
        int, typer.Option("--questions", min=1, help="How many at most of each of the four types, a trajectory.")
    ] = 25,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Write made-up trajectories in CAME-Bench's layout.

    They are for `goalmem ingest` and `goalmem eval`, and nothing is downloaded.
        Goals of the same kind are pursued side by side and referred to without their names, so that like turns of other
    goals interfere. Answers and evidence follow from the storyboard; labels.jsonl beside them has the gold scope,
    event type, entity types and note of every turn, and the labels to look for with every question. The same
    arguments give the same bytes; a trajectory that is there already is written again.
    """
    from goalmem_cli.lab.bench.came.files import write_trajectory
    from goalmem_cli.lab.bench.came.trajectories import made_up_trajectories
    from goalmem_cli.store.passages import estimate_tokens

    run = begin(context, quiet=quiet)
    written: list[dict[str, object]] = []
    with run.screen.counting("trajectories") as reach:
        for made in made_up_trajectories(domain, turns, trajectories, seed, questions):
            folder = write_trajectory(out, made)
            tokens = sum(estimate_tokens(turn.text) for turn in made.turns)
            types = Counter(question.type for question in made.questions)
            written.append({"folder": str(folder), "turns": len(made.turns), "tokens": tokens, "questions": types})
            reach(len(written), trajectories)
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "domain": domain, "seed": seed, "trajectories": written})
    else:
        _show(run.screen, written)
    return 0


def _show(screen: Screen, written: Sequence[Mapping[str, Any]]) -> None:
    from goalmem_cli.render.tables import plain_table

    columns = ("turns", "tokens, about", "questions")
    rows = [
        (one["folder"], f"{one['turns']:,}", f"{one['tokens']:,}", f"{sum(one['questions'].values()):,}")
        for one in written
    ]
    screen.show(plain_table(("trajectory", *columns), rows, numbers=columns))
