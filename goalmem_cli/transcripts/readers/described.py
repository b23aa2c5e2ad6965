"""Reads chats in JSON whose layouts differ only in the names of things. One table describes each layout.

`deepseek` and `grok` are the exports of 2025 and 2026. `open-webui` is the export of 0.6 ("Export chats"). `chatlab` is
ChatLab's interchange format 0.0.2 (JSON and JSONL). `llama-ui` is what llama.cpp's web page saves (JSONL, 2026).
`ai-studio` is what Google AI Studio keeps in Google Drive (2024 to 2026).

Three layouts were not tried on real files, so `ingest --formats` calls them "untested". `lm-studio` is the
`*.conversation.json` of LM Studio 0.3 (after YorkieDev/lm-studio-conversation-converter of 2025). `copilot-cli` is the
events.jsonl of the GitHub Copilot CLI 0.0.369 to 1.0.63 (after public session logs). `continue` is a session of
Continue or Kiro.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from goalmem_cli.logic.roles import role_of
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.quotes import with_quotes
from goalmem_cli.transcripts.reading.attributes import objects_in
from goalmem_cli.transcripts.reading.branches import branch_to, last_leaf
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import Node, json_lines, records
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp

Keys = tuple[str, ...]
_THOUGHTS = {"REQUEST": "user", "RESPONSE": "assistant"}
_PLAIN_TEXT = (None, 0, "text")


@dataclass(frozen=True, slots=True)
class Described:
    """A program's names for things. A tuple of keys is the path to a value, from the conversation or from a message.

    `marks` are paths that identify a conversation. `messages` leads to a list of messages, or to an object of messages
    by id. `inner` leads from an entry to its message. `parent` and `current` give the branch, if there are several. A
    message whose `kind` is not text is media. `fragments` is a list of texts with types; it stands in for `speaker`.
    `aside` maps keys, whose values are no text, to the words under which they are counted. An entry with true under
    `thought` is left out. `parts` are the texts if `text` is blank. `unsaid` maps speakers that are left out to the
    words under which they are counted. `chosen` picks one version of an entry that has several. If `is_of_people`,
    messages may quote other people.
    """

    name: str
    sign: str
    marks: tuple[Keys, ...]
    messages: Keys
    listed: str = ""
    suffixes: tuple[str, ...] = (".json",)
    id: Keys = ("id",)
    title: Keys = ("title",)
    inner: Keys = ()
    own_id: Keys = ("id",)
    speaker: tuple[Keys, ...] = (("role",),)
    text: Keys = ("content",)
    time: Keys = ("timestamp",)
    parent: Keys = ()
    current: Keys = ()
    kind: Keys = ()
    fragments: str = ""
    thought: str = ""
    aside: Mapping[str, str] = field(default_factory=dict)
    parts: str = ""
    unsaid: Mapping[str, str] = field(default_factory=dict)
    chosen: Callable[[Draft, Node], Node] | None = None
    of_line: Callable[[Node, dict[str, object]], bool] | None = None
    is_of_people: bool = False


def _line_of_llama(line: Node, about: dict[str, object]) -> bool:
    """Keep the line's data in `about`; say whether the line begins another conversation."""
    if line.child("type").value == "session":
        about.update({key: line.child(key).value for key in line.keys()} | {"messages": []})  # noqa: SIM118
        return True
    listed = about.setdefault("messages", [])
    if line.has("message") and isinstance(listed, list):
        listed.append(line.child("message").value)
    return False


def _line_of_chatlab(line: Node, about: dict[str, object]) -> bool:
    listed = about.setdefault("messages", [])
    if line.child("_type").value == "header":
        about.update({key: line.child(key).value for key in line.keys()})  # noqa: SIM118
    elif line.child("_type").value == "message" and isinstance(listed, list):
        listed.append(line.value)
    return False


def _line_of_copilot(line: Node, about: dict[str, object]) -> bool:
    """Keep the line's message, or that there was another event, in `about`; say whether the line begins a session."""
    kind, data = line.child("type").value, line.child("data")
    if kind == "session.start":
        about.update({"id": data.child("sessionId").value, "messages": []})
        return True
    listed = about.setdefault("messages", [])
    if isinstance(listed, list):
        is_said = kind in ("user.message", "assistant.message")
        role = str(kind).partition(".")[0] if is_said else "event"
        if is_said and data.child("parentToolCallId").value is not None:
            role = "subagent"
        content = data.child("content").value if is_said else None
        times_and_id = {key: line.child(key).value for key in ("id", "timestamp")}
        listed.append({"role": role, "content": content, **times_and_id})
    return False


def _version_shown(draft: Draft, entry: Node) -> Node:
    """Return the version of an LM Studio message that was shown last. The texts of its steps are its content."""
    versions = entry.required("versions").elements()
    if not versions:
        raise entry.child("versions").error("is empty")
    draft.count("messages on other branches left out", len(versions) - 1)
    number = entry.child("currentlySelected").value
    shown = versions[number if isinstance(number, int) and 0 <= number < len(versions) else -1]
    if not shown.has("steps"):
        return shown
    parts: list[object] = []
    for step in shown.child("steps").elements():
        if step.child("type").value != "contentBlock":
            draft.count("notes of the program and tool calls left out")
        elif step.at(("style", "type")).value == "thinking":
            draft.count("thinking left out")
        else:
            parts += [part.value for part in step.child("content").elements()]
    return Node({"role": shown.child("role").value, "content": parts}, shown.file, shown.path, shown.line)


_INSTRUCTIONS = "instructions of the program left out"
DESCRIBED = (
    Described(
        "deepseek", "`mapping` of messages with `fragments`", (("mapping",),), ("mapping",), inner=("message",),
        own_id=("id",), time=("inserted_at",), parent=("parent",), fragments="fragments",
    ),
    Described(
        "grok", "`conversations` of a `conversation` and its `responses`", (("conversation",), ("responses",)),
        ("responses",), listed="conversations", id=("conversation", "id"), title=("conversation", "title"),
        inner=("response",), own_id=("_id",), speaker=(("sender",),), text=("message",), time=("create_time",),
    ),
    Described(
        "open-webui", "`chat` with `history` of `messages`", (("chat", "history", "messages"),),
        ("chat", "history", "messages"), parent=("parentId",), current=("chat", "history", "currentId"),
    ),
    Described(
        "chatlab", "`chatlab` and `meta`", (("chatlab",), ("messages",)), ("messages",), suffixes=(".json", ".jsonl"),
        id=("meta", "groupId"), title=("meta", "name"), own_id=("platformMessageId",),
        speaker=(("groupNickname",), ("accountName",), ("sender",)), kind=("type",), of_line=_line_of_chatlab,
        is_of_people=True,
    ),
    Described(
        "llama-ui", "lines of `harness` llama.app and messages with `convId`", (("currNode",), ("messages",)),
        ("messages",), suffixes=(".jsonl",), title=("name",), parent=("parent",), current=("currNode",),
        of_line=_line_of_llama,
    ),
    Described(
        "ai-studio", "`chunkedPrompt` with `chunks`", (("chunkedPrompt", "chunks"),), ("chunkedPrompt", "chunks"),
        text=("text",), time=("createTime",), thought="isThought", parts="parts", aside={
            **dict.fromkeys(("executableCode", "codeExecutionResult"), "code that the model ran, left out"),
            **dict.fromkeys(
                ("driveImage", "driveDocument", "driveVideo", "driveAudio", "inlineImage", "inlineFile", "inlineData",
                 "inlineAudio", "youtubeVideo"), "media and files left out"),
        },
    ),
    Described(
        "lm-studio", "`messages` with `versions` and `currentlySelected` (untested)", (("createdAt",), ("messages",)),
        ("messages",), title=("name",), chosen=_version_shown, unsaid={"system": _INSTRUCTIONS},
    ),
    Described(
        "copilot-cli", "lines after `session.start` of GitHub Copilot (untested)", (("copilotVersion",), ("messages",)),
        ("messages",), suffixes=(".jsonl",), of_line=_line_of_copilot, unsaid={
            "event": "tool calls and other events left out", "subagent": "messages of subagents left out",
        },
    ),
    Described(
        "continue", "`history` of `message`, with `sessionId` and `workspaceDirectory` (untested)",
        (("sessionId",), ("workspaceDirectory",), ("history",)), ("history",), id=("sessionId",), inner=("message",),
        unsaid={"system": _INSTRUCTIONS, "tool": "answers of tools left out", "thinking": "thinking left out"},
    ),
)  # fmt: skip
_LINES = {
    "copilot-cli": lambda line: line.child("type").value == "session.start" and line.child("data").has("sessionId"),
    "chatlab": lambda line: line.has("chatlab"),
    "llama-ui": lambda line: line.has("harness") and line.has("currNode"),
}


class DescribedReader:
    """Reads one conversation from each record; if it has several branches, the one that was shown last."""

    def __init__(self, layout: Described) -> None:
        self.name = layout.name
        self.sign = layout.sign
        self.suffixes = layout.suffixes
        self._layout = layout

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether a record has the layout's marks, or one of the first lines is in the layout."""
        is_line = _LINES.get(self.name)
        if is_line is not None and glimpse.has_line(is_line):
            return True
        return glimpse.has_record(self._is_meant) or glimpse.has_record(self._lists_what_is_meant)

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversations.

        Raises:
            InputError: the document does not have the layout; the place is the path to the value.
        """
        drafts = source.readable(self._conversations(source), partial(_drafts, source, self._layout))
        conversations = conversations_from_drafts(source, self.name, drafts)
        return with_quotes(conversations) if self._layout.is_of_people else conversations

    def _is_meant(self, node: Node) -> bool:
        layout = self._layout
        if not all(node.at(keys).value is not None for keys in layout.marks):
            return False
        if layout.chosen is not None:
            return any(entry.has("versions") for entry in _entries(node, layout).values())
        if not layout.fragments:
            return True
        return any(entry.at(layout.inner).has(layout.fragments) for entry in _entries(node, layout).values())

    def _lists_what_is_meant(self, node: Node) -> bool:
        return bool(self._layout.listed) and any(map(self._is_meant, node.child(self._layout.listed).elements()))

    def _conversations(self, source: Source) -> Iterator[Node]:
        layout = self._layout
        lines = layout.of_line
        if lines is not None and len(Glimpse.from_source(source).lines) > 1:
            yield from _gathered(source, lines)
            return
        for record in records(source):
            is_listed = bool(layout.listed) and record.has(layout.listed)
            yield from record.child(layout.listed).elements() if is_listed else [record]


def _gathered(source: Source, take: Callable[[Node, dict[str, object]], bool]) -> Iterator[Node]:
    """Yield the conversations that the lines make up, one at a time."""
    about: dict[str, object] = {}
    for line in source.readable(json_lines(source), lambda one: (one,) if one.keys() else ()):
        before = dict(about)
        if take(line, about) and before.get("messages"):
            yield Node(before, source.file)
    yield Node(about, source.file)


def _drafts(source: Source, layout: Described, node: Node) -> Iterator[Draft]:
    draft = Draft(node.at(layout.id).optional_name(), node.at(layout.title).optional_name(), node.place)
    entries = {key: entry for key, entry in _entries(node, layout).items() if source.is_readable(entry.keys)}
    shown = _shown(draft, layout, node, entries)
    return draft.fill(source.readable(shown, partial(_messages, draft, layout)))


def _entries(node: Node, layout: Described) -> dict[str, Node]:
    """Return the messages by id, or by position if they have no ids."""
    listed = node.at(layout.messages)
    if isinstance(listed.value, dict):
        return {key: listed.child(key) for key in listed.value}
    entries = enumerate(listed.elements())
    return {str(entry.at(layout.own_id).value if layout.parent else number): entry for number, entry in entries}


def _shown(draft: Draft, layout: Described, node: Node, entries: Mapping[str, Node]) -> list[Node]:
    """Return the messages of the branch that was shown last; all messages if none names its parent."""
    parents = {key: entry.at(layout.parent).optional_name() for key, entry in entries.items()} if layout.parent else {}
    if not any(parents.values()):
        return list(entries.values())
    current = node.at(layout.current).optional_name() if layout.current else None
    newest = current if current in parents else last_leaf(parents)
    branch = branch_to(newest, parents).ids if newest is not None else ()
    shown = set(branch)
    draft.count("messages on other branches left out", len(entries) - len(shown))
    return [entries[key] for key in branch]


def _messages(draft: Draft, layout: Described, entry: Node) -> Iterator[Message]:
    """Yield what the entry says; reasoning and media are counted."""
    message = entry.at(layout.inner) if layout.chosen is None else layout.chosen(draft, entry)
    own_id = message.at(layout.own_id).optional_name() or entry.at(layout.own_id).optional_name()
    said = message.at(layout.time).stamp()
    if message.value is None:
        return
    if layout.fragments:
        yield from _fragments(draft, message.child(layout.fragments), said, own_id)
        return
    if layout.thought and message.child(layout.thought).value is True:
        draft.count("thinking left out")
        return
    names = (message.at(keys).optional_name() for keys in layout.speaker)
    name = next((name for name in names if name), "unknown")
    if name in layout.unsaid:
        draft.count(layout.unsaid[name])
        return
    text = _text_of(draft, layout, message)
    aside = [what for key, what in layout.aside.items() if message.child(key).value is not None]
    for what in aside:
        draft.count(what)
    if layout.kind and message.at(layout.kind).value not in _PLAIN_TEXT:
        draft.count("media and notices left out")
        return
    role = role_of(name)
    if text or not (role == "system" or aside):
        yield Message(role or name, text, said, own_id, role)


def _text_of(draft: Draft, layout: Described, message: Node) -> str:
    """Return the message's text; if it is blank, the texts of its parts without thinking."""
    content = message.at(layout.text)
    if isinstance(content.value, list):
        parts = content.elements()
        texts = [part.child("text").optional_text() for part in parts if part.child("type").value == "text"]
        draft.count("parts of messages without text left out", len(parts) - len(texts))
        return "\n\n".join(text for text in texts if text)
    text = content.optional_text()
    if text or not layout.parts:
        return text
    parts = [part for part in objects_in(message.child(layout.parts)) if part.child("thought").value is not True]
    return "\n\n".join(said for part in parts if (said := part.child("text").optional_text()))


def _fragments(draft: Draft, listed: Node, said: Stamp | None, own_id: str | None) -> Iterator[Message]:
    """Yield one message per role from a list of texts with types."""
    texts: dict[str, list[str]] = {}
    for fragment in listed.elements():
        role = _THOUGHTS.get(fragment.required("type").filled_text())
        draft.count("thinking, searches and files left out", role is None)
        if role is not None:
            texts.setdefault(role, []).append(fragment.child("content").optional_text())
    for role, parts in texts.items():
        yield Message(role, "\n\n".join(parts), said, own_id, role)
