"""`goalmem guide`: the manual, a page at a time."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer

from goalmem_cli.cli.groups import examples
from goalmem_cli.errors import UsageError

EPILOG = examples("goalmem guide", "goalmem guide formats", "goalmem guide proofs > proofs.md", guide="internals")


def guide(
    name: Annotated[str | None, typer.Argument(metavar="PAGE", help="Which page [default: the list].")] = None,
    is_list: Annotated[bool, typer.Option("--list", help="List the pages.")] = False,
) -> int:
    """Show a page of the manual.

    A terminal gets it formatted, in a pager if it is long; a pipe gets Markdown.
    """
    from goalmem_cli.guide import NAMES, page, pages
    from goalmem_cli.render.console import Screen
    from goalmem_cli.render.tables import plain_table

    screen = Screen()
    if name is None or is_list:
        screen.show(
            plain_table(("page", "what for"), [(entry.name, entry.title) for entry in pages()], whole=("page",))
        )
        return 0
    if name not in NAMES:
        nearest = get_close_matches(name, NAMES, 1)
        hint = f"did you mean `goalmem guide {nearest[0]}`?" if nearest else "`goalmem guide --list` lists them"
        raise UsageError(f"the manual has no page '{name}'", hint)
    screen.read(page(name).text)
    return 0
