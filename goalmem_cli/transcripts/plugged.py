"""Loads the readers of other packages when their format is named, and checks what they yield."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from goalmem_cli.errors import NoMessages
from goalmem_cli.plugins import Kind, Plugin, find
from goalmem_cli.records import Conversation, Turn, encodable
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.reader import Reader
from goalmem_cli.transcripts.reading.source import Source

_NOTE = re.compile(r".+: \d{1,15}")
_MOST = 2**31
_NONE = type(None)
_FIELDS: Mapping[str, tuple[type, ...]] = {
    "session": (int,), "ordinal": (int,), "speaker": (str,), "text": (str,), "said": (datetime, _NONE),
    "own_id": (str, _NONE), "role": (str, _NONE), "attributes": (Mapping,),
}  # fmt: skip
"""The allowed types of each field of a turn."""


class PluggedReader:
    """A reader of another package. It raises only `InputError`, and yields only what the store can take."""

    def __init__(self, plugin: Plugin, own: Reader) -> None:
        self._plugin = plugin
        self._own = own
        self.name = plugin.name
        self.suffixes = tuple(own.suffixes)
        self.sign = own.sign

    def recognises(self, glimpse: Glimpse) -> bool:  # noqa: ARG002 - the seam's
        """Return False: a plug-in reads only files for which its format is named."""
        return False

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the source's conversations.

        Raises:
            InputError: the source is not in the format, or the reader failed.
        """
        before: Conversation | None = None
        with self._plugin.guarded(source.file):
            for found in self._own.read(source):
                if problem := _problem_of(found, self.name, before):
                    raise self._plugin.failed(problem, source.file)
                before = found
                yield found
        if before is None:
            raise NoMessages(source.file, "", f"no messages found, read as {self.name}", "give another --format")


def plugged_reader(name: str) -> PluggedReader | None:
    """Return the reader that another package registers under the name, None if there is none.

    Raises:
        PluginBroken: it cannot be imported, or is no reader of that name.
    """
    plugin = find(Kind.READER, name)
    return None if plugin is None else loaded_reader(plugin)


def loaded_reader(plugin: Plugin) -> PluggedReader:
    """Return the plug-in's reader. A registered class is called without arguments to make it.

    Raises:
        PluginBroken: it cannot be imported, or is no reader of that name.
    """
    found: Any = plugin.load()
    try:
        own = found() if isinstance(found, type) else found
        problem = _unlike_a_reader(own, plugin.name)
    except Exception as error:  # noqa: BLE001 - the code is not ours, and may raise anything
        problem = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if problem:
        raise plugin.broken(problem)
    return PluggedReader(plugin, own)


def _unlike_a_reader(own: object, name: str) -> str:
    """Return what the object lacks to be a reader; "" if it is one."""
    for method in ("recognises", "read"):
        if not callable(getattr(own, method, None)):
            return f"{type(own).__name__} has no method {method}"
    if getattr(own, "name", None) != name:
        return f"it is registered as {name}, and calls itself {getattr(own, 'name', None)!r}"
    suffixes = getattr(own, "suffixes", None)
    if not isinstance(suffixes, tuple) or not all(str(each).startswith(".") for each in suffixes):
        return f"its suffixes are {suffixes!r}, not endings such as ('.txt',)"
    if not isinstance(getattr(own, "sign", None), str):
        return "its sign is no text"
    return ""


def _problem_of(found: Any, name: str, before: Conversation | None) -> str:
    """Return why the conversation cannot be stored; "" if it can. `before` is the conversation yielded before it."""
    if not isinstance(found, Conversation):
        return f"it gave {type(found).__name__}, not a Conversation"
    if not _is_text(found.name) or not found.name or found.format != name:
        return f"it gave a conversation called {found.name!r} of the format {found.format!r}, not of {name}"
    turns: Any = found.turns
    if not isinstance(turns, tuple):
        return f"the turns of {found.name} are {type(turns).__name__}, not tuple"
    if wrong := next((note for note in found.notes if not _NOTE.fullmatch(note)), None):
        return f"the note {wrong!r} of {found.name} is not written as `what: count`"
    if found.continues and (before is None or before.name != found.name):
        return f"{found.name} continues what did not come before"
    return next((f"{found.name}: {wrong}" for turn in turns if (wrong := _wrong_in(turn, found.name))), "")


def _wrong_in(turn: object, conversation: str) -> str:
    """Return what is wrong in a turn of that conversation, or nothing."""
    if not isinstance(turn, Turn):
        return f"it has {type(turn).__name__} among its turns"
    for field, kinds in _FIELDS.items():
        value = getattr(turn, field)
        if not isinstance(value, kinds) or isinstance(value, bool):
            return f"{field} of a turn is {value!r}"
        if isinstance(value, str) and not _is_text(value):
            return f"{field} of a turn holds lone surrogates"
        if isinstance(value, int) and not 0 <= value < _MOST:
            return f"{field} of a turn is {value}"
    if turn.conversation != conversation:
        return f"it has a turn of {turn.conversation!r}"
    try:
        json.dumps(dict(turn.attributes))
    except (TypeError, ValueError) as error:
        return f"attributes of a turn are no JSON ({error})"
    return "" if turn.text.strip() else "a turn is blank"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and encodable(value) == value
