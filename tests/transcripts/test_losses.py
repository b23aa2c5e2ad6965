"""No reader loses a message in silence: for one that is broken the others are kept, whatever its time looks like."""

import io
import json
from collections.abc import Callable, Iterator

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts import Source, conversations_in
from goalmem_cli.transcripts.reading.drafts import whole_conversations
from goalmem_cli.transcripts.reading.nodes import TIME_KEYS
from tests.transcripts.test_formats import SAMPLES

MESSAGES = ("messages", "chat_messages", "conversations", "MessageList", "history")
TIMES = frozenset(TIME_KEYS) | {"timestamp_ms", "originalarrivaltime", "created_date"}
DOCUMENTS = {
    name: json.loads(data)
    for name, (file, data) in SAMPLES.items()
    if file.endswith(".json") and data[:1] in (b"[", b"{")
}


def read(document: object, format_name: str) -> tuple[list[Conversation], list[InputError]]:
    """Return the conversations in a document, and what was skipped."""
    skipped: list[InputError] = []
    data = json.dumps(document).encode()
    source = Source("a.json", lambda: io.BytesIO(data), skip=skipped.append)
    return whole_conversations(conversations_in(source, format_name)), skipped


def changed(value: object, change: Callable[[str, object], object], key: str = "") -> object:
    """Return the JSON value with every value of an object as `change` makes it."""
    if isinstance(value, dict):
        return {name: change(name, changed(one, change, name)) for name, one in value.items()}
    return [changed(one, change, key) for one in value] if isinstance(value, list) else value


def texts(conversations: list[Conversation]) -> Iterator[str]:
    """Yield what was said."""
    return (turn.text for conversation in conversations for turn in conversation.turns)


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_a_time_that_is_none_loses_no_message(name: str) -> None:
    """Every message is kept with its text, and its time is unknown."""
    document = changed(DOCUMENTS[name], lambda key, value: "soonish" if key in TIMES and value else value)
    whole, _ = read(DOCUMENTS[name], name)
    if name == "slack":
        pytest.skip("the time of a message is its id there")
    untimed, skipped = read(document, name)

    assert sorted(texts(untimed)) == sorted(texts(whole))
    assert not skipped


@pytest.mark.parametrize("broken", [None, 7, "x", []])
@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_a_broken_record_among_messages_loses_no_other(name: str, broken: object) -> None:
    """Each list of messages has one that is none at its beginning and its end."""

    def with_broken(key: str, value: object) -> object:
        return [broken, *value, broken] if key in MESSAGES and isinstance(value, list) and value else value

    whole, _ = read(DOCUMENTS[name], name)
    rest, _ = read(changed(DOCUMENTS[name], with_broken), name)

    assert sorted(texts(rest)) == sorted(texts(whole))
