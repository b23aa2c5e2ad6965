"""The collections of a memory in Milvus, as data: `milvus_engine.py` makes them, all others write and read their rows.

Words are analysed by goalmem and not by the engine, so that every language is found as it is in the local store: the
analysed fields hold tokens with blanks between them. Filters compare hashes and numbers only, so that no text of a
conversation is ever part of an expression.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

VERSION = 1
MOST_BYTES = 65_535
"""What a text field of Milvus holds."""


class Collection(StrEnum):
    """A collection of the memory's database."""

    META = "goalmem_meta"
    TALKS = "goalmem_conversations"
    SAID = "goalmem_said"
    UNITS = "goalmem_units"


class Kind(StrEnum):
    """What a field holds."""

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
"""The partition key of a server: a conversation's rows lie together, and a search in one looks at no other."""

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
"""Without the primary key `id`, which all have; a collection without vectors gets the smallest that the engine allows.

`goalmem_said` has every turn and answer whole, in parts where it is longer than a field, and a row for each transcript
that was joined by command, which stands for it in `said_id`; `goalmem_units` has what is ranked. A row's id is the hash
of all that it holds, so that writing it again changes nothing.
"""
