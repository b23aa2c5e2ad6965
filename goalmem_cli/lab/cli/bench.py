"""`goalmem bench`: measure parts of goalmem on questions with known evidence or on generated turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import typer

from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.lab.cli import bench_came, bench_made_up, bench_size, bench_speed, bench_structures, retired

COMMANDS: Mapping[Callable[..., int], tuple[str, ...]] = {
    bench_speed.speed: ("--only calls,proofs", "--units 1000"),
    bench_size.size: ("--only whatsapp,telegram --turns 100000",),
    bench_came.came: ("made-up --domain debate --turns 1000 --trajectories 2",),
    bench_made_up.tot: ("made-up --questions 40 --algorithms er,star --replay",),
    bench_structures.changes: ("--facts 200 --wrong 0,0.1",),
    bench_made_up.sums: ("made-up --turns 400 --replay",),
    bench_structures.structures: ("made-up/travel-300-0-0 --backbone hipporag",),
}
"""The commands with the arguments of their examples."""

group = typer.Typer(
    help="Measure calculations, structure and speed.",
    context_settings=CONTEXT,
    epilog=examples("goalmem bench size --turns 2000", guide="measuring"),
)
for _command, _arguments in COMMANDS.items():
    _name = _command.__name__
    group.command(_name, epilog=examples(*(f"goalmem bench {_name} {each}" for each in _arguments), guide="measuring"))(
        _command
    )
retired.register(group)


def register(app: typer.Typer) -> None:
    """Add the group to the app."""
    app.add_typer(group, name="bench")
