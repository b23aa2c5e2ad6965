"""Reads chats in JSON whose layouts differ only in the names of things. `layouts.LAYOUTS` describes each layout."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from goalmem_cli.logic.roles import role_of
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import objects_in
from goalmem_cli.transcripts.reading.branches import branch_to, last_leaf
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import TurnIds
from goalmem_cli.transcripts.reading.nodes import Node, json_lines, records
from goalmem_cli.transcripts.reading.parts import oldest_first
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp
from goalmem_cli.transcripts.reading.zipped import Place

Keys = tuple[str, ...]
_THOUGHTS = {"REQUEST": "user", "RESPONSE": "assistant"}
_WORST = float("inf")
_PLAIN_TEXT = (None, 0, "text")


@dataclass(frozen=True, slots=True)
class Line:
    """What a line tells: facts about its conversation, messages, and names by id.

    A head, or another `id`, begins a conversation.
    """

    about: Mapping[str, object] = field(default_factory=dict)
    messages: Iterable[Node] = ()
    is_head: bool = False
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Chat:
    """A conversation that is being read: its draft, the names of people and tools by id, and ids for its turns.

    `last` is what a reader keeps of the message before.
    """

    draft: Draft
    names: dict[str, str]
    ids: TurnIds = field(default_factory=TurnIds)
    last: tuple[object, ...] = ()

    def name(self, own_id: str) -> str:
        """Return the name under the id; the id if no name is known."""
        return self.names.get(own_id, own_id) or "unknown"


@dataclass(frozen=True, slots=True)
class Described:
    """A program's names for things. A tuple of keys is the path to a value, from the conversation or from a message.

    `marks` are paths that identify a conversation. `messages` leads to a list of messages, or to an object of messages
    by id. `inner` leads from an entry to its message. `parent` and `current` give the branch, if there are several. A
    message whose `kind` is not text is media. `fragments` is a list of texts with types; it stands in for `speaker`.
    `aside` maps keys, whose values are no text, to the words under which they are counted. An entry with true under
    `thought` is left out. `parts` are the texts if `text` is blank. `unsaid` maps speakers that are left out to the
    words under which they are counted. `chosen` picks one version of an entry that has several. Of several replies, the
    one with the lowest number under `rank` was shown. Conversations may lie under one of `wraps`. `entry` are keys that
    one message has at least. `says` reads a message for which no keys tell what it says.

    If `of_line` is set, each line is a part of a conversation, and if `is_of_parts`, each element of a list too;
    `is_line` recognises such a part. Without `marks`, there are no other records. If `is_mixed`, parts of several
    conversations alternate; if `is_one_chat`, all are of one, and are read one at a time; a file's name in the form
    `named` is its id. A folder with one of the `files` is a conversation too, and then its name is the id. `made`
    arranges a conversation before it is read. If not `is_sorted`, messages are sorted by time. If `is_of_people`,
    messages may quote other people.
    """

    name: str
    sign: str
    marks: tuple[Keys, ...] = ()
    messages: Keys = ("messages",)
    wraps: tuple[Keys, ...] = ()
    suffixes: tuple[str, ...] = (".json",)
    id: Keys = ("id",)
    title: tuple[Keys, ...] = (("title",),)
    inner: Keys = ()
    own_id: Keys = ("id",)
    speaker: tuple[Keys, ...] = (("role",),)
    text: Keys = ("content",)
    time: Keys = ("timestamp",)
    parent: Keys = ()
    current: Keys = ()
    rank: Keys = ()
    kind: Keys = ()
    fragments: str = ""
    thought: str = ""
    aside: Mapping[str, str] = field(default_factory=dict)
    parts: str = ""
    unsaid: Mapping[str, str] = field(default_factory=dict)
    chosen: Callable[[Draft, Node], Node] | None = None
    entry: Keys = ()
    says: Callable[[Chat, Node], Iterable[Message]] | None = None
    of_line: Callable[[Node], Line] | None = None
    is_line: Callable[[Node], bool] | None = None
    is_of_parts: bool = False
    is_mixed: bool = False
    is_one_chat: bool = False
    named: re.Pattern[str] | None = None
    files: tuple[str, ...] = ()
    made: Callable[[Node], Node] | None = None
    is_sorted: bool = True
    is_of_people: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    """What a file has of a conversation, and names by id; `messages` are not in `about` if they are lines."""

    about: Node
    messages: Iterable[Node] | None = None
    names: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Gathering:
    """What the lines that were read so far tell of a conversation."""

    about: dict[str, object] = field(default_factory=dict)
    messages: list[Node] = field(default_factory=list)


class DescribedReader(DraftReader):
    """Reads one conversation from each record; if it has several branches, the one that was shown last."""

    def __init__(self, layout: Described) -> None:
        self.name = layout.name
        self.sign = layout.sign
        self.suffixes = layout.suffixes
        self.is_of_people = layout.is_of_people
        self._layout = layout

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether a record has the layout's marks, one of the first lines is in the layout, or the folder is."""
        layout = self._layout
        if glimpse.folder is not None:
            return _file_in(layout, glimpse.folder) is not None
        is_part = layout.is_line or (self._is_meant if layout.is_of_parts else None)
        if is_part is not None and not layout.marks:
            return glimpse.has_record(is_part) if layout.is_of_parts else glimpse.has_line(is_part)
        if is_part is not None and glimpse.has_line(is_part):
            return True
        return glimpse.has_record(lambda one: any(map(self._is_meant, _wrapped(one, layout))))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        file = None if source.folder is None else _file_in(self._layout, source.folder)
        source = source if file is None else source.part(file)
        return source.readable(self._conversations(source), partial(_drafts_of, source, self._layout))

    def _is_meant(self, node: Node) -> bool:
        """Say whether the record has the layout's marks, and a message with its `entry` keys if it names some.

        A line with messages is a record too, even if a mark is null.
        """
        layout = self._layout
        if not all(node.at(keys).value is not None for keys in layout.marks):
            return layout.is_line is not None and self._is_whole(node) and layout.is_line(node)
        return not layout.entry or any(
            all(map(entry.at(layout.inner).has, layout.entry)) for entry in _entries(layout, node).values()
        )

    def _is_whole(self, node: Node) -> bool:
        """Say whether the record has the key of its messages, and no line adds to it."""
        *way, key = self._layout.messages
        return bool(self._layout.marks) and node.at(way).has(key)

    def _is_mere_line(self, node: Node) -> bool:
        """Say whether the line is a part of a conversation, and no conversation by itself."""
        is_line = self._layout.is_line
        return is_line is not None and is_line(node) and not self._is_meant(node)

    def _conversations(self, source: Source) -> Iterator[_Found]:
        """Yield the conversations of the source: its records, or those that its lines make up."""
        layout = self._layout
        if layout.of_line is not None:
            glimpse = Glimpse.from_source(source)
            if len(glimpse.lines) > 1 and self._is_whole(glimpse.lines[0]):
                yield from map(_Found, json_lines(source))
                return
            is_of_lines = len(glimpse.lines) > 1 or glimpse.has_line(self._is_mere_line)
            is_of_lines = is_of_lines if layout.marks else not layout.is_of_parts
            if is_of_lines or layout.is_of_parts:
                lines = json_lines(source) if is_of_lines else records(source)
                yield from _gathered(source, layout, _told(source, layout, lines))
                return
        for record in records(source):
            yield from map(_Found, _wrapped(record, layout))


def _wrapped(record: Node, layout: Described) -> list[Node]:
    """Return the conversations that the record has under one of the layout's wraps, else the record alone."""
    found = (record.at(keys) for keys in layout.wraps)
    inner = next((node for node in found if isinstance(node.value, (dict, list))), record)
    return inner.elements() if isinstance(inner.value, list) else [inner]


def _file_in(layout: Described, folder: Place) -> Place | None:
    """Return the file with the folder's conversation; None if there is none."""
    try:
        return next((file for name in layout.files if (file := folder / name).is_file()), None)
    except OSError:
        return None  # the reader will say why it cannot be read


def _told(source: Source, layout: Described, lines: Iterable[Node]) -> Iterator[Line]:
    """Yield what the lines tell. An empty object tells nothing, unless `says` needs some keys."""
    of_line = layout.of_line or (lambda line: Line(messages=[line]))
    return source.readable(lines, lambda one: (of_line(one),) if layout.says or one.keys() else ())


def _gathered(source: Source, layout: Described, lines: Iterator[Line]) -> Iterator[_Found]:
    """Yield the conversations that the lines make up, one at a time; mixed ones after the last line."""
    if layout.is_one_chat:
        name = Path(source.file).parent.name if layout.files else source.stem
        about = {"id": name if layout.named and layout.named.fullmatch(name) else None}
        yield _Found(Node(about, source.file), (message for line in lines for message in line.messages))
        return
    names: dict[str, str] = {}
    mixed: dict[object, _Gathering] = {}
    begun: list[_Gathering] = []
    chat = _Gathering()
    for line in lines:
        own_id = line.about.get("id", chat.about.get("id"))
        if layout.is_mixed:
            chat = mixed.setdefault(own_id, _Gathering())
        elif line.is_head or own_id != chat.about.get("id"):
            if chat.messages:
                yield _Found(Node(chat.about, source.file), chat.messages, names)
            chat = _Gathering()
        is_new = layout.is_mixed and not chat.messages
        source.is_readable(partial(chat.messages.extend, line.messages))
        begun += [chat] * (is_new and bool(chat.messages))
        chat.about.update(line.about)
        names |= line.names
    for one in begun if layout.is_mixed else [chat]:
        yield _Found(Node(one.about, source.file), one.messages, names)


def _drafts_of(source: Source, layout: Described, found: _Found) -> Iterator[Draft]:
    """Yield a conversation that was found."""
    about = found.about if layout.made is None else layout.made(found.about)
    draft = Draft(about.at(layout.id).optional_name(), _first_name(about, layout.title), about.place)
    if layout.is_one_chat and found.messages is not None:
        shown = found.messages
    else:
        entries = _entries(layout, about, found.messages)
        readable = {key: entry for key, entry in entries.items() if source.is_readable(partial(_parent, layout, entry))}
        shown = _shown(draft, layout, about, readable)
    says = layout.says or partial(_messages, layout)
    return draft.fill(source.readable(shown, partial(says, Chat(draft, found.names))))


def _first_name(node: Node, ways: tuple[Keys, ...]) -> str | None:
    """Return the first name to which one of the ways leads; None if there is none."""
    return next(filter(None, (node.at(keys).optional_name() for keys in ways)), None)


def _entries(layout: Described, about: Node, messages: Iterable[Node] | None = None) -> dict[str, Node]:
    """Return the messages by id, or by position if not each has its own id."""
    listed = about.at(layout.messages)
    if messages is None and isinstance(listed.value, dict):
        return {key: listed.child(key) for key in listed.value}
    entries = listed.elements() if messages is None else list(messages)
    if not layout.is_sorted:
        entries = list(oldest_first(iter(entries), layout.time[0], lambda _: False))
    values = [entry.at(layout.own_id).value for entry in entries] if layout.parent else [None]
    ids = ["" if value is None else str(value) for value in values]
    has_ids = all(id_.strip() for id_ in ids)
    return {ids[number] if has_ids else f"[{number}]": entry for number, entry in enumerate(entries)}


def _parent(layout: Described, entry: Node) -> str | None:
    """Return the id of the message before; None for the first, and in layouts without branches.

    Raises:
        InputError: the entry is no object, or the id is of another kind.
    """
    return entry.at(layout.parent).optional_name() if entry.keys() and layout.parent else None


def _shown(draft: Draft, layout: Described, about: Node, entries: Mapping[str, Node]) -> list[Node]:
    """Return the messages of the branch that was shown last; all if neither parents nor `current` tell it."""
    parents = {key: _parent(layout, entry) for key, entry in entries.items()}
    current = about.at(layout.current).optional_name() if layout.current else None
    if layout.rank:
        current = _best_leaf(layout, entries, parents)
    if not any(parents.values()) or (current not in parents and parents.keys().isdisjoint(parents.values())):
        return list(entries.values())
    newest = current if current in parents else last_leaf(parents)
    branch = branch_to(newest, parents).ids if newest is not None else ()
    shown = set(branch)
    draft.count("messages on other branches left out", len(entries) - len(shown))
    return [entries[key] for key in branch]


def _best_leaf(layout: Described, entries: Mapping[str, Node], parents: Mapping[str, str | None]) -> str | None:
    """Return the id at which the replies with the lowest ranks end; of those without a rank, the first counts."""
    best: dict[str, tuple[float, str | None]] = {}
    current: str | None = None
    for key, parent in parents.items():
        given, own_id = (entries[key].at(keys).value for keys in (layout.rank, layout.own_id))
        rank, name = given if isinstance(given, int) else _WORST, None if own_id is None else str(own_id)
        if parent is None:
            current = current or name
        elif parent not in best or rank < best[parent][0]:
            best[parent] = rank, name
    while current in best:
        current = best.pop(current)[1]
    return current


def _messages(layout: Described, chat: Chat, entry: Node) -> Iterator[Message]:
    """Yield what the entry says; reasoning and media are counted."""
    draft = chat.draft
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
    name = _first_name(message, layout.speaker) or "unknown"
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
