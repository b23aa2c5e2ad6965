"""LoRA adapters in GGUF form: choose one for a model, read its metadata and load it into llama.cpp."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goalmem_cli.errors import AdapterUnreadable, ModelError
from goalmem_cli.models.native_log import native_log
from goalmem_cli.models.weights.gguf import file_digest, read_header

NONE = "none"
BASE_DIGEST = "goalmem.base.digest"
HINT = "name a LoRA adapter in GGUF form that was made for this model, or none (--adapter)"


@dataclass(frozen=True, slots=True)
class Adapter:
    """The file of a LoRA adapter. `digest` is its SHA-256.

    `base` is the `file_digest` of the weights that it was trained for, or "" if not stated. `scale` multiplies its
    change of the weights.
    """

    path: Path
    digest: str
    base: str = ""
    scale: float = 1.0

    @classmethod
    def from_file(cls, path: Path, scale: float = 1.0) -> Adapter:
        """Read the file's metadata; whether it fits a model shows only when it is loaded.

        Raises:
            AdapterUnreadable: there is no file, or it is not a complete GGUF file of a LoRA adapter.
        """
        try:
            path = path.expanduser()
            is_there = path.exists()
        except (OSError, RuntimeError) as error:  # the name is too long for a path, or names an unknown user's home
            raise AdapterUnreadable(f"there is no adapter: {path}: {error}", HINT) from error
        if not is_there:
            raise AdapterUnreadable(f"there is no adapter: {path}", HINT)
        try:
            values = read_header(path).values
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except (ModelError, OSError) as error:
            reason = error.message if isinstance(error, ModelError) else f"{path}: {error.strerror}"
            raise AdapterUnreadable(f"the adapter cannot be used: {reason}", HINT) from error
        if values.get("general.type") != "adapter" or values.get("adapter.type") != "lora":
            raise AdapterUnreadable(f"{path} is a GGUF file, but not a LoRA adapter", HINT)
        return cls(path, digest, str(values.get(BASE_DIGEST, "")), scale)

    def is_for(self, weights: str) -> bool:
        """Say whether it was trained for the weights with that `file_digest`, or does not state its weights."""
        return self.base in ("", weights)


def chosen_adapter(
    named: str | None, shipped: Path | None, weights: Path, note: Callable[[str], None]
) -> Adapter | None:
    """Return the adapter for a model: the named one (None for ``none``), else the shipped one.

    A shipped adapter that was trained for other weights is not used, and `note` says so.

    Raises:
        AdapterUnreadable: the file is missing, or is no adapter.
    """
    path = shipped if named is None else Path(named)
    if named == NONE or path is None:
        return None
    adapter = Adapter.from_file(path)
    if adapter.is_for(file_digest(weights)):
        return adapter
    if named is not None:
        note(f"{adapter.path} was trained for other weights than {weights}, and is applied all the same")
        return adapter
    note(f"the model runs without goalmem's adapter, which was trained for other weights than {weights}")
    return None


def load(native: Any, model: Any, adapter: Adapter) -> Any:
    """Load the adapter into llama.cpp; this must happen before the context that uses it is created.

    Raises:
        AdapterUnreadable: it was made for another architecture, or for weights of other shapes.
    """
    log = native_log()
    log.errors.clear()
    pointer = native.llama_adapter_lora_init(model, os.fsencode(adapter.path))
    if not pointer:
        reason = log.errors[-1].rpartition("adapter: ")[2] if log.errors else "it says no more"
        raise AdapterUnreadable(f"llama.cpp does not apply the adapter {adapter.path} to this model: {reason}", HINT)
    return pointer


def leave_off(native: Any, context: Any) -> None:
    """Take the adapter off the context, so that later evaluations use the plain weights.

    Raises:
        AdapterUnreadable: llama.cpp refuses.
    """
    if native.llama_set_adapters_lora(context, None, 0, None):
        raise AdapterUnreadable("llama.cpp cannot remove the adapter from the context", HINT)


def apply(native: Any, context: Any, pointer: Any, scale: float) -> None:
    """Set the adapter on the context, so that later evaluations use it.

    Raises:
        AdapterUnreadable: llama.cpp refuses.
    """
    adapters = (native.llama_adapter_lora_p_ctypes * 1)(pointer)
    if native.llama_set_adapters_lora(context, adapters, 1, (ctypes.c_float * 1)(scale)):
        raise AdapterUnreadable("llama.cpp cannot set the adapter on the context", HINT)
