"""The two compared ways of calling a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.models.in_process.plain_calls import PlainModel
from goalmem_cli.models.state_cache import StateCache

STATES_LIMIT = 2**31  # bytes: more than any benchmark run keeps


@dataclass(frozen=True, slots=True)
class Weights:
    """A model's file as shipped, the file that goalmem runs, and the loading options.

    `context` is in tokens; `threads` None means one per core.
    """

    shipped: Path
    path: Path
    context: int
    threads: int | None = None

    def plain(self) -> PlainModel:
        """Load the model for the library's common use.

        Raises:
            ModelError: it cannot be loaded.
        """
        return PlainModel.from_file(self.shipped, context=self.context, threads=self.threads)

    def goalmem(self, states: Path | None = None) -> LlamaModel:
        """Load the model as goalmem does; evaluated prompts are kept in the folder `states`, if given.

        Raises:
            ModelError: it cannot be loaded.
        """
        kept = None if states is None else StateCache(states, STATES_LIMIT)
        return LlamaModel.from_file(self.path, context=self.context, threads=self.threads, states=kept)
