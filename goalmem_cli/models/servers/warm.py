"""A model that stays loaded between commands, in a process of its own: `goalmem warm`.

The process listens on a Unix socket in a folder that only its user can enter. Each call is one connection: a line of
JSON there and one back. So a client that waits for hours does not block others. A file beside the socket says which
model it is; an abandoned socket refuses connections, so nothing needs to be cleaned up after a crash.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import stat
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from select import select
from time import monotonic
from typing import Any

from goalmem_cli.errors import ContextOverflow, ModelError
from goalmem_cli.json_records import plain, rebuild
from goalmem_cli.models.state_cache import model_cache
from goalmem_cli.ports import Completion, Example, GrammarShape, JsonShape, LanguageModel, Request

LONGEST_PATH = 100
"""The longest path of a socket, in bytes: systems allow 104 to 108."""
MOST_BYTES = 2**26
"""The longest message. A prompt of the longest context has some hundred thousand bytes."""
SECONDS_TO_SEND = 10.0
"""How long a client may take to send its message, or to receive the reply, once it is connected."""


@dataclass(frozen=True, slots=True)
class Held:
    """The model that a process keeps warm: its name, the digest of its weights and adapter, and how it was loaded.

    `context` is its length in tokens. `loaded_with` are the settings that another process must share to use it.
    """

    name: str
    digest: str
    context: int
    loaded_with: Mapping[str, object]
    process: int


class Gone(Exception):
    """The warm process does not answer any more."""


def folder() -> Path:
    """Return the folder of the socket."""
    return model_cache() / "warm"


def can_be_kept_warm() -> bool:
    """Say whether this system has Unix sockets, which Windows lacks."""
    return hasattr(socket, "AF_UNIX") and os.name != "nt"


def held() -> Held | None:
    """Return the model that a process of this user keeps warm, or None."""
    try:
        with _connected():
            found = rebuild(Held, json.loads((folder() / "about.json").read_text("utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, Gone):
        return None
    return found if isinstance(found, Held) else None


def stop() -> None:
    """End the warm process. It finishes the call under way first.

    Raises:
        Gone: there is none.
    """
    _exchange({"stop": True})


class WarmModel:
    """The model of the warm process. If that process is gone, the model is loaded in this process instead."""

    def __init__(self, load: Callable[[], LanguageModel]) -> None:
        """Take the function that loads the model in this process if the warm process is gone."""
        self._load = load
        self._own: LanguageModel | None = None

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order.

        Raises:
            ContextOverflow: a prompt leaves no room in the context.
            ModelError: the model fails, or cannot be loaded in this process.
        """
        if self._own is None:
            try:
                reply = _exchange({"complete": [plain(request) for request in requests]})
            except Gone:
                self._own = self._load()
            else:
                return _completions(reply, len(requests))
        return self._own.complete(requests)

    def close(self) -> None:
        """Free a model that was loaded in this process; the warm process goes on."""
        own, self._own = self._own, None
        if (close := getattr(own, "close", None)) is not None:
            close()


def _completions(reply: Mapping[str, Any], count: int) -> list[Completion]:
    """Return the completions in a reply of the warm process, or raise the error that it reports."""
    if error := reply.get("error"):
        kind = ContextOverflow if error["kind"] == ContextOverflow.__name__ else ModelError
        raise kind(error["message"], error["hint"])
    found = [rebuild(Completion, each) for each in reply["completions"]]
    if len(found) != count:
        raise ModelError("the warm process gave another number of replies", "goalmem warm --stop")
    return found


# The process


def serve(path: Path, model: LanguageModel, about: Held, seconds: float) -> None:
    """Answer calls on the socket until the model was unused for `seconds`, or `stop` was called.

    `path` comes from `only_one`.

    Raises:
        ModelError: the socket cannot be made.
    """
    import socketserver

    state = {"ends": monotonic() + seconds, "stops": False}

    class Handler(socketserver.StreamRequestHandler):
        timeout = SECONDS_TO_SEND

        def handle(self) -> None:
            """Answer one line of JSON: a stop, or requests for the model."""
            line = self.rfile.readline(MOST_BYTES)
            if not line.endswith(b"\n"):
                return  # somebody looked whether the process is there, or went away
            if select([self.connection], [], [], 0)[0]:
                return  # whoever asked gave up while others were answered
            message = json.loads(line)
            if message.get("stop"):
                state["stops"] = True
                reply: dict[str, Any] = {}
            else:
                reply = _answered(model, [_request(each) for each in message["complete"]])
                state["ends"] = monotonic() + seconds
            self.wfile.write(json.dumps(reply).encode() + b"\n")

    class Server(socketserver.UnixStreamServer):
        request_queue_size = 64

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Ignore the error of a client that left, or that sent no request; other calls go on."""

    try:
        server = Server(os.fspath(path), Handler)
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}", "set XDG_CACHE_HOME to a local folder") from error
    with server:
        path.chmod(0o600)
        _write_about(about)
        while not state["stops"] and (left := state["ends"] - monotonic()) > 0:
            server.timeout = left
            server.handle_request()


def _answered(model: LanguageModel, requests: Sequence[Request]) -> dict[str, Any]:
    try:
        return {"completions": [plain(each) for each in model.complete(requests)]}
    except ModelError as error:
        return {"error": {"kind": type(error).__name__, "message": error.message, "hint": error.hint}}


def _request(written: Mapping[str, Any]) -> Request:
    """Return the request of a JSON object."""
    shape = written["shape"]
    return Request(
        **{
            **written,
            "examples": tuple(Example(**each) for each in written["examples"]),
            "shape": GrammarShape(**shape) if "grammar" in shape else JsonShape(**shape),
        }
    )


@contextmanager
def only_one() -> Iterator[Path]:
    """Hold the lock of the warm process, and yield a path for its socket, on which no process listens.

    Raises:
        ModelError: another process holds the lock, the folder is open to others, or the path is too long.
    """
    import fcntl

    place = folder()
    path, about = place / "socket", place / "about.json"
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise ModelError(f"{path} is too long for the path of a socket", "set XDG_CACHE_HOME to a shorter folder")
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(place / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ModelError(f"{place}: {error.strerror or error}", "check the permissions of the cache folder") from error
    try:
        if not _is_private(place):
            raise ModelError(f"others than its owner can enter {place}", f"chmod 700 {shlex.quote(str(place))}")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ModelError(
                "another process keeps a model warm already, or loads one now", "goalmem warm --stop ends it"
            ) from None
        try:
            _remove(path, about)
            yield path
        finally:
            _remove(path, about)
    finally:
        os.close(lock)


def _remove(*paths: Path) -> None:
    for each in paths:
        with suppress(OSError):
            each.unlink(missing_ok=True)


def _write_about(about: Held) -> None:
    part = folder() / "about.part"
    part.write_text(json.dumps(plain(about)), "utf-8")
    part.chmod(0o600)
    part.replace(folder() / "about.json")


# A call


def _exchange(message: Mapping[str, object]) -> Mapping[str, Any]:
    """Return the reply of the warm process to a message.

    Raises:
        Gone: it does not answer.
    """
    with _connected() as connection:
        try:
            connection.sendall(json.dumps(message).encode() + b"\n")
            with connection.makefile("rb") as replies:
                line = replies.readline(MOST_BYTES)
            reply = json.loads(line)
        except (OSError, ValueError) as error:
            raise Gone from error
    if not isinstance(reply, dict):
        raise Gone
    return reply


@contextmanager
def _connected() -> Iterator[socket.socket]:
    """Yield a connection to the user's own warm process; raises Gone if there is none."""
    if not can_be_kept_warm():
        raise Gone
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(os.fspath(folder() / "socket"))
            is_own = _is_private(folder()) and _is_of_this_user(connection)
        except OSError as error:
            raise Gone from error
        if not is_own:
            raise Gone
        yield connection


def _is_private(place: Path) -> bool:
    """Say whether the folder belongs to this user, and nobody else can enter it."""
    about = place.stat()
    return about.st_uid == os.getuid() and not stat.S_IMODE(about.st_mode) & 0o077


def _is_of_this_user(connection: socket.socket) -> bool:
    """Say whether this user's process made the socket; True if the system does not tell, as the folder is private."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return bool(user == os.getuid())
