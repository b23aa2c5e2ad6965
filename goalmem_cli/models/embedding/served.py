"""Embeds on an OpenAI-compatible server: Ollama, vLLM, llama-server, or another one that has `/embeddings`."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from anyio.from_thread import start_blocking_portal

from goalmem_cli.errors import ModelError
from goalmem_cli.models.embedding.directions import direction_of
from goalmem_cli.models.servers.address import BASE_HINT, EMBEDDER_KEY, Address
from goalmem_cli.models.servers.http import Connection
from goalmem_cli.models.servers.replies import cut, in_one_line, named_among, served_models
from goalmem_cli.ports import Vectors
from goalmem_cli.records import encodable

TEXTS_PER_REQUEST = 64
CHARACTERS_PER_REQUEST = 2**17
SECONDS = 300.0
MATRIX = 2

T = TypeVar("T")
Connect = Callable[[], Connection]


class ServedEmbedder:
    """Embeds with a model of a server. `name` is its address, with the model's name after the ``#``."""

    def __init__(self, place: str, model: str, dimension: int, connect: Connect) -> None:
        self.name = f"{place}#{model}"
        self.dimension = dimension
        self._model = model
        self._connect = connect

    @classmethod
    def from_address(cls, text: str, timeout: float = SECONDS, *, has_key: bool = True) -> ServedEmbedder:
        """Find the model of an address ``http(s)://host[:port]/path[#name]``; without a name it is the server's first.

        The key is that of the variable GOALMEM_EMBEDDER_KEY; without `has_key` none is sent. `timeout` is the most
        seconds that one request may take.

        Raises:
            ModelError: the address or the key cannot be used, or the server does not embed with that model.
        """
        address = Address.from_text(text, EMBEDDER_KEY)
        key = os.environ.get(EMBEDDER_KEY) if has_key else None
        connect = partial(Connection.to, address, key, timeout, variable=EMBEDDER_KEY)
        model = address.model or _run(_first_model, connect)
        return cls(address.base, model, _run(_embedded, connect, model, ["a text"]).shape[1], connect)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an (n, dimension) matrix of unit-length rows; a text without a word gets a vector from its hash.

        Raises:
            ModelError: the server cannot be reached, refuses the texts, or gives no vectors of that dimension.
        """
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        readable = [encodable(text) for text in texts]
        places = [place for place, text in enumerate(readable) if re.search(r"\w", text)]
        if places:
            sent = [readable[place] for place in places]
            rows[places] = self._checked(_run(_embedded, self._connect, self._model, sent))
        for place in np.flatnonzero(~rows.any(axis=1)):
            rows[place] = direction_of(readable[place], self.dimension)
        return rows

    def _checked(self, rows: Vectors) -> Vectors:
        """Return the rows with unit length; raises ModelError if their dimension changed."""
        if rows.shape[1] != self.dimension:
            raise ModelError(
                f"{self.name} gave {rows.shape[1]} numbers a text, and {self.dimension} before", "use another embedder"
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0), dtype=np.float32)


def _run(function: Callable[..., Awaitable[T]], *arguments: object) -> T:
    """Run the async function in a new thread, as the caller's may have an event loop, and return its result."""
    with start_blocking_portal() as portal:
        return portal.call(function, *arguments)


async def _first_model(connect: Connect) -> str:
    """Return the name of the first model that the server lists."""
    connection = connect()
    try:
        models = served_models(await connection.get("models"))
    finally:
        await connection.aclose()
    chosen = named_among(models or [], "")
    if chosen is None:
        raise ModelError(f"{connection.place} lists no model", f"name one: {connection.place}#NAME; {BASE_HINT}")
    return chosen.name


async def _embedded(connect: Connect, model: str, texts: Sequence[str]) -> Vectors:
    """Return the server's vectors of the texts as an (n, dimension) matrix, as they come."""
    connection = connect()
    rows: list[list[float]] = []
    try:
        for lot in _lots(texts):
            body = {"model": model, "input": lot, "encoding_format": "float"}
            rows += _rows_of(await connection.post("embeddings", body), len(lot), connection.place)
    finally:
        await connection.aclose()
    try:
        with np.errstate(over="ignore"):
            matrix = np.array(rows, dtype=np.float32)
    except (ValueError, OverflowError):  # rows of several lengths, or a number beyond all floats
        matrix = np.zeros(0, np.float32)
    if matrix.ndim != MATRIX or not matrix.shape[1] or not np.isfinite(matrix).all():
        raise ModelError(f"{connection.place} gives vectors that cannot be used", "use another embedder")
    return matrix


def _lots(texts: Sequence[str]) -> list[list[str]]:
    """Return the texts, in order, in batches that are within the size of one request."""
    lots: list[list[str]] = []
    characters = 0
    for text in texts:
        if not lots or len(lots[-1]) == TEXTS_PER_REQUEST or characters + len(text) > CHARACTERS_PER_REQUEST:
            lots.append([])
            characters = 0
        lots[-1].append(text)
        characters += len(text)
    return lots


def _rows_of(document: object, count: int, place: str) -> list[list[float]]:
    """Return the vectors of a reply, by the index that each names.

    Raises:
        ModelError: there is not one for each text.
    """
    data = document.get("data") if isinstance(document, dict) else None
    found: dict[int, list[float]] = {}
    for number, entry in enumerate(data if isinstance(data, list) else ()):
        vector, index = (entry.get("embedding"), entry.get("index", number)) if isinstance(entry, dict) else (None, 0)
        if not isinstance(vector, list) or not isinstance(index, int):
            continue
        if all(isinstance(each, int | float) for each in vector):
            found[index] = vector
    if found.keys() != set(range(count)):
        said = cut(in_one_line(str(document)))
        raise ModelError(f"{place} answers with something that is no list of embeddings: {said}", BASE_HINT)
    return [found[number] for number in range(count)]
