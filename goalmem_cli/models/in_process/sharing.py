"""Plan the evaluation of a call's prompts: shared beginnings once, the rest together.

A plan depends on the call's prompts only, never on earlier calls. So the positions in the cache, and with them every
bit of the arithmetic, are the same whether states were kept or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goalmem_cli.models.in_process.kv_cache import Tokens, shared_length

# A separate evaluation costs as much as this many extra tokens, because it reads all weights.
LEAST_SAVED = 16
# From this length on, a prompt's own part is evaluated separately, so that it can be kept for later calls. Shorter
# parts cost little, and even less when evaluated together with others.
LEAST_KEPT = 128


@dataclass(frozen=True, slots=True)
class Root:
    """A beginning that is evaluated in an empty cache: the first `end` tokens of the prompt at index `place`."""

    place: int
    end: int


@dataclass(frozen=True, slots=True)
class Fork:
    """The prompt at `place` continues from the first `start` tokens of the one at `source` and is evaluated to `end`.

    If `end` equals `start`, nothing is evaluated yet. If `source` equals `place`, the prompt continues itself.
    """

    place: int
    source: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The order of evaluation: each root alone, then the forks level by level, then the rest of every prompt.

    `cells` is the number of tokens held at the end.
    """

    roots: tuple[Root, ...]
    levels: tuple[tuple[Fork, ...], ...]
    cells: int


def plan(prompts: Sequence[Tokens], fixed: Sequence[int], *, can_fork: bool) -> Plan:
    """Return how to evaluate the prompts.

    The first `fixed` tokens of a prompt are the same in all prompts of its step. The last token of a prompt is never
    shared, because its logits are needed. Without `can_fork` nothing is shared.
    """
    lasts = [len(tokens) - 1 for tokens in prompts]
    size = sum(map(len, prompts))
    bases = [min(length, last) for length, last in zip(fixed, lasts, strict=True)]
    if len(prompts) == 1:
        return Plan((Root(0, bases[0]),), (), size)
    if not can_fork:
        return Plan(tuple(Root(place, last) for place, last in enumerate(lasts)), (), size)
    steps: dict[bytes, list[int]] = {}
    for place, (tokens, base) in enumerate(zip(prompts, bases, strict=True)):
        steps.setdefault(tokens[:base].tobytes(), []).append(place)
    tree = _Tree(prompts)
    for places in steps.values():
        tree.add_step(places, bases[places[0]])
    forked = sum(fork.start for level in tree.levels for fork in level if fork.place != fork.source)
    return Plan(tuple(tree.roots), tuple(map(tuple, tree.levels)), size - forked)


class _Tree:
    """The roots and forks of a plan under construction."""

    def __init__(self, prompts: Sequence[Tokens]) -> None:
        self.roots: list[Root] = []
        self.levels: list[list[Fork]] = []
        self._prompts = prompts

    def add_step(self, places: Sequence[int], fixed: int) -> None:
        """Plan the prompts of one step: long ones become roots, the others forks of the step's fixed part."""
        long = list(self._long(places, fixed))
        for group in long:
            end = self._shared(group)
            self.roots.append(Root(group[0], end))
            self._branch(group, group[0], end, 0)
        taken = {place for group in long for place in group}
        if short := [place for place in places if place not in taken]:
            self.roots.append(Root(short[0], fixed))
            self._branch(short, short[0], fixed, 0)

    def _long(self, group: Sequence[int], fixed: int) -> Iterator[Sequence[int]]:
        """Yield the groups whose common beginning is long enough to keep and whose separation costs next to nothing."""
        shared = self._shared(group)
        if shared - fixed >= LEAST_KEPT:
            yield group
        elif shared - fixed < LEAST_SAVED and len(group) > 1:
            for part in self._parts(group, shared):
                yield from self._long(part, fixed)

    def _branch(self, group: Sequence[int], source: int, start: int, level: int) -> None:
        """Plan prompts that continue from the first `start` tokens of the one at `source`, already evaluated."""
        shared = self._shared(group)
        if (len(group) - 1) * (shared - start) >= LEAST_SAVED:
            self._fork(Fork(group[0], source, start, shared), level)
            source, start, level = group[0], shared, level + 1
        parts = self._parts(group, shared)
        for part in parts:
            if len(part) > 1:
                self._branch(part, source, start, level)
        for place in group:
            if place != source and [place] in parts:
                self._fork(Fork(place, source, start, start), level)

    def _fork(self, fork: Fork, level: int) -> None:
        while len(self.levels) <= level:
            self.levels.append([])
        self.levels[level].append(fork)

    def _shared(self, group: Sequence[int]) -> int:
        """Return how many tokens the prompts have in common at the start, not counting the last of any."""
        first = self._prompts[group[0]]
        lengths = [min(shared_length(first, self._prompts[place]), len(self._prompts[place]) - 1) for place in group]
        return min(lengths)

    def _parts(self, group: Sequence[int], shared: int) -> list[list[int]]:
        """Return the prompts grouped by their next token; a prompt with only its last token left is its own group."""
        parts: dict[int, list[int]] = {}
        for place in group:
            is_last = len(self._prompts[place]) - 1 == shared
            parts.setdefault(-1 - place if is_last else int(self._prompts[place][shared]), []).append(place)
        return list(parts.values())
