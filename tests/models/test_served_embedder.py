"""Embedders on a server: what is sent, what comes back, and what is refused."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from goalmem_cli.errors import ModelError
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.models.embedding.served import TEXTS_PER_REQUEST, ServedEmbedder
from tests.conftest import SAMPLES
from tests.invoking import Goalmem
from tests.models.faulty_server import KEY, Exchange, FaultyServer, fails, hangs
from tests.models.test_embedders import ODD_TEXTS

DIMENSION = 8
LETTERS = "aeiounst"


def vector(text: str) -> list[float]:
    """Return how often each of some letters stands in the text, and never nothing."""
    return [3.0 * text.lower().count(letter) + 0.5 for letter in LETTERS]


def embeds(exchange: Exchange) -> None:
    """Answer as such servers do, the last text first: the index says which is which."""
    texts = exchange.seen.body["input"]
    data = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
    exchange.send({"object": "list", "data": data[::-1], "model": exchange.seen.body["model"]})


def sends(make: Callable[[list[str]], Any]) -> Callable[[Exchange], None]:
    """Answer the probe as it should be, and every other request with what is made of its texts."""

    def answer(exchange: Exchange) -> None:
        texts = exchange.seen.body["input"]
        if texts == ["a text"]:
            embeds(exchange)
        else:
            exchange.send(make(texts))

    return answer


def test_texts_become_unit_rows_in_order() -> None:
    """Many texts go out in lots; each row is its own text's, and nothing is sent of a text without a word."""
    texts = [f"text number {number}" for number in range(TEXTS_PER_REQUEST + 3)] + ["?!", ""]
    with FaultyServer(answer=embeds) as server:
        embedder = load_embedder(f"{server.url}#nomic")
        assert (embedder.name, embedder.dimension) == (f"{server.url}#nomic", DIMENSION)
        rows = embedder.embed(texts)
    wanted = np.array([vector(text) for text in texts[:-2]], dtype=np.float32)
    assert np.allclose(rows[:-2], wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    sent = [seen.body["input"] for seen in server.seen if seen.path.endswith("/embeddings")][1:]
    assert [len(lot) for lot in sent] == [TEXTS_PER_REQUEST, 3]
    assert {seen.body["model"] for seen in server.seen if seen.body} == {"nomic"}


def test_without_a_name_it_is_the_first_model() -> None:
    """The name of the embedder says which one that is, so that a store keeps it."""
    with FaultyServer(answer=embeds) as server:
        assert ServedEmbedder.from_address(server.url).name == f"{server.url}#tiny"


def test_odd_texts_are_embedded() -> None:
    """Whatever a chat holds has a unit vector, and equal texts have equal ones."""
    with FaultyServer(answer=embeds) as server:
        embedder = load_embedder(f"{server.url}#m")
        rows = embedder.embed([*ODD_TEXTS, *ODD_TEXTS])
    assert np.isfinite(rows).all()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.array_equal(rows[: len(ODD_TEXTS)], rows[len(ODD_TEXTS) :])


@pytest.mark.parametrize(
    "make",
    [
        lambda _: {"data": []},
        lambda texts: {"data": [{"index": 0, "embedding": vector("a")} for _ in texts]},
        lambda texts: {"data": [{"index": place, "embedding": ["x"]} for place, _ in enumerate(texts)]},
        lambda texts: {"data": [{"index": place, "embedding": [1.0] * (3 + place)} for place, _ in enumerate(texts)]},
        lambda texts: {"data": [{"index": place, "embedding": [1.0] * 3} for place, _ in enumerate(texts)]},
        lambda texts: {"data": [{"index": place, "embedding": [float("inf")] * 8} for place, _ in enumerate(texts)]},
        lambda texts: {"data": [{"index": place, "embedding": [10**400] * 8} for place, _ in enumerate(texts)]},
        lambda texts: {"data": [{"index": [place], "embedding": vector("a")} for place, _ in enumerate(texts)]},
        lambda texts: {"data": [{"index": place, "embedding": []} for place, _ in enumerate(texts)]},
        lambda _: {"data": "none"},
        lambda _: [1, 2],
    ],
)
def test_what_are_no_embeddings_is_refused(make: Callable[[list[str]], Any]) -> None:
    """One line names the server; nothing is taken from such a reply."""
    with FaultyServer(answer=sends(make)) as server:
        embedder = load_embedder(f"{server.url}#m")
        with pytest.raises(ModelError) as raised:
            embedder.embed(["one", "two"])
    assert server.url in raised.value.message
    assert "\n" not in raised.value.message


def test_the_key_goes_to_the_server_and_into_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a variable of its own, which is named where the server wants another key."""
    monkeypatch.setenv("GOALMEM_EMBEDDER_KEY", KEY)
    with FaultyServer(answer=fails(401, f"bad key {KEY}")) as server, pytest.raises(ModelError) as raised:
        load_embedder(f"{server.url}#m")
    assert server.seen[-1].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in raised.value.message
    assert raised.value.hint == "set GOALMEM_EMBEDDER_KEY to a key of that server"


def test_the_models_key_goes_to_no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store names its embedder, and may come from somebody else."""
    monkeypatch.setenv("GOALMEM_API_KEY", KEY)
    with FaultyServer(answer=embeds) as server:
        load_embedder(f"{server.url}#m").embed(["a question"])
    assert all("authorization" not in seen.headers for seen in server.seen)


def test_it_embeds_where_an_event_loop_runs() -> None:
    """As in a notebook."""

    async def rows(place: str) -> int:
        return len(load_embedder(f"{place}#m").embed(["one", "two"]))

    with FaultyServer(answer=embeds) as server:
        assert asyncio.run(rows(server.url)) == 2


def test_a_slow_server_has_the_time_of_the_settings(goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the variable that is read."""
    monkeypatch.setenv("GOALMEM_TIMEOUT", "1")
    with FaultyServer(answer=hangs) as server:
        done = goalmem("ingest", str(SAMPLES / "momoco.json"), "--embedder", f"{server.url}#m")
    assert done.code == 4
    assert "did not answer within 1 seconds" in done.error_lines[0]


def test_a_store_is_built_and_searched_with_it(goalmem: Goalmem) -> None:
    """The store remembers the address; without the server, what needs vectors says so in one line."""
    with FaultyServer(answer=embeds) as server:
        name = f"{server.url}#m"
        assert goalmem("ingest", str(SAMPLES / "momoco.json"), "--embedder", name).code == 0
        assert name in goalmem("stores", "show").out
        found = goalmem("search", "matcha at Momoco", "--backbone", "dense", "-k", "3")
        assert found.code == 0, found.err
        assert found.out
    gone = goalmem("search", "matcha at Momoco", "--backbone", "dense", "-k", "3")
    assert gone.code == 4
    assert "cannot be reached" in gone.error_lines[0]


ELSEWHERE = "http://192.0.2.7:9/v1"  # an address of documentation, that nobody has


@pytest.fixture
def stored(goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Make a store of which somebody else wrote that this server embedded it; both keys are set."""
    monkeypatch.setenv("GOALMEM_EMBEDDER_KEY", KEY)
    monkeypatch.setenv("GOALMEM_API_KEY", KEY)
    monkeypatch.delenv("GOALMEM_MODEL")  # the store's own file is to name it

    def made(name: str) -> Path:
        with FaultyServer(answer=embeds) as server:
            own = f"{server.url}#m"
            assert goalmem("ingest", str(SAMPLES / "momoco.json"), "--embedder", own, "--quiet").code == 0
            assert any("authorization" in seen.headers for seen in server.seen)
        with duckdb.connect(str(tmp_path / "store" / "memory.duckdb")) as database:
            (changed,) = database.execute("UPDATE meta SET value = ? WHERE value = ?", [name, own]).fetchall()[0]
            assert changed
        return tmp_path / "store"

    return made


def test_a_server_on_another_machine_that_only_a_store_names_gets_nothing(
    goalmem: Goalmem, stored: Callable[[str], Path]
) -> None:
    """Neither as what embedded it nor in its settings: whoever made the store would get the questions and the key."""
    store = stored(f"{ELSEWHERE}#m")
    words = ("search", "matcha", "--backbone", "dense")
    refused = goalmem(*words)
    assert refused.code == 2
    assert refused.error_lines[0].startswith(f"{store} names the embedder {ELSEWHERE}#m, and a store alone may name no")
    assert "--embedder, GOALMEM_EMBEDDER, or embedder: in your own settings file" in refused.error_lines[1]
    assert goalmem("forget", "momoco-01", "--dry-run").code == 0  # needs no embedder
    assert goalmem("search", "matcha", "--backbone", "bm25").code == 0
    (store / "goalmem.yaml").write_text(f"embedder: {ELSEWHERE}#m\nmodel: {ELSEWHERE}\n")
    assert goalmem(*words).error_lines == refused.error_lines
    asked = goalmem("ask", "What did Alice order?", "--backbone", "bm25")
    assert asked.code == 2
    assert f"{store} names the model {ELSEWHERE}, and a store alone may name no" in asked.err
    assert goalmem("doctor").code == 2


@pytest.mark.parametrize("way", ["flag", "variable", "file"])
def test_whoever_names_the_server_themselves_trusts_it(
    goalmem: Goalmem, stored: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """With a flag, a variable or in their own file: it is asked, with the key."""
    with FaultyServer(answer=embeds) as server:
        store, name = stored(f"{server.url}#m"), f"{server.url}#m"
        (store / "goalmem.yaml").write_text(f"embedder: {name}\n")
        monkeypatch.setenv("GOALMEM_CONFIG", str(tmp_path / "config.yaml"))
        (tmp_path / "config.yaml").write_text(f"embedder: {name}" if way == "file" else "")
        if way == "variable":
            monkeypatch.setenv("GOALMEM_EMBEDDER", name)
        typed = ("--embedder", name) if way == "flag" else ()
        assert goalmem("search", "matcha", "--backbone", "dense", *typed).code == 0
        assert [seen.headers["authorization"] for seen in server.seen] == [f"Bearer {KEY}"] * len(server.seen)


@pytest.mark.parametrize("is_in_settings", [True, False])
def test_a_server_on_this_machine_that_only_a_store_names_gets_no_key(
    goalmem: Goalmem, stored: Callable[[str], Path], is_in_settings: bool
) -> None:
    """It is asked, as embedder and as model, but any program here may listen at that address."""
    with FaultyServer(answer=embeds) as server, FaultyServer() as model:
        store = stored(f"{server.url}#m")
        (store / "goalmem.yaml").write_text(f"model: {model.url}\n" + f"embedder: {server.url}#m\n" * is_in_settings)
        assert goalmem("search", "matcha", "--backbone", "dense").code == 0
        asked = goalmem("ask", "What did Alice order?", "--backbone", "bm25")
        assert server.seen, asked
        assert model.seen, asked
        assert all("authorization" not in seen.headers for seen in (*server.seen, *model.seen))
