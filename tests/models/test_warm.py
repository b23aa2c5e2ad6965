"""The process that keeps a model loaded: its messages, who may reach it, and how it ends."""

import json
import os
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest

from goalmem_cli.errors import ContextOverflow, ModelError
from goalmem_cli.json_records import plain
from goalmem_cli.models.servers import warm
from goalmem_cli.models.servers.warm import Gone, Held, WarmModel, folder, held, only_one, serve, stop
from goalmem_cli.ports import Completion, Example, GrammarShape, JsonShape, LanguageModel, Request
from goalmem_cli.testing import ScriptedModel

ABOUT = Held("made-up", "d1", 512, {"threads": 2}, os.getpid())
ASKED = Request(
    "read", "Sei knapp.\n", (Example("a ü", "b"),), "facts\n\u2028", "tail", GrammarShape('root ::= "x"'), max_tokens=7
)
IN_JSON = Request("unify", "s", (), "g", "t", JsonShape({"type": "object", "properties": {"a": {"enum": ["F1"]}}}))


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="warm") as home:
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        yield


def keep(model: LanguageModel, seconds: float = 60.0) -> None:
    """Do a warm process's work."""
    with only_one() as path:
        serve(path, model, ABOUT, seconds)


@pytest.fixture
def kept() -> Iterator[Callable[..., Thread]]:
    """What starts a process's work in a thread, and ends it after the test."""
    running: list[Thread] = []

    def start(model: LanguageModel, seconds: float = 60.0) -> Thread:
        thread = Thread(target=keep, args=(model, seconds), daemon=True)
        thread.start()
        running.append(thread)
        while held() is None and thread.is_alive():
            time.sleep(0.01)
        return thread

    yield start
    for thread in running:
        with suppress(Gone):
            stop()
        thread.join(10)


def never() -> LanguageModel:
    """Fail: the model must not be loaded here."""
    raise AssertionError("it was loaded here")


def test_requests_and_replies_pass_unchanged(kept: Callable[..., Thread]) -> None:
    """Every field arrives as it was sent, in both directions."""
    said = [Completion("zwölf\n", 3, 2, 1, False, 0.1, 0.30000000000000004), Completion("", likelihood=None)]
    model = ScriptedModel(lambda request: said[request.step == "unify"])
    kept(model)
    assert WarmModel(never).complete([ASKED, IN_JSON]) == said
    assert model.seen == [ASKED, IN_JSON]
    assert held() == ABOUT


@pytest.mark.parametrize("kind", [ContextOverflow, ModelError])
def test_errors_stay_errors(kept: Callable[..., Thread], kind: type[ModelError]) -> None:
    """An error of the model reaches whoever asked, and costs nobody else anything."""

    def reply(request: Request) -> str:
        if request.step == "read":
            raise kind("too long", "fewer facts")
        return "fine"

    kept(ScriptedModel(reply))
    model = WarmModel(never)
    with pytest.raises(kind) as raised:
        model.complete([ASKED])
    assert (raised.value.message, raised.value.hint) == ("too long", "fewer facts")
    assert type(raised.value) is kind
    assert model.complete([IN_JSON])[0].text == "fine"


def test_only_its_user_can_reach_it(kept: Callable[..., Thread]) -> None:
    """Folder and files are closed to others; a folder that is open is not trusted, whatever listens there."""
    kept(ScriptedModel(["x"]))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder(), *folder().iterdir())}
    assert modes == {"warm": 0o700, "socket": 0o600, "about.json": 0o600, "lock": 0o600}
    folder().chmod(0o755)
    assert held() is None
    folder().chmod(0o700)
    assert held() == ABOUT


def test_an_open_folder_is_refused() -> None:
    """Nothing is served where others could reach it."""
    folder().mkdir(parents=True)
    folder().chmod(0o777)
    with pytest.raises(ModelError, match="others than its owner"):
        keep(ScriptedModel(["x"]))


def test_a_folder_put_in_its_place_gets_no_prompt(kept: Callable[..., Thread]) -> None:
    """Where others can write beside the folder they can exchange it, so each call looks at it anew."""
    kept(ScriptedModel(["x", "x", "x"]))
    model = WarmModel(lambda: ScriptedModel(["from here"]))
    assert model.complete([ASKED])[0].text == "x"
    folder().chmod(0o755)
    assert model.complete([ASKED])[0].text == "from here"
    folder().chmod(0o700)


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED") or os.getuid() != 0, reason="another user is needed")
def test_another_users_socket_gets_no_prompt() -> None:
    """A process of another user that listens at the socket's place is not talked to."""
    folder().mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as theirs:
        theirs.bind(str(folder() / "socket"))
        os.seteuid(65534)
        try:
            theirs.listen()  # the system notes who this is
        finally:
            os.seteuid(0)
        (folder() / "about.json").write_text(json.dumps(plain(ABOUT)))
        assert held() is None
        assert WarmModel(lambda: ScriptedModel(["from here"])).complete([ASKED])[0].text == "from here"


def test_there_is_only_one(kept: Callable[..., Thread]) -> None:
    """A second process is refused, and the first goes on."""
    kept(ScriptedModel(["x"]))
    with pytest.raises(ModelError, match="keeps a model warm already"):
        keep(ScriptedModel(["y"]))
    assert WarmModel(never).complete([ASKED])[0].text == "x"


def test_it_ends_when_it_is_not_used(kept: Callable[..., Thread]) -> None:
    """After the time it is gone with its socket, and who used it loads the model."""
    thread = kept(ScriptedModel(["x"]), 0.3)
    model = WarmModel(lambda: ScriptedModel(["from here", "again"]))
    assert model.complete([ASKED])[0].text == "x"
    thread.join(10)
    assert not thread.is_alive()
    assert held() is None
    assert [path.name for path in folder().iterdir()] == ["lock"]
    assert model.complete([ASKED])[0].text == "from here"
    assert model.complete([ASKED])[0].text == "again"


def test_what_a_crash_left_is_no_model(kept: Callable[..., Thread]) -> None:
    """A socket on which nobody listens is passed over, and replaced by the next process."""
    folder().mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(str(folder() / "socket"))
    (folder() / "about.json").write_text("{not json")
    assert held() is None
    kept(ScriptedModel(["x"]))
    assert WarmModel(never).complete([ASKED])[0].text == "x"


@pytest.mark.parametrize("sent", [b"", b"nonsense\n", b"[]\n", b'{"complete": [{"step": 1}]}\n', b"no end"])
def test_nonsense_costs_nobody_else(kept: Callable[..., Thread], sent: bytes) -> None:
    """A client that sends no request gets no reply, and the next one does."""
    kept(ScriptedModel(["x"]))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(folder() / "socket"))
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        assert client.recv(100) == b""
    assert WarmModel(never).complete([ASKED])[0].text == "x"


def test_who_gave_up_while_waiting_is_not_answered(kept: Callable[..., Thread]) -> None:
    """After Ctrl-C the next question need not wait for one that nobody wants any more."""
    begun, goes_on = Event(), Event()

    def reply(request: Request) -> str:
        begun.set()
        assert goes_on.wait(10)
        return request.tail

    model = ScriptedModel(reply)
    kept(model)
    first = Thread(target=WarmModel(never).complete, args=([ASKED],))
    first.start()
    assert begun.wait(10)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(folder() / "socket"))
        client.sendall(json.dumps({"complete": [plain(replace(ASKED, tail="given up"))]}).encode() + b"\n")
    goes_on.set()
    assert WarmModel(never).complete([IN_JSON])[0].text == IN_JSON.tail
    first.join(10)
    assert [request.tail for request in model.seen] == [ASKED.tail, IN_JSON.tail]


def test_a_silent_client_is_left(kept: Callable[..., Thread], monkeypatch: pytest.MonkeyPatch) -> None:
    """Who connects and says nothing holds up the others for some seconds at most."""
    monkeypatch.setattr(warm, "SECONDS_TO_SEND", 0.2)
    kept(ScriptedModel(["x"]))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(folder() / "socket"))
        assert WarmModel(never).complete([ASKED])[0].text == "x"


def test_a_path_too_long_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The limit of the system is named, with a way out."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ("x" * 100)))
    with pytest.raises(ModelError, match="too long") as raised:
        keep(ScriptedModel(["x"]))
    assert "XDG_CACHE_HOME" in raised.value.hint
