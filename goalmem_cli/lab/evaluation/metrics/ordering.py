"""How well an answer keeps the order of events, as BEAM scores it (arXiv 2510.27246, event ordering)."""

from __future__ import annotations

import math
from collections.abc import Sequence


def order_score(order: Sequence[int], count: int) -> float:
    """Return Kendall's tau-b between the right order and an answer's, from 0 (reversed) to 1 (right).

    `order` has, for each item of the answer in its order, which of `count` events it is, from 1; 0 for none of them. An
    event that comes again counts where it came first. Events that the answer lacks, and items that are none, are tied
    behind all others of the list that lacks them, as in the authors' own code. An answer without any event has 0.
    """
    named = [event or -place for place, event in enumerate(order, 1)]  # an item that is no event is one of its own
    told = list(dict.fromkeys(named))
    if not any(event > 0 for event in told):
        return 0.0
    every = [*range(1, count + 1), *(item for item in told if item < 0)]
    if len(every) == 1:
        return 1.0
    from scipy.stats import kendalltau  # only here: a quarter of a second

    behind = len(every) + 1
    right = [event if event > 0 else behind for event in every]
    found = [told.index(event) + 1 if event in told else behind for event in every]
    tau = float(kendalltau(right, found, variant="b").statistic)
    return 0.0 if math.isnan(tau) else (tau + 1) / 2
