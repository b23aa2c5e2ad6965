"""The backbone `graphiti`: facts between entities, with the times when they held and when that was known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from goalmem_cli.backbones.graphiti import (
    COMMUNITY,
    DATES,
    DECIDE,
    ENTITIES,
    ENTITY,
    FACT,
    FACTS,
    INVALIDATES,
    MEMBER,
    MENTION,
    MERGE,
    NAME,
    OBJECT,
    RESOLVE,
    SAME_AS,
    SUBJECT,
)
from goalmem_cli.backbones.graphiti.communities import MEMBERS, Group, groups_of, sum_up
from goalmem_cli.backbones.graphiti.episode_reading import Naming, Telling, namings_of, tell, told_of
from goalmem_cli.backbones.graphiti.graph import Graph, summary_of
from goalmem_cli.backbones.graphiti.searching import Search
from goalmem_cli.backbones.graphiti.settings import GraphitiSettings
from goalmem_cli.backbones.graphiti.validity import Validity, history
from goalmem_cli.backbones.graphiti.walk import Growth, WalkStep
from goalmem_cli.backbones.structured.beside import own_hits
from goalmem_cli.backbones.structured.decisions import DECISION, Act, decide
from goalmem_cli.backbones.structured.indexing import Plan, about_tokens, batches, derive_all, plan, summary
from goalmem_cli.backbones.structured.kit import Kept, LoadKit
from goalmem_cli.backbones.structured.summaries import BETWEEN, lines_of
from goalmem_cli.backbones.structured.units import listed, saying_what_it_replaced
from goalmem_cli.backbones.structured.walking import Known, Vector, WalkingBackbone, changed, drop_all_but, rounds
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import Reply, in_one_line
from goalmem_cli.ports import Happening, Indexed, Outlook, PartDone
from goalmem_cli.records import Derived, Edge, Hit, Part, Query, Usage

_REPLY_TOKENS = 120  # the approximate length of a reply
_FACTS_AN_EPISODE = 1  # the estimated number of facts in an episode, for the outlook
_GRAPH = (MENTION, FACT, DECISION)


@dataclass
class _Work:
    """A conversation that has changed: its `whole_part`, its known units, and the names of its current parts."""

    whole: Part
    known: Known
    settings: GraphitiSettings
    names: set[str] = field(default_factory=set)

    @cached_property
    def namings(self) -> list[Naming]:
        """The episodes, in order."""
        return list(namings_of(self.whole.turns, self.settings))

    @property
    def unnamed(self) -> list[Naming]:
        """The episodes whose names are not known yet."""
        return [naming for naming in self.namings if naming.part.name not in self.known]

    @property
    def untold(self) -> list[Telling]:
        """The episodes whose names are known, but not their facts."""
        named = [naming for naming in self.namings if naming.part.name in self.known]
        tellings = [Telling(naming, self.known[naming.part.name]) for naming in named]
        return [telling for telling in tellings if telling.part.name not in self.known]

    def walk(self, vectors: Mapping[str, Vector]) -> Growth:
        """Return the walk of the conversation."""
        return Growth(self.whole, list(told_of(self.namings, self.known)), vectors, self.known, self.settings)

    def note_names(self, walk: Growth) -> None:
        """Set `names` to the names of the conversation's current parts, after its walk."""
        mentions = [(naming, self.known.get(naming.part.name, ())) for naming in self.namings]
        read = {part.name for naming, units in mentions for part in (naming.part, Telling(naming, units).part)}
        self.names = {self.whole.name, *read, *walk.names}


class Graphiti(WalkingBackbone):
    """Retrieves facts with their dates, as known now or at the query's time."""

    name = NAME
    compared = (MENTION, FACT)

    def __init__(self, store: StructuredMemory, kit: LoadKit, settings: GraphitiSettings | None = None) -> None:
        """Take the store, and the function that loads the model and prompts, which only indexing needs."""
        super().__init__(store, kit)
        self._settings = settings or GraphitiSettings()
        self._graph = Kept(store, self._read_graph)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k facts with their dates, best first; depending on `finds`, also entities and communities.

        Each fact lists the facts that it ended.
        """
        graph = self._graph()
        known = graph.at(query.until)
        search = Search(query, graph, known, self._settings, self._store.vectors_of)
        with self._store.reading() as reader:
            best = search.best(reader, k)
            hits = own_hits(reader, query, k, {NAME: best}, is_beside=self._settings.beside)
        found = {hit.unit.id for hit in hits}
        ended: dict[str, list[str]] = {}
        for each in known.values():
            if each.by in found:
                until = f", until {each.invalid:%Y-%m-%d}" if each.invalid is not None else ""
                ended.setdefault(each.by, []).append(in_one_line(each.fact.text) + until)
        return [self._saying(hit, graph, known, ended.get(hit.unit.id, [])) for hit in hits]

    def history(self, unit: str) -> list[Happening]:
        """Return what happened to a fact, in order: it was said, said again, contradicted and so ended."""
        return history(self._store.units_of(NAME, [FACT, DECISION]), unit)

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model.

        It is an estimate: the number of facts, and what they are compared with, are not known before.
        """
        ledger = self._store.derived(NAME)
        failed = sum(line.problem is not None for line in ledger)
        pending = self._pending(ledger)
        again = self._take_what_failed(pending, ledger)
        unnamed = [naming for work in pending for naming in work.unnamed]
        untold = [telling for work in pending for telling in work.untold]
        steps = [self._estimated(work) for work in pending]
        groups = [] if unnamed or untold else self._unwritten(ledger).pending
        parts = again + 2 * len(unnamed) + len(untold) + sum(steps) + len(groups)
        if not parts:
            return Outlook(0, 0, 0, 0, 0)
        kit = self._kit()
        dated = _FACTS_AN_EPISODE * (len(unnamed) + len(untold)) if self._settings.dates else 0
        at_once = [again, len(unnamed), len(unnamed) + len(untold), dated, 2 * len(groups)]
        calls = sum(-(-count // kit.at_once) for count in at_once) + rounds(steps, kit.at_once)
        stretches = [naming.stretch for naming in unnamed]
        read = about_tokens(
            text for each in stretches for turn in (*each.before, *each.sources) for text in (turn.text,)
        )
        fixed = {
            step: kit.fixed_tokens(step) + _REPLY_TOKENS for step in (ENTITIES, FACTS, DATES, RESOLVE, DECIDE, MERGE)
        }
        tokens = (
            3 * read
            + len(unnamed) * (fixed[ENTITIES] + fixed[FACTS])
            + (len(untold) + again) * fixed[FACTS]
            + dated * fixed[DATES]
            + sum(steps) * (max(fixed[RESOLVE], fixed[DECIDE]) + 2 * self._settings.similar * _REPLY_TOKENS // 4)
            + 2 * len(groups) * fixed[MERGE]
        )
        turns = len({turn.id for each in stretches for turn in each.sources})
        return Outlook(parts, turns, failed, calls, tokens)

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Read the new episodes, and repeat each decision for which something else is compared than before."""
        pending = self._pending(self._store.derived(NAME))
        done = self._name(pending, report) + self._tell(pending, report) + self._walk(pending, report)
        kept = {line.name for line in lines_of(COMMUNITY, self._store.derived(NAME))}
        drop_all_but(self._store, NAME, {work.whole.conversation: work.names | kept for work in pending})
        done += self._sum_up(report)
        self._link()
        self._store.derive(NAME, [Derivation(work.whole) for work in pending])
        return summary(self._store, NAME, done)

    def _pending(self, ledger: Sequence[Derived]) -> list[_Work]:
        """Return the conversations that have changed or have a failed part."""
        told = self._settings
        shaping = (
            told.episode, told.before, told.candidates, told.name_cosine, told.letters, told.similar,
            told.compared_cosine, told.dates,
        )  # fmt: skip
        read = [line for line in ledger if line.name.partition(BETWEEN)[0] != COMMUNITY]
        return [_Work(whole, known, told) for whole, known in changed(self._store, NAME, read, shaping)]

    def _take_what_failed(self, pending: Sequence[_Work], ledger: Sequence[Derived]) -> int:
        """Treat failed parts as known, with the units they have; return how many must be asked for again."""
        works = {work.whole.conversation: work for work in pending}
        failed = [line for line in ledger if line.problem is not None and line.conversation in works]
        failed = [line for line in failed if line.name.partition(BETWEEN)[0] != COMMUNITY]
        of = sorted({line.conversation for line in failed})
        units = {unit.id: unit for unit in self._store.units_of(NAME, None, of)} if of else {}
        for line in failed:
            works[line.conversation].known[line.name] = tuple(units[id_] for id_ in line.units)
        return len(failed)

    def _estimated(self, work: _Work) -> int:
        """Return an estimate of the number of steps of a conversation to decide."""
        new = len(work.unnamed) + len(work.untold)
        if new:
            return new * (1 + _FACTS_AN_EPISODE)
        walk, count = work.walk(self._vectors(work)), 0
        while (step := walk.advance()) is not None:
            count += 1
            walk.take(step, step.units(()))
        return count

    def _name(self, pending: Sequence[_Work], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Ask for the names in the new episodes."""
        new = [(work.known, naming) for work in pending for naming in work.unnamed]
        return self._ask_for(new, self._ask, report, lambda each: len(each.stretch.sources))

    def _tell(self, pending: Sequence[_Work], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Ask for the facts of the new episodes."""
        new = [(work.known, telling) for work in pending for telling in work.untold]
        return self._ask_for(new, lambda asked: tell(self._kit(), asked, dates=self._settings.dates), report)

    def _walk(self, pending: Sequence[_Work], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Decide episode by episode, for several conversations in parallel."""
        walks = [work.walk(self._vectors(work)) for work in pending]
        done = self._go_through(walks, self._asked_to_decide, report)
        for work, walk in zip(pending, walks, strict=True):
            work.note_names(walk)
        return done

    def _asked_to_decide(self, steps: Sequence[WalkStep]) -> list[Reply[list[tuple[Act, ...]]]]:
        """Ask the model all questions of the steps, those of one prompt together; return one reply for each step."""
        said: dict[tuple[int, int], Reply[tuple[Act, ...]]] = {}
        asked = [(place, number) for place, step in enumerate(steps) for number in range(len(step.asks))]
        for prompt in (RESOLVE, DECIDE):
            of = [each for each in asked if steps[each[0]].prompt == prompt]
            for group in batches(of, self._at_once(of), lambda _: 1):
                events = steps[group[0][0]].events
                found = decide(self._kit(), prompt, [steps[place].asks[number] for place, number in group], events)
                said |= dict(zip(group, found, strict=True))
        return [_together([said[each] for each in asked if each[0] == place]) for place in range(len(steps))]

    def _sum_up(self, report: Callable[[PartDone], None]) -> list[PartDone]:
        """Find the communities of the present graph, and summarise those that are new or have changed."""
        groups = {group.part.name: group for group in self._groups()}
        work = plan([group.part for group in groups.values()], lines_of(COMMUNITY, self._store.derived(NAME)))

        def derive(parts: Sequence[Part]) -> list[Derivation]:
            return sum_up(self._kit(), [groups[part.name] for part in parts])

        each = batches(work.pending, self._at_once(work.pending), lambda _: 1)
        return derive_all(self._store, NAME, work, each, derive, report)

    def _unwritten(self, ledger: Sequence[Derived]) -> Plan:
        return plan([group.part for group in self._groups()], lines_of(COMMUNITY, ledger))

    def _groups(self) -> list[Group]:
        if not self._settings.communities:
            return []
        turns = {turn.id: turn for turn in self._store.turns()}
        return groups_of(self._read_graph(), turns, self._settings.summary_letters)

    def _link(self) -> None:
        """Update entities and edges from the stored decisions; no language model is used."""
        graph = self._read_graph()
        nodes = graph.nodes()
        there = {unit.id for unit in nodes}
        members = [
            Edge(unit.id, id_, MEMBER)
            for unit in self._store.units_of(NAME, [COMMUNITY])
            for id_ in listed(unit, MEMBERS)
            if id_ in there
        ]
        kinds = (SUBJECT, OBJECT, SAME_AS, INVALIDATES, MEMBER)
        self._store.shared(NAME, ENTITY, nodes, [*graph.edges(), *members], links=kinds)

    def _saying(self, hit: Hit, graph: Graph, known: Mapping[str, Validity], ended: list[str]) -> Hit:
        """Return a hit as known at the query's time: a fact with its dates, an entity with its summary."""
        unit = hit.unit
        if unit.kind == ENTITY:
            facts = [known[id_] for id_ in graph.around(known).get(unit.id, ())]
            told = in_one_line(summary_of(facts, self._settings.summary_letters))
            return replace(hit, unit=replace(unit, text=f"{unit.text}: {told}" if told else unit.text))
        if unit.id not in known:
            return hit
        each = known[unit.id]
        dated = replace(unit, text=each.text, event_from=each.valid, event_to=each.invalid)
        return saying_what_it_replaced(replace(hit, unit=dated), ended)

    def _vectors(self, work: _Work) -> dict[str, Vector]:
        """Return the vectors of the known mentions and facts of a conversation, by unit id."""
        return self._vectors_of(unit for units in work.known.values() for unit in units)

    def _read_graph(self) -> Graph:
        return Graph(self._store.units_of(NAME, list(_GRAPH)))


def _together(replies: Sequence[Reply[tuple[Act, ...]]]) -> Reply[list[tuple[Act, ...]]]:
    """Return the replies about one step as one reply; an unusable one counts as no acts."""
    usage = sum((reply.usage for reply in replies), Usage())
    problem = next((reply.problem for reply in replies if reply.value is None), "")
    return Reply([reply.value or () for reply in replies], usage, problem)
