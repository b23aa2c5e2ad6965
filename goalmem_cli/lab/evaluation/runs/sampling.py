"""Choose the cases of a run by category, sample and shard, with the same result on every machine."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from enum import StrEnum

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.runs.run import Placed


class Sample(StrEnum):
    """How a limited number of cases is drawn."""

    STRATIFIED = "stratified"
    FIRST = "first"
    RANDOM = "random"


def choose(
    cases: Sequence[Case],
    *,
    categories: Collection[str] | None = None,
    conversations: Collection[str] | None = None,
    ids: Collection[str] | None = None,
    limit: int | None = None,
    sample: Sample = Sample.STRATIFIED,
    seed: int = 0,
) -> tuple[Placed, ...]:
    """Return the chosen cases in the dataset's order, each with its position.

    Args:
        categories: category codes; None for all.
        conversations: the questions' conversations; None for all.
        ids: case ids; None for all.
        limit: the most cases; None for all.
        sample: `STRATIFIED` keeps the categories' shares (largest remainders) and draws at random within each.
        seed: the seed of the draw.
    """
    members = [
        case
        for case in cases
        if (categories is None or case.category in categories)
        and (conversations is None or case.conversation in conversations)
        and (ids is None or case.id in ids)
    ]
    if limit is not None and limit < len(members):
        members = _DRAWS[sample](members, limit, random.Random(seed))  # noqa: S311 - a sample, not a secret
    return tuple(Placed(place, case) for place, case in enumerate(members))


def shard(placed: Sequence[Placed], number: int, of: int) -> tuple[Placed, ...]:
    """Return every `of`-th case, starting at `number` (from 1), so that all shards have a similar mixture."""
    return tuple(placed[number - 1 :: of])


def _first(cases: Sequence[Case], limit: int, _chance: random.Random) -> list[Case]:
    return list(cases[:limit])


def _random(cases: Sequence[Case], limit: int, chance: random.Random) -> list[Case]:
    return [cases[index] for index in sorted(chance.sample(range(len(cases)), limit))]


def _stratified(cases: Sequence[Case], limit: int, chance: random.Random) -> list[Case]:
    """Return `limit` cases in order, with each category's share kept (largest remainders) and drawn at random."""
    strata: dict[str, list[int]] = {}
    for index, case in enumerate(cases):
        strata.setdefault(case.category, []).append(index)
    shares = {category: limit * len(members) / len(cases) for category, members in strata.items()}
    counts = {category: int(share) for category, share in shares.items()}
    by_remainder = sorted(strata, key=lambda category: (counts[category] - shares[category], category))
    for category in by_remainder[: limit - sum(counts.values())]:
        counts[category] += 1
    drawn = [index for category in sorted(strata) for index in chance.sample(strata[category], counts[category])]
    return [cases[index] for index in sorted(drawn)]


_DRAWS = {Sample.FIRST: _first, Sample.RANDOM: _random, Sample.STRATIFIED: _stratified}
