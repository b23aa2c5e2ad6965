"""Verifiable unification: the engine checks every grounding that a model proposes (GOAL-MEM section 4.2).

Nothing here asks a model. Each claim is checked by itself, and then against the others: conflicts, supersession,
strictness, and the substitution that they agree on. The order in which they were proposed has no influence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from goalmem_cli.logic import Atom, Constant, Substitution
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
from goalmem_cli.logic.equality import Equality, compare, more_specific
from goalmem_cli.logic.forms import standard_time
from goalmem_cli.logic.moments import is_later
from goalmem_cli.logic.normal import as_pair, content_words, normalise, stem, words
from goalmem_cli.logic.people import is_only_asking, names_nobody, who_is_meant
from goalmem_cli.logic.questions import asks_for_person
from goalmem_cli.logic.support import Support, support_of, working_of
from goalmem_cli.reasoners.goal_mem.records import Bench, Claim, Ruling
from goalmem_cli.reasoners.goal_mem.replacing import last_said, outdated, superseded_by, who_got_it
from goalmem_cli.reasoners.goal_mem.weighing import log_odds
from goalmem_cli.trace import Attempt, Contradicted, Grounded, Rejected, Side, Verdict

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
    meant = [_with_persons(claim, bench) for claim in claims] if bench.own_checks else claims
    for claim in sorted(meant, key=lambda item: (item.subgoal, item.facts, sorted(item.bindings.items()))):
        if trouble := _misfit(claim, bench):
            rejected.append(claim.refused(trouble))
        elif claim.is_contradiction:
            contradicted.append(Contradicted(claim.subgoal, claim.facts, claim.grounding_certainty))
        else:
            candidates.append(_grounded(claim, bench))
            ranks.append(None if claim.grounding_certainty is None else log_odds(claim.grounding_certainty))
    if bench.is_unchecked:
        ruling = surest(candidates, [rank or 0.0 for rank in ranks], contradicted, bench)
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
    if claim.is_contradiction and not (bench.is_closed and bench.own_checks):
        return f"{', '.join(claim.facts)} says otherwise"
    unfit = "" if claim.is_contradiction else _unbound(claim, bench) or _wrong_type(claim, bench)
    if unfit or not bench.own_checks:
        return unfit
    nobody = "" if claim.is_contradiction else _nobody(claim, bench)
    return nobody or _foreign_anchor(claim, bench) or outdated(claim, bench)


def _with_persons(claim: Claim, bench: Bench) -> Claim:
    """Return the claim with the person whom the first cited fact means: for "I", and for who gave the thing away."""
    fact = bench.facts.get(claim.facts[0]) if claim.facts else None
    if fact is None or not 0 <= claim.subgoal < len(bench.subgoals):
        return claim
    persons = _persons(claim, bench)
    meant = {
        name: tuple(who_got_it(who_is_meant(value, fact), fact, bench.question) for value in values)
        if name in persons
        else values
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
    blank = Grounded(claim.subgoal, claim.facts, bindings, {}, (), claim.grounding_certainty)
    support = supports(blank, bench)
    worked = _workings(blank, support, bench)
    notes = (*bridges, *superseded_by(claim, bench), *worked)
    return replace(blank, support=support, notes=(*([UNCHECKED] if bench.is_unchecked else notes), *certainty))


def _workings(item: Grounded, support: Mapping[str, Support], bench: Bench) -> list[str]:
    """Return a note for each value that two numbers of its facts give, as the question asks: ``£7 = 55 - 48``."""
    facts = [bench.facts[number] for number in item.facts]
    derived = [value for name, values in item.bindings.items() if support[name] is Support.DERIVED for value in values]
    return [f"{value} = {how}" for value in derived if (how := working_of(value, facts, bench.question))]


_RANK = {Support.STATED: 0, Support.DERIVED: 1, Support.INFERRED: 2, Support.SUGGESTED: 3}
CONFLICT = "conflict: "
"""The beginning of the reason for refusing a claim that another one of the same reply speaks against."""
_YES, _NO = f"{CONFLICT}other facts contradict it", f"{CONFLICT}other facts entail it"


def agree(candidates: Sequence[Grounded], contradicted: Sequence[Contradicted], bench: Bench) -> Ruling:
    """Return the candidates that agree, the others with the reason, and the resulting substitution."""
    standing, refused, undecided = _against_known(candidates, bench)
    torn = {item.subgoal for item in standing} & {item.subgoal for item in contradicted}
    refused += [_refused(item, _YES) for item in standing if item.subgoal in torn]
    refused += [Rejected(item.subgoal, item.facts, _NO) for item in contradicted if item.subgoal in torn]
    standing = [item for item in standing if item.subgoal not in torn]
    standing, out, pairs = _against_each_other(standing, bench)
    refused += out
    undecided += pairs
    if bench.is_strict:
        standing, out = _without_inferred(standing, bench)
        refused += out
    standing, out, substitution = _combined(standing, bench)
    denied = tuple(item for item in contradicted if item.subgoal not in torn)
    return Ruling(tuple(standing), (*refused, *out), denied, substitution, tuple(undecided))


def surest(
    candidates: Sequence[Grounded], ranks: Sequence[float], contradicted: Sequence[Contradicted], bench: Bench
) -> Ruling:
    """Return the ruling over alternatives: take each, best rank first, that agrees with those taken before it.

    A subgoal gets one grounding, or several if it has a starred variable. Alternatives that lose only because their
    subgoal has a surer grounding are not listed as refused. Without checks none has to agree: of different values the
    first known one stays, and a grounding wins over a contradiction.
    """
    taken: list[Grounded] = []
    refused: list[Rejected] = []
    undecided: list[tuple[str, str]] = []
    order = sorted(range(len(candidates)), key=lambda place: (-ranks[place], place))
    for candidate in (candidates[place] for place in order):
        if not bench.starred & candidate.bindings.keys() and candidate.subgoal in {item.subgoal for item in taken}:
            continue
        trial = None if bench.is_unchecked else agree([*taken, candidate], (), bench)
        if trial is None or len(trial.grounded) > len(taken):
            taken.append(candidate)
        else:
            refused += [
                item for item in trial.rejected if (item.subgoal, item.facts) == (candidate.subgoal, candidate.facts)
            ]
            undecided += trial.undecided
    if bench.is_unchecked:
        standing, _, substitution = _combined(taken, bench)
        grounded = {item.subgoal for item in taken}
        denied = tuple(item for item in contradicted if item.subgoal not in grounded)
        return Ruling(tuple(standing), (), denied, substitution)
    ruling = agree(taken, contradicted, bench)
    return replace(ruling, rejected=(*refused, *ruling.rejected), undecided=tuple(undecided))


_Verdicts = tuple[list[Grounded], list[Rejected], list[tuple[str, str]]]


def are_same(left: str, right: str, bench: Bench) -> bool:
    """Say whether two constants count as the same: equal, aliases, or judged equal by the model."""
    return _compare(left, right, bench) not in (Equality.UNDECIDED, Equality.DIFFERENT)


def shares(values: Sequence[str], others: Sequence[str]) -> bool:
    """Say whether one of the values equals one of the others, in any wording ($5 and 5 dollars)."""
    return any(compare(value, other) is Equality.EQUAL for value in values for other in others)


def sides_of(attempts: Sequence[Attempt]) -> tuple[Side, ...]:
    """Return the values that the last attempt could not choose between, for a subgoal that stayed open, or none.

    Each is refused because of another one of them. The same value in other words is one side, with the facts of both.
    """
    steps = attempts[-1].steps if attempts else ()
    settled = {item.subgoal for step in steps for item in step.grounded}
    for step in reversed(steps):
        refused = [item for item in step.rejected if item.why.startswith(CONFLICT) and item.subgoal not in settled]
        for subgoal in dict.fromkeys(item.subgoal for item in refused):
            sides = _sides([item for item in refused if item.subgoal == subgoal])
            if len(sides) > 1:
                return sides
    return ()


def _sides(refused: Sequence[Rejected]) -> tuple[Side, ...]:
    """Return the different values of claims on one subgoal; none that rests on facts of another side alone."""
    cited = [f"by {', '.join(item.facts)}" for item in refused]
    sides: list[Side] = []
    for item in refused:
        if item.why not in (_YES, _NO) and not item.why.endswith(tuple(cited)):
            continue  # a claim on another subgoal refused it
        value = _value_of(item)
        same = next((each for each in sides if compare(each.value, value) in (Equality.EQUAL, Equality.ALIAS)), None)
        if same is not None:
            facts = tuple(dict.fromkeys((*same.facts, *item.facts)))
            sides[sides.index(same)] = replace(same, facts=facts)
        elif not any(set(item.facts) & set(each.facts) for each in sides):
            sides.append(Side(value, item.facts))
    return tuple(sides)


def _value_of(item: Rejected) -> str:
    """Return what a refused claim would have answered: its values, or yes or no if it has none."""
    if not item.bindings:
        return "no" if item.why == _NO else "yes"
    return ", ".join(value for values in item.bindings.values() for value in values)


def supports(item: Grounded, bench: Bench) -> dict[str, Support]:
    """Return how the facts support each binding of a grounding. Of several values the weakest support counts."""
    values = _value_supports([item], bench)
    return {
        name: max((values[name, normalise(value)] for value in entry), key=_RANK.__getitem__)
        for name, entry in item.bindings.items()
    }


def _compare(left: str, right: str, bench: Bench) -> Equality:
    verdict = compare(left, right)
    return Equality.JUDGED if verdict is Equality.UNDECIDED and as_pair(left, right) in bench.same else verdict


def _refused(item: Grounded, why: str) -> Rejected:
    return Rejected(item.subgoal, item.facts, why, item.bindings)


def _noted(item: Grounded, notes: Iterable[str]) -> Grounded:
    return replace(item, notes=tuple(dict.fromkeys((*item.notes, *notes))))


def _against_known(candidates: Sequence[Grounded], bench: Bench) -> _Verdicts:
    """Refuse candidates that differ from the substitution so far."""
    standing: list[Grounded] = []
    refused: list[Rejected] = []
    undecided: list[tuple[str, str]] = []
    for item in candidates:
        why, notes = "", []
        for name, values in item.bindings.items():
            if name in bench.starred or name not in bench.substitution:
                continue
            known = bench.substitution.bindings[name][0]
            verdict = _compare(known, values[0], bench)
            if verdict is Equality.UNDECIDED:
                undecided.append((known, values[0]))
                why = f"it is not settled whether {values[0]} is {known}, which {name} is bound to"
            elif verdict is Equality.DIFFERENT:
                why = f"{name} is bound to {known} already, not {values[0]}"
            elif verdict is not Equality.EQUAL:
                notes.append(f"{known} and {values[0]}: {verdict.value}")
        if why:
            refused.append(_refused(item, why))
        else:
            standing.append(_noted(item, notes))
    return standing, refused, undecided


def _against_each_other(candidates: Sequence[Grounded], bench: Bench) -> _Verdicts:
    """Refuse both of two candidates that conflict. If the question asks how things are now, the later one stands."""
    whys: dict[int, str] = {}
    notes: dict[int, list[str]] = {place: [] for place in range(len(candidates))}
    undecided: list[tuple[str, str]] = []
    for (i, left), (j, right) in combinations(enumerate(candidates), 2):
        for name in sorted((left.bindings.keys() & right.bindings.keys()) - bench.starred):
            mine, theirs = left.bindings[name][0], right.bindings[name][0]
            verdict = _compare(mine, theirs, bench)
            if verdict in (Equality.ALIAS, Equality.JUDGED):
                notes[i].append(f"{mine} and {theirs}: {verdict.value}")
                notes[j].append(f"{mine} and {theirs}: {verdict.value}")
            if verdict not in (Equality.UNDECIDED, Equality.DIFFERENT):
                continue
            if verdict is Equality.UNDECIDED:
                undecided.append((mine, theirs))
            lost = _earlier_said(left, right, bench) if bench.is_current else None
            if lost is None:
                whys.setdefault(i, f"{CONFLICT}{name} would be {mine} here and {theirs} by {', '.join(right.facts)}")
                whys.setdefault(j, f"{CONFLICT}{name} would be {theirs} here and {mine} by {', '.join(left.facts)}")
                continue
            winner, place, other = (right, j, i) if lost is left else (left, i, j)
            whys[other] = f"superseded: {', '.join(winner.facts)} was said later and gives {winner.bindings[name][0]}"
            notes[place].append(f"supersedes {lost.bindings[name][0]} of {', '.join(lost.facts)}")
    standing = [_noted(item, notes[place]) for place, item in enumerate(candidates) if place not in whys]
    refused = [_refused(item, whys[place]) for place, item in enumerate(candidates) if place in whys]
    return standing, refused, undecided


def _earlier_said(left: Grounded, right: Grounded, bench: Bench) -> Grounded | None:
    """Return the grounding whose facts were said earlier, or None if the times do not show it."""
    mine, theirs = last_said(left.facts, bench.facts), last_said(right.facts, bench.facts)
    if mine is None or theirs is None:
        return None
    if is_later(theirs, mine):
        return left
    return right if is_later(mine, theirs) else None


def _value_supports(items: Iterable[Grounded], bench: Bench) -> dict[tuple[str, str], Support]:
    """Return the best support that any of the groundings gives each value, by variable and normal form."""
    best: dict[tuple[str, str], Support] = {}
    for item in items:
        facts = [bench.facts[number] for number in item.facts]
        for name, values in item.bindings.items():
            known = [value for other, entry in item.bindings.items() if other != name for value in entry]
            for value in values:
                support, key = support_of(value, facts, known), (name, normalise(value))
                best[key] = min(best.get(key, support), support, key=_RANK.__getitem__)
    return best


def _without_inferred(candidates: Sequence[Grounded], bench: Bench) -> tuple[list[Grounded], list[Rejected]]:
    """Refuse groundings with values that no other states or derives. Starred variables lose only those values."""
    standing, refused = list(candidates), list[Rejected]()
    while True:
        best = _value_supports((*bench.earlier, *standing), bench)
        weak = {key for key, support in best.items() if support is Support.INFERRED}
        trimmed = [(item, _trimmed(item, weak, bench)) for item in standing]
        if all(item == left for item, left in trimmed):
            return [replace(item, support=supports(item, bench)) for item in standing], refused
        for item, left in trimmed:
            lost = {
                name: tuple(v for v in values if (name, normalise(v)) in weak) for name, values in item.bindings.items()
            }
            lost = {name: values for name, values in lost.items() if values}
            if item != left:
                said = "; ".join(f"{name} = {', '.join(values)}" for name, values in lost.items())
                why = f"strict: {said} is inferred, neither stated nor derived"
                refused.append(Rejected(item.subgoal, item.facts, why, lost))
        standing = [left for _, left in trimmed if left is not None]


def _trimmed(item: Grounded, weak: set[tuple[str, str]], bench: Bench) -> Grounded | None:
    """Return the grounding without the weak values, or None if a variable would have no value left."""
    bindings = {
        name: tuple(value for value in values if (name, normalise(value)) not in weak)
        for name, values in item.bindings.items()
    }
    is_whole = all(bindings[name] == values or name in bench.starred for name, values in item.bindings.items())
    return replace(item, bindings=bindings) if is_whole and all(bindings.values()) else None


def _combined(candidates: Sequence[Grounded], bench: Bench) -> tuple[list[Grounded], list[Rejected], Substitution]:
    """Return the candidates with one value per plain variable, those refused, and the substitution.

    Groundings of a starred variable are refused if its subgoals have no value in common; without checks it has all.
    """
    bindings = _plain_bindings(candidates, bench)
    best = _value_supports((*bench.earlier, *candidates), bench)
    standing = [_settled(item, bindings, best, bench) for item in candidates]
    refused: list[Rejected] = []
    for name in sorted(bench.starred):
        values = _common(name, (*bench.earlier, *standing), bench)
        if not values and bench.is_unchecked:
            told = (value for item in (*bench.earlier, *standing) for value in item.bindings.get(name, ()))
            values = tuple(dict.fromkeys(told))
        elif not values and any(name in item.bindings for item in standing):
            why = f"no value of {name} holds in every subgoal"
            refused += [_refused(item, why) for item in standing if name in item.bindings]
            standing = [item for item in standing if name not in item.bindings]
            values = _common(name, (*bench.earlier, *standing), bench)
        if values:
            bindings[name] = values
    return standing, refused, Substitution(bindings, bench.starred & bindings.keys())


def _plain_bindings(candidates: Sequence[Grounded], bench: Bench) -> dict[str, tuple[str, ...]]:
    """Return one value per plain variable: of aliases the better supported one, then the more specific."""
    bindings = {name: values for name, values in bench.substitution.bindings.items() if name not in bench.starred}
    best = _value_supports((*bench.earlier, *candidates), bench)
    for item in candidates:
        for name, (value, *_) in item.bindings.items():
            if name in bench.starred:
                continue
            known = bindings.get(name, (value,))[0]
            if compare(known, value) in (Equality.EQUAL, Equality.ALIAS):
                ranks = [_RANK[best.get((name, normalise(phrase)), Support.INFERRED)] for phrase in (known, value)]
                value = more_specific(known, value) if ranks[0] == ranks[1] else (known, value)[ranks[1] < ranks[0]]
            else:
                value = known
            bindings[name] = (value,)
    return bindings


def _settled(
    item: Grounded, bindings: dict[str, tuple[str, ...]], best: dict[tuple[str, str], Support], bench: Bench
) -> Grounded:
    """Return the grounding with the agreed values. A value taken over from another grounding has its support."""
    agreed = {name: values if name in bench.starred else bindings[name] for name, values in item.bindings.items()}
    support = {
        name: item.support[name]
        if normalise(values[0]) == normalise(item.bindings[name][0])
        else best.get((name, normalise(values[0])), Support.INFERRED)
        for name, values in agreed.items()
    }
    return replace(item, bindings=agreed, support=support)


def _common(name: str, items: Sequence[Grounded], bench: Bench) -> tuple[str, ...]:
    """Return the values of a starred variable that all grounded subgoals with it share, in order."""
    by_subgoal: dict[int, list[str]] = {}
    for item in sorted(items, key=lambda item: item.subgoal):
        for value in item.bindings.get(name, ()):
            known = by_subgoal.setdefault(item.subgoal, [])
            if not any(compare(value, other) is Equality.EQUAL for other in known):
                known.append(value)
    first, *rest = by_subgoal.values() if by_subgoal else [[]]
    return tuple(
        value for value in first if all(any(are_same(value, other, bench) for other in entry) for entry in rest)
    )
