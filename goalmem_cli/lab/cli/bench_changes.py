"""`goalmem bench changes`: what deciding backbones know of facts that change, with gold decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.errors import UsageError
from goalmem_cli.lab.cli.wanted import listed

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.changes.measuring import ChangeFigures
    from goalmem_cli.store import Store

SCHEMA_VERSION = 1
SHARES = "0,0.1,0.3"


def changes(
    context: typer.Context,
    facts: Annotated[int, typer.Option("--facts", min=10, help="How many facts are told.")] = 1000,
    backbone: Annotated[
        str | None, typer.Option("--backbone", metavar="A,B", help="Only these, with commas between.")
    ] = None,
    wrong: Annotated[
        str, typer.Option("--wrong", metavar="SHARES", help="Which shares of the decisions are wrong.")
    ] = SHARES,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another one makes up other histories.")] = 0,
    embedder: options.Embedder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Print what deciding backbones know of facts that change.

    People tell where they live and work, what they drive and like, with changes, corrections, ends and repeats. Asked
    is what is so now, and what was so before something changed. Decisions are those that a model should make, but for
    the share of them that is to be wrong; no model is asked.
    """
    from goalmem_cli.lab.bench.changes.measuring import DECIDING, measure_changes
    from goalmem_cli.lab.bench.changes.story import made_up_histories
    from goalmem_cli.lab.bench.gathering import GatheringStore
    from goalmem_cli.wiring import chosen_embedder

    names = listed(backbone, "--backbone") if backbone else DECIDING
    if unknown := [name for name in names if name not in DECIDING]:
        raise UsageError(f"there are no gold decisions for {unknown[0]!r}", f"choose among {', '.join(DECIDING)}")
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
    try:
        shares = [float(each) for each in listed(text, "--wrong")]
    except ValueError:
        shares = []
    if not shares or not all(0 <= share <= 1 for share in shares):
        raise UsageError(f"--wrong {text!r} is not a list of shares from 0 to 1", f"for example --wrong {SHARES}")
    return shares


def _share(found: tuple[int, float] | None) -> str:
    return "" if found is None else f"{found[1]:.3f} ({found[0]})"


def _show_changes(run: Invocation, found: Sequence[ChangeFigures]) -> None:
    from goalmem_cli.render.tables import plain_table

    columns = ("wrong", "now", "then", "own now", "own then", "last now", "last then", "calls", "tokens", "late")
    rows = [
        (
            each.backbone,
            f"{each.wrong:.0%}",
            *(f"{share:.3f}" for share in (each.now, each.as_of, each.own_now, each.own_as_of)),
            *(f"{share:.3f}" for share in (each.latest_now, each.latest_as_of)),
            f"{each.calls:.2f}",
            f"{each.tokens:,.0f}",
            f"{each.late_calls:,}",
        )
        for each in found
    ]
    run.screen.show(plain_table(("backbone", *columns), rows, numbers=columns))
    kinds = sorted({kind for each in found for kind in each.of_kind})
    rows = [(each.backbone, f"{each.wrong:.0%}", *(_share(each.of_kind.get(kind)) for kind in kinds)) for each in found]
    run.screen.show(plain_table(("backbone", "wrong", *kinds), rows, numbers=("wrong", *kinds)))
    run.screen.note("now, then: by the first hit that tells of it, not marked as replaced; own: by the first hit of")
    run.screen.note("the backbone alone; last: by the one of the ten hits that was said last")
    run.screen.note("below: now, by how the value was told last, with the number of questions")
    late = found[-1].late_turns
    run.screen.note(f"calls, tokens: of a turn; late: calls of indexing again with a session of {late} turns put in")
