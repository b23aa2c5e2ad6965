"""What a text states about a thing that has one value at a time, and whether that ends what was said before.

"We are back in York" states a home, "that is what I drive now" a car and that there is no other. Only statements of the
present count, and changes that happened: no plan, no wish, no past, nothing about somebody else. English only.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from goalmem_cli.backbones.changes import real_sentences
from goalmem_cli.backbones.now.asked import OWN, Asked
from goalmem_cli.backbones.now.clauses import done
from goalmem_cli.backbones.now.owned import owned
from goalmem_cli.backbones.now.state import State

_SAID = re.compile(
    r"(?<!\bI )\b(?:says?|said|told|tells|asked|wrote|according to|thinks?|claims?|heard|mention(?:s|ed)|reckons?)\b"
    r"|[\"“”«»]",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?<!\bI )\b(?:says?|said|told (?:me|us)|wrote|writes|texted)\s*:|\b(?:imagine|suppose|pretend)\b", re.IGNORECASE
)
"""What follows to the end of the line is somebody else's, or not real."""


def states_in(text: str, asked: Asked) -> tuple[State, ...]:
    """Return what the text states of the kind that is asked for, in the order of its sentences, whoever holds it."""
    return _states(text, _anybodys(asked))


@lru_cache(maxsize=256)
def _anybodys(asked: Asked) -> Asked:
    return replace(asked, names=frozenset(), kin="")


@lru_cache(maxsize=4096)
def _states(text: str, asked: Asked) -> tuple[State, ...]:
    found: list[State] = []
    lines = [_OPENS.split(line, maxsplit=1)[0] for line in text.splitlines() if not line.lstrip().startswith(">")]
    for sentence in real_sentences("\n".join(lines)):
        if not _SAID.search(sentence):
            found += owned(sentence, asked) if asked.kind == OWN else done(sentence, asked)
    return tuple(found)
