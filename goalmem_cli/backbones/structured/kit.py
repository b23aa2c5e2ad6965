"""What every structured backbone has: a store, and a model with prompts to ask it with."""

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

M = TypeVar("M", bound=StructuredMemory)


@dataclass(frozen=True, slots=True)
class Kit:
    """A model and the prompts of the backbone's steps; `context` counts the tokens that it sees at once.

    It works on `at_once` requests at a time.
    """

    model: LanguageModel
    prompts: PromptBook
    at_once: int
    context: int

    def fixed_tokens(self, *steps: str) -> int:
        """Return about how many tokens the fixed parts of the steps' prompts have, each once."""
        prompts = [self.prompts[step] for step in steps]
        return sum(
            about_tokens([prompt.system, *(each.input + each.output for each in prompt.examples)]) for prompt in prompts
        )


LoadKit: TypeAlias = Callable[[], Kit]
"""Loads the model the first time that it is called: whoever retrieves without asking one never does."""


class StructuredBackbone(Generic[M]):
    """What structured backbones have in common: they remember turns at once, and derive from them in `index`."""

    def __init__(self, store: M, kit: LoadKit) -> None:
        """Take the store, and what loads the model and the prompts."""
        self._store = store
        self._kit = kit

    def update(self, turns: Sequence[Turn]) -> None:
        """Remember the turns; the next `index` derives from them.

        Raises:
            StoreError: the store cannot be written.
        """
        self._store.add_turns(turns)

    def _at_once(self, asked: Sequence[object]) -> int:
        """Return how many things are asked for at a time; where there is nothing to do, no model is loaded for it."""
        return self._kit().at_once if asked else 1
