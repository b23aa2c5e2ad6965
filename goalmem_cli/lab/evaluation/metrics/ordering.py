"""Score the order of events in an answer, as BEAM does (arXiv 2510.27246, event ordering)."""

from __future__ import annotations

import math
from collections.abc import Sequence


def order_score(order: Sequence[int], count: int) -> float:
    """Return Kendall's tau-b between the right order and the answer's, scaled from 0 (reversed) to 1 (right).

    `order` gives for each item of the answer which of `count` events it is, from 1; 0 means none. A repeated event
    counts at its first place. As in the authors' code, missing events and items that are no event are tied at the end
    of the list that lacks them. An answer without any event scores 0.
    """
    named = [event or -place for place, event in enumerate(order, 1)]  # give each unknown item its own number
    told = list(dict.fromkeys(named))
    if not any(event > 0 for event in told):
        return 0.0
    every = [*range(1, count + 1), *(item for item in told if item < 0)]
    if len(every) == 1:
        return 1.0
    from scipy.stats import kendalltau  # imported here: takes a quarter of a second

    behind = len(every) + 1
    right = [event if event > 0 else behind for event in every]
    found = [told.index(event) + 1 if event in told else behind for event in every]
    tau = float(kendalltau(right, found, variant="b").statistic)
    return 0.0 if math.isnan(tau) else (tau + 1) / 2
