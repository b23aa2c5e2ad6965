"""NL-Logic (GOAL-MEM section 3): a first-order skeleton whose predicates and types are natural language.

Pure: nothing here reads a file, asks a model or knows a clock.
"""

from goalmem_cli.logic.notation import NotationError, parse_atom
from goalmem_cli.logic.substitution import Substitution
from goalmem_cli.logic.terms import Atom, Constant, Rule, Variable

__all__ = ["Atom", "Constant", "NotationError", "Rule", "Substitution", "Variable", "parse_atom"]
