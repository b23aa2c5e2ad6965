"""The collections of a memory in Milvus, as data, and what makes them for the engine.

goalmem splits texts into tokens, not the engine, so that every language is found as in the local store. The analysed
fields hold tokens with blanks between them. Filters compare only hashes and numbers, so that no text of a conversation
becomes part of an expression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

VERSION = 1
MOST_BYTES = 65_535
"""The bytes that a text field of Milvus can hold."""


class Collection(StrEnum):
    """A collection of the memory's database."""

    META = "goalmem_meta"
    TALKS = "goalmem_conversations"
    SAID = "goalmem_said"
    UNITS = "goalmem_units"


class Kind(StrEnum):
    """The kind of a field's content."""

    KEY = "a hash, of 32 hexadecimal digits"
    KEYS = "hashes"
    NUMBER = "a whole number"
    TEXT = "text"
    WORDS = "tokens, that BM25 ranks by"
    VECTOR = "a vector of the embedder"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a collection."""

    name: str
    kind: Kind
    may_lack: bool = False


ID = "id"
TALK = "conversation_key"
"""The partition key on a server: a search in one conversation reads only its rows."""

_PLACE = (
    Field(TALK, Kind.KEY), Field("conversation", Kind.TEXT), Field("revision", Kind.NUMBER),
    Field("kind", Kind.TEXT), Field("backbone", Kind.TEXT), Field("speaker_key", Kind.KEY),
    Field("speaker", Kind.TEXT), Field("ordinal", Kind.NUMBER), Field("clock", Kind.NUMBER, may_lack=True),
    Field("instant", Kind.NUMBER, may_lack=True), Field("place", Kind.NUMBER),
)  # fmt: skip

FIELDS: dict[Collection, tuple[Field, ...]] = {
    Collection.META: (Field("document", Kind.TEXT),),
    Collection.TALKS: (
        Field("name", Kind.TEXT), Field("own_key", Kind.KEY), Field("is_changing", Kind.NUMBER),
        Field("document", Kind.TEXT),
    ),
    Collection.SAID: (
        *_PLACE, Field("said_id", Kind.KEY), Field("content_key", Kind.NUMBER), Field("sources", Kind.KEYS),
        Field("part", Kind.NUMBER), Field("document", Kind.TEXT),
    ),
    Collection.UNITS: (
        *_PLACE, Field("unit", Kind.KEY), Field("label", Kind.TEXT), Field("words", Kind.WORDS),
        Field("context_words", Kind.WORDS), Field("vector", Kind.VECTOR), Field("context_vector", Kind.VECTOR),
    ),
}  # fmt: skip
"""The fields besides the primary key `id`; a collection without vectors gets a placeholder that the engine requires.

`goalmem_said` has every turn and answer, in parts if it is longer than a field. It also has a row for each transcript
that a command joined, with its alias in `said_id`. `goalmem_units` has the ranked units. A row's id is the hash of its
content, so that writing it again changes nothing.
"""


PLACEHOLDER = "none"
"""The field of collections without vectors, as the engine requires one."""

_KEY_LENGTH = 32
_MOST_SOURCES = 4_096
_INDEXES = {True: ("FLAT", {}), False: ("HNSW", {"M": 32, "efConstruction": 360})}
_BM25 = {"bm25_k1": 1.2, "bm25_b": 0.75}


def make(
    ask: Callable[..., Any], name: str, fields: Sequence[Field], dimension: int, *, is_embedded: bool, shards: int
) -> None:
    """Make a collection with its indexes; `ask` calls a method of the client."""
    from pymilvus import DataType, Function, FunctionType, MilvusClient

    kinds = {
        Kind.KEY: {"datatype": DataType.VARCHAR, "max_length": _KEY_LENGTH},
        Kind.KEYS: {
            "datatype": DataType.ARRAY, "element_type": DataType.VARCHAR, "max_length": _KEY_LENGTH,
            "max_capacity": _MOST_SOURCES,
        },
        Kind.NUMBER: {"datatype": DataType.INT64},
        Kind.TEXT: {"datatype": DataType.VARCHAR, "max_length": MOST_BYTES},
        Kind.WORDS: {
            "datatype": DataType.VARCHAR, "max_length": MOST_BYTES, "enable_analyzer": True,
            "analyzer_params": {"tokenizer": "standard", "filter": ["lowercase"]},
        },
        Kind.VECTOR: {"datatype": DataType.FLOAT_VECTOR, "dim": dimension},
    }  # fmt: skip
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    indexes = MilvusClient.prepare_index_params()
    schema.add_field(ID, DataType.VARCHAR, max_length=_KEY_LENGTH, is_primary=True)
    kind, params = _INDEXES[is_embedded]
    # milvus-lite counts a word's frequency within a partition, so all conversations share one
    key = None if is_embedded else TALK
    for field in fields:
        schema.add_field(field.name, nullable=field.may_lack, is_partition_key=field.name == key, **kinds[field.kind])
        if field.kind is Kind.VECTOR:
            indexes.add_index(field.name, index_type=kind, metric_type="IP", params=params)
        if field.kind is Kind.WORDS:
            schema.add_field(sparse(field.name), DataType.SPARSE_FLOAT_VECTOR)
            schema.add_function(Function(
                name=f"bm25_{field.name}", function_type=FunctionType.BM25,
                input_field_names=[field.name], output_field_names=[sparse(field.name)],
            ))  # fmt: skip
            indexes.add_index(sparse(field.name), index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=_BM25)
    if not any(field.kind is Kind.VECTOR for field in fields):
        schema.add_field(PLACEHOLDER, DataType.FLOAT_VECTOR, dim=2)
        indexes.add_index(PLACEHOLDER, index_type="FLAT", metric_type="IP")
    ask("create_collection", name, schema=schema, consistency_level="Strong", num_shards=shards)
    # does not wait, since loading waits, and the client polls only every half second
    ask("create_index", name, indexes, sync=False)


def sparse(field: str) -> str:
    """Return the name of the field with the BM25 weights of an analysed field."""
    return f"{field}_sparse"
