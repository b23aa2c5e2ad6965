"""How the tests of datasets read a file's questions."""

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.questions import ordered
from goalmem_cli.transcripts import Source


def questions_by(
    read_cases: Callable[[Source, Counter[str]], Iterable[Case]],
) -> Callable[[Path], tuple[list[Case], dict[str, int]]]:
    """Return what gives a file's questions, as this reader reads them, and what was repaired, with how often."""

    def read(path: Path) -> tuple[list[Case], dict[str, int]]:
        repairs: Counter[str] = Counter()
        cases = list(read_cases(Source.from_path(path), repairs))
        return cases, ordered(repairs)

    return read
