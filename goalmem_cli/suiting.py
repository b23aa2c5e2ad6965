"""Which prover suits a model, and with it which prompts: found out once for each, and kept in the user's cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from goalmem_cli.config import Settings
from goalmem_cli.errors import StoreError
from goalmem_cli.loading import LoadedModel, load_model

if TYPE_CHECKING:
    from pathlib import Path

    from goalmem_cli.models.installed import Watch

SCHEMA_VERSION = 1
FILE = "planning.json"

Suited = Literal["together", "stepwise"]


def load_suited(
    settings: Settings, announce: Callable[[str], None] = lambda _: None, watch: Watch | None = None
) -> LoadedModel:
    """Return the language model that the settings name, with the prompts of the prover that is wanted or suits it.

    Raises:
        ModelError: it is missing, unreadable, or does not fit into memory, or a server does not answer.
        UsageError: an adapter is named for a model that is a server's.
    """
    loaded = load_model(settings, announce, watch)
    try:
        return suited(loaded, settings, announce)
    except BaseException:
        loaded.close()
        raise


def suited(loaded: LoadedModel, settings: Settings, announce: Callable[[str], None]) -> LoadedModel:
    """Return the model with the compact prompts where `stepwise` is wanted, or suits it better.

    A new model is asked two made-up questions where `auto` is wanted, or nothing and it is a server's: nobody has said
    how large it is. One that was asked before is not asked again, and one that goalmem has fitted itself to never is.

    Raises:
        ModelError: the model cannot be used.
    """
    from goalmem_cli.models.catalogue import is_address
    from goalmem_cli.reasoners.goal_mem.provers import AUTO, STEPWISE

    if settings.planning == STEPWISE:
        return replace(loaded, profile="compact")
    is_open = settings.planning == AUTO or (settings.planning is None and is_address(settings.model))
    is_fitted = bool(loaded.adapter) and loaded.fitted.adapter == loaded.adapter
    if not is_open or is_fitted:
        return loaded
    found = _kept(loaded) or _tried(loaded, settings, announce)
    return replace(loaded, profile="compact" if found == STEPWISE else "full")


def _tried(loaded: LoadedModel, settings: Settings, announce: Callable[[str], None]) -> Suited:
    """Ask the model the two questions, keep the outcome and say it."""
    from goalmem_cli.prompts import PromptBook
    from goalmem_cli.reasoners.goal_mem import steps_of
    from goalmem_cli.reasoners.goal_mem.trial import masters_proofs

    announce(f"{loaded.name} is new here: it is asked two made-up questions to see how it plans best")
    prompts = PromptBook.load(settings.prompts, "full", steps_of("together"))
    found: Suited = "together" if masters_proofs(loaded.model, prompts) else "stepwise"
    told = "proved both" if found == "together" else "did not prove both"
    announce(f"it {told}, so planning is {found} from now on (--planning says otherwise)")
    _keep(loaded, found)
    return found


def _key(loaded: LoadedModel) -> str:
    return f"{loaded.name} {loaded.digest}"


def _path() -> Path:
    from goalmem_cli.models.state_cache import model_cache

    return model_cache() / FILE


def _all_kept() -> dict[str, Suited]:
    """Return what was found out, by model; nothing where there is no such file, or it cannot be read."""
    try:
        document = json.loads(_path().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    models = document.get("models") if isinstance(document, dict) else None
    if not isinstance(models, dict) or document.get("schema_version") != SCHEMA_VERSION:
        return {}
    return {str(key): found for key, found in models.items() if found in ("together", "stepwise")}


def _kept(loaded: LoadedModel) -> Suited | None:
    return _all_kept().get(_key(loaded))


def _keep(loaded: LoadedModel, found: Suited) -> None:
    """Keep the outcome; where nothing can be written, the model is asked again the next time."""
    from goalmem_cli.store.files import replace_file

    document = {"schema_version": SCHEMA_VERSION, "models": {**_all_kept(), _key(loaded): found}}
    with suppress(StoreError):
        replace_file(_path(), json.dumps(document, ensure_ascii=False, indent=1).encode())
