"""Measure the stages of one question and, on request, record each prompt with its reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter

OPENING, LOADING, EMBEDDING, SEARCHING, LAYING_OUT, REST = (
    "opening the store", "loading the model", "embedding", "searching", "laying out facts", "checking and the rest",
)  # fmt: skip
MODEL = "model: "
"""The prefix of the names of a model's stages; the step follows."""


@dataclass(frozen=True, slots=True)
class Stage:
    """How often a stage ran, and its total seconds without nested stages."""

    name: str
    seconds: float
    times: int


@dataclass(frozen=True, slots=True)
class Exchange:
    """A prompt of a step and its reply. `messages` are (role, text), with roles ``system``, ``user`` ..."""

    step: str
    messages: tuple[tuple[str, str], ...]
    reply: str
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0


class Watch:
    """Adds up the seconds of a question's stages; with `keeps_prompts`, it also records prompts and replies.

    `shown` and `written` count the tokens of a reasoner's calls by step: those of the prompts beside their fixed text,
    and those of the replies; `last_tokens` counts both for the last call. `memory_tokens` counts the prompts and
    replies of what a backbone asks while it searches.
    """

    def __init__(self, *, keeps_prompts: bool = False) -> None:
        self.keeps_prompts = keeps_prompts
        self.exchanges: list[Exchange] = []
        self.shown: Counter[str] = Counter()
        self.written: Counter[str] = Counter()
        self.last_tokens = 0
        self.memory_tokens = 0
        self._seconds: dict[str, float] = {}
        self._times: dict[str, int] = {}
        self._within = [REST]
        self._since = perf_counter()

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages so far, in the order of their first run; the time outside of stages comes last."""
        self._count()
        named = tuple(Stage(name, self._seconds.get(name, 0.0), times) for name, times in self._times.items())
        return (*named, Stage(REST, self._seconds[REST], 1))

    def begin(self, name: str) -> None:
        """Begin a stage; the time counts for it until it ends."""
        self._count()
        self._within.append(name)
        self._times[name] = self._times.get(name, 0) + 1

    def end(self) -> None:
        """End the stage that began last."""
        self._count()
        self._within.pop()

    def _count(self) -> None:
        now = perf_counter()
        name = self._within[-1]
        self._seconds[name] = self._seconds.get(name, 0.0) + now - self._since
        self._since = now


_RUNNING: ContextVar[Watch | None] = ContextVar("watch", default=None)


def running() -> Watch | None:
    """Return this thread's watch, or None."""
    return _RUNNING.get()


@contextmanager
def watching(*, keeps_prompts: bool = False) -> Iterator[Watch]:
    """Yield a watch for this thread; if one is already running, yield that, which then keeps prompts too if asked."""
    watch = _RUNNING.get()
    if watch is not None:
        watch.keeps_prompts |= keeps_prompts
        yield watch
        return
    watch = Watch(keeps_prompts=keeps_prompts)
    token = _RUNNING.set(watch)
    try:
        yield watch
    finally:
        _RUNNING.reset(token)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Count the time of the block for a stage, if a watch is running."""
    watch = _RUNNING.get()
    if watch is None:
        yield
        return
    watch.begin(name)
    try:
        yield
    finally:
        watch.end()
