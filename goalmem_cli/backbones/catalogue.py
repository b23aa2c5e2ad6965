"""The structured backbones by name: how each is made, and the prompts of its steps.

Each is imported when it is made, so that a command loads the one that it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from goalmem_cli.backbones import remem, stitch
from goalmem_cli.backbones.structured.kit import LoadKit
from goalmem_cli.ports import StructuredBackbone
from goalmem_cli.store.memory import Store


@dataclass(frozen=True, slots=True)
class Entry:
    """How a backbone is made over a store, and the names of the prompts that its kit has to hold."""

    build: Callable[[Store, LoadKit], StructuredBackbone]
    steps: tuple[str, ...] = ()


def _remem(store: Store, kit: LoadKit) -> StructuredBackbone:
    from goalmem_cli.backbones.remem.backbone import Remem

    return Remem(store, kit)


def _stitch(store: Store, kit: LoadKit) -> StructuredBackbone:
    from goalmem_cli.backbones.stitch.backbone import Stitch

    return Stitch(store, kit)


STRUCTURED: Mapping[str, Entry] = {
    remem.NAME: Entry(_remem, ("remem_extract",)),
    stitch.NAME: Entry(_stitch, stitch.STEPS),
}
