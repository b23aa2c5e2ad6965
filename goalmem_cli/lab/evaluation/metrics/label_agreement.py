"""How the labels chosen for a question agree with those of its evidence (STITCH, Appendix D.1 and Table 6)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar

Place = TypeVar("Place")

DIAGNOSTICS: Mapping[str, str] = {
    "at_max": "evidence at maximum",
    "dominant": "evidence that is densest",
    "coverage": "mean coverage",
    "best_coverage": "best coverage",
    "full": "fully covered",
    "outdone": "others denser",
    "zero": "no overlap",
}
"""What is measured for a question, and how tables call it. The paper's Q_GT@MAX, GT_DOM, GT_COV, GT_BEST_COV,
Q_GT_FULL, questions whose evidence other turns outdo, and Q_ZERO.
"""


def label_agreement(
    chosen: Collection[str], labels: Mapping[Place, Collection[str]], evidence: Collection[Place]
) -> dict[str, float]:
    """Return the diagnostics of one question: `labels` are those of each turn, `evidence` the turns that answer it.

    A turn's overlap is the number of chosen labels that it has, and its coverage their share. Evidence without labels
    has no overlap. An overlap of nothing is no maximum.
    """
    overlap = {place: len(set(chosen).intersection(own)) for place, own in labels.items()}
    gold = [overlap.get(place, 0) for place in evidence]
    most = max(overlap.values(), default=0)
    if not gold:
        return {}
    covered = [each / len(set(chosen)) if chosen else 0.0 for each in gold]
    densest = [each == most > 0 for each in gold]
    return {
        "at_max": float(any(densest)),
        "dominant": sum(densest) / len(gold),
        "coverage": sum(covered) / len(gold),
        "best_coverage": max(covered),
        "full": float(max(covered) == 1),
        "outdone": float(most > max(gold)),
        "zero": float(most == 0),
    }
