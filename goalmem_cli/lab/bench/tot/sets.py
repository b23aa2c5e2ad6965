"""Questions of Complex-TR's form about a graph of named people: what held at a time, and beside something else.

Answers are sets, worked out in plain Python as in `questions`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goalmem_cli.lab.bench.sums.questions import Gold, Sum
from goalmem_cli.lab.bench.sums.story import PEOPLE, TOWNS
from goalmem_cli.lab.bench.tot.facts import Span, TimedGraph
from goalmem_cli.lab.bench.tot.tot_questions import Ask, Key, Told, grounded, groups, told

TIME_TO_EVENT, EVENT_TO_EVENT = "L2", "L3"
"""The levels of the questions, as the ids of the published ones begin."""
MOST_NODES = 144
"""How many nodes can have names of their own."""

_FAMILIES = (
    "Abreu", "Brandt", "Castro", "Dahl", "Eklund", "Ferrer", "Graf", "Hansen", "Ivens", "Jansen", "Keller", "Lindqvist",
)  # fmt: skip
_SIDES = (
    "North", "South", "East", "West", "Upper", "Lower", "Old", "New", "Great", "Little", "Inner", "Outer",
)  # fmt: skip
_MAKERS = (
    "Amber", "Birch", "Copper", "Dune", "Ember", "Fern", "Granite", "Hazel", "Indigo", "Juniper", "Krill", "Larch",
)  # fmt: skip
_TRADES = (
    "Mills", "Press", "Shipping", "Foods", "Bank", "Textiles", "Mining", "Glass", "Motors", "Paper", "Dairy", "Tools",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Relation:
    """What people had to do with things of a kind: "worked for", "work for", "working for" employers."""

    kind: str
    past: str
    plain: str
    going: str


_RELATIONS = (
    Relation("employer", "worked for", "work for", "working for"),
    Relation("town", "lived in", "live in", "living in"),
    Relation("team", "played for", "play for", "playing for"),
    Relation("college", "taught at", "teach at", "teaching at"),
    Relation("employer", "advised", "advise", "advising"),
    Relation("town", "farmed in", "farm in", "farming in"),
    Relation("team", "coached", "coach", "coaching"),
    Relation("college", "studied at", "study at", "studying at"),
    Relation("employer", "drove for", "drive for", "driving for"),
    Relation("town", "painted in", "paint in", "painting in"),
    Relation("team", "scouted for", "scout for", "scouting for"),
    Relation("college", "sang at", "sing at", "singing at"),
    Relation("employer", "cooked for", "cook for", "cooking for"),
    Relation("town", "preached in", "preach in", "preaching in"),
    Relation("team", "trained with", "train with", "training with"),
    Relation("college", "gardened at", "garden at", "gardening at"),
    Relation("employer", "wrote for", "write for", "writing for"),
    Relation("town", "baked in", "bake in", "baking in"),
)
"""As many as graphs of `MOST_NODES` have; small ones have the first of them."""


def told_with_names(graph: TimedGraph, seed: int) -> Told:
    """Return the graph in words: "Amara Dahl worked for Amber Press from 1983 to 1989."."""
    return told(graph, f"complex-tr-{seed}-{graph.number}", _say)


def _say(span: Span) -> str:
    relation = _RELATIONS[span.relation]
    return f"{person_of(span.subject)} {relation.past} {thing_of(span)} from {span.first} to {span.last}."


def person_of(node: int) -> str:
    """Return who a node is."""
    return f"{PEOPLE[node % len(_FAMILIES)]} {_FAMILIES[(node + node // len(_FAMILIES)) % len(_FAMILIES)]}"


def thing_of(span: Span) -> str:
    """Return what the object of a span is, by its relation."""
    size = len(_SIDES)
    one, other = span.object % size, (span.object + span.object // size) % size
    match _RELATIONS[span.relation].kind:
        case "employer":
            return f"{_MAKERS[one]} {_TRADES[other]}"
        case "town":
            return f"{_SIDES[one]} {TOWNS[other]}"
        case "team":
            return f"{TOWNS[one]} {_MAKERS[other]}s"
        case _:
            return f"{_SIDES[one]} {_MAKERS[other]} College"


def _of(span: Span) -> Key:
    return span.relation, span.subject


def _groups(told: Told) -> list[tuple[Relation, str, list[Span]]]:
    """Return of which person and relation there are which spans."""
    found = groups(told.graph.spans, _of)
    return [(_RELATIONS[relation], person_of(subject), spans) for (relation, subject), spans in found.items()]


def _all(told: Told, spans: Sequence[Span]) -> tuple[Gold, ...]:
    return grounded(told, spans, 0, lambda span: {"x": thing_of(span), "y": str(span.first), "z": str(span.last)})


def _subgoal(relation: Relation, person: str) -> str:
    return f"({person}) {relation.past} (x:{relation.kind}*) from (y:year*) to (z:year*)"


def _named(spans: Sequence[Span]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(thing_of, spans)))


def _at_a_time(told: Told, chance: random.Random) -> Iterator[Sum]:
    for relation, person, spans in _groups(told):
        span = chance.choice(spans)
        first = chance.randint(span.first, span.last)
        last = first + chance.choice((0, 5, 10))
        answer = _named([one for one in spans if one.holds(first, last)])
        when = f"in {first}" if first == last else f"in any of the years from {first} to {last}, both included"
        bounds = f"'{first}'" if first == last else f"'{first}', '{last}'"
        yield Sum(
            TIME_TO_EVENT, f"Which {relation.kind}s did {person} {relation.plain} {when}?", answer,
            f"during(x from y to z, {bounds})", (_subgoal(relation, person),), _all(told, spans),
        )  # fmt: skip


def _while_another(told: Told, chance: random.Random) -> Iterator[Sum]:
    for relation, person, spans in _groups(told):
        own = [span for span in told.graph.spans if span.subject == spans[0].subject and _of(span) != _of(spans[0])]
        once = [
            span for span in own if [(one.relation, one.object) for one in own].count((span.relation, span.object)) == 1
        ]
        once = [span for span in once if any(one.holds(span.first, span.last) for one in spans)]
        if not once:
            continue
        other = chance.choice(once)
        doing = _RELATIONS[other.relation]
        meanwhile = f"({person}) {doing.past} ({thing_of(other)}) from (v:year) to (w:year)"
        gold = Gold(1, told.labels[other], {"v": str(other.first), "w": str(other.last)})
        yield Sum(
            EVENT_TO_EVENT,
            f"Which {relation.kind}s did {person} {relation.plain} in the years of {doing.going} {thing_of(other)}?",
            _named([span for span in spans if span.holds(other.first, other.last)]),
            "during(x from y to z, v, w)", (_subgoal(relation, person), meanwhile), (*_all(told, spans), gold),
        )  # fmt: skip


def _beside(told: Told, chance: random.Random) -> Iterator[Sum]:
    for relation, person, spans in _groups(told):
        things = [thing_of(span) for span in spans]
        step, word, function = chance.choice(((-1, "before", "previous"), (1, "after", "next")))
        alone = [place for place, thing in enumerate(things) if things.count(thing) == 1]
        near = [place for place in alone if 0 <= place + step < len(spans)]
        if near:
            place = chance.choice(near)
            yield Sum(
                EVENT_TO_EVENT,
                f"Which {relation.kind} did {person} begin to {relation.plain} right {word} {things[place]}?",
                (things[place + step],), f"{function}(x by y, '{things[place]}')",
                (_subgoal(relation, person),), _all(told, spans),
            )  # fmt: skip


ASKS: tuple[Ask, ...] = (_at_a_time, _while_another, _at_a_time, _beside)
"""As many of one level as of the other."""
