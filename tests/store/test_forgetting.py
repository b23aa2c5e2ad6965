"""What is forgotten is gone: from the rows, the indexes, the traces, and from the bytes of every file."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.errors import EmbedderMismatch, StoreError
from goalmem_cli.memory_records import FLAT, Forgotten, Ranking, Selection
from goalmem_cli.records import Conversation, Edge, Query, Turn
from goalmem_cli.stages import Exchange
from goalmem_cli.store.database.access import Database
from goalmem_cli.store.indexes.text_index import TextIndex
from goalmem_cli.store.store import Store
from goalmem_cli.store.traces import TraceFolder
from goalmem_cli.testing import HashEmbedder
from tests.conftest import examples
from tests.store.contents import contents, holding
from tests.store.killing import gist, trace_about
from tests.store.samples import CAFE, START, chat, open_store

WORD = "quetzalcoatlus"
KEY = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
TEA = "抹茶拿铁在东京塔"
ACCENTS = "Façade-Ñandú"
SECRETS = (WORD, KEY, TEA, ACCENTS)
SECRET = (
    f"My pet is a {WORD}.",
    f"The key is {KEY}.",
    f"昨天喝了{TEA}。",
    " ".join(f"Sentence {number} of a long story about {ACCENTS} and number {number}." for number in range(60)),
)


def without(conversation: Conversation, gone: Callable[[Turn], bool]) -> Conversation:
    """Return the conversation as if these turns had never been said."""
    return replace(conversation, turns=tuple(turn for turn in conversation.turns if not gone(turn)))


def mixed(name: str = "mixed") -> Conversation:
    """Return a conversation in which Ben says the secrets, between harmless words of Alice's."""
    texts = [text for pair in zip(CAFE, (*SECRET, "Yes.", "No."), strict=True) for text in pair]
    return chat(texts, name=name, per_session=5)


def said_by_ben(turn: Turn) -> bool:
    """True for what Ben said."""
    return turn.speaker == "Ben"


BEN = Selection(speakers=("Ben",))


def rewritten(store: Store) -> Store:
    """Return the store after its database was written anew, and its indexes, as forgetting does."""
    Database(store.path / "memory.duckdb", lambda _: None, 1.0).rewrite((), lambda _: None)
    store.rebuild()
    return store


def sizes(folder: Path) -> dict[str, int]:
    """Return how many bytes there are of each kind of file, and of locks how many."""
    found: dict[str, int] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            kind = f"{path.relative_to(folder).parts[0]}{path.suffix}"
            found[kind] = found.get(kind, 0) + path.stat().st_size
    return found


def cells(store: Store) -> str:
    """Return everything that any table of the database holds, as text."""
    with duckdb.connect(str(store.path / "memory.duckdb"), read_only=True) as connection:
        tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return "\n".join(str(connection.execute(f"FROM {table}").fetchall()) for table in tables)


def found_in_text(store: Store, text: str) -> int:
    """Return how many entries of the text index have a word of the text, in their own text or beside it."""
    index = TextIndex(store.path / "text", lambda _: None, 1.0)
    both = (index.search(Query(text), in_context=where, backbone=FLAT, depth=99) for where in (False, True))
    return sum(map(len, both))


def require_no_trace(store: Store, secrets: tuple[str, ...] = SECRETS) -> None:
    """Require that nothing of the secrets is left, wherever one might look."""
    assert holding(store.path, secrets) == []
    assert not any(secret in cells(store) for secret in secrets)
    assert [found_in_text(store, secret) for secret in secrets] == [0] * len(secrets)
    assert store.verify() == []


def require_like(store: Store, other: Store) -> None:
    """Require that the stores hold the same and take the same room."""
    assert contents(store.path) == contents(other.path)
    assert list(store.export()) == list(other.export())
    own, others = sizes(store.path), sizes(rewritten(other).path)
    assert own.keys() == others.keys()
    for kind, size in own.items():
        assert size == pytest.approx(others[kind], rel=0.02, abs=100), kind


def test_the_secrets_would_be_found(tmp_path: Path) -> None:
    """Before they are forgotten, each way of looking sees them."""
    store = open_store(tmp_path / "store")
    store.add(mixed())
    places = holding(store.path, SECRETS)
    assert all(any(place.endswith(secret) for place in places) for secret in SECRETS)
    assert all(secret in cells(store) for secret in SECRETS)
    assert all(found_in_text(store, secret) for secret in SECRETS)


def test_a_forgotten_conversation_leaves_nothing(tmp_path: Path) -> None:
    """The store is like one that never held it."""
    store, other = open_store(tmp_path / "store"), open_store(tmp_path / "other")
    store.add_all([chat(), mixed()])
    other.add(chat())
    forgotten = store.forget(Selection(conversations=("mixed",)))
    assert (forgotten.conversations, forgotten.turns) == (("mixed",), 12)
    require_no_trace(store)
    require_like(store, other)


def test_a_forgotten_speaker_leaves_nothing(tmp_path: Path) -> None:
    """What stood beside the words is read again without them: no context and no vector holds them."""
    store, other = open_store(tmp_path / "store"), open_store(tmp_path / "other")
    store.add_all([chat(), mixed()])
    other.add_all([without(chat(), said_by_ben), without(mixed(), said_by_ben)])
    forgotten = store.forget(BEN)
    assert (forgotten.conversations, forgotten.turns) == ((), 9)
    require_no_trace(store)
    require_like(store, other)


def test_a_forgotten_stretch_of_time_leaves_nothing(tmp_path: Path) -> None:
    """What was said before a time goes, and that at the time itself stays."""
    end = START + timedelta(hours=8)
    store, other = open_store(tmp_path / "store"), open_store(tmp_path / "other")
    store.add(mixed())
    other.add(without(mixed(), lambda turn: turn.said is not None and turn.said < end))
    assert store.forget(Selection(before=end)).turns == 8
    require_no_trace(store)
    require_like(store, other)


def test_everything_can_be_forgotten(tmp_path: Path) -> None:
    """A store of which nothing is left is an empty one, which can be filled again."""
    store = open_store(tmp_path / "store")
    store.add_all([chat(), mixed()])
    store.forget(Selection())
    assert (store.turns(), store.conversations(), list(store.export())) == ([], [], [{"goalmem": 1}])
    require_no_trace(store, (*SECRETS, CAFE[0]))
    assert store.add(chat()).new_turns == len(CAFE)
    assert store.verify() == []


def test_turns_without_a_time_stay_and_are_counted(tmp_path: Path) -> None:
    """Nobody knows whether they were said before; they are counted within what else is selected."""
    store = open_store(tmp_path / "store")
    store.add_all([chat(), chat(SECRET, name="timeless", start=None)])
    whole = Selection(before=START + timedelta(days=9))
    assert store.forgettable(whole).without_time == len(SECRET)
    assert store.forgettable(replace(whole, speakers=("Ben",))).without_time == len(SECRET) // 2
    assert store.forgettable(Selection(conversations=("timeless",))).without_time == 0
    forgotten = store.forget(whole)
    assert (forgotten.turns, forgotten.without_time) == (len(CAFE), len(SECRET))
    assert [turn.text for turn in store.turns()] == list(SECRET)
    assert store.verify() == []


def test_times_with_offsets_are_compared_as_instants(tmp_path: Path) -> None:
    """A bound with an offset from UTC and turns with others."""
    store = open_store(tmp_path / "store")
    store.add(chat(start=START.replace(tzinfo=UTC)))
    east = (START + timedelta(hours=2)).replace(tzinfo=UTC) - timedelta(microseconds=1)
    assert store.forgettable(Selection(before=east)).turns == 2
    assert store.forget(Selection(before=east + timedelta(microseconds=2))).turns == 3
    assert [turn.text for turn in store.turns()] == list(CAFE[3:])


def with_derived(store: Store) -> tuple[str, str, str]:
    """Store a gist of both speakers, one of Alice's words, an edge between them, and an answer that cites Ben."""
    conversation = mixed()
    both, hers = gist(conversation.turns[:2], f"They discuss the {WORD}."), gist(conversation.turns[2:3], "A latte.")
    edge = Edge(both.id, hers.id, "next", 1.0)
    store.add_all([chat(), replace(conversation, derived=(both, hers), edges=(edge,))])
    turns = store.turns(["mixed"])
    answer = store.add_answer(f"It is a {WORD}.", turns[0], [turns[1].id], {"question": KEY})
    return both.id, hers.id, answer.id


def test_what_was_derived_goes_with_its_turns(tmp_path: Path) -> None:
    """A gist, an edge and an answer go with any turn they came from; what came from others stays."""
    store = open_store(tmp_path / "store")
    both, hers, answer = with_derived(store)
    before = store.stats()
    forgotten = store.forget(BEN)
    assert set(store.hits([both, hers, answer])) == {hers}
    after = store.stats()
    assert forgotten.edges == before.edges == 1
    assert after.edges == 0
    assert forgotten.units["gist"] == forgotten.units["answer"] == 1
    require_no_trace(store)


def test_the_counts_are_what_is_gone(tmp_path: Path) -> None:
    """What is reported, before and after, is the difference; looking changes nothing."""
    store = open_store(tmp_path / "store")
    with_derived(store)
    traces = TraceFolder(store.path / "traces")
    traces.save(trace_about(store.turns(["mixed"])[1], "What pet?"))
    traces.save(trace_about(store.turns(["mixed"])[0], "What cafe?"))
    files = {path: path.read_bytes() for path in store.path.rglob("*") if path.is_file()}
    before, traces_before = store.stats(), len(traces.ids())
    expected = store.forgettable(BEN)
    assert {path: path.read_bytes() for path in store.path.rglob("*") if path.is_file()} == files
    assert store.forget(BEN) == expected
    after = store.stats()
    units = {kind: count - after.units.get(kind, 0) for kind, count in before.units.items()}
    assert expected == Forgotten(
        (), before.turns - after.turns, {kind: count for kind, count in units.items() if count},
        before.edges - after.edges, traces_before - len(traces.ids()), 0,
    )  # fmt: skip
    assert store.forgettable(BEN) == Forgotten()
    assert store.forget(BEN) == Forgotten()


def test_prompts_go_whatever_is_forgotten(tmp_path: Path) -> None:
    """Nobody can say whose texts a prompt holds; the trace itself goes only with what it shows."""
    store = open_store(tmp_path / "store")
    store.add_all([chat(), mixed()])
    traces = TraceFolder(store.path / "traces")
    hers = trace_about(store.turns(["mixed"])[0], "What cafe?")
    plain = traces.save(hers)
    kept = traces.save(replace(hers, exchanges=(Exchange("read", (("user", "Ben: a secret"),), "unknown"),)))
    store.forget(BEN)

    assert sorted(traces.ids()) == sorted([plain, kept])
    assert traces.load(kept) == hers
    assert holding(traces.path, ("a secret",)) == []


def test_traces_about_forgotten_turns_go(tmp_path: Path) -> None:
    """Those that show such a turn, its passage, its neighbour's text or an answer, and those nobody can read."""
    store = open_store(tmp_path / "store")
    store.add_all([chat(), mixed()])
    hers, bens = (turn for turn in store.turns(["mixed"])[:2])
    beside = replace(trace_about(hers, "beside").facts["F1"], after=((bens.speaker, bens.text),))
    now = iter(START + timedelta(minutes=minute) for minute in range(9))
    traces = TraceFolder(store.path / "traces", lambda: next(now))
    stays = traces.save(trace_about(hers, "Which cafe?"))
    traces.save(trace_about(bens, "Which pet?"))
    traces.save(replace(trace_about(hers, "Which pet is beside?"), facts={"F1": beside}))
    traces.save(replace(trace_about(hers, bens.text)))
    unreadable = traces.save(trace_about(hers, WORD))
    (traces.path / f"{unreadable}.json").write_text(f"{{half {WORD}")
    assert store.forgettable(BEN).traces == 4
    assert store.forget(BEN).traces == 4
    assert traces.ids() == [stays]
    require_no_trace(store)


def test_a_trace_that_vanishes_while_others_are_forgotten_is_no_error(tmp_path: Path) -> None:
    """Another process may remove it."""
    turn, *_ = chat().turns
    removed: list[str] = []

    def written(what: str) -> None:
        removed.append(what)
        (tmp_path / f"{last}.json").unlink()

    now = iter(START + timedelta(minutes=minute) for minute in range(9))
    first, last = (TraceFolder(tmp_path, lambda: next(now)).save(trace_about(turn, text)) for text in ("Who?", "What?"))
    traces = TraceFolder(tmp_path, written=written)
    traces.forget({turn.id})
    assert (removed, traces.ids()) == ([f"trace {first}, removed"], [])


@pytest.mark.parametrize("selection", [Selection(conversations=("z",)), Selection(speakers=("Ben",))])
def test_a_trace_of_text_that_was_replaced_goes_with_its_turn(tmp_path: Path, selection: Selection) -> None:
    """The text is no longer in the database, but it was that turn's, or that conversation's."""
    store = open_store(tmp_path / "store")
    store.add(chat([CAFE[0], f"My old {WORD}.", CAFE[2]], name="z", own_id="z", with_ids=True))
    TraceFolder(store.path / "traces").save(trace_about(store.turns(["z"])[1], "Which old thing?"))
    store.add(chat([CAFE[0], "Nothing of the kind.", CAFE[2]], name="z", own_id="z", with_ids=True))
    assert store.forget(selection).traces == 1
    assert TraceFolder(store.path / "traces").ids() == []


@pytest.mark.parametrize(
    "finish", [Store.rebuild, lambda store: store.reembed(HashEmbedder(8, "new"), lambda *_: None)]
)
def test_whatever_mends_the_store_finishes_a_forgetting(tmp_path: Path, finish: Callable[[Store], object]) -> None:
    """A forgetting stopped after its commit is finished by a rebuild, and by a change of embedder."""

    class Stopped(Exception):
        pass

    def stop(what: str) -> None:
        if what.startswith("CHECKPOINT"):
            raise Stopped

    open_store(tmp_path / "store").add_all([chat(), mixed()])
    half = Store(tmp_path / "store", HashEmbedder(16), announce=lambda _: None, written=stop)
    with pytest.raises(Stopped):
        half.forget(Selection(conversations=("mixed",)))
    assert any("forgetting was interrupted" in line for line in open_store(half.path).verify())
    finish(open_store(half.path))
    assert holding(half.path, SECRETS) == []


def test_leftovers_of_killed_processes_are_removed(tmp_path: Path) -> None:
    """Half-written files may hold what is forgotten, whatever they are called."""
    store = open_store(tmp_path / "store")
    store.add_all([chat(), mixed()])
    TraceFolder(store.path / "traces").save(trace_about(store.turns()[0], "What?"))
    leftovers = [
        "memory.duckdb.rewriting", "memory.duckdb.rewriting.wal", "memory.duckdb.tmp/duckdb_temp_storage-0.tmp",
        "traces/.20240101-000000-000000-abcdef.json.x1y2z3", "text/.manifest.json.x1y2z3",
        "vectors/.manifest.json.x1y2z3", "text/999999999/segment.term", "vectors/999999999.text",
    ]  # fmt: skip
    for name in leftovers:
        (store.path / name).parent.mkdir(exist_ok=True)
        (store.path / name).write_text(" ".join(SECRETS))
    store.forget(Selection(conversations=("mixed",)))
    require_no_trace(store)
    assert not any((store.path / name).exists() for name in leftovers)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["COMMIT", "CHECKPOINT old", "the rewritten database in its place", "text, merged"])
@pytest.mark.parametrize("use", ["search", "add", "forget", "catch_up"])
def test_the_next_use_finishes_what_was_interrupted(tmp_path: Path, point: str, use: str) -> None:
    """Whatever is done next, search included, nothing of the forgotten is left in a file afterwards."""

    def interrupt(what: str) -> None:
        if what == point:
            raise KeyboardInterrupt

    store = open_store(tmp_path / "store")
    store.add_all([chat(), mixed()])
    stopped = Store(store.path, HashEmbedder(16), announce=lambda _: None, written=interrupt)
    with pytest.raises(KeyboardInterrupt):
        stopped.forget(Selection(conversations=("mixed",)))
    {
        "search": lambda: store.rank(Query(WORD), list(Ranking), 5),
        "add": lambda: store.add(chat(["Something new."], name="new")),
        "forget": lambda: store.forget(Selection(conversations=("mixed",))),
        "catch_up": store.catch_up,
    }[use]()
    require_no_trace(store)
    assert not any(store.rank(Query(WORD), [Ranking.BM25, Ranking.BM25_CONTEXT], 5).values())


def test_an_unknown_embedder_can_forget_whole_conversations(tmp_path: Path) -> None:
    """Forgetting does not depend on a model that is lost; the vectors come back when it is."""
    store = open_store(tmp_path / "store")
    store.add_all([chat(), mixed()])
    other = Store(store.path, HashEmbedder(12, "other"), announce=lambda _: None)
    with pytest.raises(EmbedderMismatch):
        other.forget(BEN)
    assert len(store.turns()) == len(CAFE) + 12
    other.forget(Selection(conversations=("mixed",)))
    assert holding(store.path, SECRETS) == []
    assert store.rank(Query("matcha"), [Ranking.DENSE], 1)[Ranking.DENSE]
    require_no_trace(store)


def test_without_a_store_there_is_nothing_to_forget(tmp_path: Path) -> None:
    """The error names the command that makes one, and none is made."""
    store = open_store(tmp_path / "none")
    for use in (store.forget, store.forgettable):
        with pytest.raises(StoreError, match="no memory"):
            use(BEN)
    assert not store.path.exists()


TEXTS = st.lists(st.sampled_from(["tea", "one more tea", "お茶をください", "last Friday", "words " * 300]), max_size=7)
SELECTIONS = st.builds(
    Selection,
    st.sampled_from([None, ("one",), ("two",), ("one", "two"), ("nothing",)]),
    st.sampled_from([None, ("Alice",), ("Ben",), ("Nobody",)]),
    st.sampled_from([None, START, START + timedelta(hours=3), START + timedelta(days=9)]),
)


@given(TEXTS, TEXTS, st.sampled_from([2, 100]), st.booleans(), SELECTIONS)
@settings(max_examples=examples(12))
def test_any_forgetting_is_as_if_it_had_not_been_said(
    one: list[str], two: list[str], per_session: int, has_times: bool, selection: Selection
) -> None:
    """Whatever is selected, the rest is what a store would hold that was never told the other turns."""

    def goes(turn: Turn) -> bool:
        return (
            (selection.conversations is None or turn.conversation in selection.conversations)
            and (selection.speakers is None or turn.speaker in selection.speakers)
            and (selection.before is None or (turn.said is not None and turn.said < selection.before))
        )

    said = [
        chat(["Mine is tea."], name="other", speakers=("Carol", "Carol"), start=None),
        chat(one, name="one", per_session=per_session),
        chat(two, name="two", per_session=per_session, start=START if has_times else None),
    ]
    with TemporaryDirectory() as folder:
        store, other = open_store(Path(folder) / "store"), open_store(Path(folder) / "other")
        store.add_all(said, by_name=True)  # equal ones would be one conversation
        forgotten = store.forget(selection)
        other.add_all((left for each in said if (left := without(each, goes)).turns), by_name=True)
        assert forgotten.turns == len([turn for each in said for turn in each.turns if goes(turn)])
        assert contents(store.path) == contents(other.path)
        assert store.verify() == []


def test_a_copy_is_not_changed(tmp_path: Path) -> None:
    """Forgetting is about this store alone."""
    store = open_store(tmp_path / "store")
    store.add(mixed())
    copy = open_store(shutil.copytree(store.path, tmp_path / "copy"))
    store.forget(BEN)
    assert len(copy.turns()) == 12
    assert copy.verify() == []
