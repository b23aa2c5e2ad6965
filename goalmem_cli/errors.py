"""Every failure a user can meet, as one tree.

GoalmemError                 exit code
├── UsageError               2   the words of the command do not fit
│   └── PluginBroken             what was named is of another package, and cannot be loaded
├── StoreError               3   the store could not be used
│   ├── StoreLocked              another process holds it
│   ├── StoreDamaged             a file is truncated, missing or garbled
│   ├── StoreNewer               written by a newer goalmem
│   ├── EmbedderMismatch         built with another embedder
│   ├── BackboneMissing          nothing was indexed for the backbone asked for
│   └── StoreUnable              it cannot do that, being kept where it is
├── ModelError               4   the language model or embedder could not be used
│   ├── ModelMissing             nothing there under that name
│   ├── ModelUnreadable          there, but not a model this build can load
│   │   └── AdapterUnreadable    no adapter there, or not one for this model
│   ├── ContextOverflow          the prompt is longer than the context
│   └── ReplyUnusable            the reply does not have the form asked for
├── InputError               5   a transcript could not be read (file, place, reason)
│   ├── UnknownFormat            in none of the formats
│   │   └── UnlikelyChat             a document by its looks, though it can be read as a chat
│   ├── NoMessages               a file is whole, and nothing is said in it
│   └── TextBroken               what follows in the file cannot be read either
└── PromptError              4   a prompt file is wrong (file, key, reason)

Unknown is not an error: a question that memory does not answer ends in a trace whose status says so (exit code 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class GoalmemError(Exception):
    """Something the user can act on: one line of what happened, one line of what to do."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GoalmemError):
    """The command's words contradict one another or name nothing that exists."""

    exit_code = 2


class PluginBroken(UsageError):
    """What was named is a plug-in that cannot be imported, or is not what it is registered as."""


class StoreError(GoalmemError):
    """The store could not be opened, read or written."""

    exit_code = 3


class StoreLocked(StoreError):
    """Another process holds the store's lock."""


class StoreDamaged(StoreError):
    """A file of the store is truncated, missing or garbled."""


class StoreNewer(StoreError):
    """The store was written by a newer goalmem."""


class EmbedderMismatch(StoreError):
    """The store's vectors come from another embedder than the one asked for."""


class BackboneMissing(StoreError):
    """The store holds nothing yet of what the backbone asked for derives from turns."""


class StoreUnable(StoreError):
    """A memory that is kept there cannot do what was asked for."""


class ModelError(GoalmemError):
    """A language model or embedder could not be used."""

    exit_code = 4


class ModelMissing(ModelError):
    """No model is there under the name given."""


class ModelUnreadable(ModelError):
    """The file is there but is not a model that this build can load."""


class AdapterUnreadable(ModelUnreadable):
    """No adapter is there, the file is none, or it was made for another model."""


class ContextOverflow(ModelError):
    """A prompt has more tokens than the model's context holds."""


class ReplyUnusable(ModelError):
    """A model's reply does not have the form that was asked for."""


class PromptError(GoalmemError):
    """A prompt file is wrong; the message names the file and the key."""

    exit_code = 4


class InputError(GoalmemError):
    """A transcript could not be read.

    `place` is where in the file: ``line 3, column 7``, ``[2].session_1[4]`` or the like; empty for the whole file.
    """

    exit_code = 5

    def __init__(self, path: Path | str, place: str, reason: str, hint: str = "") -> None:
        where = f"{path}: {place}" if place else str(path)
        super().__init__(f"{where}: {reason}", hint or "correct the file at that place, or leave it out")
        self.path = str(path)
        self.place = place
        self.reason = reason


class TextBroken(InputError):
    """A file cannot be read on from a place: it is no text, or no JSON, there."""


class NoMessages(InputError):
    """A file can be read, and nothing is said in it."""


@dataclass(frozen=True, slots=True)
class NearFormat:
    """A format that a file is not in; `sign` is what it is recognised by, `lacks` the keys of it that are not there.

    Without keys in its sign nothing can be said of what is not there, and `lacks` is empty.
    """

    name: str
    sign: str
    lacks: tuple[str, ...] = ()


class UnknownFormat(InputError):
    """A file is in none of the formats that goalmem reads; `near` are those that come nearest, where that is known."""

    near: tuple[NearFormat, ...] = ()


class UnlikelyChat(UnknownFormat):
    """A file could be read as a chat in `format`, and looks like a document."""

    def __init__(self, path: Path | str, place: str, reason: str, hint: str = "", *, format: str = "") -> None:  # noqa: A002
        super().__init__(path, place, reason, hint)
        self.format = format


class UnclearDates(InputError):
    """A file's dates leave open whether the day or the month comes first; `example` is the first of them."""

    def __init__(self, path: Path | str, example: str) -> None:
        reason = f"nothing in it tells whether {example!r} begins with the day or with the month"
        super().__init__(path, "", reason, "say which with --day-first or --month-first")
        self.example = example
