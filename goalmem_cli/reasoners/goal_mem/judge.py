"""Verifiable unification: the engine checks every grounding that a model proposes (GOAL-MEM section 4.2).

Nothing here asks a model. This module checks each claim by itself; `agreement.py` checks claims against each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from goalmem_cli.logic import Atom, Constant
from goalmem_cli.logic.checks import (
    DATED,
    SELF_WORDS,
    Anchor,
    AnchorCheck,
    TypeVerdict,
    check_anchor,
    check_type,
    type_head,
)
from goalmem_cli.logic.dates import dates_in
from goalmem_cli.logic.forms import standard_time
from goalmem_cli.logic.normal import content_words, normalise, stem, words
from goalmem_cli.logic.people import is_only_asking, names_nobody, who_is_meant
from goalmem_cli.logic.questions import asks_for_person
from goalmem_cli.reasoners.goal_mem.agreement import agree, are_same, as_proposed, supports, surest
from goalmem_cli.reasoners.goal_mem.records import Bench, Claim, Ruling
from goalmem_cli.reasoners.goal_mem.replacing import outdated, superseded_by
from goalmem_cli.reasoners.goal_mem.weighing import log_odds
from goalmem_cli.trace import Contradicted, Grounded, Rejected, Verdict

BRIDGED = "bridged: "
"""The beginning of the note on a grounding if no cited fact names a constant of its subgoal."""


UNCHECKED = "unchecked: the model's word alone"
"""The note on a grounding that was taken without checks."""

LEFT_OUT = "left out: it is part of another value, or not quite what is asked for"
"""The reason for refusing a value that the model itself calls minor."""


def rule(claims: Sequence[Claim], bench: Bench) -> Ruling:
    """Return which claims hold, and the substitution that they make together with the earlier groundings.

    The order of the claims has no influence. Among alternatives the model's certainty decides.
    """
    candidates: list[Grounded] = []
    ranks: list[float | None] = []
    rejected: list[Rejected] = []
    contradicted: list[Contradicted] = []
    meant = [_with_persons(claim, bench) for claim in claims]
    for claim in sorted(meant, key=lambda item: (item.subgoal, item.facts, sorted(item.bindings.items()))):
        if trouble := _misfit(claim, bench):
            rejected.append(claim.refused(trouble))
        elif claim.is_contradiction:
            contradicted.append(Contradicted(claim.subgoal, claim.facts, claim.grounding_certainty))
        else:
            candidates.append(_grounded(claim, bench))
            ranks.append(None if claim.grounding_certainty is None else log_odds(claim.grounding_certainty))
    if bench.is_unchecked:
        ruling = as_proposed(candidates, [rank or 0.0 for rank in ranks], contradicted, bench)
    elif any(rank is not None for rank in ranks) and not bench.is_current:
        ruling = surest(candidates, [-math.inf if rank is None else rank for rank in ranks], contradicted, bench)
    else:
        ruling = agree(candidates, contradicted, bench)
    return replace(ruling, rejected=(*rejected, *ruling.rejected))


def _misfit(claim: Claim, bench: Bench) -> str:
    """Return why the claim fails by itself, whatever else was proposed, or an empty text."""
    if not 0 <= claim.subgoal < len(bench.subgoals):
        return "there is no such subgoal"
    if not claim.facts:
        return "it cites no fact"
    if missing := [number for number in claim.facts if number not in bench.facts]:
        return f"{missing[0]} is not among the facts"
    if claim.verdict is Verdict.MINOR:
        return LEFT_OUT
    if bench.is_unchecked:
        return "" if claim.is_contradiction and bench.is_closed else _unbound(claim, bench)
    if claim.is_contradiction:
        is_foreign = _foreign_anchor(claim, bench) if bench.is_closed else f"{', '.join(claim.facts)} says otherwise"
        return is_foreign or outdated(claim, bench)
    unfit = _unbound(claim, bench) or _wrong_type(claim, bench) or _nobody(claim, bench)
    return unfit or _foreign_anchor(claim, bench) or outdated(claim, bench)


def _with_persons(claim: Claim, bench: Bench) -> Claim:
    """Return the claim with pronouns ("I") replaced by the person whom they mean in the first cited fact."""
    fact = bench.facts.get(claim.facts[0]) if claim.facts else None
    if fact is None or not 0 <= claim.subgoal < len(bench.subgoals):
        return claim
    persons = _persons(claim, bench)
    meant = {
        name: tuple(who_is_meant(value, fact) for value in values) if name in persons else values
        for name, values in claim.bindings.items()
    }
    return replace(claim, bindings=meant)


def _persons(claim: Claim, bench: Bench) -> set[str]:
    """Return the variables of the claim's subgoal that stand for people."""
    asks = asks_for_person(bench.question)
    variables = bench.subgoals[claim.subgoal].variables
    return {variable.name for variable in variables if asks or type_head(variable.type) == "person"}


def _nobody(claim: Claim, bench: Bench) -> str:
    """Return a refusal if a value names no person, or the speaker who only asks it in the chat, else an empty text."""
    facts = [bench.facts[number] for number in claim.facts]
    persons, statement = _persons(claim, bench), str(bench.subgoals[claim.subgoal])
    for name, values in claim.bindings.items():
        for value in values:
            if name in persons and names_nobody(value, bench.question):
                return f"{value} is nobody's name"
            if is_only_asking(value, facts, statement):
                return f"{value} only asks it"
    return ""


def _unbound(claim: Claim, bench: Bench) -> str:
    for variable in bench.subgoals[claim.subgoal].variables:
        values = claim.bindings.get(variable.name, ())
        is_known = variable.name in bench.substitution and variable.name not in bench.starred
        if not values and not is_known:
            return f"{variable} is not bound"
        if any(not normalise(value) for value in values):
            return f"{variable} is bound to nothing"
        is_one = bench.is_unchecked or variable.name in bench.starred or len(values) < 2
        if not is_one and not _all_same(values, bench):
            return f"{variable} is bound to different values: {', '.join(values)}"
    return ""


def _all_same(values: Sequence[str], bench: Bench) -> bool:
    return all(are_same(left, right, bench) for left, right in combinations(values, 2))


def _wrong_type(claim: Claim, bench: Bench) -> str:
    bindings = _bindings(claim, bench)
    for variable in bench.subgoals[claim.subgoal].variables:
        for value in bindings.get(variable.name, ()):
            check = check_type(value, variable.type)
            if check.verdict is TypeVerdict.VIOLATED:
                return check.reason
    return ""


def _anchored(claim: Claim, bench: Bench) -> list[tuple[Constant, AnchorCheck]]:
    """Check each constant of the grounded subgoal against the facts: those written in it and its variables' values."""
    facts = [bench.facts[number] for number in claim.facts]
    constants = [_named(constant, bench.asker) for constant in bench.subgoals[claim.subgoal].constants]
    constants += [Constant(value) for values in _bindings(claim, bench).values() for value in values]
    bound = [value for values in claim.bindings.values() for value in values]
    checks = []
    for place, constant in enumerate(constants):
        beside = [other.value for other in constants[:place] + constants[place + 1 :]]
        checks.append((constant, check_anchor(constant, facts, bench.people, beside=beside, bound=bound)))
    return checks


def _foreign_anchor(claim: Claim, bench: Bench) -> str:
    """Return why a constant does not fit: the facts are about somebody else, or only the model has named it."""
    sources = (bench.question, bench.asker or "", *bench.people, *(fact.text for fact in bench.facts.values()))
    told = {stem(word) for source in sources for word in words(source)}
    written = {_named(constant, bench.asker) for constant in bench.subgoals[claim.subgoal].constants}
    for constant, check in _anchored(claim, bench):
        if check.verdict is Anchor.ANOTHERS:
            return check.reason
        is_name = constant in written and constant.value != constant.value.lower()
        if check.verdict is Anchor.BRIDGED and is_name and not told & set(map(stem, content_words(constant.value))):
            return f"{constant.value} stands neither in the question nor in any fact"
    return _invented(bench.subgoals[claim.subgoal], told)


def _invented(atom: Atom, told: set[str]) -> str:
    """Return why a name or number in the subgoal's plain words was invented by the model, or an empty text."""
    for part in atom.parts:
        for token in part.split() if isinstance(part, str) else ():
            is_name = token[:1].isupper() or any(character.isdigit() for character in token)
            is_free = str(atom).startswith(token) or bool(dates_in(token))  # a sentence's first word, a month, a year
            if is_name and not is_free and not told & {stem(word) for word in words(token)}:
                return f"{token} stands neither in the question nor in any fact"
    return ""


def _named(constant: Constant, asker: str | None) -> Constant:
    """Return the constant with the asker's name where it says "I" or "my"."""
    if asker is not None and normalise(constant.value) in SELF_WORDS:
        return replace(constant, value=asker)
    return constant


def _bindings(claim: Claim, bench: Bench) -> dict[str, tuple[str, ...]]:
    """Return the claim's bindings for its subgoal's variables, completed by known values of plain variables."""
    found = {}
    for variable in bench.subgoals[claim.subgoal].variables:
        name = variable.name
        values = claim.bindings.get(name) or (
            () if name in bench.starred else bench.substitution.bindings.get(name, ())
        )
        if values:
            kept = values if name in bench.starred else values[:1]
            found[name] = tuple(map(standard_time, kept)) if type_head(variable.type) in DATED else kept
    return found


def _grounded(claim: Claim, bench: Bench) -> Grounded:
    bindings = _bindings(claim, bench)
    own = {constant.value for constant in bench.subgoals[claim.subgoal].constants} | {bench.asker}
    bridges = [
        f"{BRIDGED}{check.reason}"
        for constant, check in _anchored(claim, bench)
        if check.verdict is Anchor.BRIDGED and constant.value in own
    ]
    certainty = [] if claim.grounding_certainty is None else [f"{claim.grounding_certainty:.0%} certain"]
    notes = (UNCHECKED, *certainty) if bench.is_unchecked else (*bridges, *superseded_by(claim, bench), *certainty)
    blank = Grounded(claim.subgoal, claim.facts, bindings, {}, notes, claim.grounding_certainty)
    return replace(blank, support=supports(blank, bench))
