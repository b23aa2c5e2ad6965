"""The structured backbones by name: how each is made, the prompts of its steps, and what it can be told.

Each is imported when it is made, so that a command loads the one that it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

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
from goalmem_cli.backbones.amem.settings import Settings as AMemSettings
from goalmem_cli.backbones.graphiti.settings import Settings as GraphitiSettings
from goalmem_cli.backbones.graphrag.settings import Settings as GraphRAGSettings
from goalmem_cli.backbones.hipporag.settings import Settings as HippoRAGSettings
from goalmem_cli.backbones.magma.settings import Settings as MagmaSettings
from goalmem_cli.backbones.mem0.settings import Settings as Mem0Settings
from goalmem_cli.backbones.mem0_graph.settings import Settings as Mem0GraphSettings
from goalmem_cli.backbones.memtree.settings import Settings as MemTreeSettings
from goalmem_cli.backbones.raptor.settings import Settings as RaptorSettings
from goalmem_cli.backbones.remem.memory import EpisodicMemory
from goalmem_cli.backbones.remem.settings import Settings as RememSettings
from goalmem_cli.backbones.secom.settings import Settings as SeComSettings
from goalmem_cli.backbones.stitch.settings import Settings as StitchSettings
from goalmem_cli.backbones.structured.kit import LoadKit
from goalmem_cli.backbones.structured.settings import NoSettings
from goalmem_cli.ports import StructuredBackbone


@dataclass(frozen=True, slots=True)
class Entry:
    """How a backbone is made over a store, and the names of the prompts that its kit has to hold.

    `build` gets a record of the kind `settings`, all of whose fields have a default.
    """

    build: Callable[[EpisodicMemory, LoadKit, Any], StructuredBackbone]
    steps: tuple[str, ...] = ()
    settings: type[Any] = NoSettings


def _made_by(place: str, kind: str) -> Callable[[EpisodicMemory, LoadKit, Any], StructuredBackbone]:
    """Return what makes a backbone of the class `kind` in the module `backbone` of `place`, a package in this one."""

    def build(store: EpisodicMemory, kit: LoadKit, settings: Any) -> StructuredBackbone:
        module = import_module(f"goalmem_cli.backbones.{place}.backbone")
        return cast("StructuredBackbone", getattr(module, kind)(store, kit, settings))

    return build


STRUCTURED: Mapping[str, Entry] = {
    remem.NAME: Entry(_made_by("remem", "Remem"), remem.STEPS, RememSettings),
    stitch.NAME: Entry(_made_by("stitch", "Stitch"), stitch.STEPS, StitchSettings),
    secom.NAME: Entry(_made_by("secom", "SeCom"), secom.STEPS, SeComSettings),
    raptor.NAME: Entry(_made_by("raptor", "Raptor"), raptor.STEPS, RaptorSettings),
    memtree.NAME: Entry(_made_by("memtree", "MemTree"), memtree.STEPS, MemTreeSettings),
    hipporag.NAME: Entry(_made_by("hipporag", "HippoRAG"), hipporag.STEPS, HippoRAGSettings),
    graphrag.NAME: Entry(_made_by("graphrag", "GraphRAG"), graphrag.STEPS, GraphRAGSettings),
    mem0.NAME: Entry(_made_by("mem0", "Mem0"), mem0.STEPS, Mem0Settings),
    mem0_graph.NAME: Entry(_made_by("mem0_graph", "Mem0Graph"), mem0_graph.STEPS, Mem0GraphSettings),
    amem.NAME: Entry(_made_by("amem", "AMem"), amem.STEPS, AMemSettings),
    magma.NAME: Entry(_made_by("magma", "Magma"), magma.STEPS, MagmaSettings),
    graphiti.NAME: Entry(_made_by("graphiti", "Graphiti"), graphiti.STEPS, GraphitiSettings),
}
