"""Several pieces of work at a time that all wait for one model: it gets in one call what they ask of it.

Each piece of work has a thread of its own, and only one of them runs at a time, but for waiting for the model: whatever
else they use, stores above all, never meets two threads at once. A model in this process is called by the thread that
called `each`, with all that is asked, in the order of the work: the same work makes the same calls, however the system
schedules threads. A server is called by each as soon as it asks, since it makes batches of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from itertools import islice
from queue import SimpleQueue
from threading import Semaphore, Thread, local
from typing import Any, Generic, Protocol, TypeVar

from goalmem_cli.errors import ContextOverflow
from goalmem_cli.ports import Completion, LanguageModel, Request

T = TypeVar("T")
R = TypeVar("R")


class Each(Protocol):
    """A way to work on items: `done` gets each result as soon as it is there, on the calling thread."""

    def __call__(self, items: Iterable[T], work: Callable[[T], R], done: Callable[[R], None]) -> None:
        """Work on every item; the first error ends it all."""
        ...


def one_by_one(items: Iterable[T], work: Callable[[T], R], done: Callable[[R], None]) -> None:
    """Work on the items in their order, each when the one before it is done."""
    for item in items:
        done(work(item))


def complete_each(
    model: LanguageModel, groups: Sequence[Sequence[Request]]
) -> list[list[Completion] | ContextOverflow]:
    """Return each group's completions, all asked for in one call; a group that overflows has its error instead.

    The model refuses a call for one overflow in it: then every group is asked for by itself.

    Raises:
        ModelError: the model could not be used at all.
    """
    try:
        completions = iter(model.complete([request for group in groups for request in group]))
        return [list(islice(completions, len(group))) for group in groups]
    except ContextOverflow as error:
        if len(groups) == 1:
            return [error]
    return [reply for group in groups for reply in complete_each(model, [group])]


class Together:
    """Works on several items at a time, and is the model that the work asks."""

    def __init__(self, model: LanguageModel, at_once: int, *, is_shared: bool) -> None:
        """Take the model and how many items to work on at a time; `is_shared` says that several threads may call it."""
        self._model = model
        self._at_once = at_once
        self._is_shared = is_shared
        self._here = local()

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order; asked by the work of `each`, others run meanwhile.

        Raises:
            ModelError: the model could not be used at all.
        """
        lane: _Lane[Any] | None = getattr(self._here, "lane", None)
        if lane is None:
            return self._model.complete(requests)
        return lane.call(self._model, requests) if self._is_shared else lane.ask(requests)

    def each(self, items: Iterable[T], work: Callable[[T], R], done: Callable[[R], None]) -> None:
        """Work on the items; a place that becomes free is taken by the next item at once.

        Results come in the order in which they are there. An error or interruption ends all that is under way.

        Raises:
            As `work` and `done`; ModelError: the model could not be used at all.
        """
        if self._at_once == 1:
            one_by_one(items, work, done)
            return
        left, lanes, called = deque(items), list[_Lane[R]](), SimpleQueue[_Lane[R]]()
        try:
            while left or lanes:
                if left and len(lanes) < self._at_once:
                    lanes.append(_Lane(partial(work, left.popleft()), self._here, called))
                    ready = lanes[-1:]
                else:
                    ready = [called.get()] if self._is_shared else self._replied(lanes)
                for lane in ready:
                    if lane.run():
                        lanes.remove(lane)
                        done(lane.outcome.result())
        finally:
            for lane in lanes:
                lane.abandon()

    def _replied(self, lanes: Sequence[_Lane[R]]) -> list[_Lane[R]]:
        """Return the lanes, all of which wait for the model, with what it replies to them."""
        replies = complete_each(self._model, [lane.asked for lane in lanes])
        for lane, reply in zip(lanes, replies, strict=True):
            lane.reply = reply
        return list(lanes)


class _Abandoned(BaseException):
    """Ends work whose result nobody waits for any more; no reasoner takes it for an error of its own."""


class _Lane(Generic[R]):
    """A piece of work on a thread of its own, which runs only while `run` waits for it."""

    def __init__(self, work: Callable[[], R], here: local, called: SimpleQueue[_Lane[R]]) -> None:
        """Take the work, what tells its thread its lane, and where to say that the model's reply to a call is there."""
        self.outcome: Future[R] = Future()
        self.asked: Sequence[Request] = ()
        self.reply: list[Completion] | ContextOverflow = []
        self._work = work
        self._here = here
        self._called = called
        self._is_calling = False
        self._is_abandoned = False
        self._turn, self._pause = Semaphore(0), Semaphore(0)
        self._thread = Thread(target=self._work_off, daemon=True)

    def run(self) -> bool:
        """Let the work go on until it waits for the model or is done, and return whether it is done."""
        if self._thread.ident is None:
            self._thread.start()
        else:
            self._turn.release()
        self._pause.acquire()
        if self.outcome.done():
            self._thread.join()
        return self.outcome.done()

    def ask(self, requests: Sequence[Request]) -> list[Completion]:
        """Return what stands in `reply` when the work goes on."""
        self.asked = requests
        self._pause.release()
        self._wait()
        if isinstance(self.reply, ContextOverflow):
            raise self.reply
        return self.reply

    def call(self, model: LanguageModel, requests: Sequence[Request]) -> list[Completion]:
        """Return what the model replies, while others run."""
        self._is_calling = True  # before it is asked whether to go on: `abandon` looks at both the other way round
        self._go_on()
        self._pause.release()
        try:
            return model.complete(requests)
        finally:
            self._is_calling = False
            self._called.put(self)
            self._wait()

    def abandon(self) -> None:
        """End the work where it next waits for the model; whoever waits for a server's reply is not waited for."""
        self._is_abandoned = True
        self._turn.release()
        if self._thread.is_alive() and not self._is_calling:
            self._thread.join()

    def _wait(self) -> None:
        self._turn.acquire()
        self._go_on()

    def _go_on(self) -> None:
        if self._is_abandoned:
            raise _Abandoned

    def _work_off(self) -> None:
        self._here.lane = self
        try:
            self.outcome.set_result(self._work())
        except BaseException as error:  # noqa: BLE001 - raised again on the thread that takes the outcome
            self.outcome.set_exception(error)
        finally:
            self._pause.release()
