"""Make a model's file smaller for a training machine: keep only the tokens that the examples use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np

from goalmem_cli.lab.tuning.adapter import PACKED, whole_digest
from goalmem_cli.lab.tuning.batches import Tokens
from goalmem_cli.lab.tuning.prepared import Prepared
from goalmem_cli.models.state_cache import appearing_whole
from goalmem_cli.models.weights.gguf import file_digest

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
