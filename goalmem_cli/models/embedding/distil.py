"""Distil a static embedding table from a sentence-transformers model, so that embedding runs no neural network.

The recipe is Model2Vec's. The model embeds each token of its vocabulary alone; principal components reduce the vectors;
a weight falls with the token's frequency (smooth inverse frequency, with Zipf's law over the vocabulary rank).
Model2Vec can read the folder.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import ModelError, ModelUnreadable
from goalmem_cli.models.embedding.embedders import STATIC_FOLDER, StaticEmbedder
from goalmem_cli.models.embedding.sentence import load_transformer

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

TABLE = "model.safetensors"
TOKENIZER = "tokenizer.json"
CONFIG = "config.json"
SMOOTHING, SMOOTHING_OF_OTHERS = 1e-4, 3e-4
UNUSED_TOKEN = re.compile(r"\[unused\d+\]|<unused\d+>|<\|reserved_special_token_\d+\|>")
TOKENS_PER_BATCH = 512
BLANK = "▁"
LETTER = re.compile(r"[^\W\d_]")
ENGLISH_WORD = re.compile(f"{BLANK}[a-z]{{2,}}")
UNKNOWN = "<unk>"
MOST, NEAREST, TEMPERATURE = 50_000, 10, 0.1
"""How many tokens of other languages get a vector at most, from how many English words, and how evenly these count."""

Matrix = NDArray[np.float32]


def distil(
    name: str, out_dir: Path, dimension: int = 256, *, may_download: bool = False, words: Sequence[str] = ()
) -> Path:
    """Write the static table of the model `name` to `out_dir` and return the folder.

    `name` is ``minilm``, a path or a sentence-transformers name. `dimension` is the length of the vectors, at most the
    model's. With `words` of other languages, the most frequent first, the tokens of a multilingual model that these
    words have get vectors in the space of the package's English table, which fixes the dimension. The same model gives
    the same table on the same machine. On another machine, single entries may differ by one of their 8-bit steps.

    Raises:
        ModelMissing: there is no such model, and `may_download` is False.
        ModelUnreadable: the model's vocabulary cannot be embedded token by token.
        ModelError: the dimension does not fit, or the folder cannot be written.
    """
    model = load_transformer(name, may_download=may_download)
    tokenizer, vocabulary = _vocabulary(name, model)
    if words:
        table = _table_of_others(name, model, tokenizer, vocabulary, words)
    else:
        table = _table(name, model, dimension, tokenizer, vocabulary)
    try:
        _write(out_dir, table, tokenizer, name, SMOOTHING_OF_OTHERS if words else SMOOTHING)
    except OSError as error:
        raise ModelError(f"cannot write {out_dir}: {error.strerror}", "name a folder that can be written") from error
    return out_dir


def _table(
    name: str, model: SentenceTransformer, dimension: int, tokenizer: dict[str, Any], vocabulary: Sequence[str]
) -> Matrix:
    """Return the weighted principal components of the model's outputs; raises ModelError for a wrong dimension."""
    widest = min(_token_outputs(name, model, range(1)).shape[1], len(vocabulary))
    if not 0 < dimension <= widest:
        raise ModelError(
            f"a table of {dimension} dimensions cannot be made from {name}",
            f"choose a dimension between 1 and {widest}",
        )
    outputs = _token_outputs(name, model, range(len(vocabulary)))
    special = {token["content"] for token in tokenizer["added_tokens"] if token["special"]}
    is_word = np.array([token not in special and not UNUSED_TOKEN.fullmatch(token) for token in vocabulary])
    table = np.zeros((len(vocabulary), dimension), dtype=np.float32)
    table[is_word] = _principal_components(outputs[is_word], dimension) * _frequency_weights(int(is_word.sum()))
    return table


def _table_of_others(
    name: str, model: SentenceTransformer, tokenizer: dict[str, Any], vocabulary: Sequence[str], words: Sequence[str]
) -> Matrix:
    """Trim the tokenizer to the tokens of the words, and return their vectors in the English table's space.

    The first row is the unknown token's.

    Raises:
        ModelUnreadable: the tokenizer has no blanks before words and scores of tokens, as SentencePiece's have.
    """
    chosen = _most_frequent(model, vocabulary, words)
    places = {vocabulary[token].removeprefix(BLANK): place for place, token in enumerate(chosen)
             if ENGLISH_WORD.fullmatch(vocabulary[token])}  # fmt: skip
    english = StaticEmbedder.from_folder("static", STATIC_FOLDER)
    known = [word for word in english.words() if word in places]
    if tokenizer["model"]["type"] != "Unigram" or len(known) <= NEAREST:
        raise ModelUnreadable(f"{name} does not have the vocabulary of a multilingual model", "distil another model")
    outputs = _token_outputs(name, model, chosen)
    outputs -= outputs.mean(axis=0)
    outputs /= np.linalg.norm(outputs, axis=1, keepdims=True)
    vectors = english.sums(known)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    means = _means_of_nearest(outputs, outputs[[places[word] for word in known]], vectors / lengths)
    scores = [tokenizer["model"]["vocab"][token] for token in chosen]
    tokenizer["model"] |= {"vocab": [[UNKNOWN, 0.0], *scores], "unk_id": 0}
    tokenizer["added_tokens"] = []
    return np.vstack(
        [np.zeros_like(means[:1]), means * _frequency_weights(len(chosen), SMOOTHING_OF_OTHERS) * np.median(lengths)]
    )


def _most_frequent(model: SentenceTransformer, vocabulary: Sequence[str], words: Sequence[str]) -> list[int]:
    """Return the tokens with letters that the words have, the most frequent first by Zipf's law over the words."""
    counts: dict[int, float] = defaultdict(float)
    read = model.tokenizer.backend_tokenizer.encode_batch_fast(list(words), add_special_tokens=False)
    for rank, word in enumerate(read, 1):
        for token in word.ids:
            counts[token] += 1 / rank
    said = [
        token
        for token, _ in sorted(counts.items(), key=itemgetter(1), reverse=True)
        if LETTER.search(vocabulary[token])
    ]
    return [token for token in said if vocabulary[token] != UNKNOWN][:MOST]


def _means_of_nearest(rows: Matrix, english: Matrix, vectors: Matrix) -> Matrix:
    """Return, for each row, the mean direction of the `vectors` of the English rows that are nearest to it.

    As in CSLS (Conneau et al. 2018), an English row that is near to many rows counts as less near.
    """
    crowd = np.concatenate([
        np.partition(english[first : first + TOKENS_PER_BATCH] @ rows.T, -NEAREST, axis=1)[:, -NEAREST:].mean(axis=1)
        for first in range(0, len(english), TOKENS_PER_BATCH)
    ])  # fmt: skip
    means = np.zeros((len(rows), vectors.shape[1]), dtype=np.float32)
    for first in range(0, len(rows), TOKENS_PER_BATCH):
        near = 2 * rows[first : first + TOKENS_PER_BATCH] @ english.T - crowd
        places = np.argpartition(-near, NEAREST, axis=1)[:, :NEAREST]
        shares = np.exp(np.take_along_axis(near, places, axis=1) / TEMPERATURE)
        means[first : first + TOKENS_PER_BATCH] = np.einsum("nk,nkd->nd", shares, vectors[places])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return means


def _vocabulary(name: str, model: SentenceTransformer) -> tuple[dict[str, Any], list[str]]:
    """Return the tokenizer as JSON, without the tokens that it adds around a text, and its tokens by id."""
    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ModelUnreadable(f"{name} has no tokenizer that can be stored", "distil a model with a fast tokenizer")
    document: dict[str, Any] = json.loads(backend.to_str())
    document.update(truncation=None, padding=None, post_processor=None)
    ids = backend.get_vocab(with_added_tokens=True)
    vocabulary = sorted(ids, key=ids.__getitem__)
    if [ids[token] for token in vocabulary] != list(range(len(vocabulary))):
        raise ModelUnreadable(f"the vocabulary of {name} has gaps", "distil another model")
    return document, vocabulary


def _token_outputs(name: str, model: SentenceTransformer, tokens: Sequence[int]) -> Matrix:
    """Return the (tokens, width) mean output of the model for each token, between what it puts around a query."""
    import torch

    marked = model.tokenizer((model.prompts.get("query") or "") + "a", return_special_tokens_mask=True)
    ids, marks = marked["input_ids"], marked["special_tokens_mask"]
    body = len(marks) - 1 - marks[::-1].index(0)
    before, after = ids[:body], ids[body + 1 :]
    batches = []
    with torch.inference_mode():
        for start in range(0, len(tokens), TOKENS_PER_BATCH):
            rows = [[*before, token, *after] for token in tokens[start : start + TOKENS_PER_BATCH]]
            batch = torch.tensor(rows, device=model.device)
            features = {"input_ids": batch, "attention_mask": torch.ones_like(batch)}
            outputs = model[0](features).get("token_embeddings")
            if outputs is None or outputs.ndim != 3:
                raise ModelUnreadable(f"{name} gives no output token by token", "distil a transformer model")
            batches.append(outputs.float().mean(dim=1).cpu().numpy())
    return np.asarray(np.nan_to_num(np.concatenate(batches)), dtype=np.float32)


def _principal_components(outputs: Matrix, dimension: int) -> Matrix:
    """Return the rows in their `dimension` directions of most variance, with a defined sign for each direction."""
    centred = outputs.astype(np.float64) - outputs.mean(axis=0, dtype=np.float64)
    _, directions = np.linalg.eigh(centred.T @ centred)
    scores = centred @ directions[:, ::-1][:, :dimension]
    furthest = np.abs(scores).argmax(axis=0)
    signed: Matrix = (scores * np.sign(scores[furthest, np.arange(dimension)])).astype(np.float32)
    return signed


def _frequency_weights(count: int, smoothing: float = SMOOTHING) -> Matrix:
    """Return a (count, 1) weight per token by rank: nearly 1 for rare tokens, small for the most frequent."""
    frequency = 1.0 / np.arange(2, count + 2)
    frequency /= frequency.sum()
    weights: Matrix = (smoothing / (smoothing + frequency))[:, None].astype(np.float32)
    return weights


def _write(out_dir: Path, table: Matrix, tokenizer: dict[str, Any], name: str, smoothing: float) -> None:
    """Write the folder; each row is scaled to 8 bits by its own maximum, so that frequent tokens lose no precision."""
    from safetensors.numpy import save

    steps = np.abs(table).max(axis=1, keepdims=True) / 127.0
    rows = np.rint(np.divide(table, steps, out=np.zeros_like(table), where=steps > 0)).astype(np.int8)
    out_dir.mkdir(parents=True, exist_ok=True)
    (out_dir / TABLE).write_bytes(save({"embeddings": rows, "weights": steps[:, 0].astype(np.float32)}))
    (out_dir / TOKENIZER).write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    config = {
        "model_type": "model2vec", "architectures": ["StaticModel"], "tokenizer_name": Path(name).name,
        "apply_pca": table.shape[1], "sif_coefficient": smoothing, "hidden_dim": table.shape[1],
        "normalize": True, "embedding_dtype": "int8",
    }  # fmt: skip
    (out_dir / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
