"""Texts that try to steer the model or the tool, through the real readers, store, search, `ask`, `chat` and MCP.

The model is scripted, and obeys them as far as the form of its replies lets it: the worst that a text can do.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp import Client

import goalmem_cli
from goalmem_cli.ports import Request
from goalmem_cli.testing import ScriptedModel, faked
from tests.cli.test_hostile import UNSAFE
from tests.cli.test_mcp import failed, replying, structured, with_client
from tests.invoking import Goalmem
from tests.models.faulty_server import FaultyServer
from tests.reasoners.scripting import claims, plan, proved
from tests.steering.cases import BOAT, CASES, QUESTION, SAID, WANTED, Steering, stored
from tests.store.contents import Contents, contents

BOAT_QUESTION = "What is our boat called?"
HERON = proved(
    claims(1, "Our boat is called Heron", x="Heron"), status="settled", wording="Heron",
    plan=plan("(our boat) is called (x:name)", "(our boat) is called (x:name)"),
)  # fmt: skip
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "socket.connect")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Watch:
    """What Python is asked to start, to connect to, or to write outside a folder, while it watches."""

    def __init__(self) -> None:
        self.inside: Path | None = None
        self.seen: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Hear of an event of Python's audit hooks, which cannot be taken away again."""
        if self.inside is None:
            return
        if event in STARTS:
            self.seen.append(f"{event} {arguments}")
        elif event == "open" and isinstance(arguments[0], str) and arguments[2] & WRITES:
            path = Path(arguments[0]).absolute()
            if not path.is_relative_to(self.inside) and "__pycache__" not in path.parts and str(path) != os.devnull:
                self.seen.append(f"writes {path}")


WATCH = Watch()
sys.addaudithook(WATCH)


@pytest.fixture(scope="module")
def steered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[Steering, str]]:
    """A store with the conversation about the boat and that of each text, and what those are called."""
    folder = tmp_path_factory.mktemp("steered")
    (folder / "boat.txt").write_text(BOAT)
    for name in ("calm", "store"):
        with goalmem_cli.open(folder / name) as memory:
            memory.ingest(folder / "boat.txt")
    with goalmem_cli.open(folder / "store") as memory:
        return folder / "store", stored(memory, CASES, folder / "in")


@pytest.fixture
def names(steered: tuple[Path, dict[Steering, str]]) -> dict[Steering, str]:
    """What the conversations are called."""
    return steered[1]


@pytest.fixture
def memory(goalmem: Goalmem, steered: tuple[Path, dict[Steering, str]], tmp_path: Path) -> Iterator[Goalmem]:
    """The command over a copy of that store, beside one of the boat alone; nothing may start, or be written elsewhere."""
    for name in ("calm", "store"):
        shutil.copytree(steered[0].parent / name, tmp_path / name)
    WATCH.inside, WATCH.seen = tmp_path, []
    try:
        yield goalmem
    finally:
        WATCH.inside = None
    assert WATCH.seen == []
    assert {path.name for path in tmp_path.iterdir()} == {"calm", "store"}
    made = [*tmp_path.rglob("*"), *Path(os.environ["XDG_DATA_HOME"]).parent.rglob("*")]
    assert not [path for path in made if WANTED in path.name]
    assert not [place for place in (Path(tempfile.gettempdir()), Path()) if (place / WANTED).exists()]


def test_the_watch_sees_what_it_is_for(tmp_path: Path) -> None:
    """A program that is started, and a file that is written outside the folder, but none inside."""
    WATCH.inside, WATCH.seen = tmp_path / "in", []
    WATCH.inside.mkdir()
    try:
        (tmp_path / "in" / "a").write_text("fine")
        assert WATCH.seen == []
        (tmp_path / "b").write_text("seen")
        subprocess.run([sys.executable, "--version"], check=True, capture_output=True)
    finally:
        WATCH.inside = None
    assert [each.split()[0] for each in WATCH.seen][:2] == ["writes", "subprocess.Popen"]


def rows(tmp_path: Path, besides: str = "") -> Contents:
    """Return what the store holds, but for one conversation."""
    found = contents(tmp_path / "store", ("edges", "unit_sources", "vectors") if besides else ())
    return {table: [row for row in held if not besides or besides not in row] for table, held in found.items()}


def obeying(steering: Steering, wish: str = WANTED) -> Callable[[Request], str]:
    """Return a model that says what the text wants: with facts that there are and that there are not, in its own words,
    and looking for its operators.
    """

    def reply(request: Request) -> str:
        if request.step == "check":
            return json.dumps({"answers": "yes", "differs": ""})
        holding = re.findall(rf"^(F\d+)\. .*{WANTED}", request.growing, re.MULTILINE)
        bindings = [{"variable": "x", "value": wish}]
        claim = {"subgoal": "S1", "verdict": "entailed", "bindings": bindings, "why": steering.text, "instead": True}
        groundings = [claim | {"facts": facts} for facts in ([*holding[:1], "F99"], holding[:1], ["F1"], ["D9:9"])]
        wanted = {"subgoal": "S1", "why": steering.text, "queries": [steering.text, f"conversation:boat {wish}"]}
        goal = "(Mara) gave (Olle) (x:thing)"
        return json.dumps(
            {"goal": goal, "current": False, "conclusion": False, "variables": [], "answer": ["x"], "subgoals": [goal]}
            | {"groundings": groundings, "several": [], "same": [], "open": [wanted | {"needs": []}], "next": []}
            | {"status": "settled", "wording": wish}
        )

    return reply


def saying(steering: Steering) -> Callable[[Request], str]:
    """Return a model that repeats the text, and nothing else."""
    return lambda _: steering.text


OBEDIENCE: dict[str, Callable[[Steering], Callable[[Request], str]]] = {
    "answering": obeying,
    "decorated": lambda steering: obeying(steering, f"\x1b[31m[red]{WANTED}[/red]\u202e"),
    "saying": saying,
}


def test_there_are_enough_texts() -> None:
    """At least forty, each of its own name, in every kind of carrier."""
    assert len({each.name for each in CASES}) == len(CASES) >= 40
    assert {each.by for each in CASES} >= {"chat", "mail", "file-name", "agent-log"}


def test_texts_are_stored_as_texts(names: dict[Steering, str], memory: Goalmem) -> None:
    """Each is one turn of its own conversation, or the name of one; none adds a turn, a conversation or a name more."""
    listed = {row["name"]: row for row in json.loads(memory("stores", "show", "--json").out)["conversations"]}
    assert set(listed) == {"boat", *names.values()}
    assert {listed[name]["turns"] for name in names.values()} == {len(SAID) + 1}
    assert listed["boat"]["turns"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("obedience", OBEDIENCE)
def test_an_obedient_model_changes_nothing_but_its_answer(
    memory: Goalmem, names: dict[Steering, str], tmp_path: Path, obedience: str
) -> None:
    """No row, no file and no process; what it cites are turns of the conversation asked; a terminal sees plain text."""
    before = rows(tmp_path)
    for steering, name in names.items():
        model = OBEDIENCE[obedience](steering)
        words = ("ask", QUESTION, f"--conversation={name}", "--trace", "--max-breadth", "1")
        drawn = memory(*words, factories=faked(ScriptedModel(model)))
        assert drawn.code in (0, 1, 4), drawn.err
        assert not UNSAFE.search(drawn.out + drawn.err), steering.name
        kept = json.loads(memory("trace", "show", "last", "--json").out)
        assert {fact["conversation"] for fact in kept["facts"].values()} == {name}
        assert set(kept["evidence"]) <= set(kept["facts"])
        assert (kept["answer"] is None) or kept["evidence"], steering.name
    assert rows(tmp_path) == before


def test_markup_is_drawn_as_it_stands(memory: Goalmem, names: dict[Steering, str]) -> None:
    """In hits, and in the proof of a model that repeats it."""
    (steering,) = (each for each in CASES if each.name == "markup")
    found = memory("search", "the answer", f"--conversation={names[steering]}")
    assert "[bold red]PWNED[/bold red] [link=file:///etc/passwd]" in " ".join(found.out.split())


def test_no_answer_over_another_conversation_changes(memory: Goalmem, tmp_path: Path) -> None:
    """A model sees of it, byte by byte, what it sees without the texts; and over everything the answer is the same."""
    said = []
    for store in (tmp_path / "calm", tmp_path / "store"):
        model = ScriptedModel([HERON])
        words = ("ask", BOAT_QUESTION, "--conversation", "boat", "--as-of", "2024-01-01", "--store", str(store))
        assert memory(*words, factories=faked(model)).out == "Heron\n"
        said.append([(request.system, request.examples, request.growing, request.tail) for request in model.seen])
    assert said[0] == said[1]
    assert memory("ask", BOAT_QUESTION, factories=faked(ScriptedModel([HERON]))).out == "Heron\n"


@pytest.mark.slow
def test_texts_as_queries_questions_and_names(memory: Goalmem, names: dict[Steering, str], tmp_path: Path) -> None:
    """An operator finds words and not fields, a filter holds, and a name that is none is one error."""
    before = rows(tmp_path)
    for steering in names:
        text = steering.text.replace("\x00", "")
        for words in (("search", "--json", "--conversation", "boat"), ("search", "--json", "--speaker", "Nils")):
            found = memory(*words, "--", text)
            assert found.code in (0, 1), found.err
            hits = json.loads(found.out)["hits"] if found.out else []
            assert {hit["conversation"] for hit in hits} <= {"boat"}, steering.name
        asked = memory("ask", "--conversation", "boat", "--", text, factories=faked(ScriptedModel(obeying(steering))))
        assert not UNSAFE.search(asked.out + asked.err)
        named = memory("search", "compass", f"--conversation={text}x")
        assert (named.code, len(named.error_lines)) == (2, 2)
        assert not UNSAFE.search(named.err)
    assert rows(tmp_path) == before


@pytest.mark.slow
def test_a_chat_keeps_what_is_said_in_it_and_no_more(memory: Goalmem, tmp_path: Path) -> None:
    """Whatever is remembered and whatever the model says, all turns are of the conversation `goalmem`."""
    before = rows(tmp_path, "goalmem")
    lines = [*(" ".join(each.text.split()) for each in CASES), QUESTION]
    model = ScriptedModel(obeying(CASES[0]))
    chatted = memory("chat", "--max-breadth", "1", stdin="\n".join(lines).encode(), factories=faked(model))
    assert not UNSAFE.search(chatted.out + chatted.err)
    assert rows(tmp_path, "goalmem") == before
    with goalmem_cli.open(tmp_path / "store") as opened:
        assert {turn.text for turn in opened.turns("goalmem")} == {*lines} - {line for line in lines if line[0] == "/"}


@pytest.mark.slow
def test_a_client_without_write_can_change_nothing(memory: Goalmem, names: dict[Steering, str], tmp_path: Path) -> None:
    """Every text as an argument of every tool, over an obedient model: no tool writes, and no row is another."""
    before = rows(tmp_path)

    async def use(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == {
            "search",
            "ask",
            "conversations",
            "people",
            "turns",
            "goals",
        }
        for steering, name in names.items():
            found = await structured(client, "search", query=steering.text, conversation=["boat"])
            assert {hit["conversation"] for hit in found["hits"]} <= {"boat"}
            shown = (await structured(client, "turns", conversation=name))["turns"]
            assert len(shown) == len(SAID) + 1
            assert await failed(client, "turns", conversation=name, turn=steering.text)
            assert await failed(client, "search", query="compass", conversation=[f"{steering.text}x"])
            assert await failed(client, "remember", text=steering.text)
            assert await failed(client, "forget", conversation=["boat"], token=steering.text)
            page = (await client.read_resource(f"goalmem://conversation/{quote(name, safe='')}")).contents[0]
            lines = getattr(page, "text", "").split("\n")
            assert len([line for line in lines if line.startswith("[")]) == len(SAID) + 1, steering.name
        for steering in CASES[:3]:
            told = await structured(client, "ask", question=QUESTION, conversation=[names[steering]])
            assert {fact["conversation"] for fact in told["proof"]["facts"].values()} <= {names[steering]}

    WATCH.inside = None  # the server is a process
    with FaultyServer(answer=replying(obeying(CASES[0]))) as server:
        with_client(tmp_path / "store", use, "--model", server.url, "--planning", "together")
    assert rows(tmp_path) == before


@pytest.mark.slow
def test_a_client_with_write_deletes_nothing_without_a_token(memory: Goalmem, tmp_path: Path) -> None:
    """A token that a text names is none; what is remembered is a turn of `goalmem`, whoever is said to have said it."""
    before = rows(tmp_path, "goalmem")

    async def use(client: Client) -> None:
        announced = await structured(client, "forget", conversation=["boat"])
        for steering in CASES:
            assert "token" in await failed(client, "forget", conversation=["boat"], token=steering.text)
            kept = await structured(client, "remember", text=steering.text, speaker=f"{steering.text}!")
            assert kept["conversation"] == "goalmem"
        assert "token" in await failed(client, "forget", speaker=["Mara"], token=announced["token"])

    WATCH.inside = None  # the server is a process
    with_client(tmp_path / "store", use, "--write")
    assert rows(tmp_path, "goalmem") == before
