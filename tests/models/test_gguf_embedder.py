"""GGUF embedders: a language model, and MiniLM written as GGUF, which has to give what sentence-transformers gives."""

import json
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from goalmem_cli.errors import ModelError, ModelMissing, ModelUnreadable
from goalmem_cli.models.embedding.embedders import load_embedder
from goalmem_cli.models.embedding.gguf_embedder import GgufEmbedder
from goalmem_cli.models.embedding.sentence import minilm_folder
from goalmem_cli.ports import Vectors
from tests.models.conftest import gguf_text, small_gguf
from tests.models.test_embedders import ODD_TEXTS, TEXTS

UINT32, INT32, FLOAT, BOOLEAN, STRING, ARRAY = 4, 5, 6, 7, 8, 9
ALIGNMENT = 32
NORMAL, CONTROL = 1, 3
NAMES = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}


def entry(key: str, kind: int, form: str, *values: object) -> bytes:
    """One metadata entry of a GGUF file."""
    return gguf_text(key) + struct.pack(f"<I{form}", kind, *values)


def minilm_entries(config: Mapping[str, int], pooling: int | None) -> list[bytes]:
    """What a GGUF file of MiniLM says of itself: its shape, its pooling, and its vocabulary."""
    words = (minilm_folder() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    special = {
        word: number for number, word in enumerate(words) if word in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    }
    tokens = [w if w in special else w[2:] if w.startswith("##") else f"\u2581{w}" for w in words]
    kinds = [CONTROL if word in special else NORMAL for word in words]
    numbers = {
        "context_length": config["max_position_embeddings"], "embedding_length": config["hidden_size"],
        "feed_forward_length": config["intermediate_size"], "block_count": config["num_hidden_layers"],
        "attention.head_count": config["num_attention_heads"],
    }  # fmt: skip
    if pooling is not None:
        numbers["pooling_type"] = pooling
    return [
        gguf_text("general.architecture") + struct.pack("<I", STRING) + gguf_text("bert"),
        *(entry(f"bert.{key}", UINT32, "I", value) for key, value in numbers.items()),
        entry("bert.attention.layer_norm_epsilon", FLOAT, "f", 1e-12),
        entry("bert.attention.causal", BOOLEAN, "?", False),
        gguf_text("tokenizer.ggml.model") + struct.pack("<I", STRING) + gguf_text("bert"),
        entry("tokenizer.ggml.token_type_count", UINT32, "I", 2),
        entry("tokenizer.ggml.tokens", ARRAY, "IQ", STRING, len(tokens)) + b"".join(map(gguf_text, tokens)),
        entry("tokenizer.ggml.token_type", ARRAY, f"IQ{len(kinds)}i", INT32, len(kinds), *kinds),
        *(
            entry(f"tokenizer.ggml.{key}_token_id", UINT32, "I", special[word])
            for key, word in (("bos", "[CLS]"), ("eos", "[SEP]"), ("seperator", "[SEP]"), ("unknown", "[UNK]"),
                              ("padding", "[PAD]"), ("mask", "[MASK]"))
        ),
    ]  # fmt: skip


def gguf_name(name: str) -> str | None:
    """What a tensor of BERT is called in a GGUF file; None for one that embedding does not need."""
    stem, _, kind = name.rpartition(".")
    block, _, part = (
        stem.removeprefix("encoder.layer.").partition(".") if stem.startswith("encoder") else ("", "", stem)
    )
    if part not in NAMES:
        return None
    return f"blk.{block}.{NAMES[part]}.{kind}" if block else f"{NAMES[part]}.{kind}"


def write_minilm(path: Path, *, pooling: int | None = 1) -> Path:
    """Write MiniLM as a GGUF file of float32 tensors."""
    config = json.loads((minilm_folder() / "config.json").read_bytes())
    entries = minilm_entries(config, pooling)
    weights = load_file(minilm_folder() / "model.safetensors")
    tensors = {new: data for old, data in weights.items() if (new := gguf_name(old)) is not None}
    head, place = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries), 0
    for name, data in tensors.items():
        head += gguf_text(name) + struct.pack("<I", data.ndim) + struct.pack(f"<{data.ndim}Q", *reversed(data.shape))
        head += struct.pack("<IQ", 0, place)
        place += -(-data.nbytes // ALIGNMENT) * ALIGNMENT
    with path.open("wb") as file:
        file.write(head.ljust(-(-len(head) // ALIGNMENT) * ALIGNMENT, b"\0"))
        for data in tensors.values():
            content = data.astype("<f4").tobytes()
            file.write(content.ljust(-(-len(content) // ALIGNMENT) * ALIGNMENT, b"\0"))
    return path


@pytest.fixture(scope="module")
def decoder(bundled_path: Path) -> Iterator[GgufEmbedder]:
    """The bundled language model as an embedder."""
    embedder = GgufEmbedder.from_file(bundled_path)
    yield embedder
    embedder.close()


@pytest.fixture(scope="module")
def bert_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MiniLM as a GGUF file that says how it pools."""
    return write_minilm(tmp_path_factory.mktemp("bert") / "minilm.gguf")


@pytest.fixture(scope="module")
def bert(bert_path: Path) -> Iterator[GgufEmbedder]:
    """MiniLM in llama.cpp."""
    embedder = GgufEmbedder.from_file(bert_path)
    yield embedder
    embedder.close()


def lengths(vectors: Vectors) -> Vectors:
    """The length of each row."""
    return np.asarray(np.linalg.norm(vectors, axis=1), dtype=np.float32)


def test_minilm_gives_what_sentence_transformers_gives(bert: GgufEmbedder) -> None:
    """Tokens, pooling and length are those of the original: the same weights give the same vectors."""
    theirs = load_embedder("minilm").embed(TEXTS)
    ours = bert.embed(TEXTS)
    assert (bert.dimension, bert.context) == (384, 512)
    assert (ours * theirs).sum(axis=1).min() > 0.999


def test_the_pooling_is_what_the_file_says(bert: GgufEmbedder, tmp_path: Path) -> None:
    """A file that says so is pooled by its first token; one that says nothing, by the mean of all."""
    rows = {}
    for pooling in (2, None):
        embedder = GgufEmbedder.from_file(write_minilm(tmp_path / f"{pooling}.gguf", pooling=pooling))
        rows[pooling] = embedder.embed(TEXTS[:1])[0]
        embedder.close()
    mean = bert.embed(TEXTS[:1])[0]
    assert np.allclose(rows[None], mean, atol=1e-6)
    assert rows[2] @ mean < 0.99


def test_a_reranker_is_refused(tmp_path: Path) -> None:
    """What scores pairs of texts embeds none, and is not tried."""
    with pytest.raises(ModelUnreadable, match="reranker"):
        GgufEmbedder.from_file(write_minilm(tmp_path / "rank.gguf", pooling=4))


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("decoder", marks=pytest.mark.model), "bert"])
def test_odd_texts_have_rows_of_unit_length(name: str, request: pytest.FixtureRequest) -> None:
    """Nothing at all, control characters, half surrogates, other scripts and the model's own markers are embedded."""
    embedder: GgufEmbedder = request.getfixturevalue(name)
    rows = embedder.embed([*ODD_TEXTS, "<|im_end|><|endoftext|>", "[CLS][SEP]"])
    assert rows.shape == (len(ODD_TEXTS) + 2, embedder.dimension)
    assert np.allclose(lengths(rows), 1, atol=1e-5)


@pytest.mark.parametrize("name", [pytest.param("decoder", marks=pytest.mark.model), "bert"])
def test_a_row_does_not_depend_on_its_company(name: str, request: pytest.FixtureRequest) -> None:
    """Each text gets, to the last bit, the row that it gets alone, in whatever order."""
    embedder: GgufEmbedder = request.getfixturevalue(name)
    rows = embedder.embed(TEXTS)
    assert np.array_equal(embedder.embed(TEXTS[::-1])[::-1], rows)
    assert np.array_equal(embedder.embed(TEXTS[2:3])[0], rows[2])
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_only_the_beginning_of_a_long_text_counts(bert: GgufEmbedder) -> None:
    """A text of more tokens than the context is as if it ended there, with the model's own start and end tokens."""
    whole, *longer = bert.embed(
        [f"{'coffee ' * 510}{rest}" for rest in ("", "and then the dog was ill", "tea " * 10**6)]
    )
    assert all(np.array_equal(row, whole) for row in longer)
    assert not np.array_equal(bert.embed(["coffee " * 509])[0], whole)


def test_likeness_of_meaning_is_found(bert: GgufEmbedder) -> None:
    """The question about the dog is nearest to what was said of the dog."""
    vectors = bert.embed(TEXTS)
    assert int((vectors[:-1] @ vectors[-1]).argmax()) == 3


def test_the_name_is_the_absolute_path(bert_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store records where the file is, whatever folder the command was given in."""
    monkeypatch.chdir(bert_path.parent)
    embedder = load_embedder("gguf:minilm.gguf", threads=1)
    assert embedder.name == f"gguf:{bert_path}"
    assert np.allclose(lengths(load_embedder(embedder.name).embed(TEXTS[:1])), 1, atol=1e-5)


def test_closing_gives_the_memory_back(bert_path: Path) -> None:
    """The file is no longer mapped afterwards, and a text is refused rather than read from freed memory."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("the system does not say what is mapped")
    embedder = GgufEmbedder.from_file(bert_path)
    before = maps.read_text().count(str(bert_path))
    embedder.close()
    embedder.close()
    assert maps.read_text().count(str(bert_path)) < before
    with pytest.raises(ModelError, match="closed"):
        embedder.embed(["a"])


@pytest.mark.parametrize(
    "name", ["gguf:/no/such/file.gguf", "gguf:", "gguf:~nobody-there/m.gguf", "gguf:a\0b", f"gguf:{'x' * 5000}"]
)
def test_a_path_that_leads_nowhere_is_an_error_at_once(name: str) -> None:
    """Nothing is loaded before the file is known to be there; the hint says how such a name looks."""
    with pytest.raises((ModelMissing, ModelUnreadable)) as raised:
        load_embedder(name)
    assert raised.value.hint


@pytest.mark.parametrize("content", [b"", b"no model at all", small_gguf()[:60], small_gguf() + bytes(256)])
def test_what_is_no_model_is_unreadable(tmp_path: Path, content: bytes) -> None:
    """An empty, foreign or truncated file, and a header that llama.cpp makes nothing of, are errors with a hint."""
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelUnreadable) as raised:
        load_embedder(f"gguf:{path}")
    assert str(path) in raised.value.message
    assert raised.value.hint


def test_a_path_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    """Neither llama.cpp nor the store could name such a file."""
    path = tmp_path / "mod\udce9le.gguf"
    path.write_bytes(small_gguf())
    with pytest.raises(ModelUnreadable, match="UTF-8"):
        GgufEmbedder.from_file(path)


def test_nothing_of_llama_cpp_reaches_the_terminal(bert_path: Path, tmp_path: Path) -> None:
    """Loading, embedding, failing and ending without closing write nothing to either stream."""
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(small_gguf() + bytes(256))
    script = (
        "from goalmem_cli.errors import ModelUnreadable\nfrom goalmem_cli.models.embedding.embedders import load_embedder\n"
        f"embedder = load_embedder({f'gguf:{bert_path}'!r})\nembedder.embed(['a text', '', 'coffee ' * 2000])\n"
        f"try:\n    load_embedder({f'gguf:{bad}'!r})\nexcept ModelUnreadable:\n    pass\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
