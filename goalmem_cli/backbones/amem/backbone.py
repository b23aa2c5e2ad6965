"""The backbone `a-mem`: a note for each turn, which links to and changes earlier notes; searched by keywords."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from goalmem_cli.backbones.amem import DESCRIBE, DRAFT, EVOLVE, KEYWORDS, LINK, NAME, NOTE
from goalmem_cli.backbones.amem.evolving import CONNECT, EVENTS, Evolution
from goalmem_cli.backbones.amem.notes import LINKS, Details, Reading, key_of
from goalmem_cli.backbones.amem.settings import AMemSettings
from goalmem_cli.backbones.structured.beside import nearest, own_hits
from goalmem_cli.backbones.structured.decisions import (
    DECISION,
    SUPERSEDES,
    Deed,
    acts_of,
    decide_some,
    ending_of,
    endings_of,
    happenings,
    replaced_by,
    superseding,
)
from goalmem_cli.backbones.structured.indexing import about_tokens, summary
from goalmem_cli.backbones.structured.kit import Kept, LoadKit
from goalmem_cli.backbones.structured.stretches import turn_leaves
from goalmem_cli.backbones.structured.units import listed, passing, saying_what_it_replaced
from goalmem_cli.backbones.structured.walking import Known, Vector, WalkingBackbone, changed, drop_all_but, rounds
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.memory_records import Derivation, Ranking
from goalmem_cli.model_replies import ask_each, in_one_line, read_fields
from goalmem_cli.ports import Happening, Indexed, Outlook, PartDone, Request
from goalmem_cli.records import Derived, Edge, Hit, Part, Query, Unit

_REPLY_TOKENS = 80  # the approximate length of a reply


@dataclass
class _Work:
    """A conversation that has changed: its `whole_part`, and its known units."""

    whole: Part
    known: Known
    drafts: dict[str, Unit] = field(default_factory=dict)

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """The turns and passages that get a note, in order."""
        turns = {turn.id: turn for turn in self.whole.turns}
        leaves = turn_leaves(NAME, DRAFT, self.whole.turns)
        before = ["", *(leaf.turns[0] for leaf in leaves)]
        return tuple(
            Reading(leaf, turns[leaf.turns[0]], leaf.turns[0] != earlier)
            for leaf, earlier in zip(leaves, before, strict=False)
        )

    @property
    def unread(self) -> list[Reading]:
        """The readings whose details are not known yet."""
        return [reading for reading in self.readings if reading.part.name not in self.known]

    @property
    def decided(self) -> int:
        """The approximate number of notes that were already compared with others."""
        return sum(unit.kind == DECISION for units in self.known.values() for unit in units)

    def walk(self, vectors: Mapping[str, Vector], settings: AMemSettings) -> Evolution:
        """Return the walk of the notes; a note whose details are unknown gets empty ones."""
        drafts = [(self.known.get(reading.part.name) or (reading.draft(Details()),))[0] for reading in self.readings]
        return Evolution(self.whole, drafts, vectors, self.known, settings)


@dataclass(frozen=True)
class _Read:
    """What retrieval needs: the deeds that ended versions, the texts replaced, versions by note, and units by id."""

    endings: Mapping[str, Sequence[Deed]]
    replaced: Mapping[str, Sequence[str]]
    versions: Mapping[str, Sequence[Unit]]
    units: Mapping[str, Unit]


class AMem(WalkingBackbone):
    """Retrieves notes in their version at the query's time, each followed by its linked notes."""

    name = NAME
    compared = (DRAFT, NOTE)

    def __init__(
        self,
        store: StructuredMemory,
        kit: LoadKit,
        settings: AMemSettings | None = None,
        keywords: Callable[[Query], str] | None = None,
    ) -> None:
        """Take the store, and the function that loads the model and the prompts.

        `keywords` returns the text to search for a query. By default the model makes it; with `asks` off the query's
        own text is searched.
        """
        super().__init__(store, kit)
        self._settings = settings or AMemSettings()
        self._keywords = keywords or (self._asked_for if self._settings.asks else lambda query: query.text)
        self._notes = Kept(store, self._read_notes)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k notes, those nearest to the keywords first, each followed by its linked notes.

        Each hit lists the versions of itself that it replaced.
        """
        notes = self._notes()
        if not notes.units:
            return []

        def is_current(unit: str) -> bool:
            return ending_of(notes.endings, unit, query.until) is None

        searched = replace(query, text=self._keywords(query))
        with self._store.reading() as reader:
            best = nearest(reader, searched, k, NAME, (NOTE,), is_current)
            found = self._with_linked(best, notes, query) if self._settings.linked else best
            hits = own_hits(reader, query, k, {Ranking.DENSE.value: found[:k]}, is_beside=self._settings.beside)
        return [saying_what_it_replaced(hit, notes.replaced.get(hit.unit.id, ())) for hit in hits]

    def history(self, unit: str) -> list[Happening]:
        """Return what happened to a note, in order."""
        return happenings(self._store.units_of(NAME, [NOTE, DECISION]), unit)

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model."""
        ledger = self._store.derived(NAME)
        pending = self._pending(ledger)
        unread = [reading for work in pending for reading in work.unread]
        decisions = [max(0, len(work.readings) - work.decided) for work in pending]
        parts, failed = len(unread) + sum(decisions), sum(line.problem is not None for line in ledger)
        if not parts:
            return Outlook(0, 0, 0, 0, 0)
        kit = self._kit()
        asked = [number - (number == len(work.readings)) for number, work in zip(decisions, pending, strict=True)]
        calls = -(-len(unread) // kit.at_once) + rounds(asked, kit.at_once)
        note = about_tokens(reading.leaf.text for reading in unread) // max(1, len(unread)) + _REPLY_TOKENS
        tokens = len(unread) * (note + kit.fixed_tokens(DESCRIBE)) + sum(asked) * (
            kit.fixed_tokens(EVOLVE) + note * (self._settings.neighbours + 1)
        )
        turns = len({reading.turn.id for reading in unread})
        return Outlook(parts, turns, failed, calls, tokens)

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Describe new turns, and repeat each decision for which the model would see something else than before."""
        pending = self._pending(self._store.derived(NAME))
        done = self._describe(pending, report)
        walks = [(work, work.walk(self._vectors(work), self._settings)) for work in pending]
        done += self._go_through([walk for _, walk in walks], partial(decide_some, self._kit, EVOLVE, EVENTS), report)
        names = {
            work.whole.conversation: {
                work.whole.name, *walk.names, *(reading.part.name for reading in work.readings)
            }
            for work, walk in walks
        }  # fmt: skip
        drop_all_but(self._store, NAME, names)
        self._link()
        self._store.derive(NAME, [Derivation(work.whole) for work in pending])
        return summary(self._store, NAME, done)

    def _pending(self, ledger: Sequence[Derived]) -> list[_Work]:
        return [_Work(*pair) for pair in changed(self._store, NAME, ledger, (self._settings.neighbours,))]

    def _describe(self, pending: Sequence[_Work], report: Callable[[PartDone], None]) -> list[PartDone]:
        """Ask for missing details; a note with an unusable reply has none until the next run."""
        unread = [(work.known, reading) for work in pending for reading in work.unread]
        return self._ask_for(unread, self._ask, report, lambda each: int(each.is_first))

    def _link(self) -> None:
        """Update the edges from the decisions: from a version to the one before, and from a note to its links."""
        units = self._store.units_of(NAME, [NOTE, DECISION])
        known = {unit.id for unit in units}
        edges = superseding(units)
        for decision in units:
            acts = acts_of(decision) if decision.kind == DECISION else ()
            linked = dict.fromkeys(act.on for act in acts if act.event == CONNECT and act.on in known)
            edges += [Edge(acts[0].unit, id_, LINK) for id_ in linked if acts[0].unit in known]
        self._store.shared(NAME, SUPERSEDES, [], edges, links=(SUPERSEDES, LINK))

    def _vectors(self, work: _Work) -> dict[str, Vector]:
        """Return the vectors of a conversation's known units and of its notes without details, by id."""
        bare = [reading.draft(Details()) for reading in work.readings if not work.known.get(reading.part.name)]
        return self._vectors_of([*(unit for units in work.known.values() for unit in units), *bare])

    def _read_notes(self) -> _Read:
        """Return all versions of the notes and what the decisions made of them."""
        units = self._store.units_of(NAME, [NOTE, DECISION])
        versions: dict[str, list[Unit]] = {}
        for unit in units:
            if unit.kind == NOTE:
                versions.setdefault(key_of(unit), []).append(unit)
        by_id = {unit.id: unit for unit in units if unit.kind == NOTE}
        return _Read(endings_of(units), replaced_by(units), versions, by_id)

    def _with_linked(self, best: Sequence[str], notes: _Read, query: Query) -> list[str]:
        """Return the ids of the notes, each followed by its linked notes in their version at the query's time."""
        passes = passing(query)
        found: dict[str, None] = {}
        for id_ in best:
            found[id_] = None
            for key in listed(notes.units[id_], LINKS):
                for unit in notes.versions.get(key, ()):
                    if passes(unit) and ending_of(notes.endings, unit.id, query.until) is None:
                        found[unit.id] = None
        return list(found)

    def _asked_for(self, query: Query) -> str:
        """Return the keywords that the model makes of the question; if its reply is unusable, the question itself."""
        kit = self._kit()

        def build(problem: str) -> Request:
            return kit.prompts[KEYWORDS].request({"question": in_one_line(query.text), "problem": problem})

        (reply,) = ask_each(kit.model, [build], partial(_keywords_of, build("")))
        if reply.value is None:
            self._store.announce(f"{NAME}: no keywords were said usably ({reply.problem}); the question is searched")
            return query.text
        return reply.value


def _keywords_of(request: Request, text: str) -> str:
    words = ", ".join(read_fields(text, request).get("keywords", ())).strip()
    if not words:
        raise ReplyUnusable("it has no keywords")
    return words
