"""Numeric keys of ids and of places in conversations, which the database finds faster than texts.

Different texts may have the same key, so lookups have to compare the texts too.
"""

from __future__ import annotations

import hashlib

_RANGE = 2**32
SQL_KEY = f"(md5_number_lower({{}}) % {_RANGE})"
"""The SQL of `key_of` for a column that is put in; `place_key` adds the ordinal and applies the modulus again."""
SQL_PLACE_KEY = f"(({SQL_KEY} + ordinal) % {_RANGE})"


def key_of(text: str) -> int:
    """Return the text's key, a number below 2**32."""
    digest = hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:12], "little")


def places_around(place: int, distance: int) -> list[int]:
    """Return the keys of the turns within `distance` of the one with this key, which may be others' keys too."""
    return [(place + shift) % _RANGE for shift in range(-distance, distance + 1)]


def place_key(conversation: int, ordinal: int) -> int:
    """Return the key of a turn from its conversation's key and its ordinal."""
    return (conversation + ordinal) % _RANGE
