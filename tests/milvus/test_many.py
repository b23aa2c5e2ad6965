"""Many processes write to one server at once, and others read meanwhile."""

import multiprocessing
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from goalmem_cli.addresses import parse_address
from goalmem_cli.memory_records import Ranking
from goalmem_cli.milvus.milvus_memory import MilvusMemory
from goalmem_cli.records import Conversation, Query, Turn
from goalmem_cli.testing import HashEmbedder

WRITERS, READERS, TURNS = 8, 4, 30
_PAUSE = 0.3  # so that those who read leave the server time for those who write


def said(name: str, count: int) -> Conversation:
    """Return a conversation of so many turns."""
    turns = tuple(Turn(name, 0, at, "Ann" if at % 2 else "Ben", f"{name} says word{at}") for at in range(count))
    return Conversation(name, "turns", turns, own_id=name)


def write(memory: MilvusMemory, number: int) -> None:
    """Write what one writes alone, what two write, and what all write, and that grows."""
    for step in range(3):
        names = (f"own-{number}", TURNS), ("shared", TURNS + 10 * step), (f"pair-{number // 2}", TURNS)
        memory.add_all([said(name, count) for name, count in names])


def read(memory: MilvusMemory, until: Path) -> tuple[list[tuple[str, int]], int]:
    """Look until the file is there; return conversations that were seen in part, and how often it was looked."""
    wrong: list[tuple[str, int]] = []
    looks = 0
    while not until.exists() or not looks:
        time.sleep(_PAUSE)
        if not memory.exists:
            continue
        looks += 1
        with memory.reading() as reader:
            reader.rank(Query("says"), [Ranking.BM25, Ranking.DENSE], 2000)
        counts = Counter(turn.conversation for turn in memory.turns(["own-0", "own-5", "pair-1", "shared"]))
        wrong += [(name, count) for name, count in counts.items() if count not in (TURNS, TURNS + 10, TURNS + 20)]
    return wrong, looks


def work(address: str, folder: Path, role: str, number: int, told: Connection) -> None:
    """Be one of the processes."""
    memory = opened(address, folder)
    if role == "write":
        write(memory, number)
    else:
        told.send(read(memory, folder / "written"))
    memory.close()


def opened(address: str, folder: Path) -> MilvusMemory:
    """Return the memory on the server."""
    place = parse_address(address, "here")
    return MilvusMemory(place, folder / "beside", HashEmbedder(), announce=lambda _: None, patience=900)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A `milvus-lite server` of the test's own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "milvus_lite", "server", "--data-dir", str(tmp_path / "data"), "--host", "127.0.0.1",
        "--port", str(port),
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        yield f"milvus+http://127.0.0.1:{port}/default"
        server.kill()


@pytest.mark.slow
def test_eight_write_and_four_read(address: str, tmp_path: Path) -> None:
    """Nothing is lost and nothing is there twice, whoever writes what; readers see each conversation whole."""
    start = multiprocessing.get_context("forkserver")
    start.set_forkserver_preload([__name__])  # loads the libraries once, before the processes part

    def started(role: str, number: int) -> tuple[BaseProcess, Connection]:
        ours, theirs = start.Pipe(duplex=False)
        process = start.Process(target=work, args=(address, tmp_path, role, number, theirs))
        process.start()
        theirs.close()
        return process, ours

    readers = [started("read", number) for number in range(READERS)]
    writers = [started("write", number) for number in range(WRITERS)]
    for process, _ in writers:
        process.join()
    (tmp_path / "written").touch()
    for process, _ in readers:
        process.join()
    assert [process.exitcode for process, _ in (*writers, *readers)] == [0] * (WRITERS + READERS)
    looks = [told.recv() for _, told in readers]
    assert [wrong for wrong, _ in looks] == [[]] * READERS
    assert sum(count for _, count in looks) >= READERS
    memory = opened(address, tmp_path)
    held = {each.name: each.turns for each in memory.conversations()}
    expected = {f"own-{number}": TURNS for number in range(WRITERS)}
    expected |= {f"pair-{number}": TURNS for number in range(WRITERS // 2)}
    assert held == expected | {"shared": TURNS + 20}
    assert len(memory.turns()) == sum(held.values())
    assert memory.verify() == []
    memory.close()
