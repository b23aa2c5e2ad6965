"""Find the conversations in other languages, and write them out; every JSON file beside this module is one.

They are in LoCoMo's form. A conversation says its `language` and its `author`. A question says its `language`, its
`type`, `accepted` other ways to write the answer, and `told`: the words in its evidence from which an answer is
computed. An unanswerable question has no evidence; its `distractors` are turns that look relevant.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.store.files import replace_file

FOLDER = Path(__file__).parent
AUTHORS = ("first", "second")
"""What the first wrote is there to build with; what the second wrote only measures."""
HINT = "check the folder's permissions and the free space, or name another folder"


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: its file's name and content, its language, its author, and how many turns it has."""

    file: str
    content: bytes
    language: str
    author: str
    turns: int


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts for one language; `in_english` and `unanswerable` count questions."""

    conversations: int
    turns: int
    questions: int
    in_english: int
    unanswerable: int


def talks() -> list[Talk]:
    """Return all conversations, in the order of their files' names."""
    return [_talk(path) for path in sorted(FOLDER.glob("*.json"))]


def write_talks(out: Path, chosen: Sequence[Talk]) -> list[Path]:
    """Write each conversation to a file of its own, and return the files.

    Raises:
        StoreError: one cannot be written.
    """
    for talk in chosen:
        replace_file(out / talk.file, talk.content, hint=HINT)
    return [out / talk.file for talk in chosen]


def counted(chosen: Sequence[Talk], cases: Sequence[Case]) -> dict[str, Counted]:
    """Return language code -> counts; `cases` are the questions of the conversations `chosen`."""
    languages = sorted({talk.language for talk in chosen})
    return {each: _counted([talk for talk in chosen if talk.language == each], _of(each, cases)) for each in languages}


def _counted(own: Sequence[Talk], asked: Collection[Case]) -> Counted:
    return Counted(
        conversations=len(own),
        turns=sum(talk.turns for talk in own),
        questions=len(asked),
        in_english=sum(case.asked_in == "en" for case in asked),
        unanswerable=sum(case.is_unanswerable for case in asked),
    )


def _of(language: str, cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if case.language == language]


def _talk(path: Path) -> Talk:
    content = path.read_bytes()
    read = json.loads(content)
    turns = sum(len(value) for value in read["conversation"].values() if isinstance(value, list))
    return Talk(path.name, content, read["language"], read["author"], turns)
