"""One memory on disk: DuckDB holds all content, and the text and vector indexes are built from it (DESIGN section 7).

The names below import their modules, and with them DuckDB and tantivy, at the first use, so that `traces/` can be read
without either.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from goalmem_cli.errors import StoreUnable

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.memory_records import Capability
    from goalmem_cli.store.store import Store
    from goalmem_cli.store.traces import TraceFolder

__all__ = ["Store", "TraceFolder", "local"]

_MODULES = {"Store": "store", "TraceFolder": "traces"}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def local(memory: KeptMemory, capability: Capability) -> Store:
    """Return the memory as a local store, for a capability that only local stores have.

    Raises:
        StoreUnable: the memory is no local store.
    """
    from goalmem_cli.store.store import Store

    if not isinstance(memory, Store) or capability not in memory.capabilities:
        raise StoreUnable(
            f"a memory in Milvus cannot {capability}", "goalmem stores copy FROM TO takes it into a folder, which can"
        )
    return memory
