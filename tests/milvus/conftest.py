"""Embedded databases for tests, and memories in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from goalmem_cli.addresses import MilvusAddress
from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.milvus.milvus_memory import MilvusMemory
from goalmem_cli.store.files import Written, unwatched
from goalmem_cli.testing import HashEmbedder
from tests.milvus.faulty import Faulty, serving


class Opens(Protocol):
    """Opens the test's memory."""

    def __call__(self, written: Written = unwatched) -> MilvusMemory:
        """Return it, hearing of every step of a write."""
        ...


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Opens]:
    """A memory in an embedded database of the test's own."""

    def opened(written: Written = unwatched) -> MilvusMemory:
        address = MilvusAddress(path=tmp_path / "database")
        return MilvusMemory(address, tmp_path / "beside", HashEmbedder(), announce=lambda _: None, written=written)

    yield opened
    close_embedded()


@dataclass(frozen=True)
class Server:
    """A server with faults, and the address of its memory."""

    engine: Faulty
    address: str


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server of the test's own, without faults yet."""
    with serving(tmp_path / "data") as (engine, port):
        yield Server(engine, f"milvus+http://127.0.0.1:{port}/default")
