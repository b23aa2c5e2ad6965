"""Readers, backbones and reasoners that other installed packages register as entry points.

The search reads package metadata only. A package's code is imported when its plug-in is named, and by `goalmem doctor`.
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


class PluginKind(StrEnum):
    """The kinds of plug-ins; the value is the entry point group."""

    READER = "goalmem.readers"
    BACKBONE = "goalmem.backbones"
    REASONER = "goalmem.reasoners"

    @property
    def word(self) -> str:
        """The kind as a word in a sentence."""
        return self.name.lower()


_GROUPS = frozenset(PluginKind)


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plug-in that a package registers under a name; `place` is its import path."""

    kind: PluginKind
    name: str
    package: str
    version: str
    place: str

    def __str__(self) -> str:
        return f"the {self.kind.word} {self.name} of the package {self.package} {self.version}".rstrip()

    def load(self) -> object:
        """Import and return the registered object.

        Raises:
            PluginBroken: it cannot be imported.
        """
        try:
            return EntryPoint(self.name, self.place, self.kind).load()
        except (Exception, SystemExit) as error:
            raise self.broken(_said(error)) from error

    def broken(self, why: str) -> PluginBroken:
        """Return the error that the plug-in cannot be used, with the reason."""
        hint = f"ask who makes {self.package}, or uninstall it; `goalmem doctor` lists all plug-ins"
        return PluginBroken(f"{self} cannot be used: {why}", hint)

    @contextmanager
    def guarded(self, file: str = "") -> Iterator[None]:
        """Turn exceptions of the plug-in's code into goalmem's errors; goalmem's own errors pass unchanged.

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
        """Return the error that the plug-in failed, of the type that fits its kind."""
        message, hint = f"{self} failed: {why}", f"tell who makes {self.package}"
        if self.kind is PluginKind.READER:
            return InputError(file, "", message, hint)
        return (StoreError if self.kind is PluginKind.BACKBONE else ModelError)(message, hint)


def find(kind: PluginKind, name: str) -> Plugin | None:
    """Return the plug-in of that name, or None; of several, the first on Python's path."""
    return next((plugin for plugin in installed() if (plugin.kind, plugin.name) == (kind, name)), None)


def registered(kind: PluginKind, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the names that some package registers for the kind."""
    return tuple(name for name in names if find(kind, name) is not None)


def installed() -> tuple[Plugin, ...]:
    """Return all plug-ins in the order of Python's path, without importing them."""
    return _installed(tuple(sys.path))


@lru_cache(maxsize=4)
def _installed(_path: tuple[str, ...]) -> tuple[Plugin, ...]:
    """Return the plug-ins found on the path; cached while the path stays the same."""
    found: dict[str, list[Plugin]] = {}
    for distribution in distributions():
        plugins = _plugins_of(distribution)
        if plugins:  # if a package is installed twice, Python imports the first
            found.setdefault(re.sub(r"[-_.]+", "-", plugins[0].package).lower(), plugins)
    return tuple(plugin for plugins in found.values() for plugin in plugins)


def _plugins_of(distribution: Distribution) -> list[Plugin]:
    """Return the plug-ins that a package registers; none if its metadata is damaged."""
    try:
        entries = [entry for entry in distribution.entry_points if entry.group in _GROUPS]
        if not entries:
            return []
        package, version = str(distribution.metadata["Name"] or "without a name"), str(distribution.version or "")
        return [Plugin(PluginKind(entry.group), entry.name, package, version, entry.value) for entry in entries]
    except Exception:  # noqa: BLE001 - a broken package must not hide the others
        return []


def _said(error: BaseException) -> str:
    """Return the error's type and message on one line."""
    text = " ".join(str(error).split())[:_SHOWN_LENGTH]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
