"""Index a structured backbone with given replies instead of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter

from goalmem_cli.backbones.catalogue import STRUCTURED
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.backbones.structured.settings import settings_from
from goalmem_cli.ports import Indexed, LanguageModel, StructuredBackbone
from goalmem_cli.prompts import PromptBook
from goalmem_cli.store import Store

_AT_ONCE, _CONTEXT = 8, 32768


@dataclass(frozen=True, slots=True)
class Replayed:
    """The backbone, the result of indexing, and its seconds."""

    backbone: StructuredBackbone
    done: Indexed
    seconds: float


def index_by(
    name: str, store: Store, model: LanguageModel, told: Mapping[str, object], at_once: int = _AT_ONCE
) -> Replayed:
    """Index the store with full prompts and the settings in `told`; other settings have their defaults.

    `at_once` is the number of requests per call.

    Raises:
        ModelError: there is no reply for a step.
        StoreError: the store cannot be used.
    """
    entry = STRUCTURED[name]
    prompts = PromptBook.load(None, "full", entry.steps)
    made = entry.build(store, lambda: Kit(model, prompts, at_once, _CONTEXT), settings_from(name, entry.settings, told))
    started = perf_counter()
    return Replayed(made, made.index(lambda _: None), perf_counter() - started)
