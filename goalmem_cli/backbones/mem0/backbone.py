"""The backbone `mem0`: facts of each pair of messages, and what a model decides they do to those remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from goalmem_cli.asking import Reply, ask_each
from goalmem_cli.backbones.mem0 import DECIDE, FACT, FACTS, MEMORY, NAME, SUM_UP
from goalmem_cli.backbones.mem0.deciding import EVENTS, Step, Vector, Walk
from goalmem_cli.backbones.mem0.reading import Reading, Summed, readings_of
from goalmem_cli.backbones.mem0.settings import Settings
from goalmem_cli.backbones.structured.beside import nearest, own_hits
from goalmem_cli.backbones.structured.decisions import (
    DECISION,
    SUPERSEDES,
    Act,
    Deed,
    decide,
    ending_of,
    endings_of,
    history_of,
    known_line,
    superseding,
)
from goalmem_cli.backbones.structured.indexing import about_tokens, batches, plan, sessions_of, summary
from goalmem_cli.backbones.structured.kept import Kept
from goalmem_cli.backbones.structured.kit import Kit, LoadKit
from goalmem_cli.backbones.structured.summaries import WHOLE, lines_of, whole_part
from goalmem_cli.memory import StructuredMemory
from goalmem_cli.ports import Indexed, Outlook, PartDone, Request
from goalmem_cli.records import Derived, Hit, Part, Query, Turn, Unit, Usage
from goalmem_cli.stored import Derivation, Ranking

_REPLY_TOKENS = 120  # about as many as a reply has

R = TypeVar("R", covariant=True)


class _Asked(Protocol[R]):
    """What can be asked a model, and its reply read."""

    def request(self, kit: Kit, problem: str) -> Request:
        """Return the request."""
        ...

    def read(self, kit: Kit, text: str) -> R:
        """Return what the reply says."""
        ...


class _Walking(Protocol):
    """What hands out one thing to ask for after the other; each has to be answered before the next is handed out."""

    def advance(self) -> object | None:
        """Return the next one; None at the end."""
        ...


W = TypeVar("W", bound=_Walking)


@dataclass
class _Work:
    """A conversation that has changed: the part that all of it is, what is known of it, and names that have a place."""

    whole: Part
    known: dict[str, tuple[Unit, ...]]
    summed: Summed
    readings: tuple[Reading, ...] = ()
    names: set[str] = field(default_factory=set)

    @property
    def unread(self) -> list[Reading]:
        """What nobody has read yet."""
        return [reading for reading in self.readings if reading.part.name not in self.known]

    def read(self, settings: Settings) -> None:
        """Find what there is to read, now that it was summed up."""
        self.readings = tuple(readings_of(self.whole.turns, self.summed, settings))
        self.names = {self.whole.name, *self.summed.names, *(reading.part.name for reading in self.readings)}

    def walks(self, vectors: Mapping[str, Vector], settings: Settings) -> list[Walk]:
        """Return what each memory of the conversation is to go through."""
        turns = {turn.id: turn for turn in self.whole.turns}
        told: dict[str, list[tuple[Unit, ...]]] = {}
        for reading in self.readings:
            told.setdefault(reading.user, []).append(self.known.get(reading.part.name, ()))
        return [Walk(turns, facts, vectors, self.known, settings) for facts in told.values()]


class Mem0:
    """Retrieves the memories that are current, or were at the query's time, by their likeness to it."""

    def __init__(self, store: StructuredMemory, kit: LoadKit, settings: Settings | None = None) -> None:
        """Take the store, and what loads the model and the prompts, which only indexing needs."""
        self._store = store
        self._kit = kit
        self._settings = settings or Settings()
        self._endings = Kept(store, self._read_endings)

    def update(self, turns: Sequence[Turn]) -> None:
        """Remember the turns; the next `index` decides what they do to the memories.

        Raises:
            StoreError: the store cannot be written.
        """
        self._store.add_turns(turns)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k memories, best first, that are current, or were at the end of the query's time.

        Raises:
            StoreError: the store cannot be read.
        """
        endings = self._endings()

        def is_current(unit: str) -> bool:
            return ending_of(endings, unit, query.until) is None

        with self._store.reading() as reader:
            best = nearest(reader, query, k, NAME, (MEMORY,), is_current)
            return own_hits(reader, query, k, {Ranking.DENSE.value: best}, is_beside=self._settings.beside)

    def history(self, unit: str) -> list[Deed]:
        """Return what happened to a memory, in order.

        Raises:
            StoreError: the store cannot be read.
        """
        return history_of(self._store.units_of(NAME, [MEMORY, DECISION]), unit)

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model.

        It is an estimate: what is decided depends on what was decided before.

        Raises:
            StoreError: the store cannot be read.
        """
        ledger = self._store.derived(NAME)
        pending = self._pending(ledger)
        sums, unread, decisions = self._estimated(pending)
        parts, failed = sum(sums) + len(unread) + sum(decisions), sum(line.problem is not None for line in ledger)
        if not parts:
            return Outlook(0, 0, 0, 0, 0)
        kit = self._kit()
        turns = sum(reading.new_turns for reading in unread)
        calls = _rounds(sums, kit.at_once) + -(-len(unread) // kit.at_once) + _rounds(decisions, kit.at_once)
        shown = about_tokens(turn.text for each in unread for turn in (*each.stretch.before, *each.stretch.sources))
        known = [unit for work in pending for units in work.known.values() for unit in units if unit.kind == MEMORY]
        candidate = about_tokens(map(known_line, known)) // max(1, len(known)) if known else _REPLY_TOKENS // 4
        fixed = {step: kit.fixed_tokens(step) + _REPLY_TOKENS for step in (FACTS, DECIDE, SUM_UP)}
        tokens = (
            shown
            + len(unread) * fixed[FACTS]
            + sum(decisions) * (fixed[DECIDE] + candidate * self._settings.similar)
            + sum(sums) * fixed[SUM_UP]
        )
        return Outlook(parts, turns, failed, calls, tokens)

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Read the pairs that are new, and decide again wherever something else is shown than before.

        Raises:
            ModelError: the model could not be used at all.
            StoreError: the store cannot be used.
        """
        pending = self._pending(self._store.derived(NAME))
        done = self._sum_up(pending, report)
        for work in pending:
            work.read(self._settings)
        done += self._read(pending, report)
        done += self._walk(pending, report)
        self._drop_all_but(pending)
        edges = superseding(self._store.units_of(NAME, [MEMORY, DECISION]))
        self._store.shared(NAME, SUPERSEDES, [], edges, links=(SUPERSEDES,))
        self._store.derive(NAME, [Derivation(work.whole) for work in pending])
        return summary(self._store, NAME, done)

    def _pending(self, ledger: Sequence[Derived]) -> list[_Work]:
        """Return the conversations that were not gone through as they are now, or have a part that failed."""
        turns: dict[str, list[Turn]] = {}
        for session in sessions_of(self._store.turns()):
            turns.setdefault(session.conversation, []).extend(session.turns)
        told = self._settings
        shaping = (told.pair, told.before, told.summary, told.similar, told.candidates, told.perspectives)
        wholes = {name: whole_part(of, shaping) for name, of in turns.items()}
        names = {part.conversation for part in plan(list(wholes.values()), lines_of(WHOLE, ledger)).pending}
        names |= {line.conversation for line in ledger if line.problem is not None and line.conversation in wholes}
        if not names:
            return []
        units = {unit.id: unit for unit in self._store.units_of(NAME, None, sorted(names))}
        known: dict[str, dict[str, tuple[Unit, ...]]] = {name: {} for name in wholes if name in names}
        for line in ledger:
            if line.conversation in known and line.problem is None:
                known[line.conversation][line.name] = tuple(units[id_] for id_ in line.units)
        return [
            _Work(wholes[name], of, Summed(wholes[name].turns if told.summary else (), of))
            for name, of in known.items()
        ]

    def _estimated(self, pending: Sequence[_Work]) -> tuple[list[int], list[Reading], list[int]]:
        """Return the summaries to ask for of each conversation, what to read, and the decisions of each memory."""
        sums, unread, decisions = [], [], []
        for work in pending:
            sums.append(0)
            while (summing := work.summed.advance()) is not None:
                sums[-1] += 1
                work.summed.take(summing, [summing.unit("")])
            work.read(self._settings)
            unread += work.unread
            new = dict.fromkeys((reading.user for reading in work.readings), 0)
            for reading in work.unread:
                new[reading.user] += 1
            for walk, more in zip(work.walks(self._vectors(work), self._settings), new.values(), strict=True):
                decisions.append(more)
                while (step := walk.advance()) is not None:
                    decisions[-1] += step.undecided is not None
                    walk.take(step, step.units(()))
        return sums, unread, decisions

    def _sum_up(self, pending: Sequence[_Work], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Bring the running summaries up to the end, those of several conversations at once."""
        done: list[PartDone] = []
        known = {work.whole.conversation: work.known for work in pending}
        for steps in self._together([work.summed for work in pending]):
            replies, parts = self._asked([step for _, step in steps]), [step.part for _, step in steps]
            gave = [() if reply.value is None else (reply.value,) for reply in replies]
            done += self._stored(parts, gave, replies, report)
            for (summed, step), units in zip(steps, gave, strict=True):
                known[step.part.conversation][step.part.name] = units
                summed.take(step, units)
        return done

    def _read(self, pending: Sequence[_Work], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Ask for the facts of what nobody has read yet."""
        done: list[PartDone] = []
        unread = [(work, reading) for work in pending for reading in work.unread]
        for group in batches(unread, self._kit().at_once if unread else 1, lambda _: 1):
            replies, parts = self._asked([reading for _, reading in group]), [reading.part for _, reading in group]
            gave = [reply.value or () for reply in replies]
            done += self._stored(parts, gave, replies, report, [reading.new_turns for _, reading in group])
            for (work, reading), facts in zip(group, gave, strict=True):
                work.known[reading.part.name] = facts
        return done

    def _asked(self, asked: Sequence[_Asked[R]]) -> list[Reply[R]]:
        kit = self._kit()
        builds = [partial(each.request, kit) for each in asked]
        return ask_each(kit.model, builds, [partial(each.read, kit) for each in asked])

    def _walk(self, pending: Sequence[_Work], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Decide pair by pair, for several memories at once."""
        done: list[PartDone] = []
        walks = [(work, walk) for work in pending for walk in work.walks(self._vectors(work), self._settings)]
        for steps in self._together([walk for _, walk in walks]):
            replies, parts = self._decided([step for _, step in steps]), [step.part for _, step in steps]
            gave = [step.units(reply.value or ()) for (_, step), reply in zip(steps, replies, strict=True)]
            done += self._stored(parts, gave, replies, report)
            for (walk, step), units in zip(steps, gave, strict=True):
                walk.take(step, units, self._vectors_of(units))
        for work, walk in walks:
            work.names |= walk.names
        return done

    def _decided(self, steps: Sequence[Step]) -> list[Reply[tuple[Act, ...]]]:
        """Return what the model decides of each; nothing where there is nothing to ask."""
        asked = {place: undecided for place, step in enumerate(steps) if (undecided := step.undecided) is not None}
        found = decide(self._kit(), DECIDE, list(asked.values()), EVENTS) if asked else []
        replied = dict(zip(asked, found, strict=True))
        return [replied.get(place, Reply((), Usage())) for place in range(len(steps))]

    def _together(self, walks: Sequence[W]) -> Iterator[list[tuple[W, Any]]]:
        """Yield what the walks hand out, of each one thing at a time, as many as the model works on at once."""
        open_ = list(walks)
        while asked := [(walk, step) for walk in open_ if (step := walk.advance()) is not None]:
            open_ = [walk for walk, _ in asked]
            yield from batches(asked, self._kit().at_once, lambda _: 1)

    def _stored(
        self,
        parts: Sequence[Part],
        gave: Sequence[tuple[Unit, ...]],
        replies: Sequence[Reply[Any]],
        report: Callable[[PartDone], None],
        turns: Sequence[int] | None = None,
    ) -> list[PartDone]:
        """Store what parts gave, and report them, with so many turns each."""
        done = []
        derivations = []
        for place, (part, units, reply) in enumerate(zip(parts, gave, replies, strict=True)):
            last = part.turns[-1].label
            problem = f"up to {last}: {reply.problem}" if reply.problem else None
            derivations.append(Derivation(part, units, problem=problem, usage=reply.usage))
            count = turns[place] if turns else 0
            done.append(PartDone(part.conversation, part.name, count, len(units), 0, reply.usage, problem))
        self._store.derive(NAME, derivations)
        for each in done:
            report(each)
        return done

    def _vectors(self, work: _Work) -> dict[str, Vector]:
        """Return the vectors of all that is known of a conversation."""
        return self._vectors_of([unit for units in work.known.values() for unit in units])

    def _vectors_of(self, units: Sequence[Unit]) -> dict[str, Vector]:
        own = [unit for unit in units if unit.kind in (FACT, MEMORY)]
        return dict(zip((unit.id for unit in own), self._store.vectors_of(own), strict=True)) if own else {}

    def _drop_all_but(self, pending: Sequence[_Work]) -> None:
        """Drop what these conversations have no place for now, and all of conversations that are gone."""
        names = {work.whole.conversation: work.names for work in pending}
        stored = {turn.conversation for turn in self._store.turns()}
        self._store.drop_parts(
            [
                line
                for line in self._store.derived(NAME)
                if line.conversation not in stored or line.name not in names.get(line.conversation, (line.name,))
            ]
        )

    def _read_endings(self) -> dict[str, list[Deed]]:
        return endings_of(self._store.units_of(NAME, [DECISION]))


def _rounds(asked: Sequence[int], at_once: int) -> int:
    """Return in how many calls so many things are asked for, one after the other of each."""
    return sum(-(-sum(each > done for each in asked) // at_once) for done in range(max(asked, default=0)))
