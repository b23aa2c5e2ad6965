"""Which names mean the same thing: by the same words, by their letters, by their vectors, or as a model says.

A name is settled by the first of these that finds one of the known names, and what stays open is asked for in one call
(Graphiti's resolution of entities, section 2.2.1 of arXiv 2501.13956; Mem0's graph merges by vectors alone). Neither
letters nor vectors settle it where numbers differ: "order 4711" and "order 4712" look alike, and Mem0's graph takes
them for one (its issue 3590).
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
"""What a model can say about a name that is open: it means what a known one does, or something else."""
_LETTERS, _WORDS, _ENTROPY = 6, 2, 1.5  # a name with less is too short for its letters to tell
_GRAM = 3
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Policy:
    """How names are resolved.

    Known names of at least the cosine `least` are looked at, at most so many `candidates`. One whose trigrams are
    alike by at least `letters` (Jaccard; None: they do not count) is the same, and so is the nearest one of at least
    the cosine `joins` (None: vectors settle nothing).
    """

    candidates: int = 15
    least: float = 0.6
    letters: float | None = 0.9
    joins: float | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    """The place of the known name that a name means, or None; it is open where there are `candidates` then.

    `candidates` are places of known names, nearest first.
    """

    same: int | None
    candidates: tuple[int, ...] = ()


def resolve(
    names: Sequence[str], vectors: Vectors, known: Sequence[str], known_vectors: Vectors, policy: Policy
) -> list[Resolved]:
    """Return for each name which of the known ones it means, or which it may mean.

    `vectors` and `known_vectors` have a row of unit length for each name. A name is one of the known ones where exactly
    one has its normal form; where several have, these are its candidates.
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
    """Return for each name, in order, the place of the first name that means the same, its own where it is the first.

    Each joins the earlier name that `resolve` settles on among the first ones, else it is one of them itself; so the
    order of names counts, and nobody is asked.
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
    """Return what a model is to say about all names that are open, in one call; None where none is.

    `lines` are the names as the model reads them, and `known` the units of the known names; it is shown those that any
    open name may mean, in their order.
    """
    lines = [line for line, each in zip(lines, resolved, strict=True) if _is_open(each)]
    shown = sorted({place for each in resolved if _is_open(each) for place in each.candidates})
    return Undecided(tuple(lines), tuple(known[place] for place in shown)) if lines else None


def answered(acts: Iterable[Act], resolved: Sequence[Resolved], known: Sequence[Unit]) -> list[int | None]:
    """Return for each name the place of the known one that it means, by what is settled and what a reply's acts say.

    The first thing that a reply says about a name counts; of what it says nothing about, nothing is known.
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
    """Return whether a name's letters are enough to tell it by: six letters or two words, and not all much the same."""
    letters = key.replace(" ", "")
    if len(letters) < _LETTERS and len(key.split()) < _WORDS:
        return False
    counts = Counter(letters)
    shares = [count / len(letters) for count in counts.values()]
    return -sum(share * math.log2(share) for share in shares) >= _ENTROPY


def have_same_numbers(one: str, other: str) -> bool:
    """Return whether two names have the same numbers in the same order; most have none."""
    return _NUMBERS.findall(one) == _NUMBERS.findall(other)


def trigram_jaccard(one: str, other: str) -> float:
    """Return the share of three-letter pieces that two names have in common, blanks left out, from 0 to 1."""
    ones, others = _trigrams(one), _trigrams(other)
    return len(ones & others) / len(ones | others)


def _trigrams(name: str) -> set[str]:
    letters = "".join(name.split())
    return {letters[start : start + _GRAM] for start in range(max(1, len(letters) - _GRAM + 1))}
