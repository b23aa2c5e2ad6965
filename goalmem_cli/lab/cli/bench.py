"""`goalmem bench`: measure parts of goalmem on questions with known evidence or on generated turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import typer

from goalmem_cli.cli.groups import CONTEXT, examples
from goalmem_cli.lab.cli import (
    bench_changes,
    bench_goals,
    bench_languages,
    bench_size,
    bench_speed,
    retired,
)

COMMANDS: Mapping[Callable[..., int], tuple[str, ...]] = {
    bench_speed.speed: ("bench speed --only ask", "bench speed --units 1000"),
    bench_size.size: ("bench size --only whatsapp,telegram --turns 100000",),
    bench_goals.goals: ("bench goals --goals 40 --steps 4",),
    bench_changes.changes: ("bench changes --facts 200 --wrong 0,0.1",),
    bench_languages.languages: ("bench languages talks", "eval talks"),
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


def register(app: typer.Typer) -> None:
    """Add the group to the app."""
    app.add_typer(group, name="bench")
