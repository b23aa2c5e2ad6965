"""`goalmem ingest` of chats whose dates leave open whether the day or the month comes first."""

import io
import json
import sys
from pathlib import Path

import pytest

from tests.invoking import Goalmem

OPEN = "5/3/23, 21:15 - Ana: hi\n5/3/23, 21:16 - Ben: ho\n"


class _Terminal(io.StringIO):
    """What somebody types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A chat of one evening in 2023: 5 March or May 3."""
    path = tmp_path / "Chat with Ana.txt"
    path.write_text(OPEN)
    return path


def said(goalmem: Goalmem) -> str:
    """Return on which day the turns that `search` finds were said."""
    (first, *_) = json.loads(goalmem("search", "hi", "--json").out)["hits"]
    return str(first["said"])[:10]


def test_nobody_there_to_ask_refuses_the_file_and_names_the_flags(goalmem: Goalmem, chat: Path) -> None:
    """No guess: what else was given is stored, and the exit code is that of an input file."""
    other = chat.with_name("other.txt")
    other.write_text("25/3/23, 21:15 - Ana: fine\n")
    outcome = goalmem("ingest", str(chat), str(other))

    assert outcome.code == 5
    assert outcome.out == f"{other}: whatsapp, 1 conversation, 1 turn, 1 new stored\n"
    assert outcome.error_lines == [
        f"{chat}: nothing in it tells whether '5/3/23, 21:15' begins with the day or with the month",
        "say which with --day-first or --month-first",
    ]


@pytest.mark.parametrize(("flag", "day"), [("--day-first", "2023-03-05"), ("--month-first", "2023-05-03")])
def test_the_flag_settles_it(goalmem: Goalmem, chat: Path, flag: str, day: str) -> None:
    """What is said on the command line holds for every chat that leaves it open."""
    assert goalmem("ingest", flag, str(chat)).code == 0
    assert said(goalmem) == day


def test_the_flags_exclude_each_other(goalmem: Goalmem, chat: Path) -> None:
    """Both at once is a mistake of usage."""
    outcome = goalmem("ingest", "--day-first", "--month-first", str(chat))
    assert (outcome.code, outcome.error_lines[0]) == (2, "--day-first and --month-first exclude each other")


def test_somebody_at_the_terminal_is_asked(
    goalmem: Goalmem, chat: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The question shows the first such date, is asked until it is answered, and once for each file."""
    sure = tmp_path / "sure.txt"
    sure.write_text("25/3/23, 21:15 - Ana: fine\n")
    monkeypatch.setattr(sys, "stdin", _Terminal("x\nm\n"))
    outcome = goalmem("ingest", str(chat), str(sure))

    assert outcome.code == 0
    assert outcome.err.count("does 5/3/23, 21:15 begin with the day or the month? (d/m)") == 2
    assert sorted(outcome.out.strip().splitlines()) == [
        f"{chat}: whatsapp, 1 conversation, 2 turns, 2 new stored",
        f"{sure}: whatsapp, 1 conversation, 1 turn, 1 new stored",
    ]
    assert said(goalmem) == "2023-05-03"


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 5), ("\n", 5)])
def test_somebody_at_the_terminal_is_asked_whether_a_document_is_a_chat(
    goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, code: int
) -> None:
    """It is read where they say so, and refused otherwise with the way to read it all the same."""
    file = tmp_path / "README.md"
    file.write_text("# Bramble\n\n## Installing\n\nType `make`.\n\n## Licence\n\nMIT.\n")
    monkeypatch.setattr(sys, "stdin", _Terminal(answer))
    outcome = goalmem("ingest", str(file))
    assert outcome.code == code
    assert "this looks like a document. Read it as a chat?" in outcome.err
    assert ("--format markdown" in outcome.err) == bool(code)


def test_standard_input_cannot_be_asked_about(goalmem: Goalmem) -> None:
    """What comes from a pipe is refused like a file that nobody is asked about, and can be told by a flag."""
    assert goalmem("ingest", "-", stdin=OPEN.encode()).code == 5
    assert goalmem("ingest", "-", "--day-first", stdin=OPEN.encode()).code == 0
