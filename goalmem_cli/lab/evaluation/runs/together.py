"""Work on several items at a time with one model, which gets their requests in one call.

Each item has its own thread, but only one thread runs at a time, except while waiting for the model. So stores and
other shared objects never meet two threads at once. A model in this process is called by the thread that called `each`,
with all pending requests in the order of the items; the same items thus make the same calls, however threads are
scheduled. A server is called by each thread at once, because it makes its own batches.
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
    """A way to process items: `done` receives each result on the calling thread as soon as it exists."""

    def __call__(self, items: Iterable[T], work: Callable[[T], R], done: Callable[[R], None]) -> None:
        """Process every item; the first error ends everything."""
        ...


def one_by_one(items: Iterable[T], work: Callable[[T], R], done: Callable[[R], None]) -> None:
    """Process the items one after another."""
    for item in items:
        done(work(item))


def complete_each(
    model: LanguageModel, groups: Sequence[Sequence[Request]]
) -> list[list[Completion] | ContextOverflow]:
    """Return each group's completions from one call; a group that overflows gets its error instead.

    A model rejects a whole call for one overflow; then every group is asked for separately.

    Raises:
        ModelError: the model cannot be used.
    """
    try:
        completions = iter(model.complete([request for group in groups for request in group]))
        return [list(islice(completions, len(group))) for group in groups]
    except ContextOverflow as error:
        if len(groups) == 1:
            return [error]
    return [reply for group in groups for reply in complete_each(model, [group])]


class Together:
    """Processes several items at a time, and acts as the model that their work calls."""

    def __init__(self, model: LanguageModel, at_once: int, *, is_shared: bool) -> None:
        """Take the model and the number of items at a time; `is_shared` says that threads may call it at once."""
        self._model = model
        self._at_once = at_once
        self._is_shared = is_shared
        self._here = local()

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order; other items run meanwhile.

        Raises:
            ModelError: the model cannot be used.
        """
        lane: _Lane[Any] | None = getattr(self._here, "lane", None)
        if lane is None:
            return self._model.complete(requests)
        return lane.call(self._model, requests) if self._is_shared else lane.ask(requests)

    def each(self, items: Iterable[T], work: Callable[[T], R], done: Callable[[R], None]) -> None:
        """Process the items; a finished item is replaced by the next at once.

        Results come in the order of completion. An error or interruption ends all work.

        Raises:
            As `work` and `done`; ModelError: the model cannot be used.
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
        """Call the model with the requests of all waiting lanes, and store the replies in them."""
        replies = complete_each(self._model, [lane.asked for lane in lanes])
        for lane, reply in zip(lanes, replies, strict=True):
            lane.reply = reply
        return list(lanes)


class _Abandoned(BaseException):
    """Ends work whose result is no longer needed; a BaseException, so that no reasoner catches it."""


class _Lane(Generic[R]):
    """An item's work on its own thread, which runs only while `run` waits for it."""

    def __init__(self, work: Callable[[], R], here: local, called: SimpleQueue[_Lane[R]]) -> None:
        """Take the work, the thread-local that holds its lane, and the queue that announces a server's reply."""
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
        """Let the work run until it waits for the model or is done; return whether it is done."""
        if self._thread.ident is None:
            self._thread.start()
        else:
            self._turn.release()
        self._pause.acquire()
        if self.outcome.done():
            self._thread.join()
        return self.outcome.done()

    def ask(self, requests: Sequence[Request]) -> list[Completion]:
        """Pause until the model's reply is set, and return it."""
        self.asked = requests
        self._pause.release()
        self._wait()
        if isinstance(self.reply, ContextOverflow):
            raise self.reply
        return self.reply

    def call(self, model: LanguageModel, requests: Sequence[Request]) -> list[Completion]:
        """Call the model while other lanes run."""
        self._is_calling = True  # set before the check in `_go_on`; `abandon` reads the two in the opposite order
        self._go_on()
        self._pause.release()
        try:
            return model.complete(requests)
        finally:
            self._is_calling = False
            self._called.put(self)
            self._wait()

    def abandon(self) -> None:
        """End the work at its next wait for the model; do not wait for a server's reply."""
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
        except BaseException as error:  # noqa: BLE001 - raised again on the thread that reads the outcome
            self.outcome.set_exception(error)
        finally:
            self._pause.release()
