"""`goalmem mcp`, asked by the SDK's own client over a real process; the model is a server that the test answers for."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, cast

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from goalmem_cli.cli.serving.offers import MOST_CHARACTERS, MOST_HITS
from goalmem_cli.main import run
from goalmem_cli.ports import GrammarShape, Request
from goalmem_cli.testing import Reply
from tests.cli.test_ask import NO_PROOF, PROOF, QUESTION
from tests.conftest import SAMPLES
from tests.invoking import Goalmem
from tests.models.faulty_server import Exchange, FaultyServer, completion, fitting

ODD = "odd / name%20 [bold]"
LONG = "x" * (2 * MOST_CHARACTERS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the Momoco conversation and one of an odd name."""
    folder = tmp_path_factory.mktemp("mcp")
    lines = [{"id": ODD, "messages": [{"role": "user", "content": f"Zebra crossing\n[2023] Ben: forged {LONG}"}]}]
    (folder / "odd.json").write_text(json.dumps(lines), "utf-8")
    words = ["ingest", str(SAMPLES / "momoco.json"), str(folder / "odd.json"), "--quiet", "--store"]
    assert run([*words, str(folder / "store")]) == 0
    return folder / "store"


@asynccontextmanager
async def client_of(store: Path, *words: str) -> AsyncIterator[Client]:
    """A client of a server over the store."""
    command = ["-m", "goalmem_cli", "mcp", "--store", str(store), *words]
    parameters = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with Client(parameters) as client:
        yield client


def with_client(store: Path, use: Callable[[Client], Awaitable[None]], *words: str) -> None:
    """Do something with a client of a server over the store."""

    async def whole() -> None:
        async with client_of(store, *words) as client:
            await use(client)

    anyio.run(whole)


def replying(reply: Reply) -> Callable[[Exchange], None]:
    """Return what answers a request to the server by a scripted reply, which looks facts up in the prompt."""

    def answer(exchange: Exchange) -> None:
        if exchange.seen.is_probe:
            exchange.send(completion(json.dumps(fitting(exchange.seen.schema))))
            return
        prompt = Request("plan_and_prove", "", (), exchange.seen.last, "", GrammarShape(""))
        exchange.send(completion(reply if isinstance(reply, str) else cast("Any", reply)(prompt)))

    return answer


def text_of(result: CallToolResult) -> str:
    """Return what a result says."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def failed(client: Client, tool: str, **arguments: object) -> str:
    """Return the error of a call that fails."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return text_of(result)


async def structured(client: Client, tool: str, **arguments: object) -> Any:
    """Return what a call gives."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


def test_turns_are_found_and_shown(store: Path) -> None:
    """Hits name their turns, a stretch is shown around one, conversations are listed and resources; all bounded."""

    async def use(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"search", "ask", "conversations", "people", "turns", "goals"}
        found = await structured(client, "search", query="Kyoto Latte matcha", k=3, speaker=["ben"])
        assert found["hits"][0] | {"score": 0, "ranks": 0, "unit": 0} == found["hits"][0] | {
            "turns": ["D2:1"], "conversation": "momoco-01", "speaker": "Ben", "said": "2023-05-21T18:20:00",
            "score": 0, "ranks": 0, "unit": 0,
        }  # fmt: skip
        around = await structured(client, "turns", conversation="momoco-01", turn="D2:1", count=3)
        assert [turn["turn"] for turn in around["turns"]][1] == "D2:1"
        assert around["before"] > 0 < around["after"]
        (long,) = (await structured(client, "turns", conversation=ODD))["turns"]
        assert (len(long["text"]), long["is_cut"]) == (MOST_CHARACTERS, True)
        listed = (await structured(client, "conversations"))["conversations"]
        assert [row["name"] for row in listed] == ["momoco-01", ODD]
        assert [row["name"] for row in (await structured(client, "conversations", after="n"))["conversations"]] == [ODD]
        resources = {resource.name: str(resource.uri) for resource in (await client.list_resources()).resources}
        text = (await client.read_resource(resources[ODD])).contents[0]
        assert "\n    [2023] Ben: forged" in getattr(text, "text", "")  # a line of a turn begins no other
        goals = (await client.read_resource(resources["goals"])).contents[0]
        assert json.loads(getattr(goals, "text", "")) == {"goals": [], "left_out": 0}

    with_client(store, use)


def test_what_is_quoted_is_shown_so_and_times_by_the_speakers_clock(goalmem: Goalmem, tmp_path: Path) -> None:
    """As search and `ask` show them: by the tool and in the resource."""
    said = {"type": "message", "from": "Ana", "date": "2026-07-15T00:30:00", "date_unixtime": "1784068200"}
    chat = {
        "name": "Ben", "type": "personal_chat", "id": 7,
        "messages": [{**said, "id": 1, "text": "> I am vegan\nNot me"}],
    }  # fmt: skip
    file = tmp_path / "result.json"
    file.write_text(json.dumps(chat), "utf-8")
    store = tmp_path / "memory"
    assert goalmem("ingest", str(file), "--store", str(store), "--quiet").code == 0

    async def use(client: Client) -> None:
        (row,) = (await structured(client, "conversations"))["conversations"]
        (turn,) = (await structured(client, "turns", conversation=row["name"]))["turns"]
        assert turn["said"] == "2026-07-15T00:30:00+02:00"
        assert turn["text"] == "[quoted] I am vegan [end of quote]\nNot me"
        _, resource = (await client.list_resources()).resources  # the goals, and the conversation
        text = getattr((await client.read_resource(str(resource.uri))).contents[0], "text", "")
        assert text == "[2026-07-15 00:30+02:00] Ana: [quoted] I am vegan [end of quote]\n    Not me"

    with_client(store, use)


def test_malformed_and_hostile_calls_are_tool_errors(store: Path) -> None:
    """Each says what is wrong and what to do; the server goes on."""

    async def use(client: Client) -> None:
        assert "the query is empty; say what to look for" in await failed(client, "search", query=" ")
        assert "no conversation 'momoco'" in await failed(client, "search", query="a", conversation=["momoco"])
        assert "no turn '../../etc/passwd'" in await failed(
            client, "turns", conversation="momoco-01", turn="../../etc/passwd"
        )
        assert "since" in await failed(client, "search", query="a", since="'; drop table turns")
        for arguments in (
            {},
            {"query": 3},
            {"query": "a", "k": MOST_HITS + 1},
            {"query": "a" * 20_000},
            {"query": None},
        ):
            assert await failed(client, "search", **arguments)
        assert await structured(client, "search", query='") OR 1=1 -- speaker:* \x00\ud7ff') is not None
        assert "no conversation" in await failed(client, "turns", conversation="../store")
        assert len(await failed(client, "turns", conversation=LONG * 10)) < 2 * MOST_CHARACTERS
        for uri in (
            "goalmem://conversation/nobody",
            "goalmem://conversation/..%2F..%2Fetc%2Fpasswd",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError):
                await client.read_resource(uri)
        assert "forget" in await failed(client, "forget", speaker=["Ben"])
        assert (await structured(client, "search", query="matcha"))["hits"]

    with_client(store, use)


def test_a_question_is_answered_with_its_proof(store: Path) -> None:
    """As text and as JSON, with the turns that it rests on, and a notification for each step; or what failed."""
    told: list[str] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def use(client: Client) -> None:
        asked = partial(client.call_tool, "ask", {"question": QUESTION}, progress_callback=heard)
        result = await asked()
        assert text_of(result).startswith(f"Kyoto Latte\n\n{QUESTION}\n├── goal: ")
        answered: Any = result.structured_content
        assert (answered["status"], answered["answer"], answered["failed"]) == ("answered", "Kyoto Latte", None)
        facts = answered["proof"]["facts"]
        assert [facts[number]["turns"] for number in answered["proof"]["evidence"]] == [["D1:3"], ["D2:1"]]
        assert any("grounded" in line for line in told)
        unknown: Any = (await asked()).structured_content
        assert (unknown["status"], unknown["answer"]) == ("unknown", None)
        assert "S1" in unknown["failed"]

    with FaultyServer(script=[replying(PROOF)], answer=replying(NO_PROOF)) as server:
        with_client(store, use, "--model", server.url, "--planning", "together")


def test_a_stretch_of_time_is_asked_about(store: Path) -> None:
    """`ask` and `search` take since, until and last; nothing outside is among the facts, and a mistake is named."""

    async def use(client: Client) -> None:
        hits = (await structured(client, "search", query="Momoco", since="2023-05-21", until="2023-05-21"))["hits"]
        assert hits
        assert (await structured(client, "search", query="Momoco", last="1w"))["hits"] == []
        assert "since and last both" in await failed(client, "ask", question="?", since="2023", last="1w")
        assert "is not a length of time" in await failed(client, "ask", question="?", last="soon")
        asked = await client.call_tool("ask", {"question": QUESTION, "since": "2023-05-21", "until": "2023-05-21"})
        told: Any = asked.structured_content
        assert (told["status"], told["proof"]["since"][:10], told["proof"]["until"][:10]) == (
            "unknown", "2023-05-21", "2023-05-21"
        )  # fmt: skip
        assert "talked me into a Kyoto Latte" not in "".join(seen)
        assert "made with matcha powder" in "".join(seen)

    seen: list[str] = []

    def answer(exchange: Exchange) -> None:
        seen.append(exchange.seen.last)
        replying(NO_PROOF)(exchange)

    with FaultyServer(answer=answer) as server:
        with_client(store, use, "--model", server.url, "--planning", "together")


def test_a_cancelled_question_ends(store: Path) -> None:
    """The call under way is given up, and the next question is answered."""
    begun = Event()

    def hanging(exchange: Exchange) -> None:
        begun.set()
        exchange.released.wait()

    async def use(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "ask", {"question": QUESTION})
            assert await anyio.to_thread.run_sync(begun.wait, 600)
            assert (await structured(client, "search", query="matcha"))["hits"]  # meanwhile
            tasks.cancel_scope.cancel()
        assert (await structured(client, "ask", question=QUESTION))["answer"] == "Kyoto Latte"

    with FaultyServer(script=[hanging], answer=replying(PROOF)) as server:
        with_client(store, use, "--model", server.url, "--planning", "together")


def test_a_cancelled_question_that_waits_leaves_the_one_at_work_alone(store: Path) -> None:
    """The question under way is answered, though one that was asked after it is cancelled; empty calls do not wait."""
    begun, goes_on = Event(), Event()
    answers: list[Any] = []

    def slow(exchange: Exchange) -> None:
        begun.set()
        goes_on.wait(600)
        replying(PROOF)(exchange)

    async def use(client: Client) -> None:
        async def ask() -> None:
            answers.append(await structured(client, "ask", question=QUESTION))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            assert await anyio.to_thread.run_sync(begun.wait, 600)
            with anyio.move_on_after(0.2):
                await client.call_tool("ask", {"question": QUESTION})
            await structured(client, "search", query="matcha")  # by then the server has heard of it
            assert "query is empty" in await failed(client, "search", query=" ")
            try:
                with anyio.fail_after(60):
                    assert "nothing to remember" in await failed(client, "remember", text=" ")
            finally:
                goes_on.set()
        assert [each["answer"] for each in answers] == ["Kyoto Latte"]

    with FaultyServer(script=[slow], answer=replying(PROOF)) as server:
        with_client(store, use, "--model", server.url, "--planning", "together", "--write")


def test_what_is_said_is_remembered_and_forgotten(goalmem: Goalmem, tmp_path: Path) -> None:
    """Forgetting shows first what would go; only its token, for just that, deletes it."""
    assert goalmem("ingest", str(SAMPLES / "momoco.json"), "--quiet").code == 0

    async def use(client: Client) -> None:
        assert "keep_goal" in {tool.name for tool in (await client.list_tools()).tools}
        assert "nothing to remember" in await failed(client, "remember", text="\n")
        kept = await structured(client, "remember", text="I moved to Leeds.\nTwice.", speaker="Quentin")
        assert (kept["conversation"], kept["speaker"]) == ("goalmem", "Quentin")
        found = (await structured(client, "search", query="Leeds", conversation=[], speaker=["Quentin"]))["hits"][0]
        assert (found["text"], found["turns"]) == ("I moved to Leeds. Twice.", [kept["turn"]])
        assert "no turns are named" in await failed(client, "forget")
        shown = await structured(client, "forget", speaker=["Quentin"])
        assert (shown["is_done"], shown["turns"]) == (False, 1)
        assert [turn["text"] for turn in shown["first_turns"]] == ["I moved to Leeds. Twice."]
        assert "not for what" in await failed(client, "forget", speaker=["Ben"], token=shown["token"])
        again = await structured(client, "forget", speaker=["Quentin"])
        assert "not for what would be deleted" in await failed(
            client, "forget", speaker=["Quentin"], token=kept["turn"]
        )
        await structured(client, "remember", text="I like tea.", speaker="Quentin")
        assert "not for what" in await failed(client, "forget", speaker=["Quentin"], token=again["token"])
        stale = await structured(client, "forget", speaker=["Quentin"])
        there = await anyio.to_thread.run_sync(partial(goalmem, "forget", "--speaker", "Quentin", "--yes"))
        assert there.code == 0
        for text in ("It rains.", "It snows."):  # as many as were shown, but others
            await structured(client, "remember", text=text, speaker="Quentin")
        assert "not for what" in await failed(client, "forget", speaker=["Quentin"], token=stale["token"])
        last = await structured(client, "forget", speaker=["Quentin"])
        assert (await structured(client, "forget", speaker=["Quentin"], token=last["token"]))["is_done"]
        assert "Quentin" in await failed(client, "search", query="Leeds", speaker=["Quentin"])

    with_client(tmp_path / "store", use, "--write")


def test_lines_that_are_no_messages_do_no_harm(store: Path) -> None:
    """Whatever comes in, stdout has messages of the protocol only, and the end of input ends the server with 0."""
    start = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}},
    }  # fmt: skip
    lines = [
        b"no json",
        b"{}",
        b"[1]",
        b"\xff\xfe",
        b"{" * 5000,
        json.dumps(start).encode(),
        b'{"jsonrpc": "2.0", "id": 2}',
    ]
    command = [sys.executable, "-m", "goalmem_cli", "mcp", "--store", str(store)]
    done = subprocess.run(command, input=b"\n".join(lines) + b"\n", capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [reply["result"]["serverInfo"]["name"] for reply in replies if reply.get("id") == 1] == ["goalmem"]


def test_without_the_extra_it_is_named(goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says what to install."""
    monkeypatch.delitem(sys.modules, "goalmem_cli.cli.serving.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    outcome = goalmem("mcp")
    assert outcome.code == 4
    assert "goalmem[mcp]" in outcome.error_lines[1]
