"""Load backbones of other packages when they are named, and check what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from goalmem_cli.backbones.catalogue import BackboneEntry
from goalmem_cli.plugins import Plugin, PluginKind, find
from goalmem_cli.ports import Backbone, Happening, Indexed, KeepsHistory, Outlook, PartDone, StructuredBackbone
from goalmem_cli.records import Hit, Query, Turn, Unit

if TYPE_CHECKING:
    from goalmem_cli.backbones.structured.kit import LoadKit
    from goalmem_cli.memory_ports import KeptMemory

T = TypeVar("T")


def entry_of(name: str) -> BackboneEntry[Backbone] | None:
    """Return the entry of that name from another package; None if none has it.

    Raises:
        PluginBroken: another package's entry cannot be imported, or is not a `BackboneEntry`.
    """
    plugin = find(PluginKind.BACKBONE, name)
    return None if plugin is None else loaded_entry(plugin)


def loaded_entry(plugin: Plugin) -> BackboneEntry[Backbone]:
    """Return the plug-in's entry; the backbone that it builds raises only errors of goalmem.

    Raises:
        PluginBroken: it cannot be imported, or is not a valid `BackboneEntry`.
    """
    entry = plugin.load()
    if not isinstance(entry, BackboneEntry):
        raise plugin.broken(f"it is {type(entry).__name__}, not a BackboneEntry of goalmem_cli.backbones.catalogue")
    if problem := _wrong_in(entry.build, entry.steps, entry.settings):
        raise plugin.broken(f"of its entry, {problem}")

    def build(memory: KeptMemory, kit: LoadKit, told: Any) -> Backbone:
        """Build the plug-in's backbone and wrap it; raises PluginBroken if it lacks a method."""
        with plugin.guarded():
            made = entry.build(memory, kit, told)
        needed = ("update", "retrieve", "outlook", "index") if entry.is_indexed else ("update", "retrieve")
        if lacks := [method for method in needed if not callable(getattr(made, method, None))]:
            raise plugin.broken(f"{type(made).__name__} has no method {lacks[0]}")
        if not entry.is_indexed:
            return Guarded(plugin, made)
        structured = cast("StructuredBackbone", made)
        is_historian = isinstance(made, KeepsHistory)
        return GuardedHistory(plugin, structured) if is_historian else GuardedStructured(plugin, structured)

    return replace(entry, build=build)


def _wrong_in(build: object, steps: object, settings: object) -> str:
    """Return what is wrong with the fields of an entry; "" if nothing is."""
    if not callable(build):
        return "build cannot be called"
    if not isinstance(steps, tuple) or not all(isinstance(step, str) for step in steps):
        return "steps are no tuple of names"
    return "" if isinstance(settings, type) and is_dataclass(settings) else "settings are no dataclass"


class Guarded:
    """Wraps a backbone `own` of another package; its failures become errors of goalmem that name the package."""

    def __init__(self, plugin: Plugin, own: Backbone) -> None:
        self.own = own
        self._plugin = plugin

    def update(self, turns: Sequence[Turn]) -> None:
        """Store the turns; raises StoreError if the plug-in failed."""
        with self._plugin.guarded():
            self.own.update(turns)

    def retrieve(self, query: Query, k: int) -> list[Hit]:
        """Return at most k hits.

        Raises:
            StoreError: the plug-in failed, or returned something other than distinct hits.
        """
        with self._plugin.guarded():
            hits: list[Any] = list(self.own.retrieve(query, k))
        for hit in hits:
            if not isinstance(hit, Hit) or not isinstance(hit.unit, Unit):
                raise self._plugin.failed(f"it found {type(hit).__name__}, not Hit")
        if len({hit.unit.id for hit in hits}) < len(hits):
            raise self._plugin.failed("it found a unit twice")
        return hits[:k]

    def _of_kind(self, kind: type[T], call: Callable[[], object]) -> T:
        """Return the result of the call after checking its type.

        Raises:
            StoreError: the call failed, or returned another type.
        """
        with self._plugin.guarded():
            given = call()
        if not isinstance(given, kind):
            raise self._plugin.failed(f"it gave {type(given).__name__}, not {kind.__name__}")
        return given


class GuardedStructured(Guarded):
    """Wraps a structured backbone of another package."""

    own: StructuredBackbone

    def outlook(self) -> Outlook:
        """Return what `index` would do now; raises StoreError if the plug-in failed."""
        return self._of_kind(Outlook, self.own.outlook)

    def index(self, report: Callable[[PartDone], None]) -> Indexed:
        """Index the new turns; raises StoreError if the plug-in failed."""
        return self._of_kind(Indexed, lambda: self.own.index(report))


class GuardedHistory(GuardedStructured):
    """Wraps a structured backbone of another package that keeps the history of its units."""

    def history(self, unit: str) -> list[Happening]:
        """Return what happened to the unit; raises StoreError if the plug-in failed."""
        return self._of_kind(list, lambda: cast("KeepsHistory", self.own).history(unit))
