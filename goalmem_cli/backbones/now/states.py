"""What a text states about a thing that has one value at a time, and whether that ends what was said before.

"We are back in York" states a home, "that is what I drive now" a car and that there is no other. Only statements of the
present count, and changes that happened: no plan, no wish, no past, nothing about somebody else. English only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from goalmem_cli.backbones.changes import stated
from goalmem_cli.backbones.now.asked import OWN, Asked
from goalmem_cli.backbones.now.clauses import done
from goalmem_cli.backbones.now.owned import owned
from goalmem_cli.backbones.now.state import State
from goalmem_cli.records import Unit


@dataclass(frozen=True, slots=True)
class Telling:
    """A turn that states what is asked for."""

    unit: Unit
    state: State


def states_in(text: str, asked: Asked) -> tuple[State, ...]:
    """Return what the text states of the kind that is asked for, in the order of its sentences, whoever holds it."""
    sentences = owned if asked.kind == OWN else done
    return tuple(state for sentence in stated(text) for state in sentences(sentence, asked))


def replaced_by(told: Sequence[Telling], asked: Asked) -> dict[str, Telling | None]:
    """Return unit id -> the statement that replaces it, or None if it holds. `told` are one holder's, in order of time.

    What holds is decided from the last back: a value that is said again is not replaced by what was said between.
    """
    found: dict[str, Telling | None] = {}
    for place, one in enumerate(told):
        found[one.unit.id] = None
        rest = told[place + 1 :]
        ends = [at for at, other in enumerate(rest) if _replaces(other.state, one.state, asked)]
        if ends and not _is_back(one.state, rest[ends[-1] + 1 :]):
            last = rest[ends[-1]].state
            found[one.unit.id] = next(rest[at] for at in ends if last.says_the_same(rest[at].state) or at == ends[-1])
    return found


def _replaces(later: State, earlier: State, asked: Asked) -> bool:
    if not later.replaces:
        return False
    is_same = later.says_the_same(earlier)
    if later.is_end:
        return not earlier.is_end and (is_same or not later.value)
    if earlier.is_end:
        return is_same or asked.has_one_value or later.is_only
    return not is_same and (asked.has_one_value or later.is_only)


def _is_back(state: State, rest: Iterable[Telling]) -> bool:
    """Say whether a value was told again after the last statement that replaced it."""
    return not state.is_end and any(
        each.state.says_the_same(state) and not each.state.is_end and each.state.replaces for each in rest
    )
