"""Reads sessions of OpenCode as `opencode export` writes them (sst/opencode, 0.5 to 1.x): messages in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.reading.drafts import Draft, Message, messages_of_parts
from goalmem_cli.transcripts.reading.listed import drafts_from_document
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp

_TOOL = "tool"
_LEFT_OUT = {"reasoning": "thinking", "file": "files"}
_MARKS = frozenset({"step-start", "step-finish", "snapshot", "patch", "compaction", "retry", "agent", "subtask"})


class OpencodeReader(RecordReader):
    """Reads a file as one session, under its id. A tool's answers are turns of that tool."""

    name = "opencode"
    sign = "`info`, and messages with `parts`"

    def _is_meant(self, record: Node) -> bool:
        return record.has("info") and any(map(_is_message, record.child("messages").elements()))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        return drafts_from_document(source, "messages", _messages, _identify)


def _is_message(node: Node) -> bool:
    return node.has("info") and node.has("parts")


def _identify(draft: Draft, about: Node) -> None:
    """Set the draft's id and title from the session's `info`."""
    draft.own_id, draft.title = (about.at(("info", key)).optional_name() for key in ("id", "title"))


def _messages(draft: Draft, node: Node) -> Iterator[Message]:
    """Yield what the message says, and then what tools answered in it."""
    info = node.required("info")
    role, own_id = info.required("role").filled_text(), info.child("id").optional_name()
    said = info.at(("time", "created")).stamp()
    yield from messages_of_parts(role, said, own_id, _parts(draft, said, node.required("parts").elements()))


def _parts(draft: Draft, said: Stamp | None, parts: Iterable[Node]) -> Iterator[str | Message]:
    """Yield texts and the answers of tools; count other parts."""
    for part in parts:
        kind = part.child("type").optional_text()
        if kind == "text":
            is_typed = part.child("synthetic").value is not True and part.child("ignored").value is not True
            draft.count("texts that nobody said left out", not is_typed)
            yield part.required("text").text() if is_typed else ""
        elif kind == _TOOL:
            tool, state = part.child("tool").optional_text() or _TOOL, part.child("state")
            answer = state.child("output") if isinstance(state.value, dict) else state
            draft.count("tool calls left out")
            if isinstance(answer.value, str) and answer.value.strip():
                yield Message(tool, answer.text(), said, part.child("id").optional_name(), _TOOL)
        elif kind not in _MARKS:
            draft.count(f"{_LEFT_OUT.get(kind, 'other parts of messages')} left out")
