"""The languages of conversations in Milvus: found, told, carried by copies, and what their words are stemmed by."""

from dataclasses import replace
from pathlib import Path

import pytest

from goalmem_cli.errors import StoreError
from goalmem_cli.library.copying import copy
from goalmem_cli.logic.annotations import TIMES
from goalmem_cli.memory_ports import unreported
from goalmem_cli.memory_records import Ranking, Selection
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


def test_forgetting_finds_the_language_of_what_stays(memory: Opens, tmp_path: Path) -> None:
    """As a folder does: the German turns go, the English ones stay; what was told stays; dates are read by it."""
    english = ["The 3/4/2024 is when we moved to the house on the hill with the dog.", "That is what I thought too."]
    lines = (*BY_LANGUAGE["de"].lines, *(f"Tom: {text}" for text in english))
    mixed = replace(BY_LANGUAGE["de"], lines=(*lines, "Käthe: Am 3/4/2024 kommt meine Schwester."))
    for each in (memory(), Store(tmp_path / "store", HashEmbedder(), announce=lambda _: None)):
        each.add_all([mixed.conversation("found"), mixed.conversation("told")])
        each.tell_language("told", "de")
        assert {one.name: one.language for one in each.conversations()} == {"found": "de", "told": "de"}
        dated = [turn.id for turn in each.turns() if "3/4" in turn.text]
        with each.reading() as reader:
            assert [bool(hit.unit.attributes.get(TIMES)) for hit in reader.hits(dated).values()] == [True] * 4
        each.forget(Selection(speakers=("Käthe", "Jonas")))
        assert {one.name: one.language for one in each.conversations()} == {"found": "en", "told": "de"}
        assert each.verify() == []
        with each.reading() as reader:
            hits = reader.hits([turn.id for turn in each.turns() if turn.text == english[0]]).values()
        assert {hit.unit.conversation for hit in hits if hit.unit.attributes.get(TIMES)} == {"told"}
