"""`goalmem index NAME --history UNIT`: lists the changes of a unit, each with the turns that caused it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from goalmem_cli.cli.invocation import Invocation
from goalmem_cli.errors import UsageError

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.ports import StructuredBackbone
    from goalmem_cli.records import Unit

SCHEMA_VERSION = 1
NOTHING_FOUND = 1
_SHOWN = 3
_ID_LENGTH, _SHOWN_OF_ID = 32, 12
_HINT = "`goalmem search QUERY --backbone {} --explain` shows the ids of units"


def show_history(
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
