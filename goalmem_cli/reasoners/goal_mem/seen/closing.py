"""How a proved plan becomes an answer: its wording, the verdict of a closed question, and when to check once more."""

from __future__ import annotations

from collections.abc import Sequence

from goalmem_cli.logic.normal import normalise
from goalmem_cli.logic.support import Support
from goalmem_cli.reasoners.goal_mem.asking import VERDICTS
from goalmem_cli.reasoners.goal_mem.grounding import BRIDGED
from goalmem_cli.trace import Grounded

_SETTLING = [verdict for verdict in VERDICTS if verdict != "unknown"]


def verdict_in(wording: str) -> str | None:
    """Return the verdict that a wording opens with: yes, no, likely yes or likely no; None where it has none."""
    said = f"{normalise(wording)} "
    return next((verdict for verdict in _SETTLING if said.startswith(f"{verdict} ")), None)


def reasons_to_check(groundings: Sequence[Grounded], breadth: int) -> tuple[str, ...]:
    """Return why an answer has to be checked once more before it leaves the engine; nothing where it need not.

    An answer of a later plan may have asked for less; what the model inferred or bridged rests on its word alone. A
    value that one grounding states or derives is inferred by none.
    """
    later = [f"it is the answer of plan {breadth}"] if breadth > 1 else []
    supports = [
        (name, value, item.support.get(name) is Support.INFERRED)
        for item in groundings
        for name, values in item.bindings.items()
        for value in values
    ]
    supported = {(name, normalise(value)) for name, value, is_inferred in supports if not is_inferred}
    inferred = [
        f"{name} = {value} is inferred" for name, value, _ in supports if (name, normalise(value)) not in supported
    ]
    bridged = [note for item in groundings for note in item.notes if note.startswith(BRIDGED)]
    return tuple(dict.fromkeys([*later, *inferred, *bridged]))
