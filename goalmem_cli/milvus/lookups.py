"""Rank and look up units: the engine ranks, and its rows are checked against the conversations' revisions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from goalmem_cli.logic.moments import Moment, Span
from goalmem_cli.memory_records import FLAT, Ranking, Scored, Voice
from goalmem_cli.milvus.changing import voices_of
from goalmem_cli.milvus.kept import SAID_FIELDS, Kept, told
from goalmem_cli.milvus.rows import Row, Talk, place_of, query_words
from goalmem_cli.milvus.schema import ID, TALK, Collection
from goalmem_cli.ports import query_vector
from goalmem_cli.records import Hit, Query, Unit, content_hash, encodable
from goalmem_cli.stages import EMBEDDING, stage
from goalmem_cli.store.naming import Naming
from goalmem_cli.store.queries.reader import check_embedder
from goalmem_cli.store.queries.summaries import hits_among
from goalmem_cli.store.units import NEIGHBOURS, units_from_turns


def both(*conditions: str) -> str:
    """Return the conjunction of the conditions; an empty one holds for every row."""
    return " and ".join(f"({condition})" for condition in conditions if condition)


def any_key(field: str, keys: Iterable[str]) -> str:
    """Return the condition that the field is one of these hashes."""
    return f"{field} in [{', '.join(_quoted(key) for key in sorted(set(keys)))}]"


def passing(query: Query) -> str:
    """Return the condition that a row passes the query's filters; empty if it has none."""
    conditions = []
    for field, values in ((TALK, query.conversations), ("speaker_key", query.speakers)):
        if values is not None:
            conditions.append(any_key(field, (content_hash(encodable(value)) for value in values)))
    if query.without:
        conditions.append(f"not ({any_key('speaker_key', (content_hash(encodable(name)) for name in query.without))})")
    span = Span.between(query.since, query.until)
    for moment, comparison in ((span.since, ">="), (span.until, "<=")):
        if moment is not None:
            conditions.append(_time(moment, comparison))
    return both(*conditions)


def flat(backbone: str, kinds: Iterable[str] | None) -> str:
    """Return the condition that a row is of the backbone, and of one of these kinds (None: any)."""
    of_backbone = f"backbone == {_quoted(backbone)}"
    return of_backbone if kinds is None else both(of_backbone, any_key("kind", kinds))


def settled(changing: Iterable[Talk]) -> str:
    """Return the condition that hides unfinished and replaced rows of changing conversations."""
    new = [talk.key for talk in changing if talk.revision == 0]
    conditions = [f"not ({any_key(TALK, new)})"] if new else []
    for talk in changing:
        if talk.revision:
            hidden = f"revision > {talk.revision} or revision < {talk.since}"
            if talk.retired:
                hidden += f" or {any_key(ID, talk.retired)}"
            conditions.append(f"not ({TALK} == {_quoted(talk.key)} and ({hidden}))")
    return both(*conditions)


def _time(moment: Moment, comparison: str) -> str:
    by_clock = f"clock {comparison} {moment.clock}"
    if moment.instant is None:
        return by_clock
    return f"(instant is not null and instant {comparison} {moment.instant}) or (instant is null and {by_clock})"


def _quoted(key: str) -> str:
    if not key.replace("-", "").isalnum() or not key.isascii():
        raise ValueError(f"{key!r} has no place in an expression")
    return f'"{key}"'


_FIELDS = {
    Ranking.BM25: "words", Ranking.BM25_CONTEXT: "context_words",
    Ranking.DENSE: "vector", Ranking.DENSE_CONTEXT: "context_vector",
}  # fmt: skip
_TRIES = 4
_RECENT_SECONDS = 60.0
"""A conversation that changed in the last 60 s may have changed between two searches; this also allows clock skew."""

_Found = dict[Ranking, list[tuple[Row, float]]]
_Place = tuple[str, int]
"""A conversation's key, and a turn's ordinal in it."""


class MilvusReader:
    """A memory in Milvus, open for reading: it ranks units by id, and looks them up."""

    def __init__(self, kept: Kept, naming: Naming | None = None) -> None:
        self._kept = kept
        self._naming = naming or Naming(kept.folder)
        self._meta, self._mark = kept.require_marked()
        self._places: dict[str, _Place] = {}
        self._tools: tuple[str, ...] | None = None

    @property
    def generation(self) -> int:
        """The number of changes to the memory."""
        return self._kept.meta().generation

    def rank(
        self,
        query: Query,
        rankings: Sequence[Ranking],
        depth: int,
        *,
        backbone: str = FLAT,
        kinds: tuple[str, ...] | None = None,
    ) -> dict[Ranking, list[Scored]]:
        """Return at most `depth` units for each ranking that pass the query's filters; see `OpenMemory`.

        If a conversation changes meanwhile, the search is repeated. One that changes at every try is left out, so that
        it is not shown in part.
        """
        query = self._naming.widened(query, self._meta.generation, self._voices)
        if not query.tools and query.speakers is None:
            self._tools = self._kept.tools() if self._tools is None else self._tools
            query = replace(query, without=self._tools)
        condition = both(passing(query), flat(backbone, kinds))
        asked = self._asked(query, rankings)
        before: Mapping[str, Talk] = {}
        for _ in range(_TRIES):
            changing = self._kept.changing()
            found = self._searched(asked, both(condition, settled(changing)), depth)
            after = self._kept.behind(row for rows in found.values() for row, _ in rows)
            restless, recent = _restless(found, before, after)
            if recent and not self._is_at_rest(changing, after):
                restless |= recent
            if not restless:
                break
            before = after
        self._places |= {row["unit"]: (row[TALK], row["ordinal"]) for rows in found.values() for row, _ in rows}
        return {
            ranking: sorted(
                (Scored(row["unit"], score) for row, score in rows if row[TALK] not in restless),
                key=lambda scored: (-scored.score, scored.unit),
            )
            for ranking, rows in found.items()
        }

    def hits(self, units: Sequence[str]) -> dict[str, Hit]:
        """Return unit id -> hit with its neighbours, in the order given; see `OpenMemory`.

        The places of ranked units are known; others, and units that have moved since, are looked up first.
        """
        found, pairs = self._around({self._places[unit] for unit in units if unit in self._places})
        if rest := [unit for unit in units if unit not in found]:
            more, other_pairs = self._around(self._placed(rest))
            found, pairs = found | more, pairs | other_pairs
        return self._naming.shown(hits_among(found, units, pairs), self._meta.generation, self._voices)

    def units(self, units: Sequence[str]) -> dict[str, Unit]:
        """As `hits`, but return the units alone."""
        return {id_: hit.unit for id_, hit in self.hits(units).items()}

    def _voices(self) -> list[Voice]:
        return voices_of(self._kept)

    def _placed(self, units: Sequence[str]) -> set[_Place]:
        """Return the places of units, also of turns of which only the passages are ranked."""
        engine = self._kept.engine
        rows = list(engine.rows_of(Collection.UNITS, "unit", units, [TALK, "unit", "ordinal"]))
        rest = sorted(set(units) - {row["unit"] for row in rows})
        rows += engine.rows_of(Collection.SAID, "said_id", rest, [TALK, "ordinal"])
        return {(row[TALK], row["ordinal"]) for row in rows}

    def _around(self, places: Set[_Place]) -> tuple[dict[str, Unit], dict[str, tuple[str, str]]]:
        """Return id -> unit at the places and near them, and conversation -> its two speakers if it has just two."""
        talks = self._kept.behind({TALK: key} for key in sorted({key for key, _ in places}))
        numbers = {
            place_of(talks[key].name, near)
            for key, ordinal in places
            if key in talks
            for near in range(ordinal - NEIGHBOURS, ordinal + NEIGHBOURS + 1)
        }
        turns, answers = told(
            self._kept.engine.rows_of(Collection.SAID, "place", sorted(numbers), SAID_FIELDS), talks
        )  # fmt: skip
        spoken = {talk.name: talk.language for talk in talks.values()}
        made = units_from_turns(turns.values(), languages=spoken)
        units = {unit.id: unit for unit in (*made, *answers.values())}
        return units, {talk.name: talk.pair for talk in talks.values() if talk.pair}

    def _is_at_rest(self, changing: Iterable[Talk], after: Mapping[str, Talk]) -> bool:
        """Return whether nothing visible changed since the memory was opened or since the last call.

        A writer first announces each conversation and then sets a new mark, before it changes anything visible.
        """
        was, (_, self._mark) = self._mark, self._kept.require_marked()
        return bool(was) and self._mark == was and all(
            after[talk.key].revision == talk.revision for talk in changing if talk.key in after
        )  # fmt: skip

    def _asked(self, query: Query, rankings: Sequence[Ranking]) -> dict[Ranking, str | list[float]]:
        """Return the words or the vector to search for, by ranking; the words are empty if the query has none."""
        words = query_words(query.text, self._kept.spoken())
        vector: list[float] = []
        if any(ranking.is_dense for ranking in rankings):
            check_embedder(self._meta, self._kept.embedder)
            self._kept.fingerprint.check(self._meta)
            with stage(EMBEDDING):
                vector = query_vector(self._kept.embedder, query.text).tolist()
        return {ranking: vector if ranking.is_dense else words for ranking in rankings}

    def _searched(self, asked: Mapping[Ranking, str | list[float]], condition: str, depth: int) -> _Found:
        """Search once for each ranking; return its rows with positive scores, at most `depth`, best first.

        `asked` has the words or the vector for each ranking; if they are empty, nothing is found. `condition` is a
        filter in Milvus' syntax.
        """
        return {
            ranking: [
                (row, score)
                for row, score in self._kept.engine.search(
                    _FIELDS[ranking], what, condition, depth, [TALK, "revision", "unit", "ordinal"]
                )
                if score > 0
            ] if what else []
            for ranking, what in asked.items()
        }  # fmt: skip


def _restless(found: _Found, before: Mapping[str, Talk], after: Mapping[str, Talk]) -> tuple[set[str], set[str]]:
    """Return the keys of conversations with invisible rows among those found, and of others that changed recently."""
    now = time.time()
    restless, recent = set(), set()
    for rows in found.values():
        for row, _ in rows:
            talk = after.get(row[TALK])
            if talk is None or not talk.shows(row):
                restless.add(row[TALK])
            elif abs(now - talk.changed) < _RECENT_SECONDS and before.get(talk.key) != talk:
                recent.add(talk.key)
    return restless, recent
