"""`goalmem bench goals`: test kept goals on made-up chats that grow, with gold replies or a model's."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import Invocation, begin

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.goals.measuring import Measured

SCHEMA_VERSION = 1
_CONTEXT = 32768


def goals(
    context: typer.Context,
    goals: Annotated[int, typer.Option("--goals", min=1, help="How many goals are kept.")] = 200,
    steps: Annotated[int, typer.Option("--steps", min=1, help="How often the chats go on.")] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another one makes up other chats.")] = 0,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Ask this model, as `ask` names it [default: gold replies]."),
    ] = None,
    embedder: options.Embedder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Print which changes kept goals catch, and what that costs.

    People tell where they live and work, what they drive and like, and who lives with them, with changes, corrections,
    ends and repeats, among chatter; some turns are forgotten. Replies are those that a model should give, unless
    --model names one. --verbose names the changes that were missed.
    """
    from goalmem_cli.lab.bench.goals.measuring import measure_goals
    from goalmem_cli.lab.bench.goals.replies import GoldModel
    from goalmem_cli.lab.bench.goals.story import made_up_story
    from goalmem_cli.library.memory import opened
    from goalmem_cli.loading import LoadedModel
    from goalmem_cli.wiring import Factories, chosen_embedder

    story = made_up_story(goals, steps, seed)
    gold = GoldModel(story.goals, (story.before, *story.steps))
    with TemporaryDirectory(prefix="goalmem-bench-") as place:
        run = begin(context, quiet=quiet, verbose=verbose, store=Path(place), embedder=embedder)
        embedded = chosen_embedder(replace(run.settings, address=None), run.factories, run.screen.note)
        if model is None:
            factories = Factories(lambda _: embedded, lambda _: LoadedModel(gold, "gold", "full", _CONTEXT))
            made = opened(Path(place) / "memory", factories=factories, certainty=0)
        else:
            factories = replace(run.factories, embedder=lambda _: embedded)
            made = opened(Path(place) / "memory", factories=factories, model=model)
        with made as memory, run.screen.counting("steps") as reach:
            found = measure_goals(memory, story, reach)
    for line in found.missed:
        run.screen.detail(line)
    if json:
        document = {"figures": [asdict(each) for each in found.figures], "milliseconds": found.milliseconds}
        run.screen.document({"schema_version": SCHEMA_VERSION, **document, "missed": list(found.missed)})
    else:
        _show(run, found)
    return 0


def _show(run: Invocation, found: Measured) -> None:
    from goalmem_cli.render.tables import plain_table

    columns = ("goals", "changes", "noticed", "caught", "untouched", "false", "calls", "anew")
    rows = [
        (
            each.kind,
            *(f"{count:,}" for count in (each.goals, each.changes, each.noticed, each.caught, each.untouched)),
            *(f"{count:,}" for count in (each.false_alarms, each.calls, each.anew)),
        )
        for each in found.figures
    ]
    run.screen.show(plain_table(("kind", *columns), rows, numbers=columns))
    whole, note = found.figures[-1], run.screen.note
    note("noticed: proved again; caught: with the new answer; false: proved again, but nothing told of it")
    note("anew: model calls of asking every goal at each step")
    beside = f"{_share(whole.false_beside, whole.beside)} where their chat went on"
    note(f"false alarms: {_share(whole.false_alarms, whole.untouched)} of the untouched, {beside}")
    note(f"calls: {_share(whole.calls, whole.anew)}; a step tells of {_share(whole.told, whole.checks)} of the goals")
    note(f"proved again: {whole.proved:,}, in vain {whole.in_vain:,}; right at the end: {whole.right:,}")
    note(f"asked anew, right: {whole.right_anew:,}; noticing a goal: {found.milliseconds:.1f} ms")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"
