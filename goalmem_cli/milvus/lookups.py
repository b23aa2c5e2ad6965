"""Ranking and looking up: the engine ranks, and what it gives is checked against what the conversations say counts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence, Set

from goalmem_cli.memory_records import FLAT, Ranking, Scored, Voice
from goalmem_cli.milvus.changing import voices_of
from goalmem_cli.milvus.filters import both, flat, passing, settled
from goalmem_cli.milvus.kept import SAID_FIELDS, Kept, told
from goalmem_cli.milvus.rows import Row, Talk, place_of, query_words
from goalmem_cli.milvus.schema import TALK, Collection
from goalmem_cli.ports import query_vector
from goalmem_cli.records import Hit, Query, Unit
from goalmem_cli.stages import EMBEDDING, stage
from goalmem_cli.store.naming import Naming
from goalmem_cli.store.queries.reader import check_embedder
from goalmem_cli.store.queries.summaries import hits_among
from goalmem_cli.store.units import NEIGHBOURS, units_from_turns

_FIELDS = {
    Ranking.BM25: "words", Ranking.BM25_CONTEXT: "context_words",
    Ranking.DENSE: "vector", Ranking.DENSE_CONTEXT: "context_vector",
}  # fmt: skip
_TRIES = 4
_RECENT_SECONDS = 60.0
"""What changed within so long may have changed between the searches; clocks of machines may differ by less."""

_Found = dict[Ranking, list[tuple[Row, float]]]
_Place = tuple[str, int]
"""A conversation's key, and a turn's ordinal in it."""


class Reader:
    """A memory in Milvus that is open for reading: rankings of unit ids, and the units behind them."""

    def __init__(self, kept: Kept, naming: Naming | None = None) -> None:
        self._kept = kept
        self._naming = naming or Naming(kept.folder)
        self._meta, self._mark = kept.require_marked()
        self._places: dict[str, _Place] = {}

    @property
    def generation(self) -> int:
        """How many changes the memory has seen."""
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
        """Return for each ranking at most `depth` of the units that pass the query's filters; see `OpenMemory`.

        A conversation that others change meanwhile is looked at again; one that never rests is left out, rather than
        shown in part.
        """
        query = self._naming.widened(query, self._meta.generation, self._voices)
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

        Where the units are that were ranked is known; others, and those that moved since, are looked up first.
        """
        found, pairs = self._around({self._places[unit] for unit in units if unit in self._places})
        if rest := [unit for unit in units if unit not in found]:
            more, other_pairs = self._around(self._placed(rest))
            found, pairs = found | more, pairs | other_pairs
        return self._naming.shown(hits_among(found, units, pairs), self._meta.generation, self._voices)

    def _voices(self) -> list[Voice]:
        return voices_of(self._kept)

    def _placed(self, units: Sequence[str]) -> set[_Place]:
        """Return the places of units: of what is ranked, and of turns that are ranked by their passages alone."""
        engine = self._kept.engine
        rows = list(engine.rows_of(Collection.UNITS, "unit", units, [TALK, "unit", "ordinal"]))
        rest = sorted(set(units) - {row["unit"] for row in rows})
        rows += engine.rows_of(Collection.SAID, "said_id", rest, [TALK, "ordinal"])
        return {(row[TALK], row["ordinal"]) for row in rows}

    def _around(self, places: Set[_Place]) -> tuple[dict[str, Unit], dict[str, tuple[str, str]]]:
        """Return id -> unit of what is said at the places and near them, and the two who talk, by conversation."""
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
        units = {unit.id: unit for unit in (*units_from_turns(turns.values()), *answers.values())}
        return units, {talk.name: talk.pair for talk in talks.values() if talk.pair}

    def _is_at_rest(self, changing: Iterable[Talk], after: Mapping[str, Talk]) -> bool:
        """Return whether what readers see stayed the same since this memory was opened, or since this was asked last.

        Whoever changes it sets another mark first, and has announced each conversation before that.
        """
        was, (_, self._mark) = self._mark, self._kept.require_marked()
        return bool(was) and self._mark == was and all(
            after[talk.key].revision == talk.revision for talk in changing if talk.key in after
        )  # fmt: skip

    def _asked(self, query: Query, rankings: Sequence[Ranking]) -> dict[Ranking, str | list[float]]:
        """Return what each ranking is asked; a query without words is asked of no ranking by words."""
        words = query_words(query.text)
        vector: list[float] = []
        if any(ranking.is_dense for ranking in rankings):
            check_embedder(self._meta, self._kept.embedder)
            self._kept.fingerprint.check(self._meta)
            with stage(EMBEDDING):
                vector = query_vector(self._kept.embedder, query.text).tolist()
        return {ranking: vector if ranking.is_dense else words for ranking in rankings}

    def _searched(self, asked: Mapping[Ranking, str | list[float]], condition: str, depth: int) -> _Found:
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
    """Return the conversations of which rows are there that do not count, and others that changed a short time ago."""
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
