"""Communities of entities, each with a name and a summary (Graphiti section 2.3): label propagation, and parts by C5.

Label propagation need not end (issues 402 and 1397 of the original: two nodes suffice, each taking the other's label).
Here labels change one after the other in a fixed order, at most thirty times each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from goalmem_cli.backbones.graphiti import COMMUNITY, MERGE, NAME, TITLE
from goalmem_cli.backbones.graphiti.graph import Graph, summary_of
from goalmem_cli.backbones.structured.indexing import batches
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.summaries import named
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import Reply, ask_each, in_one_line, read_fields
from goalmem_cli.ports import Request
from goalmem_cli.records import Part, Turn, Unit, Usage, content_hash

MEMBERS = "members"
_ROUNDS = 30
_ENOUGH = 1  # what the commonest label has to weigh more than


@dataclass(frozen=True)
class Group:
    """Entities of a conversation that belong together, with the line of each that is summed up."""

    members: tuple[str, ...]
    lines: tuple[str, ...]
    turns: tuple[Turn, ...]

    @cached_property
    def part(self) -> Part:
        """The part that its summary is derived from: the same members with the same summaries keep theirs."""
        name = named(COMMUNITY, content_hash(*self.members, "", *self.lines))
        return Part(self.turns[0].conversation, name, self.turns)


def propagated(links: Mapping[tuple[str, str], int]) -> dict[str, list[str]]:
    """Return the nodes of an undirected graph by their labels, given how often two are linked.

    The label of a node becomes that which weighs most among its neighbours, where that is more than one; else the
    larger one of that and its own. Of labels that weigh as much, the largest.
    """
    near: dict[str, Counter[str]] = {}
    for (one, other), weight in sorted(links.items()):
        if one != other:
            near.setdefault(one, Counter())[other] += weight
            near.setdefault(other, Counter())[one] += weight
    label = {node: place for place, node in enumerate(sorted(near))}
    for _ in range(_ROUNDS):
        before = dict(label)
        for node in sorted(near):
            weights: Counter[int] = Counter()
            for other, weight in near[node].items():
                weights[label[other]] += weight
            most, best = max((weight, of) for of, weight in weights.items())
            label[node] = best if most > _ENOUGH else max(best, label[node])
        if label == before:
            break
    found: dict[int, list[str]] = {}
    for node in sorted(near):
        found.setdefault(label[node], []).append(node)
    return {str(of): members for of, members in found.items()}


def groups_of(graph: Graph, turns: Mapping[str, Turn], letters: int) -> list[Group]:
    """Return the communities of each conversation; an entity alone is none."""
    links: Counter[tuple[str, str]] = Counter()
    for each in graph.now.values():
        if ends := graph.ends(each.fact):
            links[min(ends), max(ends)] += 1
    around = graph.around(graph.now)
    found = []
    for members in propagated(links).values():
        if len(members) > 1:
            ordered = sorted(members, key=lambda id_: (graph.mentions[id_][0].ordinal, id_))
            lines = [_line(graph, id_, around.get(id_, ()), letters) for id_ in ordered]
            told = [graph.now[fact] for id_ in ordered for fact in around.get(id_, ())]
            units = [unit for each in told for unit in each.told]
            units += [graph.mentions[id_][0] for id_ in ordered]
            sources = {id_: turns[id_] for unit in units for id_ in unit.turns}
            of = tuple(sorted(sources.values(), key=lambda turn: turn.ordinal))
            found.append(Group(tuple(ordered), tuple(lines), of))
    return sorted(found, key=lambda group: (group.turns[0].conversation, group.turns[0].ordinal, group.members))


def _line(graph: Graph, entity: str, facts: Sequence[str], letters: int) -> str:
    said = in_one_line(summary_of([graph.now[fact] for fact in facts], letters))
    name = in_one_line(graph.mentions[entity][0].text)
    return f"{name}: {said}" if said else name


def sum_up(kit: Kit, groups: Sequence[Group]) -> list[Derivation]:
    """Return what each group gives: its summary, merged two by two as a tree, and its name, a call for each.

    Raises:
        ModelError: the model could not be used at all.
    """
    lines = [list(group.lines) for group in groups]
    usage = [Usage() for _ in groups]
    problems = [""] * len(groups)
    while open_ := [place for place, each in enumerate(lines) if len(each) > 1]:
        pairs = [(place, start) for place in open_ for start in range(0, len(lines[place]) - 1, 2)]
        texts = [lines[place][start : start + 2] for place, start in pairs]
        replies = _asked(kit, MERGE, [{"items": list(map(in_one_line, each))} for each in texts], "summary")
        merged: dict[int, list[str]] = {place: [] for place in open_}
        for (place, _), both, reply in zip(pairs, texts, replies, strict=True):
            merged[place].append(" ".join(both) if reply.value is None else reply.value)
            usage[place] += reply.usage
            problems[place] = problems[place] or reply.problem
        for place, texts_ in merged.items():
            lines[place] = [*texts_, *lines[place][len(texts_) * 2 :]]
    titles = _asked(kit, TITLE, [{"summary": in_one_line(each[0])} for each in lines], "title")
    return [
        _derivation(group, title, line[0], cost + title.usage, problem or title.problem)
        for group, title, line, cost, problem in zip(groups, titles, lines, usage, problems, strict=True)
    ]


def _derivation(group: Group, title: Reply[str], summary: str, usage: Usage, problem: str) -> Derivation:
    name = title.value or ", ".join(line.partition(":")[0] for line in group.lines)
    unit = community_unit(group, f"{name}: {summary}")
    return Derivation(group.part, (unit,), problem=problem or None, usage=usage)


def community_unit(group: Group, text: str) -> Unit:
    """Return the community as a unit, which comes from all that its members come from."""
    return derived_unit(
        NAME, COMMUNITY, text, group.turns, identity=(group.part.name,), attributes={MEMBERS: list(group.members)}
    )


def _asked(kit: Kit, step: str, inputs: Sequence[Mapping[str, object]], field: str) -> list[Reply[str]]:
    def build(told: Mapping[str, object], problem: str) -> Request:
        return kit.prompts[step].request({**told, "problem": problem})

    def read(told: Mapping[str, object], text: str) -> str:
        said = " ".join(read_fields(text, build(told, "")).get(field, ())).strip()
        if not said:
            raise ReplyUnusable(f"the {field} is blank")
        return said

    return [
        reply
        for some in batches(inputs, kit.at_once, lambda _: 1)
        for reply in ask_each(
            kit.model, [partial(build, each) for each in some], [partial(read, each) for each in some]
        )
    ]
