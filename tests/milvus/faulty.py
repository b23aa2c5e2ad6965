"""A real engine behind a real port, that does something else where a fault says so."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from milvus_lite.adapter.grpc.servicer import MilvusServicer
from milvus_lite.db import MilvusLite
from pymilvus.grpc_gen import milvus_pb2_grpc

from goalmem_cli.addresses import parse_address
from goalmem_cli.milvus.milvus_memory import MilvusMemory
from goalmem_cli.testing import HashEmbedder
from tests.reasoners.scripting import chat

TURNS = chat("Alice: I ordered a latte.", "Ben: My dog is Biscuit.")
Fault = Callable[[str, Any, Any, Any], Any]
"""Takes a method's name, the method, the request and the context, and returns the reply."""


def faultless(_name: str, method: Any, request: Any, context: Any) -> Any:
    """Do what was asked."""
    return method(request, context)


class Faulty(MilvusServicer):  # type: ignore[misc]
    """An engine that does what its `fault` says; it keeps the names of the methods that were called."""

    def __init__(self, database: MilvusLite) -> None:
        super().__init__(database)
        self.calls: list[str] = []
        self.tokens: set[str] = set()
        self.fault: Fault = faultless

    def __getattribute__(self, name: str) -> Any:
        """Return the method, in front of which the fault is asked."""
        method = super().__getattribute__(name)
        if not name[0].isupper():
            return method

        def called(request: Any, context: Any) -> Any:
            self.calls.append(name)
            self.tokens |= {value for key, value in context.invocation_metadata() if key == "authorization"}
            return self.fault(name, method, request, context)

        return called


@contextmanager
def serving(
    folder: Path, port: int = 0, credentials: grpc.ServerCredentials | None = None
) -> Iterator[tuple[Faulty, int]]:
    """Serve the database in a folder, with TLS where there are credentials; yield the engine, and the port."""
    database = MilvusLite(str(folder))
    server = grpc.server(ThreadPoolExecutor(max_workers=4))
    faulty = Faulty(database)
    milvus_pb2_grpc.add_MilvusServiceServicer_to_server(faulty, server)
    place = f"127.0.0.1:{port}"
    bound = server.add_secure_port(place, credentials) if credentials else server.add_insecure_port(place)
    server.start()
    try:
        yield faulty, bound
    finally:
        server.stop(grace=0).wait()
        database.close()


def opened(
    address: str, folder: Path, patience: float = 5.0, token: str = "", embedder: HashEmbedder | None = None
) -> MilvusMemory:
    """Return the memory on the server."""
    place = parse_address(address, "here")
    return MilvusMemory(
        place, folder / "beside", embedder or HashEmbedder(), announce=lambda _: None, patience=patience, token=token
    )


def only(names: tuple[str, ...], act: Callable[[Any], Any], times: int = 1_000) -> Fault:
    """Return the fault that `act`s so many times where one of these methods is called."""
    left = times

    def fault(name: str, method: Any, request: Any, context: Any) -> Any:
        nonlocal left
        if name in names and left:
            left -= 1
            done = act(context)
            if done is not None:
                return done
        return method(request, context)

    return fault


def afterwards(name: str, change: Callable[[Any], None]) -> Fault:
    """Return the fault that changes the replies of a method before they are sent."""

    def fault(called: str, method: Any, request: Any, context: Any) -> Any:
        reply = method(request, context)
        if called == name:
            change(reply)
        return reply

    return fault


def refused(code: grpc.StatusCode, why: str) -> Callable[[Any], None]:
    """Return what refuses a call."""

    def refuse(context: Any) -> None:
        context.abort(code, why)

    return refuse
