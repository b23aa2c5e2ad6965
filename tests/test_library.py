"""`import goalmem_cli`: a program does what the commands do, over a real store, tantivy and the static embedder."""

import json
import logging
import os
import re
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, get_type_hints
from zipfile import ZipFile

import pytest

import goalmem_cli
from goalmem_cli.config import KEYS, Settings
from goalmem_cli.errors import StoreError, UsageError
from goalmem_cli.guide import page
from goalmem_cli.library.hearing import Unattended
from goalmem_cli.library.ingesting import Told, read_all
from goalmem_cli.library.memory import Words
from goalmem_cli.ports import Request
from goalmem_cli.render.tables import hits_document
from goalmem_cli.stages import OPENING
from goalmem_cli.testing import ScriptedModel, faked
from goalmem_cli.trace import as_document
from goalmem_cli.transcripts import Order, Place
from goalmem_cli.wiring import Factories, LoadedModel
from tests.cli.test_ask import PROOF, QUESTION, proving
from tests.conftest import CHECKOUT, SAMPLES
from tests.invoking import Goalmem

EXAMPLES = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OPEN_CHAT = "5/3/23, 21:15 - Ana: hi\n5/3/23, 21:16 - Ben: ho\n"


@pytest.fixture
def filled(momoco: Goalmem) -> Goalmem:
    """The command over a store with the Momoco conversation, and another of that time in which a Ben has a say."""
    with goalmem_cli.open(Path(os.environ["GOALMEM_STORE"])) as memory:
        talk = ("[2023-05-21, 10:00:00] Ben: A latte, please.", "[2023-05-21, 10:01:00] Ana: Here is the Kyoto Latte.")
        file = memory.kept.path.parent / "WhatsApp Chat - Ana.txt"
        file.write_text("\n".join(talk), "utf-8")
        assert memory.ingest(file)[0].new_turns == 2
    return momoco


def replying() -> Factories:
    """Return a model that proves the question about Momoco, and divides no session."""

    def reply(request: Request) -> str:
        return PROOF(request) if request.step == "plan_and_prove" else json.dumps({"starts": ["0"]})

    return faked(ScriptedModel(reply))


def test_the_manual_s_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands on the page, with a model that replies what the test says; it prints what it is to print."""
    (tmp_path / "sample_convos").mkdir()
    for name in ("momoco.json", "work-02.json"):  # enough, and soon indexed
        (tmp_path / "sample_convos" / name).symlink_to(SAMPLES / name)
    monkeypatch.chdir(tmp_path)
    code = "\n".join(EXAMPLES.findall(page("library").text))
    code, count = re.subn(r'open\("my-memory"\)', 'open("my-memory", factories=replying())', code)
    assert count == 2
    exec(compile(code, "library.md", "exec"), {"replying": replying})  # noqa: S102 - it is our own page
    said = capsys.readouterr().out.splitlines()
    assert "answered Kyoto Latte None" in said
    assert "goalmem 1 ['Alice']" in said
    assert QUESTION in said
    assert said[-2].isdecimal() and int(said[-2]) > 0  # what forgetting would delete
    assert said[-1].startswith("failed ")
    with goalmem_cli.open("my-memory") as memory:
        assert memory.stats().units["segment"] > 0
        assert "momoco-01" not in {each.name for each in memory.conversations()}
        assert [hit.unit.text for hit in memory.search("Leeds", 1)] == ["I moved to Leeds in May."]


def test_the_page_has_every_method() -> None:
    """Whatever a memory offers is named there."""
    offered = [name for name in vars(goalmem_cli.Memory) if not name.startswith("_") and name != "kept"]
    text = page("library").text
    assert [name for name in offered if not re.search(rf"\b{name}\b", text)] == []
    assert text.count("\n") <= 120


def test_a_search_is_the_command_s(filled: Goalmem, tmp_path: Path) -> None:
    """The same hits with the same scores and ranks, with every filter; and each filter has its say in both."""
    flags = ("--conversation", "momoco-01", "--speaker", "Ben", "--since", "2023-05-10", "--until", "2023-05-30")
    filters: dict[str, Any] = {
        "conversations": ["Momoco-01"],
        "speakers": ["ben"],
        "since": datetime(2023, 5, 10),
        "until": datetime(2023, 5, 30, 23, 59, 59, 999_999),
    }
    with goalmem_cli.open(tmp_path / "store") as memory:
        found = hits_document(memory.search("Kyoto Latte", 50, **filters))
        assert found == told(filled, *flags) != []
        for place, name in enumerate(filters):
            fewer = (*flags[: 2 * place], *flags[2 * place + 2 :])
            others = {key: value for key, value in filters.items() if key != name}
            without = hits_document(memory.search("Kyoto Latte", 50, **others))
            assert without == told(filled, *fewer) != found, name


def told(goalmem: Goalmem, *flags: str) -> object:
    """Return the hits that the command finds with these filters."""
    return json.loads(goalmem("search", "Kyoto Latte", "-k", "50", *flags, "--json").out)["hits"]


def test_an_answer_is_the_command_s(momoco: Goalmem, tmp_path: Path) -> None:
    """The same trace, but for when it was asked and how long it took; both are saved, each under its id."""
    said = json.loads(momoco("ask", QUESTION, "--json", factories=proving()).out)
    with goalmem_cli.open(tmp_path / "store", certainty=0, factories=proving()) as memory:
        trace = memory.ask(QUESTION)
        first, last = memory.traces()
        assert memory.last_trace == last
        assert memory.trace(last) == trace
    assert comparable(as_document(memory.trace(first))) == comparable(said)
    assert comparable(as_document(trace)) == comparable(said)
    assert json.loads(momoco("trace", "show", last, "--json").out) == json.loads(json.dumps(as_document(trace)))


def comparable(document: dict[str, object]) -> object:
    """Return a trace as JSON without times, costs, and when the store was opened, which no two runs share."""
    kept = json.loads(json.dumps({name: value for name, value in document.items() if name not in ("asked", "usage")}))
    kept["stages"] = [stage for stage in kept["stages"] if stage["name"] != OPENING]
    return re.sub(r'"seconds": [\d.e-]+', "", json.dumps(kept))


def test_files_are_read_as_by_the_command(goalmem: Goalmem, tmp_path: Path) -> None:
    """The same counts in the same order; what cannot be read has its error, and the rest is stored."""
    broken, absent = tmp_path / "broken.json", tmp_path / "absent.json"
    broken.write_text("{", "utf-8")
    said = json.loads(goalmem("ingest", str(SAMPLES), str(broken), str(absent), "--json").out)
    with goalmem_cli.open(tmp_path / "other") as memory:
        done = memory.ingest(SAMPLES, broken, absent)
        again = memory.ingest(SAMPLES)
    keys = ("path", "format", "conversations", "turns", "new_turns")
    assert [{key: getattr(file, key) for key in keys} for file in done if file.error is None] == said["files"]
    refused = [file.error for file in done if file.error is not None]
    assert [(error.path, error.reason) for error in refused] == [(row["path"], row["reason"]) for row in said["failed"]]
    assert {file.path for file in done if file.error} == {str(broken), str(absent)}
    assert {file.new_turns for file in again} == {0}


def test_nothing_is_stored_by_a_dry_reading(tmp_path: Path) -> None:
    """What would be new is counted, and there is no store afterwards."""
    with goalmem_cli.open(tmp_path / "store") as memory:
        (file,) = memory.ingest(SAMPLES / "momoco.json", is_dry=True)
        assert file.new_turns == file.turns > 0
        with pytest.raises(StoreError):
            memory.stats()


def test_dates_that_are_open_are_settled_by_the_order(tmp_path: Path) -> None:
    """Without it the file is refused; standard input is whose the program is."""
    chat = tmp_path / "Chat with Ana.txt"
    chat.write_text(OPEN_CHAT, "utf-8")
    with goalmem_cli.open(tmp_path / "store") as memory:
        refused = {file.path: str(file.error) for file in memory.ingest(chat, "-")}
        assert "with the day or with the month" in refused[str(chat)]
        assert "only the command reads standard input" in refused["-"]
        (file,) = memory.ingest(chat, order=Order.MONTH_FIRST)
        assert memory.turns("Chat with Ana")[0].said == datetime(2023, 5, 3, 21, 15)
        assert file.new_turns == 2


class _Knows(Unattended):
    """Says the day first of every file that leaves it open."""

    def order_of(self, place: Place, example: str, otherwise: Order) -> Order | None:
        """Know it."""
        return Order.DAY_FIRST


def test_what_is_said_of_a_zip_s_dates_counts(tmp_path: Path) -> None:
    """A chat inside a zip is read in the order that was answered, like one beside it."""
    file = tmp_path / "chat.zip"
    with ZipFile(file, "w") as archive:
        archive.writestr("_chat.txt", OPEN_CHAT)
    with goalmem_cli.open(tmp_path / "store") as memory:
        (done,) = read_all([file], (), memory.kept, Told(), _Knows(_Lines()), is_dry=False)
        assert (done.new_turns, done.error) == (2, None)
        (name,) = (each.name for each in memory.conversations())
        assert memory.turns(name)[0].said == datetime(2023, 3, 5, 21, 15)


class _Lines:
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def note(self, text: str) -> None:
        """Keep it."""
        self.notes.append(text)

    def detail(self, text: str) -> None:
        """Pass over it."""

    def warn(self, text: str) -> None:
        """Keep it."""
        self.warnings.append(text)


def test_what_is_left_out_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """To the listener, else to `logging`: turns without a time, and files that cannot be read."""
    heard = _Lines()
    timeless = tmp_path / "timeless.json"
    said = ("The kiln is in the shed.", "I will fetch the kiln.")
    timeless.write_text(json.dumps([{"role": "user", "content": text} for text in said]), "utf-8")
    with goalmem_cli.open(tmp_path / "store", listener=heard) as memory:
        memory.ingest(timeless, tmp_path / "absent")
        assert memory.search("kiln", since=datetime(2020, 1, 1)) == []
        assert memory.retrieve("kiln", until=datetime(2020, 1, 1)).left_out == 2
    assert heard.notes[-1] == "2 turns without a time left out by the time filter"
    assert heard.warnings == [f"{tmp_path / 'absent'}: no such file or folder"]
    with caplog.at_level(logging.INFO, "goalmem_cli"):
        goalmem_cli.open(tmp_path / "store").search("kiln", since=datetime(2020, 1, 1))
    assert caplog.messages == heard.notes[-1:]


def test_errors_name_what_a_program_wrote(momoco: Goalmem, tmp_path: Path) -> None:
    """The keyword, as the command's errors name the flag."""
    memory = goalmem_cli.open(tmp_path / "store")
    for call, named, flag in (
        (lambda: memory.search("tea", speakers=["Zoe"]), "speakers", ("search", "tea", "--speaker", "Zoe")),
        (lambda: memory.ask("Why?", asker="Zoe"), "asker", ("ask", "Why?", "--asker", "Zoe")),
        (lambda: memory.turns("zoe"), "conversations", ("search", "tea", "--conversation", "zoe")),
    ):
        with pytest.raises(UsageError) as raised:
            call()
        flagged = momoco(*flag).error_lines[0]
        assert raised.value.message.startswith(f"{named}: there is no")
        assert flagged.startswith(f"{flag[2]}: ")
        assert flagged.split(": ", 1)[1] == raised.value.message.split(": ", 1)[1]
    for empty in (memory.search, memory.ask, memory.remember):
        with pytest.raises(UsageError):
            empty(" ")
    with pytest.raises(UsageError):
        memory.forget()


def test_an_empty_list_widens_to_nothing(momoco: Goalmem, tmp_path: Path) -> None:
    """None alone restricts nothing: an empty list finds nothing and forgets nothing, and a text is no list of names."""
    factories = faked(ScriptedModel(["Nobody knows."] * 9))
    with goalmem_cli.open(tmp_path / "store", factories=factories) as memory:
        turns = memory.stats().turns
        nothing: list[str] = []
        assert memory.search("matcha", conversations=nothing) == memory.search("matcha", speakers=nothing) == []
        assert memory.retrieve("matcha", speakers=nothing, since=datetime(2020, 1, 1)).left_out == 0
        assert memory.ask(QUESTION, conversations=nothing).facts == {}
        widest = datetime(2100, 1, 1)
        for conversations, speakers in ((nothing, None), (None, nothing), ("momoco-01", nothing)):
            with pytest.raises(UsageError, match="names nothing to forget"):
                memory.forget(conversations, speakers=speakers, before=widest)
        with pytest.raises(UsageError, match=r"conversations: .* is no list of names"):
            memory.search("matcha", conversations="momoco-01")
        with pytest.raises(UsageError, match=r"conversations: .* is no list of names"):
            memory.ask(QUESTION, conversations="momoco-01")
        with pytest.raises(UsageError, match=r"speakers: .* is no list of names") as raised:
            memory.forget(speakers="Ben")
        assert "give a list" in raised.value.hint
        assert memory.stats().turns == turns == memory.forget(["momoco-01"], is_dry=True).turns


@pytest.mark.parametrize("k", [0, -1])
def test_no_hit_can_be_asked_for(momoco: Goalmem, tmp_path: Path, k: int) -> None:
    """It takes one at least."""
    with pytest.raises(UsageError, match=f"k: {k} is below 1"):
        goalmem_cli.open(tmp_path / "store").search("matcha", k)


@pytest.mark.parametrize("columns", [{"tyme": "x"}, {"text": ""}])
def test_columns_that_no_table_has_are_refused(tmp_path: Path, columns: dict[str, str]) -> None:
    """They are not passed over in silence, even where no table is read."""
    with pytest.raises(UsageError, match=r"columns: .* is not understood"):
        goalmem_cli.open(tmp_path / "store").ingest(SAMPLES / "momoco.json", columns=columns)


def test_what_another_file_tells_too_is_named(tmp_path: Path) -> None:
    """As the command names it: a conversation is kept as new beside one that begins as it does."""
    said = [{"role": "user", "content": f"I have {number} cats."} for number in range(3)]
    for name, turns in (("first", said[:2]), ("second", said)):
        (tmp_path / f"{name}.json").write_text(json.dumps(turns), "utf-8")
    with goalmem_cli.open(tmp_path / "store") as memory:
        (first,) = memory.ingest(tmp_path / "first.json")
        (second,) = memory.ingest(tmp_path / "second.json")
    assert (first.beside, second.beside) == ((), ("first",))


def test_only_what_is_given_counts_unless_the_settings_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the store's file nor a variable; with `reads_settings` both, below the keywords."""
    store = tmp_path / "store"
    store.mkdir()
    (store / "goalmem.yaml").write_text("backbone: none-such\n", "utf-8")
    goalmem_cli.open(store).ingest(SAMPLES / "momoco.json")
    assert goalmem_cli.open(store).search("matcha", 1)
    with pytest.raises(UsageError, match="none-such"):
        goalmem_cli.open(store, reads_settings=True).search("matcha", 1)
    monkeypatch.setenv("GOALMEM_BACKBONE", "another")
    with pytest.raises(UsageError, match="another"):
        goalmem_cli.open(store, reads_settings=True).search("matcha", 1)
    assert goalmem_cli.open(store, reads_settings=True, backbone="bm25").search("matcha", 1)


def test_settings_are_checked_and_all_can_be_given(tmp_path: Path) -> None:
    """The keywords are the settings, and a wrong value is named."""
    assert set(get_type_hints(Words)) == set(KEYS) - {"store"}
    with pytest.raises(UsageError, match=r"goalmem_cli\.open: 'certainty' is above 100"):
        goalmem_cli.open(tmp_path, certainty=101)
    with pytest.raises(UsageError, match="unknown key 'colour'"):
        goalmem_cli.open(tmp_path, colour="red")  # type: ignore[call-arg]


def test_what_was_exported_is_read_back(momoco: Goalmem, tmp_path: Path) -> None:
    """Into an equal memory, as `stats` says; forgetting leaves nothing of it."""
    with goalmem_cli.open(tmp_path / "store") as memory, goalmem_cli.open(tmp_path / "copy") as copy:
        assert memory.export(tmp_path / "all.jsonl") > memory.stats().turns
        copy.ingest(tmp_path / "all.jsonl")
        assert copy.turns("momoco-01") == memory.turns("momoco-01")
        assert copy.forget("momoco-01", is_dry=True).turns == copy.stats().turns
        assert copy.forget("momoco-01").turns == memory.stats().turns
        assert copy.conversations() == []


def test_the_model_is_loaded_at_the_first_question_and_given_back(tmp_path: Path) -> None:
    """Neither opening, reading nor searching loads one."""
    happened: list[str] = []

    def load(settings: Settings) -> LoadedModel:
        happened.append("loaded")
        loaded = proving().model(settings)
        return replace(loaded, close=lambda: happened.append("closed"))

    with goalmem_cli.open(tmp_path / "store", certainty=0, factories=Factories(model=load)) as memory:
        memory.ingest(SAMPLES / "momoco.json")
        memory.search("matcha")
        assert happened == []
        assert memory.ask(QUESTION).answer == "Kyoto Latte"
        assert happened == ["loaded"]
    assert happened == ["loaded", "closed"]


def test_importing_the_package_loads_nothing() -> None:
    """The library comes when it is asked for; what it does not have is an error as in any module."""
    probe = (
        "import sys, goalmem_cli\n"
        "print(*sorted(name for name in sys.modules if name.startswith(('goalmem_cli', 'numpy', 'duckdb'))))\n"
        "goalmem_cli.open, goalmem_cli.Memory\n"
        "print('goalmem_cli.library.memory' in sys.modules, 'duckdb' in sys.modules, hasattr(goalmem_cli, 'ask'))\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["goalmem_cli", "True False False"]
