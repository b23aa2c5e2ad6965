"""The folder of a run: the manifest, the cases, and one append-only JSON-lines file per stage.

A line is written whole and synced as soon as its question is answered, so an interruption loses only the questions
under way. An incomplete last line is dropped when the run continues.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from filelock import FileLock, Timeout

from goalmem_cli.errors import InputError, StoreLocked, UsageError
from goalmem_cli.json_records import plain, rebuild
from goalmem_cli.lab.evaluation.runs.run import (
    CERTAINTY,
    FACT_TOKENS,
    Answered,
    Built,
    Faulted,
    Grown,
    Manifest,
    Placed,
    Retrieved,
    Run,
    Sorted,
    Verdict,
)
from goalmem_cli.records import encodable
from goalmem_cli.store.files import reporting

SCHEMA_VERSION = 1
MANIFEST, CASES, LOCK = "run.json", "cases.jsonl", "run.lock"
_ROW = ("reasoner", "backbone")
STAGES: dict[type, tuple[str, tuple[str, ...]]] = {
    Retrieved: ("retrieved", ("case", "backbone", "kind")),
    Answered: ("answered", ("case", *_ROW)),
    Verdict: ("verdicts", ("case", *_ROW, "judge", "prompt", "number")),
    Built: ("built", ("backbone", "conversation", "part")),
    Grown: ("grown", ("backbone",)),
    Sorted: ("sorted", ("case",)),
    Faulted: ("faulted", ("case", "backbone", "kind")),
}
"""The name of each stage, and the fields that identify a result within it."""
_BEGUN = {LOCK, CASES, f".{CASES}.part", f".{MANIFEST}.part"}  # files that exist before the manifest
HINT = "check the folder's permissions and the free space, or use --out"
_ADDABLE = ("reasoners", "backbones")
_FACT_TOKENS_BEFORE = {"full": "3000", "compact": "900"}  # before it was a setting
_NO_MATTER = ("sources", "repairs")  # the digest covers the files' content

Result: TypeAlias = Retrieved | Answered | Verdict | Built | Grown | Sorted | Faulted
Key: TypeAlias = tuple[object, ...]
T = TypeVar("T")


def key_of(result: Result) -> Key:
    """Return the key that identifies a result within its stage."""
    return tuple(getattr(result, name) for name in STAGES[type(result)][1])


def _file(kind: type) -> str:
    return f"{STAGES[kind][0]}.jsonl"


class RunFolder:
    """A run in progress; only one process writes it at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(path / LOCK)
        self._files: dict[str, Any] = {}

    @classmethod
    def begin(cls, path: Path, manifest: Manifest, cases: Sequence[Placed], *, is_new: bool = False) -> RunFolder:
        """Return the folder ready for results, as a new run or to continue the existing one.

        Reasoners and backbones may be added to a run; any other difference makes it another run. With `is_new`, no run
        may exist.

        Raises:
            UsageError: the folder holds another run, or something else.
            StoreLocked: another process is writing it.
            StoreError: the folder cannot be written.
            InputError: a file of the run is damaged.
        """
        with reporting(path, HINT):
            path.mkdir(parents=True, exist_ok=True)
            has_run = (path / MANIFEST).exists()
            if not has_run and not {item.name for item in path.iterdir()} <= _BEGUN:
                raise UsageError(f"{path} is not empty, and holds no run", "name another folder with --out")
        if has_run and is_new:
            raise UsageError(f"{path} holds a run already", "name another folder with --out, or go on with --resume")
        folder = cls(path)
        folder._acquire()
        try:
            if (path / MANIFEST).exists():
                manifest = _joined(read_manifest(path), manifest, path)
            else:
                lines = "".join(_line(placed) for placed in cases)
                _replace(path / CASES, lines)
            _replace(path / MANIFEST, json.dumps({"schema_version": SCHEMA_VERSION, **plain(manifest)}, indent=1))
        except BaseException:
            folder.close()
            raise
        return folder

    @classmethod
    def going_on(cls, path: Path) -> RunFolder:
        """Return the folder of an existing run, to add results.

        Raises:
            As `begin`.
        """
        read_manifest(path)
        folder = cls(path)
        folder._acquire()
        return folder

    def append(self, result: Result) -> None:
        """Append a result to its stage's file and sync it.

        Raises:
            StoreError: it cannot be written.
        """
        name = _file(type(result))
        with reporting(self.path / name, HINT):
            if name not in self._files:
                self._files[name] = _opened(self.path / name)
            file = self._files[name]
            file.write(_line(result).encode())
            file.flush()
            os.fsync(file.fileno())

    def keys(self, kind: type[Result]) -> set[Key]:
        """Return the keys of a stage's results so far.

        Raises:
            InputError: the stage's file is damaged.
        """
        return {key_of(result) for result in self.results(kind)}

    def results(self, kind: type[T]) -> Iterator[T]:
        """Yield a stage's results so far.

        Raises:
            InputError: the stage's file is damaged.
        """
        return _results(self.path, kind)

    def close(self) -> None:
        """Release the run for other processes.

        Raises:
            StoreError: pending data cannot be written.
        """
        try:
            with reporting(self.path, HINT):
                for file in self._files.values():
                    file.close()
        finally:
            self._files.clear()
            self._lock.release()

    def _acquire(self) -> None:
        """Take the run's lock; raises StoreLocked at once if another process has it."""
        with reporting(self.path, HINT):
            try:
                self._lock.acquire(timeout=0)
            except Timeout as error:  # Timeout is also an OSError
                raise StoreLocked(
                    f"another process is measuring into {self.path}", "wait for it, or name another folder with --out"
                ) from error


def read_run(path: Path) -> Run:
    """Return the run in the folder, as far as it has come.

    Raises:
        UsageError: there is none.
        InputError: a file is damaged; the place is the line.
    """
    kinds = {each.case: each.kind for each in _results(path, Sorted)}
    cases = (
        replace(placed, case=replace(case, temporal=kinds.get(case.id, case.temporal)))
        for placed in _read(path / CASES, Placed)
        for case in (placed.case,)
    )
    return Run(
        read_manifest(path),
        tuple(sorted(cases, key=lambda placed: placed.place)),
        tuple(_results(path, Retrieved)),
        tuple(_results(path, Answered)),
        tuple(_results(path, Verdict)),
        tuple({key_of(built): built for built in _results(path, Built)}.values()),
        grown=tuple({key_of(grown): grown for grown in _results(path, Grown)}.values()),
        faulted=tuple(_results(path, Faulted)),
    )


def read_manifest(path: Path) -> Manifest:
    """Return the manifest of the run in the folder.

    For older runs, the settings are completed: their least certainty applied to steps, and their number of fact tokens
    was fixed.

    Raises:
        UsageError: there is none.
        InputError: the manifest is damaged.
    """
    file = path / MANIFEST
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"{path} holds no run", "`goalmem eval FILE --out DIR` makes one") from error
    except (OSError, ValueError) as error:
        raise InputError(file, "", f"cannot be read: {error}") from error
    if not isinstance(content, dict) or content.pop("schema_version", None) != SCHEMA_VERSION:
        raise InputError(file, "", "not a manifest that this goalmem reads", "read it with the goalmem that wrote it")
    manifest = _rebuilt(Manifest, content, file, "")
    settings = dict(manifest.settings)
    if (certainty := settings.get(CERTAINTY, "")).isdecimal():
        settings[CERTAINTY] = f"{certainty} of a step"
    if (profile := settings.get("profile", "")) in _FACT_TOKENS_BEFORE:
        settings.setdefault(FACT_TOKENS, _FACT_TOKENS_BEFORE[profile])
    return replace(manifest, settings=settings)


def write_run(path: Path, run: Run) -> None:
    """Write a complete run into a new or empty folder.

    Raises:
        UsageError: the folder is not empty.
        StoreError: it cannot be written.
    """
    with reporting(path, HINT):
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise UsageError(f"{path} is not empty", "name a new folder")
    _replace(path / CASES, "".join(_line(placed) for placed in run.cases))
    for kind, (name, _) in STAGES.items():
        if lines := "".join(map(_line, getattr(run, name, ()))):
            _replace(path / _file(kind), lines)
    _replace(path / MANIFEST, json.dumps({"schema_version": SCHEMA_VERSION, **plain(run.manifest)}, indent=1))


def differing(one: Manifest, other: Manifest, besides: Iterable[str] = ()) -> str:
    """Return the first difference of the manifests with both values, or "" if they belong to one run."""
    passed_over = {*_NO_MATTER, *besides}
    for slot in fields(Manifest):
        left, right = getattr(one, slot.name), getattr(other, slot.name)
        if slot.name in passed_over or left == right:
            continue
        if slot.name == "prompts":
            if changed := [step for step in left if right.get(step, left[step]) != left[step]]:
                return f"the prompt of the step {changed[0]} is not the same"
        elif isinstance(left, dict):
            name = next(name for name in [*left, *right] if left.get(name) != right.get(name))
            return f"{name} is {left.get(name)} in one and {right.get(name)} in the other"
        else:
            return f"{slot.name} is {left} in one and {right} in the other"
    return ""


def _joined(there: Manifest, wanted: Manifest, path: Path) -> Manifest:
    """Return the existing run's manifest with the reasoners, backbones and prompts of the wanted one added.

    Raises:
        UsageError: the runs differ in a setting that decides results.
    """
    if what := differing(there, wanted, _ADDABLE):
        raise UsageError(f"{path} holds another run: {what}", "name another folder with --out, or repeat its flags")
    return replace(
        there,
        reasoners=tuple(dict.fromkeys((*there.reasoners, *wanted.reasoners))),
        backbones=tuple(dict.fromkeys((*there.backbones, *wanted.backbones))),
        prompts={**there.prompts, **wanted.prompts},
    )


def _results(path: Path, kind: type[T]) -> Iterator[T]:
    return _read(path / _file(kind), kind)


def _read(file: Path, kind: type[T]) -> Iterator[T]:
    """Yield the records of a JSON-lines file; an incomplete last line is ignored."""
    try:
        opened = file.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(file, "", f"cannot be read: {error.strerror}") from error
    with opened:
        yield from _records(opened, kind, file)


def _records(lines: Iterable[bytes], kind: type[T], file: Path) -> Iterator[T]:
    """Yield the records of complete lines; stop at an incomplete one. Raises InputError for a damaged line."""
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            return
        try:
            value = json.loads(line)
        except ValueError as error:
            raise InputError(
                file, f"line {number}", f"not JSON: {error}", "remove the line: it is asked anew"
            ) from error
        yield _rebuilt(kind, value, file, f"line {number}")


def _rebuilt(kind: type[T], value: Any, file: Path, place: str) -> T:
    """Return the record of a JSON value; raises InputError if it does not fit `kind`."""
    try:
        record = rebuild(kind, value)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(file, place, f"not what this goalmem writes there: {error}") from error
    if not isinstance(record, kind):
        raise InputError(file, place, "not what this goalmem writes there")
    return record


def _line(record: object) -> str:
    return encodable(json.dumps(plain(record), ensure_ascii=False)) + "\n"


def _opened(path: Path) -> Any:
    """Return the file opened after its last complete line."""
    path.touch()
    file = path.open("rb+")
    end = 0
    for line in file:
        if line.endswith(b"\n"):
            end += len(line)
    file.truncate(end)
    file.seek(end)
    return file


def _replace(path: Path, text: str) -> None:
    """Write a temporary file, named as in `_BEGUN`, and rename it."""
    part = path.with_name(f".{path.name}.part")
    with reporting(path, HINT):
        with part.open("wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
