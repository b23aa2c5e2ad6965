"""Copies of a memory that were interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalmem_cli.copying import copy
from goalmem_cli.memory_ports import unreported
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder
from tests.milvus.conftest import Opens
from tests.milvus.test_interrupted import LATER, Stopped, named, stopping_at


def test_an_interrupted_copy_goes_on(memory: Opens, tmp_path: Path) -> None:
    """Wherever it was stopped, the same copy ends with all that the source has, once; and the way back is the same."""
    source, back = (Store(tmp_path / name, HashEmbedder(), announce=lambda _: None) for name in ("from", "back"))
    source.add_turns([*named(LATER, "one"), *named(LATER, "two")])
    source.add_answer("Biscuit", named(LATER, "one")[1], [named(LATER, "one")[2].id], {"question": "Who is the dog?"})
    for step in (0, 2, 4):
        with pytest.raises(Stopped):
            copy(source, memory(stopping_at(step)), unreported)
    done = copy(source, memory(), unreported)
    assert (done.conversations, done.turns, done.compared) == (2, 8, 8)
    assert copy(source, memory(), unreported).new_turns == 0
    assert memory().verify() == []
    assert copy(memory(), back, unreported).new_turns == 8
    assert list(back.export()) == list(memory().export()) == list(source.export())
