"""The backbone `mem0`: extracts facts from each pair of messages; a model decides how they change the memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from goalmem_cli.backbones.mem0 import DECIDE, FACT, FACTS, MEMORY, NAME, SUM_UP
from goalmem_cli.backbones.mem0.deciding import EVENTS, Growth
from goalmem_cli.backbones.mem0.pair_reading import Reading, Summed, readings_of
from goalmem_cli.backbones.mem0.settings import Mem0Settings
from goalmem_cli.backbones.structured.beside import nearest, own_hits
from goalmem_cli.backbones.structured.decisions import (
    DECISION,
    SUPERSEDES,
    Deed,
    decide_some,
    ending_of,
    endings_of,
    happenings,
    known_line,
    replaced_by,
    superseding,
)
from goalmem_cli.backbones.structured.indexing import about_tokens, summary
from goalmem_cli.backbones.structured.kit import Kept, LoadKit
from goalmem_cli.backbones.structured.units import saying_what_it_replaced
from goalmem_cli.backbones.structured.walking import (
    Known,
    Vector,
    WalkingBackbone,
    ask_all,
    changed,
    drop_all_but,
    rounds,
    stored,
    together,
)
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation, Ranking
from goalmem_cli.ports import Happening, Indexed, Outlook, PartDone
from goalmem_cli.records import Derived, Hit, Part, Query, Unit

_REPLY_TOKENS = 120  # the approximate length of a reply


@dataclass
class Work:
    """A conversation that has changed: its `whole_part`, its known units, and the names of its current parts."""

    whole: Part
    known: Known
    summed: Summed
    backbone: str
    readings: tuple[Reading, ...] = ()
    names: set[str] = field(default_factory=set)

    @property
    def unread(self) -> list[Reading]:
        """The readings without known facts."""
        return [reading for reading in self.readings if reading.part.name not in self.known]

    def read(self, settings: Mem0Settings) -> None:
        """Set the readings and names; the running summary must be complete."""
        self.readings = tuple(readings_of(self.whole.turns, self.summed, settings, self.backbone))
        self.names = {self.whole.name, *self.summed.names, *(reading.part.name for reading in self.readings)}

    def walks(self, vectors: Mapping[str, Vector], settings: Mem0Settings) -> list[Growth]:
        """Return a walk for each memory of the conversation."""
        told: dict[str, list[tuple[Unit, ...]]] = {}
        for reading in self.readings:
            told.setdefault(reading.user, []).append(self.known.get(reading.part.name, ()))
        walks = [Growth(self.whole, facts, vectors, self.known, settings) for facts in told.values()]
        for walk in walks:
            walk.backbone = self.backbone
        return walks


class Mem0(WalkingBackbone):
    """Retrieves memories that are current, or were at the query's time, by similarity to the query.

    A subclass with another `name` can keep more beside the memories.
    """

    name = NAME
    compared: tuple[str, ...] = (FACT, MEMORY)
    _kinds: tuple[str, ...] = (MEMORY,)

    def __init__(self, store: StructuredMemory, kit: LoadKit, settings: Mem0Settings | None = None) -> None:
        """Take the store, and the function that loads the model and prompts, which only indexing needs."""
        super().__init__(store, kit)
        self._settings = settings or Mem0Settings()
        self._decided = Kept(store, self._read_decided)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k memories, best first, that are current, or were at the end of the query's time.

        Each hit lists what it replaced.
        """
        endings, replaced = self._decided()

        def is_current(unit: str) -> bool:
            return ending_of(endings, unit, query.until) is None

        more = self._ranked_beside(query, is_current)
        with self._store.reading() as reader:
            best = nearest(reader, query, k, self.name, (MEMORY,), is_current)
            lists = {Ranking.DENSE.value: best, **more}
            hits = own_hits(reader, query, k, lists, is_beside=self._settings.beside)
        return [saying_what_it_replaced(hit, replaced.get(hit.unit.id, ())) for hit in hits]

    def _ranked_beside(self, _query: Query, _is_current: Callable[[str], bool]) -> dict[str, list[str]]:
        """Return further rankings of current units for a subclass; none here."""
        return {}

    def _go_beside(self, _pending: Sequence[Work], _report: Callable[[PartDone], None]) -> list[PartDone]:
        """Derive what a subclass keeps beside the memories, and add its part names to each work; nothing here."""
        return []

    def _shaping(self) -> tuple[object, ...]:
        """Return the settings that affect what is derived."""
        told = self._settings
        return told.pair, told.before, told.summary, told.similar, told.candidates, told.perspectives

    def history(self, unit: str) -> list[Happening]:
        """Return what happened to a memory, its predecessors and its successors, in order."""
        return happenings(self._store.units_of(self.name, [*self._kinds, DECISION]), unit)

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model.

        It is an estimate: each decision depends on those before.
        """
        ledger = self._store.derived(self.name)
        pending = self._pending(ledger)
        sums, unread, decisions = self._estimated(pending)
        parts, failed = sum(sums) + len(unread) + sum(decisions), sum(line.problem is not None for line in ledger)
        if not parts:
            return Outlook(0, 0, 0, 0, 0)
        kit = self._kit()
        turns = sum(reading.new_turns for reading in unread)
        calls = rounds(sums, kit.at_once) + -(-len(unread) // kit.at_once) + rounds(decisions, kit.at_once)
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
        """Read the new pairs, and repeat each decision for which the model would see something else than before."""
        pending = self._pending(self._store.derived(self.name))
        done = self._sum_up(pending, report)
        for work in pending:
            work.read(self._settings)
        done += self._read(pending, report)
        done += self._walk(pending, report)
        done += self._go_beside(pending, report)
        drop_all_but(self._store, self.name, {work.whole.conversation: work.names for work in pending})
        edges = superseding(self._store.units_of(self.name, [MEMORY, DECISION]))
        self._store.shared(self.name, SUPERSEDES, [], edges, links=(SUPERSEDES,))
        self._store.derive(self.name, [Derivation(work.whole) for work in pending])
        return summary(self._store, self.name, done)

    def _pending(self, ledger: Sequence[Derived]) -> list[Work]:
        """Return the conversations that have changed or have a failed part."""
        is_summed = self._settings.summary
        return [
            Work(whole, known, Summed(whole.turns if is_summed else (), known, self.name), self.name)
            for whole, known in changed(self._store, self.name, ledger, self._shaping())
        ]

    def _estimated(self, pending: Sequence[Work]) -> tuple[list[int], list[Reading], list[int]]:
        """Return the number of summaries by conversation, the unread pairs, and the number of decisions by memory."""
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

    def _sum_up(self, pending: Sequence[Work], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Complete the running summaries of all conversations in parallel."""
        done: list[PartDone] = []
        known = {work.whole.conversation: work.known for work in pending}
        for steps in together([work.summed for work in pending], self._at_once(pending)):
            replies, parts = ask_all(self._kit(), [step for _, step in steps]), [step.part for _, step in steps]
            gave = [() if reply.value is None else (reply.value,) for reply in replies]
            done += stored(self._store, self.name, parts, gave, replies, report)
            for (summed, step), units in zip(steps, gave, strict=True):
                known[step.part.conversation][step.part.name] = units
                summed.take(step, units)
        return done

    def _read(self, pending: Sequence[Work], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Ask for the facts of the unread pairs."""
        unread = [(work.known, reading) for work in pending for reading in work.unread]
        return self._ask_for(unread, self._ask, report, lambda each: each.new_turns)

    def _walk(self, pending: Sequence[Work], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Decide pair by pair, for several memories in parallel."""
        walks = [(work, walk) for work in pending for walk in work.walks(self._vectors(work), self._settings)]
        done = self._go_through([walk for _, walk in walks], partial(decide_some, self._kit, DECIDE, EVENTS), report)
        for work, walk in walks:
            work.names |= walk.names
        return done

    def _vectors(self, work: Work) -> dict[str, Vector]:
        """Return the vectors of a conversation's known facts and memories, by unit id."""
        return self._vectors_of([unit for units in work.known.values() for unit in units])

    def _read_decided(self) -> tuple[dict[str, list[Deed]], dict[str, list[str]]]:
        """Return by memory id the deeds that ended it, and the texts that it replaced."""
        units = self._store.units_of(self.name, [*self._kinds, DECISION])
        return endings_of(units), replaced_by(units)
