"""How much of the evidence retrieval finds, and how much else, without any model: the table of DESIGN section 8."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from goalmem_cli.backbones.flat import RECIPES, Recipe, retrieve_each
from goalmem_cli.backbones.relevance import POOL, rerank
from goalmem_cli.backbones.time_ranking import named_times
from goalmem_cli.lab.evaluation.cases import DEPTHS, Case
from goalmem_cli.lab.evaluation.metrics.bootstrap import Interval, interval, paired
from goalmem_cli.memory_ports import SupportsRanking
from goalmem_cli.memory_records import Ranking
from goalmem_cli.ports import Backbone
from goalmem_cli.records import Conversation, Hit, Query

HYBRID, RERANKED = "hybrid (all four lists)", "reranked (hybrid, in the order of relevance)"
RANKINGS: Mapping[str, Recipe] = {
    "BM25 turn": RECIPES["bm25-plain"],
    "BM25 with neighbours": {Ranking.BM25_CONTEXT: 1.0},
    "dense turn": RECIPES["dense-plain"],
    "dense with neighbours": {Ranking.DENSE_CONTEXT: 1.0},
    "BM25 turn + dense turn": {Ranking.BM25: 1.0, Ranking.DENSE: 1.0},
    "bm25 (both BM25 lists)": RECIPES["bm25"],
    "dense (both dense lists)": RECIPES["dense"],
    HYBRID: RECIPES["hybrid"],
}
"""The rows of the table: each list alone, the fusion of the two turn lists, and the backbones but the reranked one.

Only the backbones that fuse rank by times too."""

_BACKBONES = {name: recipe for name, recipe in RANKINGS.items() if len(recipe) > 1 and recipe in RECIPES.values()}
TIMED, NOT_BY_TIMES = ("hybrid", "reranked"), "{}, no times"

RetrieveEach = Callable[[Query, int], Mapping[str, Sequence[Hit]]]


@dataclass(frozen=True, slots=True)
class RecallRow:
    """One ranking's evidence recall at each depth, and its precision.

    `mean` averages the share found over the questions; `micro` is the share found of all evidence turns together;
    `by_category` is the mean over one category's questions. `precision` averages how many of the first hits brought
    evidence that none before them had: a turn that comes twice counts once.
    """

    ranking: str
    mean: tuple[float, ...]
    micro: tuple[float, ...]
    by_category: Mapping[str, tuple[float, ...]]
    precision: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RecallTable:
    """The rows, the depths they are for, how many questions and evidence turns count, and how many questions do not.

    Left out are unanswerable questions, which have no evidence that answers them, and those without valid evidence.
    """

    depths: tuple[int, ...]
    rows: tuple[RecallRow, ...]
    questions: int
    evidence: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions become queries: each of its own conversation, or of `scopes`, asked with that one's last turn."""

    scopes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    last: Mapping[str, datetime] = field(default_factory=dict)

    @classmethod
    def of(cls, cases: Sequence[Case], conversations: Sequence[Conversation], *, by_domain: bool = False) -> Asking:
        """Return how the cases are asked of these conversations, if `by_domain` of all of their domain."""
        domains: dict[str, dict[str, None]] = {}
        for case in cases if by_domain else ():
            domains.setdefault(case.domain, {})[case.conversation] = None
        scopes = {name: tuple(names) for names in domains.values() for name in names}
        said = {
            talk.name: max((turn.said for turn in talk.turns if turn.said is not None), default=None)
            for talk in conversations
        }
        return cls(scopes, {name: time for name, time in said.items() if time is not None})

    def query(self, case: Case) -> Query:
        """Return the query of a case."""
        scope = self.scopes.get(case.conversation, (case.conversation,))
        return Query(case.question, scope, asked=case.asked or self.last.get(case.conversation))


@dataclass(frozen=True, slots=True)
class TimedRow:
    """A ranking's mean recall at each depth over the questions that name a time, each with its interval."""

    ranking: str
    shares: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class TimedTable:
    """The rankings without and with the one by times, and the difference that it makes at each depth.

    All is over the questions that name a time, as many as `questions`; no other question is retrieved for otherwise.
    """

    depths: tuple[int, ...]
    rows: tuple[TimedRow, ...]
    gains: tuple[TimedRow, ...]
    questions: int


def evidence_recall(
    retrieve: RetrieveEach, cases: Sequence[Case], depths: Sequence[int] = DEPTHS, asking: Asking | None = None
) -> RecallTable:
    """Return the recall of everything that `retrieve` returns under a name, each question in its own conversation.

    `asking` says so where it is asked of more, and when.

    A hit finds a turn of the evidence when it came from it, by the transcript's own id.

    Raises:
        StoreError: the memory could not be read.
    """
    counted = _counted(cases)
    found = _counts(retrieve, counted, depths, asking or Asking())
    rows = tuple(_row(name, counted, counts, len(depths)) for name, counts in found.items())
    evidence = sum(len(set(case.evidence)) for case in counted)
    return RecallTable(tuple(depths), rows, len(counted), evidence, len(cases) - len(counted))


def retrieval_table(
    store: SupportsRanking, cases: Sequence[Case], depths: Sequence[int] = DEPTHS, asking: Asking | None = None
) -> RecallTable:
    """Return the recall of every ranking of `RANKINGS` over a store that holds the cases' conversations.

    Raises:
        StoreError: the memory could not be read.
    """

    def retrieve(query: Query, k: int) -> Mapping[str, Sequence[Hit]]:
        found = retrieve_each(store, RANKINGS, query, max(k, POOL), by_times=False)
        if named_times(query):
            found |= retrieve_each(store, _BACKBONES, query, max(k, POOL))
        return {**found, RERANKED: rerank(query.text, found[HYBRID])}

    return evidence_recall(retrieve, cases, depths, asking)


def timed_table(
    store: SupportsRanking, cases: Sequence[Case], depths: Sequence[int] = DEPTHS, asking: Asking | None = None
) -> TimedTable | None:
    """Return the recall of ``hybrid`` and ``reranked`` for the questions that name a time, without and with that.

    None where no question names one.

    Raises:
        StoreError: the memory could not be read.
    """
    asking = asking or Asking()
    timed = [case for case in _counted(cases) if named_times(asking.query(case))]
    if not timed:
        return None

    def retrieve(query: Query, k: int) -> Mapping[str, Sequence[Hit]]:
        lists: dict[str, Sequence[Hit]] = {}
        for named, by_times in (NOT_BY_TIMES, False), ("{}", True):
            (found,) = retrieve_each(store, {"": RECIPES["hybrid"]}, query, max(k, POOL), by_times=by_times).values()
            lists |= dict(zip(map(named.format, TIMED), (found, rerank(query.text, found)), strict=True))
        return lists

    sizes = [len(set(case.evidence)) for case in timed]
    shares = {
        name: [[row[at][0] / size for row, size in zip(counts, sizes, strict=True)] for at in range(len(depths))]
        for name, counts in _counts(retrieve, timed, depths, asking).items()
    }
    rows = tuple(TimedRow(name, _intervals(map(interval, columns))) for name, columns in shares.items())
    gains = tuple(
        TimedRow(name, _intervals(map(paired, shares[name], shares[NOT_BY_TIMES.format(name)]))) for name in TIMED
    )
    return TimedTable(tuple(depths), rows, gains, len(timed))


def backbone_recall(
    name: str, backbone: Backbone, cases: Sequence[Case], depths: Sequence[int] = DEPTHS
) -> RecallTable:
    """Return the recall of one backbone, as a table of one row.

    Raises:
        StoreError: the memory could not be read.
    """
    return evidence_recall(lambda query, k: {name: backbone.retrieve(query, k)}, cases, depths)


def _counted(cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if case.evidence and not case.is_unanswerable]


def _counts(
    retrieve: RetrieveEach, cases: Sequence[Case], depths: Sequence[int], asking: Asking
) -> dict[str, list[list[tuple[int, int]]]]:
    """Return for each name, case and depth how many turns of evidence were found, and among how many hits."""
    found: dict[str, list[list[tuple[int, int]]]] = {}
    for case in cases:
        for name, hits in retrieve(asking.query(case), max(depths)).items():
            found.setdefault(name, []).append([(_found(case, hits[:depth]), len(hits[:depth])) for depth in depths])
    return found


def _found(case: Case, hits: Sequence[Hit]) -> int:
    """Return how many turns of the case's evidence the hits came from."""
    own = {label for hit in hits if hit.unit.conversation == case.conversation for label in hit.unit.labels}
    return len(own.intersection(case.evidence))


def _intervals(found: Iterable[Interval | None]) -> tuple[Interval, ...]:
    return tuple(each for each in found if each is not None)


def _row(name: str, cases: Sequence[Case], counts: Sequence[Sequence[tuple[int, int]]], depths: int) -> RecallRow:
    """Return a row of the table; `counts` has for each case, at each depth, the turns found and the hits."""
    sizes = [len(set(case.evidence)) for case in cases]
    shares = [[found / size for found, _ in row] for row, size in zip(counts, sizes, strict=True)]
    members: dict[str, list[list[float]]] = {}
    for case, row in zip(cases, shares, strict=True):
        members.setdefault(case.category, []).append(row)
    return RecallRow(
        ranking=name,
        mean=_means(shares),
        micro=tuple(sum(row[at][0] for row in counts) / sum(sizes) for at in range(depths)),
        by_category={category: _means(rows) for category, rows in sorted(members.items())},
        precision=_means([[found / hits if hits else 0.0 for found, hits in row] for row in counts]),
    )


def _means(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(column) / len(column) for column in zip(*rows, strict=True))
