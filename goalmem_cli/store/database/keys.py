"""Numbers that stand for ids and for places in conversations: the database finds them sooner than the texts.

Different texts may have the same number, so whoever looks one up compares the texts as well.
"""

from __future__ import annotations

import hashlib

_RANGE = 2**32
SQL_KEY = f"(md5_number_lower({{}}) % {_RANGE})"
"""What `key_of` gives, of the column put in; `place_key` adds the ordinal to it and takes the rest again."""
SQL_PLACE_KEY = f"(({SQL_KEY} + ordinal) % {_RANGE})"


def key_of(text: str) -> int:
    """Return a number below 2**32 that stands for the text."""
    digest = hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:12], "little")


def place_key(conversation: int, ordinal: int) -> int:
    """Return a number that stands for the turn of that ordinal, from the conversation's key."""
    return (conversation + ordinal) % _RANGE
