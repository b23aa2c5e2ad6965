"""`goalmem eval tables`: show and run the commands that reproduce the tables of a paper."""

from __future__ import annotations

import json as to_json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.invocation import Invocation, begin, temporary
from goalmem_cli.config import KEYS, setting_in_words
from goalmem_cli.errors import UsageError
from goalmem_cli.lab.cli.agreeing import judge_run, jury_of, sort_labels_of, sort_runs
from goalmem_cli.lab.cli.measuring import Measuring
from goalmem_cli.lab.cli.report import Form, print_report
from goalmem_cli.lab.cli.wanted import Judge, Typed, one_of

if TYPE_CHECKING:
    from goalmem_cli.lab.evaluation.summaries.reproducing import Command, Figure, Reproduced

SCHEMA_VERSION = 1
EPILOG = examples(
    "goalmem eval tables goal-mem",
    "goalmem eval tables stitch --table 2 --run --data came=came-data --model M --judge J --out stitch-2",
    guide="tables",
)


def tables(
    context: typer.Context,
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="goal-mem, remem or stitch.")],
    table: Annotated[int | None, typer.Option("--table", min=1, help="Only this one [default: all].")] = None,
    run: Annotated[bool, typer.Option("--run", help="Run the commands, and print the report.")] = False,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="BENCHMARK=FILE", help="The file of a benchmark's questions; repeatable."),
    ] = None,
    model: options.Model = None,
    judge: Judge = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="How many questions [default: all].")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="The folder of the runs.")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Show the commands that reproduce a paper's tables, what they need, and what still differs.

    With --run, run those whose benchmark has a file in --data. If interrupted, the same command continues.
    """
    from goalmem_cli.json_records import plain
    from goalmem_cli.lab.evaluation.summaries.reproducing import listed, reproduced

    one_of(paper, listed().papers, "PAPER")
    files = _files(data or (), listed().data)
    found = reproduced(paper, table)
    if not found:
        raise UsageError(f"{paper} has no table {table}", f"goalmem eval tables {paper} lists those it has")
    if run:
        if out is None:
            raise UsageError("--run needs a folder for its runs", "name one with --out")
        typed = {"model": model, "judge": judge, "limit": limit, "json": json, "quiet": quiet}
        return _run(context, found, files, out, typed)
    screen = begin(context, quiet=quiet).screen
    usual = {**listed().data, **{name: str(path) for name, path in files.items()}}
    figures = [one for one in listed().figures if one.paper == paper and table in (None, *one.tables)]
    if json:
        entries = [_entry(each, usual, files) for each in found]
        shown = [plain(one) for one in figures]
        screen.document({"schema_version": SCHEMA_VERSION, "paper": paper, "tables": entries, "figures": shown})
    else:
        lines = [line for each in found for line in lines_of(each, usual, files)]
        screen.answer("\n".join([*lines, "", *map(figure_line, figures)]).strip("\n"))
    return 0


def _files(data: Sequence[str], known: Mapping[str, str]) -> dict[str, Path]:
    """Return benchmark -> file, as `--data` names them; raises UsageError for another form or benchmark."""
    files = {}
    for text in data:
        name, equals, path = text.partition("=")
        if not (equals and path):
            raise UsageError(f"--data {text!r} names no file", "write BENCHMARK=FILE, such as locomo=locomo10.json")
        files[one_of(name, known, "--data")] = Path(path)
    return files


def lines_of(each: Reproduced, usual: Mapping[str, str], files: Mapping[str, Path] | None = None) -> list[str]:
    """Return a table as text; `usual` are published file names by benchmark, `files` the files that the user has."""
    told = _entry(each, usual, files)
    lines = ["", f"{told['paper']}, table {told['table']}: {told['what']}"]
    lines += [f"    {command['command']}" for command in told["commands"]]
    needs = [f"{name}: {', '.join(told[name])}" for name in ("questions", "models") if told[name]]
    lines += [*needs, *(f"{name}: {told[name]}" for name in ("hours", "tokens") if told[name])]
    if files is not None:
        lacking = dict.fromkeys(command["needs"] for command in told["commands"] if command["needs"])
        lines += [f"not here: {name}" for name in lacking]
    lines += [f"rows that goalmem lacks: {', '.join(told['lacking'])}"] if told["lacking"] else []
    lines += [f"columns besides: {'; '.join(told['besides'])}"] if told["besides"] else []
    lines += [f"cannot be made: {told['missing']}"] if told["missing"] else []
    return [*lines, *(f"differs: {text}" for text in told["differs"])]


def figure_line(one: Figure) -> str:
    """Return where a report's page shows a figure of a paper, or why it does not."""
    runs = " and ".join(f"table {number}" for number in one.tables)
    where = f"charts {', '.join(map(repr, one.charts))} over the runs of {runs}" if one.charts else ""
    said = "; ".join(filter(None, (where, one.missing, *one.differs)))
    return f"{one.paper}, figure {one.figure}: {one.what} ({said})"


def _entry(each: Reproduced, usual: Mapping[str, str], files: Mapping[str, Path] | None) -> dict[str, Any]:
    """Return a table as `--json` prints it."""
    told = each.listed
    made = [
        {"command": _written(one, usual[one.benchmark]), "needs": _lacking(one, files or {})} for one in each.commands
    ]
    return {
        "paper": told.paper, "table": told.table, "what": told.what, "missing": told.missing,
        "commands": [*made, *({"command": words, "needs": ""} for words in told.commands)],
        "questions": each.questions, "models": each.models,
        **{name: getattr(each.told, name) if made else "" for name in ("hours", "tokens")},
        "lacking": each.lacking, "besides": told.besides,
        "differs": (*told.differs, *(each.told.differs if made else ())),
    }  # fmt: skip


def _lacking(command: Command, files: Mapping[str, Path]) -> str:
    """Return what the user must still name before the command can run; "" if nothing."""
    path = files.get(command.benchmark)
    if path is None:
        return f"--data {command.benchmark}=FILE"
    return "" if path.exists() else f"{path} is not there"


def _own(command: Command) -> dict[str, dict[str, dict[str, object]]]:
    return {"backbones": command.own(command.backbones), "reasoners": command.own(command.reasoners)}


def _written(command: Command, file: str) -> str:
    """Return the command as a user types it, after the variables that set backbones' and reasoners' own settings."""
    told = [f"GOALMEM_{name.upper()}={shlex.quote(to_json.dumps(own))}" for name, own in _own(command).items() if own]
    return " ".join([*told, "goalmem", *map(shlex.quote, command.words(file))])


def _run(
    context: typer.Context, found: Sequence[Reproduced], files: Mapping[str, Path], out: Path, typed: dict[str, Any]
) -> int:
    """Run the commands whose files the user has, print one report on all with the paper's figures, and return 0."""
    paths: list[Path] = []
    screen = begin(context, quiet=typed["quiet"]).screen
    for each in found:
        if not each.commands:
            why = each.listed.missing or "; ".join((*each.listed.differs, *each.listed.commands))
            screen.note(f"table {each.listed.table} is left out: {why or 'it has no rows to measure'}")
        for place, command in enumerate(each.commands, 1):
            if lacking := _lacking(command, files):
                screen.note(f"table {each.listed.table}, command {place} is left out: {lacking}")
                continue
            screen.note(f"table {each.listed.table}: {_written(command, str(files[command.benchmark]))}")
            path = out / f"table-{each.listed.table}-{place}"
            made = _measure(context, command, files[command.benchmark], path, typed)
            jury = jury_of(typed["judge"], "standard", 1)
            if each.is_sorted and jury:
                sort_runs(made, [path], jury)
            if each.has_faults and jury:
                sort_labels_of(made, path, jury)
            paths.append(path)
    if not paths:
        raise UsageError("none of the tables' data is here", "name it with --data BENCHMARK=FILE")
    tables = tuple((each.listed.paper, each.listed.table) for each in found if each.commands)
    print_report(screen, paths, Form(typed["json"], has_published=True, tables=tables))
    return 0


def _measure(context: typer.Context, command: Command, file: Path, out: Path, typed: dict[str, Any]) -> Invocation:
    """Run one command with its settings, let the judge mark the answers if there is one, and return the invocation."""
    told, own = command.settings, _own(command)
    given = {name: setting_in_words(name, value, "the table") for name, value in told.items() if name in KEYS}
    rest = {**typed, "scope": told["scope"], "categories": told["categories"] or None}
    asked = Typed([file], ",".join(command.reasoners), ",".join(command.backbones), out=out, **rest)
    with temporary() as folder:
        made: Invocation = asked.begun(context, folder / "store")
        given |= {kind: {**getattr(made.settings, kind), **settings} for kind, settings in own.items()}
        settings = replace(made.settings, **given)
        Measuring(replace(made, settings=settings), asked.wanted()).measure()
    judge_run(made, out, jury_of(typed["judge"], "standard", 1))
    return made
