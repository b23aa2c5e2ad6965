"""`goalmem bench`: measure parts of goalmem on questions with known evidence or on generated turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.errors import UsageError
from goalmem_cli.lab.cli import bench_speed, retired
from goalmem_cli.lab.cli.wanted import listed, one_of

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.changes import ChangeFigures
    from goalmem_cli.lab.bench.goals import Measured
    from goalmem_cli.lab.bench.languages.talks import Counted
    from goalmem_cli.lab.bench.reading_speed import ReadingFigures
    from goalmem_cli.render.console import Screen
    from goalmem_cli.store import Store


def size(
    context: typer.Context,
    turns: Annotated[int, typer.Option(min=100, help="How many made-up turns each transcript has.")] = 20_000,
    rounds: Annotated[int, typer.Option(min=1, help="How often each is read; the median is shown.")] = 3,
    only: Annotated[str, typer.Option(metavar="FORMATS", help="Which formats, separated by commas.")] = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print how fast transcripts of each format are read.

    Measures the processor time of recognising a file and reading all of it, not of storing it. The turns are made up.
    They are the same for every format, and written as its export writes them.
    """
    from goalmem_cli.lab.bench.reading_speed import measure_reading
    from goalmem_cli.render.tables import plain_table
    from goalmem_cli.transcripts import FORMATS
    from goalmem_cli.transcripts.formats import unknown_format

    wanted = [name.strip() for name in only.split(",") if name.strip()]
    if unknown := sorted(set(wanted) - set(FORMATS)):
        raise unknown_format(unknown[0])
    run = begin(context, quiet=quiet)
    measured: list[ReadingFigures] = []
    with TemporaryDirectory(prefix="goalmem-bench-") as folder, run.screen.counting("formats") as reach:
        names = wanted or list(FORMATS)
        for figures in measure_reading(names, turns, rounds, Path(folder)):
            measured.append(figures)
            reach(len(measured), len(names))
    if json:
        rows = [
            asdict(each) | {"turns_a_second": each.turns_a_second, "megabytes_a_second": each.megabytes_a_second}
            for each in measured
        ]
        run.screen.document({"schema_version": SCHEMA_VERSION, "formats": rows})
        return 0
    cells = [
        [each.format, f"{each.turns:,}", f"{each.bytes / 1e6:.1f}", f"{each.turns_a_second:,.0f}",
         f"{each.megabytes_a_second:.1f}"]
        for each in measured
    ]  # fmt: skip
    columns = ("format", "turns", "MB", "turns/s", "MB/s")
    run.screen.show(plain_table(columns, cells, numbers=columns[1:]))
    return 0


def languages(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder that gets a file for each conversation.")],
    language: Annotated[
        str | None, typer.Option("--language", metavar="A,B", help="Only these, by code, with commas: de,zh.")
    ] = None,
    author: Annotated[
        str | None, typer.Option("--author", metavar="NAME", help="Only what this one wrote: first or second.")
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Write conversations in other languages, with questions.

    Friends, families and colleagues chat in German, Spanish, French, Portuguese, Chinese and Japanese. Of the twenty
    questions about each, fifteen are in its language, five in English, and five have no answer. `goalmem eval OUT`
    answers them and prints what came out by language, by language of the question and by kind. The second author's
    conversations are for measuring only.
    """
    from goalmem_cli.lab.bench.languages.talks import AUTHORS, counted, talks, write_talks
    from goalmem_cli.lab.evaluation.datasets.loading import read_dataset

    run = begin(context, quiet=quiet)
    there = talks()
    known = sorted({talk.language for talk in there})
    wanted = [one_of(name, known, "--language") for name in listed(language, "--language")] or known
    authors = [one_of(name, AUTHORS, "--author") for name in listed(author, "--author")] or AUTHORS
    chosen = [talk for talk in there if talk.language in wanted and talk.author in authors]
    files = write_talks(out, chosen)
    found = counted(chosen, read_dataset(files).cases if files else ())
    if json:
        document = {"schema_version": SCHEMA_VERSION, "folder": str(out)}
        run.screen.document(document | {"languages": {name: asdict(each) for name, each in found.items()}})
    else:
        _show_languages(run.screen, found)
    return 0


def _show_languages(screen: Screen, found: Mapping[str, Counted]) -> None:
    from goalmem_cli.lab.bench.languages.talks import Counted
    from goalmem_cli.render.tables import plain_table

    columns = tuple(field.name.replace("_", " ").replace("english", "English") for field in fields(Counted))
    whole = Counted(*map(sum, zip(*map(astuple, found.values()), strict=True))) if found else Counted(0, 0, 0, 0, 0)
    rows = [(name, *map(str, astuple(each))) for name, each in (*found.items(), ("all", whole))]
    screen.show(plain_table(("language", *columns), rows, numbers=columns))


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
    """Print how many changes kept goals catch, at how many calls.

    Counts the changes that goals of each kind catch, and the model calls that it takes.

    People tell where they live and work, what they drive and like, and who lives with them, with changes, corrections,
    ends and repeats, among chatter; some turns are forgotten. Replies are those that a model should give, unless
    --model names one. --verbose names the changes that were missed.
    """
    from goalmem_cli.lab.bench.goals import GoldModel, measure_goals
    from goalmem_cli.lab.bench.stories import made_up_story
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
        _show_goals(run, found)
    return 0


def _show_goals(run: Invocation, found: Measured) -> None:
    """Print the results of `bench goals` as a table, with notes that explain its columns."""
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
    note("anew: model calls of asking every question again after each step, counted")
    beside = f"{_part(whole.false_beside, whole.beside)} where their chat went on"
    note(f"false alarms: {_part(whole.false_alarms, whole.untouched)} of the untouched, {beside}")
    note(f"calls: {_part(whole.calls, whole.anew)}; a step tells of {_part(whole.told, whole.checks)} of the goals")
    note(f"proved again: {whole.proved:,}, in vain {whole.in_vain:,}; right at the end: {whole.right:,}")
    note(f"asked anew, right: {whole.right_anew:,}; noticing a goal: {found.milliseconds:.1f} ms")


def _part(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


SCHEMA_VERSION = 1
SHARES = "0,0.1,0.3"


def changes(
    context: typer.Context,
    facts: Annotated[int, typer.Option("--facts", min=10, help="How many facts are told.")] = 1000,
    backbone: Annotated[
        str | None, typer.Option("--backbone", metavar="A,B", help="Only these, with commas between.")
    ] = None,
    wrong: Annotated[
        str, typer.Option("--wrong", metavar="SHARES", help="The shares of wrong decisions to measure.")
    ] = SHARES,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another one makes up other histories.")] = 0,
    embedder: options.Embedder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print what backbones know of facts that change.

    People tell where they live and work, what they drive and like, with changes, corrections, ends and repeats. The
    questions ask what is so now, and what was so before something changed. No model is asked: the decisions are those
    that a model should make, except for the share that --wrong makes wrong. Flat backbones (reranked, hybrid, bm25 and
    so on) decide nothing; --wrong is not for them.
    """
    from goalmem_cli.backbones.flat import RECIPES
    from goalmem_cli.lab.bench.changes import DECIDING, measure_changes
    from goalmem_cli.lab.bench.gathering import GatheringStore
    from goalmem_cli.lab.bench.stories import made_up_histories
    from goalmem_cli.wiring import chosen_embedder

    names = listed(backbone, "--backbone") if backbone else DECIDING
    known = (*RECIPES, *DECIDING)
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"there are no gold decisions for {unknown[0]!r}", f"choose among {', '.join(known)}")
    shares = _shares(wrong)
    found = []
    with TemporaryDirectory(prefix="goalmem-bench-") as place:
        run = begin(context, quiet=quiet, store=Path(place), embedder=embedder)
        embedded = chosen_embedder(replace(run.settings, address=None), run.factories, run.screen.note)

        def opened(name: str) -> Store:
            return GatheringStore(Path(place) / name, embedded, run.screen.note)

        with run.screen.counting("backbones") as reach:
            for figures in measure_changes(opened, made_up_histories(facts, seed), names, shares, seed, reach):
                found.append(figures)
                run.screen.note(f"{figures.backbone}, {figures.wrong:.0%} wrong: now {figures.now:.3f}")
    if json:
        run.screen.document({"schema_version": SCHEMA_VERSION, "measured": [asdict(each) for each in found]})
    else:
        _show_changes(run, found)
    return 0


def _shares(text: str) -> list[float]:
    """Return the comma-separated shares of `--wrong`; raises UsageError unless all are from 0 to 1."""
    try:
        shares = [float(each) for each in listed(text, "--wrong")]
    except ValueError:
        shares = []
    if not shares or not all(0 <= share <= 1 for share in shares):
        raise UsageError(f"--wrong {text!r} is not a list of shares from 0 to 1", f"for example --wrong {SHARES}")
    return shares


def _show_changes(run: Invocation, found: Sequence[ChangeFigures]) -> None:
    """Print the results of `bench changes` as tables that fit in 80 columns, with notes that explain them."""
    from goalmem_cli.render.tables import plain_table

    columns = ("wrong", "now", "then", "own now", "own then", "last now", "last then")
    rows = [
        (
            *_run(each),
            *(f"{share:.3f}" for share in (each.now, each.as_of, each.own_now, each.own_as_of)),
            *(f"{share:.3f}" for share in (each.latest_now, each.latest_as_of)),
        )
        for each in found
    ]
    run.screen.show(plain_table(("backbone", *columns), rows, numbers=columns))
    _show_kinds(run, found)
    run.screen.note("now, then: by the first hit that tells of it, not marked as replaced; own: by the first hit of")
    run.screen.note("the backbone alone; last: by the one of the ten hits that was said last")
    run.screen.note("second table: now and then by how the value in question was told last")
    if decided := [each for each in found if each.late_turns]:
        costs = ("wrong", "calls", "tokens", "late")
        cells = [(*_run(each), f"{each.calls:.2f}", f"{each.tokens:,.0f}", f"{each.late_calls:,}") for each in decided]
        run.screen.show(plain_table(("backbone", *costs), cells, numbers=costs))
        late = decided[-1].late_turns
        run.screen.note(
            f"calls, tokens: of a turn; late: calls of indexing again with a session of {late} turns put in"
        )


def _show_kinds(run: Invocation, found: Sequence[ChangeFigures]) -> None:
    """Print a table of the shares by how the value was told last, after the numbers of the questions."""
    from goalmem_cli.render.tables import plain_table

    kinds = sorted({kind for each in found for kind in (*each.of_kind, *each.of_kind_then)})
    rows: list[tuple[str, ...]] = []
    for when, of_kinds in (("now", [each.of_kind for each in found]), ("then", [each.of_kind_then for each in found])):
        rows.append(
            ("questions", "", when, *(str(of_kinds[0][kind][0]) if kind in of_kinds[0] else "" for kind in kinds))
        )
        rows += [
            (*_run(each), when, *(f"{of_kind[kind][1]:.3f}" if kind in of_kind else "" for kind in kinds))
            for each, of_kind in zip(found, of_kinds, strict=True)
        ]
    run.screen.show(plain_table(("backbone", "wrong", "asked", *kinds), rows, numbers=("wrong", *kinds)))


def _run(figures: ChangeFigures) -> tuple[str, str]:
    return figures.backbone, f"{figures.wrong:.0%}"


COMMANDS: Mapping[Callable[..., int], tuple[str, ...]] = {
    bench_speed.speed: ("bench speed --only ask", "bench speed --units 1000"),
    size: ("bench size --only whatsapp,telegram --turns 100000",),
    goals: ("bench goals --goals 40 --steps 4",),
    changes: ("bench changes --facts 200 --wrong 0,0.1",),
    languages: ("bench languages talks", "eval talks"),
}
"""The commands with their examples."""

group = typer.Typer(
    help="Measure speed, and make benchmarks.",
    context_settings=CONTEXT,
    epilog=examples("goalmem bench size --turns 2000", guide="measuring"),
)
for _command, _lines in COMMANDS.items():
    group.command(epilog=examples(*(f"goalmem {line}" for line in _lines), guide="measuring"))(_command)
retired.register(group)
