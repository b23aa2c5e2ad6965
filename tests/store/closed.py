"""A program for which every folder is read-only: it uses a store as someone who may not write there.

    python -m tests.store.closed USE STORE EMBEDDER DIMENSION

Prints one JSON list: what the use gave, or the message and the hint of its error, and what was announced.
"""

import json
import mmap  # noqa: F401 - it cannot be found once the rights are gone
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import babel.dates  # noqa: F401 - these find no standard library either
import yaml  # noqa: F401

import goalmem_cli.logic.dates  # noqa: F401
from goalmem_cli.errors import StoreError
from goalmem_cli.languages.finding import language_of
from goalmem_cli.languages.words import CODES
from goalmem_cli.logic.languages import tables
from goalmem_cli.memory_records import Ranking, Selection
from goalmem_cli.records import Query
from goalmem_cli.store.store import Store
from goalmem_cli.testing import HashEmbedder
from tests.store.killing import ROOT
from tests.store.samples import chat

NOBODY = 65534
language_of("Nobody can read the model once the rights are gone, so it is loaded before.")
READ_BEFORE = (tables.english_words(), tables.triggers(), [tables.language(code) for code in CODES])

USES: dict[str, Callable[[Store], object]] = {
    "stats": lambda store: store.stats().turns,
    "search": lambda store: [len(found) for found in store.rank(Query("matcha"), list(Ranking), 5).values()],
    "verify": Store.verify,
    "export": lambda store: len(list(store.export())),
    "add": lambda store: store.add(chat(["Something new."], name="new")).new_turns,
    "add-known": lambda store: store.add(chat()).new_turns,
    "forget": lambda store: store.forget(Selection(speakers=("Ben",))).turns,
    "reembed": lambda store: store.reembed(HashEmbedder(12, "new"), lambda _done, _all: None),
    "rebuild": Store.rebuild,
    "remove": Store.remove,
}


class ClosedFolder:
    """A folder that anybody may read and nobody may write, except root, who does not run there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def holding(self, store: Path) -> Path:
        """Return a copy of the store, in this folder."""
        copy = shutil.copytree(store, self.path / "store")
        self.close()
        return copy

    def close(self) -> None:
        """Let nobody write what is there."""
        for path in (self.path, *self.path.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)

    def open(self) -> None:
        """Let it be written and removed again."""
        for path in (self.path, *self.path.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)

    def use(self, use: str, path: Path, embedder: HashEmbedder) -> tuple[object, list[str]]:
        """Return what the use gives where nothing can be written, and what it announced.

        Raises:
            StoreError: as the use does.
        """
        command = [sys.executable, "-m", "tests.store.closed", use, str(path), embedder.name, str(embedder.dimension)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        assert done.stderr == ""
        kind, result, said = json.loads(done.stdout)
        if kind == "error":
            raise StoreError(*result)
        return result, said


def main(use: str, path: Path, embedder: HashEmbedder) -> int:
    """Use the store without the right to write, and print what came of it."""
    if os.geteuid() == 0:
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
    said: list[str] = []
    try:
        outcome = ["result", USES[use](Store(path, embedder, announce=said.append)), said]
    except StoreError as error:
        outcome = ["error", [error.message, error.hint], said]
    sys.stdout.write(json.dumps(outcome))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), HashEmbedder(int(sys.argv[4]), sys.argv[3])))
