"""What a memory on a server does where the server does not do its part: a real engine with faults, over a real port."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from pymilvus import MilvusClient
from pymilvus.grpc_gen import common_pb2, milvus_pb2

from goalmem_cli.errors import EmbedderMismatch, StoreDamaged, StoreError, StoreNewer
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.milvus.schema import ID, Collection
from goalmem_cli.records import Query
from goalmem_cli.testing import HashEmbedder
from tests.milvus.conftest import Server
from tests.milvus.faulty import TURNS, afterwards, faultless, only, opened, refused, serving
from tests.milvus.test_interrupted import join, named, require_one_or_two, windows

AWAY = refused(grpc.StatusCode.UNAVAILABLE, "not just now")


def test_a_server_that_is_away_for_a_moment_is_asked_again(server: Server, tmp_path: Path) -> None:
    """Writing goes on where it was refused a few times, and nothing is there twice."""
    memory = opened(server.address, tmp_path)
    server.engine.fault = only(("Upsert", "Flush", "Query"), AWAY, times=3)
    memory.add_turns(TURNS)
    assert memory.turns() == list(TURNS)
    assert memory._kept.engine.count(Collection.UNITS, "") == len(TURNS)


def test_a_write_whose_answer_is_lost_is_done_once(server: Server, tmp_path: Path) -> None:
    """The rows were taken, the server hung up before it said so, and they are written again in place of themselves."""
    memory = opened(server.address, tmp_path)
    lost = 2

    def hung_up(name: str, method: Any, request: Any, context: Any) -> Any:
        nonlocal lost
        reply = method(request, context)
        if name == "Upsert" and lost:
            lost -= 1
            context.abort(grpc.StatusCode.UNAVAILABLE, "connection reset")
        return reply

    server.engine.fault = hung_up
    memory.add_turns(TURNS)
    assert not lost
    assert memory.turns() == list(TURNS)
    assert memory._kept.engine.count(Collection.UNITS, "") == len(TURNS)
    assert memory.verify() == []


def test_a_server_that_stays_away_is_an_error_in_time(server: Server, tmp_path: Path) -> None:
    """The tries are bounded, and the error names the address."""
    memory = opened(server.address, tmp_path, patience=0.3)
    memory.add_turns(TURNS[:1])
    server.engine.fault = only(("Upsert",), AWAY)
    began = time.monotonic()
    with pytest.raises(StoreError, match=r"milvus\+http://127\.0\.0\.1"):
        memory.add_turns(TURNS)
    assert time.monotonic() - began < 15
    assert memory.turns() == list(TURNS[:1])


def test_a_slow_server_is_an_error_in_time(server: Server, tmp_path: Path) -> None:
    """A call that takes longer than the patience ends."""
    memory = opened(server.address, tmp_path, patience=0.3)
    memory.add_turns(TURNS[:1])
    server.engine.fault = only(("Query",), lambda _: time.sleep(0.6))
    began = time.monotonic()
    with pytest.raises(StoreError):
        memory.turns()
    assert time.monotonic() - began < 15


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (2000, "disk quota exceeded"),
        (7, "deny to write, reason: memory quota exceeded, please allocate more resources"),
        (11, "disk limit exceeded[limit=100MB]"),
    ],
)
def test_a_full_server_is_an_error_and_changes_nothing(server: Server, tmp_path: Path, code: int, reason: str) -> None:
    """What the engine says is in the error; what was there stays as it was, and the same ingest goes on later."""
    memory = opened(server.address, tmp_path, patience=1)
    memory.add_turns(TURNS[:1])
    full = milvus_pb2.MutationResult(
        status=common_pb2.Status(error_code=common_pb2.UnexpectedError, code=code, reason=reason)
    )
    server.engine.fault = only(("Upsert",), lambda _: full)
    server.engine.calls.clear()
    with pytest.raises(StoreError, match=reason[:19]) as caught:
        memory.add_turns(TURNS)
    assert "more room" in caught.value.hint
    assert server.engine.calls.count("Upsert") == 1  # there is no room a second later either
    assert memory.turns() == list(TURNS[:1])
    server.engine.fault = faultless
    memory.add_turns(TURNS)
    assert memory.turns() == list(TURNS)
    assert memory.verify() == []


def test_a_server_that_fills_up_half_way_shows_nothing_of_it(server: Server, tmp_path: Path) -> None:
    """The turns were still taken, their vectors not any more: readers see what was there before."""
    memory = opened(server.address, tmp_path, patience=1)
    memory.add_turns(TURNS[:1])
    full = milvus_pb2.MutationResult(
        status=common_pb2.Status(error_code=common_pb2.UnexpectedError, code=9, reason="quota exceeded")
    )

    def filling(name: str, method: Any, request: Any, context: Any) -> Any:
        is_units = name == "Upsert" and request.collection_name == Collection.UNITS
        return full if is_units else method(request, context)

    server.engine.fault = filling
    with pytest.raises(StoreError, match="quota exceeded"):
        memory.add_turns(TURNS)
    assert memory.turns() == list(TURNS[:1])
    server.engine.fault = faultless
    memory.add_turns(TURNS)
    assert memory.turns() == list(TURNS)
    assert memory.verify() == []


def test_fewer_rows_taken_than_given_is_an_error(server: Server, tmp_path: Path) -> None:
    """A server that takes fewer rows than it was given has not stored them."""
    memory = opened(server.address, tmp_path)
    memory.add_turns(TURNS[:1])
    server.engine.fault = afterwards("Upsert", lambda reply: setattr(reply, "upsert_cnt", 0))
    with pytest.raises(StoreError, match="of 1 rows"):
        memory.add_turns(TURNS)


@pytest.mark.slow
def test_a_server_that_goes_during_a_join_leaves_two_or_one(server: Server, tmp_path: Path) -> None:
    """After every second write it does nothing more: no state in between is seen, and joining again, where it is due,
    ends it. `test_interrupted.py` stops an embedded memory at each.
    """
    states: list[bool] = []
    is_over = False
    while not is_over:
        memory = opened(server.address, tmp_path, patience=0.3)
        memory.add_all(windows())
        shown = memory.joinable("one", "other")
        left = 2 * len(states) + 1

        def going(name: str, method: Any, request: Any, context: Any) -> Any:
            nonlocal left
            left -= name in ("Upsert", "Delete")
            if left < 0:
                context.abort(grpc.StatusCode.INTERNAL, "out of order")
            return method(request, context)

        server.engine.fault = going
        with suppress(StoreError):
            memory.join("one", "other", shown)
            is_over = True
        server.engine.fault = faultless
        states.append(require_one_or_two(memory))
        if not states[-1]:
            join(memory)
        memory.add_turns(named(TURNS, "any"))  # deletes what is left
        assert memory.verify() == []
        memory.forget(Selection(conversations=("one", "any")))
    assert states == sorted(states)
    assert states.count(True) > 1


def without_the_last_row(reply: Any) -> None:
    """Take the last row of turns out of a reply, of all its columns."""
    columns = [field.scalars.string_data.data or field.scalars.long_data.data for field in reply.fields_data]
    if len(columns) > 3 and all(len(column) == 2 for column in columns):
        for column in columns:
            del column[1:]


def without_a_column(reply: Any) -> None:
    """Take the last column out of a reply."""
    if reply.fields_data:
        del reply.fields_data[-1]


def with_a_short_column(reply: Any) -> None:
    """Take the last value out of one column of a reply alone."""
    for field in reply.fields_data[:1]:
        del field.scalars.string_data.data[-1:]


@pytest.mark.parametrize("cut", [without_the_last_row, without_a_column, with_a_short_column])
def test_half_of_what_was_asked_for_is_an_error(server: Server, tmp_path: Path, cut: Callable[[Any], None]) -> None:
    """Turns or fields that do not come are never left out silently, neither here nor in an export."""
    memory = opened(server.address, tmp_path)
    memory.add_turns(TURNS)
    server.engine.fault = afterwards("Query", cut)
    with pytest.raises(StoreError):
        memory.turns()
    with pytest.raises(StoreError):
        list(memory.export())


def test_half_a_ranking_is_an_error(server: Server, tmp_path: Path) -> None:
    """Hits without their fields are none."""
    memory = opened(server.address, tmp_path)
    memory.add_turns(TURNS)
    server.engine.fault = afterwards("Search", lambda reply: reply.results.ClearField("fields_data"))
    with memory.reading() as reader, pytest.raises(StoreError, match="in part"):
        reader.rank(Query("latte"), tuple(Ranking), 10)


def test_another_form_of_a_memory_is_refused(server: Server, tmp_path: Path) -> None:
    """A memory of a newer goalmem is not touched, nor one of another form."""
    memory = opened(server.address, tmp_path)
    memory.add_turns(TURNS)
    told = {"version": 99}, {"version": 1, "strange": 1}, ["no", "object"]
    for document, error in zip(map(json.dumps, told), (StoreNewer, StoreDamaged, StoreDamaged), strict=True):
        memory._kept.engine.put(Collection.META, [{ID: "meta", "document": document}])
        with pytest.raises(error):
            memory.turns()
        with pytest.raises(error):
            memory.add_turns(TURNS)


@pytest.mark.parametrize("selection", [Selection(("chat",)), Selection(speakers=("Ben",))], ids=["whole", "part"])
@pytest.mark.parametrize("collection", [Collection.SAID, Collection.UNITS])
def test_what_stays_though_it_was_deleted_is_told_and_unseen(
    server: Server, tmp_path: Path, collection: Collection, selection: Selection
) -> None:
    """A server that says that it deleted, and did not, is found out; readers see nothing of it meanwhile."""
    memory = opened(server.address, tmp_path)
    memory.add_turns(TURNS)
    done = milvus_pb2.MutationResult(status=common_pb2.Status(), delete_cnt=1)

    def keeping(name: str, method: Any, request: Any, context: Any) -> Any:
        is_kept = name == "Delete" and request.collection_name == collection
        return done if is_kept else method(request, context)

    server.engine.fault = keeping
    for _ in range(2):
        with pytest.raises(StoreError, match="still has rows"):
            memory.forget(selection)
        with memory.reading() as reader:
            found = reader.rank(Query("My dog is Biscuit."), [Ranking.BM25, Ranking.DENSE], 10)
            assert TURNS[1].id not in {scored.unit for scoreds in found.values() for scored in scoreds}
    server.engine.fault = faultless
    memory.add_turns(named(TURNS, "another"))  # the next to write deletes what is left
    rows = list(memory._kept.engine.rows(collection, 'conversation == "chat"', ["ordinal"]))
    assert [row["ordinal"] for row in rows] == ([0] if selection.speakers else [])
    assert memory.verify() == []


@pytest.mark.parametrize("collection", [Collection.UNITS, Collection.META])
def test_another_schema_under_a_name_of_ours_is_refused(server: Server, tmp_path: Path, collection: Collection) -> None:
    """A collection that somebody else made is named, and left as it is."""
    client = MilvusClient(server.address.removeprefix("milvus+").removesuffix("/default"))
    client.create_collection(collection.value, dimension=4)
    client.insert(collection.value, [{"id": 1, "vector": [0.0, 0.0, 0.0, 1.0]}])
    with pytest.raises(StoreDamaged, match=f"{collection} has another schema"):
        opened(server.address, tmp_path).add_turns(TURNS)
    client.load_collection(collection.value)
    assert [row["id"] for row in client.query(collection.value, filter="id >= 0")] == [1]
    client.close()


def test_another_embedder_is_refused(server: Server, tmp_path: Path) -> None:
    """Neither its vectors nor its questions are taken; what words find is still found."""
    opened(server.address, tmp_path).add_turns(TURNS)
    for other in (HashEmbedder(name="another"), HashEmbedder(dimension=32)):
        memory = opened(server.address, tmp_path, embedder=other)
        with pytest.raises(EmbedderMismatch):
            memory.add_turns(TURNS)
        with memory.reading() as reader:
            assert reader.rank(Query("latte"), [Ranking.BM25], 10)[Ranking.BM25]
            with pytest.raises(EmbedderMismatch):
                reader.rank(Query("latte"), [Ranking.DENSE], 10)
    assert opened(server.address, tmp_path).verify() == []


def test_a_server_that_was_started_anew_is_gone_on_with(tmp_path: Path) -> None:
    """Its collections are loaded again, by a memory that had them loaded before."""
    with serving(tmp_path / "data") as (_, port):
        memory = opened(f"milvus+http://127.0.0.1:{port}/default", tmp_path)
        memory.add_turns(TURNS)
    with serving(tmp_path / "data", port):
        assert memory.turns() == list(TURNS)
        with memory.reading() as reader:
            assert reader.rank(Query("latte"), [Ranking.BM25], 10)[Ranking.BM25]
