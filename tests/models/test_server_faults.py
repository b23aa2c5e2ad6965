"""Servers that fail, hang, redirect or are not there; addresses, keys and names of models."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.config import Settings
from goalmem_cli.errors import ModelError, ModelMissing
from goalmem_cli.loading import load_model
from goalmem_cli.models.servers.http import LONGEST_WAIT, MOST_WAITING, TRIES
from goalmem_cli.models.servers.server import ServerModel
from tests.models.faulty_server import (
    KEY,
    MODEL,
    ONE_LINE,
    Answer,
    Exchange,
    FaultyServer,
    Sleep,
    asks,
    babbles,
    breaks_off,
    drops,
    fails,
    failure,
    hangs,
    one,
    opened,
    sends,
    trickles,
)

# What passes, and what does not


@pytest.mark.parametrize(
    "fault",
    [*map(fails, (429, 500, 502, 503, 504)), drops, breaks_off, babbles],
    ids=["429", "500", "502", "503", "504", "drop", "break off", "babble"],
)
def test_what_may_pass_is_tried_again(fault: Answer) -> None:
    """An overloaded or restarting server and a broken connection get another try, after a wait."""
    sleep = Sleep()
    with FaultyServer([fault, fault]) as server:
        assert one(server, sleep=sleep).text == '{"fact": "F1"}'
    assert len(server.asked) == 3
    assert len(sleep.seconds) == 2 and 0.5 <= sleep.seconds[0] < sleep.seconds[1]


@pytest.mark.parametrize(
    ("fault", "words"), [(fails(503, "still loading"), "still loading"), (drops, "broke the connection")]
)
def test_the_tries_are_bounded(fault: Answer, words: str) -> None:
    """A server that goes on failing ends in an error that says how, and how often."""
    sleep = Sleep()
    with FaultyServer(answer=fault) as server:
        error = failure(server, asks(shape=ONE_LINE), sleep=sleep)
    assert words in error.message and f"tried {TRIES} times" in error.message
    assert len(server.asked) == TRIES and len(sleep.seconds) == TRIES - 1


@pytest.mark.parametrize(
    ("said", "least", "most"),
    [
        ("7", 7, 7),
        pytest.param(
            format_datetime(datetime.now(UTC) + timedelta(days=2), usegmt=True), LONGEST_WAIT, LONGEST_WAIT,
            id="in two days",
        ),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.5, 1),
        ("99999999999999999999", LONGEST_WAIT, LONGEST_WAIT),
        ("soon", 0.5, 1),
        ("-3", 0.5, 1),
    ],
)  # fmt: skip
def test_a_server_may_ask_for_a_pause(said: str, least: float, most: float) -> None:
    """Retry-After is honoured, in seconds or as a date, up to a bound; nonsense counts as nothing."""
    sleep = Sleep()
    with FaultyServer([fails(429, headers={"Retry-After": said})]) as server:
        one(server, sleep=sleep)
    assert len(sleep.seconds) == 1 and least <= sleep.seconds[0] <= most


def test_a_refusal_after_another_try_is_learnt_from() -> None:
    """What a server refuses once it has recovered is left out as it would have been at once."""
    refuses = fails(400, "Unrecognized request argument supplied: seed")
    with FaultyServer([fails(503), refuses]) as server:
        one(server, sleep=Sleep())
    assert ["seed" in seen.body for seen in server.asked] == [True, True, False]


def test_the_waiting_is_bounded() -> None:
    """A server that asks for a long pause each time does not get more than some minutes in all."""
    sleep = Sleep()
    with FaultyServer(answer=fails(429, headers={"Retry-After": "3600"})) as server:
        failure(server, asks(shape=ONE_LINE), sleep=sleep)
    assert 0 < sum(sleep.seconds) <= MOST_WAITING


@pytest.mark.parametrize("fault", [hangs, trickles])
def test_a_server_too_slow_is_tried_once_more(fault: Answer) -> None:
    """A reply that does not come, or does not end, is given up after the time allowed, and tried only twice."""
    with FaultyServer(answer=fault) as server:
        error = failure(server, asks(shape=ONE_LINE), timeout=0.3)
    assert "0.3 seconds (tried 2 times)" in error.message
    assert len(server.asked) == 2


class Leaving:
    """Hangs, and counts those who leave meanwhile."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.gone = threading.Semaphore(0)

    def __call__(self, exchange: Exchange) -> None:
        self.has_begun.set()
        if not exchange.handler.connection.recv(1):
            self.gone.release()


def test_one_failure_ends_the_call() -> None:
    """Where one request of several fails for good, the others are cut off, so that the server stops working on them."""
    leaving = Leaving()
    with (
        FaultyServer([leaving, leaving, fails(400)], answer=hangs) as server,
        opened(server.url, parallel=3, timeout=600) as model,
    ):
        with pytest.raises(ModelError, match="400"):
            model.complete([asks(shape=ONE_LINE)] * 20)
        assert len(server.asked) == 3
        assert all(leaving.gone.acquire(timeout=60) for _ in range(2))


def test_an_interrupted_call_is_cut_off() -> None:
    """After Ctrl-C the server is left at once, and the model can be asked again."""
    leaving = Leaving()

    def interrupts(exchange: Exchange) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        leaving(exchange)

    with FaultyServer([leaving, interrupts]) as server, opened(server.url, parallel=2, timeout=600) as model:
        with pytest.raises(KeyboardInterrupt):
            model.complete([asks(shape=ONE_LINE)] * 2)
        assert all(leaving.gone.acquire(timeout=60) for _ in range(2))
        assert model.complete([asks()])[0].text == '{"fact": "F1"}'


def test_closing_ends_what_is_under_way() -> None:
    """Whoever waits for a reply when the model is closed gets an error, and so does who asks later."""
    has_begun = threading.Event()

    def begins(exchange: Exchange) -> None:
        has_begun.set()
        hangs(exchange)

    with FaultyServer(answer=begins) as server, ThreadPoolExecutor(1) as callers:
        model = ServerModel.from_address(server.url, key=None, parallel=2, timeout=600)
        call = callers.submit(model.complete, [asks(shape=ONE_LINE)] * 5)
        assert has_begun.wait(60)
        model.close()
        model.close()
        assert "closed" in str(call.exception())
        with pytest.raises(ModelError, match="closed"):
            model.complete([asks()])


INTERRUPTED = """
import sys
from goalmem_cli.models.servers.server import ServerModel
from goalmem_cli.ports import GrammarShape, Request
model = ServerModel.from_address(sys.argv[1], key=None, parallel=2, timeout=600)
try:
    model.complete([Request("s", "", (), "a", "b", GrammarShape("root ::= [a]"))] * 5)
except KeyboardInterrupt:
    if sys.argv[2] == "closes":
        model.close()
    sys.exit(130)
"""


@pytest.mark.parametrize("ending", ["closes", "leaves"])
@pytest.mark.parametrize("fault", [hangs, fails(429, headers={"Retry-After": "50"})], ids=["hanging", "pausing"])
def test_an_interrupt_ends_the_process(fault: Answer, ending: str) -> None:
    """Ctrl-C while the server hangs, or while goalmem waits for another try, ends the process, closed or not."""
    has_begun = threading.Event()

    def begins(exchange: Exchange) -> None:
        fault(exchange) if fault is not hangs else None
        has_begun.set()
        hangs(exchange)

    with FaultyServer(answer=begins) as server:
        process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, server.url, ending], stderr=subprocess.PIPE)
        try:
            assert has_begun.wait(60)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=120)  # the server is released only after this
        finally:
            process.kill()
            process.wait()
    assert (process.returncode, errors) == (130, b"")


# Addresses, keys, models


@pytest.mark.parametrize(
    "address",
    [
        "http://user:secret@host/v1", "http://secret@host/v1", "https://host/v1?api_key=secret", "http://:80/secret",
        "http://", "http:///secret", "http://host:99999/secret", "http://host:0/secret", "http://host:port/secret",
        "http://[::1/secret", "http://ho st/secret", "http://host/sec\nret", "http://host/\x1b[31msecret",
    ],
)  # fmt: skip
def test_an_address_that_is_malformed_or_holds_a_secret_is_refused(address: str) -> None:
    """Nothing is sent to it, and what it holds is not repeated."""
    with pytest.raises(ModelError) as raised:
        ServerModel.from_address(address, key=None, parallel=1, timeout=1)
    assert "secret" not in raised.value.message + raised.value.hint and raised.value.hint


def test_a_server_that_is_not_there_is_an_error_at_once() -> None:
    """A port that nobody listens on is a wrong address: it is not tried again."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        sleep = Sleep()
        with pytest.raises(ModelError, match="cannot be reached") as raised:
            opened(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", sleep=sleep)
    assert "refused" in raised.value.message and "address" in raised.value.hint and not sleep.seconds


def test_a_server_that_goes_away_is_tried_again() -> None:
    """A server that has answered before may be restarting, so that a refused connection gets further tries."""
    sleep = Sleep()
    with FaultyServer() as server:
        model = ServerModel.from_address(server.url, key=None, parallel=1, timeout=30, sleep=sleep)
    with closing(model), pytest.raises(ModelError, match=f"tried {TRIES} times"):
        model.complete([asks(shape=ONE_LINE)])


@pytest.mark.parametrize(
    "listing", [fails(404, "Not Found"), sends(b"<html>It works!</html>"), sends(b'"hello"'), sends(b'{"data": 3}')]
)
def test_a_wrong_path_is_explained(listing: Answer) -> None:
    """An address under which there is no list of models is probably one without its /v1."""
    with FaultyServer(listing=listing) as server:
        assert "/v1" in failure(server).hint


def test_a_model_is_named_after_the_address() -> None:
    """Without a name the server's first model is used; a name may have blanks and colons; Ollama's tag may be left out."""
    names = ["first", "owner/repo:8b q4", "llama3.2:latest"]
    listing: Answer = lambda exchange: exchange.send({"data": [{"id": name} for name in names]})  # noqa: E731
    with FaultyServer(listing=listing) as server:
        for typed, found in (("", "first"), ("#", "first"), ("#owner/repo:8b q4", names[1]), ("#llama3.2", names[2])):
            with opened(server.url + typed) as model:
                assert (model.name, model.address) == (found, f"{server.url}#{found}")


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ([{"id": f"m{number}"} for number in range(9)], "m0, m1, m2, m3, m4, and 4 more"),
        ([{"id": "a\n\x1b[31m"}, 3, {"id": 4}], "a [31m"),
        ([], "load one"),
        (None, "load one"),
    ],
)
def test_a_model_that_the_server_does_not_have_is_missing(models: object, words: str) -> None:
    """The error names those that it has, a handful of them."""
    listing: Answer = lambda exchange: exchange.send({"data": models})  # noqa: E731
    with FaultyServer(listing=listing) as server, pytest.raises(ModelMissing) as raised:
        opened(f"{server.url}#other")
    assert words in raised.value.hint and raised.value.message.isprintable()


@pytest.mark.parametrize(
    ("more", "typed", "context"),
    [
        ({"max_model_len": 32768}, None, 32768),
        ({"meta": {"n_ctx": 4096, "n_ctx_train": 131072}}, None, 4096),
        ({"meta": {"n_ctx_train": 131072}}, None, 8192),
        ({"meta": {"n_ctx_train": 2048}}, None, 2048),
        ({"meta": None, "max_model_len": "long"}, None, 8192),
        ({"max_model_len": 32768}, 1000, 1000),
    ],
)
def test_the_context_is_what_was_typed_or_what_the_server_says(
    more: dict[str, Any], typed: int | None, context: int
) -> None:
    """What a model was trained for is only the most that a server may have given it."""
    listing: Answer = lambda exchange: exchange.send({"data": [{**MODEL, **more}]})  # noqa: E731
    with FaultyServer(listing=listing) as server, opened(server.url, context=typed) as model:
        assert model.context == context


def test_a_key_is_sent_and_never_shown() -> None:
    """The key is a bearer's token of every request; an error that repeats it is shown without it."""
    repeats = fails(400, f"Incorrect API key {KEY}", param=KEY)
    with FaultyServer([repeats, sends(json.dumps({"error": KEY}).encode())]) as server:
        for _ in range(2):
            error = failure(server, asks(shape=ONE_LINE), key=f" {KEY}\n")
            assert KEY not in error.message + error.hint and "[key]" in error.message
    assert {seen.headers["authorization"] for seen in server.seen} == {f"Bearer {KEY}"}


@pytest.mark.parametrize(("key", "words"), [(KEY, "refuses the key"), (None, "asks for a key"), ("", "asks for a key")])
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_the_variable(key: str | None, words: str, status: int) -> None:
    """Whoever gave a wrong key, or none, is told which variable holds it."""
    with FaultyServer(listing=fails(status, f"wrong: {key}")) as server:
        error = failure(server, key=key)
    assert words in error.message and "GOALMEM_API_KEY" in error.hint and KEY not in str(error)


@pytest.mark.parametrize("key", ["two\nlines", "ключ", "a b", "a\x00"])
def test_a_key_that_no_header_carries_is_refused(key: str) -> None:
    """Such a key is an error before anything is sent, and is not repeated."""
    with FaultyServer() as server:
        error = failure(server, key=key)
    assert "GOALMEM_API_KEY" in error.message and key not in error.message and not server.seen


def test_a_redirect_is_not_followed() -> None:
    """The key would travel: the error names the host, which sees nothing."""
    with FaultyServer() as target:
        away: Answer = lambda exchange: exchange.send_bytes(b"", 307, Location=f"{target.url}/models")  # noqa: E731
        with FaultyServer(listing=away) as server:
            assert "127.0.0.1" in failure(server, key=KEY).message
        assert not target.seen


def test_a_proxy_stands_before_other_machines_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the environment is used, but not on the way to this machine."""
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with FaultyServer(listing=sends(b"no list")) as proxy, FaultyServer() as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.root)
        monkeypatch.setenv("http_proxy", proxy.root)
        assert one(server).text and not proxy.seen
        with pytest.raises(ModelError, match="no JSON"):
            opened("http://models.invalid/v1")
        assert [seen.path for seen in proxy.seen] == ["http://models.invalid/v1/models"]


def test_an_environment_that_httpx_cannot_use_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of a kind that is not supported is named as what is wrong."""
    monkeypatch.setenv("ALL_PROXY", "gopher://proxy")
    with pytest.raises(ModelError, match="prepared") as raised:
        opened("http://models.invalid/v1")
    assert "proxies" in raised.value.hint


def test_wiring_builds_a_server_from_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An address in the settings is a shared model with the full prompts; only goalmem's own key is sent."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-host")
    with FaultyServer() as server:
        loaded = load_model(Settings(tmp_path, model=server.url, parallel=5, context=2000))
        loaded.close()
        monkeypatch.setenv("GOALMEM_API_KEY", KEY)
        load_model(Settings(tmp_path, model=server.url)).close()
    assert (loaded.name, loaded.digest, loaded.profile) == (f"{server.url}#tiny", "tiny", "full")
    assert (loaded.context, loaded.at_once, loaded.is_shared) == (2000, 5, True)
    assert [seen.headers.get("authorization") for seen in server.seen] == [None, f"Bearer {KEY}"]
