"""What is looked for after the first look: what is open, and more of what is a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from goalmem_cli.logic import Atom, Substitution
from goalmem_cli.logic.normal import content_stems, stem, words
from goalmem_cli.reasoners.goal_mem.records import Wish
from goalmem_cli.reasoners.goal_mem.state import ProofState


def open_queries(state: ProofState, wishes: Sequence[Wish]) -> dict[str, int]:
    """Return the queries for what is open, each with the number of its subgoal.

    The model's own come first, as the question's words were looked for already; then the statements themselves, with
    what is bound put in, and with what is bound provisionally. The query of an antecedent stands for its words where it
    is a subgoal like the plan's own.
    """
    numbers = state.open_numbers()
    needs = [wish.need.subgoal for wish in wishes if wish.need is not None and wish.queries]
    queries = {query: wish.subgoal for wish in wishes if wish.subgoal in numbers for query in wish.queries}
    certain = {name: values for name, values in state.substitution.bindings.items() if name not in state.starred}
    for bound in (certain, {**state.perhaps, **certain}):
        told = {_phrase(need, bound) for need in needs}
        for number in numbers:
            phrase, is_root = _phrase(state.atoms[number], bound), state.serves(number) is None
            if is_root or state.is_provisional or phrase not in told:
                queries.setdefault(phrase, number)
    return queries


def is_whole(state: ProofState, number: int, texts: Iterable[str]) -> bool:
    """Say whether the lists of a settled subgoal have as many values as one of the texts says that there are."""
    lists = [variable for variable in state.atoms[number].variables if variable.is_starred]
    told = [words(text) for text in texts]
    return bool(lists) and all(
        any(_says_how_many(found, len(state.values_of(each.name, number)), each.type) for found in told)
        for each in lists
    )


def _says_how_many(found: Sequence[str], count: int, kind: str) -> bool:
    """Say whether words speak of so many things of a kind, or of all so many: three modules, all three."""
    kinds, named = content_stems(kind), {str(count), "both"} if count == 2 else {str(count)}
    return count > 1 and any(
        (word in named and bool(kinds & set(map(stem, found[place + 1 : place + 4]))))
        or (word == str(count) and found[max(0, place - 1) : place] == ["all"])
        for place, word in enumerate(found)
    )


def _phrase(atom: Atom, bound: Mapping[str, tuple[str, ...]]) -> str:
    """Return a statement as a query, with what is bound put in; what is not, stands there by its type."""
    return Substitution(bound).apply(atom).phrase
