"""NL-Logic (GOAL-MEM section 3): first-order atoms and rules whose predicates and types are natural language.

Pure code: no module here reads a file, calls a model or reads a clock. The names below are imported on first use,
because searching needs none of them and the date patterns are slow to compile.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalmem_cli.logic.notation import NotationError, parse_atom
    from goalmem_cli.logic.substitution import Substitution
    from goalmem_cli.logic.terms import Atom, Constant, Rule, Variable

__all__ = ["Atom", "Constant", "NotationError", "Rule", "Substitution", "Variable", "parse_atom"]

_MODULES = {"NotationError": "notation", "Substitution": "substitution", "parse_atom": "notation"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'terms')}"), name)
