"""The queries after the first look: for open subgoals, and for further values of lists."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from goalmem_cli.logic import Atom, Substitution
from goalmem_cli.logic.normal import content_stems, stem, words
from goalmem_cli.reasoners.goal_mem.records import Wish
from goalmem_cli.reasoners.goal_mem.state import ProofState


def open_queries(state: ProofState, wishes: Sequence[Wish]) -> dict[str, int]:
    """Return the queries for open subgoals, each with the number of its subgoal.

    The model's own queries come first, since the question's words were searched already. Then come the statements with
    their known values put in, and with provisional values too. An antecedent that counts like the plan's own subgoals
    is searched by the model's query alone.
    """
    numbers = state.open_numbers()
    needs = [wish.need.subgoal for wish in wishes if wish.need is not None and wish.queries]
    queries = {query: wish.subgoal for wish in wishes if wish.subgoal in numbers for query in wish.queries}
    certain = {name: values for name, values in state.substitution.bindings.items() if name not in state.starred}
    for bound in (certain, {**state.perhaps, **certain}):
        told = {phrase_of(need, bound) for need in needs}
        for number in numbers:
            phrase, is_root = phrase_of(state.atoms[number], bound), state.serves(number) is None
            if is_root or state.is_provisional or phrase not in told:
                queries.setdefault(phrase, number)
    return queries


def is_whole(state: ProofState, number: int, question: str, facts: Iterable[str]) -> bool:
    """Say whether each list of a settled subgoal is as long as the question or a cited fact says."""
    lists = [variable for variable in state.atoms[number].variables if variable.is_starred]
    counted = [(each.type, len(state.values_of(each.name, number))) for each in lists]
    asked, told = words(question), [words(text) for text in facts]
    return bool(counted) and all(
        _counts(asked, count, kind) or any(_counts(said, count, kind, _WHOLES) for said in told)
        for kind, count in counted
    )


_WHOLES = frozenset("all the my our his her their your these".split())
"""A number after one of these words counts all there are ("the three"); without one it may count only some."""
_PARTS = frozenset(
    "more other others another besides except least only first last next also week month year today day".split()
)
_NEAR = 4


def _counts(found: Sequence[str], count: int, kind: str, before: Collection[str] = ()) -> bool:
    """Say whether the words state the number `count` for things of a kind, after one of the words `before` if given."""
    kinds = content_stems(kind)
    return count > 1 and any(
        word == str(count)
        and (not before or previous in before)
        and kinds & set(map(stem, found[place + 1 : place + 3]))
        and not _PARTS & set(found[max(0, place - _NEAR + 1) : place + _NEAR + 1])
        for place, (previous, word) in enumerate(zip(("", *found), found, strict=False))
    )


_SORT_OF = re.compile(r"\b(?:type|kind|sort)s? of ", re.IGNORECASE)
_BUT = re.compile(r" (?:besides|other than|apart from|except(?: for)?|excluding) [^,.;]*", re.IGNORECASE)


def phrase_of(atom: Atom, bound: Mapping[str, tuple[str, ...]]) -> str:
    """Return a statement as a query in everyday words.

    Known values are put in, and variables become their types. "type of" and exceptions ("besides thrillers") are left
    out.
    """
    phrase = Substitution(bound).apply(atom).phrase
    return _BUT.sub("", _SORT_OF.sub("", phrase)).strip() or phrase
