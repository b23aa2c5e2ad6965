"""Kept goals: one JSON file a goal in the folder `goals/`.

They are files and not rows, so that DuckDB and Milvus keep them in the same way, and a check need not lock the database
while a model runs. Each change is one atomic rename: a killed process leaves a goal as it was before or after.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Set
from pathlib import Path
from typing import TYPE_CHECKING

from goalmem_cli.errors import StoreDamaged, StoreError, StoreNewer, UsageError
from goalmem_cli.records import content_hash
from goalmem_cli.store.files import Written, replace_file, reporting, unwatched
from goalmem_cli.store.privacy import make_private, remove_leftovers

if TYPE_CHECKING:
    from goalmem_cli.store.goal_records import Goal

_NAMED = re.compile(rb'"name": ("(?:[^"\\]|\\.)+")')
"""The name in a goal's file, in quotes."""
_HEAD = 1000
Stored = Callable[[Collection[str]], Iterable[str]]
"""Given the ids of units, returns those that are in the memory."""


class GoalFolder:
    """The kept goals of a memory. Every method raises StoreError if the system refuses."""

    def __init__(self, path: Path, written: Written = unwatched) -> None:
        self.path = path
        self._written = written

    def all(self, unread: list[StoreError] | None = None, names: Iterable[str] | None = None) -> list[Goal]:
        """Return the goals, or those of these names, in the order in which they were added.

        With `unread`, what cannot be read is left out, and the errors are appended to it.

        Raises:
            UsageError: there is no goal of one of the names.
            StoreDamaged, StoreNewer: without `unread`, a file is no goal that this version can read.
        """
        goals: list[Goal] = []
        try:
            files = self._files() if names is None else [self._file_of(name) for name in names]
        except StoreError as error:
            if unread is None:
                raise
            unread.append(error)
            return goals
        for file in files:
            try:
                goals.append(self._read(file))
            except StoreError as error:
                if isinstance(error.__cause__, FileNotFoundError):
                    continue  # another process removed it meanwhile
                if unread is None:
                    raise
                unread.append(error)
        return sorted(goals, key=lambda goal: (goal.added, goal.name))

    @property
    def is_empty(self) -> bool:
        """Whether there is no goal; a fast look."""
        return not self._files()

    def has_name(self, name: str) -> bool:
        """Say whether there is a goal of that name; a fast look."""
        with reporting(self.path):
            return self._file(name).is_file()

    def get(self, name: str) -> Goal:
        """Return the goal of that name.

        Raises:
            UsageError: there is none.
            StoreDamaged, StoreNewer: its file is no goal that this version can read.
        """
        return self._read(self._file_of(name))

    def has(self, goal: Goal) -> bool:
        """Say whether the goal is here just as it is; raises as `get`."""
        return self.has_name(goal.name) and self._read(self._file(goal.name)) == goal

    def save(self, goal: Goal) -> None:
        """Write the goal."""
        make_private(self.path)
        content = json.dumps(goal.document(), ensure_ascii=False).encode("utf-8", "replace")
        replace_file(self._file(goal.name), content, self._written)

    def remove(self, name: str) -> None:
        """Delete the goal, also if its file cannot be read.

        Raises:
            UsageError: there is none.
        """
        file = self._file_of(name)
        with reporting(file):
            file.unlink(missing_ok=True)
        self._written(f"goal {name}, removed")

    def count_about(self, keys: Set[str], stored: Stored) -> int:
        """Return how many goals have a state that shows what the keys mean; for the arguments see `undermine`.

        Unreadable files count, as their content is unknown.
        """
        return sum(goal is None or changed != goal for _, goal, changed in self._changed(keys, stored))

    def undermine(self, keys: Set[str], stored: Stored) -> None:
        """Take quotes, bindings and answers of what the keys mean out of every state, and delete unreadable files.

        A unit that is `stored` and no key itself stays, although a forgotten turn may have the same text.
        """
        remove_leftovers(self.path, "*")
        for file, goal, changed in self._changed(keys, stored):
            if changed is None:
                with reporting(file):
                    file.unlink(missing_ok=True)
            elif changed != goal:
                self.save(changed)

    def _files(self) -> list[Path]:
        """Return the files of goals; a missing folder has none."""
        with reporting(self.path):
            try:
                return sorted(file for file in self.path.iterdir() if file.match("*.json") and file.is_file())
            except (FileNotFoundError, NotADirectoryError):
                if self.path.exists():
                    raise
                return []

    def _changed(self, keys: Set[str], stored: Stored) -> Iterator[tuple[Path, Goal | None, Goal | None]]:
        """Yield each file with its goal now and without what the keys mean, None for one that cannot be read."""
        from goalmem_cli.store.goal_records import Gone

        for file in self._files() if keys else ():
            try:
                goal = self._read(file)
            except (StoreDamaged, StoreNewer):
                yield file, None, None
            else:
                yield file, goal, goal.undermined(Gone(keys, {*stored(goal.units)} - keys))

    def _file_of(self, name: str) -> Path:
        """Return the file of the goal of that name; raises UsageError if there is none."""
        if not self.has_name(name):
            raise UsageError(f"there is no goal {name!r}", "`goalmem goals` lists them")
        return self._file(name)

    def _file(self, name: str) -> Path:
        return self.path / f"{content_hash('goal', name)}.json"

    def _read(self, file: Path) -> Goal:
        """Return the goal of a file; raises StoreNewer or StoreDamaged."""
        from goalmem_cli.store.goal_records import SCHEMA_VERSION, Goal  # only here, as it loads what traces need

        with reporting(file):
            content = file.read_bytes()
        try:
            document = json.loads(content)
            version = document.get("schema_version") if isinstance(document, dict) else None
            if isinstance(version, int) and version > SCHEMA_VERSION:
                raise StoreNewer(f"{_which(content)}{file} was written by a newer goalmem", "update goalmem")
            return Goal.from_document(document)
        except (ValueError, RecursionError) as error:
            hint = "delete that file, and add the goal again"
            raise StoreDamaged(f"{_which(content)}{file}: {error}", hint) from error


def _which(content: bytes) -> str:
    """Return which goal a damaged file is about, "" if its name cannot be read either."""
    named = _NAMED.search(content[:_HEAD])
    return f"the goal {named[1].decode('utf-8', 'replace')}: " if named else ""
