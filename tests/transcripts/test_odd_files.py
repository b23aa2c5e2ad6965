"""Odd files: what a document, a tale, an unclosed fence, a bomb and a name with odd blanks are read as."""

import gzip
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts import read_file
from goalmem_cli.transcripts.reading.compressed import decompressed
from tests.transcripts.reading import read_bytes, read_one, said_in


def test_support_speaks() -> None:
    """A customer and who helps are people."""
    text = "Customer: My boat does not start.\nSupport: Which boat is it?\nCustomer: The blue one there.\n"
    assert [speaker for speaker, _ in said_in(read_one(text, "a.txt"))] == ["Customer", "Support", "Customer"]


def test_a_tale_in_a_copied_chat_is_one_turn() -> None:
    """Who says something in a tale is not the assistant beginning again."""
    text = "You said:\nTell.\nChatGPT said:\nA fox came.\nThe fox said:\nHello.\nYou said:\nMore.\n"
    assert said_in(read_one(text, "a.txt")) == [
        ("user", "Tell."), ("assistant", "A fox came.\nThe fox said:\nHello."), ("user", "More."),
    ]  # fmt: skip


def test_an_unclosed_fence_of_aider_hides_no_turn() -> None:
    """aider puts two blanks behind what was typed: that ends a fence which a broken answer left open."""
    text = "# aider chat started at 2026-03-01 10:00:00\n\n#### one  \n\n```py\n#### two\n\n#### three  \n\nDone.\n"
    assert [speaker for speaker, _ in said_in(read_one(text, "a.md"))] == ["user", "assistant", "user", "assistant"]


def test_a_time_that_can_be_read_is_taken_first() -> None:
    """Of two times the one that is none does not count."""
    text = '[{"role": "user", "content": "Hi", "timestamp": "just now", "created_at": "2026-03-01T10:00:00Z"}]'
    (conversation,) = read_bytes(text.encode(), "a.json")
    assert conversation.turns[0].said == datetime(2026, 3, 1, 10, tzinfo=UTC)


def test_blanks_of_a_name_stay() -> None:
    """A name with an odd blank is stored as ever, so that the file is known when it is read again."""
    assert said_in(read_one("time,speaker,text\n2024-03-01 10:00,Ben\u00a0C,hello\n", "a.csv")) == [
        ("Ben\u00a0C", "hello")
    ]


def test_what_unpacks_to_far_too_much_is_refused(tmp_path: Path) -> None:
    """A small file that unpacks to a huge one is refused before it fills the disk."""
    file = tmp_path / "a.json.gz"
    file.write_bytes(gzip.compress(b" " * 2**25))
    with pytest.raises(InputError, match="would unpack to over"):
        read_file(file)


def test_a_marker_without_end_takes_no_time() -> None:
    """A marker of ChatGPT that never ends is text."""
    text = (
        '[{"title": "x", "current_node": "a", "mapping": {"a": {"id": "a", "parent": null, "children": [], "message":'
        ' {"id": "a", "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["\ue200'
        + "a" * 60000
        + '"]}}}}}]'
    )
    assert len(said_in(read_one(text, "a.json"))[0][1]) == 60000


class Damaged(io.BytesIO):
    """A file whose bytes cannot be read."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Fail, as a damaged entry of a zip does."""
        raise OSError(5, f"damaged, within {size} bytes")


def test_a_file_that_cannot_be_read_is_closed() -> None:
    """Nobody else could close it: the error goes on without it."""
    raw = Damaged(b"x")
    with pytest.raises(OSError, match="damaged"):
        decompressed(raw)
    assert raw.closed
