"""Models worth downloading, by available memory."""

from __future__ import annotations

from dataclasses import dataclass

GIGABYTE = 10**9


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A GGUF file on the hub.

    `memory` is about how many bytes a question takes. `is_tried` says whether goalmem's golden questions were run on
    it.
    """

    name: str
    memory: int
    size: int
    is_tried: bool = False


SUGGESTIONS = (
    Suggestion(
        "hf:unsloth/Qwen3-4B-Instruct-2507-GGUF/Qwen3-4B-Instruct-2507-Q4_K_M.gguf", 5 * GIGABYTE, 2_497_280_736
    ),
    Suggestion("hf:bartowski/Qwen2.5-7B-Instruct-GGUF/Qwen2.5-7B-Instruct-Q4_K_M.gguf", 8 * GIGABYTE, 4_683_074_240),
    Suggestion("hf:bartowski/Qwen2.5-14B-Instruct-GGUF/Qwen2.5-14B-Instruct-Q4_K_M.gguf", 14 * GIGABYTE, 8_988_110_976),
)
"""From the least memory to the most. The sizes are approximately those in the repositories."""
