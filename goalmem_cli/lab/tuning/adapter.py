"""Convert a trained adapter to the GGUF file of llama.cpp, check it, and pack a model's file for training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import gguf
import numpy as np
import torch
from numpy.typing import NDArray

from goalmem_cli.errors import ModelError
from goalmem_cli.lab.tuning.batches import Tokens
from goalmem_cli.lab.tuning.prepared import Prepared
from goalmem_cli.models.state_cache import appearing_whole
from goalmem_cli.models.weights.gguf import file_digest, read_header
from goalmem_cli.models.weights.lora import BASE_DIGEST, Adapter

NAME = "adapter.gguf"
MOST_BYTES = 40_000_000
LEAST_ALIKE, LEAST_EFFECT = 0.99, 0.95
"""The minimum cosines of llama.cpp's logits with the trained model's, and of the adapter's effects on both."""
NO_EFFECT = 0.998
"""If the cosine with and without the adapter is at least this, its effect is too small to tell from rounding."""

_NAMES = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}  # fmt: skip
_ALPHA = gguf.Keys.Adapter.LORA_ALPHA
PACKED = "goalmem.packed_of"
"""The metadata key for the digest of the whole file, in a file that `pack` made smaller."""
_FACTORS = {"lora_A": "lora_a", "lora_B": "lora_b"}


@dataclass(frozen=True, slots=True)
class Check:
    """llama.cpp with the adapter against the trained model: mean cosines of the logits over some prompts.

    `alike` compares it with the trained model, and `plain` with llama.cpp without the adapter. `effect` compares what
    the adapter adds to the logits in both. `agreement` is the share of prompts for which both choose the same next
    token.
    """

    alike: float
    plain: float
    effect: float
    agreement: float


class Shape(NamedTuple):
    """An adapter's rank, its alpha, and the linear layers that it changes, by their names in transformers."""

    rank: int
    alpha: int
    layers: tuple[str, ...]


def whole_digest(base: Path) -> str:
    """Return the digest of a model's file (`file_digest`); for a packed file, the digest of the whole file."""
    return str(read_header(base).values.get(PACKED, "")) or file_digest(base)


def is_packed(base: Path) -> bool:
    """Return whether a model's file holds only a part of the vocabulary."""
    return PACKED in read_header(base).values


def write_adapter(model: Any, base: Path, path: Path) -> int:
    """Write the model's adapter for the base file as GGUF in half precision, and return the size in bytes.

    Raises:
        ModelError: the file exceeds the shipped maximum, or the base cannot be read.
    """
    settings = model.peft_config["default"]
    header = read_header(base)
    writer = gguf.GGUFWriter(path, header.architecture)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_name(f"goalmem's for {header.values.get('general.name', base.stem)}")
    writer.add_license("apache-2.0")
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(_ALPHA, float(settings.lora_alpha))
    writer.add_string(BASE_DIGEST, whole_digest(base))
    for name, tensor in sorted(tensors_of(model).items()):
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ModelError(f"the adapter has {size} bytes, at most {MOST_BYTES} are shipped", "train one of a lower rank")
    return size


def tensors_of(model: Any) -> dict[str, NDArray[np.float16]]:
    """Return the adapter's tensors under llama.cpp's names.

    The rows of B are reordered where llama.cpp orders the rows of queries and keys differently from transformers.
    """
    found: dict[str, NDArray[np.float16]] = {}
    for name, weight, rotated in _factors(model):
        values = weight.detach().to("cpu", torch.float32).numpy()
        values = interleaved(values, rotated) if rotated else values
        found[name] = np.ascontiguousarray(values, dtype=np.float16)
    return found


def _factors(model: Any) -> Iterator[tuple[str, torch.Tensor, int]]:
    """Yield each weight of the adapter as (name in llama.cpp, weight, heads).

    `heads` is the number of heads whose rows llama.cpp stores in pairs, or 0 where it keeps transformers' order. It
    uses pairs for Llama's queries and keys; for Qwen2 it rotates halves, as transformers does.
    """
    heads: dict[str, int] = {}
    if model.config.model_type == "llama":
        heads = {
            "self_attn.q_proj": model.config.num_attention_heads, "self_attn.k_proj": model.config.num_key_value_heads,
        }  # fmt: skip
    for name, weight in model.named_parameters():
        parts = name.split(".")
        factor = next((part for part in parts if part in _FACTORS), None)
        if factor is not None:
            layer = parts[parts.index("layers") + 1]
            kind = ".".join(parts[parts.index("layers") + 2 : parts.index(factor)])
            rotated = heads.get(kind, 0) if factor == "lora_B" else 0
            yield f"blk.{layer}.{_NAMES[kind]}.weight.{_FACTORS[factor]}", weight, rotated


def interleaved(rows: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Return the rows with the halves of each head interleaved, since llama.cpp rotates neighbouring pairs."""
    halves = rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:])
    return halves.swapaxes(1, 2).reshape(rows.shape)


def shape_of(path: Path) -> Shape:
    """Return the rank, alpha and layers of an adapter's file.

    Raises:
        ModelError: it cannot be read, or is no adapter.
    """
    Adapter.from_file(path)
    reader = gguf.GGUFReader(path)
    alpha = next(float(field.contents()) for name, field in reader.fields.items() if name == _ALPHA)
    rank = next(min(map(int, tensor.shape)) for tensor in reader.tensors)
    parts = {part for tensor in reader.tensors for part in tensor.name.split(".")}
    layers = tuple(name.rpartition(".")[2] for name, called in _NAMES.items() if called in parts)
    return Shape(rank, round(alpha), layers)


def copy_weights(paths: Sequence[Path], model: Any) -> None:
    """Set the model's adapter to the mean of adapter files from `write_adapter`, all of the same shape.

    A mean is useful if one of them was trained from another.

    Raises:
        ModelError: the files differ in shape.
    """
    shapes = {shape_of(path): path for path in paths}
    if len(shapes) > 1:
        raise ModelError(f"{paths[0]} and {shapes.popitem()[1]} differ in rank, alpha or layers", "take those alike")
    written = [{tensor.name: tensor.data for tensor in gguf.GGUFReader(path).tensors} for path in paths]
    with torch.no_grad():
        for name, weight, heads in _factors(model):
            values = np.mean([each[name].astype(np.float32) for each in written], axis=0)
            weight.copy_(torch.from_numpy(halved(values, heads) if heads else values))


def halved(rows: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Undo `interleaved`."""
    pairs = rows.reshape(heads, rows.shape[0] // heads // 2, 2, *rows.shape[1:])
    return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(rows.shape))


def check(model: Any, base: Path, adapter: Path, prompts: Sequence[Sequence[int]]) -> Check:
    """Compare llama.cpp's logits with those of the trained model, with the adapter and without.

    Raises:
        ModelError: llama.cpp with the adapter computes something else than the trained model.
    """
    ours = _logits(model, prompts)
    with model.disable_adapter():
        base_ours = _logits(model, prompts)
    from goalmem_cli.models.in_process.prompt_tokens import next_logits  # needs llama.cpp, which may be missing

    theirs, base_theirs = next_logits(base, adapter, prompts), next_logits(base, None, prompts)
    result = Check(
        alike=_cosine(ours, theirs),
        plain=_cosine(base_theirs, theirs),
        effect=_cosine(ours - base_ours, theirs - base_theirs),
        agreement=float(np.mean(ours.argmax(axis=1) == theirs.argmax(axis=1))),
    )
    is_effective = result.plain >= NO_EFFECT or result.effect >= LEAST_EFFECT
    if result.alike < LEAST_ALIKE or not is_effective:
        raise ModelError(f"llama.cpp does not compute what was trained: {result}", "report this with your versions")
    return result


def _logits(model: Any, prompts: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """Return the (prompts, vocabulary) logits of the token after each prompt."""
    model.eval()
    place = next(model.parameters()).device
    is_half = any(weight.dtype == torch.bfloat16 for weight in model.parameters())
    with torch.no_grad(), torch.autocast(place.type, dtype=torch.bfloat16, enabled=is_half):
        found = [model(input_ids=torch.tensor([list(prompt)], device=place)).logits[0, -1] for prompt in prompts]
    values: NDArray[np.float32] = torch.stack(found).float().cpu().numpy()
    return values


def _cosine(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    one, other = left - left.mean(axis=1, keepdims=True), right - right.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return float(np.mean((one * other).sum(axis=1) / np.maximum(lengths, 1e-9)))


BASE, EXAMPLES = "base.gguf", "examples.npz"
_BY_TOKEN = ("token_embd.weight", "output.weight")
"""The tensors with one row for each token."""


def pack(data: Prepared, base: Path, folder: Path) -> tuple[Path, Prepared]:
    """Write the smaller model file `BASE` to the folder; return its path and the examples in its tokens.

    The file has no tokenizer: tokens are renumbered by their place among those in use. Its other weights stay as they
    are quantised, so an adapter trained on it fits the whole file.

    Raises:
        OSError: it cannot be written.
    """
    parts = (data.trained, data.aside, data.held_out)
    used = sorted({token for part in parts for each in part for token in (*each.prompt, *each.reply)})
    packed = folder / BASE
    with appearing_whole(packed) as part:
        _write(gguf.GGUFReader(base), part, used, whole_digest(base))
    places = {token: place for place, token in enumerate(used)}

    def renumbered(examples: tuple[Tokens, ...]) -> tuple[Tokens, ...]:
        return tuple(replace(each, prompt=there(each.prompt), reply=there(each.reply)) for each in examples)

    def there(tokens: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(places[token] for token in tokens)

    trained, aside, held_out = map(renumbered, parts)
    return packed, Prepared(trained, aside, held_out, data.about, file_digest(packed), tuple(used))


def _write(reader: gguf.GGUFReader, path: Path, used: list[int], digest: str) -> None:
    """Write the packed model file: only the rows `used` of the token tensors, and the whole file's digest."""
    architecture = str(reader.fields[gguf.Keys.General.ARCHITECTURE].contents())
    writer = gguf.GGUFWriter(path, architecture)
    replaced = ("GGUF.", "tokenizer.", f"{architecture}.vocab_size", gguf.Keys.General.ARCHITECTURE)
    for name, field in reader.fields.items():
        if not name.startswith(replaced) and field.types[0] is not gguf.GGUFValueType.ARRAY:
            writer.add_key_value(name, field.contents(), field.types[0])
    writer.add_vocab_size(len(used))
    writer.add_tokenizer_model("no_vocab")
    writer.add_string(PACKED, digest)
    for tensor in reader.tensors:
        rows = tensor.data[used] if tensor.name in _BY_TOKEN else tensor.data
        writer.add_tensor(tensor.name, np.ascontiguousarray(rows), raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
