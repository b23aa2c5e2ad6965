"""Several pieces of work at a time: one model call for all that wait, one of them running at a time, no error shared."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import pytest

from goalmem_cli.errors import ContextOverflow, ModelError, StoreError
from goalmem_cli.lab.evaluation.runs.together import Each, Together, complete_each, one_by_one
from goalmem_cli.ports import Completion, GrammarShape, Request

SHAPE = GrammarShape('root ::= "x"')
ROUNDS = {"a": 2, "b": 1, "c": 3, "d": 0, "e": 2, "f": 1, "g": 2}
OVERFLOW = ContextOverflow("too long", "shorten it")


def request(text: str) -> Request:
    """A request that says no more than this."""
    return Request("step", "", (), text, "", SHAPE)


class Recorder:
    """A model that echoes, keeps each call's texts, and counts how many calls are under way; some texts do something."""

    def __init__(self, on: Mapping[str, Callable[[], object]] | None = None) -> None:
        self.calls: list[list[str]] = []
        self.callers: set[threading.Thread] = set()
        self.most_at_once = 0
        self._at_once = 0
        self._on = on or {}
        self._lock = threading.Lock()

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return each request's text in capitals."""
        texts = [request.growing for request in requests]
        with self._lock:
            self.calls.append(texts)
            self.callers.add(threading.current_thread())
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            for text in texts:
                self._on.get(text, lambda: None)()
        finally:
            with self._lock:
                self._at_once -= 1
        return [Completion(text.upper()) for text in texts]


class Work:
    """Asks the model as many times as an item's `ROUNDS`, and notices whether another runs at the same time."""

    def __init__(self, model: Together, rounds: dict[str, int] | None = None, seed: int | None = None) -> None:
        self._model = model
        self._rounds = ROUNDS if rounds is None else rounds
        self._chance = None if seed is None else random.Random(seed)  # noqa: S311 - no secret
        self._running = 0
        self.ended: list[str] = []
        self.overlaps = 0

    def __call__(self, item: str) -> str:
        """Return what the model replied to the item in all."""
        said = ""
        self._enter()
        try:
            for number in range(1, self._rounds[item] + 1):
                self._leave()
                try:
                    replies = self._model.complete([request(f"{item}{number}")])
                finally:
                    self._enter()
                said += " ".join(reply.text for reply in replies)
        finally:
            self.ended.append(item)
            self._leave()
        return said

    def _enter(self) -> None:
        self._running += 1
        self.overlaps += self._running > 1
        if self._chance is not None:
            time.sleep(self._chance.random() / 2000)

    def _leave(self) -> None:
        self._running -= 1


def said_of(item: str) -> str:
    """What the work on an item comes to, by itself."""
    return "".join(f"{item}{number}".upper() for number in range(1, ROUNDS[item] + 1))


@contextmanager
def no_thread_left(*, is_shared: bool = False) -> Iterator[None]:
    """See to it that the block leaves no thread behind, but for those that a server has just answered."""
    before = set(threading.enumerate())
    yield
    left = set(threading.enumerate()) - before
    assert is_shared or not left
    for thread in left:
        thread.join()


def fail(error: BaseException) -> Callable[[], None]:
    """Return what raises the error."""

    def failing() -> None:
        raise error

    return failing


def test_all_that_wait_go_in_one_call() -> None:
    """In the order of the work, on the calling thread; whoever is done gives its place to the next at once."""
    model, done = Recorder(), list[str]()
    together = Together(model, 3, is_shared=False)
    with no_thread_left():
        together.each(ROUNDS, Work(together), done.append)

    assert model.calls == [
        ["a1", "b1", "c1"],
        ["a2", "c2", "e1"],  # d asks nothing
        ["c3", "e2", "f1"],
        ["g1"],
        ["g2"],
    ]
    assert model.callers == {threading.main_thread()}
    assert done == [said_of(item) for item in ("b", "d", "a", "c", "e", "f", "g")]


@pytest.mark.parametrize("at_once", [2, 3, 8])
def test_the_same_work_makes_the_same_calls(at_once: int) -> None:
    """However long each piece takes between its calls, batches and the order of the results are the same."""
    seen = set()
    for seed in range(12):
        model, done = Recorder(), list[str]()
        together = Together(model, at_once, is_shared=False)
        work = Work(together, seed=seed)
        together.each(ROUNDS, work, done.append)
        assert not work.overlaps
        assert sorted(done) == sorted(map(said_of, ROUNDS))
        seen.add((tuple(map(tuple, model.calls)), tuple(done)))
    assert len(seen) == 1


@pytest.mark.parametrize("seed", range(6))
def test_a_server_gets_each_call_by_itself(seed: int) -> None:
    """At most so many at once, in whatever order they come back; beside waiting, only one piece of work runs."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    waits = {f"{item}{n}": partial(time.sleep, chance.random() / 200) for item in ROUNDS for n in (1, 2, 3)}
    model, done = Recorder(waits), list[str]()
    together = Together(model, 3, is_shared=True)
    work = Work(together, seed=seed)
    with no_thread_left(is_shared=True):
        together.each(ROUNDS, work, done.append)

    assert sorted(model.calls) == sorted(
        [f"{item}{n}"] for item, rounds in ROUNDS.items() for n in range(1, rounds + 1)
    )
    assert sorted(done) == sorted(map(said_of, ROUNDS))
    assert model.most_at_once <= 3
    assert not work.overlaps


def test_calls_to_a_server_are_under_way_at_the_same_time() -> None:
    """All three are there before any of them is answered."""
    everybody = threading.Barrier(3)
    model = Recorder({f"{item}1": lambda: everybody.wait(600) for item in "abc"})
    together = Together(model, 3, is_shared=True)
    together.each("abc", Work(together), lambda _: None)
    assert model.most_at_once == 3


def test_nobody_waits_for_a_slow_reply_of_a_server() -> None:
    """All others are done while one is waiting, and their results are kept by then."""
    others, done = threading.Event(), list[str]()
    model = Recorder({"a1": lambda: others.wait()})
    together = Together(model, 2, is_shared=True)

    def keep(said: str) -> None:
        done.append(said)
        if len(done) == len(ROUNDS) - 1:
            others.set()

    together.each(ROUNDS, Work(together), keep)
    assert done[-1] == said_of("a")


@pytest.mark.parametrize("is_shared", [False, True])
def test_one_at_a_time_takes_no_thread(is_shared: bool) -> None:
    """Everything is on the calling thread then, in its order, and one call follows the other."""
    model, threads, done = Recorder(), set(), list[str]()
    together = Together(model, 1, is_shared=is_shared)
    work = Work(together)

    def watched(item: str) -> str:
        threads.add(threading.current_thread())
        return work(item)

    together.each(ROUNDS, watched, done.append)
    assert threads == {threading.current_thread()}
    assert done == [said_of(item) for item in ROUNDS]
    assert model.calls == [[f"{item}{n}"] for item, rounds in ROUNDS.items() for n in range(1, rounds + 1)]


@pytest.mark.parametrize("is_shared", [False, True])
def test_an_overflow_is_its_own_questions_only(is_shared: bool) -> None:
    """It is raised where the long prompt was asked about, which may go on with another; the others have their replies."""
    model, done = Recorder({"b1": fail(OVERFLOW)}), list[str]()
    together = Together(model, 3, is_shared=is_shared)
    work = Work(together)

    def careful(item: str) -> str:
        try:
            return work(item)
        except ContextOverflow as error:
            assert error is OVERFLOW
            return together.complete([request("shorter")])[0].text

    together.each("abc", careful, done.append)
    assert sorted(done) == sorted([said_of("a"), "SHORTER", said_of("c")])
    if not is_shared:
        assert model.calls[:5] == [["a1", "b1", "c1"], ["a1"], ["b1"], ["c1"], ["a2", "shorter", "c2"]]


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("error", [ModelError("gone", "look"), KeyboardInterrupt(), AssertionError("a bug")])
def test_an_error_of_the_model_ends_it_all(is_shared: bool, error: BaseException) -> None:
    """It comes out as it is; what was done before is kept, and what was under way is ended in good order."""
    model, done = Recorder({"e1": fail(error)}), list[str]()
    together = Together(model, 3, is_shared=is_shared)
    work = Work(together)
    with no_thread_left(is_shared=is_shared), pytest.raises(type(error)) as caught:
        together.each(ROUNDS, work, done.append)

    assert caught.value is error
    assert set(done) < set(map(said_of, ROUNDS))
    assert len(work.ended) == len(set(work.ended))
    if not is_shared:  # where the order in which a server replies does not decide
        assert done == [said_of("b"), said_of("d")]
        assert work.ended == ["b", "d", "a", "c", "e"]


@pytest.mark.parametrize("is_shared", [False, True])
def test_an_error_of_the_work_or_of_keeping_its_result_ends_it_all(is_shared: bool) -> None:
    """The store, or the disk: no thread stays, and nobody is asked for anything more."""
    for place in ("work", "done"):
        model = Recorder()
        together = Together(model, 2, is_shared=is_shared)
        work = Work(together)

        def failing(item: str, work: Work = work, place: str = place) -> str:
            said = work(item)
            if place == "work" and item == "b":
                raise StoreError("damaged", "restore it")
            return said

        def keep(said: str, place: str = place) -> None:
            if place == "done" and said == said_of("b"):
                raise StoreError("full", "make room")

        with no_thread_left(is_shared=is_shared), pytest.raises(StoreError):
            together.each("abc", failing, keep)
        assert is_shared or model.calls == [["a1", "b1"]]


def test_ending_does_not_wait_for_a_server() -> None:
    """Whoever waits for a reply is left behind, and ends when the reply comes, without having run any further."""
    answers, is_asked = threading.Event(), threading.Event()

    def never() -> None:
        is_asked.set()
        answers.wait()

    def gone() -> None:
        is_asked.wait()
        raise ModelError("gone", "look")

    model = Recorder({"a1": never, "b1": gone})
    together = Together(model, 2, is_shared=True)
    work = Work(together)
    before = set(threading.enumerate())
    with pytest.raises(ModelError):
        together.each("ab", work, lambda _: None)

    (waiting,) = set(threading.enumerate()) - before
    assert waiting.daemon
    answers.set()
    waiting.join()
    assert work.ended == ["b", "a"]
    assert ["a2"] not in model.calls


def test_work_that_asks_for_several_gets_its_own_replies() -> None:
    """Requests of one call stay together and in order, also beside those that ask for none."""
    model = Recorder()
    together = Together(model, 3, is_shared=False)
    wanted = {"a": ["a1", "a2"], "b": [], "c": ["c1"]}
    done: list[list[str]] = []
    together.each(
        wanted, lambda item: [c.text for c in together.complete(list(map(request, wanted[item])))], done.append
    )
    assert model.calls == [["a1", "a2", "c1"]]
    assert done == [["A1", "A2"], [], ["C1"]]


def test_outside_of_work_it_is_the_model() -> None:
    """Asked by somebody else, before or after, it asks the model at once."""
    model = Recorder()
    together = Together(model, 3, is_shared=False)
    assert [reply.text for reply in together.complete([request("trial")])] == ["TRIAL"]
    together.each("ab", Work(together), lambda _: None)
    assert [reply.text for reply in together.complete([request("again")])] == ["AGAIN"]
    assert model.calls == [["trial"], ["a1", "b1"], ["a2"], ["again"]]


@pytest.mark.parametrize("each", [one_by_one, Together(Recorder(), 1, is_shared=False).each])
def test_one_by_one_is_in_order(each: Each) -> None:
    """Each result is kept before the next item is begun."""
    told: list[str] = []

    def work(item: str) -> str:
        told.append(f"work {item}")
        return item

    each("ab", work, lambda item: told.append(f"done {item}"))
    assert told == ["work a", "done a", "work b", "done b"]


def test_groups_that_overflow_are_told_apart() -> None:
    """All in one call where they fit; where one does not, each by itself, and only that one has the error."""
    fitting = Recorder()
    groups = [[request("a")], [request("b"), request("c")]]
    assert [
        [reply.text for reply in replies] for replies in complete_each(fitting, groups) if isinstance(replies, list)
    ] == [["A"], ["B", "C"]]
    assert fitting.calls == [["a", "b", "c"]]

    long = Recorder({"c": fail(OVERFLOW)})
    replies = complete_each(long, groups)
    assert (replies[0], replies[1]) == ([Completion("A")], OVERFLOW)
    assert long.calls == [["a", "b", "c"], ["a"], ["b", "c"]]
    assert complete_each(Recorder({"a": fail(OVERFLOW)}), groups[:1]) == [OVERFLOW]
