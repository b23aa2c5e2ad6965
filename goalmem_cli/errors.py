"""All errors that a user can meet, as one tree.

GoalmemError                 exit code
├── UsageError               2   invalid arguments
│   ├── PluginBroken             a plug-in cannot be loaded
│   └── LibraryMissing       4   a library of an extra is not installed (of Milvus: StoreError)
├── StoreError               3   the store cannot be used
│   ├── StoreLocked              another process holds it
│   ├── StoreDamaged             a file is truncated, missing or damaged
│   ├── StoreNewer               written by a newer goalmem
│   ├── EmbedderMismatch         built with another embedder
│   ├── BackboneMissing          the backbone has no index yet
│   └── StoreUnable              this kind of storage cannot do it
├── ModelError               4   a language model or embedder cannot be used
│   ├── ModelMissing             there is no model of that name
│   ├── ModelUnreadable          it is not a model that this build can load
│   │   └── AdapterUnreadable    there is no adapter, or not for this model
│   ├── ContextOverflow          the prompt is longer than the context
│   ├── LanguageUnread           the model does not read the language
│   └── ReplyUnusable            the reply has the wrong form
├── InputError               5   a transcript cannot be read (file, place, reason)
│   ├── UnknownFormat            it is in none of the formats
│   │   └── UnlikelyChat             it looks like a document, but could be read as a chat
│   ├── NoMessages               the file is valid and has no messages
│   └── TextBroken               the rest of the file cannot be read either
└── PromptError              4   a prompt file is wrong (file, key, reason)

An unknown answer is not an error: the question ends in a trace whose status says so (exit code 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class GoalmemError(Exception):
    """An error that the user can act on: one line about what happened, one about what to do."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GoalmemError):
    """The arguments contradict each other or name something that does not exist."""

    exit_code = 2


class PluginBroken(UsageError):
    """The named plug-in cannot be imported, or is not what it is registered as."""


class LibraryMissing(UsageError):
    """A library that only some parts need, and that an extra installs, is not there."""

    exit_code = 4


class StoreError(GoalmemError):
    """The store could not be opened, read or written."""

    exit_code = 3


class StoreLocked(StoreError):
    """Another process holds the store's lock."""


class StoreDamaged(StoreError):
    """A file of the store is truncated, missing or damaged."""


class StoreNewer(StoreError):
    """The store was written by a newer goalmem."""


class EmbedderMismatch(StoreError):
    """The store's vectors come from another embedder than the one asked for."""


class BackboneMissing(StoreError):
    """The store has no index of the backbone yet."""


class StoreUnable(StoreError):
    """This kind of storage cannot do what was asked for."""


class ModelError(GoalmemError):
    """A language model or embedder could not be used."""

    exit_code = 4


class ModelMissing(ModelError):
    """There is no model of that name."""


class ModelUnreadable(ModelError):
    """The file exists but is not a model that this build can load."""


class AdapterUnreadable(ModelUnreadable):
    """The adapter is missing, its file is not an adapter, or it was made for another model."""


class ContextOverflow(ModelError):
    """A prompt has more tokens than the model's context holds."""


class LanguageUnread(ModelError):
    """The model does not read the language of the question, or of what it is asked of."""


class ReplyUnusable(ModelError):
    """A model's reply does not have the required form."""


class PromptError(GoalmemError):
    """A prompt file is wrong; the message names the file and the key."""

    exit_code = 4


class InputError(GoalmemError):
    """A transcript could not be read.

    `place` is the position in the file, such as ``line 3, column 7`` or ``[2].session_1[4]``; "" for the whole file.
    """

    exit_code = 5

    def __init__(self, path: Path | str, place: str, reason: str, hint: str = "") -> None:
        where = f"{path}: {place}" if place else str(path)
        super().__init__(f"{where}: {reason}", hint or "correct the file at that place, or leave it out")
        self.path = str(path)
        self.place = place
        self.reason = reason


class TextBroken(InputError):
    """The rest of a file cannot be read: it is not text, or not JSON."""


class NoMessages(InputError):
    """A file is valid but has no messages."""


@dataclass(frozen=True, slots=True)
class NearFormat:
    """A format that a file almost has; `sign` is what identifies the format, `lacks` its keys that are missing.

    If the sign has no keys, `lacks` is the whole sign.
    """

    name: str
    sign: str
    lacks: tuple[str, ...] = ()


class UnknownFormat(InputError):
    """A file has none of the formats that goalmem reads; `near` are the nearest ones, if known."""

    near: tuple[NearFormat, ...] = ()


class UnlikelyChat(UnknownFormat):
    """A file could be read as a chat in `format`, but looks like a document."""

    def __init__(self, path: Path | str, place: str, reason: str, hint: str = "", *, format: str = "") -> None:  # noqa: A002
        super().__init__(path, place, reason, hint)
        self.format = format


class UnclearDates(InputError):
    """A file's dates do not show whether the day or the month comes first; `example` is the first such date."""

    def __init__(self, path: Path | str, example: str) -> None:
        reason = f"nothing in it tells whether {example!r} begins with the day or with the month"
        super().__init__(path, "", reason, "say which with --day-first or --month-first")
        self.example = example


@contextmanager
def libraries_of(
    extra: str, user: str, otherwise: str = "", kind: type[GoalmemError] = LibraryMissing
) -> Iterator[None]:
    """Let the caller import libraries of an extra, and say how to install the extra if one is missing.

    `user` is what needs them, in the singular. `otherwise` is what else the reader can do.

    Raises:
        LibraryMissing, or `kind`: a library is not installed, or cannot be loaded.
    """
    try:
        yield
    except ImportError as error:
        name = (error.name or "").partition(".")[0]
        if name == __package__:
            raise
        why = "is not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be loaded: {error}"
        hint = f"pip install 'goalmem[{extra}]'" + (f"; or {otherwise}" if otherwise else "")
        raise kind(f"{name or 'a library'}, which {user} needs, {why}", hint) from error
