"""Makes small LoRA adapters of random numbers in GGUF, for the bundled model's shapes or others."""

from pathlib import Path

import gguf
import numpy as np

WIDTH, KEYS, INNER = 576, 192, 1536
SHAPES = {
    "attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH, KEYS), "attn_v": (WIDTH, KEYS), "attn_output": (WIDTH, WIDTH),
    "ffn_gate": (WIDTH, INNER), "ffn_up": (WIDTH, INNER), "ffn_down": (INNER, WIDTH),
}  # fmt: skip
"""Of each linear layer of SmolLM2-135M how many numbers go in, and how many come out."""


def write_adapter(
    path: Path, *, seed: int = 0, rank: int = 4, layers: int = 30, size: float = 0.05, architecture: str = "llama",
    wider: int = 0, base: str = "", kind: str = "lora",
) -> Path:  # fmt: skip
    """Write an adapter of random numbers about as large as `size`; `wider` is added to what goes into each layer."""
    draw = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", kind)
    writer.add_float32("adapter.lora.alpha", float(rank))
    if base:
        writer.add_string("goalmem.base.digest", base)
    for layer in range(layers):
        for name, (inward, outward) in SHAPES.items():
            down = draw.normal(0, size, (rank, inward + wider)).astype(np.float16)
            up = draw.normal(0, size, (outward, rank)).astype(np.float16)
            writer.add_tensor(f"blk.{layer}.{name}.weight.lora_a", down)
            writer.add_tensor(f"blk.{layer}.{name}.weight.lora_b", up)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
