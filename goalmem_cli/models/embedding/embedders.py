"""Load embedders by name: the static table of the package, sentence-transformers models and GGUF models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from goalmem_cli.errors import ModelMissing, ModelUnreadable
from goalmem_cli.languages.finding import other_language, other_language_asked
from goalmem_cli.models.embedding.directions import direction_of
from goalmem_cli.ports import Embedder, Vectors
from goalmem_cli.records import encodable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

STATIC_FOLDER = Path(__file__).parent.parent / "static"
OTHERS_FOLDER = STATIC_FOLDER.with_name("others")
OTHERS = dict.fromkeys("da de es fi fr hu it nl no pt sv vi".split(), 0.3) | dict.fromkeys("ar ja ko ru zh".split(), 0)
"""The languages whose words the table in `OTHERS_FOLDER` has, and how much the English table counts beside it: names in
Latin letters are alike. 0.3 was best of 0, 0.3, 0.6 and 1 in eight conversations, 0 without Latin letters."""
MAX_TOKENS = 2048
MATRIX = 2
LINES_PER_BATCH = 1024
CHARACTERS_PER_BATCH = 2**17
COMMON_WORDS = ("the", "a", "i", "you", "it", "is", "was", "and", "to", "of", "in", "what", ":", ",", ".", "?")


@dataclass(frozen=True, slots=True)
class Table:
    """A vector per token, kept in its stored form: converting the whole table takes longer than one search."""

    rows: NDArray[Any]
    weights: NDArray[Any] | None
    mapping: NDArray[Any] | None

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]], tokens: int) -> Table:
        """Return the table of a Model2Vec file for a tokenizer of `tokens` tokens.

        Raises:
            KeyError: the file holds no rows.
            ValueError: the numbers of rows, weights and tokens do not match.
        """
        table = cls(tensors["embeddings"], tensors.get("weights"), tensors.get("mapping"))
        rows = len(table.rows if table.mapping is None else table.mapping)
        is_outside = table.mapping is not None and not set(table.mapping.tolist()) <= set(range(len(table.rows)))
        if table.rows.ndim != MATRIX or rows < tokens or (table.mapping is None and rows != tokens) or is_outside:
            raise ValueError(f"{tokens} tokens need as many rows, not an array of shape {table.rows.shape}")
        if table.weights is not None and len(table.weights) != rows:
            raise ValueError(f"{rows} rows need as many weights, not {len(table.weights)}")
        return table

    def of_tokens(self, ids: NDArray[np.int64]) -> Vectors:
        """Return the (n, dimension) vectors of the tokens."""
        vectors = self.rows[ids if self.mapping is None else self.mapping[ids]].astype(np.float32)
        if self.weights is not None:
            vectors *= self.weights[ids, None].astype(np.float32)
        return vectors


class StaticEmbedder:
    """Embeds a text as the mean of its tokens' table rows: thousands of texts a second, without torch."""

    def __init__(self, name: str, tokenizer: Tokenizer, unknown: int | None, table: Table) -> None:
        """Take a tokenizer that truncates long texts, its id for unknown tokens, and the table of token vectors."""
        self.name = name
        self.dimension: int = table.rows.shape[1]
        self._tokenizer = tokenizer
        self._unknown = unknown
        self._table = table

    @classmethod
    def from_folder(cls, name: str, folder: Path) -> StaticEmbedder:
        """Load the embedder from a folder that `distil` wrote, or from another folder in Model2Vec's form.

        Raises:
            ModelUnreadable: a file of the folder is missing or damaged.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            # Loaded here, because Model2Vec's own loading takes longer than the rest of a search.
            described = (folder / "tokenizer.json").read_text("utf-8")
            tokenizer = _read_tokenizer(described)
            unknown = _unknown_token(tokenizer, described)
            table = Table.from_tensors(load_file(folder / "model.safetensors"), tokenizer.get_vocab_size())
        except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
            hint = (
                "reinstall goalmem"
                if folder in (STATIC_FOLDER, OTHERS_FOLDER)
                else "make the table again: goalmem embedder distil"
            )
            raise ModelUnreadable(f"the embedding table in {folder} cannot be read: {error}", hint) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return cls(name, tokenizer, unknown, table)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an (n, dimension) matrix of unit-length rows; only the first 2048 tokens of a line count.

        A line that occurs in several texts is tokenised once; with its neighbours, a turn's line occurs in five texts.
        A text without a known word gets a vector from its hash that points away from ordinary texts. So equal symbols
        match, and an unknown symbol is not near to other texts.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        readable = [encodable(text) for text in texts]
        parts = [text.split("\n") for text in readable]
        places = {line: place for place, line in enumerate(dict.fromkeys(chain.from_iterable(parts)))}
        sums = self.sums(list(places))
        lines = np.array([places[line] for line in chain.from_iterable(parts)])
        starts = np.cumsum([0, *(len(lines_of_one) for lines_of_one in parts[:-1])])
        rows: Vectors = np.add.reduceat(sums[lines], starts, axis=0)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
        for place in np.flatnonzero(lengths[:, 0] == 0):
            rows[place] = direction_of(readable[place], self.dimension, self._common)
        return rows

    def sums(self, lines: Sequence[str]) -> Vectors:
        """Return the (lines, dimension) sums of each line's token rows."""
        sums = np.zeros((len(lines), self.dimension), dtype=np.float32)
        for first, last in _batches(lines):
            tokens = self._tokens(lines[first:last])
            filled = [place for place, ids in enumerate(tokens) if ids]
            if filled:
                starts = np.cumsum([0, *(len(tokens[place]) for place in filled[:-1])])
                ids = np.fromiter(chain.from_iterable(tokens), dtype=np.int64)
                sums[np.array(filled) + first] = np.add.reduceat(self._table.of_tokens(ids), starts, axis=0)
        return sums

    def words(self) -> list[str]:
        """Return the words of the tokenizer, the most frequent first."""
        ids = self._tokenizer.get_vocab()
        return sorted(ids, key=ids.__getitem__)

    def _tokens(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the known tokens of each line, at most its first 2048."""
        read = self._tokenizer.encode_batch_fast(lines, add_special_tokens=False)
        return [[token for token in line.ids if token != self._unknown] for line in read]

    @cached_property
    def _common(self) -> Vectors | None:
        """The mean direction of common words as a unit vector of shape (dimension,); None if the table knows none."""
        words = self.sums(COMMON_WORDS)
        lengths = np.linalg.norm(words, axis=1, keepdims=True)
        middle = np.divide(words, lengths, out=np.zeros_like(words), where=lengths > 0).mean(axis=0)
        length = np.linalg.norm(middle)
        return np.asarray(middle / length, dtype=np.float32) if length > 0 else None


class MultilingualEmbedder(StaticEmbedder):
    """Embeds lines in English with the table of `static`, and lines in other languages with a table in the same space.

    English texts have the vectors of `static`. A token in the other table has the mean direction of the English words
    that a multilingual model finds nearest.
    """

    @classmethod
    def from_package(cls) -> MultilingualEmbedder:
        """Load the embedder of the package; raises ModelUnreadable as `from_folder`."""
        english = _packaged()
        return cls("multilingual", english._tokenizer, english._unknown, english._table)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query, of shape (dimension,), in the language that it is asked in.

        In Latin letters it has its English vector too, since lines that are too short to tell their language have that.
        """
        english = np.asarray(_packaged().embed([text])[0], dtype=np.float32)
        language = other_language_asked(text)
        if language not in OTHERS:
            return english
        row = self._in_others([encodable(text)], [language])[0]
        if not row.any():
            return np.asarray(self.embed([text])[0], dtype=np.float32)
        row = row / np.linalg.norm(row) + OTHERS[language] * english
        return np.asarray(row / np.linalg.norm(row), dtype=np.float32)

    def sums(self, lines: Sequence[str]) -> Vectors:
        """Return the (lines, dimension) sums of each line's token rows, in the language that the line is in."""
        sums = super().sums(lines)
        languages = [other_language(line) for line in lines]
        if places := [place for place, language in enumerate(languages) if language in OTHERS]:
            sums[places] = self._in_others([lines[place] for place in places], [languages[place] for place in places])
        return sums

    def _in_others(self, lines: Sequence[str], languages: Sequence[str]) -> Vectors:
        """Return the sums of lines in these other languages."""
        shares = np.array([[OTHERS[language]] for language in languages], dtype=np.float32)
        return np.asarray(self._others.sums(lines) + shares * super().sums(lines), dtype=np.float32)

    @cached_property
    def _others(self) -> StaticEmbedder:
        """The table of other languages, which a memory in English never loads; raises ModelUnreadable."""
        return StaticEmbedder.from_folder(self.name, OTHERS_FOLDER)


def _read_tokenizer(described: str) -> Tokenizer:
    """Return the tokenizer of a JSON description.

    Raises:
        ValueError: the description is invalid.
    """
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_str(described)
    except Exception as error:  # the library raises bare Exception
        raise ValueError(str(error)) from error


def _unknown_token(tokenizer: Tokenizer, described: str) -> int | None:
    """Return the id of the unknown token; for some tokenizers the description must be parsed again."""
    named: object = getattr(tokenizer.model, "unk_token", None)
    if isinstance(named, str):
        return tokenizer.token_to_id(named)
    model = json.loads(described)["model"]
    return tokenizer.token_to_id(model["unk_token"]) if model.get("unk_token") else model.get("unk_id")


def _batches(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of runs of lines, limited in number and total length."""
    first = characters = 0
    for place, line in enumerate(lines):
        if place > first and (characters + len(line) > CHARACTERS_PER_BATCH or place - first >= LINES_PER_BATCH):
            yield first, place
            first, characters = place, 0
        characters += len(line)
    yield first, len(lines)


@cache
def _packaged() -> StaticEmbedder:
    """Return the embedder of the package, read once a process; raises ModelUnreadable as `from_folder`."""
    return StaticEmbedder.from_folder("static", STATIC_FOLDER)


def load_embedder(
    name: str = "multilingual", *, may_download: bool = False, threads: int | None = None, timeout: float = 300,
    has_key: bool = True, trusts_code: bool = False,
) -> Embedder:  # fmt: skip
    """Return the embedder of that name.

    `name` is one of: ``multilingual`` (the tables of the package), ``static`` (the English one alone), ``minilm`` (the
    package of extra ``minilm``), ``gguf:`` with the path of a GGUF model, ``http://host:port/v1#name`` on a server, a
    folder that `distil` or sentence-transformers wrote, or the name of a sentence-transformers model on the Hugging
    Face hub. A model of the hub must be in the local cache unless `may_download` is True. `threads` is the number of
    threads of a GGUF model (None: one per core), `timeout` how many seconds a server may take for one request,
    `has_key` whether it gets the key, and `trusts_code` whether the Python code that a sentence-transformers model
    brings along is run.

    Raises:
        ModelMissing: there is no embedder of that name.
        ModelUnreadable: there is one, but it cannot be loaded.
    """
    if name == "static":
        return _packaged()
    if name == "multilingual":
        return MultilingualEmbedder.from_package()
    from goalmem_cli.models.embedding.gguf_embedder import PREFIX, GgufEmbedder
    from goalmem_cli.models.embedding.sentence import SentenceEmbedder, load_transformer
    from goalmem_cli.models.servers.address import is_address

    if is_address(name):
        from goalmem_cli.models.embedding.served import ServedEmbedder

        return ServedEmbedder.from_address(name, timeout, has_key=has_key)
    if name.startswith(PREFIX):
        return GgufEmbedder.from_file(Path(name.removeprefix(PREFIX)), threads=threads)
    try:
        folder = Path(name).expanduser()
        is_folder = name not in ("", "minilm") and folder.is_dir()
    except (OSError, RuntimeError) as error:  # the name is too long for a path, or names an unknown user's home
        reason = getattr(error, "strerror", None) or error
        raise ModelMissing(
            f"there is no embedder called {name}: {reason}",
            "use multilingual, static, minilm, gguf:PATH, a model's folder or a server",
        ) from error
    if is_folder:
        name = str(folder.resolve())
        if _is_static(folder):
            return StaticEmbedder.from_folder(name, folder)
    return SentenceEmbedder(name, load_transformer(name, may_download=may_download, trusts_code=trusts_code))


def _is_static(folder: Path) -> bool:
    """Say whether the folder holds a static table (model2vec)."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("model_type") == "model2vec"
