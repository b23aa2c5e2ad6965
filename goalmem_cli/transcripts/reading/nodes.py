"""JSON values that know their place, so that an error can name it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.reading.json_text import JsonText
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import quoted
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_from_epoch, stamp_from_text, stamp_or_unread

TIME_KEYS = (
    "timestamp", "created_at", "createdAt", "create_time", "createTime", "created", "ts", "time", "date", "datetime",
    "sent_at", "sentAt", "inserted_at",
)  # fmt: skip
"""The keys that programs use for the time of a message, the most reliable first."""
_WRAPPERS = ("conversations", "chats", "data", "items", "history", "threads")
_IN_RECORDS = frozenset({"mapping", "chat_messages", "messages", "safeHtmlItem"})
"""Keys by which records are recognised in a list that is one level deeper."""
_TIMES_IN_OBJECTS = ("$date", "$numberLong", "_seconds", "seconds")


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON document, its path (``[2].session_1[4].text``) and, in JSONL, its line counted from 1.

    What expects a value of some kind raises InputError, with this place, for any other kind.
    """

    value: object
    file: str
    path: str = ""
    line: int | None = None

    @property
    def place(self) -> str:
        """The place of the value, as error messages name it."""
        line = "" if self.line is None else f"line {self.line}"
        return ", ".join(part for part in (line, self.path) if part)

    def error(self, reason: str, hint: str = "") -> InputError:
        """Return the error that names the file and this place."""
        return InputError(self.file, self.place, reason, hint)

    def has(self, key: str) -> bool:
        """Return whether this is an object with the key, whatever its value."""
        return isinstance(self.value, dict) and key in self.value

    def has_any(self, keys: frozenset[str]) -> bool:
        """Return whether this is an object with one of the keys, whatever its value."""
        return isinstance(self.value, dict) and not keys.isdisjoint(self.value)

    def keys(self) -> list[str]:
        """Return the object's keys; raises InputError if the value is not an object."""
        if not isinstance(self.value, dict):
            raise self.mismatch("an object")
        return list(self.value)

    def child(self, key: str) -> Node:
        """Return the key's value. If the key is missing, the node has the value None, and its place."""
        if not isinstance(self.value, dict):
            raise self.mismatch("an object")
        return Node(self.value.get(key), self.file, f"{self.path}.{key}" if self.path else key, self.line)

    def required(self, key: str) -> Node:
        """Return the key's value; raises InputError if the value is not an object, or the key is missing."""
        child = self.child(key)
        if not self.has(key):
            raise child.error("is missing")
        return child

    def at(self, keys: Iterable[str]) -> Node:
        """Return the node that the keys lead to, one after another; its value is None if the way ends before."""
        node = self
        for key in keys:
            is_open = isinstance(node.value, dict)
            node = node.child(key) if is_open else Node(None, node.file, f"{node.path}.{key}", node.line)
        return node

    def with_members(self, members: Mapping[str, object]) -> Node:
        """Return the object with these members, beside its own or instead of them."""
        if not isinstance(self.value, dict):
            raise self.mismatch("an object")
        return replace(self, value=self.value | dict(members))

    def elements(self) -> list[Node]:
        """Return the array's values; raises InputError if the value is not an array."""
        if not isinstance(self.value, list):
            raise self.mismatch("an array")
        return [Node(item, self.file, f"{self.path}[{index}]", self.line) for index, item in enumerate(self.value)]

    def text(self) -> str:
        """Return the string without surrounding white space; raises InputError if the value is not a string."""
        if not isinstance(self.value, str):
            raise self.mismatch("text")
        return self.value.strip()

    def optional_text(self) -> str:
        """Return the string without surrounding white space, or an empty one for null or a missing key."""
        return "" if self.value is None else self.text()

    def filled_text(self) -> str:
        """Return the string without surrounding white space.

        Raises:
            InputError: the value is not a string, or is blank.
        """
        text = self.text()
        if not text:
            raise self.error("is blank")
        return text

    def optional_name(self) -> str | None:
        """Return a string or integer as a name; None for null, a missing key or a blank string."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return self.number_text()
        return self.optional_text() or None

    def number_text(self) -> str:
        """Return a number as JSON writes it; raises InputError if the value is not a number."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            raise self.mismatch("a number")
        return str(self.value)

    def stamp(self, read: Callable[[str], Stamp | None] = stamp_from_text) -> Stamp | None:
        """Return the time of a string, or of a number of seconds or parts of them since 1970; None for no value.

        `read` reads the string, for formats that write times in their own form. If the value is no time, the stamp has
        it as `unread`: the message is worth keeping without its time.
        """
        value = self.value
        for _ in range(2):  # as MongoDB and Firestore write times
            if isinstance(value, dict):
                value = next((value[key] for key in _TIMES_IN_OBJECTS if key in value), value)
        if value is None or value in (0, False):
            return None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            number: float = value
            return stamp_or_unread(repr(value), lambda _: stamp_from_epoch(number))
        return stamp_or_unread(value if isinstance(value, str) else quoted(repr(value)), read)

    def moment(self) -> datetime | None:
        """Return the time of the value, None if there is no value; raises InputError if the value is no time."""
        stamp = self.stamp()
        if stamp is not None and stamp.unread:
            raise self.error(f"{stamp.unread!r} is no time")
        return None if stamp is None else stamp.moment

    def first_stamp(self) -> Stamp | None:
        """Return the time under one of the keys that programs use for it, None if there is none."""
        stamps = [stamp for key in TIME_KEYS if self.has(key) and (stamp := self.child(key).stamp()) is not None]
        return next((stamp for stamp in stamps if not stamp.unread), stamps[0] if stamps else None)

    def mismatch(self, expected: str) -> InputError:
        """Return the error that another kind of value was expected here."""
        return self.error(f"expected {expected}, found {_kind(self.value)}")


def records(source: Source) -> Iterator[Node]:
    """Yield the elements of the document's array one at a time, or the document itself if it is no array.

    Raises:
        InputError: the text is not one JSON document; the place is the line and column.
    """
    text = JsonText(source, source.chunks())
    if text.peek() == "[":
        for index in text.elements():
            yield Node(text.value(), source.file, f"[{index}]")
    else:
        yield from unwrapped(Node(text.value(), source.file))
    text.finish()


def unwrapped(document: Node) -> list[Node]:
    """Return the records that an object holds as a list under a general key, else the object alone."""
    if isinstance(document.value, dict):
        for key in _WRAPPERS:
            listed = document.value.get(key)
            if isinstance(listed, list) and any(isinstance(one, dict) and _IN_RECORDS & one.keys() for one in listed):
                return document.child(key).elements()
    return [document]


class Listing:
    """An object of a document that is being read, with one array that is too long for memory.

    `about` is the object without that array, as far as it was read.
    """

    def __init__(self, text: JsonText, file: str, path: str, listed: str) -> None:
        self._known: dict[str, object] = {}
        self.about = Node(self._known, file, path)
        self._text = text
        self._listed = listed
        self._items = self._read()

    def items(self) -> Iterator[Node]:
        """Return the elements of the array one at a time, and read the rest of the object before and after it.

        Raises:
            InputError: this is no object, or it has no such array; reading goes on after it.
            TextBroken: the text is not JSON.
        """
        return self._items

    def pass_over(self) -> None:
        """Read the rest of the object, so that reading goes on after it. Drop the list's items, keep other members.

        Raises:
            InputError: as `items`.
        """
        for _ in self._items:
            pass

    def _read(self) -> Iterator[Node]:
        """Yield the elements of the listed array, and keep all other members of the object."""
        text, about = self._text, self.about
        if text.peek() != "{":
            replace(about, value=text.value()).required(self._listed)
        is_there = False
        wrong: InputError | None = None
        for key in text.members():
            if key != self._listed:
                self._known[key] = text.value()
                continue
            is_there = True
            where = replace(about, path=f"{about.path}.{key}" if about.path else key)
            if text.peek() != "[":
                wrong = replace(where, value=text.value()).mismatch("an array")
                continue
            for index in text.elements():
                yield replace(where, value=text.value(), path=f"{where.path}[{index}]")
        if wrong is not None:
            raise wrong
        if not is_there:
            about.required(self._listed)


def json_lines(source: Source) -> Iterator[Node]:
    """Yield the document on each line that is not blank; only a line feed ends a line, as in JSONL.

    Raises:
        InputError: a line is not JSON, and may not be skipped; the place is the line and column.
    """
    filled = ((number, line) for number, line in source.lines() if line.strip())
    return source.readable(filled, lambda one: (node_from_text(one[1], source.file, one[0]),))


def node_from_text(text: str, file: str, line: int | None = None) -> Node:
    """Return the JSON document that the text holds; `line` is its line in a JSONL file.

    Raises:
        InputError: the text is not one JSON document; the place is the line and column.
    """
    place = "" if line is None else f"line {line}"
    try:
        return Node(json.loads(text), file, line=line)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno if line is None else line}, column {error.colno}"
        raise InputError(file, where, f"not JSON ({error.msg})") from error
    except RecursionError as error:
        raise InputError(file, place, "the JSON is nested too deeply") from error
    except ValueError as error:
        raise InputError(file, place, "the JSON holds a number of too many digits") from error


def _kind(value: object) -> str:
    """Return the kind of a JSON value in words, for error messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "an array" if isinstance(value, list) else "an object"
