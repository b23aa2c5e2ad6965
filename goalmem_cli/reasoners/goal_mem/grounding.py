"""Verifiable unification's second half: the engine's own word on every grounding that a model proposes.

Nothing here asks a model, and the order of the proposals decides nothing (GOAL-MEM section 4.2, DESIGN sections 4, 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import combinations

from goalmem_cli.logic import Atom, Constant, Substitution
from goalmem_cli.logic.checks import (
    SELF_WORDS,
    Anchor,
    AnchorCheck,
    TypeVerdict,
    check_anchor,
    check_type,
)
from goalmem_cli.logic.equality import Equality, compare, more_specific
from goalmem_cli.logic.normal import content_words, normalise, stem, words
from goalmem_cli.logic.support import Support, support_of
from goalmem_cli.reasoners.goal_mem.plans import Pair, Proposal, as_pair
from goalmem_cli.trace import Contradicted, Fact, Grounded, Rejected

_BEST_SUPPORT = {Support.STATED: 0, Support.DERIVED: 1, Support.INFERRED: 2}


@dataclass(frozen=True, slots=True)
class Bench:
    """What the proposals are judged against.

    `question` is its text; `subgoals` are all of the attempt's, by number; `facts` those that were shown; `earlier`
    the groundings accepted before; `people` the speakers of the conversations in sight; `same` the pairs that a model
    judged equal.
    """

    question: str
    subgoals: Sequence[Atom]
    facts: Mapping[str, Fact]
    substitution: Substitution
    earlier: Mapping[int, Grounded]
    people: frozenset[str]
    same: frozenset[Pair] = frozenset()
    asker: str | None = None
    is_closed: bool = False
    is_current: bool = False
    is_strict: bool = False

    @property
    def starred(self) -> frozenset[str]:
        """The variables that ask for all that hold: starred in any subgoal."""
        return frozenset(v.name for atom in self.subgoals for v in atom.variables if v.is_starred)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What was accepted and what was not; `undecided` are the pairs of constants that only a model could settle."""

    grounded: tuple[Grounded, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    contradicted: tuple[Contradicted, ...] = ()
    substitution: Substitution = field(default_factory=Substitution)
    undecided: tuple[tuple[str, str], ...] = ()


def rule(proposals: Sequence[Proposal], bench: Bench) -> Ruling:
    """Return which of the model's proposals hold, and the substitution that they make with the earlier ones."""
    candidates: list[Grounded] = []
    rejected: list[Rejected] = []
    contradicted: list[Contradicted] = []
    undecided: list[tuple[str, str]] = []
    for proposal in sorted(proposals, key=lambda item: (item.subgoal, item.facts, sorted(item.bindings.items()))):
        if trouble := _misfit(proposal, bench):
            rejected.append(Rejected(proposal.subgoal, proposal.facts, trouble, proposal.bindings))
        elif proposal.is_contradiction:
            contradicted.append(Contradicted(proposal.subgoal, proposal.facts))
        else:
            candidates.append(_supported(proposal, bench))
    candidates, refused = _without_conflicts(candidates, contradicted, bench, undecided)
    contradicted = [item for item in contradicted if item.subgoal not in {entry.subgoal for entry in refused}]
    rejected += refused
    if bench.is_strict:
        candidates, refused = _without_inferred(candidates, bench)
        rejected += refused
    candidates, refused, substitution = _combined(_merged(candidates), bench)
    return Ruling(tuple(candidates), tuple(rejected + refused), tuple(contradicted), substitution, tuple(undecided))


def _misfit(proposal: Proposal, bench: Bench) -> str:
    """Return why the proposal cannot stand whatever else was proposed, or nothing."""
    if not 0 <= proposal.subgoal < len(bench.subgoals):
        return "there is no such subgoal"
    if not proposal.facts:
        return "it cites no fact"
    if missing := [number for number in proposal.facts if number not in bench.facts]:
        return f"{missing[0]} is not among the facts"
    if proposal.is_contradiction:
        return _foreign_anchor(proposal, bench) if bench.is_closed else f"{', '.join(proposal.facts)} says otherwise"
    return _unbound(proposal, bench) or _wrong_type(proposal, bench) or _foreign_anchor(proposal, bench)


def _unbound(proposal: Proposal, bench: Bench) -> str:
    for variable in bench.subgoals[proposal.subgoal].variables:
        values = proposal.bindings.get(variable.name, ())
        if not values and variable.name not in bench.substitution:
            return f"{variable} is not bound"
        if any(not normalise(value) for value in values):
            return f"{variable} is bound to nothing"
        if len(values) > 1 and variable.name not in bench.starred and not _all_same(values, bench):
            return f"{variable} is bound to different values: {', '.join(values)}"
    return ""


def _all_same(values: Sequence[str], bench: Bench) -> bool:
    return all(_compare(left, right, bench)[0] for left, right in combinations(values, 2))


def _wrong_type(proposal: Proposal, bench: Bench) -> str:
    for variable in bench.subgoals[proposal.subgoal].variables:
        for value in proposal.bindings.get(variable.name, ()):
            check = check_type(value, variable.type)
            if check.verdict is TypeVerdict.VIOLATED:
                return check.reason
    return ""


def _anchored(proposal: Proposal, bench: Bench) -> list[tuple[Constant, AnchorCheck]]:
    facts = [bench.facts[number] for number in proposal.facts]
    constants = [_named(constant, bench.asker) for constant in bench.subgoals[proposal.subgoal].constants]
    bound = [value for values in proposal.bindings.values() for value in values]
    known = [value for values in _bindings(proposal, bench).values() for value in values]
    checks = []
    for place, constant in enumerate(constants):
        beside = [other.value for other in constants[:place] + constants[place + 1 :]] + known
        checks.append((constant, check_anchor(constant, facts, bench.people, beside=beside, bound=bound)))
    return checks


def _foreign_anchor(proposal: Proposal, bench: Bench) -> str:
    """Return why a constant does not fit the facts: they are another's, or nobody but the model has named it."""
    sources = (bench.question, bench.asker or "", *bench.people, *(fact.text for fact in bench.facts.values()))
    told = {stem(word) for source in sources for word in words(source)}
    for constant, check in _anchored(proposal, bench):
        if check.verdict is Anchor.ANOTHERS:
            return check.reason
        is_name = constant.value != constant.value.lower()
        if check.verdict is Anchor.BRIDGED and is_name and not told & set(map(stem, content_words(constant.value))):
            return f"{constant.value} stands neither in the question nor in any fact"
    return ""


def _named(constant: Constant, asker: str | None) -> Constant:
    """Return the constant with the asker's name where it says "I" or "my"."""
    if asker is not None and normalise(constant.value) in SELF_WORDS:
        return replace(constant, value=asker)
    return constant


def _bindings(proposal: Proposal, bench: Bench) -> dict[str, tuple[str, ...]]:
    """Return the proposal's bindings for its subgoal's variables, completed by what is bound already."""
    names = [variable.name for variable in bench.subgoals[proposal.subgoal].variables]
    known = bench.substitution.bindings
    return {
        name: proposal.bindings.get(name) or known[name] for name in names if name in proposal.bindings or name in known
    }


def _supported(proposal: Proposal, bench: Bench) -> Grounded:
    facts = [bench.facts[number] for number in proposal.facts]
    bindings = {
        name: values if name in bench.starred else values[:1] for name, values in _bindings(proposal, bench).items()
    }
    support = {}
    for name, values in bindings.items():
        known = [value for other, entry in bindings.items() if other != name for value in entry]
        support[name] = max((support_of(value, facts, known) for value in values), key=_BEST_SUPPORT.__getitem__)
    bridges = [check.reason for _, check in _anchored(proposal, bench) if check.verdict is Anchor.BRIDGED]
    return Grounded(proposal.subgoal, proposal.facts, bindings, support, tuple(f"bridged: {note}" for note in bridges))


def _compare(left: str, right: str, bench: Bench) -> tuple[bool, str, bool]:
    """Return whether two constants count as the same, a note if that is not plain, and whether it is undecided."""
    verdict = compare(left, right)
    if verdict is Equality.UNDECIDED and as_pair(left, right) in bench.same:
        verdict = Equality.JUDGED
    note = "" if verdict is Equality.EQUAL else f"{left} and {right}: {verdict.value}"
    return verdict in (Equality.EQUAL, Equality.ALIAS, Equality.JUDGED), note, verdict is Equality.UNDECIDED


def _without_conflicts(
    candidates: Sequence[Grounded],
    contradicted: Sequence[Contradicted],
    bench: Bench,
    undecided: list[tuple[str, str]],
) -> tuple[list[Grounded], list[Rejected]]:
    """Return the candidates that agree with the substitution and with one another, and the others with the reason."""
    whys: dict[int, str] = {}
    notes: dict[int, list[str]] = {place: [] for place in range(len(candidates))}
    for place, candidate in enumerate(candidates):
        if why := _against_substitution(candidate, bench, notes[place], undecided):
            whys[place] = why
        elif any(item.subgoal == candidate.subgoal for item in contradicted):
            whys[place] = "facts are said both to entail and to contradict it"
    standing = [(place, candidate) for place, candidate in enumerate(candidates) if place not in whys]
    for (i, left), (j, right) in combinations(standing, 2):
        _set_against(i, left, j, right, bench, whys, notes, undecided)
    kept = [
        replace(candidate, notes=(*candidate.notes, *dict.fromkeys(notes[place])))
        for place, candidate in enumerate(candidates)
        if place not in whys
    ]
    refused = [
        Rejected(candidate.subgoal, candidate.facts, whys[place], candidate.bindings)
        for place, candidate in enumerate(candidates)
        if place in whys
    ]
    return kept, refused


def _against_substitution(candidate: Grounded, bench: Bench, notes: list[str], undecided: list[tuple[str, str]]) -> str:
    for name, values in candidate.bindings.items():
        if name in bench.starred or name not in bench.substitution:
            continue
        known = bench.substitution.bindings[name][0]
        is_same, note, is_undecided = _compare(known, values[0], bench)
        if is_undecided:
            undecided.append((known, values[0]))
            return f"it is not settled whether {values[0]} is {known}, which {name} is bound to"
        if not is_same:
            return f"{name} is bound to {known} already, not {values[0]}"
        if note:
            notes.append(note)
    return ""


def _set_against(
    i: int,
    left: Grounded,
    j: int,
    right: Grounded,
    bench: Bench,
    whys: dict[int, str],
    notes: dict[int, list[str]],
    undecided: list[tuple[str, str]],
) -> None:
    """Compare two candidates of one reply: where they conflict neither stands, unless the later said one wins."""
    for name in (left.bindings.keys() & right.bindings.keys()) - bench.starred:
        mine, theirs = left.bindings[name][0], right.bindings[name][0]
        is_same, note, is_undecided = _compare(mine, theirs, bench)
        if is_same:
            if note:
                notes[i].append(note)
                notes[j].append(note)
            continue
        if is_undecided:
            undecided.append((mine, theirs))
        later = _later(left, right, bench) if bench.is_current else None
        if later is None:
            whys.setdefault(i, f"conflict: {name} would be {mine} here and {theirs} by {', '.join(right.facts)}")
            whys.setdefault(j, f"conflict: {name} would be {theirs} here and {mine} by {', '.join(left.facts)}")
            continue
        winner, loser, place, lost = (left, right, i, j) if later is left else (right, left, j, i)
        whys[lost] = f"superseded: {', '.join(winner.facts)} was said later and gives {winner.bindings[name][0]}"
        notes[place].append(f"supersedes {loser.bindings[name][0]} of {', '.join(loser.facts)}")


def _later(left: Grounded, right: Grounded, bench: Bench) -> Grounded | None:
    """Return the grounding whose facts were said later, if that can be told."""
    mine, theirs = _said(left, bench), _said(right, bench)
    if mine is None or theirs is None or mine == theirs:
        return None
    return left if mine > theirs else right


def _said(grounded: Grounded, bench: Bench) -> datetime | None:
    times = [fact.said.replace(tzinfo=None) for n in grounded.facts if (fact := bench.facts[n]).said is not None]
    return max(times) if times else None


def _without_inferred(candidates: Sequence[Grounded], bench: Bench) -> tuple[list[Grounded], list[Rejected]]:
    """Return the candidates whose every binding is stated or derived somewhere, and the others."""
    kept, refused = list(candidates), list[Rejected]()
    while True:
        best: dict[str, Support] = {}
        for grounded in (*bench.earlier.values(), *kept):
            for name, support in grounded.support.items():
                best[name] = min(best.get(name, support), support, key=_BEST_SUPPORT.__getitem__)
        weak = {name for name, support in best.items() if support is Support.INFERRED}
        out = [grounded for grounded in kept if weak & grounded.bindings.keys()]
        if not out:
            return kept, refused
        for grounded in out:
            name = min(weak & grounded.bindings.keys())
            why = f"strict: {name} = {', '.join(grounded.bindings[name])} is inferred, neither stated nor derived"
            refused.append(Rejected(grounded.subgoal, grounded.facts, why, grounded.bindings))
        kept = [grounded for grounded in kept if grounded not in out]


def _merged(candidates: Sequence[Grounded]) -> list[Grounded]:
    """Return one grounding a subgoal: the facts of all that agree, of aliases the more specific, of sets the union."""
    found: dict[int, Grounded] = {}
    for candidate in candidates:
        known = found.get(candidate.subgoal)
        found[candidate.subgoal] = candidate if known is None else join(known, candidate)
    return list(found.values())


def join(left: Grounded, right: Grounded) -> Grounded:
    """Return two agreeing groundings of one subgoal as one."""
    bindings, support = dict(left.bindings), dict(left.support)
    for name, values in right.bindings.items():
        known = bindings.get(name, ())
        fresh = [value for value in values if not any(compare(value, old) is Equality.EQUAL for old in known)]
        bindings[name] = (*known, *fresh)
        support[name] = min(support.get(name, right.support[name]), right.support[name], key=_BEST_SUPPORT.__getitem__)
    facts = tuple(dict.fromkeys((*left.facts, *right.facts)))
    return Grounded(left.subgoal, facts, bindings, support, tuple(dict.fromkeys((*left.notes, *right.notes))))


def _combined(candidates: Sequence[Grounded], bench: Bench) -> tuple[list[Grounded], list[Rejected], Substitution]:
    """Return the candidates with one value a plain variable, the refused without a common value, and the whole."""
    bindings = {name: values for name, values in bench.substitution.bindings.items() if name not in bench.starred}
    for candidate in candidates:
        for name, values in candidate.bindings.items():
            if name not in bench.starred:
                chosen = bindings.get(name, values[:1])[0]
                for value in values:
                    is_plain = compare(chosen, value) in (Equality.EQUAL, Equality.ALIAS)
                    chosen = more_specific(chosen, value) if is_plain else chosen
                bindings[name] = (chosen,)
    single = [
        replace(item, bindings={n: v if n in bench.starred else bindings[n] for n, v in item.bindings.items()})
        for item in candidates
    ]
    whole = {**bench.earlier}
    for item in single:
        whole[item.subgoal] = join(whole[item.subgoal], item) if item.subgoal in whole else item
    kept, refused = list(single), list[Rejected]()
    for name in sorted(bench.starred):
        values, is_empty = _common(name, list(whole.values()), bench)
        if is_empty:
            refused += [
                Rejected(item.subgoal, item.facts, f"no value of {name} holds in every subgoal", item.bindings)
                for item in kept
                if name in item.bindings
            ]
            kept = [item for item in kept if name not in item.bindings]
            values, _ = _common(name, [*bench.earlier.values(), *kept], bench)
        if values:
            bindings[name] = values
    return kept, refused, Substitution(bindings, bench.starred & bindings.keys())


def _common(name: str, groundings: Sequence[Grounded], bench: Bench) -> tuple[tuple[str, ...], bool]:
    """Return the values that every subgoal of a starred variable holds for, and whether there are none though bound."""
    lists = [
        grounded.bindings[name] for grounded in sorted(groundings, key=lambda g: g.subgoal) if name in grounded.bindings
    ]
    if not lists:
        return (), False
    common = [
        value
        for value in lists[0]
        if all(any(_compare(value, other, bench)[0] for other in rest) for rest in lists[1:])
    ]
    return tuple(common), not common
