"""The languages of conversations in Milvus: found, told, carried by copies, and what their words are stemmed by."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalmem_cli.errors import StoreError
from goalmem_cli.library.copying import copy
from goalmem_cli.memory_ports import unreported
from goalmem_cli.memory_records import Ranking
from goalmem_cli.records import Query
from goalmem_cli.store import Store
from goalmem_cli.testing import HashEmbedder
from tests.languages.samples import BY_LANGUAGE
from tests.milvus.conftest import Opens


def test_a_memory_in_milvus_knows_them(memory: Opens, tmp_path: Path) -> None:
    """As a folder does; and what was told is there after a copy, and back."""
    kept = memory()
    kept.add_all([BY_LANGUAGE["de"].conversation(), BY_LANGUAGE["fr"].conversation()])
    assert {each.name: each.language for each in kept.conversations()} == {"de": "de", "fr": "fr"}
    with kept.reading() as reader:
        (best,) = reader.rank(Query("les librairies", ("fr",)), [Ranking.BM25], 9)[Ranking.BM25]
        assert "librairie" in reader.hits([best.unit])[best.unit].unit.text
    assert kept.tell_language("fr", "hu") == "hu"
    assert kept.verify() == []
    back = Store(tmp_path / "back", HashEmbedder(), announce=lambda _: None)
    copy(kept, back, unreported)
    told = {each.name: (each.language, each.is_language_told) for each in back.conversations()}
    assert told == {"de": ("de", False), "fr": ("hu", True)}
    assert kept.tell_language("fr", None) == "fr"
    assert kept.verify() == []
    with pytest.raises(StoreError, match="no conversation 'nobody'"):
        kept.tell_language("nobody", "de")
