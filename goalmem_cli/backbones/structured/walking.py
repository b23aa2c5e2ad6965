"""Support for backbones that read a conversation step by step, where each step depends on those before (C4).

A walk yields one question at a time, and goes on with the answer. Several conversations are walked in parallel, so that
their questions go to the model together. What takes a store raises StoreError if it cannot be read or written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.backbones.structured.indexing import batches, plan, sessions_of
from goalmem_cli.backbones.structured.kit import Kit, StructuredBackbone
from goalmem_cli.backbones.structured.summaries import WHOLE, lines_of, whole_part
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import Reply, ask_each
from goalmem_cli.ports import PartDone, Request, Vectors
from goalmem_cli.records import Derived, Part, Turn, Unit

R = TypeVar("R", covariant=True)

Vector: TypeAlias = NDArray[np.float32]
Known = dict[str, tuple[Unit, ...]]
"""The units of the parts of a conversation, by part name."""


class Asked(Protocol[R]):
    """A question for a model: it builds the request and parses the reply."""

    def request(self, kit: Kit, problem: str) -> Request:
        """Return the request."""
        ...

    def read(self, kit: Kit, text: str) -> R:
        """Return what the reply says."""
        ...


def ask_all(kit: Kit, asked: Sequence[Asked[R]]) -> list[Reply[R]]:
    """Ask all in one call, and return the replies in order; raises ModelError if the model could not be used at all."""
    builds = [partial(each.request, kit) for each in asked]
    return ask_each(kit.model, builds, [partial(each.read, kit) for each in asked])


class HasPart(Protocol):
    """A step with the part that its units are derived from."""

    @property
    def part(self) -> Part:
        """The part; its name depends on everything that the model is shown."""
        ...


S = TypeVar("S", bound=HasPart)


class Walk(ABC, Generic[S]):
    """A walk through a conversation. It takes steps that are known, and hands out the others to be asked.

    `names` are the part names of the steps taken so far.
    """

    def __init__(self, known: Mapping[str, Sequence[Unit]]) -> None:
        """Take the units that are known, by part name."""
        self.names: set[str] = set()
        self._known = known
        self._left = self._steps()

    @abstractmethod
    def _steps(self) -> Iterator[S]:
        """Yield the steps; each is requested only after the one before was taken."""

    @abstractmethod
    def take(self, step: S, units: Sequence[Unit]) -> None:
        """Update the walk with the units of a step."""

    def advance(self) -> S | None:
        """Return the next unknown step, which the caller answers with `take`; None at the end."""
        for step in self._left:
            units = self._known.get(step.part.name)
            if units is None:
                return step
            self.take(step, units)
        return None


T = TypeVar("T")
C = TypeVar("C")


class TurnWalk(Walk[S], Generic[S, T, C]):
    """A walk through what the turns of one conversation told, with the backbone's settings.

    `vectors` are those of the compared units so far, `_current` the units that hold, by id or key.
    """

    def __init__(
        self,
        whole: Part,
        told: Sequence[T],
        vectors: Mapping[str, Vector],
        known: Mapping[str, Sequence[Unit]],
        settings: C,
    ) -> None:
        """Take the conversation, what it told in order, the vectors of what is compared, and the known units."""
        super().__init__(known)
        self.turns = {turn.id: turn for turn in whole.turns}
        self._told = told
        self.vectors = dict(vectors)
        self._settings = settings
        self._current: dict[str, Unit] = {}
        self._begin()

    def _begin(self) -> None:
        """Set what else the walk keeps; by default nothing."""


class Walking(Protocol):
    """Anything that hands out one question at a time; each must be answered before the next."""

    def advance(self) -> object | None:
        """Return the next question; None at the end."""
        ...


W = TypeVar("W", bound=Walking)


def together(walks: Iterable[W], at_once: int) -> Iterator[list[tuple[W, Any]]]:
    """Yield batches of (walk, question) for a model that works on `at_once` requests: one per walk in each round."""
    open_ = list(walks)
    while asked := [(walk, step) for walk in open_ if (step := walk.advance()) is not None]:
        open_ = [walk for walk, _ in asked]
        yield from batches(asked, at_once, lambda _: 1)


def rounds(asked: Sequence[int], at_once: int) -> int:
    """Return the number of model calls of `together` for walks with these numbers of questions."""
    return sum(-(-sum(each > done for each in asked) // at_once) for done in range(max(asked, default=0)))


def changed(
    store: StructuredMemory, backbone: str, ledger: Sequence[Derived], told: Iterable[object]
) -> list[tuple[Part, Known]]:
    """Return each conversation that has changed since it was walked, or has a failed part, with its known units.

    The conversation comes as its `whole_part`. It also counts as changed if the settings `told` differ.
    """
    shaping = tuple(told)
    turns: dict[str, list[Turn]] = {}
    for session in sessions_of(store.turns()):
        turns.setdefault(session.conversation, []).extend(session.turns)
    wholes = {name: whole_part(of, shaping) for name, of in turns.items()}
    names = {part.conversation for part in plan(list(wholes.values()), lines_of(WHOLE, ledger)).pending}
    names |= {line.conversation for line in ledger if line.problem is not None and line.conversation in wholes}
    if not names:
        return []
    units = {unit.id: unit for unit in store.units_of(backbone, None, sorted(names))}
    known: dict[str, Known] = {name: {} for name in wholes if name in names}
    for line in ledger:
        if line.conversation in known and line.problem is None:
            known[line.conversation][line.name] = tuple(units[id_] for id_ in line.units)
    return [(wholes[name], of) for name, of in known.items()]


def stored(
    store: StructuredMemory,
    backbone: str,
    parts: Sequence[Part],
    gave: Sequence[tuple[Unit, ...]],
    replies: Sequence[Reply[Any]],
    report: Callable[[PartDone], None],
    turns: Sequence[int] | None = None,
) -> list[PartDone]:
    """Store the units `gave` of the parts, and report each part with its number of new `turns` (default 0)."""
    done = []
    derivations = []
    for place, (part, units, reply) in enumerate(zip(parts, gave, replies, strict=True)):
        last = part.turns[-1].label
        problem = f"up to {last}: {reply.problem}" if reply.problem else None
        derivations.append(Derivation(part, units, problem=problem, usage=reply.usage))
        count = turns[place] if turns else 0
        done.append(PartDone(part.conversation, part.name, count, len(units), 0, reply.usage, problem))
    store.derive(backbone, derivations)
    for each in done:
        report(each)
    return done


def drop_all_but(store: StructuredMemory, backbone: str, names: Mapping[str, set[str]]) -> None:
    """Drop the parts of these conversations that are not in `names`, and all parts of conversations that are gone."""
    there = {turn.conversation for turn in store.turns()}
    store.drop_parts(
        [
            line
            for line in store.derived(backbone)
            if line.conversation not in there or line.name not in names.get(line.conversation, (line.name,))
        ]
    )


Q = TypeVar("Q", bound=HasPart)
V = TypeVar("V", bound=TurnWalk[Any, Any, Any])


class WalkingBackbone(StructuredBackbone[StructuredMemory]):
    """A backbone that reads new turns, and then walks through its conversations in parallel.

    `name` is its name in the store. Walks compare units of the kinds `compared` by their vectors.
    """

    name: str
    compared: tuple[str, ...]

    def _ask_for(
        self,
        new: Sequence[tuple[Known, Q]],
        ask: Callable[[list[Q]], Sequence[Reply[tuple[Unit, ...]]]],
        report: Callable[[PartDone], None],
        turns: Callable[[Q], int] = lambda _: 0,
    ) -> list[PartDone]:
        """Ask about the `new` parts, store their units, and add these to what is known of their conversations.

        `turns` returns the number of new turns of a part, for the report.
        """
        done: list[PartDone] = []
        for group in batches(new, self._at_once(new), lambda _: 1):
            asked = [each for _, each in group]
            replies = ask(asked)
            gave = [reply.value or () for reply in replies]
            parts = [each.part for each in asked]
            done += stored(self._store, self.name, parts, gave, replies, report, list(map(turns, asked)))
            for (known, _), part, units in zip(group, parts, gave, strict=True):
                known[part.name] = units
        return done

    def _go_through(
        self, walks: Sequence[V], ask: Callable[[list[Any]], Sequence[Reply[Any]]], report: Callable[[PartDone], None]
    ) -> list[PartDone]:
        """Walk to the end: ask the next step of each walk, store its units, and let the walk take them."""
        done: list[PartDone] = []
        for group in together(walks, self._at_once(walks)):
            steps = [step for _, step in group]
            replies = ask(steps)
            gave = [step.units(reply.value or ()) for step, reply in zip(steps, replies, strict=True)]
            done += stored(self._store, self.name, [step.part for step in steps], gave, replies, report)
            for (walk, step), units in zip(group, gave, strict=True):
                walk.vectors |= self._vectors_of(units)
                walk.take(step, units)
        return done

    def _ask(self, asked: Sequence[Asked[R]]) -> list[Reply[R]]:
        return ask_all(self._kit(), asked)

    def _vectors_of(self, units: Iterable[Unit]) -> dict[str, Vectors]:
        """Return by unit id the vectors of the units whose kind is compared."""
        own = [unit for unit in units if unit.kind in self.compared]
        return dict(zip((unit.id for unit in own), self._store.vectors_of(own), strict=True)) if own else {}
