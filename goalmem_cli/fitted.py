"""Values fitted to data, which stand in a JSON file beside the module that uses them.

`Fitted` are those of one model: how the engine reads facts with it, and how certain its answers are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

Rounds: TypeAlias = tuple[tuple[int, ...]] | tuple[tuple[int, ...], tuple[int, ...]]
"""How many facts are read: in one call, or in a second one if the first is not sure."""


def values_beside(module: str) -> dict[str, Any]:
    """Return the values in the JSON file beside a module, given its `__file__`, with tuples for lists.

    `python -m goalmem_cli.lab.tuning` fits and writes them.
    """
    values: dict[str, Any] = _with_tuples(json.loads(Path(module).with_suffix(".json").read_text("utf-8")))
    return values


def _with_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_tuples(each) for name, each in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Fitted:
    """How a model with compact prompts reads facts, and the fit of its certainties.

    Reading:
    - `rounds`: how many of the best facts each reading shows. All readings of a round share one call.
    - `sure`: the next round, and then a plan, follows only if no reading has this mean token probability (0 to 1).
    - `fact_tokens`: about the most tokens of facts in the first reading.
    - `added`: the most facts and tokens that a plan's step, or the question after it, adds to the first reading.
    - `again`: the total facts and tokens if the question is read again without such steps, or if they failed.
    - `trusted`: the least mean probability of a reading from a statement that seems to be another person's.

    Certainty:
    - `adapter`: the SHA-256 of the adapter that the certainties belong to.
    - `weights`: per reasoner, the weights of a logistic regression: the bias, then one for each of
      `reasoners.certainty.signs_of`.
    - `floors`: per reasoner, the certainty (0 to 1) below which an answer is withheld by default.
    """

    rounds: Rounds = ((20,),)
    sure: float = 0.8
    fact_tokens: int = 900
    again: tuple[int, int] = (30, 1800)
    added: tuple[int, int] = (8, 400)
    trusted: float = 0.95
    adapter: str = ""
    weights: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    floors: Mapping[str, float] = field(default_factory=dict)


UNFITTED = Fitted()
"""The parameters of a small model without a fit."""
