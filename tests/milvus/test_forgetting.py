"""What was forgotten leaves the files of an embedded database, whatever stops the command."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pymilvus import MilvusClient

from goalmem_cli.addresses import MilvusAddress
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.milvus import embedded
from goalmem_cli.milvus.milvus_memory import MilvusMemory
from goalmem_cli.records import Query, Turn
from goalmem_cli.store.files import unwatched
from goalmem_cli.testing import HashEmbedder
from tests.milvus.conftest import Opens
from tests.milvus.test_interrupted import Stopped, kill_in, stopping_at
from tests.store.killing import trace_about

CODE = "The alarm code is marmalade."
NORA = [Turn("nora", 0, at, "Nora", text) for at, text in enumerate(("Where are you?", CODE, "Good night."))]
BEN = [Turn("ben", 0, at, "Ben", f"Ben counts sheep number {at}.") for at in range(4)]


def contents(folder: Path) -> str:
    """Return the bytes of all files below, with those of compressed columns as they are once unpacked."""
    embedded.close_embedded()
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.append(path.read_bytes().decode("latin-1"))
        if path.suffix == ".parquet":
            found.append(str(pq.read_table(path).to_pylist()))
        if path.suffix == ".arrow":
            with pa.OSFile(str(path)) as file:
                found.append(str(pa.ipc.open_stream(file).read_all().to_pylist()))
    return "\n".join(found)


def holds(folder: Path) -> bool:
    """Return whether a file below holds a word of the secret, as it was said or as it is searched for."""
    return "marmalad" in contents(folder)


def opened(folder: Path, written: Callable[[str], None] = unwatched) -> MilvusMemory:
    """Return the memory in that folder."""
    address = MilvusAddress(path=folder / "database")
    return MilvusMemory(address, folder / "beside", HashEmbedder(), announce=print, written=written)


def require_the_rest(memory: MilvusMemory) -> None:
    """Require all that was not forgotten, to be read and found, and nothing of the secret."""
    assert memory.turns(["ben"]) == BEN
    assert [turn.text for turn in memory.turns(["nora"])] == [NORA[0].text, NORA[2].text]
    with memory.reading() as reader:
        assert reader.rank(Query("marmalade"), (Ranking.BM25,), 9)[Ranking.BM25] == []
        assert len(reader.rank(Query("sheep"), (Ranking.BM25,), 9)[Ranking.BM25]) == len(BEN)


def only_the_secret(memory: MilvusMemory) -> Selection:
    """Return what selects the turn with the secret."""
    keys = frozenset(turn.content_key for turn in memory.turns(["nora"]) if turn.text == CODE)
    return Selection(("nora",), content_keys=keys)


def test_no_byte_of_what_was_forgotten_stays(memory: Opens, tmp_path: Path) -> None:
    """Neither of one turn nor of a whole conversation, in no file of the engine or beside it; the rest stays."""
    memory().add_turns([*NORA, *BEN])
    memory()._kept.traces.save(trace_about(NORA[1], "What is the code?"))
    assert holds(tmp_path)
    memory().forget(only_the_secret(memory()))
    assert not holds(tmp_path)
    require_the_rest(memory())
    assert memory().verify() == []
    memory().forget(Selection(("nora",)))
    held = contents(tmp_path)
    assert "nora" not in held
    assert "Good night" not in held
    assert memory().turns() == BEN
    assert [added.new_turns for added in memory().add_turns(NORA)] == [len(NORA)]


def test_others_collections_stay_when_something_is_forgotten(memory: Opens, tmp_path: Path) -> None:
    """What somebody else keeps in the same database is as it was."""
    memory().add_turns([*NORA, *BEN])
    with embedded.used(tmp_path / "database", print, 5) as uri:
        client = MilvusClient(uri)
        client.create_collection("theirs_new", dimension=4)
        client.insert("theirs_new", [{"id": 1, "vector": [0.0, 0.0, 0.0, 1.0]}])
        client.close()
    memory().forget(only_the_secret(memory()))
    with embedded.used(tmp_path / "database", print, 5) as uri:
        client = MilvusClient(uri)
        client.load_collection("theirs_new")
        assert client.query("theirs_new", filter="id >= 0", output_fields=["id"]) == [{"id": 1}]
        client.close()


@pytest.mark.slow
def test_wherever_a_forgetting_stops_the_next_write_ends_it(memory: Opens, tmp_path: Path) -> None:
    """At every step the memory is whole, with the turn or without; afterwards no byte of it is in any file."""
    step = 0
    while True:
        memory().add_turns([*NORA, *BEN])
        try:
            memory(stopping_at(step)).forget(only_the_secret(memory()))
        except Stopped:
            embedded.close_embedded()
            if CODE in [turn.text for turn in memory().turns(["nora"])]:
                assert memory().turns(["nora"]) == NORA
                memory().forget(only_the_secret(memory()))
            else:
                memory().add_turns(BEN)
            assert not holds(tmp_path)
            require_the_rest(memory())
            memory().forget(Selection(("nora",)))
        else:
            break
        step += 1
    assert step > 15
    assert not holds(tmp_path)
    require_the_rest(memory())
    assert memory().verify() == []


def test_a_trace_that_is_saved_while_rows_go_is_forgotten(tmp_path: Path) -> None:
    """A question may have been answered from the turn just before."""

    def written(what: str) -> None:
        if what == "conversations published":
            opened(tmp_path)._kept.traces.save(trace_about(NORA[1], "What is the code?"))

    opened(tmp_path).add_turns([*NORA, *BEN])
    memory = opened(tmp_path, written)
    memory.forget(only_the_secret(memory))
    assert memory._kept.traces.ids() == []


def killed_at(folder: Path, step: str) -> None:
    """Be the process that is killed at that step of forgetting the secret."""

    def written(what: str) -> None:
        if what == step:
            os.kill(os.getpid(), signal.SIGKILL)

    opened(folder).add_turns([*NORA, *BEN])
    opened(folder, written).forget(only_the_secret(opened(folder)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [
        "what was replaced is deleted", "goalmem_said copied", "goalmem_meta copied",
        "goalmem_conversations, under another name", "goalmem_units replaced", "goalmem_meta, under another name",
        "goalmem_meta replaced", "old collections deleted",
    ],
)  # fmt: skip
def test_a_killed_forgetting_leaves_no_byte_once_somebody_wrote(memory: Opens, tmp_path: Path, step: str) -> None:
    """Whoever only reads finds the rest of the memory whole."""
    kill_in(killed_at, tmp_path, step)
    require_the_rest(memory())
    memory().add_turns(BEN)
    assert not holds(tmp_path)
    require_the_rest(memory())
    assert memory().verify() == []
