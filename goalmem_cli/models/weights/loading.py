"""Load the weights of a GGUF file with llama.cpp."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

from goalmem_cli.errors import ModelUnreadable
from goalmem_cli.models.native_log import native_log

HINT = "get the file again, or name a model that llama.cpp knows"


def load_weights(path: Path, hint: str = HINT, *, vocabulary_only: bool = False) -> Any:
    """Return llama.cpp's model of the file; the caller must free it.

    Raises:
        ModelUnreadable: llama.cpp cannot load it; the error ends with `hint`.
    """
    log = native_log()
    log.errors.clear()
    import llama_cpp as native

    native.llama_backend_init()
    wanted = native.llama_model_default_params()
    wanted.vocab_only = vocabulary_only
    wanted.use_extra_bufts = not has_amx()
    model = native.llama_model_load_from_file(os.fsencode(path), wanted)
    if not model:
        reason = log.errors[0] if log.errors else "it does not say why"
        raise ModelUnreadable(f"llama.cpp cannot load {path}: {reason}", hint)
    return model


@functools.cache
def has_amx() -> bool:
    """Say whether this llama.cpp would compute with Intel's AMX instructions.

    If so, the weights are loaded without special layouts: built by GCC 12, llama.cpp crashes in its first
    multiplication with AMX (its issue 20824).
    """
    import llama_cpp as native

    return b"AMX_INT8 = 1" in native.llama_print_system_info()
