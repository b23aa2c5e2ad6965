"""The backbone `memtree`: inserts each message into a tree of topics, and updates the summaries on its way down."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from goalmem_cli.backbones.memtree import AGGREGATE, CHILD, LEAF, NAME, SUMMARY, SUPERSEDES
from goalmem_cli.backbones.memtree.growing import GrowingStep, Growth, Known, read_line
from goalmem_cli.backbones.memtree.settings import MemTreeSettings
from goalmem_cli.backbones.structured.beside import fitting, nearest, own_hits
from goalmem_cli.backbones.structured.indexing import about_tokens, batches, plan, sessions_of, summary
from goalmem_cli.backbones.structured.kit import Kept, LoadKit, StructuredBackbone
from goalmem_cli.backbones.structured.stretches import turn_leaves
from goalmem_cli.backbones.structured.summaries import WHOLE, lines_of, read_text, whole_part
from goalmem_cli.backbones.structured.units import passing
from goalmem_cli.backbones.structured.walking import drop_all_but
from goalmem_cli.memory_ports import OpenMemory, StructuredMemory
from goalmem_cli.memory_records import Derivation, Ranking
from goalmem_cli.model_replies import ask_each
from goalmem_cli.ports import Happening, Indexed, Outlook, PartDone, Request
from goalmem_cli.records import Derived, Edge, Hit, Part, Query, Turn, Unit

_SUMMARY_TOKENS = 150  # the approximate length of the summaries that the prompt asks for


@dataclass(frozen=True, slots=True)
class _Talk:
    """A conversation: its turns as a `whole_part`, and its messages in order."""

    whole: Part
    leaves: tuple[Unit, ...]


class MemTree(StructuredBackbone[StructuredMemory]):
    """Retrieves messages and summaries of any level by similarity, in their version at the question's time."""

    def __init__(self, store: StructuredMemory, kit: LoadKit, settings: MemTreeSettings | None = None) -> None:
        """Take the store, and the function that loads the model and prompts, which only indexing needs."""
        super().__init__(store, kit)
        self._settings = settings or MemTreeSettings()
        self._later = Kept(store, self._read_later)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k nodes, best first, each in its last version before the end of the query's time."""
        settings = self._settings
        later = self._later()
        with self._store.reading() as reader:
            best = self._nearest(reader, query, k, later)
            hits = own_hits(reader, query, k, {Ranking.DENSE.value: best}, is_beside=settings.beside)
        return hits if settings.beside else list(fitting(hits, settings.read_letters, len))

    def history(self, unit: str) -> list[Happening]:
        """Return the versions of a node, from its first summary to its last, each with the messages it added."""
        units = {each.id: each for each in self._store.units_of(NAME, [SUMMARY])}
        edges = [(edge.source, edge.target) for edge in self._store.edges_of(NAME, [SUPERSEDES])]
        before, later = dict(edges), {target: source for source, target in edges}
        line = [unit] if unit in units else []
        while line and line[0] in before:
            line.insert(0, before[line[0]])
        while line and line[-1] in later:
            line.append(later[line[-1]])
        told: set[str] = set()
        found = []
        for each in (units[id_] for id_ in line):
            new = tuple(label for label in each.labels if label not in told)
            told |= set(new)
            found.append(Happening("summed up", each.said, new, each.text, each.id))
        return found

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model.

        It is an estimate: the place of a message depends on summaries that are not written yet.
        """
        talks, ledger = self._talks(), self._store.derived(NAME)
        pending = self._pending(talks, ledger)
        stored, failed = self._stored(pending, ledger), _failed(ledger)
        parts = turns = again = calls = tokens = 0
        for steps in self._rounds(self._growths(pending, stored, failed)):
            calls += 1
            for step in steps:
                parts += 1
                turns += step.first
                again += step.part.name in failed
                tokens += about_tokens(map(read_line, (step.merge.before, step.merge.added)))
                estimate = step.unit(step.stand_in), step.between()
                step.growth.take(step, *stored.get(step.part.name, estimate))
        per_part = self._kit().fixed_tokens(AGGREGATE) + _SUMMARY_TOKENS if parts else 0
        return Outlook(parts, turns, again, calls, tokens + parts * per_part)

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Rebuild the trees of the conversations that have changed, message by message, with their summaries.

        A known summary is asked for again only if other messages went into it.
        """
        talks, ledger = self._talks(), self._store.derived(NAME)
        pending = self._pending(talks, ledger)
        leaves = [leaf for talk in talks.values() for leaf in talk.leaves]
        if pending:
            self._link(leaves, self._edges(leaves))  # so that searches find messages while the model works
        growths = self._growths(pending, self._stored(pending, ledger), _failed(ledger))
        done = [each for steps in self._rounds(growths) for each in self._grow(steps, report)]
        names = {name: growth.names for name, growth in zip(pending, growths, strict=True)}
        drop_all_but(self._store, NAME, names)
        grown = [edge for growth in growths for edge in growth.all_edges()]
        self._link(leaves, [*self._edges(leaves, without=pending), *grown])
        self._store.derive(NAME, [Derivation(talk.whole) for talk in pending.values()])
        return summary(self._store, NAME, done)

    def _talks(self) -> dict[str, _Talk]:
        """Return the conversations by name."""
        turns: dict[str, list[Turn]] = {}
        leaves: dict[str, list[Unit]] = {}
        for session in sessions_of(self._store.turns()):
            turns.setdefault(session.conversation, []).extend(session.turns)
            leaves.setdefault(session.conversation, []).extend(turn_leaves(NAME, LEAF, session.turns))
        told = self._settings
        shaping = (told.threshold, told.rate, told.depth)
        return {name: _Talk(whole_part(of, shaping), tuple(leaves[name])) for name, of in turns.items()}

    def _pending(self, talks: Mapping[str, _Talk], ledger: Sequence[Derived]) -> dict[str, _Talk]:
        """Return the conversations whose tree is out of date or has a failed part."""
        work = plan([talk.whole for talk in talks.values()], lines_of(WHOLE, ledger))
        names = {part.conversation for part in work.pending}
        names |= {line.conversation for line in ledger if line.problem is not None}
        return {name: talk for name, talk in talks.items() if name in names}

    def _stored(self, pending: Mapping[str, _Talk], ledger: Sequence[Derived]) -> Known:
        """Return the unit and vector of each part of these conversations, by part name (names are globally unique)."""
        if not pending:
            return {}
        units = {unit.id: unit for unit in self._store.units_of(NAME, [SUMMARY], list(pending))}
        gave = {line.name: units[line.units[0]] for line in ledger if line.conversation in pending and line.units}
        vectors = self._store.vectors_of(list(gave.values()))
        return {name: (unit, vector) for (name, unit), vector in zip(gave.items(), vectors, strict=True)}

    def _growths(self, pending: Mapping[str, _Talk], stored: Known, failed: Collection[str]) -> list[Growth]:
        """Return a tree to grow for each of these conversations; failed parts count as unknown."""
        known = {name: each for name, each in stored.items() if name not in failed}
        return [
            Growth(talk.leaves, self._store.vectors_of(talk.leaves), talk.whole.turns, known, self._settings)
            for talk in pending.values()
        ]

    def _rounds(self, growths: Sequence[Growth]) -> Iterator[list[GrowingStep]]:
        """Yield the steps for one model call: for each conversation those that one message causes.

        All steps must be answered before the next are taken.
        """
        open_ = growths
        while asked := [steps for growth in open_ if (steps := growth.advance())]:
            open_ = [steps[0].growth for steps in asked]
            for group in batches(asked, self._kit().at_once, len):
                yield [step for steps in group for step in steps]

    def _grow(self, steps: Sequence[GrowingStep], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Ask about the steps, store the summaries, and report them."""
        builds = [partial(self._request, step) for step in steps]
        replies = ask_each(self._kit().model, builds, [partial(read_text, build) for build in builds])
        units = [
            step.unit(step.stand_in if reply.value is None else reply.value)
            for step, reply in zip(steps, replies, strict=True)
        ]
        derivations = [
            Derivation(step.part, (unit,), step.superseding(unit), reply.problem or None, reply.usage)
            for step, unit, reply in zip(steps, units, replies, strict=True)
        ]
        self._store.derive(NAME, derivations)
        for step, unit, vector in zip(steps, units, self._store.vectors_of(units), strict=True):
            step.growth.take(step, unit, vector)
        done = [
            PartDone(
                each.part.conversation, each.part.name, int(step.first), 1, len(each.edges), each.usage, each.problem
            )
            for step, each in zip(steps, derivations, strict=True)
        ]
        for part in done:
            report(part)
        return done

    def _request(self, step: GrowingStep, problem: str) -> Request:
        """Return the request for a topic's summary with a message added."""
        merge = step.merge
        inputs = {
            "before": read_line(merge.before),
            "message": read_line(merge.added),
            "entries": merge.entries,
            "problem": problem,
        }
        return self._kit().prompts[AGGREGATE].request(inputs)

    def _edges(self, leaves: Sequence[Unit], without: Collection[str] = ()) -> list[Edge]:
        """Return the stored edges whose ends both exist, except those of the conversations `without`."""
        nodes = (*leaves, *self._store.units_of(NAME, [SUMMARY]))
        there = {unit.id for unit in nodes if unit.conversation not in without}
        return [edge for edge in self._store.edges_of(NAME) if edge.source in there and edge.target in there]

    def _link(self, leaves: Sequence[Unit], edges: Sequence[Edge]) -> None:
        self._store.shared(NAME, LEAF, leaves, edges, links=(CHILD, SUPERSEDES))

    def _nearest(self, reader: OpenMemory, query: Query, k: int, later: Mapping[str, Sequence[Unit]]) -> list[str]:
        """Return the ids of at most k nodes like the query, each in its last version before the query's end."""
        kinds = (SUMMARY,) if self._settings.beside else (LEAF, SUMMARY)
        is_said = passing(Query("", until=query.until))

        def is_last(unit: str) -> bool:
            return not any(map(is_said, later.get(unit, ())))

        return nearest(reader, query, k, NAME, kinds, is_last, self._settings.least_cosine)

    def _read_later(self) -> Mapping[str, list[Unit]]:
        """Return the units that superseded each summary, by its id."""
        units = {unit.id: unit for unit in self._store.units_of(NAME, [SUMMARY])}
        later: dict[str, list[Unit]] = {}
        for edge in self._store.edges_of(NAME, [SUPERSEDES]):
            later.setdefault(edge.target, []).append(units[edge.source])
        return later


def _failed(ledger: Sequence[Derived]) -> set[str]:
    return {line.name for line in ledger if line.problem is not None}
