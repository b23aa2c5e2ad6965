"""Read people's marks of a run's answers from a CSV file with one row per answer."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from goalmem_cli.errors import InputError
from goalmem_cli.lab.evaluation.runs.run import Run

AnswerKey: TypeAlias = tuple[str, str, str]
"""An answer of a run: case, reasoner and backbone."""

QUESTION, REASONER, BACKBONE, MARK = "question", "reasoner", "backbone", "mark"
MARKS: Mapping[str, bool] = {
    "right": True, "correct": True, "yes": True, "true": True, "1": True,
    "wrong": False, "incorrect": False, "no": False, "false": False, "0": False,
}  # fmt: skip
_NAMES = {"question_id": QUESTION, "case": QUESTION}
_DELIMITERS = (",", ";", "\t")
_HINT = f"a row has {QUESTION} (its id), {REASONER}, {BACKBONE} and {MARK} (right or wrong)"

Row = tuple[int, dict[str, str]]


@dataclass(frozen=True, slots=True)
class Labels:
    """The marks by answer (True is right); `rows` counts all rows, `bad` describes those without a mark."""

    marks: Mapping[AnswerKey, bool]
    rows: int
    bad: tuple[str, ...]


@dataclass(slots=True)
class _Reading:
    """The state of reading: the marks so far with their lines."""

    path: Path
    answers: frozenset[AnswerKey]
    marks: dict[AnswerKey, bool] = field(default_factory=dict)
    lines: dict[AnswerKey, int] = field(default_factory=dict)
    bad: list[str] = field(default_factory=list)
    rows: int = 0

    def take(self, line: int, row: Mapping[str, str]) -> None:
        """Take a row, or record what is wrong with it."""
        self.rows += 1
        try:
            key = self._answer(row)
            word = row.get(MARK, "").casefold()
            if word not in MARKS:
                raise ValueError(f"{word[:40]!r} is neither right nor wrong" if word else "there is no mark")
            if key in self.lines:
                raise ValueError(f"line {self.lines[key]} marks this answer already")
        except ValueError as error:
            self.leave_out(line, str(error))
        else:
            self.marks[key], self.lines[key] = MARKS[word], line

    def leave_out(self, line: int, reason: str) -> None:
        """Count and describe a row without a mark."""
        self.bad.append(InputError(self.path, f"line {line}", reason).message)

    def _answer(self, row: Mapping[str, str]) -> AnswerKey:
        """Return the answer of a row; a column may be empty if the run has only one value for it.

        Raises:
            ValueError: there is no such answer, or several.
        """
        wanted = (row.get(QUESTION, ""), row.get(REASONER, ""), row.get(BACKBONE, ""))
        if not wanted[0]:
            raise ValueError(f"there is no {QUESTION}")
        left = [key for key in self.answers if key[0] == wanted[0]]
        if not left:
            raise ValueError(f"the run has no answer to a question called {wanted[0][:80]!r}")
        for place, name in ((1, REASONER), (2, BACKBONE)):
            there = {key[place] for key in left}
            if not wanted[place] and len(there) > 1:
                raise ValueError(f"there is no {name}, and the run has several")
            left = [key for key in left if wanted[place] in ("", key[place])]
            if not left:
                raise ValueError(f"the run has no such answer of the {name} {wanted[place][:80]!r}")
        return left[0]


def read_labels(path: Path, run: Run) -> Labels:
    """Return the marks of a UTF-8 CSV file with a header; other columns are ignored.

    A row without a mark is left out, counted, and described with its line and the reason.

    Raises:
        InputError: the file cannot be read, lacks a column, or gives no mark at all.
    """
    reading = _Reading(path, frozenset((one.case, one.reasoner, one.backbone) for one in run.answered))
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line, row in _rows(path, file, reading):
                reading.take(line, row)
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        raise InputError(path, "", reason, "check the path and its permissions") from error
    except UnicodeDecodeError as error:
        raise InputError(path, "", f"not UTF-8 text ({error.reason})", "save the table as CSV in UTF-8") from error
    if not reading.marks:
        reason = reading.bad[0].removeprefix(f"{path}: ") if reading.bad else "there are no rows"
        raise InputError(path, "", f"gives no mark: {reason}", _HINT)
    return Labels(reading.marks, reading.rows, tuple(reading.bad))


def _rows(path: Path, file: Iterator[str], reading: _Reading) -> Iterator[Row]:
    """Yield the rows with their last line numbers; invalid CSV rows are left out."""
    head = next(file, "")
    delimiter = max(_DELIMITERS, key=head.count)
    names = [_named(cell) for cell in next(csv.reader([head], delimiter=delimiter), [])]
    for needed in (QUESTION, MARK):
        if needed not in names:
            raise InputError(path, "line 1", f"no column is called {needed}", _HINT)
    rows = csv.reader(file, delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            reading.rows += 1
            reading.leave_out(rows.line_num + 1, f"not a row of a CSV file: {error}")
            continue
        if any(cell.strip() for cell in cells):
            yield rows.line_num + 1, _row(names, cells)


def _row(names: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """Return a row's cells by header, without the apostrophe with which spreadsheets mark text."""
    return {name: cell.strip().removeprefix("'") for name, cell in zip(names, cells, strict=False)}


def _named(cell: str) -> str:
    name = "_".join(cell.casefold().split())
    return _NAMES.get(name, name)
