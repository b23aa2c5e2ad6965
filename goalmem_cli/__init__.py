"""goalmem answers questions from your own conversations, with a proof.

`goalmem_cli.open(store)` returns a `Memory`, which reads transcripts, searches and answers (`goalmem guide library`).
Both names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalmem_cli.library.memory import Memory
    from goalmem_cli.library.memory import opened as open  # noqa: A004 - as in gzip.open

__all__ = ["Memory", "open"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load and return the library's object of that name."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from goalmem_cli.library import memory

        return {"Memory": memory.Memory, "open": memory.opened}[name]
