"""The tools that explore the episodic graph (REMem section 3.2, Table 1, Figures 6-8), as plain functions.

Each works on an open store, keeps to a scope (conversations, and when something was told), and gives gists and facts;
`run` calls the one that a `Call` names. The paper's fifth tool, which gives the answer, is the reasoner's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from goalmem_cli.backbones.remem import NAME
from goalmem_cli.backbones.remem.graph import key_of
from goalmem_cli.backbones.remem.memory import OpenEpisodes
from goalmem_cli.backbones.remem.settings import Settings
from goalmem_cli.errors import UsageError
from goalmem_cli.records import Hit, Query
from goalmem_cli.store.looking.episodes import ANY_TIME, FACT, GIST, Counts, Ordering, Sought, Times
from goalmem_cli.stored import Ranking

TOP = Settings().top
_DEPTH = 200


class Tool(StrEnum):
    """The tools, by the names that the paper gives them."""

    SEMANTIC_RETRIEVE = "semantic_retrieve"
    LEXICAL_RETRIEVE = "lexical_retrieve"
    FIND_GIST_CONTEXTS = "find_gist_contexts"
    FIND_ENTITY_CONTEXTS = "find_entity_contexts"


class Aggregation(StrEnum):
    """A number instead of facts."""

    COUNT = "count"
    COUNT_UNIQUE_SUBJECTS = "count_unique_subjects"
    COUNT_UNIQUE_OBJECTS = "count_unique_objects"


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool gives: gists and facts, best first, and the number where one was asked for.

    `total` counts the facts that match, shown or not; `open` those that may, as nobody knows just when they were, which
    come behind; `without_time` those that have no time at all; `is_loose` says that no name matched as a whole, and
    that those were taken which hold its words.
    """

    gists: tuple[Hit, ...] = ()
    facts: tuple[Hit, ...] = ()
    number: int | None = None
    total: int | None = None
    open: int = 0
    without_time: int = 0
    is_loose: bool = False

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The gists, then the facts."""
        return self.gists + self.facts


@dataclass(frozen=True, slots=True)
class Call:
    """A tool and what it is called with; what it does not take is left at its default. `gist` is a unit's id."""

    tool: Tool
    query: str = ""
    gist: str = ""
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    times: Times = ANY_TIME
    limit: int | None = None
    ordering: Ordering | None = None
    offset: int = 0
    aggregation: Aggregation | None = None


def run(reader: OpenEpisodes, scope: Query, call: Call, top: int = TOP) -> Found:
    """Return what the tool gives that is called.

    Raises:
        As the tool.
    """
    if call.tool is Tool.SEMANTIC_RETRIEVE:
        return semantic_retrieve(reader, scope, call.query, call.times, top)
    if call.tool is Tool.LEXICAL_RETRIEVE:
        return lexical_retrieve(reader, scope, call.query, call.times, top)
    if call.tool is Tool.FIND_GIST_CONTEXTS:
        return find_gist_contexts(reader, scope, call.gist, call.times, top)
    return find_entity_contexts(
        reader, scope, subject=call.subject, predicate=call.predicate, object=call.object, times=call.times,
        limit=call.limit, ordering=call.ordering, offset=call.offset, aggregation=call.aggregation, top=top,
    )  # fmt: skip


def semantic_retrieve(reader: OpenEpisodes, scope: Query, query: str, times: Times = ANY_TIME, top: int = TOP) -> Found:
    """Return the gists and the facts whose vectors are nearest to the query's, of those whose times pass.

    Raises:
        StoreError: the store cannot be read.
        ModelError: the embedder cannot be used.
    """
    return _retrieve(reader, replace(scope, text=query), Ranking.DENSE, times, top)


def lexical_retrieve(reader: OpenEpisodes, scope: Query, query: str, times: Times = ANY_TIME, top: int = TOP) -> Found:
    """Return the gists and the facts that share most with the query's words (BM25), of those whose times pass.

    Raises:
        StoreError: the store cannot be read.
    """
    return _retrieve(reader, replace(scope, text=query), Ranking.BM25, times, top)


def find_gist_contexts(reader: OpenEpisodes, scope: Query, gist: str, times: Times = ANY_TIME, top: int = TOP) -> Found:
    """Return the gists that say nearly what this one says, and the facts about what it is about; `gist` is a unit's id.

    Raises:
        StoreError: the store cannot be read.
    """
    episodes = reader.episodes(NAME)
    return Found(
        _hits(reader, episodes.gists_near(scope, gist, times, top)),
        _hits(reader, episodes.facts_beside(scope, gist, times, top)),
    )


def find_entity_contexts(
    reader: OpenEpisodes,
    scope: Query,
    *,
    subject: str | None = None,
    predicate: str | None = None,
    object: str | None = None,  # noqa: A002 - the paper's name
    times: Times = ANY_TIME,
    limit: int | None = None,
    ordering: Ordering | None = None,
    offset: int = 0,
    aggregation: Aggregation | None = None,
    top: int = TOP,
) -> Found:
    """Return the facts of this subject, predicate and object, or how many there are; at least one has to be given.

    Names are compared in their normal form. An aggregation counts all that match, whatever the limit and the offset
    of the facts that are given beside it. Without a limit, at most `top` facts are given.

    Raises:
        UsageError: there is no name at all, or the limit or the offset is negative.
        StoreError: the store cannot be read.
    """
    if not any((subject, predicate, object)):
        raise UsageError("a subject, a predicate or an object has to be given", "name one of them")
    if offset < 0 or (limit is not None and limit < 1):
        raise UsageError("a limit is at least 1, an offset at least 0", "leave them out for all that is found")
    episodes = reader.episodes(NAME)
    keys = (None if not name else key_of(name) for name in (subject, predicate, object))
    sought = Sought(next(keys), next(keys), next(keys), times)
    counts = episodes.count(scope, sought)
    if not counts.shown and not episodes.count(scope, replace(sought, times=ANY_TIME)).shown:
        sought = replace(sought, is_loose=True)
        counts = episodes.count(scope, sought)
    most = top if limit is None else limit
    return Found(
        facts=_hits(reader, episodes.facts(scope, sought, ordering, most, offset)),
        number=None if aggregation is None else _number(counts, aggregation),
        total=counts.facts,
        open=counts.open,
        without_time=counts.without_time,
        is_loose=sought.is_loose and counts.shown > 0,
    )


def _number(counts: Counts, aggregation: Aggregation) -> int:
    return {
        Aggregation.COUNT: counts.facts,
        Aggregation.COUNT_UNIQUE_SUBJECTS: counts.subjects,
        Aggregation.COUNT_UNIQUE_OBJECTS: counts.objects,
    }[aggregation]


def _retrieve(reader: OpenEpisodes, query: Query, ranking: Ranking, times: Times, top: int) -> Found:
    gists, facts = (_ranked(reader, query, ranking, kind, times, top) for kind in (GIST, FACT))
    return Found(gists, facts)


def _ranked(reader: OpenEpisodes, query: Query, ranking: Ranking, kind: str, times: Times, top: int) -> tuple[Hit, ...]:
    """Return the best of one kind. With times, all of them are ranked, so that none that passes is missed."""
    episodes = reader.episodes(NAME)
    depth = top if times.is_open else max(_DEPTH, episodes.count_of(kind))
    ranked = reader.rank(query, [ranking], depth, backbone=NAME, kinds=(kind,))[ranking]
    if not times.is_open:
        passing = episodes.within(query, kind, times)
        ranked = [scored for scored in ranked if scored.unit in passing]
        ranked = sorted(ranked, key=lambda scored: not passing[scored.unit])[:top]
    scores = {scored.unit: scored.score for scored in ranked}
    ranks = {scored.unit: {ranking.value: rank} for rank, scored in enumerate(ranked, 1)}
    hits = _hits(reader, list(scores))
    return tuple(replace(hit, score=scores[hit.unit.id], ranks=ranks[hit.unit.id]) for hit in hits)


def _hits(reader: OpenEpisodes, units: Sequence[str]) -> tuple[Hit, ...]:
    return tuple(reader.hits(units).values())
