"""One memory on disk: DuckDB holds the truth, the text and vector indexes are derived from it (DESIGN section 7).

The names below load their modules, and with them DuckDB and tantivy, only when they are asked for: `traces/` is read
without either.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalmem_cli.store.memory import Store
    from goalmem_cli.store.traces import TraceFolder

__all__ = ["Store", "TraceFolder"]

_MODULES = {"Store": "memory", "TraceFolder": "traces"}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
