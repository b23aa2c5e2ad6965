"""Embedders on a server: what is sent, what comes back, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

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
