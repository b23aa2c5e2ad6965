"""Read people's marks of a run's answers from a CSV file with one row per answer."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

Row: TypeAlias = dict[str, str] | csv.Error


@dataclass(frozen=True, slots=True)
class Labels:
    """The marks by answer (True is right); `rows` counts all rows, `bad` describes those without a mark."""

    marks: Mapping[AnswerKey, bool]
    rows: int
    bad: tuple[str, ...]


def read_labels(path: Path, run: Run) -> Labels:
    """Return the marks of a UTF-8 CSV file with a header; other columns are ignored.

    A row without a mark is left out, counted, and described with its line and the reason.

    Raises:
        InputError: the file cannot be read, lacks a column, or gives no mark at all.
    """
    answers = frozenset((one.case, one.reasoner, one.backbone) for one in run.answered)
    marks, lines, bad, rows = dict[AnswerKey, bool](), dict[AnswerKey, int](), list[str](), 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line, row in _rows(path, file):
                rows += 1
                try:
                    key, is_right = _marked(row, answers)
                    if key in lines:
                        raise ValueError(f"line {lines[key]} marks this answer already")
                    marks[key], lines[key] = is_right, line
                except ValueError as error:
                    bad.append(InputError(path, f"line {line}", str(error)).message)
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        raise InputError(path, "", reason, "check the path and its permissions") from error
    except UnicodeDecodeError as error:
        raise InputError(path, "", f"not UTF-8 text ({error.reason})", "save the table as CSV in UTF-8") from error
    if not marks:
        reason = bad[0].removeprefix(f"{path}: ") if bad else "there are no rows"
        raise InputError(path, "", f"gives no mark: {reason}", _HINT)
    return Labels(marks, rows, tuple(bad))


def _marked(row: Row, answers: Iterable[AnswerKey]) -> tuple[AnswerKey, bool]:
    """Return the answer of a row and its mark; a column may be empty if the run has only one value for it.

    Raises:
        ValueError: the row is invalid, has no mark, or matches no answer or several.
    """
    if isinstance(row, csv.Error):
        raise ValueError(f"not a row of a CSV file: {row}")
    wanted = (row.get(QUESTION, ""), row.get(REASONER, ""), row.get(BACKBONE, ""))
    if not wanted[0]:
        raise ValueError(f"there is no {QUESTION}")
    left = [key for key in answers if key[0] == wanted[0]]
    if not left:
        raise ValueError(f"the run has no answer to a question called {wanted[0][:80]!r}")
    for place, name in ((1, REASONER), (2, BACKBONE)):
        if not wanted[place] and len({key[place] for key in left}) > 1:
            raise ValueError(f"there is no {name}, and the run has several")
        left = [key for key in left if wanted[place] in ("", key[place])]
        if not left:
            raise ValueError(f"the run has no such answer of the {name} {wanted[place][:80]!r}")
    word = row.get(MARK, "").casefold()
    if word not in MARKS:
        raise ValueError(f"{word[:40]!r} is neither right nor wrong" if word else "there is no mark")
    return left[0], MARKS[word]


def _rows(path: Path, file: Iterator[str]) -> Iterator[tuple[int, Row]]:
    """Yield the rows with their last line numbers; for an invalid row its error."""
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
            yield rows.line_num + 1, error
            continue
        if any(cell.strip() for cell in cells):
            yield rows.line_num + 1, _row(names, cells)


def _row(names: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """Return a row's cells by header, without the apostrophe with which spreadsheets mark text."""
    return {name: cell.strip().removeprefix("'") for name, cell in zip(names, cells, strict=False)}


def _named(cell: str) -> str:
    name = "_".join(cell.casefold().split())
    return _NAMES.get(name, name)
