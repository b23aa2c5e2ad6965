"""Whoever is stopped while writing leaves each conversation whole, as it was or as it was to be."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.addresses import MilvusAddress
from goalmem_cli.errors import StoreError
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.milvus import changing
from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.milvus.milvus_memory import MilvusMemory
from goalmem_cli.milvus.schema import Collection
from goalmem_cli.records import Conversation, Query, Turn
from goalmem_cli.store.files import unwatched
from goalmem_cli.store.goal_records import GoalStatus
from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.people import People
from goalmem_cli.store.privacy import GOALS
from goalmem_cli.store.tombstones import Tombstones
from goalmem_cli.testing import HashEmbedder
from tests.milvus.conftest import Opens
from tests.reasoners.scripting import chat
from tests.store import samples
from tests.store.contents import holding
from tests.store.killing import OPERATIONS, goal_about, trace_about

LATER = chat(
    "Alice: I ordered a latte.", "Ben: My dog is Biscuit.", "Alice: Biscuit ate my latte.", "Ben: Bad Biscuit."
)
EARLIER = LATER[:2]


_MOST_STEPS = 20


class Stopped(BaseException):
    """The end of a process, for a test that goes on in it."""


def stopping_at(step: int) -> Callable[[str], None]:
    """Return what stops the writer dead at that step of a write, counted from 0."""
    left = step

    def written(_: str) -> None:
        nonlocal left
        if not left:
            raise Stopped
        left -= 1

    return written


def is_killed_in(work: Callable[..., None], *arguments: object) -> bool:
    """Do the work in a process of its own, and say whether it was killed in the middle of it."""
    start = multiprocessing.get_context("forkserver")
    start.set_forkserver_preload([__name__])  # loads the libraries once for all cases
    process = start.Process(target=work, args=arguments)
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def kill_in(work: Callable[..., None], *arguments: object) -> None:
    """Do the work in a process of its own, which is killed in the middle of it."""
    assert is_killed_in(work, *arguments)


def named(turns: list[Turn], name: str) -> list[Turn]:
    """Return the turns as those of another conversation."""
    return [replace(turn, conversation=name) for turn in turns]


def seen(memory: MilvusMemory, name: str) -> tuple[list[str], set[str]]:
    """Return the texts that looking up shows of a conversation, and those that ranking does."""
    with memory.reading() as reader:
        found = reader.rank(Query("latte dog Biscuit bad", conversations=(name,)), tuple(Ranking), 50)
        hits = reader.hits([scored.unit for scored in found[Ranking.BM25]])
    return [turn.text for turn in memory.turns([name])], {hit.unit.text for hit in hits.values()}


@pytest.mark.slow
def test_an_interrupted_ingest_shows_all_or_nothing_of_what_is_new(memory: Opens) -> None:
    """At every step: what was, or what was to be; the same ingest then ends as it would have, with nothing over."""
    old, new = [turn.text for turn in EARLIER], [turn.text for turn in LATER]
    names = [f"chat-{step}" for step in range(_MOST_STEPS)]
    memory().add_turns([*named(LATER, "another"), *(turn for name in names for turn in named(EARLIER, name))])
    states, step = [], 0
    while True:
        name = names[step]
        try:
            memory(stopping_at(step)).add_turns(named(LATER, name))
        except Stopped:
            said, ranked = seen(memory(), name)
            assert said in (old, new)
            assert ranked == set(said)
            states.append(said)
        else:
            break
        memory().add_turns(named(LATER, name))
        assert seen(memory(), name) == (new, set(new))
        step += 1
    assert old in states
    assert new in states
    assert len(states) >= 6
    assert memory().verify() == []


WINDOWS = {"one": LATER[:3], "other": LATER[1:]}
TEXTS = [turn.text for turn in LATER]
PARTED = {name: [turn.text for turn in turns] for name, turns in WINDOWS.items()}


def windows() -> list[Conversation]:
    """Return two windows of one chat, which share two turns, and so are kept as two."""
    return [
        Conversation(name, "whatsapp", tuple(named(timed(turns), name)), file=f"/{name}.txt")
        for name, turns in WINDOWS.items()
    ]


def timed(turns: list[Turn]) -> list[Turn]:
    """Return the turns of a chat, each said an hour after the one before."""
    return [replace(turn, said=datetime(2024, 5, 3, turn.ordinal)) for turn in turns]


def join(memory: MilvusMemory) -> None:
    """Join the two windows."""
    memory.join("one", "other", memory.joinable("one", "other"))


def require_one_or_two(memory: MilvusMemory) -> bool:
    """Return whether the windows are joined; whatever looks at them sees each as it was, or the one and no other."""
    listed = {each.name: each.turns for each in memory.conversations()}
    is_joined = "other" not in listed
    expected = {"one": TEXTS} if is_joined else PARTED
    assert listed == {name: len(texts) for name, texts in expected.items()}
    for name in PARTED:
        said, ranked = seen(memory, name)
        assert said == expected.get(name, [])
        assert ranked == set(said)
    assert [added.new_turns for added in memory.preview_all(windows())] == [0, 0]
    return is_joined


@pytest.mark.slow
def test_an_interrupted_join_is_done_or_not_begun(memory: Opens) -> None:
    """At every step the two are as they were, or one; whoever writes next leaves no row over, and joining ends it."""
    states: list[bool] = []
    while True:
        memory().add_all(windows())
        answer = memory().add_answer("Biscuit", memory().turns(["other"])[0], [], {"question": "Who?"})
        try:
            join(memory(stopping_at(len(states))))
        except Stopped:
            states.append(require_one_or_two(memory()))
            assert memory().are_stored([answer.id]) is not states[-1]
            memory().add_turns(named(EARLIER, "any"))  # deletes what is left
            assert memory().verify() == []
            assert require_no_rows_over(memory()) == {"any", "one", *([] if states[-1] else ["other"])}
            memory().forget(Selection(conversations=("any",)))
            if not states[-1]:
                join(memory())
            assert require_one_or_two(memory())
            assert memory().verify() == []
            memory().forget(Selection(conversations=("one",)))
        else:
            break
    assert states == sorted(states)
    assert len(states) >= 8
    assert {False, True} <= set(states)


def require_no_rows_over(memory: MilvusMemory) -> set[str]:
    """Return the names of the conversations that have rows, which are the same in all collections."""
    engine = memory._kept.engine
    names = [
        {row["conversation"] for row in engine.rows(collection, "", ["conversation"])}
        for collection in (Collection.SAID, Collection.UNITS)
    ]
    assert names == [memory._kept.talks().keys()] * 2
    return names[0]


def test_an_interrupted_forgetting_hides_at_once_and_is_finished(memory: Opens) -> None:
    """A conversation is hidden as a whole, after the traces that quote it are gone; whoever writes next finishes it."""
    states, step = [], 0
    while True:
        name = f"chat-{step}"
        memory().add_turns(named(LATER, name))
        memory()._kept.traces.save(trace_about(named(LATER, name)[1], "Which pet?"))
        try:
            memory(stopping_at(step)).forget(Selection(conversations=(name,)))
        except Stopped:
            said, traces = memory().turns([name]), memory()._kept.traces.ids()
            assert said in ([], named(LATER, name))
            assert said or not traces
            states.append(bool(said))
            memory().add_turns(named(EARLIER, "any"))  # deletes what is left
            assert bool(memory()._kept.talks([name])) == bool(said)
            memory().forget(Selection(conversations=(name,)))
        else:
            break
        step += 1
    assert states.count(False) >= 3
    assert memory().turns() == named(EARLIER, "any")
    assert memory()._kept.traces.ids() == memory().verify() == []


@pytest.mark.slow
def test_many_rows_are_exchanged_at_once(memory: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversation of which much changes is written anew as a whole, and seen whole before and after."""
    monkeypatch.setattr(changing, "MOST_RETIRED", 1)
    memory().add_turns(LATER)
    changed = [replace(turn, text=f"{turn.text} Really.") for turn in LATER]
    for step in range(12):
        try:
            memory(stopping_at(step)).add_turns(changed)
        except Stopped:
            said, ranked = seen(memory(), LATER[0].conversation)
            assert len(said) == len(LATER)
            assert ranked == set(said)
    assert [turn.text for turn in memory().turns()] == [turn.text for turn in changed]
    assert memory().verify() == []


def killed(folder: Path, step: str) -> None:
    """Be the process that is killed at that step of its second write."""

    def written(what: str) -> None:
        if what == step:
            os.kill(os.getpid(), signal.SIGKILL)

    def opened(hook: Callable[[str], None]) -> MilvusMemory:
        address = MilvusAddress(path=folder / "database")
        return MilvusMemory(address, folder / "beside", HashEmbedder(), announce=print, written=hook)

    opened(lambda _: None).add_turns(named(LATER, "before"))
    opened(written).add_turns(named(LATER, "killed"))


@pytest.mark.slow
@pytest.mark.parametrize("step", ["turns written", "units written", "conversations published"])
def test_a_killed_process_loses_nothing_that_was_reported(memory: Opens, tmp_path: Path, step: str) -> None:
    """What the engine had taken is there when it is opened again, and the rest is all or nothing."""
    kill_in(killed, tmp_path, step)
    texts = [turn.text for turn in LATER]
    assert [turn.text for turn in memory().turns(["before"])] == texts
    assert [turn.text for turn in memory().turns(["killed"])] == (texts if step == "conversations published" else [])
    memory().add_turns(named(LATER, "killed"))
    assert [turn.text for turn in memory().turns(["killed"])] == texts
    assert memory().verify() == []


@pytest.mark.slow
@pytest.mark.parametrize("step", ["conversations hidden", "rows deleted"])
def test_a_killed_forgetting_is_finished(memory: Opens, tmp_path: Path, step: str) -> None:
    """Nothing of what was to be forgotten is seen by whoever opens the database again, and no row is left over."""
    kill_in(killed_forgetting, tmp_path, step)
    assert memory().turns(["killed"]) == []
    assert [turn.text for turn in memory().turns(["before"])] == [turn.text for turn in LATER]
    memory().add_turns(named(EARLIER, "any"))  # the next to write deletes what is left
    engine = memory()._kept.engine
    assert {row["conversation"] for row in engine.rows(Collection.SAID, "", ["conversation"])} == {"before", "any"}
    assert {row["conversation"] for row in engine.rows(Collection.UNITS, "", ["conversation"])} == {"before", "any"}
    assert memory().verify() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "step", ["conversations announced", "units written", "conversations published", "rows deleted"]
)
def test_a_killed_join_is_done_or_not_begun(memory: Opens, tmp_path: Path, step: str) -> None:
    """Whoever opens the database again sees two conversations or one, and joining them, where they are two, ends it."""
    kill_in(killed_joining, tmp_path, step)
    is_joined = require_one_or_two(memory())
    assert is_joined is (step in ("conversations published", "rows deleted"))
    if is_joined:
        with pytest.raises(StoreError, match="no conversation 'other'"):
            join(memory())
    else:
        join(memory())
    memory().add_turns(named(EARLIER, "any"))  # deletes what is left
    assert require_no_rows_over(memory()) == {"any", "one"}
    assert memory().verify() == []
    assert [added.new_turns for added in memory().add_all(windows())] == [0, 0]


def killed_joining(folder: Path, step: str) -> None:
    """Be the process that is killed at that step of joining."""

    def written(what: str) -> None:
        if what == step:
            os.kill(os.getpid(), signal.SIGKILL)

    address = MilvusAddress(path=folder / "database")
    for hook in (unwatched, written):
        memory = MilvusMemory(address, folder / "beside", HashEmbedder(), announce=print, written=hook)
        if hook is unwatched:
            memory.add_all(windows())
        else:
            join(memory)


def killed_forgetting(folder: Path, step: str) -> None:
    """Be the process that is killed at that step of forgetting."""
    killed(folder, "never")

    def written(what: str) -> None:
        if what == step:
            os.kill(os.getpid(), signal.SIGKILL)

    address = MilvusAddress(path=folder / "database")
    memory = MilvusMemory(address, folder / "beside", HashEmbedder(), announce=print, written=written)
    memory.forget(Selection(conversations=("killed",)))


def perform(operation: str, memory: Any) -> None:
    """Perform an operation that any memory can do."""
    OPERATIONS[operation](memory, lambda _: None)


def memory_of(folder: Path, written: Callable[[str], None] = unwatched) -> MilvusMemory:
    """Return the memory in a folder of a test's own."""
    address = MilvusAddress(path=folder / "database")
    return MilvusMemory(address, folder / "beside", HashEmbedder(), announce=lambda _: None, written=written)


def killed_beside(folder: Path, operation: str, last: int) -> None:
    """Be the process that is killed at that step of an operation on what lies beside the database."""
    cafe = samples.chat()
    memory_of(folder).add_all([cafe])
    GoalFolder(folder / "beside" / GOALS).save(goal_about(cafe.turns[1]))
    perform(operation, memory_of(folder, stopping_dead_at(last)))


def stopping_dead_at(last: int) -> Callable[[str], None]:
    """Return what kills the process at that step of a write, counted from 0."""
    left = last

    def written(_: str) -> None:
        nonlocal left
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    return written


def each_killed(folder: Path, operation: str) -> Iterator[MilvusMemory]:
    """Yield the memory as it is after the operation was killed at each of its steps, and at last after none."""
    for step in count():
        place = folder / f"step{step}"
        is_killed = is_killed_in(killed_beside, place, operation, step)
        yield memory_of(place)
        close_embedded()
        if not is_killed:
            assert step >= 2
            return


@pytest.mark.slow
def test_killed_while_saying_who_is_who(tmp_path: Path) -> None:
    """What was said of people is there as a whole, or as it was before; the turns stay, and saying it again ends it."""
    reached = set()
    for memory in each_killed(tmp_path, "say-who"):
        assert len(memory.turns()) == len(samples.CAFE)
        said = tuple((person.name, len(person.voices)) for person in People.of_folder(memory.path).persons)
        reached.add(said)
        perform("say-who", memory)
        assert [(person.name, len(person.voices)) for person in People.of_folder(memory.path).persons] == [
            ("Benjamin", 2)
        ]
        assert not list(memory.path.glob(".people*"))
    assert reached == {(), (("Benjamin", 1),), (("Benjamin", 2),)}


@pytest.mark.slow
def test_killed_while_somebody_with_a_name_is_forgotten(tmp_path: Path) -> None:
    """Turns leave marks before they go; the name stays as long as a turn does, and then no file beside has it."""
    theirs, reached = len(samples.CAFE) // 2, set()
    for memory in each_killed(tmp_path, "forget-person"):
        turns, marked = len(memory.turns()), Tombstones.of_folder(memory.path).counts[0]
        assert (turns, marked) in {(2 * theirs, 0), (2 * theirs, theirs), (theirs, theirs)}
        reached.add((turns, marked))
        if turns > theirs and marked:
            assert [person.name for person in People.of_folder(memory.path).persons] == ["Benjamin the Second"]
        perform("forget-person", memory)
        memory.add_turns(named(EARLIER[:1], "any"))  # ends what was begun
        assert len(memory.turns()) == theirs + 1
        assert Tombstones.of_folder(memory.path).counts == (theirs, 0)
        assert People.of_folder(memory.path) == People()
        assert holding(memory.path, ("Benjamin the Second",)) == []
        assert memory.verify() == []
    assert reached == {(2 * theirs, 0), (2 * theirs, theirs), (theirs, theirs)}


@pytest.mark.slow
def test_killed_while_a_goal_is_checked(tmp_path: Path) -> None:
    """The goal has its old state or the new one too; forgetting what a state shows leaves it undermined."""
    reached = set()
    for memory in each_killed(tmp_path, "check-goal"):
        (goal,) = GoalFolder(memory.path / GOALS).all()
        reached.add(len(goal.states))
        assert len(memory.turns()) == len(samples.CAFE)
        perform("forget", memory)
        (goal,) = GoalFolder(memory.path / GOALS).all()
        assert goal.states[0].status is GoalStatus.UNDERMINED
        assert holding(memory.path / GOALS, (samples.CAFE[1],)) == []
    assert reached == {1, 2}
