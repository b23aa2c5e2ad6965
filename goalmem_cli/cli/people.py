"""`goalmem people`: lists the speakers, and merges, names and separates them; each change can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, ListGroup, examples
from goalmem_cli.cli.invocation import Invocation, begin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goalmem_cli.library.alike import Suggestion
    from goalmem_cli.library.people import Listed
    from goalmem_cli.memory_ports import KeptMemory

SCHEMA_VERSION = 1
NOTHING_FOUND = 1
_SHOWN = 3
_MOST_SUGGESTED = 20

group = typer.Typer(
    cls=ListGroup,
    context_settings=CONTEXT,
    help="Merge, name and split the people who speak.",
    epilog=examples("goalmem people", "goalmem people merge Bob Ben", guide="store"),
)

Who = Annotated[str, typer.Argument(metavar="PERSON", help="A name, number or id (user1001@telegram).")]


@group.command("list", epilog=examples("goalmem people", "goalmem people --json", guide="store"))
def list_(
    context: typer.Context, store: options.Store = None, json: options.Json = False, quiet: options.Quiet = False
) -> int:
    """List who speaks, and who may be one person.

    Each person comes with all names and ids. Exits with 1 if nobody speaks.
    """
    from goalmem_cli.library.alike import suggestions
    from goalmem_cli.library.people import listed

    run, memory = _opened(context, store, quiet=quiet)
    people, alike = listed(memory), suggestions(memory)
    if json:
        run.screen.document(_document(people, alike))
    elif people:
        for one in people:
            run.screen.text("\n".join(_lines(one)))
        for each in alike[:_MOST_SUGGESTED]:
            words = run.command("people", "merge", names=each.handles)
            run.screen.note(f"{each.one} and {each.other} may be one ({each.reason}): {words}")
        if (more := len(alike) - _MOST_SUGGESTED) > 0:
            run.screen.note(f"and {more} more: `{run.command('people', '--json')}` has all")
    else:
        run.screen.note("nobody speaks in this store")
    return 0 if people else NOTHING_FOUND


@group.command("merge", epilog=examples('goalmem people merge "Ben" "Bob"', guide="store"))
def merge(
    context: typer.Context,
    people: Annotated[
        list[str], typer.Argument(metavar="PERSON PERSON...", help="Names, numbers or ids; the last is the name.")
    ],
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Say that two or more are one person, with the name given last. No turn changes; `people split` undoes it."""
    from goalmem_cli.library.people import merge as merge_people

    run, memory = _opened(context, store, quiet=quiet)
    told = merge_people(memory, people)
    run.screen.report(f"{' and '.join(told.parts)} are one person now, called {told.name}")
    return _undone_by(run, told.undo, "takes it back")


@group.command("name", epilog=examples('goalmem people name Ben "Ben K."', guide="store"))
def name(
    context: typer.Context,
    person: Who,
    called: Annotated[str, typer.Argument(metavar="NAME", help="What to call them.")],
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Name a person. No turn changes; `people split` undoes it."""
    from goalmem_cli.library.people import name as name_person

    run, memory = _opened(context, store, quiet=quiet)
    told = name_person(memory, person, called)
    run.screen.report(f"{told.parts[0]} is called {told.name} now")
    return _undone_by(run, told.undo, "takes it back")


@group.command("split", epilog=examples('goalmem people split "Ben K."', guide="store"))
def split(
    context: typer.Context,
    person: Who,
    parts: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Take only these names or ids from the person.")
    ] = None,
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Take back the last merge or name of a person.

    A second split takes back the one before that. With names or ids, only these are taken from the person.
    """
    from goalmem_cli.library.people import split as split_person

    run, memory = _opened(context, store, quiet=quiet)
    told = split_person(memory, person, parts or ())
    run.screen.report(f"taken back that {told.name} is {', '.join(told.parts)}")
    return _undone_by(run, told.undo, "says it again")


def _opened(context: typer.Context, store: str | None, *, quiet: bool) -> tuple[Invocation, KeptMemory]:
    run = begin(context, quiet=quiet, store=store)
    return run, run.stored()


def _undone_by(run: Invocation, commands: Sequence[Sequence[str]], what: str) -> int:
    """Print the commands that undo the change."""
    if commands:
        typed = (run.command("people", verb, names=names) for verb, *names in commands)
        told = " and then ".join(f"`{each}`" for each in typed)
        run.screen.note(f"{told} {what}")
    return 0


def _lines(one: Listed) -> Iterator[str]:
    """Yield the lines about a person, then the other names and ids, which are not cut so that they can be copied."""
    from goalmem_cli.render.text import counted, safe

    days = dict.fromkeys(f"{time:%Y-%m-%d}" for time in (one.first_said, one.last_said) if time)
    more = f" and {len(one.conversations) - _SHOWN} more" if len(one.conversations) > _SHOWN else ""
    places = f"in {', '.join(one.conversations[:_SHOWN])}{more}"
    yield safe(f"{one.name}: {', '.join(filter(None, (counted(one.turns, 'turn'), ' to '.join(days), places)))}")
    also = [*(each for each in one.names if not f"{one.name} (".startswith(f"{each} (")), *one.numbers, *one.ids]
    if also:
        yield f"  {safe(', '.join(also))}"


def _document(people: list[Listed], alike: list[Suggestion]) -> dict[str, object]:
    """Return people and suggestions as `--json` prints them."""
    return {
        "schema_version": SCHEMA_VERSION,
        "people": [
            {
                "name": one.name,
                "names": list(one.names),
                "ids": list(one.ids),
                "numbers": list(one.numbers),
                "conversations": list(one.conversations),
                "turns": one.turns,
                "first_said": one.first_said.isoformat() if one.first_said else None,
                "last_said": one.last_said.isoformat() if one.last_said else None,
                "is_told": one.is_told,
            }
            for one in people
        ],
        "suggestions": [{"people": [each.one, each.other], "reason": each.reason} for each in alike],
    }
