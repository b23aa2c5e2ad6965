"""The record of a computed answer in a trace."""

from __future__ import annotations

from dataclasses import dataclass

from goalmem_cli.logic.support import Support


@dataclass(frozen=True, slots=True)
class Part:
    """One of the values that an answer was computed from, with its facts."""

    value: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Calculation:
    """An answer that was computed from facts, while no fact states it: ``count(x)``, ``between(x, y)``.

    `how` is the calculation in words, `parts` what was counted, added or compared, `facts` all supporting facts. If the
    values do not settle it, `why` says so and `values` is empty.
    """

    expression: str
    values: tuple[str, ...] = ()
    how: str = ""
    facts: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    why: str = ""
    support: Support = Support.DERIVED
