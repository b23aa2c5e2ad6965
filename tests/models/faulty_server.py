"""A real server on loopback that speaks as OpenAI-compatible ones do, until its script has it do something wrong."""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

import pytest

from goalmem_cli.errors import ModelError
from goalmem_cli.models.servers.server import ServerModel
from goalmem_cli.ports import Completion, Example, GrammarShape, JsonShape, Request

CHAT = "/v1/chat/completions"
MODEL = {"id": "tiny", "object": "model"}
CITE = {
    "type": "object",
    "properties": {"fact": {"type": "string", "enum": ["F1", "F2"]}},
    "required": ["fact"],
    "additionalProperties": False,
}
ONE_LINE = GrammarShape('root ::= "Answer: " [a-zA-Z ]{1,30} "\\n"')
KEY = "sk-quartz-0123456789"


@dataclass(frozen=True)
class Seen:
    """One request as it arrived; header names are in small letters, `body` is None where there was none."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any = None

    @property
    def form(self) -> str:
        """How the reply's schema was given, empty where it was not."""
        return str(self.body.get("response_format", {}).get("type", ""))

    @property
    def schema(self) -> Any:
        """The reply's schema, None where none was given."""
        given = self.body.get("response_format", {})
        return given.get("json_schema", given).get("schema")

    @property
    def last(self) -> str:
        """The text of the last message."""
        return str(self.body["messages"][-1]["content"])

    @property
    def is_probe(self) -> bool:
        """Whether this only tries how the server takes a schema."""
        return "quokka" in json.dumps(self.schema)


@dataclass
class Exchange:
    """A request under way: what was asked, and the means to answer or not to."""

    seen: Seen
    handler: BaseHTTPRequestHandler
    released: threading.Event

    def send(self, document: object, status: int = 200, **headers: str) -> None:
        """Answer with a JSON document."""
        self.send_bytes(json.dumps(document).encode(), status, **headers)

    def send_bytes(self, data: bytes, status: int = 200, **headers: str) -> None:
        """Answer with whatever bytes."""
        self.handler.send_response(status)
        self.handler.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(data)


Answer = Callable[[Exchange], None]


def completion(content: object, *, finish: str = "stop", **more: object) -> dict[str, object]:
    """A chat completion with that content; `more` are further fields of the reply."""
    message = content if isinstance(content, dict) else {"role": "assistant", "content": content}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}


def fitting(schema: Any) -> Any:
    """The simplest value of a schema."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: fitting(inner) for name, inner in schema["properties"].items()}
    return [] if schema.get("type") == "array" else "text"


def says(content: object, **more: Any) -> Answer:
    """Answer with a completion, whatever is asked."""
    return lambda exchange: exchange.send(completion(content, **more))


def fails(
    status: int, message: object = "something is wrong", /, *, headers: Mapping[str, str] | None = None, **error: str
) -> Answer:
    """Answer with an error as OpenAI words it."""
    return lambda exchange: exchange.send({"error": {"message": message, **error}}, status, **(headers or {}))


def sends(data: bytes, status: int = 200) -> Answer:
    """Answer with those bytes, whatever they are."""
    return lambda exchange: exchange.send_bytes(data, status)


def drops(exchange: Exchange) -> None:
    """Cut the connection without a word."""
    exchange.handler.connection.shutdown(socket.SHUT_RDWR)


def breaks_off(exchange: Exchange) -> None:
    """Promise more than is sent, and cut the connection."""
    exchange.handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    drops(exchange)


def babbles(exchange: Exchange) -> None:
    """Send what is no HTTP."""
    exchange.handler.wfile.write(b"\x00\xff not a status line\r\n\r\n")
    drops(exchange)


def hangs(exchange: Exchange) -> None:
    """Say nothing until the test is over."""
    exchange.released.wait()


def trickles(exchange: Exchange) -> None:
    """Send a reply that never ends, a blank at a time."""
    exchange.handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while not exchange.released.wait(0.01):
        exchange.handler.wfile.write(b" ")


def floods(exchange: Exchange) -> None:
    """Send a whole JSON document, larger than any reply."""
    exchange.send("x" * (17 * 2**20))


def echoes(exchange: Exchange) -> None:
    """Repeat the last message."""
    exchange.send(completion(exchange.seen.last))


@dataclass
class FaultyServer:
    """Answers requests for completions by its script, one answer each, and after that by `answer`.

    By default it fits every schema that it is given in one of `forms`, and says `prose` to everything else. `listing`
    answers for the models.
    """

    script: Iterable[Answer] = ()
    answer: Answer | None = None
    forms: tuple[str, ...] = ("json_schema", "json_object")
    prose: str = "Well, hello there."
    listing: Answer = lambda exchange: exchange.send({"object": "list", "data": [MODEL]})
    seen: list[Seen] = field(default_factory=list)
    most_at_once: int = 0

    def __post_init__(self) -> None:
        self._script = deque(self.script)
        self._released = threading.Event()
        self._counting = threading.Lock()
        self._at_once = 0
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> FaultyServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._released.set()
        self._server.shutdown()
        self._thread.join()
        for connection in self._server.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()

    @property
    def root(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """The address as `--model` takes it."""
        return f"{self.root}/v1"

    @property
    def asked(self) -> list[Seen]:
        """The requests for completions, without those that only try the schema."""
        return [seen for seen in self.seen if seen.path == CHAT and not seen.is_probe]

    @property
    def probes(self) -> list[Seen]:
        """The requests that only try the schema."""
        return [seen for seen in self.seen if seen.path == CHAT and seen.is_probe]

    def _answered(self, exchange: Exchange) -> None:
        with self._counting:
            self.seen.append(exchange.seen)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            is_scripted = exchange.seen.path == CHAT and not exchange.seen.is_probe and bool(self._script)
            answer = self._script.popleft() if is_scripted else self._usual(exchange.seen)
        try:
            answer(exchange)
        except OSError:
            exchange.handler.close_connection = True  # whoever asked has left
        finally:
            with self._counting:
                self._at_once -= 1

    def _usual(self, seen: Seen) -> Answer:
        if seen.method == "GET":
            return self.listing
        if self.answer is not None:
            return self.answer
        return says(json.dumps(fitting(seen.schema)) if seen.form in self.forms else self.prose)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._answered(self._exchange(None))

            def do_POST(self) -> None:
                outer._answered(
                    self._exchange(json.loads(self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8")))
                )

            def _exchange(self, body: object) -> Exchange:
                headers = {name.lower(): value for name, value in self.headers.items()}
                return Exchange(Seen(self.command, self.path, headers, body), self, outer._released)

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
                """Say nothing."""

        return Handler


class _Server(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = False

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.connections: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        """Keep the connection, since the server is gone only when those that stay open are."""
        connection, address = super().get_request()
        self.connections.append(connection)
        return connection, address

    def handle_error(self, request: object, client_address: object) -> None:
        """Let whoever asked leave at any time."""


class Sleep:
    """Waits no time, and remembers how long it should have."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def asks(growing: str = "F1: Anna has a dog.\n", shape: JsonShape | GrammarShape | None = None) -> Request:
    """A request with something in every place."""
    return Request(
        "cite", "You cite.", (Example("Who?", '{"fact": "F2"}'),), growing, "Who has a dog?",
        shape or JsonShape(CITE), 40,
    )  # fmt: skip


def opened(address: str, **changes: Any) -> closing[ServerModel]:
    """The model at an address, which waits no time between tries, and is closed at the end."""
    given: dict[str, Any] = {"key": None, "parallel": 4, "timeout": 30, "sleep": Sleep()}
    return closing(ServerModel.from_address(address, **{**given, **changes}))


def one(server: FaultyServer, request: Request | None = None, **changes: Any) -> Completion:
    """The completion of one request to a server."""
    with opened(server.url, **changes) as model:
        return model.complete([request or asks()])[0]


def failure(server: FaultyServer, request: Request | None = None, **changes: Any) -> ModelError:
    """The error that one request to a server ends in."""
    with pytest.raises(ModelError) as raised:
        one(server, request, **changes)
    assert "\n" not in raised.value.message
    assert raised.value.hint
    return raised.value
