"""What detection sees of a file, and how little of it."""

import json

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts import Source, conversations_in
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from tests.transcripts.layouts import SHAREGPT
from tests.transcripts.reading import detect, read_bytes

LONG = json.dumps({"padding": ["x" * 1000] * 5000, **SHAREGPT, "id": "long"})


def test_only_the_beginning_is_looked_at() -> None:
    """Of a long array the first elements are there, and of a document whose beginning is long nothing else."""
    glimpse = Glimpse.from_source(Source.from_bytes(json.dumps(list(range(100))).encode(), "a.json"))
    padded = Glimpse.from_source(Source.from_bytes(json.dumps([["x" * 1000] * 8000, 1]).encode(), "a.json"))

    assert [node.value for node in glimpse.records] == list(range(20))
    assert len(padded.records) == 1


def test_lines_end_where_they_are_long_or_wrong() -> None:
    """The lines before one that is no JSON are there; a first line too long to look at is, as far as it was."""
    wrong = Glimpse.from_source(Source.from_bytes(b'{"a": 1}\n\n{"a": 2}\n{oops\n{"a": 3}', "a.jsonl"))
    lines = "\n".join([json.dumps({"a": "x" * 2**20})] * 20)
    many = Glimpse.from_source(Source.from_bytes(lines.encode(), "a.jsonl"))
    first = Glimpse.from_source(Source.from_bytes(f"{LONG}\n{{}}".encode(), "a.jsonl"))

    assert [node.value for node in wrong.lines] == [{"a": 1}, {"a": 2}]
    assert len(many.lines) < 6
    assert [node.has("padding") for node in first.lines] == [True]


def test_a_wrong_line_is_the_formats_error() -> None:
    """JSONL with a damaged line is still recognised, and the error names the line."""
    with pytest.raises(InputError) as caught:
        read_bytes(f"{json.dumps(SHAREGPT)}\n{{oops\n".encode(), "a.jsonl")

    assert caught.value.place == "line 2, column 2"


def test_long_lines_are_recognised_and_read() -> None:
    """A conversation a line is read so when the first line is longer than what detection looks at."""
    conversation = {"id": "c", "messages": [{"role": "user", "content": "x" * 1000}] * 5000}
    data = f"{json.dumps(conversation)}\n{json.dumps({**conversation, 'id': 'd'})}\n".encode()

    assert detect("a.jsonl", data) == "openai-jsonl"
    assert {stretch.name for stretch in conversations_in(Source.from_bytes(data, "a.jsonl"))} == {"c", "d"}
