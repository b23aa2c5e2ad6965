"""Write descriptions of entities with several mentions, and reports on communities; each is a part of its own (C5).

A description is written from the mentions. A report is written from a community's relationships and entities, or, if
these are too long, from the reports on the communities within it (GraphRAG sections 2.3 to 2.5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from goalmem_cli.backbones.graphrag import DESCRIBE, DESCRIPTION, NAME, REPORT, REPORT_ON
from goalmem_cli.backbones.graphrag.graph import Graph, Merged
from goalmem_cli.backbones.structured.communities import Community
from goalmem_cli.backbones.structured.indexing import about_tokens
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.summaries import filled, read_text, words_in
from goalmem_cli.backbones.structured.units import derived_unit, listed
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import Reply, ask_each, in_one_line, read_fields
from goalmem_cli.ports import Request
from goalmem_cli.records import Part, Unit, Usage

RATING, LEVEL, MEMBERS = "rating", "level", "members"
"""The attributes of a report: its importance from 0 to 10, its level, and the ids of its entities' units."""
_HIGHEST = 10.0


@dataclass(frozen=True, slots=True)
class Described:
    """An entity or a relationship with its description."""

    merged: Merged
    text: str

    @property
    def line(self) -> str:
        """Title and description in one line, for a model."""
        return f"{self.merged.title}: {in_one_line(self.text)}"


@dataclass(frozen=True, slots=True)
class Ground:
    """The sources of a report: its part, its community, the lines to read, and the ids of its entities."""

    part: Part
    community: Community
    lines: tuple[str, ...]
    members: tuple[str, ...]


def describe(kit: Kit, parts: Mapping[str, tuple[Part, Merged]], budget: int, length: int) -> list[Derivation]:
    """Return a description of about `length` tokens for each part, summing up its several descriptions.

    The model reads `budget` tokens of them at a time, in sorted order. Its last summary comes first in the next
    request.
    """
    batches = {name: list(filled(merged.descriptions, budget, str)) for name, (_, merged) in parts.items()}
    told: dict[str, Reply[str]] = {}
    while going := [name for name, left in batches.items() if left]:
        builds = []
        for name in going:
            lead = [told[name].value or ""] if name in told else []
            texts = [*lead, *batches[name].pop(0)]
            builds.append(partial(_describe_request, kit, parts[name][1].title, texts, length))
        replies = ask_each(kit.model, builds, [partial(read_text, build, field="description") for build in builds])
        for name, reply in zip(going, replies, strict=True):
            usage = reply.usage + (told[name].usage if name in told else Usage())
            told[name] = Reply(reply.value, usage, reply.problem)
            if reply.value is None:
                batches[name].clear()
    return [_described(part, told[name]) for name, (part, _) in parts.items()]


def report_on(kit: Kit, grounds: Sequence[Ground], length: int) -> list[Derivation]:
    """Return a report of about `length` tokens for each community."""
    builds = [partial(_report_request, kit, ground, length) for ground in grounds]
    replies = ask_each(kit.model, builds, [partial(_read_report, build) for build in builds])
    return [
        Derivation(
            ground.part,
            () if reply.value is None else (_report_unit(ground, *reply.value),),
            problem=reply.problem or None,
            usage=reply.usage,
        )
        for ground, reply in zip(grounds, replies, strict=True)
    ]


def reports_within(community: Community, communities: Sequence[Community], reports: Iterable[Unit]) -> list[Unit]:
    """Return the reports on the direct children of a community.

    A report of another level on the same entities may be stale; it is dropped when its level is indexed.
    """
    level, members = community.level + 1, {each.members for each in communities if each.parent == community.id}
    return [
        report
        for report in reports
        if report.attributes.get(LEVEL) == level and tuple(listed(report, "names")) in members
    ]


def lines_about(
    community: Community,
    graph: Graph,
    described: Mapping[tuple[str, ...], Described],
    below: Sequence[Unit],
    budget: int,
) -> tuple[str, ...]:
    """Return the lines that a report on a community is written from, at most about `budget` tokens.

    Relationships are sorted by combined degree, each after its entities. If that is too long, the reports `below` (on
    communities within it) replace their entities, the largest first, until it fits.
    """
    members = set(community.members)
    stand_for: list[str] = []
    left = set(members)
    for report in [None, *sorted(below, key=lambda unit: (-len(listed(unit, "names")), unit.id))]:
        if report is not None:
            stand_for.append(in_one_line(report.text))
            left -= set(listed(report, "names"))
        lines = [*stand_for, *_elements(graph, described, members, left)]
        if about_tokens(lines) <= budget:
            return tuple(lines)
    return tuple(next(filled(lines, budget, str), ()))


def _elements(
    graph: Graph, described: Mapping[tuple[str, ...], Described], members: set[str], left: set[str]
) -> Iterator[str]:
    """Yield the relationships within a community that touch an entity in `left`, each after its entities."""
    inside = [each for each in graph.relationships if set(each.keys) <= members and set(each.keys) & left]
    inside.sort(key=lambda each: (-sum(graph.degrees[end] for end in each.keys), each.keys))
    entities: dict[str, list[Merged]] = {}
    for entity in graph.entities:
        entities.setdefault(entity.keys[0], []).append(entity)
    ordered = dict.fromkeys([end for each in inside for end in each.keys] + sorted(left))
    said: set[str] = set()
    for each in inside:
        for end in each.keys:
            if end in left and end not in said:
                said.add(end)
                yield from (described[entity.identity].line for entity in entities[end])
        yield described[each.identity].line
    for end in ordered:
        if end in left and end not in said:
            yield from (described[entity.identity].line for entity in entities[end])


def _described(part: Part, reply: Reply[str]) -> Derivation:
    text = reply.value
    units = () if text is None else (derived_unit(NAME, DESCRIPTION, text, part.turns, identity=(part.name,)),)
    return Derivation(part, units, problem=reply.problem or None, usage=reply.usage)


def _describe_request(kit: Kit, title: str, texts: Sequence[str], length: int, problem: str) -> Request:
    told = [in_one_line(text) for text in texts]
    inputs = {"title": in_one_line(title), "texts": told, "words": words_in(length), "problem": problem}
    return kit.prompts[DESCRIBE].request(inputs)


def _report_request(kit: Kit, ground: Ground, length: int, problem: str) -> Request:
    inputs = {"lines": list(ground.lines), "words": words_in(length), "problem": problem}
    return kit.prompts[REPORT_ON].request(inputs)


def _read_report(build: partial[Request], text: str) -> tuple[str, float]:
    """Return a report's text, title first, and its rating."""
    fields = read_fields(text, build(""))
    told = [" ".join(fields.get(name, ())).strip() for name in ("title", "summary")]
    if not all(told):
        raise ReplyUnusable("the title or the summary is blank")
    try:
        rating = float(" ".join(fields.get("rating", ())))
    except ValueError as error:
        raise ReplyUnusable("the rating is no number") from error
    if not 0 <= rating <= _HIGHEST:
        raise ReplyUnusable("the rating is not between 0 and 10")
    return "\n".join([*told, *filter(None, fields.get("findings", ()))]), rating


def _report_unit(ground: Ground, text: str, rating: float) -> Unit:
    """Return a community's report as a unit."""
    attributes: dict[str, object] = {
        LEVEL: ground.community.level,
        RATING: rating,
        MEMBERS: sorted(ground.members),
        "names": list(ground.community.members),
    }
    return derived_unit(NAME, REPORT, text, ground.part.turns, identity=(ground.part.name,), attributes=attributes)
