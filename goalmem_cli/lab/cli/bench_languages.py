"""`goalmem bench languages`: write conversations in other languages than English, with questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import begin
from goalmem_cli.lab.cli.wanted import listed, one_of

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.languages.talks import Counted
    from goalmem_cli.render.console import Screen

SCHEMA_VERSION = 1


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
        _show(run.screen, found)
    return 0


def _show(screen: Screen, found: Mapping[str, Counted]) -> None:
    from goalmem_cli.lab.bench.languages.talks import Counted
    from goalmem_cli.render.tables import plain_table

    columns = tuple(field.name.replace("_", " ").replace("english", "English") for field in fields(Counted))
    whole = Counted(*map(sum, zip(*map(astuple, found.values()), strict=True))) if found else Counted(0, 0, 0, 0, 0)
    rows = [(name, *map(str, astuple(each))) for name, each in (*found.items(), ("all", whole))]
    screen.show(plain_table(("language", *columns), rows, numbers=columns))
