"""`goalmem bench sums`: write generated conversations with questions, exact answers and gold plans."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import begin

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.sums.replay import Replayed
    from goalmem_cli.render.console import Screen

SCHEMA_VERSION = 1
LEAST_TURNS, MOST_TURNS = 50, 100_000


def sums(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder that gets a file for each conversation.")],
    turns: Annotated[
        int, typer.Option("--turns", min=LEAST_TURNS, max=MOST_TURNS, help="How long each conversation is.")
    ] = 400,
    conversations: Annotated[int, typer.Option("--conversations", min=1, help="How many to make.")] = 1,
    questions: Annotated[int, typer.Option("--questions", min=1, help="How many at most of each conversation.")] = 50,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another one makes up other stories.")] = 0,
    replay: Annotated[
        bool, typer.Option("--replay", help="Give the engine every gold plan, and count the right answers.")
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Write made-up conversations whose answers are computed.

    Two people tell over months what they bought for how much, where they were and what they learnt, among others who do
    the like, and what they only wish for. How many, how much altogether, which first, in which order, which more, how
    long between, what was so on a day, and which but one have exact answers, with gold plans. The files are for
    `goalmem ingest` and `goalmem eval`. The same arguments give the same bytes. `--replay` asks no model: it holds the
    engine's own calculation to the answers.
    """
    from goalmem_cli.lab.bench.sums.files import write_story
    from goalmem_cli.lab.bench.sums.questions import questions_of
    from goalmem_cli.lab.bench.sums.replay import replay_prompts, replayed
    from goalmem_cli.lab.bench.sums.story import made_up_story

    run = begin(context, quiet=quiet)
    asked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    prompts = replay_prompts()
    with run.screen.counting("conversations") as reach:
        for number in range(1, conversations + 1):
            story = made_up_story(f"sums-{turns}-{seed}-{number}", turns, seed)
            chosen = questions_of(story, questions, seed)
            write_story(out, story, chosen)
            asked.update(question.type for question in chosen)
            for question in chosen if replay else ():
                found = replayed(story, question, prompts)
                right[question.type] += found.is_right
                if not found.is_right:
                    run.screen.note(_wrong(story.name, found))
            reach(number, conversations)
    if json:
        document = {"schema_version": SCHEMA_VERSION, "folder": str(out), "turns": turns, "questions": asked}
        run.screen.document(document | ({"right": right} if replay else {}))
    else:
        _show(run.screen, [asked, right] if replay else [asked])
    return 0


def _wrong(name: str, found: Replayed) -> str:
    wanted, notes = ", ".join(found.question.answer), "; ".join(found.trace.notes)
    return f"{name}: {found.question.text} {found.question.expression} is {wanted}, not {found.trace.answer} {notes}"


def _show(screen: Screen, counted: list[Counter[str]]) -> None:
    """Show the questions by type, and how many of them were right."""
    from goalmem_cli.render.tables import plain_table

    columns = ("questions", "right")[: len(counted)]
    rows = [(name, *(f"{part[name]:,}" for part in counted)) for name in sorted(counted[0])]
    rows.append(("all", *(f"{part.total():,}" for part in counted)))
    screen.show(plain_table(("type", *columns), rows, numbers=columns))
