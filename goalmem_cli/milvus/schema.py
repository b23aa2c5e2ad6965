"""The collections of a memory in Milvus, as data, from which `milvus_engine.py` makes them.

goalmem splits texts into tokens, not the engine, so that every language is found as in the local store. The analysed
fields hold tokens with blanks between them. Filters compare only hashes and numbers, so that no text of a conversation
becomes part of an expression.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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
