"""The backbone `remem`: a model extracts gists and facts from sessions; retrieval fuses them with the turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from goalmem_cli.backbones.remem import EXTRACT, FACTS, GISTS
from goalmem_cli.backbones.remem.episodic_memory import EpisodicMemory
from goalmem_cli.backbones.remem.event_times import disagreements
from goalmem_cli.backbones.remem.extraction import FORMS, Extracted, chunks_of, read_extracted
from goalmem_cli.backbones.remem.graph import LINKS, fact_unit, gist_unit, phrase_edges
from goalmem_cli.backbones.remem.settings import RememSettings
from goalmem_cli.backbones.remem.tools import Found, Tool, ToolCall, kinds_of, run
from goalmem_cli.backbones.structured.alike import similarity_edges
from goalmem_cli.backbones.structured.beside import hits_beside_turns, ranked_units
from goalmem_cli.backbones.structured.indexing import (
    Plan,
    about_tokens,
    batches,
    derive_all,
    plan,
    sessions_of,
    summary,
)
from goalmem_cli.backbones.structured.kit import LoadKit, StructuredBackbone
from goalmem_cli.backbones.structured.stretches import Stretch, stretches_of
from goalmem_cli.backbones.structured.triples import phrase_units
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import Reply, ask_each
from goalmem_cli.ports import Indexed, Outlook, PartDone, Request
from goalmem_cli.records import Hit, Part, Query, Unit, Usage
from goalmem_cli.store.queries.episodes import FACT, GIST, PHRASE, SYNONYMY

DISAGREEMENTS = "times on which model and resolver disagree"
"""The key in `Indexed.noted` for the number of gists and facts on whose time the model and the resolver disagree."""

_LETTERS_A_TOKEN = 3  # a low value; a session may fill half of the context
LEFT_OUT = "courtesies and further entries of a picture left out"

WEIGHT = 3.0
"""The weight of each ranking of gists and facts: the two rankings of a kind weigh as much as the four of turns."""


class Remem(StructuredBackbone[EpisodicMemory]):
    """Retrieves gists, facts and turns, fused by rank; every hit names the turns it came from."""

    def __init__(self, store: EpisodicMemory, kit: LoadKit, settings: RememSettings | None = None) -> None:
        """Take the store, and the function that loads the model and prompts, which only indexing needs."""
        super().__init__(store, kit)
        self._settings = settings or RememSettings()
        self._name = self._settings.name
        self._left_out = 0

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k hits, best first, with each ranking's rank."""
        with self._store.reading() as reader:
            own = {
                f"{kind}-{name}": units
                for kind in kinds_of(self._settings)
                for name, units in ranked_units(reader, query, self._name, (kind,)).items()
            }
            return hits_beside_turns(reader, query, k, own, dict.fromkeys(own, WEIGHT))

    def explore(self, scope: Query, call: ToolCall) -> Found:
        """Run one of the tools within the scope, and return what it finds."""
        with self._store.reading() as reader:
            return run(reader, scope, call, self._settings)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that the settings leave on."""
        return tuple(tool for tool in Tool if getattr(self._settings, tool.value))

    def outlook(self) -> Outlook:
        """Return what `index` would do now, without asking the model."""
        work = self._plan()
        groups = list(batches(work.pending, self._at_once(work.pending), self._count_requests))
        chunks = [chunk for part in work.pending for chunk in self._chunks(part)]
        steps = self._steps
        requests = [self._request(chunk, steps[0], {}, "") for chunk in chunks] * len(steps)
        fixed = self._kit().fixed_tokens(*steps) // len(steps) if requests else 0
        read = about_tokens(request.growing + request.tail for request in requests)
        # the extracted text is about as long as its source
        return work.outlook(len(groups) * len(steps), fixed * len(requests) + 2 * read)

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Extract gists and facts of the sessions that are new, changed or failed before, and link them."""
        work = self._plan()
        groups = batches(work.pending, self._at_once(work.pending), self._count_requests)
        self._left_out = 0
        done = derive_all(self._store, self._name, work, groups, self._derive, report)
        gists, facts = self.link()
        noted = {DISAGREEMENTS: disagreements([*gists, *facts])}
        return summary(self._store, self._name, done, noted | ({LEFT_OUT: self._left_out} if self._left_out else {}))

    def link(self) -> tuple[list[Unit], list[Unit]]:
        """Update phrases and edges from the stored gists and facts, and return these; no language model is used."""
        gists, facts = (self._store.units_of(self._name, kinds=[kind]) for kind in (GIST, FACT))
        near = similarity_edges(gists, self._store.vectors_of(gists), SYNONYMY, self._settings.least_cosine)
        edges = [*phrase_edges(gists, facts, self._name), *near]
        self._store.shared(self._name, PHRASE, phrase_units(self._name, facts), edges, links=LINKS)
        return gists, facts

    def _plan(self) -> Plan:
        return plan(sessions_of(self._store.turns()), self._store.derived(self._name))

    def _chunks(self, part: Part) -> list[Stretch]:
        if self._settings.by_session:
            return list(stretches_of(part.turns, self._kit().context * _LETTERS_A_TOKEN // 2))
        return list(chunks_of(part.turns, self._kit().prompts.profile))

    @property
    def _steps(self) -> tuple[str, ...]:
        """The prompts that each chunk is read with, one after the other."""
        if not self._settings.by_session:
            return (EXTRACT,)
        return (*((GISTS,) if self._settings.gists else ()), *((FACTS,) if self._settings.facts else ()))

    def _count_requests(self, part: Part) -> int:
        return len(self._chunks(part))

    def _request(self, chunk: Stretch, step: str, more: Mapping[str, object], problem: str) -> Request:
        inputs = {**chunk.inputs(problem), **({"gists": []} if step == FACTS else {}), **more}
        return self._kit().prompts[step].request(inputs, {"turns": chunk.labels})

    def _derive(self, parts: Sequence[Part]) -> list[Derivation]:
        """Ask about all chunks of the parts in one call for each prompt, and return what the model extracts."""
        chunks = [(part, chunk) for part in parts for chunk in self._chunks(part)]
        of_part: dict[str, list[tuple[Stretch, Reply[Extracted]]]] = {}
        gists: dict[Stretch, list[str]] = {}
        for step in self._steps if chunks else ():
            more = [{"gists": gists[chunk]} if step == FACTS and chunk in gists else {} for _, chunk in chunks]
            builds = [partial(self._request, chunk, step, told) for (_, chunk), told in zip(chunks, more, strict=True)]
            reads = [partial(self._read, chunk, step, told) for (_, chunk), told in zip(chunks, more, strict=True)]
            for (part, chunk), reply in zip(chunks, ask_each(self._kit().model, builds, reads), strict=True):
                of_part.setdefault(part.digest, []).append((chunk, reply))
                self._left_out += reply.value.left_out if reply.value is not None else 0
                gists.setdefault(chunk, []).extend(gist.text for gist in (reply.value or Extracted()).gists)
        return [self._derivation(part, of_part.get(part.digest, [])) for part in parts]

    def _read(self, chunk: Stretch, step: str, more: Mapping[str, object], text: str) -> Extracted:
        forms = {GISTS: FORMS[:1], FACTS: FORMS[1:]}.get(step, FORMS)
        shape = self._request(chunk, step, more, "").shape
        return read_extracted(text, shape, chunk, forms, is_sifted=self._settings.sifted)

    def _derivation(self, part: Part, replies: Sequence[tuple[Stretch, Reply[Extracted]]]) -> Derivation:
        """Return the units of a part's chunks. Chunks with an unusable reply give none, only a problem."""
        told, units = self._settings, dict[str, Unit]()
        for chunk, reply in replies:
            said = reply.value or Extracted()
            place = part.turns[0].ordinal if told.by_session else chunk.place
            made = [
                *(gist_unit(gist, place, self._name, is_stamped=told.stamped) for gist in said.gists),
                *(fact_unit(fact, place, self._name) for fact in said.facts),
            ]
            units.update((unit.id, unit) for unit in made)
        problems = [f"{chunk.name}: {reply.problem}" for chunk, reply in replies if reply.value is None]
        usage = sum((reply.usage for _, reply in replies), Usage())
        return Derivation(part, tuple(units.values()), problem="; ".join(problems) or None, usage=usage)
