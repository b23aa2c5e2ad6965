"""`goalmem bench tools`: the tools of `remem` are called on a graph of the size that was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from goalmem_cli.backbones.remem import NAME
from goalmem_cli.backbones.remem.backbone import Remem
from goalmem_cli.backbones.remem.tools import Tool
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.tools import ToolFigures, calls_of, measure_tools
from goalmem_cli.main import run
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.records import Query
from goalmem_cli.store.store import Store


def no_kit() -> Kit:
    """Return no model: whoever asks for one has failed the test."""
    raise ModelError("there is no model", "get one")


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, list[ToolFigures], list[tuple[int, int]]]]:
    """A store that was measured at two sizes, the figures, and what was reported."""
    store = Store(tmp_path_factory.mktemp("tools") / "store", load_embedder("static"), announce=lambda _: None)
    reported: list[tuple[int, int]] = []
    figures = list(measure_tools(store, [100, 300], rounds=1, report=lambda *done: reported.append(done)))
    yield store, figures, reported


@pytest.mark.slow
def test_it_grows_from_size_to_size(grown: tuple[Store, list[ToolFigures], list[tuple[int, int]]]) -> None:
    """At each size there are so many facts, linked as indexing would link them, and every tool took some time."""
    store, figures, reported = grown
    assert [each.facts for each in figures] == [100, 300]
    assert reported == [(50, 300), (250, 300)]
    kinds, edges = store.counts_of(NAME)
    assert (kinds["fact"], kinds["gist"], edges) == (300, figures[1].gists, figures[1].edges)
    before = store.edges_of(NAME)
    Remem(store, no_kit).link()
    assert store.edges_of(NAME) == before
    assert store.verify() == []
    for each in figures:
        assert min(each.tools_ms.values()) > 0
        assert {name.split(",")[0] for name in each.tools_ms} == {str(tool) for tool in Tool}
        assert min(each.linking_seconds, each.again_seconds) > 0


@pytest.mark.slow
def test_what_is_called_finds_something(grown: tuple[Store, list[ToolFigures], list[tuple[int, int]]]) -> None:
    """A tool that finds nothing would be no measure: each finds gists or facts, and the counting one counts."""
    store, _, _ = grown
    memory = Remem(store, no_kit)
    for name, calls in calls_of(store).items():
        found = [memory.explore(Query(""), call) for call in calls]
        assert any(each.hits for each in found), name
        if "count" in name:
            assert sum(each.number or 0 for each in found) > 0


@pytest.mark.slow
def test_the_command_prints_a_table_or_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A column for each size, a row for each way to call a tool; sizes that do not ascend are refused."""
    capsys.readouterr()
    assert run(["bench", "tools", "--facts", "100,200", "--rounds", "1", "-q"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["facts", "100", "200"]
    assert any(row.startswith("find_gist_contexts, ms") for row in rows)
    assert run(["bench", "tools", "--facts", "100", "--rounds", "1", "--json"]) == 0
    (size,) = json.loads(capsys.readouterr().out)["sizes"]
    assert size["facts"] == 100
    assert len(size["tools_ms"]) == 7
    assert run(["bench", "tools", "--facts", "200,100"]) == 2
    assert "--facts" in capsys.readouterr().err
