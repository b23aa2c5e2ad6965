"""Paired tests of rows against one of them, over the questions that both answer; models and runs may differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from goalmem_cli.errors import UsageError
from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval, PairedTest, paired_test
from goalmem_cli.lab.evaluation.summaries.summary import PAIRED, Row, Summary, differences


@dataclass(frozen=True, slots=True)
class Pairing:
    """The difference of a row to another in a metric; `run` is the number of its run among the given ones, from 1."""

    run: int
    name: str
    model: str
    metric: str
    test: PairedTest


def against(summaries: Sequence[Summary], named: str) -> list[Pairing]:
    """Return the tests of all other rows against the row named ``REASONER over BACKBONE``, the first of that name.

    ``2: REASONER over BACKBONE`` names a row of the second run. Only questions that both rows have, by id, are
    compared.

    Raises:
        UsageError: there is no row of that name, or no other row shares a question with it.
    """
    rows = [(place, summary, row) for place, summary in enumerate(summaries, 1) for row in summary.rows if row.scores]
    names = [(place, f"{row.name} over {row.backbone}") for place, _, row in rows]
    wanted = next((at for at, (place, name) in enumerate(names) if named in (name, f"{place}: {name}")), None)
    if wanted is None:
        known = ", ".join(repr(name) for _, name in dict.fromkeys(names))
        raise UsageError(f"--against: there is no row {named!r}", f"choose from {known}")
    base = rows[wanted][2]
    found = [
        Pairing(place, names[at][1], summary.manifest.model, metric, test)
        for at, (place, summary, row) in enumerate(rows)
        if at != wanted
        for metric in PAIRED
        if (test := _test(row, base, metric)) is not None
    ]
    if not found:
        raise UsageError(
            f"--against: no other row answers a question of {named!r}", "name runs over the same questions"
        )
    return found


def _test(row: Row, base: Row, metric: str) -> PairedTest | None:
    common = [case for case, each in row.scores.items() if metric in each and metric in base.scores.get(case, {})]
    mine, theirs = ([one.scores[case][metric] for case in common] for one in (row, base))
    return paired_test(mine, theirs)


def ablations(members: Sequence[tuple[Summary, Row]]) -> dict[int, dict[int, dict[str, Interval]]]:
    """Return index of a whole system -> index of its variant -> metric -> mean difference, question by question.

    Indexes are places in `members`. A matrix's variant is compared with its original. A run with own settings of its
    backbone or reasoner is compared with the run that has the fewest of these, if all else is equal.
    """
    found: dict[int, dict[int, dict[str, Interval]]] = {}
    for at, (_, row) in enumerate(members):
        wholes = [place for place in range(len(members)) if _is_whole(members[place], members[at])]
        whole = min(wholes, key=lambda place: len(_told(*members[place], is_own=True)), default=None)
        if whole is not None and (apart := differences(row.scores, members[whole][1].scores)):
            found.setdefault(whole, {})[at] = apart
    return found


def kind_of(others: Iterable[tuple[Summary, Row]]) -> str:
    """Return the title of the comparisons: "Variants" if a row has more own settings than the whole, or "Ablations"."""
    is_told_more = any(summary.told(row)[:2] == (row.reasoner, row.backbone) for summary, row in others)
    return "Variants" if is_told_more else "Ablations"


def _is_whole(one: tuple[Summary, Row], other: tuple[Summary, Row]) -> bool:
    """Say whether the first row is the whole system, of which the second is a variant or has more own settings."""
    (summary, row), (its, variant) = one, other
    original = its.told(variant)[:2]
    if row is variant or row.queries or variant.queries or (row.reasoner, row.backbone) != original:
        return False
    if (variant.reasoner, variant.backbone) != original:
        return summary is its
    same = (summary.manifest.digest, summary.manifest.model) == (its.manifest.digest, its.manifest.model)
    is_alike = same and _told(*one, is_own=False) == _told(*other, is_own=False)
    return is_alike and _told(*one, is_own=True) < _told(*other, is_own=True)


def _told(summary: Summary, row: Row, *, is_own: bool) -> Set[tuple[str, str]]:
    """Return the settings (name, value) of the row's reasoner and backbone; unless `is_own`, those of neither."""
    reasoner, backbone, told = summary.told(row)
    owners = (reasoner, backbone) if is_own else ("",)
    return {(name, value) for name, value in told.items() if name.rpartition(".")[0] in owners}
