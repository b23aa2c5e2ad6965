"""The base class of structured backbones, their kit (a model with prompts), and a cache of what a store has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from goalmem_cli.backbones.structured.indexing import about_tokens
from goalmem_cli.memory_ports import StructuredMemory
from goalmem_cli.records import Turn

if TYPE_CHECKING:
    from goalmem_cli.ports import LanguageModel
    from goalmem_cli.prompts import PromptBook


_T = TypeVar("_T")


class Kept(Generic[_T]):
    """Calls `read` on the first call, and again only if the store has changed since."""

    def __init__(self, store: StructuredMemory, read: Callable[[], _T]) -> None:
        """Take the store, and the function that reads from it."""
        self._store = store
        self._read = read
        self._known: tuple[int, _T] | None = None

    def __call__(self) -> _T:
        """Return the value of `read` for the present state of the store.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._store.reading() as reader:
            generation = reader.generation
        if self._known is None or self._known[0] != generation:
            self._known = generation, self._read()
        return self._known[1]


M = TypeVar("M", bound=StructuredMemory)


@dataclass(frozen=True, slots=True)
class Kit:
    """A model and the prompts of the backbone's steps.

    `at_once` is the number of requests that the model works on at a time, `context` its context length in tokens.
    """

    model: LanguageModel
    prompts: PromptBook
    at_once: int
    context: int

    def fixed_tokens(self, *steps: str) -> int:
        """Return an estimate of the tokens in the fixed parts of the steps' prompts, each counted once."""
        prompts = [self.prompts[step] for step in steps]
        return sum(
            about_tokens([prompt.system, *(each.input + each.output for each in prompt.examples)]) for prompt in prompts
        )


LoadKit: TypeAlias = Callable[[], Kit]
"""Loads the model on the first call. Retrieval that asks no model never calls it."""


class StructuredBackbone(Generic[M]):
    """The base class: `update` stores turns at once, and a subclass derives from them in `index`.

    What uses the store raises StoreError if it cannot be used, and ModelError if its embedder cannot.
    """

    def __init__(self, store: M, kit: LoadKit) -> None:
        """Take the store, and the function that loads the model and the prompts."""
        self._store = store
        self._kit = kit

    def update(self, turns: Sequence[Turn]) -> None:
        """Store the turns; the next `index` derives from them."""
        self._store.add_turns(turns)

    def _at_once(self, asked: Sequence[object]) -> int:
        """Return the number of requests at a time; 1 without loading a model if there is nothing to ask."""
        return self._kit().at_once if asked else 1
