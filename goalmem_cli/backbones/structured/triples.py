"""Facts as triples, and nodes for the phrases in them: the graph that all open extraction shares.

A fact is a unit that keeps its subject, predicate and object, and their normal forms in `keys`. Phrases with the same
key are one node. A fact is linked to its subject and its object, and these two to each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from goalmem_cli.backbones.structured.units import listed, node
from goalmem_cli.logic.normal import normalise
from goalmem_cli.records import Edge, Unit, content_hash
from goalmem_cli.store.queries.episodes import OBJECT, PHRASE, RELATION, SUBJECT


def key_of(phrase: str) -> str:
    """Return the normal form of a name, equal for its different wordings; a name of signs alone is only lower-cased."""
    return normalise(phrase) or " ".join(phrase.casefold().split())


def triple_attributes(subject: str, predicate: str, thing: str) -> dict[str, object]:
    """Return the attributes of a fact's unit: its three parts and their keys."""
    keys = [key_of(part) for part in (subject, predicate, thing)]
    return {"subject": subject, "predicate": predicate, "object": thing, "keys": keys}


def triple_text(subject: str, predicate: str, thing: str) -> str:
    """Return the text of a fact, for reading and search."""
    return f"({subject}, {predicate}, {thing})"


def keys_of(fact: Unit) -> tuple[str, ...]:
    """Return the normal forms of a fact's three parts; () if a store made elsewhere lacks them."""
    keys = listed(fact, "keys")
    return tuple(keys) if len(keys) == 3 else ()


def ends_of(fact: Unit) -> tuple[str, ...]:
    """Return the normal forms of a fact's subject and object, as `keys_of` does."""
    return keys_of(fact)[::2]


def phrase_id(backbone: str, key: str) -> str:
    """Return the id of the phrase node with that key."""
    return content_hash(backbone, PHRASE, key)


def phrase_units(backbone: str, facts: Sequence[Unit]) -> list[Unit]:
    """Return a node for each subject and object of the facts, in normal form, with the turns of its facts."""
    named: dict[str, list[Unit]] = {}
    for fact in facts:
        for key in sorted(set(ends_of(fact))):
            named.setdefault(key, []).append(fact)
    return [node(backbone, PHRASE, key, behind) for key, behind in sorted(named.items())]


def triple_edges(backbone: str, facts: Sequence[Unit]) -> list[Edge]:
    """Return the edges from facts to the phrases of `phrase_units`, and between the phrases of a fact.

    The weight of a relation edge is the number of its facts.
    """
    edges: list[Edge] = []
    relations: Counter[tuple[str, str]] = Counter()
    for fact in facts:
        ends = [phrase_id(backbone, key) for key in ends_of(fact)]
        if ends:
            subject, thing = ends
            edges += [Edge(fact.id, subject, SUBJECT), Edge(fact.id, thing, OBJECT)]
            relations[subject, thing] += 1
    return edges + [Edge(subject, thing, RELATION, float(count)) for (subject, thing), count in relations.items()]
