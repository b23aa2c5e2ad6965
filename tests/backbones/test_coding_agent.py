"""Search in a coding agent's log: 400 made-up messages, of which four in ten are what tools answered; 40 questions."""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from goalmem_cli.backbones.flat import FlatBackbone
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.records import Query, content_hash
from goalmem_cli.store import Store
from tests.transcripts.reading import read_bytes

PARTS = ("login", "invoice", "search", "upload", "calendar", "report", "profile", "payment")
FAULTS = (
    ("hangs for empty names", "TypeError: name is not a string", "the check for None came too late"),
    ("loses the last row", "IndexError: row out of range", "the loop ended one row early"),
    ("shows yesterday's date", "AssertionError: 2025-05-01 != 2025-05-02", "it took the clock of the server"),
    ("fails for two users at once", "LockError: database is locked", "each request opened its own connection"),
    ("forgets the chosen language", "KeyError: 'locale'", "the cookie was never read"),
)
FOLDERS, ENDINGS = ("src/web", "src/core", "lib"), ("form", "view", "store", "task", "rows")


class Task:
    """One fault of the log: ten messages, a question about it, and the message that answers it."""

    def __init__(self, number: int, part: str, fault: tuple[str, str, str]) -> None:
        self.number, self.part = number, part
        self.symptom, self.error, self.cause = fault
        self.file = f"{FOLDERS[number % 3]}/{part}_{ENDINGS[number % 5]}.py"
        self.commit = content_hash(self.file, self.symptom)[:12].replace("0", "a") + "1"
        self.command = f"pytest tests/test_{part}.py -k {self.symptom.split()[-1]}"

    def events(self) -> Iterator[tuple[str, object]]:
        """Yield who said it, and what, of each message."""
        yield "user", f"The {self.part} page {self.symptom}. Can you find out why?"
        yield "assistant", f"I read the code of the {self.part} page first."
        yield self._answered("Read", f"def {self.part}(name):\n    return rows[name]\n")
        yield "assistant", f"It raises `{self.error}` there: {self.cause}."
        yield self._answered("Bash", f"E   {self.error}\n{self.file}:12: {self.part} failed\n1 failed, 3 passed")
        yield "assistant", f"I changed `{self.file}`, so that the {self.part} page no longer {self.symptom}."
        yield self._answered("Edit", f"The file {self.file} has been updated.")
        yield "user", f"Please run `{self.command}` now."
        yield "assistant", f"All pass, and it is committed as {self.commit}."
        yield self._answered("Bash", f"[main {self.commit[:7]}] {self.part}\n 1 file changed\n{self.command}: 4 passed")

    def asked(self) -> tuple[str, int]:
        """Return the question, and the number of the message among the ten that answers it."""
        return (
            (f"Which file did we change because the {self.part} page {self.symptom}?", 5),
            (f"Which of the pages raised {self.error} in the {self.part} code?", 3),
            (f"When did I have you run `{self.command}`?", 7),
            (f"In which message was {self.commit[:8]} committed?", 8),
        )[self.number % 4]

    def _answered(self, tool: str, text: str) -> tuple[str, object]:
        return "user", [{"type": "tool_result", "tool_use_id": f"{tool}", "content": text}]


TASKS = [Task(number, part, fault) for number, (fault, part) in enumerate(product(FAULTS, PARTS))]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store of the log, in the layout of Claude Code."""
    lines = [
        json.dumps({
            "type": who, "sessionId": "s1", "uuid": f"{task.number}-{place}",
            "timestamp": f"2025-05-{1 + task.number // 2:02}T10:{place:02}:00Z",
            "message": {"role": who, "content": said},
        })
        for task in TASKS for place, (who, said) in enumerate(task.events())
    ]  # fmt: skip
    store = Store(tmp_path_factory.mktemp("agent") / "store", load_embedder("static"), announce=lambda _: None)
    store.add_all(read_bytes("\n".join(lines).encode(), "log.jsonl"))
    assert (len(store.turns()), len(TASKS)) == (400, 40)
    return store


@pytest.mark.parametrize(("recipe", "first", "least"), [("reranked", 1, 1.0), ("hybrid", 10, 0.95), ("bm25", 10, 0.95)])
def test_what_was_said_of_files_errors_commands_and_commits_is_found(
    store: Store, recipe: str, first: int, least: float
) -> None:
    """Nearly every answer is among the first, and none of these is what a tool answered."""
    backbone, found = FlatBackbone(store, recipe), 0
    for task in TASKS:
        question, place = task.asked()
        hits = backbone.retrieve(Query(question), first)
        assert {hit.unit.speaker for hit in hits} <= {"user", "assistant"}
        found += any(f"{task.number}-{place}" in hit.unit.labels for hit in hits)
    assert found / len(TASKS) >= least


def test_what_tools_answered_is_found_on_request(store: Store) -> None:
    """With `tools`, or under the tool's name; a fault's own line comes first."""
    task = TASKS[6]
    asked = Query(f"{task.file} failed {task.error}", tools=True)
    for query in (asked, Query(asked.text, speakers=("tool",))):
        for recipe in ("reranked", "bm25"):
            labels = [hit.unit.labels[0] for hit in FlatBackbone(store, recipe).retrieve(query, 3)]
            assert f"{task.number}-4" in labels, (recipe, labels)


def test_a_file_is_found_by_its_name_and_a_commit_by_its_beginning(tmp_path: Path) -> None:
    """Though the words of a path, of an error and of a command are everywhere, the whole is in one message."""
    said = [
        "See src/auth/login.py there.",
        "See src/login/auth.py there, or py/auth/src/login.md.",
        "Commit 3f9a2c1d88aa is good.",
        "It says TypeError: x is not a function",
        "A function is not x, says the TypeError: it is",
        "I ran `make -k all` there.",
        "I make all of it, -k: there.",
    ]
    lines = [
        json.dumps(
            {"type": "user", "sessionId": "s1", "uuid": f"u{place}", "message": {"role": "user", "content": text}}
        )
        for place, text in enumerate(said)
    ]
    store = Store(tmp_path / "store", load_embedder("static"), announce=lambda _: None)
    store.add_all(read_bytes("\n".join(lines).encode(), "log.jsonl"))
    asked = {"auth/login.py": 0, "3f9a2c1": 2, "TypeError: x is not a function": 3, "`make -k all`": 5}
    for query, place in asked.items():
        (first, *_) = FlatBackbone(store, "bm25-plain").retrieve(Query(query), 1)
        assert first.unit.labels == (f"u{place}",), query
