"""The store that gathers what parts give: reading it gives what a plain store gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from goalmem_cli.backbones.structured.units import derived_unit
from goalmem_cli.lab.bench.gathering import GatheringStore
from goalmem_cli.memory_records import Derivation, Ranking
from goalmem_cli.records import Edge, Part, Query
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder, ScriptedModel
from tests.backbones.derived import contents_of
from tests.backbones.replies import AnyReply, said
from tests.backbones.test_any_reply import backbone


def test_what_is_gathered_is_what_a_store_writes_at_once(tmp_path: Path) -> None:
    """It is written when somebody reads it, and everything that reads does."""
    plain = Store(tmp_path / "plain", HashEmbedder(), announce=lambda _: None)
    gathered = GatheringStore(tmp_path / "gathered", HashEmbedder(), lambda _: None)
    for each in (plain, gathered):
        each.add_turns(said())
        backbone("mem0-graph", each, ScriptedModel(AnyReply(3))).index(lambda _: None)
    assert contents_of("mem0-graph", gathered) == contents_of("mem0-graph", plain)
    assert gathered.counts_of("mem0-graph") == plain.counts_of("mem0-graph")
    turn = said()[0]
    note = derived_unit("notes", "note", "a note", [turn])
    reads: dict[str, Callable[[GatheringStore], object]] = {
        "derived": lambda store: store.has_derived("notes"),
        "edges": lambda store: store.edges_of("notes"),
        "ranked": lambda store: store.rank(Query("note"), [Ranking.BM25], 3, backbone="notes")[Ranking.BM25],
    }
    for name, read in reads.items():
        store = GatheringStore(tmp_path / name, HashEmbedder(), lambda _: None)
        store.add_turns(said())
        edges = (Edge(note.id, turn.id, "of"),)
        store.derive("notes", [Derivation(Part(turn.conversation, "1", (turn,)), (note,), edges)])
        assert read(store)
    gathered.derive("notes", [Derivation(Part(turn.conversation, "1", (turn,)), (note,))])
    gathered.drop_parts(gathered.derived("notes"))
    assert gathered.units_of("notes") == []
