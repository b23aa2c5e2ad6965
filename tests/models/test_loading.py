"""Loading weights: which layouts llama.cpp may use for them, and how many layers a GPU gets."""

from pathlib import Path
from typing import Any

import llama_cpp
import pytest

from goalmem_cli.errors import ModelUnreadable
from goalmem_cli.models.weights.loading import has_amx, load_weights


def test_a_gpu_gets_all_layers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """llama.cpp reads a negative number of layers as all of them; a build without a GPU ignores it."""
    seen: list[int] = []

    def load(path: bytes, wanted: Any) -> None:
        seen.append(wanted.n_gpu_layers)

    monkeypatch.setattr(llama_cpp, "llama_model_load_from_file", load)
    with pytest.raises(ModelUnreadable):
        load_weights(tmp_path / "model.gguf")
    assert len(seen) == 1 and seen[0] < 0


@pytest.mark.parametrize(("told", "is_amx"), [(b"AVX512 = 1 | AMX_INT8 = 1 | REPACK = 1", True), (b"AVX2 = 1", False)])
def test_amx_is_known_by_what_llama_cpp_says_of_itself(
    told: bytes, is_amx: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_cpp, "llama_print_system_info", lambda: told)

    has_amx.cache_clear()
    try:
        assert has_amx() is is_amx
    finally:
        has_amx.cache_clear()
