"""A language model of random numbers in GGUF, small enough that torch and llama.cpp load it at once."""

from pathlib import Path

import gguf
import numpy as np

WIDTH, INNER, HEADS, KEY_HEADS, LAYERS, VOCABULARY = 64, 96, 4, 2, 2, 128
_KEYS = WIDTH // HEADS * KEY_HEADS
_SHAPES = {
    "attn_q": (WIDTH, WIDTH), "attn_k": (_KEYS, WIDTH), "attn_v": (_KEYS, WIDTH), "attn_output": (WIDTH, WIDTH),
    "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER),
}  # fmt: skip
_BIASED = ("attn_q", "attn_k", "attn_v")
_SHARPNESS = {"attn_q": 3.0, "attn_k": 3.0}
"""Attention that tells tokens apart, so that the order of the rows of queries and keys matters."""


def write_model(path: Path, architecture: str = "llama") -> Path:
    """Write a model of the kind of Llama or Qwen2 without a tokenizer, its rows in llama.cpp's order."""
    draw = np.random.default_rng(5)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(LAYERS)
    writer.add_context_length(256)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(10_000.0 if architecture == "llama" else 1_000_000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(VOCABULARY)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("no_vocab")
    writer.add_tensor("token_embd.weight", draw.normal(0, 1, (VOCABULARY, WIDTH)).astype(np.float32))
    writer.add_tensor("output.weight", draw.normal(0, 0.3, (VOCABULARY, WIDTH)).astype(np.float32))
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, dtype=np.float32))
    for layer in range(LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", np.ones(WIDTH, dtype=np.float32))
        for name, shape in _SHAPES.items():
            size = _SHARPNESS.get(name, 1.0) / np.sqrt(shape[1])
            writer.add_tensor(f"blk.{layer}.{name}.weight", draw.normal(0, size, shape).astype(np.float32))
        for name in _BIASED if architecture == "qwen2" else ():
            writer.add_tensor(f"blk.{layer}.{name}.bias", draw.normal(0, 0.1, _SHAPES[name][0]).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
