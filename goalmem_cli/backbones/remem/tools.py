"""The tools that explore the episodic graph (REMem section 3.2, Table 1, Figures 6-8).

`run` takes an open store, a scope (conversations and times) and a `ToolCall`, and returns gists and facts. The paper's
fifth tool, which gives the answer, belongs to the reasoner.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import log

from goalmem_cli.backbones.remem.episodic_memory import OpenEpisodes
from goalmem_cli.backbones.remem.settings import RememSettings
from goalmem_cli.backbones.structured.triples import key_of
from goalmem_cli.errors import UsageError
from goalmem_cli.logic.normal import FUNCTION_WORDS, content_stems, words
from goalmem_cli.memory_records import Ranking, Scored
from goalmem_cli.records import Hit, Query, Unit
from goalmem_cli.store.queries.episodes import ANY_TIME, FACT, GIST, Counts, Episodes, Ordering, Sought, Times

_DEPTH = 200
_TIME_ADDED = re.compile(r"\([^()]*\d{4}[^()]*\)")
_FEW = 20  # among at most this many units, no word is reported as common


class Tool(StrEnum):
    """The tools, by their names in the paper."""

    SEMANTIC_RETRIEVE = "semantic_retrieve"
    LEXICAL_RETRIEVE = "lexical_retrieve"
    FIND_GIST_CONTEXTS = "find_gist_contexts"
    FIND_ENTITY_CONTEXTS = "find_entity_contexts"


class Aggregation(StrEnum):
    """A number to compute over the matching facts."""

    COUNT = "count"
    COUNT_UNIQUE_SUBJECTS = "count_unique_subjects"
    COUNT_UNIQUE_OBJECTS = "count_unique_objects"


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a tool: gists and facts, best first, and the number if an aggregation was asked for.

    `total` counts the facts that match, shown or not. `open` counts those that may match, as their exact time is
    unknown; they come last. `without_time` counts those without a time. `is_loose` means that no whole name matched,
    and that names containing its words were taken. For a lexical query, `unmatched` are the words that no unit has, and
    `common` those that more than half have. `following` is the offset of the next page, if there is one.
    """

    gists: tuple[Hit, ...] = ()
    facts: tuple[Hit, ...] = ()
    number: int | None = None
    total: int | None = None
    open: int = 0
    without_time: int = 0
    is_loose: bool = False
    unmatched: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    following: int | None = None

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The gists, then the facts."""
        return self.gists + self.facts


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool and its arguments; those that it does not take keep their defaults. `gist` is a unit's id."""

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


def kinds_of(settings: RememSettings) -> tuple[str, ...]:
    """Return the kinds of units that the settings let tools find: gists, facts, or both."""
    return (*((GIST,) if settings.gists else ()), *((FACT,) if settings.facts else ()))


def run(reader: OpenEpisodes, scope: Query, call: ToolCall, settings: RememSettings | None = None) -> Found:
    """Run the tool that is called, on the kinds of units and edges that the settings leave.

    A page has `top` gists and `top` facts, from the offset on.

    Raises:
        UsageError: a search by names gives no name, a limit below 1, or a negative offset.
        StoreError: the store cannot be read.
        ModelError: the embedder cannot be used.
    """
    tools = {
        Tool.SEMANTIC_RETRIEVE: _semantic_retrieve,
        Tool.LEXICAL_RETRIEVE: _lexical_retrieve,
        Tool.FIND_GIST_CONTEXTS: _find_gist_contexts,
        Tool.FIND_ENTITY_CONTEXTS: _find_entity_contexts,
    }
    return tools[call.tool](reader, scope, call, settings or RememSettings())


def _semantic_retrieve(reader: OpenEpisodes, scope: Query, call: ToolCall, told: RememSettings) -> Found:
    """Return a page of the gists and a page of the facts nearest to the query by vectors.

    With `times`, units without a time are left out, and those that surely match come first. A gist that only repeats a
    fact shown is left out, unless the settings keep it.
    """
    asked = replace(scope, text=call.query)
    depth = call.offset + 2 * told.top + 1

    def ranked(kind: str) -> list[Scored]:
        all_of_it = depth if call.times.is_open else max(_DEPTH, reader.episodes(told.name).count_of(kind))
        return reader.rank(asked, [Ranking.DENSE], all_of_it, backbone=told.name, kinds=(kind,))[Ranking.DENSE]

    return _page(reader, asked, {kind: ranked(kind) for kind in kinds_of(told)}, Ranking.DENSE, call, told)


def _lexical_retrieve(reader: OpenEpisodes, scope: Query, call: ToolCall, told: RememSettings) -> Found:
    """Return the gists and facts that share most words with the query, among those that may match `times`.

    Words are scored as in BM25, but a word's rarity is counted among the units searched: a name that nearly every unit
    has counts next to nothing, even if it is rare among the turns.
    """
    query = call.query
    terms = [word for word in dict.fromkeys(words(query)) if word not in FUNCTION_WORDS] or [query]
    episodes = reader.episodes(told.name)
    having: dict[str, int] = dict.fromkeys(terms, 0)
    ranked: dict[str, list[Scored]] = {}
    number = 0
    for kind in kinds_of(told):
        of_kind = len(episodes.within(scope, kind, ANY_TIME))
        number += of_kind
        scores: dict[str, float] = {}
        for term in terms if of_kind else ():
            said = replace(scope, text=term)
            found = reader.rank(said, [Ranking.BM25], of_kind, backbone=told.name, kinds=(kind,))[Ranking.BM25]
            having[term] += len(found)
            rarity = log(1 + (of_kind - len(found) + 0.5) / (len(found) + 0.5))
            for each in found:
                scores[each.unit] = scores.get(each.unit, 0.0) + rarity * each.score / found[0].score
        ranked[kind] = [
            Scored(unit, score) for unit, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        ]
    return replace(
        _page(reader, replace(scope, text=query), ranked, Ranking.BM25, call, told),
        unmatched=tuple(term for term in terms if not having[term]),
        common=tuple(term for term in terms if 2 * having[term] > number > _FEW),
    )


def _find_gist_contexts(reader: OpenEpisodes, scope: Query, call: ToolCall, told: RememSettings) -> Found:
    """Return the gists linked to this one by synonymy, and the facts with its phrases.

    The settings may turn off facts, gists or synonymy edges.
    """
    episodes, top = reader.episodes(told.name), told.top
    sought = (scope, call.gist, call.times, 2 * top + 1, call.offset)
    near = episodes.gists_near(*sought) if told.synonymy and told.gists else []
    beside = episodes.facts_beside(*sought) if told.facts else []
    facts = _hits(reader, beside[:top])
    gists = _telling_more(_hits(reader, near), facts, told)[:top]
    return Found(gists, facts, following=call.offset + top if max(len(near), len(beside)) > top else None)


def _find_entity_contexts(reader: OpenEpisodes, scope: Query, call: ToolCall, told: RememSettings) -> Found:
    """Return the facts with this subject, predicate and object, and optionally their number; give at least one name.

    Names are compared in their normal form. An aggregation counts all matching facts, regardless of limit and offset.
    Without a limit, at most `top` facts are returned.
    """
    if not told.facts:
        return Found()
    names, offset = (call.subject, call.predicate, call.object), call.offset
    if not any(names):
        raise UsageError("a subject, a predicate or an object has to be given", "name one of them")
    if offset < 0 or (call.limit is not None and call.limit < 1):
        raise UsageError("a limit is at least 1, an offset at least 0", "leave them out for all that is found")
    episodes = reader.episodes(told.name)
    keys = (None if not name else key_of(name) for name in names)
    sought = Sought(next(keys), next(keys), next(keys), call.times)
    counts = episodes.count(scope, sought)
    if not counts.shown and not episodes.count(scope, replace(sought, times=ANY_TIME)).shown:
        sought = replace(sought, is_loose=True)
        counts = episodes.count(scope, sought)
    given = episodes.facts(scope, sought, call.ordering, told.top if call.limit is None else call.limit, offset)
    return Found(
        facts=_hits(reader, given),
        number=None if call.aggregation is None else _number(counts, call.aggregation),
        total=counts.facts,
        open=counts.open,
        without_time=counts.without_time,
        is_loose=sought.is_loose and counts.shown > 0,
        following=offset + len(given) if given and offset + len(given) < counts.shown else None,
    )


def _number(counts: Counts, aggregation: Aggregation) -> int:
    """Return the count that the aggregation asks for."""
    return {
        Aggregation.COUNT: counts.facts,
        Aggregation.COUNT_UNIQUE_SUBJECTS: counts.subjects,
        Aggregation.COUNT_UNIQUE_OBJECTS: counts.objects,
    }[aggregation]


def _page(
    reader: OpenEpisodes,
    query: Query,
    ranked: Mapping[str, Sequence[Scored]],
    ranking: Ranking,
    call: ToolCall,
    told: RememSettings,
) -> Found:
    """Return the page of each kind from the offset on that may match the times; sure matches come first."""
    episodes, top, offset = reader.episodes(told.name), told.top, call.offset
    passing = {kind: _passing(episodes, query, kind, scored, call.times) for kind, scored in ranked.items()}
    given = {
        kind: _scored_hits(reader, scored[offset : offset + 2 * top], ranking, offset)
        for kind, scored in passing.items()
    }
    facts = given.get(FACT, ())[:top]
    gists = _telling_more(given.get(GIST, ()), facts, told)[:top]
    is_cut = max(map(len, passing.values())) > offset + top
    return Found(gists, facts, following=offset + top if is_cut else None)


def _passing(episodes: Episodes, query: Query, kind: str, ranked: Sequence[Scored], times: Times) -> Sequence[Scored]:
    if times.is_open:
        return ranked
    passing = episodes.within(query, kind, times)
    return sorted((scored for scored in ranked if scored.unit in passing), key=lambda scored: not passing[scored.unit])


def _scored_hits(reader: OpenEpisodes, ranked: Sequence[Scored], ranking: Ranking, offset: int) -> tuple[Hit, ...]:
    scores = {scored.unit: scored.score for scored in ranked}
    ranks = {scored.unit: {ranking.value: rank} for rank, scored in enumerate(ranked, offset + 1)}
    hits = _hits(reader, list(scores))
    return tuple(replace(hit, score=scores[hit.unit.id], ranks=ranks[hit.unit.id]) for hit in hits)


def _telling_more(gists: Sequence[Hit], facts: Sequence[Hit], settings: RememSettings) -> tuple[Hit, ...]:
    """Return the gists without those that only repeat one of the facts shown, unless the settings want these too."""
    if settings.repeats:
        return tuple(gists)
    told = [(set(hit.unit.turns), content_stems(" ".join(_parts(hit.unit)))) for hit in facts]

    def is_told(gist: Unit) -> bool:
        said = content_stems(_TIME_ADDED.sub(" ", gist.text))
        return any(turns.intersection(gist.turns) and said <= stems for turns, stems in told)

    return tuple(hit for hit in gists if not is_told(hit.unit))


def _parts(fact: Unit) -> list[str]:
    return [str(fact.attributes.get(name, "")) for name in ("subject", "predicate", "object")]


def _hits(reader: OpenEpisodes, units: Sequence[str]) -> tuple[Hit, ...]:
    return tuple(reader.hits(units).values())
