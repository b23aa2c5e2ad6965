"""Reads session logs of coding agents: JSONL of typed events, as Claude Code and the Codex CLI write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from goalmem_cli.errors import InputError
from goalmem_cli.records import COPIED_FROM, Conversation, content_hash
from goalmem_cli.transcripts.readers.agent_texts import refusal_and_words, said_by_user
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import Node, node_from_text
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import clean

_CLAUDE_MESSAGES = frozenset({"user", "assistant"})
_CLAUDE_NOT_SAID = ("isMeta", "isCompactSummary", "isApiErrorMessage")
_CLAUDE_ASIDES = {"summary": "leafUuid", "file-history-snapshot": "snapshot"}
_CODEX_EVENTS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_CODEX_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
_CODEX_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call"})
_CODEX_TEXTS = frozenset({"input_text", "output_text", "text", "Text"})
_SPEAKERS = frozenset({"user", "assistant"})
_USER = "user"
_CODEX_ITEMS = {"UserMessage": "user", "AgentMessage": "assistant"}
_CODEX_ECHOES = {"user_message": "user", "agent_message": "assistant"}
_TOOL = "tool"
_PAUSE = timedelta(seconds=1)
"""A fork's log begins with the copied events, written at once; a longer pause than this ends the copies."""

_CALLS = "tool calls left out"
_NOT_SAID = "instructions and summaries of the program left out"
_OTHERS = "other events left out"


class AgentLogReader:
    """Reads a file as one conversation: what user and agent said, and what the tools answered."""

    name = "agent-log"
    suffixes = (".jsonl", ".ndjson")
    sign = "events of Claude Code or Codex on the lines"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first lines is an event of such a log."""
        return glimpse.has_line(lambda line: _is_claude_event(line) or _is_codex_event(line))

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversation.

        Raises:
            InputError: a line is not JSON or does not have the layout; the place is the line and the path in it.
        """
        return conversations_from_drafts(source, self.name, _drafts(source))


def _is_claude_event(event: Node) -> bool:
    kind = _kind_of(event)
    has_session = event.has("sessionId") or event.has("session_id")
    is_said = kind in _CLAUDE_MESSAGES and event.child("message").has("role")
    is_beside = kind in _CLAUDE_ASIDES and event.has(_CLAUDE_ASIDES[kind])
    return bool(kind) and (has_session or is_said or is_beside)


def _kind_of(event: Node) -> str:
    """Return the event's type; "" if it is not a text."""
    kind = event.child("type").value
    return kind if isinstance(kind, str) else ""


def _is_queued_prompt(event: Node) -> bool:
    """Say whether the event is a prompt typed while the agent was at work; Claude Code writes it only there."""
    queued = event.child("attachment")
    if not isinstance(queued.value, dict) or queued.child("type").value != "queued_command":
        return False
    origin = queued.child("origin")
    is_typed = not isinstance(origin.value, dict) or origin.child("kind").value in (None, "human")
    return is_typed and queued.child("commandMode").value in (None, "prompt")


def _is_codex_event(event: Node) -> bool:
    return _kind_of(event) in _CODEX_EVENTS and event.has("payload")


def _drafts(source: Source) -> Iterator[Draft]:
    draft = Draft()
    log = _Log(draft)
    return draft.fill(source.readable(_events(source, draft), log.messages))


def _events(source: Source, draft: Draft) -> Iterator[Node]:
    """Yield the event on each line; a last line that was cut off while it was written is left out.

    Raises:
        InputError: another line is not JSON, and may not be skipped.
    """
    cut: InputError | None = None
    for number, line in source.lines():
        if not line.strip():
            continue
        if cut is not None:
            source.skip(cut)
            cut = None
        try:
            event = node_from_text(line, source.file, number)
        except InputError as error:
            cut = error
            continue
        yield event
    if cut is not None:
        if not draft.is_begun:
            raise cut
        draft.count("last lines that were cut off left out")


class _Log:
    """Turns the events of one log into messages, and counts the events that are none."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._tools: dict[str, str] = {}
        self._is_subagent: bool | None = None
        self._told: Counter[tuple[str, str]] = Counter()
        self._said: Counter[str] = Counter()
        self._has_answers = False
        self._sources: list[str] = []
        self._is_copying = False
        self._written: datetime | None = None

    def messages(self, event: Node) -> Iterator[Message]:
        """Yield what was said in the event.

        Raises:
            InputError: the event does not have the layout; the place is the line and the path in it.
        """
        if _is_codex_event(event):
            self._look_for_copies(event)
            for message in self._codex_messages(event):
                copied = {COPIED_FROM: list(self._sources)}
                yield replace(message, attributes=copied) if self._is_copying else message
        elif _kind_of(event) in _CLAUDE_MESSAGES:
            yield from self._claude_messages(event)
        elif _is_queued_prompt(event):
            yield from self._queued_prompt(event)
        else:
            self._draft.count(_OTHERS)

    def _claude_messages(self, event: Node) -> Iterator[Message]:
        message = event.required("message")
        role = message.required("role").filled_text()
        is_aside = event.child("isSidechain").value is True
        if self._is_subagent is None:
            self._is_subagent = is_aside
            self._identify(*(event.child(key) for key in (("agentId",) if is_aside else ("sessionId", "session_id"))))
        if is_aside and not self._is_subagent:
            self._draft.count("messages of subagents left out")
            return
        if any(event.child(key).value is True for key in _CLAUDE_NOT_SAID):
            self._draft.count(_NOT_SAID)
            return
        self._draft.shares_ids = True
        own_id, said = event.child("uuid").optional_name(), event.child("timestamp").stamp()
        for index, (speaker, part_role, text) in enumerate(self._claude_parts(role, message.required("content"))):
            part_id = own_id if own_id is None or not index else f"{own_id}-{index + 1}"
            yield Message(speaker, text, said, part_id, part_role)

    def _claude_parts(self, role: str, content: Node) -> list[tuple[str, str, str]]:
        """Return (speaker, role, text) of each message: the texts joined into one, then each tool's answer."""
        if not isinstance(content.value, list):
            text = self._typed(role, content.optional_text())
            return [(role, role, text)] if text else []
        texts: list[str] = []
        answers: list[tuple[str, str, str]] = []
        for block in content.elements():
            kind = block.child("type").optional_text()
            if kind == "text":
                texts.append(self._typed(role, block.required("text").text()))
            elif kind == "tool_use":
                self._call(block.child("id"), block.child("name"))
            elif kind == "tool_result":
                text, words = refusal_and_words(self._joined(block.child("content"), {"text"}))
                self._draft.count("answers of tools without text left out", not text)
                tool = self._tool_of(block.child("tool_use_id"))
                answers += [one for one in ((tool, _TOOL, text), (_USER, _USER, words)) if one[2]]
            else:
                self._leave_out(kind)
        said = "\n\n".join(text for text in texts if text)
        return [(role, role, said), *answers] if said else answers

    def _queued_prompt(self, event: Node) -> Iterator[Message]:
        text = self._joined(event.child("attachment").child("prompt"), {"text"}, _USER)
        own_id = event.child("uuid").optional_name()
        if text and event.child("isSidechain").value is not True:
            yield Message(_USER, text, event.child("timestamp").stamp(), own_id, _USER)

    def _look_for_copies(self, event: Node) -> None:
        """Note whether the event is a fork's copy. A fork names its source, and a pause follows its copies."""
        stamp = event.child("timestamp").stamp()
        written, before = None if stamp is None else stamp.moment, self._written
        self._written = written
        if self._is_copying:
            self._is_copying = written is not None and before is not None and written - before < _PAUSE
        if _kind_of(event) == "session_meta" and (self._is_copying or not self._sources):
            payload = event.child("payload")
            keys = ("id",) if self._is_copying else ("forked_from_id", "parent_thread_id")
            self._sources += [clean(name) for key in keys if (name := payload.child(key).optional_name())]
            self._is_copying = bool(self._sources)

    def _codex_messages(self, event: Node) -> Iterator[Message]:
        payload = event.child("payload")
        kind = payload.child("type").optional_text()
        if _kind_of(event) == "session_meta":
            self._identify(payload.child("id"))
        elif _kind_of(event) == "event_msg":
            yield from self._codex_told(event, payload, kind)
        elif _kind_of(event) != "response_item":
            self._draft.count(_OTHERS)
        elif kind in _CODEX_CALLS:
            self._call(payload.child("call_id"), payload.child("name"))
        elif kind in _CODEX_RESULTS:
            output = payload.child("output")
            text = self._joined(output.child("content") if isinstance(output.value, dict) else output, _CODEX_TEXTS)
            yield Message(self._tool_of(payload.child("call_id")), text, event.child("timestamp").stamp(), role=_TOOL)
        elif kind == "message":
            role = payload.required("role").filled_text()
            if role in _SPEAKERS:
                self._has_answers = self._has_answers or role != _USER
                text = self._joined(payload.required("content"), _CODEX_TEXTS, role)
                yield from self._codex_said(event, "response_item", role, text)
            else:
                self._draft.count(_NOT_SAID)
        else:
            self._leave_out(kind)

    def _codex_told(self, event: Node, payload: Node, kind: str) -> Iterator[Message]:
        """Yield a message that no response item holds: some logs have prompts, or everything, only in events.

        An event may word an answer differently, so answers are taken from events only until a response item gives one.
        """
        item = payload.child("item")
        if kind == "item_completed" and isinstance(item.value, dict):
            role = _CODEX_ITEMS.get(_kind_of(item), "")
            content = item.child("content")
        else:
            role, content = _CODEX_ECHOES.get(kind, ""), payload.child("message")
        if not role or (role != _USER and self._has_answers):
            self._draft.count(_OTHERS)
        else:
            yield from self._codex_said(event, kind, role, self._joined(content, _CODEX_TEXTS, role))

    def _codex_said(self, event: Node, kind: str, role: str, text: str) -> Iterator[Message]:
        """Yield a message once, though up to three kinds of events repeat it in any order."""
        key = content_hash(role, "".join(text.split()))
        self._told[kind, key] += 1
        if text and self._told[kind, key] > self._said[key]:
            self._said[key] += 1
            yield Message(role, text, event.child("timestamp").stamp(), role=role)
        elif text:
            self._draft.count(_OTHERS)

    def _joined(self, content: Node, kinds: frozenset[str] | set[str], role: str = "") -> str:
        """Return the joined texts of a content (blocks or one text); for a user only what was typed."""
        if not isinstance(content.value, list):
            return self._typed(role, content.optional_text())
        texts: list[str] = []
        for block in content.elements():
            kind = block.child("type").optional_text()
            if kind in kinds:
                texts.append(self._typed(role, block.required("text").text()))
            else:
                self._leave_out(kind)
        return "\n\n".join(text for text in texts if text)

    def _typed(self, role: str, text: str) -> str:
        """Return the text; from a user's text, drop and count what the program added."""
        if role != _USER:
            return text
        said = said_by_user(text)
        self._draft.count(_NOT_SAID, said != text)
        return said

    def _leave_out(self, kind: str) -> None:
        names = {"thinking": "thinking", "redacted_thinking": "thinking", "reasoning": "thinking", "image": "images"}
        self._draft.count(f"{names.get(kind, 'other parts of messages')} left out")

    def _call(self, call: Node, name: Node) -> None:
        self._draft.count(_CALLS)
        call_id, tool = call.optional_name(), name.optional_text()
        if call_id is not None and tool:
            self._tools[call_id] = tool

    def _tool_of(self, call: Node) -> str:
        """Return the name of the tool that answers the call; each call is answered once."""
        return self._tools.pop(call.optional_name() or "", _TOOL)

    def _identify(self, *names: Node) -> None:
        """Set the conversation's id to the session's. A session resumed later in the file does not change it."""
        own_id = next((name for node in names if (name := node.optional_name())), None)
        if own_id is not None and self._draft.own_id is None and not self._draft.is_begun:
            self._draft.own_id = clean(own_id)
