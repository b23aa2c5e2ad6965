"""How much of the evidence retrieval finds, and how much else, without any model: the table of DESIGN section 8."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from goalmem_cli.backbones.flat import RECIPES, Recipe, retrieve_each
from goalmem_cli.backbones.relevance import POOL, rerank
from goalmem_cli.evaluation.cases import DEPTHS, Case
from goalmem_cli.memory import SupportsRanking
from goalmem_cli.ports import Backbone
from goalmem_cli.records import Hit, Query
from goalmem_cli.stored import Ranking

HYBRID, RERANKED = "hybrid (all four lists)", "reranked (hybrid, in the order of relevance)"
RANKINGS: Mapping[str, Recipe] = {
    "BM25 turn": {Ranking.BM25: 1.0},
    "BM25 with neighbours": {Ranking.BM25_CONTEXT: 1.0},
    "dense turn": {Ranking.DENSE: 1.0},
    "dense with neighbours": {Ranking.DENSE_CONTEXT: 1.0},
    "BM25 turn + dense turn": {Ranking.BM25: 1.0, Ranking.DENSE: 1.0},
    "bm25 (both BM25 lists)": RECIPES["bm25"],
    "dense (both dense lists)": RECIPES["dense"],
    HYBRID: RECIPES["hybrid"],
}
"""The rows of the table: each list alone, the fusion of the two turn lists, and the backbones but the reranked one."""

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


def evidence_recall(retrieve: RetrieveEach, cases: Sequence[Case], depths: Sequence[int] = DEPTHS) -> RecallTable:
    """Return the recall of everything that `retrieve` returns under a name, each question in its own conversation.

    A hit finds a turn of the evidence when it came from it, by the transcript's own id.

    Raises:
        StoreError: the memory could not be read.
    """
    counted = [case for case in cases if case.evidence and not case.is_unanswerable]
    found: dict[str, list[list[tuple[int, int]]]] = {}
    for case in counted:
        query = Query(case.question, conversations=(case.conversation,))
        for name, hits in retrieve(query, max(depths)).items():
            found.setdefault(name, []).append([(_found(case, hits[:depth]), len(hits[:depth])) for depth in depths])
    rows = tuple(_row(name, counted, counts, len(depths)) for name, counts in found.items())
    evidence = sum(len(set(case.evidence)) for case in counted)
    return RecallTable(tuple(depths), rows, len(counted), evidence, len(cases) - len(counted))


def retrieval_table(store: SupportsRanking, cases: Sequence[Case], depths: Sequence[int] = DEPTHS) -> RecallTable:
    """Return the recall of every ranking of `RANKINGS` over a store that holds the cases' conversations.

    Raises:
        StoreError: the memory could not be read.
    """

    def retrieve(query: Query, k: int) -> Mapping[str, Sequence[Hit]]:
        found = retrieve_each(store, RANKINGS, query, max(k, POOL))
        return {**found, RERANKED: rerank(query.text, found[HYBRID])}

    return evidence_recall(retrieve, cases, depths)


def backbone_recall(
    name: str, backbone: Backbone, cases: Sequence[Case], depths: Sequence[int] = DEPTHS
) -> RecallTable:
    """Return the recall of one backbone, as a table of one row.

    Raises:
        StoreError: the memory could not be read.
    """
    return evidence_recall(lambda query, k: {name: backbone.retrieve(query, k)}, cases, depths)


def _found(case: Case, hits: Sequence[Hit]) -> int:
    """Return how many turns of the case's evidence the hits came from."""
    return len(set(case.evidence) & {label for hit in hits for label in hit.unit.labels})


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
