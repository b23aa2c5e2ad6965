"""`goalmem rules`: lists and forgets the kept rules."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.groups import CONTEXT, ListGroup, examples
from goalmem_cli.cli.invocation import begin, confirm
from goalmem_cli.config import command_for
from goalmem_cli.errors import StoreDamaged, UsageError

SCHEMA_VERSION = 1
NOTHING_FOUND = 1

group = typer.Typer(
    cls=ListGroup,
    context_settings=CONTEXT,
    help="Show the plans that are tried again for like questions.",
    epilog=examples("goalmem rules", "goalmem rules forget --all", guide="proofs"),
)


@group.command("list", epilog=examples("goalmem rules", "goalmem rules --json", guide="proofs"))
def list_(
    context: typer.Context, store: options.Store = None, json: options.Json = False, quiet: options.Quiet = False
) -> int:
    """List the rules, and what each settled.

    Shows each form and plan, how many questions began with it, how many it settled, and the cost. Exits with 1 if there
    is none.
    """
    from goalmem_cli.json_records import plain
    from goalmem_cli.render.text import counted, safe
    from goalmem_cli.store.rules import RuleFile

    run = begin(context, quiet=quiet, store=store)
    rules = RuleFile(run.settings.store).all()
    if json:
        rows = [{"name": rule.name, **plain(rule)} for rule in rules]
        run.screen.document({"schema_version": SCHEMA_VERSION, "rules": rows})
    for rule in () if json else rules:
        cost = f", in {counted(rule.calls, 'call')} and {rule.tokens:,} tokens" if rule.tried else ""
        run.screen.text(f"{rule.name}  {safe(rule.text)}  settled {rule.settled} of {rule.tried}{cost}")
        run.screen.text(f"    IF {safe(' AND '.join(rule.subgoals))} THEN {safe(rule.goal)}")
    if not rules:
        run.screen.note("there is no rule yet: a question settled by a plan makes one")
    return 0 if rules else NOTHING_FOUND


@group.command("forget", epilog=examples("goalmem rules forget 1f0c22ab", "goalmem rules forget --all", guide="proofs"))
def forget(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="The rules, as `goalmem rules list` names them.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All rules.")] = False,
    yes: options.Yes = False,
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Show rules, ask, and delete them for good."""
    from goalmem_cli.render.text import safe
    from goalmem_cli.store.rules import KeptRule, RuleFile

    if bool(names) is every:
        raise UsageError("name the rules, or give --all", f"`{command_for(store, 'rules', 'list')}` names them")
    run = begin(context, quiet=quiet, store=store)
    file, rules = RuleFile(run.settings.store), list[KeptRule]()
    with suppress(*((StoreDamaged,) if every else ())):  # of a damaged file, all can be forgotten
        rules = file.all()
    if strange := sorted(set(names or ()) - {rule.name for rule in rules}):
        raise UsageError(f"there is no rule {strange[0]!r}", f"`{run.command('rules', 'list')}` names them")
    gone = [rule for rule in rules if every or rule.name in (names or ())]
    for rule in gone:
        run.screen.note(f"{rule.name}: {safe(rule.text)} (settled {rule.settled} of {rule.tried})")
    run.screen.note("this cannot be undone; the model plans such questions again, which makes new rules")
    confirm("Forget all rules?" if every else f"Forget {', '.join(names or ())}?", is_given=yes)
    file.save(rule for rule in rules if rule not in gone)
    run.screen.report("forgot all rules" if every else f"forgot {', '.join(names or ())}")
    return 0
