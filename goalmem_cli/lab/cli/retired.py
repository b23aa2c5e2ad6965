"""The removed commands of `goalmem bench`: for one version each names its replacement.

Delete this module and its call with version 0.2.0.
"""

from __future__ import annotations

from collections.abc import Callable

import typer

from goalmem_cli.errors import UsageError

INSTEAD = {
    "entries": "use goalmem bench times FILE",
    "graphs": "use goalmem bench structures PATH, which shows the seconds of indexing",
    "labels": "use goalmem eval FOLDER --backbone stitch --retrieval-only",
    "retrieval": "use goalmem eval FILE --retrieval-only --backbone bm25,dense,hybrid,reranked",
    "tools": "use goalmem eval FILE --reasoner remem",
}
_ANY_WORDS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def register(group: typer.Typer) -> None:
    """Add the removed commands to the group, hidden; each accepts any arguments and exits with code 2."""
    for name in INSTEAD:
        group.command(name, hidden=True, context_settings=_ANY_WORDS)(_refusing(name))


def _refusing(name: str) -> Callable[[], None]:
    def refuse() -> None:
        raise UsageError(f"goalmem bench {name} was removed", INSTEAD[name])

    return refuse
