"""What the order `seen` looks for after the question itself: what is open, and more of what is a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goalmem_cli.logic import Atom, Substitution
from goalmem_cli.reasoners.goal_mem.seen.board import Board
from goalmem_cli.reasoners.goal_mem.seen.records import Open

MOST = 8
"""How many queries a round has at most: each more leaves less room for what the others find."""


def open_queries(board: Board, wishes: Sequence[Open]) -> dict[str, int]:
    """Return the queries for what is open, each with the number of its subgoal.

    The model's own come first, as the question's words were looked for already; then the statements themselves, with
    what is bound put in, and with what is bound provisionally.
    """
    numbers = board.open_numbers()
    queries = {query: wish.subgoal for wish in wishes if wish.subgoal in numbers for query in wish.queries}
    certain = {name: values for name, values in board.substitution.bindings.items() if name not in board.starred}
    for bound in (certain, {**board.perhaps, **certain}):
        for number in numbers:
            queries.setdefault(_phrase(board.atoms[number], bound), number)
    return dict(list(queries.items())[:MOST])


def further_queries(board: Board, number: int) -> list[str]:
    """Return the query for further values of a settled subgoal's list: an author besides X, Y for the readings."""
    bound = dict(board.substitution.bindings)
    besides = {
        variable.name: (f"{variable.type} besides {', '.join(bound[variable.name])}",)
        for variable in board.atoms[number].variables
        if variable.is_starred and variable.name in bound
    }
    return [_phrase(board.atoms[number], {**bound, **besides})]


def _phrase(atom: Atom, bound: Mapping[str, tuple[str, ...]]) -> str:
    """Return a statement as a query, with what is bound put in; what is not, stands there by its type."""
    return Substitution(bound).apply(atom).phrase
