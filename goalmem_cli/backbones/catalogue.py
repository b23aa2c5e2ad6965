"""The table of backbones by name: how to build each, the prompts of its steps, and its settings.

A structured backbone and its settings are imported when used, so that a command loads only its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

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
    whole_scope,
)
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
    """

    build: Callable[[KeptMemory, LoadKit, Any], B_co]
    steps: tuple[str, ...] = ()
    settings: type[Any] = NoSettings
    is_indexed: bool = False
    prompts: Path | None = None


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


def _own(
    place: str, kind: str, steps: tuple[str, ...], settings: str
) -> Callable[[], BackboneEntry[StructuredBackbone]]:
    """Return what makes the entry of the class `kind` in `goalmem_cli.backbones.<place>.backbone`.

    `settings` names its record in `<place>.settings`, which is imported with the entry, the class when it is built.
    """

    def build(store: EpisodicMemory, kit: LoadKit, told: Any) -> StructuredBackbone:
        module = import_module(f"goalmem_cli.backbones.{place}.backbone")
        made: StructuredBackbone = getattr(module, kind)(store, kit, told)
        return made

    @cache
    def entry() -> BackboneEntry[StructuredBackbone]:
        return indexed(build, steps, getattr(import_module(f"goalmem_cli.backbones.{place}.settings"), settings))

    return entry


class _Entries(Mapping[str, BackboneEntry[B_co]]):
    """Entries by name, each made when it is looked up."""

    def __init__(self, makers: Mapping[str, Callable[[], BackboneEntry[B_co]]]) -> None:
        self._makers = makers

    def __getitem__(self, name: str) -> BackboneEntry[B_co]:
        return self._makers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


FLAT: Mapping[str, BackboneEntry[Backbone]] = {
    **{name: _flat(name) for name in RECIPES},
    whole_scope.NAME: BackboneEntry(lambda memory, *_: whole_scope.WholeScope(memory)),
}
"""Backbones that find turns as they are, without an index of their own."""

_OWN: Mapping[str, Callable[[], BackboneEntry[StructuredBackbone]]] = {
    remem.NAME: _own("remem", "Remem", remem.STEPS, "RememSettings"),
    remem.PAPER: _own("remem", "Remem", remem.PAPER_STEPS, "PaperRememSettings"),
    stitch.NAME: _own("stitch", "Stitch", stitch.STEPS, "StitchSettings"),
    stitch.PAPER: _own("stitch", "Stitch", stitch.STEPS, "PaperStitchSettings"),
    secom.NAME: _own("secom", "SeCom", secom.STEPS, "SeComSettings"),
    raptor.NAME: _own("raptor", "Raptor", raptor.STEPS, "RaptorSettings"),
    memtree.NAME: _own("memtree", "MemTree", memtree.STEPS, "MemTreeSettings"),
    hipporag.NAME: _own("hipporag", "HippoRAG", hipporag.STEPS, "HippoRAGSettings"),
    graphrag.NAME: _own("graphrag", "GraphRAG", graphrag.STEPS, "GraphRAGSettings"),
    mem0.NAME: _own("mem0", "Mem0", mem0.STEPS, "Mem0Settings"),
    mem0_graph.NAME: _own("mem0_graph", "Mem0Graph", mem0_graph.STEPS, "Mem0GraphSettings"),
    amem.NAME: _own("amem", "AMem", amem.STEPS, "AMemSettings"),
    magma.NAME: _own("magma", "Magma", magma.STEPS, "MagmaSettings"),
    graphiti.NAME: _own("graphiti", "Graphiti", graphiti.STEPS, "GraphitiSettings"),
}

STRUCTURED: Mapping[str, BackboneEntry[StructuredBackbone]] = _Entries(_OWN)
"""Backbones that `goalmem index` builds."""

BACKBONES: Mapping[str, BackboneEntry[Backbone]] = _Entries(
    {**{name: partial(FLAT.__getitem__, name) for name in FLAT}, **_OWN}
)
"""All backbones, in the order in which error messages list them."""
