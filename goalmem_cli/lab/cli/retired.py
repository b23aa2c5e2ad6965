"""The removed commands of `goalmem bench`: for one version each names its replacement.

Delete this module and its call with version 0.2.0.
"""

from __future__ import annotations

from collections.abc import Callable

import typer

from goalmem_cli.errors import UsageError

INSTEAD = {
    "came": "use goalmem eval on CAME-Bench's own files",
    "entries": "use goalmem eval FILE --categories 2",
    "graphs": "use goalmem eval FILE --backbone NAME, whose report shows the seconds of indexing",
    "labels": "use goalmem eval FOLDER --backbone stitch --retrieval-only",
    "retrieval": "use goalmem eval FILE --retrieval-only --backbone bm25,dense,hybrid,reranked",
    "structures": "use goalmem eval FILE --retrieval-only --backbone NAME, with a model that indexes",
    "sums": "use goalmem eval on Test of Time's own files, or goalmem ask, which shows what it computes",
    "times": "use goalmem eval FILE --categories 2",
    "tot": "use goalmem eval on Test of Time's own files",
    "tools": "use goalmem eval FILE --reasoner remem",
}
SECTIONS = {
    "batch": "use goalmem eval FILE --parallel N, which reports calls and seconds of a question",
    "calls": "use goalmem eval FILE, which reports prompt tokens, how many of them were cached, and seconds",
    "model": "use goalmem ask --threads N; weights are repacked as Q8_0, which was the fastest that kept the replies",
    "proofs": "use goalmem eval FILE --reasoner goal-mem,direct, which reports calls and tokens of a question",
    "reply": "use goalmem eval FILE, which reports the tokens written and the seconds of a question",
}
"""The removed sections of `goalmem bench speed --only`."""
_ANY_WORDS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def register(group: typer.Typer) -> None:
    """Add the removed commands to the group, hidden; each accepts any arguments and exits with code 2."""
    for name in INSTEAD:
        group.command(name, hidden=True, context_settings=_ANY_WORDS)(_refusing(name))


def _refusing(name: str) -> Callable[[], None]:
    def refuse() -> None:
        raise UsageError(f"goalmem bench {name} was removed", INSTEAD[name])

    return refuse
