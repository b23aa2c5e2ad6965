"""Evidence recall, by hand and on LoCoMo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from goalmem_cli.evaluation.cases import Case
from goalmem_cli.evaluation.datasets.reading import read_dataset
from goalmem_cli.evaluation.metrics.recall import RANKINGS, RERANKED, backbone_recall, evidence_recall, retrieval_table
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.records import Hit, Query
from goalmem_cli.store.memory import Store
from goalmem_cli.transcripts import read_file
from tests.fakes import ListBackbone
from tests.store.samples import chat, open_store

LOCOMO = Path(__file__).parents[3] / "shared/data/locomo/locomo5.json"

CASES = [
    Case("1", "chat", "Kyoto Latte", "x", ("D1:3",), "4"),
    Case("2", "chat", "Momoco sister", "x", ("D1:2", "D1:6"), "1"),
    Case("3", "chat", "never said", None, ("D1:1",), "5", is_unanswerable=True),
    Case("4", "chat", "no evidence", "x", (), "4"),
]


def test_recall_by_hand() -> None:
    """Means go over questions, the micro share over turns; adversarial and evidenceless questions are left out."""

    def retrieve(query: Query, k: int) -> Mapping[str, Sequence[Hit]]:
        return {"list": ListBackbone(chat(with_ids=True).turns).retrieve(query, k)}

    table = evidence_recall(retrieve, CASES, (1, 10))
    assert (table.questions, table.evidence, table.left_out) == (2, 3, 2)
    (row,) = table.rows
    assert row.mean == (0.75, 1.0)
    assert row.micro == pytest.approx((2 / 3, 1.0))
    assert row.by_category == {"1": (0.5, 1.0), "4": (1.0, 1.0)}


def test_precision_by_hand() -> None:
    """Of the first hits those count that bring a turn of the evidence that none before them did; no hit is none."""
    backbone = ListBackbone(chat(with_ids=True).turns)

    def retrieve(query: Query, k: int) -> Mapping[str, Sequence[Hit]]:
        (right,) = (hit for hit in backbone.retrieve(Query("Alice Ben"), k) if hit.unit.labels == ("D1:3",))
        (other,) = (hit for hit in backbone.retrieve(Query("Alice Ben"), k) if hit.unit.labels == ("D1:1",))
        return {"twice": [right, right, other, other], "few": [right], "none": []}

    rows = {row.ranking: row for row in evidence_recall(retrieve, CASES[:1], (1, 4)).rows}
    assert rows["twice"].precision == (1.0, 0.25)
    assert rows["few"].precision == (1.0, 1.0)
    assert rows["none"].precision == rows["none"].mean == (0.0, 0.0)


def test_recall_of_a_backbone_is_one_row() -> None:
    """Any backbone can be measured, under a name of the caller's."""
    table = backbone_recall("list", ListBackbone(chat(with_ids=True).turns), CASES, (10,))
    assert [(row.ranking, row.mean) for row in table.rows] == [("list", (1.0,))]


def test_questions_stay_in_their_conversation(tmp_path: Path) -> None:
    """Evidence labels repeat between conversations, and a hit from another one must not count."""
    store = open_store(tmp_path / "store")
    store.add(chat(with_ids=True))
    store.add(chat(["Kyoto Latte!"] * 3, name="other", with_ids=True))
    table = retrieval_table(store, [Case("1", "other", "matcha oat milk", "x", ("D1:5",), "4")], (10,))
    assert [row.ranking for row in table.rows] == [*RANKINGS, RERANKED]
    assert all(row.mean == (0.0,) for row in table.rows)


@pytest.mark.shared
@pytest.mark.skipif(not LOCOMO.exists(), reason="shared data is not there")
def test_the_default_finds_the_evidence_of_locomo(tmp_path: Path) -> None:
    """The hybrid reaches the recall that the design asks for, on every third question, to keep this short.

    `goalmem bench retrieval` measures all of them.
    """
    store = Store(tmp_path / "store", load_embedder("static"), announce=lambda _: None)
    store.add_all(read_file(LOCOMO))
    cases = read_dataset([LOCOMO]).cases
    rows = {row.ranking: row for row in retrieval_table(store, cases[::3], (10, 60)).rows}
    hybrid = rows["hybrid (all four lists)"].mean
    assert hybrid[0] >= 0.65
    assert hybrid[1] >= 0.87
    assert hybrid[0] > rows["BM25 turn + dense turn"].mean[0] > rows["BM25 turn"].mean[0] > rows["dense turn"].mean[0]
