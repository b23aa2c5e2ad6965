"""The table of backbones by name: how to build each, the prompts of its steps, and its settings.

A structured backbone is imported when it is built, so that a command loads only the one it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from goalmem_cli.backbones import whole_scope
from goalmem_cli.backbones.flat import RECIPES, FlatBackbone
from goalmem_cli.backbones.structured.settings import NoSettings
from goalmem_cli.memory_records import Capability
from goalmem_cli.ports import Backbone, StructuredBackbone
from goalmem_cli.store import local

if TYPE_CHECKING:
    from goalmem_cli.backbones.remem.episodic_memory import EpisodicMemory
    from goalmem_cli.backbones.structured.kit import LoadKit
    from goalmem_cli.memory_ports import KeptMemory

B_co = TypeVar("B_co", bound=Backbone, covariant=True)


@dataclass(frozen=True, slots=True)
class BackboneEntry(Generic[B_co]):
    """How to build a backbone over a memory.

    `build` takes the memory, the function that loads the kit, and a `settings` record whose fields all have defaults.
    `steps` are the names of the prompts that the kit must hold. `is_indexed` marks a structured backbone, which needs
    `goalmem index` first; `indexed` makes such an entry. `prompts` is the prompt folder of a plug-in package.
    `keeps_order`: its hits stay in their order where a later one replaces an earlier one, which is only marked.
    """

    build: Callable[[KeptMemory, LoadKit, Any], B_co]
    steps: tuple[str, ...] = ()
    settings: type[Any] = NoSettings
    is_indexed: bool = False
    prompts: Path | None = None
    keeps_order: bool = False


def indexed(
    build: Callable[[EpisodicMemory, LoadKit, Any], StructuredBackbone],
    steps: tuple[str, ...] = (),
    settings: type[Any] = NoSettings,
    prompts: Path | None = None,
) -> BackboneEntry[StructuredBackbone]:
    """Return the entry of a structured backbone.

    Its `build` raises `StoreUnable` if the memory cannot keep derived units.
    """

    def over(memory: KeptMemory, kit: LoadKit, told: Any) -> StructuredBackbone:
        return build(local(memory, Capability.STRUCTURE), kit, told)

    return BackboneEntry(over, steps, settings, is_indexed=True, prompts=prompts)


def _flat(recipe: str) -> BackboneEntry[Backbone]:
    """Return the entry of the flat backbone with that recipe."""
    return BackboneEntry(lambda memory, *_: FlatBackbone(memory, recipe))


def _made_by(place: str, kind: str) -> Callable[[EpisodicMemory, LoadKit, Any], StructuredBackbone]:
    """Return a function that builds a backbone of the class `kind` from `goalmem_cli.backbones.<place>.backbone`."""

    def build(store: EpisodicMemory, kit: LoadKit, settings: Any) -> StructuredBackbone:
        module = import_module(f"goalmem_cli.backbones.{place}.backbone")
        made: StructuredBackbone = getattr(module, kind)(store, kit, settings)
        return made

    return build


FLAT: Mapping[str, BackboneEntry[Backbone]] = {
    **{name: _flat(name) for name in RECIPES},
    whole_scope.NAME: BackboneEntry(lambda memory, *_: whole_scope.WholeScope(memory), keeps_order=True),
}
"""Backbones that find turns as they are, without an index of their own."""


@cache
def _structured() -> Mapping[str, BackboneEntry[StructuredBackbone]]:
    """Return the entries of structured backbones; flat ones do without these imports."""
    from goalmem_cli.backbones import (
        amem,
        graphiti,
        graphrag,
        hipporag,
        magma,
        mem0,
        mem0_graph,
        memtree,
        raptor,
        remem,
        secom,
        stitch,
    )
    from goalmem_cli.backbones.amem.settings import AMemSettings
    from goalmem_cli.backbones.graphiti.settings import GraphitiSettings
    from goalmem_cli.backbones.graphrag.settings import GraphRAGSettings
    from goalmem_cli.backbones.hipporag.settings import HippoRAGSettings
    from goalmem_cli.backbones.magma.settings import MagmaSettings
    from goalmem_cli.backbones.mem0.settings import Mem0Settings
    from goalmem_cli.backbones.mem0_graph.settings import Mem0GraphSettings
    from goalmem_cli.backbones.memtree.settings import MemTreeSettings
    from goalmem_cli.backbones.raptor.settings import RaptorSettings
    from goalmem_cli.backbones.remem.settings import PaperRememSettings, RememSettings
    from goalmem_cli.backbones.secom.settings import SeComSettings
    from goalmem_cli.backbones.stitch.settings import PaperStitchSettings, StitchSettings

    return {
        remem.NAME: indexed(_made_by("remem", "Remem"), remem.STEPS, RememSettings),
        remem.PAPER: indexed(_made_by("remem", "Remem"), remem.PAPER_STEPS, PaperRememSettings),
        stitch.NAME: indexed(_made_by("stitch", "Stitch"), stitch.STEPS, StitchSettings),
        stitch.PAPER: indexed(_made_by("stitch", "Stitch"), stitch.STEPS, PaperStitchSettings),
        secom.NAME: indexed(_made_by("secom", "SeCom"), secom.STEPS, SeComSettings),
        raptor.NAME: indexed(_made_by("raptor", "Raptor"), raptor.STEPS, RaptorSettings),
        memtree.NAME: indexed(_made_by("memtree", "MemTree"), memtree.STEPS, MemTreeSettings),
        hipporag.NAME: indexed(_made_by("hipporag", "HippoRAG"), hipporag.STEPS, HippoRAGSettings),
        graphrag.NAME: indexed(_made_by("graphrag", "GraphRAG"), graphrag.STEPS, GraphRAGSettings),
        mem0.NAME: indexed(_made_by("mem0", "Mem0"), mem0.STEPS, Mem0Settings),
        mem0_graph.NAME: indexed(_made_by("mem0_graph", "Mem0Graph"), mem0_graph.STEPS, Mem0GraphSettings),
        amem.NAME: indexed(_made_by("amem", "AMem"), amem.STEPS, AMemSettings),
        magma.NAME: indexed(_made_by("magma", "Magma"), magma.STEPS, MagmaSettings),
        graphiti.NAME: indexed(_made_by("graphiti", "Graphiti"), graphiti.STEPS, GraphitiSettings),
    }


class _Entries(Mapping[str, BackboneEntry[B_co]]):
    """The entries `first`, then those of structured backbones, which are loaded when a further name is looked up."""

    def __init__(self, first: Mapping[str, BackboneEntry[B_co]]) -> None:
        self._first = first

    def __getitem__(self, name: str) -> BackboneEntry[B_co]:
        return self._first[name] if name in self._first else cast("BackboneEntry[B_co]", _structured()[name])

    def __iter__(self) -> Iterator[str]:
        return iter((*self._first, *_structured()))

    def __len__(self) -> int:
        return len(self._first) + len(_structured())


STRUCTURED: Mapping[str, BackboneEntry[StructuredBackbone]] = _Entries({})
"""Backbones that `goalmem index` builds."""

BACKBONES: Mapping[str, BackboneEntry[Backbone]] = _Entries(FLAT)
"""All backbones, in the order in which error messages list them."""
