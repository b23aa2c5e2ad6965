"""Communities of entities by label propagation, each with a name and a summary (Graphiti section 2.3), as parts (C5).

The original's label propagation may never end (issues 402 and 1397): two nodes can swap their labels forever. Here
labels change one at a time in a fixed order, at most thirty times each.
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
from goalmem_cli.backbones.structured.summaries import named, read_text
from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.memory_records import Derivation
from goalmem_cli.model_replies import Reply, ask_each, in_one_line
from goalmem_cli.ports import Request
from goalmem_cli.records import Part, Turn, Usage, content_hash

MEMBERS = "members"
_ROUNDS = 30
_ENOUGH = 1  # a neighbouring label with more weight than this replaces a node's own


@dataclass(frozen=True)
class Group:
    """A community of entities: its members' ids, a line for each to summarise, and the turns behind them."""

    members: tuple[str, ...]
    lines: tuple[str, ...]
    turns: tuple[Turn, ...]

    @cached_property
    def part(self) -> Part:
        """The part of its summary; it stays the same as long as the members and their lines do."""
        name = named(COMMUNITY, content_hash(*self.members, "", *self.lines))
        return Part(self.turns[0].conversation, name, self.turns)


def propagated(links: Mapping[tuple[str, str], int]) -> dict[str, list[str]]:
    """Return the nodes of an undirected graph by label; `links` counts the links of each pair.

    A node takes the label with the most weight among its neighbours, if that weight is more than one. Otherwise it
    takes the larger of that label and its own. On a tie the largest label wins.
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
    """Return the communities of each conversation, each of at least two entities."""
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
    """Return a community unit for each group: lines are merged in pairs, as a tree, and the summary gets a title.

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
    unit = derived_unit(
        NAME, COMMUNITY, f"{name}: {summary}", group.turns, identity=(group.part.name,),
        attributes={MEMBERS: list(group.members)},
    )  # fmt: skip
    return Derivation(group.part, (unit,), problem=problem or None, usage=usage)


def _asked(kit: Kit, step: str, inputs: Sequence[Mapping[str, object]], field: str) -> list[Reply[str]]:
    """Return the model's replies to a step for each of the inputs; a reply is its `field`."""

    def build(told: Mapping[str, object], problem: str) -> Request:
        return kit.prompts[step].request({**told, "problem": problem})

    builds = [partial(build, each) for each in inputs]
    return [
        reply
        for some in batches(builds, kit.at_once, lambda _: 1)
        for reply in ask_each(kit.model, some, [partial(read_text, each, field=field) for each in some])
    ]
