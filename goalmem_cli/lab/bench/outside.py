"""Measure what one command does outside the model: it runs in two processes of its own, one counted and one timed."""

from __future__ import annotations

import json
import runpy
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import CO_GENERATOR
from pathlib import Path
from time import perf_counter
from types import CodeType, FrameType

import goalmem_cli
from goalmem_cli.errors import ModelError
from goalmem_cli.lab.bench.timing import run_python
from goalmem_cli.stages import LOADING, MODEL, watching

_PACKAGE = Path(goalmem_cli.__file__).parent
_IN_PASSING = frozenset({"<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


@dataclass(frozen=True, slots=True)
class OutsideCost:
    """What a command did outside the model.

    - `files`: goalmem's own that ran. `calls`: calls of its Python functions, without generators.
    - `openings`: of the database's file. `rankings`: of the store's units. `facts`: facts built.
    - `milliseconds`: from running goalmem's main module to the end, without loading and running the model. Left out are
      the start of Python, and importing what this module imports itself.
    """

    files: int
    calls: int
    openings: int
    rankings: int
    facts: int
    milliseconds: float


def measure_outside(*words: str) -> OutsideCost:
    """Run `goalmem` with these words twice, and return what it cost; raises ModelError if it failed."""
    found: dict[str, float] = {}
    for way in ("counted", "timed"):
        ran = run_python(["-m", __name__, way, *words])
        if ran.has_failed:
            raise ModelError(f"`goalmem {words[0]}` ended with {ran.status}: {ran.said}", "run it by hand")
        found |= json.loads(ran.said[ran.said.rindex("{") :])
    return OutsideCost(**found)  # type: ignore[arg-type]  # counts are whole in JSON too


def _run(words: Sequence[str]) -> int:
    """Run the command in this process, and return its exit code."""
    sys.argv[1:] = words
    try:
        runpy.run_module(goalmem_cli.__name__, run_name="__main__")
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 2
    return 0


def _counted(words: Sequence[str]) -> tuple[int, dict[str, float]]:
    """Run the command, and return its exit code and its counts."""
    entered: Counter[CodeType] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            entered[frame.f_code] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    code = _run(words)
    sys.setprofile(None)
    from goalmem_cli.trace import Fact

    own = [each for each in entered if Path(each.co_filename).is_relative_to(_PACKAGE) and each.co_filename != __file__]
    named: Counter[str] = Counter()
    for each in own:
        if each.co_name not in _IN_PASSING and not each.co_flags & CO_GENERATOR:
            named[each.co_qualname] += entered[each]
    return code, {
        "files": len({each.co_filename for each in own}), "calls": named.total(), "openings": named["_attach"],
        "rankings": named["Reader.rank"], "facts": entered[Fact.__init__.__code__],
    }  # fmt: skip


def _timed(words: Sequence[str]) -> tuple[int, dict[str, float]]:
    """Run the command, and return its exit code and its milliseconds."""
    begun = perf_counter()
    with watching() as watch:
        code = _run(words)
    took = perf_counter() - begun
    model = sum(each.seconds for each in watch.stages if each.name == LOADING or each.name.startswith(MODEL))
    return code, {"milliseconds": 1000 * (took - model)}


if __name__ == "__main__":
    status, found = {"counted": _counted, "timed": _timed}[sys.argv[1]](sys.argv[2:])
    print(json.dumps(found), file=sys.stderr)  # noqa: T201 - for the process that measures
    sys.exit(status)
