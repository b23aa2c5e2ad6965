"""Loading weights: which layouts llama.cpp may use for them."""

import llama_cpp
import pytest

from goalmem_cli.models.weights.loading import has_amx


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
