"""A store changes its embedder: complete and at once, or not at all; interrupted, it goes on where it stopped."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import pytest

from goalmem_cli.errors import EmbedderMismatch, ModelError, StoreError
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Query
from goalmem_cli.store.store import Store
from goalmem_cli.testing import HashEmbedder
from tests.store.contents import contents, left_over
from tests.store.killing import NEW, OLD, build
from tests.store.samples import CAFE, chat

TURNS = 12
UNITS = 14
WORDS = " ".join(f"word{number}" for number in range(3000))


class Counting(HashEmbedder):
    """The hashing embedder, which keeps what it was asked to embed."""

    def __init__(self, dimension: int = 12, name: str = "new") -> None:
        super().__init__(dimension, name)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text, and keep the texts."""
        self.texts += texts
        return super().embed(texts)


@pytest.fixture
def store(base: Path, tmp_path: Path) -> Store:
    """A copy of the store that the tests of the store share."""
    return Store(shutil.copytree(base, tmp_path / "store"), OLD, announce=lambda _: None)


def quiet(_done: int, _all: int) -> None:
    """Hear of no progress."""


def with_new(store: Store) -> Store:
    """Return the store as the new embedder opens it."""
    return Store(store.path, NEW, announce=lambda _: None)


def test_it_is_as_if_the_new_embedder_had_been_there_from_the_start(store: Store, tmp_path: Path) -> None:
    """Rows, vectors and figures are those of a store that was built with it, and every ranking answers."""
    heard: list[tuple[int, int]] = []
    assert store.reembed(NEW, lambda done, every: heard.append((done, every))) == UNITS
    build(tmp_path / "other", NEW)
    assert contents(store.path) == contents(tmp_path / "other")
    changed = with_new(store)
    assert changed.verify() == []
    assert (changed.stats().embedder, changed.stats().dimension) == ("new", 12)
    assert all(changed.rank(Query("matcha"), list(Ranking), 5).values())
    assert heard[-1] == (UNITS, UNITS)
    assert heard == sorted(heard)
    assert left_over(store.path) == (0, 0)


def test_the_old_embedder_is_refused_afterwards(store: Store) -> None:
    """The error names the one that the store has now; words need none."""
    store.reembed(NEW, quiet)
    with pytest.raises(EmbedderMismatch, match="new"):
        store.rank(Query("matcha"), [Ranking.DENSE], 5)
    assert store.rank(Query("matcha"), [Ranking.BM25], 5)[Ranking.BM25]


def test_the_same_embedder_has_nothing_to_do(store: Store) -> None:
    """Nothing is embedded and nothing is written."""
    files = {path: path.read_bytes() for path in store.path.rglob("*") if path.is_file()}
    assert store.reembed(OLD, quiet) == 0
    assert {path: path.read_bytes() for path in store.path.rglob("*") if path.is_file()} == files


def test_there_and_back_again(store: Store) -> None:
    """Another change gives the first vectors back."""
    before = contents(store.path)
    store.reembed(NEW, quiet)
    with_new(store).reembed(OLD, quiet)
    assert contents(store.path) == before
    assert store.verify() == []


def test_another_model_of_the_same_name_is_another_embedder(store: Store) -> None:
    """It is the vectors that count, not the name."""

    class Turned(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            return np.roll(super().embed(texts), 1, axis=1)

    turned = Turned(OLD.dimension, OLD.name)
    assert store.reembed(turned, quiet) == UNITS
    assert Store(store.path, turned, announce=lambda _: None).rank(Query("matcha"), [Ranking.DENSE], 5)
    with pytest.raises(EmbedderMismatch):
        store.rank(Query("matcha"), [Ranking.DENSE], 5)


def interrupted(store: Store, embedder: HashEmbedder) -> None:
    """Begin to change the embedder, and stop when everything is embedded but nothing exchanged."""

    def stop(what: str) -> None:
        if what == "DELETE FROM vectors":
            raise KeyboardInterrupt

    stopping = Store(store.path, OLD, announce=lambda _: None, written=stop)
    with pytest.raises(KeyboardInterrupt):
        stopping.reembed(embedder, quiet)


def test_an_interrupted_change_goes_on_where_it_stopped(store: Store) -> None:
    """Meanwhile the old embedder answers; afterwards nothing is embedded twice."""
    before = contents(store.path)
    interrupted(store, NEW)
    assert contents(store.path) == before
    assert store.verify() == []
    assert all(store.rank(Query("matcha"), list(Ranking), 5).values())
    counting = Counting()
    assert store.reembed(counting, quiet) == UNITS
    assert not [text for text in counting.texts if CAFE[0] in text]
    assert with_new(store).verify() == []


def test_what_changes_meanwhile_is_embedded_again(store: Store) -> None:
    """New, changed and neighbouring turns get new vectors; what was forgotten gets none."""
    interrupted(store, NEW)
    store.add(chat([*CAFE, "Bring her along, then."]))
    store.forget(Selection(conversations=("trip",)))
    counting = Counting()
    store.reembed(counting, quiet)
    embedded = [text for text in counting.texts if text.startswith(("Alice", "Ben"))]
    assert "Alice: Bring her along, then." in embedded
    assert f"Ben: {CAFE[1]}" not in embedded
    assert with_new(store).verify() == []
    assert len(with_new(store).turns()) == TURNS - 4 + 1


def test_a_change_to_yet_another_begins_anew(store: Store) -> None:
    """Vectors of two embedders never meet, not even half-way."""
    interrupted(store, NEW)
    third = Counting(12, "third")
    store.reembed(third, quiet)
    assert len([text for text in third.texts if CAFE[0] in text]) == 4
    assert Store(store.path, third, announce=lambda _: None).verify() == []


def test_turns_that_come_while_it_embeds_are_not_lost(store: Store) -> None:
    """Another process may store and forget between two pages."""
    other = Store(store.path, OLD, announce=lambda _: None)
    came: list[int] = []

    def meanwhile(done: int, every: int) -> None:
        if not came:
            came.append(other.add(chat(["Something new.", "And more."], name="new")).new_turns)
            other.forget(Selection(conversations=("notes",)))

    assert store.reembed(NEW, meanwhile) == UNITS
    assert len(with_new(store).turns()) == TURNS
    assert with_new(store).verify() == []
    assert with_new(store).rank(Query("something"), [Ranking.DENSE], 1)[Ranking.DENSE]


def test_passages_and_gists_are_embedded_too(store: Store) -> None:
    """Everything that can be found has a vector of the new embedder."""
    store.add(chat([WORDS], name="long"))
    assert store.reembed(NEW, quiet) > UNITS + 2
    assert with_new(store).verify() == []


def test_an_embedder_that_makes_nothing_of_a_text_changes_nothing(store: Store) -> None:
    """Vectors of zeros or of no numbers are refused, and the store stays with the embedder it has."""

    class Broken(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            rows = super().embed(texts)
            rows[[CAFE[2] in text for text in texts]] = np.nan
            return rows

    before = contents(store.path)
    with pytest.raises(ModelError, match="broken"):
        store.reembed(Broken(12, "broken"), quiet)
    assert contents(store.path) == before
    assert store.verify() == []


def test_without_a_store_there_is_nothing_to_embed(tmp_path: Path) -> None:
    """The error names the command that makes one."""
    store = Store(tmp_path / "none", OLD, announce=lambda _: None)
    with pytest.raises(StoreError, match="no memory"):
        store.reembed(NEW, quiet)


def test_an_empty_store_takes_the_new_embedder(tmp_path: Path) -> None:
    """Where nothing is left to embed, the embedder changes all the same."""
    store = Store(tmp_path / "store", OLD, announce=lambda _: None)
    store.add(chat())
    store.forget(Selection())
    assert store.reembed(NEW, quiet) == 0
    assert with_new(store).add(chat()).new_turns == len(CAFE)
    assert with_new(store).verify() == []


def test_missing_vectors_are_made_again_by_the_same_embedder(store: Store) -> None:
    """What verification and rebuilding advise where vectors are lost is what brings them back."""
    with duckdb.connect(str(store.path / "memory.duckdb")) as connection:
        connection.execute("DELETE FROM vectors WHERE unit IN (SELECT id FROM units LIMIT 3)")
    assert any("missing" in problem for problem in store.verify())
    assert store.reembed(OLD, quiet) > 0
    assert store.verify() == []
    assert store.reembed(OLD, quiet) == 0
