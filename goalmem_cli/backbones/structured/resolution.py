"""Resolve names: find which known name a name means, by its words, its letters, its vector, or by asking a model.

The first of these that finds a known name decides. A model is asked about all open names in one call (Graphiti's entity
resolution, section 2.2.1 of arXiv 2501.13956; Mem0's graph merges by vectors alone). Letters and vectors never join
names whose numbers differ: Mem0's graph takes "order 4711" and "order 4712" for one (its issue 3590).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from goalmem_cli.backbones.structured.alike import nearest_rows
from goalmem_cli.backbones.structured.decisions import Act, Event, Undecided
from goalmem_cli.backbones.structured.triples import key_of
from goalmem_cli.ports import Vectors
from goalmem_cli.records import Unit

SAME, NEW = "SAME", "NEW"
EVENTS: Mapping[str, Event] = {SAME: Event("must"), NEW: Event()}
"""What a model can say about an open name: it means the same as a known one, or it is new."""
_LETTERS, _WORDS, _ENTROPY = 6, 2, 1.5  # names below these are too short to compare by letters
_GRAM = 3
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Policy:
    """How names are resolved.

    At most `candidates` known names with a cosine of at least `least` are considered. The best of them whose trigrams
    have a Jaccard index of at least `letters` is the same name (None: skip this test). So is the nearest known name
    with a cosine of at least `joins` (None: skip this test).
    """

    candidates: int = 15
    least: float = 0.6
    letters: float | None = 0.9
    joins: float | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    """The result for one name: `same` is the position of the known name that it means, or None.

    `candidates` are positions of known names that it may mean, nearest first. A name with candidates but no `same` is
    open; without both it is new.
    """

    same: int | None
    candidates: tuple[int, ...] = ()


def resolve(
    names: Sequence[str], vectors: Vectors, known: Sequence[str], known_vectors: Vectors, policy: Policy
) -> list[Resolved]:
    """Return for each name which known name it means, or may mean.

    `vectors` and `known_vectors` have a row of unit length for each name. If exactly one known name has the same normal
    form, it is the same. If several have, they are the candidates.
    """
    keys = [key_of(each) for each in known]
    by_key: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        by_key.setdefault(key, []).append(place)
    return [
        _resolved(key_of(name), vector, keys, by_key, known_vectors, policy)
        for name, vector in zip(names, vectors, strict=True)
    ]


def _resolved(
    key: str,
    vector: Vectors,
    keys: Sequence[str],
    by_key: Mapping[str, Sequence[int]],
    known_vectors: Vectors,
    policy: Policy,
) -> Resolved:
    """Return what a new name means: a known place, candidates for the model, or nothing."""
    exact = by_key.get(key, ())
    if len(exact) == 1:
        return Resolved(exact[0])
    if exact:
        return Resolved(None, tuple(exact[: policy.candidates]))
    if not keys:
        return Resolved(None)
    near = nearest_rows(known_vectors, vector, policy.candidates, policy.least)
    if policy.letters is not None and tells_by_letters(key):
        telling = [place for place in near if tells_by_letters(keys[place]) and have_same_numbers(key, keys[place])]
        alike = {place: trigram_jaccard(key, keys[place]) for place in telling}
        best = max(alike, key=alike.__getitem__, default=None)
        if best is not None and alike[best] >= policy.letters:
            return Resolved(best)
    if policy.joins is not None:
        for place in nearest_rows(known_vectors, vector, len(keys), policy.joins):
            if have_same_numbers(key, keys[place]):
                return Resolved(place)
    return Resolved(None, tuple(near))


def merged(names: Sequence[str], vectors: Vectors, policy: Policy) -> list[int]:
    """Return for each name the position of the first name that means the same; its own position if it is the first.

    Each name is resolved as in `resolve` against the first names so far, without a model. The order of names matters.
    """
    if not len(names):
        return []
    firsts: list[int] = []
    rows = np.empty_like(vectors)
    keys: list[str] = []
    by_key: dict[str, list[int]] = {}
    found = []
    for place, name in enumerate(names):
        key = key_of(name)
        same = _resolved(key, vectors[place], keys, by_key, rows[: len(firsts)], policy).same
        if same is None:
            same = len(firsts)
            rows[same] = vectors[place]
            firsts.append(place)
            keys.append(key)
            by_key.setdefault(key, []).append(same)
        found.append(firsts[same])
    return found


def to_ask(lines: Sequence[str], resolved: Sequence[Resolved], known: Sequence[Unit]) -> Undecided | None:
    """Return the question for a model about all open names, or None if no name is open.

    `lines` are the names as the model reads them, `known` the units of the known names. The model is shown those that
    any open name may mean, in the order of `known`.
    """
    lines = [line for line, each in zip(lines, resolved, strict=True) if _is_open(each)]
    shown = sorted({place for each in resolved if _is_open(each) for place in each.candidates})
    return Undecided(tuple(lines), tuple(known[place] for place in shown)) if lines else None


def answered(acts: Iterable[Act], resolved: Sequence[Resolved], known: Sequence[Unit]) -> list[int | None]:
    """Return for each name the position of the known name that it means, or None, from `resolved` and a reply's acts.

    The first act on a name counts. An open name without an act gets None.
    """
    places = {unit.id: place for place, unit in enumerate(known)}
    said: dict[int, int | None] = {}
    for act in acts:
        said.setdefault(act.new, places.get(act.on) if act.event == SAME else None)
    number = 0
    found = []
    for each in resolved:
        number += _is_open(each)
        found.append(said.get(number) if _is_open(each) else each.same)
    return found


def _is_open(resolved: Resolved) -> bool:
    return resolved.same is None and bool(resolved.candidates)


def tells_by_letters(key: str) -> bool:
    """Return whether a name can be compared by letters: six letters or two words, and enough different letters."""
    letters = key.replace(" ", "")
    if len(letters) < _LETTERS and len(key.split()) < _WORDS:
        return False
    counts = Counter(letters)
    shares = [count / len(letters) for count in counts.values()]
    return -sum(share * math.log2(share) for share in shares) >= _ENTROPY


def have_same_numbers(one: str, other: str) -> bool:
    """Return whether two names have the same numbers in the same order; two names without numbers do."""
    return _NUMBERS.findall(one) == _NUMBERS.findall(other)


def trigram_jaccard(one: str, other: str) -> float:
    """Return the Jaccard index of the trigrams of two names without blanks, from 0 to 1."""
    ones, others = _trigrams(one), _trigrams(other)
    return len(ones & others) / len(ones | others)


def _trigrams(name: str) -> set[str]:
    letters = "".join(name.split())
    return {letters[start : start + _GRAM] for start in range(max(1, len(letters) - _GRAM + 1))}
