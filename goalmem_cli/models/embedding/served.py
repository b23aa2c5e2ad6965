"""Embeds on an OpenAI-compatible server: Ollama, vLLM, llama-server, or another one that has `/embeddings`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import anyio
import numpy as np

from goalmem_cli.errors import ModelError
from goalmem_cli.models.embedding.directions import direction_of
from goalmem_cli.models.servers.address import BASE_HINT, KEY_VARIABLE, Address
from goalmem_cli.models.servers.http import Connection
from goalmem_cli.models.servers.replies import cut, in_one_line, named_among, served_models
from goalmem_cli.ports import Vectors
from goalmem_cli.records import encodable

TEXTS_PER_REQUEST = 64
CHARACTERS_PER_REQUEST = 2**17
SECONDS = 300.0
MATRIX = 2


class ServedEmbedder:
    """Embeds with a model of a server. `name` is its address, with the model's name after the ``#``."""

    def __init__(self, address: Address, model: str, dimension: int, key: str = "") -> None:
        self.name = f"{address.base}#{model}"
        self.dimension = dimension
        self._address = address
        self._model = model
        self._key = key

    @classmethod
    def from_address(cls, text: str, key: str | None = None) -> ServedEmbedder:
        """Find the model of an address ``http(s)://host[:port]/path[#name]``; without a name it is the server's first.

        `key` (default: the variable GOALMEM_API_KEY) is sent to that server alone.

        Raises:
            ModelError: the address or the key cannot be used, or the server does not embed with that model.
        """
        address, key = Address.from_text(text), os.environ.get(KEY_VARIABLE, "") if key is None else key
        model = address.model or anyio.run(_first_model, address, key)
        probe = anyio.run(_embedded, address, key, model, ["a text"])
        return cls(address, model, probe.shape[1], key)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an (n, dimension) matrix of unit-length rows. A text without a word gets a direction of its own.

        Raises:
            ModelError: the server cannot be reached, refuses the texts, or gives no vectors of that dimension.
        """
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        readable = [encodable(text) for text in texts]
        places = [place for place, text in enumerate(readable) if re.search(r"\w", text)]
        if places:
            sent = [readable[place] for place in places]
            rows[places] = self._checked(anyio.run(_embedded, self._address, self._key, self._model, sent))
        for place in np.flatnonzero(~rows.any(axis=1)):
            rows[place] = direction_of(readable[place], self.dimension)
        return rows

    def _checked(self, rows: Vectors) -> Vectors:
        if rows.shape[1] != self.dimension:
            raise ModelError(
                f"{self.name} gave {rows.shape[1]} numbers a text, and {self.dimension} before", "use another embedder"
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0), dtype=np.float32)


async def _first_model(address: Address, key: str) -> str:
    connection = Connection.to(address, key, SECONDS)
    try:
        models = served_models(await connection.get("models"))
    finally:
        await connection.aclose()
    chosen = named_among(models or [], "")
    if chosen is None:
        raise ModelError(f"{address.base} lists no model", f"name one: {address.base}#NAME; {BASE_HINT}")
    return chosen.name


async def _embedded(address: Address, key: str, model: str, texts: Sequence[str]) -> Vectors:
    """Return the server's vectors of the texts as an (n, dimension) matrix, as they come."""
    connection = Connection.to(address, key, SECONDS)
    rows: list[Any] = []
    try:
        for lot in _lots(texts):
            body = {"model": model, "input": lot, "encoding_format": "float"}
            rows += _rows_of(await connection.post("embeddings", body), len(lot), address)
    finally:
        await connection.aclose()
    matrix = np.array(rows, dtype=np.float32) if len({len(row) for row in rows}) == 1 else np.zeros(0, np.float32)
    if matrix.ndim != MATRIX or not matrix.shape[1] or not np.isfinite(matrix).all():
        raise ModelError(f"{address.base} gives vectors that cannot be used", "use another embedder")
    return matrix


def _lots(texts: Sequence[str]) -> list[list[str]]:
    """Return the texts in lots that are neither too many nor too long for one request."""
    lots: list[list[str]] = []
    characters = 0
    for text in texts:
        if not lots or len(lots[-1]) == TEXTS_PER_REQUEST or characters + len(text) > CHARACTERS_PER_REQUEST:
            lots.append([])
            characters = 0
        lots[-1].append(text)
        characters += len(text)
    return lots


def _rows_of(document: object, count: int, address: Address) -> list[list[float]]:
    """Return the vectors of a reply, by the index that each names.

    Raises:
        ModelError: there is not one for each text.
    """
    data = document.get("data") if isinstance(document, dict) else None
    found: dict[int, list[float]] = {}
    for place, entry in enumerate(data if isinstance(data, list) else ()):
        vector = entry.get("embedding") if isinstance(entry, dict) else None
        if isinstance(vector, list) and vector and all(isinstance(each, int | float) for each in vector):
            found[entry.get("index", place)] = vector
    if sorted(found, key=str) != sorted(range(count), key=str):
        said = cut(in_one_line(str(document)))
        raise ModelError(f"{address.base} answers with something that is no list of embeddings: {said}", BASE_HINT)
    return [found[place] for place in range(count)]
