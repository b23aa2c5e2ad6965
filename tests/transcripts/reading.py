"""How tests read the files that they make up, what those files say, and how a reader refuses them."""

import json
from collections.abc import Callable
from typing import TypeVar

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts import Source, conversations_in, format_of
from goalmem_cli.transcripts.reading.drafts import whole_conversations

Document = TypeVar("Document")


def check_refused(read: Callable[[Document], object], document: Document, place: str, reason: str) -> None:
    """Check that it is an error at the place, which begins with the reason."""
    with pytest.raises(InputError) as caught:
        read(document)

    assert caught.value.place == place
    assert caught.value.reason.startswith(reason)


def jsonl(*values: object) -> bytes:
    """Return the values as JSON, each on a line."""
    return "".join(f"{json.dumps(value)}\n" for value in values).encode()


def data_of(content: object) -> bytes:
    """Return a file's bytes: bytes as they are, a text as UTF-8, and anything else as JSON."""
    if isinstance(content, bytes):
        return content
    return (content if isinstance(content, str) else json.dumps(content)).encode()


def detect(name: str, content: object) -> str:
    """Return the name of the content's format, judged by the file's ending and by the content."""
    return format_of(Source.from_bytes(data_of(content), name))


def read_bytes(content: object, name: str, format: str | None = None) -> list[Conversation]:  # noqa: A002
    """Return the conversations of a file; without a format, it is the one that is found."""
    return whole_conversations(conversations_in(Source.from_bytes(data_of(content), name), format))


def read_one(content: object, name: str, format: str | None = None) -> Conversation:  # noqa: A002
    """Return the only conversation of a file."""
    (conversation,) = read_bytes(content, name, format)
    return conversation


def said_in(conversation: Conversation) -> list[tuple[str, str]]:
    """Return who said what."""
    return [(turn.speaker, turn.text) for turn in conversation.turns]
