"""Reads sessions of Gemini CLI (google-gemini/gemini-cli, 0.1 to 0.57): what it records, saves and logs.

These are recorded sessions as JSON (`session-*.json`) and as JSONL, checkpoints of `/chat save`, and `logs.json`, which
has prompts alone. Qwen Code (QwenLM/qwen-code, 0.24: `chatRecordingService.ts`) records such contents, each with the id
of the event before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.gemini_parts import messages_of_content, messages_of_record
from goalmem_cli.transcripts.reading.branches import branch_to
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.listed import drafts_from_document, events
from goalmem_cli.transcripts.reading.nodes import Node, json_lines, records
from goalmem_cli.transcripts.reading.source import Source

_USER = "user"
_SAID = (None, "mid_turn_user_message")
_LISTINGS = {"messages": messages_of_record, "history": messages_of_content}


class GeminiCliReader(DraftReader):
    """Reads a session as a conversation, named by its id. A tool's answers are turns of that tool."""

    name = "gemini-cli"
    suffixes = (".json", ".jsonl")
    sign = "`sessionId` with `projectHash`, `messageId` or a `message` of `role` and `parts`; or a `history` of these"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the document or a line is of one of the layouts."""
        return glimpse.has_line(lambda line: _is_head(line) or _is_event(line)) or glimpse.has_record(
            lambda one: _is_head(one) or _is_prompt(one) or _is_content(one) or any(map(_is_content, _history(one)))
        )

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the conversations of a list of prompts, a checkpoint, a recorded session, or a session in lines."""
        glimpse = Glimpse.from_source(source)
        if glimpse.has_line(_is_event):
            yield from _drafts_of_qwen(source)
            return
        listed = next((key for key in _LISTINGS if glimpse.document is not None and glimpse.document.has(key)), None)
        if glimpse.has_record(_is_prompt):
            yield from _drafts_of_prompts(source)
        elif glimpse.has_record(_is_content):
            draft = Draft()
            yield from draft.fill(source.readable(records(source), partial(messages_of_content, draft)))
        elif listed is not None:
            yield from drafts_from_document(source, listed, _LISTINGS[listed], _identify)
        else:
            session = _Session()
            for line in json_lines(source):
                source.is_readable(partial(session.take, line))
            yield from session.draft.fill(
                source.readable(session.said.values(), partial(messages_of_record, session.draft))
            )


def _is_head(node: Node) -> bool:
    return node.has("sessionId") and node.has("projectHash")


def _is_prompt(node: Node) -> bool:
    return node.has("sessionId") and node.has("messageId") and node.has("message")


def _is_content(node: Node) -> bool:
    return node.has("role") and node.has("parts")


def _is_event(node: Node) -> bool:
    """Say whether the line is an event of Qwen Code."""
    return node.has("sessionId") and node.has("message") and _is_content(node.child("message"))


def _history(node: Node) -> list[Node]:
    return node.child("history").elements() if node.has("history") else []


def _identify(draft: Draft, about: Node) -> None:
    draft.own_id = about.child("sessionId").optional_name() or draft.own_id
    draft.title = about.child("summary").optional_text() or draft.title


def _named(key: str, node: Node) -> list[tuple[str, Node]]:
    return [(node.required(key).filled_text(), node)]


def _drafts_of_prompts(source: Source) -> Iterator[Draft]:
    """Yield one conversation for each session. It differs from the recorded one, which holds more and has other ids."""
    sessions: dict[str, list[Node]] = {}
    for name, node in source.readable(records(source), partial(_named, "sessionId")):
        sessions.setdefault(name, []).append(node)
    for name, nodes in sessions.items():
        draft = Draft(f"log-{name}", place=nodes[0].place)
        yield from draft.fill(source.readable(nodes, _prompt))


def _prompt(node: Node) -> Iterator[Message]:
    role = node.child("type").optional_text() or _USER
    said, own_id = node.child("timestamp").stamp(), node.child("messageId").optional_name()
    yield Message(role, node.required("message").optional_text(), said, own_id, role)


def _drafts_of_qwen(source: Source) -> Iterator[Draft]:
    """Yield the session of Qwen Code: the events that lead to the last one; others were taken back.

    If an event on the way is missing, all are yielded. An event may have several lines. A last line that was cut off is
    counted.
    """
    draft = Draft()
    told: dict[str, list[Node]] = {}
    for own_id, line in source.readable(events(source, draft), partial(_named, "uuid")):
        lines = told.setdefault(own_id, [])
        if all(line.value != other.value for other in lines):
            lines.append(line)
    parents = {own_id: lines[0].child("parentUuid").optional_name() for own_id, lines in told.items()}
    branch = branch_to(next(reversed(told), ""), parents)
    draft.own_id = next((lines[0].child("sessionId").optional_name() for lines in told.values()), None)
    shown = told if branch.broken_at is not None else branch.ids
    draft.count("messages taken back left out", len(told) - len(shown))
    yield from draft.fill(source.readable([told[own_id] for own_id in shown], partial(_messages_of_event, draft)))


def _messages_of_event(draft: Draft, lines: list[Node]) -> Iterator[Message]:
    """Yield an event's texts as one message, and then the answers of tools in it.

    Lines with a `subtype` are left out, as the program wrote them itself; only a user's message in mid-turn is kept.
    """
    found: list[Message] = []
    for line in lines:
        if line.child("subtype").value not in _SAID or not _is_content(line.child("message")):
            draft.count("other events left out")
            continue
        own_id, said = line.child("uuid").optional_name(), line.child("timestamp").stamp()
        found += messages_of_content(draft, line.child("message"), said, own_id)
    texts = [message for message in found if message.own_id is not None]
    if texts:
        yield replace(texts[0], text="\n".join(message.text for message in texts))
    yield from (message for message in found if message.own_id is None)


class _Session:
    """Collects the messages of a log: later lines may extend a message, or take messages back."""

    def __init__(self) -> None:
        self.draft = Draft()
        self.said: dict[str, Node] = {}

    def take(self, line: Node) -> None:
        """Take one line.

        Raises:
            InputError: it does not have the layout; the place is the line, and the path to the value.
        """
        if line.has("$rewindTo"):
            ids, first = list(self.said), line.child("$rewindTo").value
            kept = ids[: ids.index(first)] if isinstance(first, str) and first in ids else []
            self.draft.count("messages taken back left out", len(ids) - len(kept))
            self.said = {own_id: self.said[own_id] for own_id in kept}
        elif line.has("id"):
            self.said[str(line.child("id").value)] = line
        else:
            about = line.child("$set") if line.has("$set") else line
            _identify(self.draft, about)
            if about.has("messages"):
                said = {str(node.child("id").value): node for node in about.child("messages").elements()}
                self.draft.count("messages replaced by later records left out", len(self.said.keys() - said.keys()))
                self.said = said
