"""Extract mentions of entities and relations from chunks of sessions, with the turns that tell each.

The model is asked about a chunk once, then again for what it missed (gleanings, GraphRAG section 2.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from goalmem_cli.backbones.graphrag import CHUNK, EXTRACT, GLEAN, MENTION, NAME, RELATION
from goalmem_cli.backbones.graphrag.settings import GraphRAGSettings
from goalmem_cli.backbones.structured.entries import Form, StructuredEntry, read_entries
from goalmem_cli.backbones.structured.indexing import about_tokens, sessions_of
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.stretches import Stretch, shorter, stretches_of
from goalmem_cli.backbones.structured.summaries import named
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import Reply, ask_each
from goalmem_cli.ports import Request
from goalmem_cli.prompts import Profile
from goalmem_cli.records import Part, Turn, Unit, Usage

FORMS = (
    Form(MENTION, "entities", ("name", "type", "description")),
    Form(RELATION, "relationships", ("source", "target", "description"), ("strength",)),
)
_SIZES: Mapping[Profile, tuple[int | None, int]] = {"full": (None, 10**9), "compact": (4, 600)}


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a session as a part."""

    part: Part
    stretch: Stretch


@dataclass(slots=True)
class Read:
    """The entries read from a stretch so far, the usage, and the problem if the first reply was unusable."""

    entries: list[StructuredEntry] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    problem: str = ""

    def add(self, reply: Reply[tuple[StructuredEntry, ...]]) -> None:
        """Add the entries of a reply that are new."""
        known = {(entry.kind, *entry.fields.values()) for entry in self.entries}
        self.entries += [entry for entry in reply.value or () if (entry.kind, *entry.fields.values()) not in known]
        self.usage += reply.usage


def chunks_of(turns: Sequence[Turn], settings: GraphRAGSettings) -> list[Chunk]:
    """Return the chunks of all sessions. If a session grows, only its last chunk changes."""
    most, overlap = settings.chunk_tokens, settings.overlap
    return [
        Chunk(Part(session.conversation, named(CHUNK, f"{session.name}.{number}"), stretch.sources), stretch)
        for session in sessions_of(turns)
        for number, stretch in enumerate(
            stretches_of(session.turns, most, lambda text: about_tokens([text]), overlap=overlap)
        )
    ]


def asked_about(chunk: Chunk, profile: Profile) -> list[Stretch]:
    """Return the stretches of a chunk, one for each request: the whole chunk, or less with the compact prompts."""
    lines, letters = _SIZES[profile]
    return list(shorter(chunk.stretch, letters, lines))


def derive(kit: Kit, chunks: Sequence[Chunk], settings: GraphRAGSettings) -> list[Derivation]:
    """Return what the model extracts from the chunks: one call for all, and one more for each gleaning."""
    profile, types = kit.prompts.profile, tuple(settings.types.split())
    of = [(number, stretch) for number, chunk in enumerate(chunks) for stretch in asked_about(chunk, profile)]
    reads = [Read() for _ in of]
    stretches = [stretch for _, stretch in of]
    replies = ask_each(
        kit.model,
        [partial(extract_request, kit, types, stretch) for stretch in stretches],
        [partial(_read, kit, types, stretch) for stretch in stretches],
    )
    for read, reply in zip(reads, replies, strict=True):
        read.add(reply)
        read.problem = reply.problem
    going = [place for place, read in enumerate(reads) if not read.problem]
    for _ in range(settings.gleanings):
        if not going:
            break
        builds = [partial(glean_request, kit, types, stretches[place], tuple(reads[place].entries)) for place in going]
        replies = ask_each(kit.model, builds, [partial(_read, kit, types, stretches[place]) for place in going])
        for place, reply in zip(going, replies, strict=True):
            reads[place].add(reply)
        going = [place for place, reply in zip(going, replies, strict=True) if reply.value]
    told: list[list[tuple[Stretch, Read]]] = [[] for _ in chunks]
    for (number, stretch), read in zip(of, reads, strict=True):
        told[number].append((stretch, read))
    return [_derivation(chunk, read) for chunk, read in zip(chunks, told, strict=True)]


def extract_request(kit: Kit, types: Sequence[str], stretch: Stretch, problem: str) -> Request:
    """Return the request to extract entities of these types from a stretch."""
    inputs = {**stretch.inputs(problem), "types": ", ".join(types)}
    return kit.prompts[EXTRACT].request(inputs, {"turns": stretch.labels, "entity_types": types})


def glean_request(
    kit: Kit, types: Sequence[str], stretch: Stretch, known: Sequence[StructuredEntry], problem: str
) -> Request:
    """Return the request for entries of a stretch beyond those that are `known`."""
    told = [": ".join(filter(None, entry.fields.values())) for entry in known]
    inputs = {**stretch.inputs(problem), "types": ", ".join(types), "known": told}
    return kit.prompts[GLEAN].request(inputs, {"turns": stretch.labels, "entity_types": types})


def _read(kit: Kit, types: Sequence[str], stretch: Stretch, text: str) -> tuple[StructuredEntry, ...]:
    return read_entries(text, extract_request(kit, types, stretch, "").shape, stretch, FORMS)


def _derivation(chunk: Chunk, read: Sequence[tuple[Stretch, Read]]) -> Derivation:
    units = {unit.id: unit for unit in _units(chunk, [entry for _, each in read for entry in each.entries])}
    problems = [f"{stretch.name}: {each.problem}" for stretch, each in read if each.problem]
    usage = sum((each.usage for _, each in read), Usage())
    return Derivation(chunk.part, tuple(units.values()), problem="; ".join(problems) or None, usage=usage)


def _units(chunk: Chunk, entries: Sequence[StructuredEntry]) -> Iterator[Unit]:
    """Yield the chunk's unit, and a unit for each mention in it."""
    place = chunk.part.name
    text = derived_unit(NAME, CHUNK, chunk.stretch.told, chunk.part.turns, identity=(place,))
    yield text
    for entry in entries:
        told = entry["description"]
        attributes: dict[str, object] = {**entry.fields, CHUNK: text.id}
        identity = (place, *entry.fields.values())
        yield derived_unit(NAME, entry.kind, told, entry.turns, identity=identity, attributes=attributes)
