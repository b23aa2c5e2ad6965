"""Embedders by name: the static table that ships with the package, and sentence-transformers models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from goalmem_cli.errors import ModelMissing, ModelUnreadable
from goalmem_cli.models.sentence import SentenceEmbedder, load_transformer
from goalmem_cli.ports import Embedder, Vectors
from goalmem_cli.records import encodable

if TYPE_CHECKING:
    from model2vec import StaticModel

STATIC_FOLDER = Path(__file__).parent / "static"
MAX_TOKENS = 2048
TEXTS_PER_BATCH = 1024
CHARACTERS_PER_BATCH = 2**18


class StaticEmbedder:
    """Embeds by averaging a table's rows over a text's tokens: no layers, no torch, thousands of texts a second."""

    def __init__(self, name: str, model: StaticModel) -> None:
        self.name = name
        self.dimension: int = model.dim
        self._model = model

    @classmethod
    def from_folder(cls, name: str, folder: Path) -> StaticEmbedder:
        """Return the embedder of a folder that `distil` wrote.

        Raises:
            ModelUnreadable: a file of the folder is missing or garbled.
        """
        from model2vec import StaticModel
        from safetensors import SafetensorError

        try:
            json.loads((folder / "tokenizer.json").read_bytes())  # the library's own error has no type to catch
            model = StaticModel.from_pretrained(folder, normalize=True, max_length=MAX_TOKENS)
        except (OSError, ValueError, KeyError, SafetensorError) as error:
            hint = "reinstall goalmem" if folder == STATIC_FOLDER else "make the table again: goalmem embedder distil"
            raise ModelUnreadable(f"the embedding table in {folder} cannot be read: {error}", hint) from error
        rows = model.embedding.astype(np.float32)
        model.embedding = rows if model.weights is None else rows * model.weights[:, None].astype(np.float32)
        model.weights = None  # folded into the rows, which is much the faster way to average them
        return cls(name, model)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an (n, dimension) matrix of unit-length rows.

        The row of a text without a known word is zero; of a long text the first 2048 tokens count.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        readable = [encodable(text) for text in texts]
        per_batch = max(1, min(TEXTS_PER_BATCH, CHARACTERS_PER_BATCH // max(1, *map(len, readable))))
        rows = self._model.encode(readable, batch_size=per_batch, use_multiprocessing=False)
        return np.asarray(rows, dtype=np.float32)


def load_embedder(name: str = "static", *, may_download: bool = False) -> Embedder:
    """Return the embedder called `name`.

    `name` is ``static`` (the table of the package), ``minilm`` (the package of extra ``bundled``), a folder that
    `distil` or sentence-transformers wrote, or the name of a sentence-transformers model on the Hugging Face hub, which
    is fetched only when `may_download` is True and must be in the local cache otherwise.

    Raises:
        ModelMissing: nothing is there under that name.
        ModelUnreadable: something is there, but it cannot be loaded.
    """
    if name == "static":
        return StaticEmbedder.from_folder(name, STATIC_FOLDER)
    try:
        folder = Path(name).expanduser()
        is_folder = name not in ("", "minilm") and folder.is_dir()
    except (OSError, RuntimeError) as error:  # a name too long for a path; a home that nobody has
        reason = getattr(error, "strerror", None) or error
        raise ModelMissing(
            f"no embedder is there under the name {name}: {reason}", "use static, minilm or a model's folder"
        ) from error
    if is_folder:
        name = str(folder.resolve())
        if _is_static(folder):
            return StaticEmbedder.from_folder(name, folder)
    return SentenceEmbedder(name, load_transformer(name, may_download=may_download))


def _is_static(folder: Path) -> bool:
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("model_type") == "model2vec"
