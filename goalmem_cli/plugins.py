"""What other installed packages add: readers, backbones and reasoners that they register as entry points.

Looking for them reads what packages say of themselves. A package's code is imported when somebody names what it adds,
and by `goalmem doctor`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, distributions

from goalmem_cli.errors import GoalmemError, InputError, ModelError, PluginBroken, StoreError

_SHOWN_LENGTH = 200


class Kind(StrEnum):
    """What a plug-in may be, by the group of entry points in which it is registered."""

    READER = "goalmem.readers"
    BACKBONE = "goalmem.backbones"
    REASONER = "goalmem.reasoners"

    @property
    def word(self) -> str:
        """What it is called in a sentence."""
        return self.name.lower()


_GROUPS = frozenset(Kind)


@dataclass(frozen=True, slots=True)
class Plugin:
    """Something that a package registers under a name; `place` is where it is in the package's code."""

    kind: Kind
    name: str
    package: str
    version: str
    place: str

    def __str__(self) -> str:
        return f"the {self.kind.word} {self.name} of the package {self.package} {self.version}".rstrip()

    def load(self) -> object:
        """Return what the package registered, importing it.

        Raises:
            PluginBroken: it cannot be imported.
        """
        try:
            return EntryPoint(self.name, self.place, self.kind).load()
        except (Exception, SystemExit) as error:
            raise self.broken(_said(error)) from error

    def broken(self, why: str) -> PluginBroken:
        """Return the error that it is not what it is registered as, with the reason."""
        hint = f"ask who makes {self.package}, or uninstall it; `goalmem doctor` lists all plug-ins"
        return PluginBroken(f"{self} cannot be used: {why}", hint)

    @contextmanager
    def guarded(self, file: str = "") -> Iterator[None]:
        """Turn what the plug-in's code raises, but for errors of goalmem, into one of the kind that fits.

        Raises:
            InputError: a reader failed; `file` is what it read.
            StoreError: a backbone failed.
            ModelError: a reasoner failed.
        """
        try:
            yield
        except GoalmemError:
            raise
        except Exception as error:
            raise self.failed(_said(error), file) from error

    def failed(self, why: str, file: str = "") -> GoalmemError:
        """Return the error that it did not do its work, of the kind that fits, with the reason."""
        message, hint = f"{self} failed: {why}", f"tell who makes {self.package}"
        if self.kind is Kind.READER:
            return InputError(file, "", message, hint)
        return (StoreError if self.kind is Kind.BACKBONE else ModelError)(message, hint)


def find(kind: Kind, name: str) -> Plugin | None:
    """Return the plug-in of that name, None where no package registers one; of several the first on Python's path."""
    return next((plugin for plugin in installed() if (plugin.kind, plugin.name) == (kind, name)), None)


def registered(kind: Kind, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the names under which a package registers something of the kind."""
    return tuple(name for name in names if find(kind, name) is not None)


def installed() -> tuple[Plugin, ...]:
    """Return all plug-ins, in the order of Python's path; nothing is imported."""
    return _installed(tuple(sys.path))


@lru_cache(maxsize=4)
def _installed(_path: tuple[str, ...]) -> tuple[Plugin, ...]:
    """Return what is installed where Python looks, read once as long as that stays the same."""
    found: dict[str, list[Plugin]] = {}
    for distribution in distributions():
        plugins = _plugins_of(distribution)
        if plugins:  # of a package that is there twice, Python imports the first
            found.setdefault(re.sub(r"[-_.]+", "-", plugins[0].package).lower(), plugins)
    return tuple(plugin for plugins in found.values() for plugin in plugins)


def _plugins_of(distribution: Distribution) -> list[Plugin]:
    """Return what a package registers; nothing of one whose own record is damaged."""
    try:
        entries = [entry for entry in distribution.entry_points if entry.group in _GROUPS]
        if not entries:
            return []
        package, version = str(distribution.metadata["Name"] or "without a name"), str(distribution.version or "")
        return [Plugin(Kind(entry.group), entry.name, package, version, entry.value) for entry in entries]
    except Exception:  # noqa: BLE001 - whatever is wrong with it, the others are to be found
        return []


def _said(error: BaseException) -> str:
    """Return what kind of error it is, and what it says, on one line."""
    text = " ".join(str(error).split())[:_SHOWN_LENGTH]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
