"""Servers that nothing is to be said to, or that say no: strangers, certificates, tokens."""

import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import grpc
import pytest
from pymilvus.grpc_gen import common_pb2, schema_pb2

from goalmem_cli.addresses import parse_address
from goalmem_cli.errors import StoreError
from goalmem_cli.milvus.milvus_memory import MilvusMemory
from goalmem_cli.milvus.schema import Collection
from goalmem_cli.testing import HashEmbedder
from tests.milvus.conftest import Server
from tests.milvus.faulty import TURNS, only, opened, refused, serving

TOKEN = ":".join(("root", "Secret"))


def test_nobody_listens(tmp_path: Path) -> None:
    """An address without a server is an error with a hint."""
    with pytest.raises(StoreError) as caught:
        assert opened("milvus+http://127.0.0.1:1/default", tmp_path, patience=0.5).exists
    assert "server is up" in caught.value.hint


class Web(BaseHTTPRequestHandler):
    """A web server that sends everybody on to somewhere else."""

    asked: list[bytes]

    def handle(self) -> None:
        """Keep what is asked, and send it elsewhere."""
        self.asked.append(self.request.recv(65_536))
        self.request.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")


@pytest.fixture
def web() -> Iterator[tuple[type[Web], int]]:
    """A web server, and its port."""
    handler = type("Asked", (Web,), {"asked": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield handler, server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def test_no_redirect_is_followed(web: tuple[type[Web], int], tmp_path: Path) -> None:
    """What is no Milvus is an error in time, wherever it points; it does not hear the token."""
    handler, port = web
    began = time.monotonic()
    memory = opened(f"milvus+http://127.0.0.1:{port}/default", tmp_path, patience=1, token=TOKEN)
    with pytest.raises(StoreError):
        memory.add_turns(TURNS)
    assert time.monotonic() - began < 20
    assert handler.asked
    assert not any(b"Secret" in text or b"root" in text for text in handler.asked)


def test_a_token_is_sent_and_never_shown(server: Server, tmp_path: Path) -> None:
    """The server hears it with every call; where it says no, that is an error at once, without the token."""
    memory = opened(server.address, tmp_path, token=TOKEN)
    memory.add_turns(TURNS)
    assert server.engine.tokens == {"cm9vdDpTZWNyZXQ="}
    server.engine.fault = only(("Query",), refused(grpc.StatusCode.UNAUTHENTICATED, "auth check failure"))
    server.engine.calls.clear()
    with pytest.raises(StoreError, match="auth check failure") as caught:
        memory.turns()
    assert server.engine.calls.count("Query") == 1
    assert "Secret" not in f"{caught.value} {caught.value.hint}"
    assert "token" in caught.value.hint


@pytest.fixture
def certified(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A server with a certificate of its own, and its port."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
        "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate),
    ]  # fmt: skip
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl, which makes the certificate, is not there")
    credentials = grpc.ssl_server_credentials([(key.read_bytes(), certificate.read_bytes())])
    with serving(tmp_path / "data", credentials=credentials) as (_, port):
        yield certificate, port


def test_a_certificate_that_nobody_vouches_for_is_refused(certified: tuple[Path, int], tmp_path: Path) -> None:
    """Nothing is written to such a server, though it would take it."""
    certificate, port = certified
    context = ssl.create_default_context(cafile=str(certificate))
    with socket.create_connection(("localhost", port)) as raw, context.wrap_socket(raw, server_hostname="localhost"):
        pass  # it does speak TLS
    with pytest.raises(StoreError):
        opened(f"milvus+https://localhost:{port}/default", tmp_path, patience=1).add_turns(TURNS)


def test_an_encrypted_address_is_not_spoken_to_in_the_clear(server: Server, tmp_path: Path) -> None:
    """A server without TLS behind `milvus+https` gets nothing, also where a connection in the clear is open."""
    port = server.address.split(":")[-1]
    plain = opened(f"milvus+http://127.0.0.1:{port}", tmp_path)
    plain.add_turns(TURNS[:1])
    server.engine.calls.clear()
    with pytest.raises(StoreError):
        opened(f"milvus+https://127.0.0.1:{port}", tmp_path, patience=1).add_turns(TURNS)
    assert server.engine.calls == []


def test_what_a_server_is_to_make_is_told(server: Server, tmp_path: Path) -> None:
    """Turns are spread over the shards that were asked for and parted by conversation, and reading sees all writing."""
    made: dict[str, Any] = {}

    def noting(name: str, method: Any, request: Any, context: Any) -> Any:
        if name == "CreateCollection":
            made[request.collection_name] = request
        return method(request, context)

    server.engine.fault = noting
    place = parse_address(server.address, "here")
    MilvusMemory(place, tmp_path / "beside", HashEmbedder(), announce=print, shards=3).add_turns(TURNS)
    assert {name: request.shards_num for name, request in made.items()} == {
        Collection.META: 1, Collection.TALKS: 1, Collection.SAID: 3, Collection.UNITS: 3
    }  # fmt: skip
    assert {request.consistency_level for request in made.values()} == {common_pb2.Strong}
    for collection in (Collection.SAID, Collection.UNITS):
        schema = schema_pb2.CollectionSchema.FromString(made[collection].schema)
        assert [field.name for field in schema.fields if field.is_partition_key] == ["conversation_key"]
