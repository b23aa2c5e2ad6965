"""`goalmem index`: builds a structured backbone from the turns that it has not processed yet."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.goals import may_have_changed
from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.errors import UsageError

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.ports import Indexed, Outlook, PartDone, StructuredBackbone
    from goalmem_cli.records import Unit

SCHEMA_VERSION = 1
NOTHING_FOUND = 1
_SHOWN = 3
_ID_LENGTH, _SHOWN_OF_ID = 32, 12
_HINT = "`goalmem search QUERY --backbone {} --explain` shows the ids of units"
_COSTS = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens")
EPILOG = examples(
    "goalmem index remem --dry-run",
    "goalmem index remem --model http://localhost:8080/v1#qwen",
    "goalmem index mem0 --history 3fa9c21b",
    guide="backbones",
)


def index(
    context: typer.Context,
    backbone: Annotated[str, typer.Argument(metavar="BACKBONE", help="Which backbone to build, by name.")],
    model: options.Model = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Estimate parts, calls and tokens, and do nothing.")
    ] = False,
    history: Annotated[
        str | None,
        typer.Option(
            metavar="UNIT", help="Only show what happened to a unit; `goalmem search --explain` shows the ids of units."
        ),
    ] = None,
    adapter: options.Adapter = None,
    prompts: options.Prompts = None,
    context_length: options.Context = None,
    threads: options.Threads = None,
    seed: options.Seed = None,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Build a structured backbone over the store, or update it.

    A model derives units from the turns that are new. Each finished part is stored at once; after an interruption the
    same command goes on. Parts that failed are listed, and the next run tries them again.
    """
    from goalmem_cli.wiring import DeferredModel, open_structured

    run = begin(
        context, quiet=quiet, verbose=verbose, store=store, backbone=backbone, model=model, adapter=adapter,
        prompts=prompts, context=context_length, threads=threads, seed=seed,
    )  # fmt: skip
    memory = run.stored()
    with closing(DeferredModel(partial(run.factories.model, run.settings))) as deferred:
        structured = open_structured(run.settings, memory, run.factories, deferred.loaded)
        if history is not None:
            return _show_history(run, memory, structured, history, is_json=json)
        outlook = structured.outlook()
        if dry_run:
            _show_outlook(run, outlook, is_json=json)
            return 0
        done = indexed(run, structured, outlook)
    _show(run, done, is_json=json)
    may_have_changed(run, memory)
    return 0


def indexed(
    run: Invocation, structured: StructuredBackbone, outlook: Outlook, told: Callable[[PartDone], None] = lambda _: None
) -> Indexed:
    """Build the backbone and return what was done; print the plan first and the failures last.

    `told` gets each part once it is stored.

    Raises:
        ModelError: the model could not be used at all.
        StoreError: the store could not be used.
    """
    name = run.settings.backbone
    if outlook.parts:
        run.screen.note(f"{name}: {_words(outlook)}; interrupted, the same command goes on")
    else:
        run.screen.note(f"{name}: nothing is new")
    with run.screen.working() as reach:
        shown = _counting(reach, outlook.parts)

        def report(part: PartDone) -> None:
            told(part)
            shown(part)

        done = structured.index(report)
    for part in done.failed:
        run.screen.warn(f"{part.conversation}, part {part.name}: {part.problem}")
    if done.failed:
        run.screen.warn(
            f"{name}: {len(done.failed)} of {_counted(done.parts, 'part')} failed; the next run retries them"
        )
    return done


def _counting(reach: Callable[[str, float, float], None], total: int) -> Callable[[PartDone], None]:
    """Return a callback that shows, for each finished part, how many are done and how many tokens they took."""
    parts = tokens = 0

    def report(part: PartDone) -> None:
        nonlocal parts, tokens
        parts += 1
        tokens += part.usage.prompt_tokens + part.usage.completion_tokens
        reach(f"{part.conversation}: part {parts:,} of {total:,}, {tokens:,} tokens", parts, total)

    return report


def _words(outlook: Outlook) -> str:
    parts = f"{_counted(outlook.parts, 'part')} with {_counted(outlook.turns, 'turn')}"
    again = f", {outlook.failed:,} of them again" if outlook.failed else ""
    return f"{parts}{again}, about {_counted(outlook.calls, 'call')} and {_counted(outlook.tokens, 'token')}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def _show_outlook(run: Invocation, outlook: Outlook, *, is_json: bool) -> None:
    """Print the estimate as JSON or as a table."""
    shown = {"backbone": run.settings.backbone, **asdict(outlook)}
    if is_json:
        run.screen.document({"schema_version": SCHEMA_VERSION, **shown})
        return
    from goalmem_cli.render.tables import pairs

    run.screen.show(pairs(shown))


def _show(run: Invocation, done: Indexed, *, is_json: bool) -> None:
    """Print what was derived and its cost, as JSON or as a table."""
    usage = done.usage
    shown: dict[str, object] = {
        "backbone": run.settings.backbone,
        "parts": done.parts,
        "turns": done.turns,
        "failed": len(done.failed),
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "completion_tokens": usage.completion_tokens,
        "seconds": round(usage.seconds, 1),
    }
    costs = {name: getattr(usage, name) / done.turns for name in _COSTS} if done.turns else {}
    if is_json:
        failed = [
            {"conversation": part.conversation, "part": part.name, "problem": part.problem} for part in done.failed
        ]
        graph = {**asdict(done.counts), "degrees": done.counts.degrees}
        has = {"units": dict(done.units), "edges": done.edges, "graph": graph, "noted": dict(done.noted)}
        run.screen.document({"schema_version": SCHEMA_VERSION, **shown, "per_turn": costs, **has, "failed": failed})
        return
    from goalmem_cli.render.tables import pairs

    units = ", ".join(f"{kind} {number:,}" for kind, number in done.units.items()) or "none"
    rows = {name.replace("_", " "): value for name, value in shown.items()}
    rows |= {f"{name.replace('_', ' ')} a turn": f"{cost:,.1f}" for name, cost in costs.items()}
    run.screen.show(pairs({**rows, "units now": units, "edges now": f"{done.edges:,}", **done.noted}))


def _show_history(
    run: Invocation, memory: KeptMemory, structured: StructuredBackbone, begins: str, *, is_json: bool
) -> int:
    """Print the history of the unit whose id begins with `begins`, and return the exit code: 1 if it is empty.

    Raises:
        UsageError: the backbone keeps no history, or no unit, or more than one, has such an id.
        StoreError: the store could not be read.
    """
    from goalmem_cli.memory_records import Capability
    from goalmem_cli.ports import KeepsHistory
    from goalmem_cli.wiring import check_backbone, local

    name = run.settings.backbone
    check_backbone(run.settings, memory, run.factories)
    if not isinstance(structured, KeepsHistory):
        raise UsageError(f"the backbone {name} keeps no history: its units never replace each other")
    unit = _chosen(local(memory, Capability.STRUCTURE).units_of(name), begins, name)
    found = structured.history(unit.id)
    if is_json:
        listed = [{**asdict(each), "said": each.said and each.said.isoformat()} for each in found]
        head = {"schema_version": SCHEMA_VERSION, "backbone": name, "unit": unit.id, "text": unit.text}
        run.screen.document({**head, "history": listed})
    elif found:
        from goalmem_cli.render.tables import plain_table
        from goalmem_cli.render.text import when

        rows = [(when(each.said), each.event, each.text, " ".join(map(_shortened, each.turns))) for each in found]
        run.screen.show(plain_table(("said", "event", "memory", "turns"), rows, whole=("said", "event")))
    else:
        run.screen.note(f"nothing happened to {unit.id}, of the kind {unit.kind}")
    return 0 if found else NOTHING_FOUND


def _shortened(label: str) -> str:
    """Return the label of a turn, or the beginning of its id if the transcript has no label."""
    return label if len(label) != _ID_LENGTH else label[:_SHOWN_OF_ID]


def _chosen(units: list[Unit], begins: str, name: str) -> Unit:
    """Return the only unit whose id begins with `begins`.

    Raises:
        UsageError: there is no such unit, or more than one.
    """
    found = [unit for unit in units if begins and unit.id.startswith(begins.lower())]
    if not found:
        raise UsageError(f"--history: {name} has no unit whose id begins with {begins!r}", _HINT.format(name))
    if len(found) > 1:
        some = ", ".join(unit.id for unit in found[:_SHOWN])
        raise UsageError(f"--history: {len(found)} units of {name} begin with {begins!r}", f"give more of it: {some}")
    return found[0]
