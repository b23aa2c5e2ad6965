"""Substitutions: variables with their constants, and how two of them combine (GOAL-MEM section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from goalmem_cli.logic.equality import Equality, compare, more_specific
from goalmem_cli.logic.normal import normalise
from goalmem_cli.logic.terms import Atom, Constant, Term, Variable

_BRACKETS = str.maketrans("()", "[]")


@dataclass(frozen=True, slots=True, eq=False)
class Substitution:
    """Variables and their constants: one each, or an ordered set for a starred variable.

    Two substitutions are equal if they bind the same variables to the same normal forms; the order of a set is ignored.
    """

    bindings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    starred: frozenset[str] = frozenset()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Substitution):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __contains__(self, name: object) -> bool:
        return name in self.bindings

    def __str__(self) -> str:
        return "{" + ", ".join(f"{name}/{' + '.join(values)}" for name, values in self.bindings.items()) + "}"

    def apply(self, atom: Atom) -> Atom:
        """Return the atom with each bound variable replaced by its constant; a set becomes one constant with commas."""
        return Atom(tuple(self._applied(part) for part in atom.parts))

    def conflicts_with(self, other: Substitution) -> tuple[str, ...]:
        """Return the variables whose constants are not known to be the same; sets never conflict."""
        sets = self.starred | other.starred
        return tuple(
            name
            for name, values in self.bindings.items()
            if name not in sets and name in other.bindings and not _are_same(values[0], other.bindings[name][0])
        )

    def merge(self, other: Substitution) -> Substitution:
        """Combine both: the more specific of two aliases, the union of two sets.

        Associative, commutative and idempotent on substitutions that do not conflict.

        Raises:
            ValueError: the two conflict; the message names the variables.
        """
        if conflicts := self.conflicts_with(other):
            raise ValueError(f"conflicting bindings of {', '.join(conflicts)}")
        sets = self.starred | other.starred
        merged = dict(self.bindings)
        for name, values in other.bindings.items():
            known = merged.get(name, ())
            union = _union((*known, *values))
            merged[name] = union if name in sets or not known else (more_specific(known[0], values[0]),)
        return Substitution(merged, sets & merged.keys())

    def _applied(self, part: str | Term) -> str | Term:
        if isinstance(part, Variable) and part.name in self.bindings:
            return Constant(", ".join(self.bindings[part.name]).translate(_BRACKETS))
        return part

    def _key(self) -> frozenset[tuple[str, frozenset[str]]]:
        return frozenset((name, frozenset(map(normalise, values))) for name, values in self.bindings.items())


def values_of(text: str, variable: Variable) -> tuple[str, ...]:
    """Return the values that a reply's text gives the variable; for a starred one, the parts between commas."""
    return _union(part.strip() for part in (text.split(", ") if variable.is_starred else [text]))


def _union(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values in order without repeats; of equal ones, keep the more specific spelling."""
    found: dict[str, str] = {}
    for value in values:
        key = normalise(value)
        found[key] = more_specific(found[key], value) if key in found else value
    return tuple(found.values())


def _are_same(left: str, right: str) -> bool:
    return compare(left, right) in (Equality.EQUAL, Equality.ALIAS)
