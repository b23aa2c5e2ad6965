"""Indexing for all structured backbones: find the pending parts, and derive from them batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation
from goalmem_cli.ports import Indexed, Outlook, PartDone
from goalmem_cli.records import Derived, Part, Turn, Usage

T = TypeVar("T")

BYTES_PER_TOKEN = 3
"""A low value, so that estimates of tokens are rather too high than too low."""

Derive = Callable[[Sequence[Part]], Sequence[Derivation]]


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of an indexing: pending parts, the number of them that failed before, and ledger lines to drop."""

    pending: tuple[Part, ...]
    failed: int = 0
    stale: tuple[Derived, ...] = ()

    def outlook(self, calls: int, tokens: int) -> Outlook:
        """Return the plan as an `Outlook`, with the caller's estimates of model calls and tokens."""
        turns = sum(len(part.turns) for part in self.pending)
        return Outlook(len(self.pending), turns, self.failed, calls, tokens)


def sessions_of(turns: Iterable[Turn]) -> list[Part]:
    """Return each session of each conversation as a part, named by its number. `turns` must be in order."""
    return [
        Part(conversation, str(session), tuple(members))
        for (conversation, session), members in groupby(turns, key=lambda turn: (turn.conversation, turn.session))
    ]


def plan(parts: Sequence[Part], ledger: Iterable[Derived]) -> Plan:
    """Compare parts with the ledger. Pending are those that are new, changed, failed, or follow a changed part.

    `parts` must have each part after the one that it `follows`.
    """
    known = {(line.conversation, line.name): line for line in ledger}
    present = {(part.conversation, part.name) for part in parts}
    failed = {place for place, line in known.items() if line.problem is not None}
    changed: set[tuple[str, str | None]] = set()
    pending = []
    for part in parts:
        place = (part.conversation, part.name)
        line = known.get(place)
        if line is None or line.digest != part.digest or (part.conversation, part.follows) in changed:
            changed.add(place)
        if place in changed or place in failed:
            pending.append(part)
    again = sum((part.conversation, part.name) in failed for part in pending)
    return Plan(tuple(pending), again, tuple(line for place, line in known.items() if place not in present))


def batches(parts: Iterable[T], at_once: int, requests: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield items in order, in batches of at most `at_once` requests (or tokens, or whatever `requests` counts).

    `requests` returns how many requests an item needs; an item that needs more than `at_once` comes alone.
    """
    batch: list[T] = []
    size = 0
    for part in parts:
        count = requests(part)
        if batch and size + count > at_once:
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += count
    if batch:
        yield batch


def derive_all(
    store: StructuredMemory,
    backbone: str,
    work: Plan,
    groups: Iterable[Sequence[Part]],
    derive: Derive,
    report: Callable[[PartDone], None],
) -> list[PartDone]:
    """Derive from the groups of pending parts in order; store and report each group before the next.

    First deletes the stale parts of the plan. Returns what was done, in order.

    Raises:
        ModelError: the model could not be used at all.
        StoreError: the store could not be used, or turns were forgotten meanwhile.
    """
    store.drop_parts(work.stale)
    done: list[PartDone] = []
    for group in groups:
        derivations = derive(group)
        store.derive(backbone, derivations)
        for each in derivations:
            part, made = each.part, (len(each.units), len(each.edges))
            done.append(PartDone(part.conversation, part.name, len(part.turns), *made, each.usage, each.problem))
            report(done[-1])
    return done


def summary(
    store: StructuredMemory, backbone: str, done: Sequence[PartDone], noted: Mapping[str, int] | None = None
) -> Indexed:
    """Return what an indexing did, with counts of what the backbone now has.

    Raises:
        StoreError: the store could not be read.
    """
    counts = store.counts_of(backbone)
    usage = sum((part.usage for part in done), Usage())
    failed = tuple(part for part in done if part.problem is not None)
    return Indexed(len(done), sum(part.turns for part in done), counts, usage, failed, noted or {})


def about_tokens(texts: Iterable[str]) -> int:
    """Return an estimate of the number of tokens in the texts."""
    return sum(len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN + 1 for text in texts)
