"""Measure what one question does outside the model: goalmem's functions, how often they run, and the total time.

The model's replies are recorded once and replayed, so that the model takes no time and each run is identical. goalmem's
caches are emptied before each run, as in a new process; modules stay loaded.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import CO_GENERATOR
from pathlib import Path
from types import CodeType, FrameType
from typing import TypeAlias

import goalmem_cli
from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.timing import Progress, timed, unwatched
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.stages import Stage
from goalmem_cli.trace import Fact, Trace

ROUNDS = 9

_PACKAGE = Path(goalmem_cli.__file__).parent
_LABORATORY = "lab/"
_MODELS = f"{goalmem_cli.__name__}.models"
_OPENED = "store/database/opening.py"
_STARTS, _OPENINGS = (_OPENED, "_confined_to"), (_OPENED, "_attach")
_READINGS = (_OPENED, "OpenedOften.read")
_RETRIEVALS = ("store/queries/reader.py", "Reader.rank")
_SCORINGS = ("backbones/relevance.py", "features")

_IN_PASSING = frozenset({"<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Names of code objects that are not functions, though some versions of Python enter them as such."""

Place: TypeAlias = tuple[str, str]
"""A function: its file below the package folder, and its name."""
Ask: TypeAlias = Callable[[LanguageModel], Trace]
"""Opens a memory, asks one question with the model, and returns the trace."""


@dataclass(frozen=True, slots=True)
class OutsideCost:
    """What a question did outside the model, from opening the memory to the kept trace.

    - `files`, `functions`: goalmem's own that ran. `calls`: calls of these functions, without generators.
    - `all_calls`: also calls of Python libraries.
    - `starts`, `openings`: of the database and of its file, for `readings` reads.
    - `retrievals`: rankings of the store's units. `scorings`: of hits by relevance. `facts`: facts built.
    - `milliseconds`, `stages`: of the fastest run, because other load can only slow it down.
    """

    prompts: str
    model_calls: int
    files: int
    functions: int
    calls: int
    all_calls: int
    starts: int
    openings: int
    readings: int
    retrievals: int
    scorings: int
    facts: int
    milliseconds: float
    stages: tuple[Stage, ...]

    def stage_ms(self, name: str) -> float:
        """Return the milliseconds of the stage, without nested stages."""
        return 1000 * sum(stage.seconds for stage in self.stages if stage.name == name)


class Heard:
    """Forwards every call to a model and records its replies."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.said: list[list[Completion]] = []

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the model's completions."""
        self.said.append(self._model.complete(requests))
        return self.said[-1]


class ToldAgain:
    """Replays a model's replies call by call, whatever it is asked."""

    def __init__(self, said: Sequence[list[Completion]]) -> None:
        self._left = deque(said)

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the completions of the next call.

        Raises:
            ModelError: there were fewer calls, or the call had another number of replies.
        """
        said = self._left.popleft() if self._left else []
        if len(said) != len(requests):
            raise ModelError("the question took another way than the first time", "measure again")
        return said


def measure_outside(
    prompts: str, ask: Ask, model: LanguageModel, rounds: int = ROUNDS, report: Progress = unwatched
) -> OutsideCost:
    """Return the cost of the question that `ask` asks; the model is called only in the first run.

    `prompts` names the prompt profile; `report` receives the number of runs done.

    Raises:
        ModelError, StoreError: as in `ask`.
    """
    heard = Heard(model)
    ask(heard)
    report(1, rounds + 2)
    empty_caches()
    with noting() as entered:
        ask(ToldAgain(heard.said))
    seconds: list[tuple[float, tuple[Stage, ...]]] = []
    for done in range(rounds):
        report(done + 2, rounds + 2)
        empty_caches()
        traces: list[Trace] = []
        took = timed(lambda: traces.append(ask(ToldAgain(heard.said))))  # noqa: B023 - called at once
        seconds.append((took, traces[0].stages))
    report(rounds + 2, rounds + 2)
    best, stages = min(seconds, key=lambda run: run[0])
    return _counted(prompts, len(heard.said), entered, 1000 * best, stages)


def empty_caches() -> None:
    """Empty the caches of goalmem's functions, as in a new process.

    The models' caches stay, because one keeps llama.cpp's callback alive.
    """
    modules = [
        module
        for name, module in sys.modules.items()
        if f"{name}.".startswith(f"{goalmem_cli.__name__}.") and not name.startswith(_MODELS)
    ]
    for module in modules:
        for value in list(vars(module).values()):
            clear = getattr(value, "cache_clear", None)
            if callable(clear) and getattr(value, "__module__", "") == module.__name__:
                clear()


@contextmanager
def noting() -> Iterator[list[CodeType]]:
    """Yield a list that receives the code of each Python function entered in the block, in any thread."""
    entered: list[CodeType] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name not in _IN_PASSING:
            entered.append(frame.f_code)

    here, elsewhere = sys.getprofile(), threading.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield entered
    finally:
        sys.setprofile(here)
        threading.setprofile(elsewhere)


def _counted(
    prompts: str, model_calls: int, entered: Sequence[CodeType], milliseconds: float, stages: tuple[Stage, ...]
) -> OutsideCost:
    times = Counter(entered)
    own = {code: place for code in times if (place := _place(code)) is not None}
    by_place: Counter[Place] = Counter()
    for code, place in own.items():
        by_place[place] += times[code]
    return OutsideCost(
        prompts=prompts,
        model_calls=model_calls,
        files=len({file for file, _ in own.values()}),
        functions=len(own),
        calls=sum(times[code] for code in own if not code.co_flags & CO_GENERATOR),
        all_calls=sum(number for code, number in times.items() if not code.co_flags & CO_GENERATOR),
        starts=by_place[_STARTS],
        openings=by_place[_OPENINGS],
        readings=by_place[_READINGS],
        retrievals=by_place[_RETRIEVALS],
        scorings=by_place[_SCORINGS],
        facts=times[Fact.__init__.__code__],
        milliseconds=milliseconds,
        stages=stages,
    )


def _place(code: CodeType) -> Place | None:
    """Return the place of a function of goalmem; None for other packages and for lab/."""
    file = Path(code.co_filename)
    if not file.is_relative_to(_PACKAGE):
        return None
    name = file.relative_to(_PACKAGE).as_posix()
    return None if name.startswith(_LABORATORY) else (name, code.co_qualname)
