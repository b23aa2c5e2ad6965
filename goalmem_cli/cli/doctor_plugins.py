"""The plug-ins in `goalmem doctor`: what other packages register, and whether it can be loaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from goalmem_cli.errors import GoalmemError
from goalmem_cli.store.health import Finding

if TYPE_CHECKING:
    from goalmem_cli.plugins import Plugin
    from goalmem_cli.wiring import Factories


def look_at_plugins(factories: Factories) -> Iterator[Finding]:
    """Yield a finding for each installed plug-in, whose code is imported."""
    from goalmem_cli.plugins import installed

    for plugin in installed():
        yield _look_at(plugin, factories)


def _look_at(plugin: Plugin, factories: Factories) -> Finding:
    """Return the finding about a plug-in, which is loaded."""
    from goalmem_cli.plugins import find

    name = f"{plugin.kind.word} {plugin.name}"
    found = f"{plugin.package} {plugin.version} ({plugin.place})"
    try:
        _load(plugin)
    except GoalmemError as error:
        return Finding(name, error.message, error.hint, error.exit_code)
    first = find(plugin.kind, plugin.name)
    if _is_own(plugin, factories):
        return Finding(name, f"{found}: not used, since goalmem has its own", "its maker can register another name")
    if first is not None and first != plugin:
        return Finding(name, f"{found}: not used, since {first.package} comes first", "uninstall one of the two")
    return Finding(name, found)


def _load(plugin: Plugin) -> None:
    """Load the plug-in as a command would.

    Raises:
        PluginBroken: it cannot be imported, or is not of its registered kind.
    """
    from goalmem_cli.plugins import Kind

    if plugin.kind is Kind.READER:
        from goalmem_cli.transcripts.plugged import loaded_reader

        loaded_reader(plugin)
    elif plugin.kind is Kind.BACKBONE:
        from goalmem_cli.backbones import plugged as backbones

        backbones.loaded_entry(plugin)
    else:
        from goalmem_cli.reasoners import plugged as reasoners

        reasoners.loaded_entry(plugin)


def _is_own(plugin: Plugin, factories: Factories) -> bool:
    """Return whether goalmem itself has something of this kind and name, which it then uses instead."""
    from goalmem_cli.plugins import Kind
    from goalmem_cli.transcripts import FORMATS
    from goalmem_cli.wiring import backbone_names, reasoner_names

    own = {Kind.READER: FORMATS, Kind.BACKBONE: backbone_names(factories), Kind.REASONER: reasoner_names()}
    return plugin.name in own[plugin.kind]
