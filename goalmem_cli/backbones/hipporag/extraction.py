"""Make passages of a session and extract its facts: first names, then triples with them (HippoRAG 2 section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from goalmem_cli.backbones.hipporag import NAME, NAMES, PASSAGE, TRIPLES
from goalmem_cli.backbones.hipporag.settings import HippoRAGSettings, Retrieved
from goalmem_cli.backbones.structured.entries import NONE, Form, StructuredEntry, read_entries
from goalmem_cli.backbones.structured.indexing import about_tokens
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.stretches import Stretch, stretches_of, turn_leaves
from goalmem_cli.backbones.structured.triples import triple_attributes, triple_text
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import Reply, ask_each, read_fields
from goalmem_cli.ports import Request
from goalmem_cli.prompts import Profile
from goalmem_cli.records import Part, Turn, Unit, Usage
from goalmem_cli.store.queries.episodes import FACT

FORMS = (Form(FACT, "triples", ("subject", "predicate", "object")),)
_SIZES: Mapping[Profile, tuple[int | None, int]] = {"full": (None, 4800), "compact": (4, 600)}


@dataclass(frozen=True, slots=True)
class Asked:
    """A stretch of a part, and the model's replies about it."""

    part: Part
    stretch: Stretch
    names: Reply[tuple[str, ...]]
    triples: Reply[tuple[StructuredEntry, ...]]


def stretches(part: Part, profile: Profile) -> list[Stretch]:
    """Return the stretches of a part, one for each request."""
    lines, letters = _SIZES[profile]
    return list(stretches_of(part.turns, letters, lines=lines))


def passages_of(turns: Sequence[Turn], settings: HippoRAGSettings) -> list[Unit]:
    """Return a session's passages: stretches with their speakers, or single turns, with long turns split."""
    if settings.unit is Retrieved.TURN:
        return turn_leaves(NAME, PASSAGE, turns)
    found = stretches_of(turns, settings.tokens, lambda text: about_tokens([text]))
    return [derived_unit(NAME, PASSAGE, stretch.told, stretch.sources) for stretch in found]


def ask_about(kit: Kit, parts: Sequence[Part]) -> list[Asked]:
    """Ask the model about the parts in two calls: the names in all their stretches, then the triples."""
    of = [(part, stretch) for part in parts for stretch in stretches(part, kit.prompts.profile)]
    if not of:
        return []
    builds = [partial(names_request, kit, stretch) for _, stretch in of]
    names = ask_each(kit.model, builds, [partial(_read_names, build) for build in builds])
    triples = ask_each(
        kit.model,
        [
            partial(triples_request, kit, stretch, reply.value or ())
            for (_, stretch), reply in zip(of, names, strict=True)
        ],
        [partial(_read_triples, kit, stretch) for _, stretch in of],
    )
    return [Asked(*each, name, triple) for each, name, triple in zip(of, names, triples, strict=True)]


def derivation(part: Part, settings: HippoRAGSettings, asked: Sequence[Asked]) -> Derivation:
    """Return the passages and facts of a part, and the problems of stretches with unusable triples."""
    units = {unit.id: unit for unit in passages_of(part.turns, settings)}
    for each in asked:
        units.update((unit.id, unit) for unit in map(fact_unit, each.triples.value or ()))
    problems = [f"{each.stretch.name}: {each.triples.problem}" for each in asked if each.triples.value is None]
    usage = sum((each.names.usage + each.triples.usage for each in asked), Usage())
    return Derivation(part, tuple(units.values()), problem="; ".join(problems) or None, usage=usage)


def fact_unit(entry: StructuredEntry) -> Unit:
    """Return a triple as a unit derived from the turns that tell it."""
    parts = (entry["subject"], entry["predicate"], entry["object"])
    attributes = triple_attributes(*parts)
    return derived_unit(NAME, FACT, triple_text(*parts), entry.turns, identity=parts, attributes=attributes)


def names_request(kit: Kit, stretch: Stretch, problem: str) -> Request:
    """Return the request for the names in a stretch."""
    return kit.prompts[NAMES].request(_inputs(stretch, problem))


def triples_request(kit: Kit, stretch: Stretch, names: Sequence[str], problem: str) -> Request:
    """Return the request for the triples of a stretch that has these names."""
    return kit.prompts[TRIPLES].request({**_inputs(stretch, problem), "names": list(names)}, {"turns": stretch.labels})


def _inputs(stretch: Stretch, problem: str) -> dict[str, object]:
    return {name: value for name, value in stretch.inputs(problem).items() if name != "before"}


def _read_names(build: partial[Request], text: str) -> tuple[str, ...]:
    names = read_fields(text, build("")).get("names", ())
    return tuple(dict.fromkeys(name for name in names if name not in ("", NONE)))


def _read_triples(kit: Kit, stretch: Stretch, text: str) -> tuple[StructuredEntry, ...]:
    return read_entries(text, triples_request(kit, stretch, (), "").shape, stretch, FORMS)
