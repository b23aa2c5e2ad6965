"""Reads chats in JSON whose layouts differ only in what they call things: each is described in one table.

DeepSeek's and Grok's are the exports of 2025 and 2026, Open WebUI's that of 0.6 ("Export chats"), ChatLab's its format
0.0.2 for interchange (JSON and JSONL), `llama-ui` what llama.cpp's web page saves (JSONL, 2026), and `ai-studio` what
Google AI Studio keeps in Google Drive (2024 to 2026).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from goalmem_cli.logic.roles import role_of
from goalmem_cli.records import Conversation
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
    """What a program calls things; each tuple has the keys that lead to one, from the conversation or a message on.

    `marks` are what a conversation has, by which it is known. `messages` leads to a list or to an object of messages
    by id, `inner` to the message in each entry; `parent` and `current` tell its branch, where it has several. A message
    with another `kind` than text is media. `fragments` holds texts with types instead of a `speaker`. What an entry has
    under one of the keys of `aside` is no text, and is counted as that says; one that has true under `thought` is none
    either. `parts` are texts in the place of a blank `text`.
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
    of_line: Callable[[Node, dict[str, object]], bool] | None = None


def _line_of_llama(line: Node, about: dict[str, object]) -> bool:
    """Say whether the line begins another conversation; keep what it tells in `about`."""
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
)  # fmt: skip
_LINES = {
    "chatlab": lambda line: line.has("chatlab"),
    "llama-ui": lambda line: line.has("harness") and line.has("currNode"),
}


class DescribedReader:
    """A conversation a record, by the branch that was shown last where there are several."""

    def __init__(self, layout: Described) -> None:
        self.name = layout.name
        self.sign = layout.sign
        self.suffixes = layout.suffixes
        self._layout = layout

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether a record has the layout's marks, or the first lines are such."""
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
        return conversations_from_drafts(source, self.name, drafts)

    def _is_meant(self, node: Node) -> bool:
        layout = self._layout
        if not all(node.at(keys).value is not None for keys in layout.marks):
            return False
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
    """Yield what the lines tell, a conversation at a time."""
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
    """Return the messages by their ids, or by their places where they have none."""
    listed = node.at(layout.messages)
    if isinstance(listed.value, dict):
        return {key: listed.child(key) for key in listed.value}
    entries = enumerate(listed.elements())
    return {str(entry.at(layout.own_id).value if layout.parent else number): entry for number, entry in entries}


def _shown(draft: Draft, layout: Described, node: Node, entries: Mapping[str, Node]) -> list[Node]:
    """Return the messages of the branch that was shown last; all where they do not name those before them."""
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
    message = entry.at(layout.inner)
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
    text = _text_of(layout, message)
    aside = [what for key, what in layout.aside.items() if message.child(key).value is not None]
    for what in aside:
        draft.count(what)
    if layout.kind and message.at(layout.kind).value not in _PLAIN_TEXT:
        draft.count("media and notices left out")
        return
    names = (message.at(keys).optional_name() for keys in layout.speaker)
    name = next((name for name in names if name), "unknown")
    role = role_of(name)
    if text or not (role == "system" or aside):
        yield Message(role or name, text, said, own_id, role)


def _text_of(layout: Described, message: Node) -> str:
    """Return what the message says; where that is blank, what its parts say that are no thinking."""
    text = message.at(layout.text).optional_text()
    if text or not layout.parts:
        return text
    parts = [part for part in objects_in(message.child(layout.parts)) if part.child("thought").value is not True]
    return "\n\n".join(said for part in parts if (said := part.child("text").optional_text()))


def _fragments(draft: Draft, listed: Node, said: Stamp | None, own_id: str | None) -> Iterator[Message]:
    """Yield what is said in a message that is a list of texts with their types."""
    texts: dict[str, list[str]] = {}
    for fragment in listed.elements():
        role = _THOUGHTS.get(fragment.required("type").filled_text())
        draft.count("thinking, searches and files left out", role is None)
        if role is not None:
            texts.setdefault(role, []).append(fragment.child("content").optional_text())
    for role, parts in texts.items():
        yield Message(role, "\n\n".join(parts), said, own_id, role)
