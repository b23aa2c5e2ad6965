"""Operations that change a store: adding, deriving, answers, forgetting, re-embedding, joining, removal; and export.

A module of this folder is imported when it is used as an attribute, so that commands which only read load none of them.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalmem_cli.store.changes import (
        adding,
        answers,
        deriving,
        exporting,
        forgetting,
        joining,
        previewing,
        reembedding,
        refreshing,
        removal,
    )

__all__ = [
    "adding", "answers", "deriving", "exporting", "forgetting", "joining", "previewing", "reembedding", "refreshing",
    "removal",
]  # fmt: skip


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
