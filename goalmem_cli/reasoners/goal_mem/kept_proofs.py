"""What a kept goal takes from a trace: the plan, the queries that its proof depends on, and what still stands of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.logic import Atom, Constant, NotationError, Substitution, Variable, parse_atom
from goalmem_cli.logic.normal import content_stems
from goalmem_cli.reasoners.goal_mem.loop import phrase_of
from goalmem_cli.reasoners.goal_mem.records import Begun, Claim
from goalmem_cli.records import Hit
from goalmem_cli.trace import Attempt, Ending, Grounded, Status, Trace, Verdict

WHOLE = -1
"""Stands for the question itself where subgoals are numbered."""
_MOST_QUERIES = 8


@dataclass(frozen=True, slots=True)
class Depends:
    """A query of a proof, the number of its subgoal (`WHOLE`: the question), and the units cited (open: none)."""

    subgoal: int
    query: str
    cited: tuple[str, ...] = ()


def decisive(trace: Trace) -> Attempt | None:
    """Return the attempt that the trace's answer came from, or of a failed search the last one with a plan."""
    planned = [each for each in trace.attempts if each.goal and each.subgoals]
    if trace.status is Status.ANSWERED:
        proved = [each for each in planned if each.ending is Ending.GROUNDED]
        return proved[-1] if proved else None
    return max(planned, key=lambda each: bool(each.breadth), default=None)


def depends_on(trace: Trace) -> tuple[Depends, ...]:
    """Return the queries that the outcome depends on.

    A subgoal has two queries, with its own values and without: "Ana lives in", as another value may be told later, and
    "Ana lives in Leeds", as a turn may say that Leeds is over. A closed question's are with and without its last
    constant.
    Of open subgoals, the queries that the model asked for come too, and those with the values that are in conflict. An
    outcome without a plan depends on the question.
    """
    attempt, found = decisive(trace), list[Depends]()
    if attempt is None or not attempt.breadth or not _atoms(attempt):
        units = tuple(trace.facts[each].unit for each in trace.evidence if each in trace.facts)
        return (Depends(WHOLE, trace.question, units if trace.status is Status.ANSWERED else ()),)
    cited = _cited(trace, attempt)
    for number, queries in enumerate(_queries(trace, attempt)):
        found += [Depends(number, query, tuple(dict.fromkeys(cited.get(number, ())))) for query in queries]
        if number not in cited:
            asked = (*_in_conflict(trace, attempt, number), *_asked_for(attempt, number))
            found += [Depends(number, each) for each in asked]
    return tuple({(each.subgoal, each.query): each for each in found}.values())[:_MOST_QUERIES]


def begun_of(trace: Trace, touched: Collection[int], hits: Mapping[str, Hit], new: Sequence[Hit]) -> Begun | None:
    """Return the proof to begin with: the plan, and the claims on subgoals that are not touched and are still stored.

    A subgoal after a touched one is touched too if it shares a variable with that, as its values came from there.
    `hits` are the units of the trace that are still stored, by id; `new` are hits that were not known. Returns None if
    the question was not planned, or an older version planned it.
    """
    attempt = decisive(trace)
    if attempt is None or not attempt.breadth or (not attempt.answers and trace.substitution):
        return None
    subgoals, claims = _starred(attempt), list[Claim]()
    touched = _with_later(touched, subgoals)
    for item in _standing(trace, attempt):
        units = tuple(trace.facts[each].unit for each in item.facts if each in trace.facts)
        if item.subgoal not in touched and units and all(unit in hits for unit in units):
            claims.append(Claim(item.subgoal, units, item.bindings, grounding_certainty=item.grounding_certainty))
    shown = dict.fromkeys(unit for units in _cited(trace, attempt).values() for unit in units)
    first = {unit: hits[unit] for unit in shown if unit in hits} | {hit.unit.id: hit for hit in new}
    return Begun(
        attempt.goal,
        tuple(map(str, subgoals)) or attempt.subgoals,
        attempt.answers,
        attempt.is_current,
        tuple(claims),
        tuple(first.values()),
    )


def settled_by(trace: Trace, new: Sequence[Hit], hits: Mapping[str, Hit]) -> Begun | None:
    """Return the proof of one of several values in conflict: the plan, and what the new hits alone say of that value.

    None if they say nothing of it, or give more than one of the values. `hits` are as in `begun_of`.
    """
    attempt, begun = decisive(trace), begun_of(trace, (), hits, new)
    units = {hit.unit.id for hit in new}
    sides = [side for side in trace.conflict if any(trace.facts[each].unit in units for each in side.facts)]
    if attempt is None or begun is None or len(sides) != 1:
        return None
    claims = []
    for item in (item for step in attempt.steps for item in step.rejected if set(item.facts) <= set(sides[0].facts)):
        is_denied = not item.bindings and sides[0].value == "no"
        told = tuple(unit for unit in (trace.facts[each].unit for each in item.facts) if unit in units)
        verdict = Verdict.CONTRADICTED if is_denied else Verdict.ENTAILED
        claims += [Claim(item.subgoal, told, item.bindings, verdict)] if told else []
    return replace(begun, claims=(*begun.claims, *claims)) if claims else None


def _standing(trace: Trace, attempt: Attempt) -> Iterator[Grounded]:
    """Yield the groundings of the plan's subgoals that agree with the substitution: of lists, those of all values."""
    found = {
        (item.subgoal, item.facts, tuple(sorted(item.bindings.items()))): item
        for step in attempt.steps
        for item in step.grounded
        if item.subgoal < len(attempt.subgoals) and _agrees(item, trace)
    }
    yield from sorted(found.values(), key=lambda item: item.subgoal)


def _starred(attempt: Attempt) -> tuple[Atom, ...]:
    """Return the plan's subgoals, with stars on the variables that turned out to have several values."""
    several = {name for step in attempt.steps for name in step.several}
    return tuple(atom.starring(several) for atom in _atoms(attempt))


def _with_later(touched: Collection[int], subgoals: Sequence[Atom]) -> set[int]:
    """Return the touched subgoals and those after them that use a variable whose values came from them."""
    found, names, held = set(touched), set[str](), set[str]()
    for number, atom in enumerate(subgoals):
        own = {variable.name for variable in atom.variables}
        if number in found or own & names:
            found.add(number)
            names |= own - held
        else:
            held |= own
    return found


def _atoms(attempt: Attempt) -> list[Atom]:
    """Return the plan's subgoals; none if this version cannot read one."""
    try:
        return [parse_atom(text) for text in attempt.subgoals]
    except NotationError:
        return []


def _agrees(item: Grounded, trace: Trace) -> bool:
    bound = trace.substitution
    return all(set(values) <= set(bound.get(name, values)) for name, values in item.bindings.items())


def _cited(trace: Trace, attempt: Attempt) -> dict[int, tuple[str, ...]]:
    """Return the units that ground, or in a yes-or-no question contradict, each settled subgoal."""
    told = [(item.subgoal, item.facts) for item in _standing(trace, attempt)]
    told += [(item.subgoal, item.facts) for step in attempt.steps for item in step.contradicted]
    cited: dict[int, tuple[str, ...]] = {}
    for number, facts in told:
        units = tuple(trace.facts[each].unit for each in facts if each in trace.facts)
        cited[number] = (*cited.get(number, ()), *units)
    return cited


def _queries(trace: Trace, attempt: Attempt) -> Iterator[tuple[str, ...]]:
    """Yield each subgoal's queries, with the values that earlier subgoals bound."""
    bound = dict(trace.substitution)
    for item in _standing(trace, attempt):
        bound |= {name: values for name, values in item.bindings.items() if name not in bound}
    asked, known = content_stems(trace.question), dict[str, tuple[str, ...]]()
    speakers = [content_stems(fact.speaker) for fact in trace.facts.values()]
    for atom in _atoms(attempt):
        put_in = Substitution(known).apply(atom)
        own = {each.name: bound[each.name] for each in atom.variables if len(bound.get(each.name, ())) == 1}
        queries = [_said(put_in, asked), _said(Substitution(known | own).apply(atom), asked)]
        last = len(put_in.constants) - 1
        if not attempt.answers and last > 0 and content_stems(put_in.constants[last].value) not in speakers:
            queries.append(_said(put_in, asked, without=put_in.constants[last]))
        yield tuple(query for query in queries if content_stems(query))
        known |= own


def _said(atom: Atom, asked: frozenset[str], without: Constant | None = None) -> str:
    """Return a statement as a query. A variable becomes its type if the question names that; others are left out.

    Turns seldom say a type ("company"), and as a rare word it would count most.
    """
    parts = tuple(
        part if not isinstance(part, Variable) else Constant(part.type) if content_stems(part.type) & asked else ""
        for part in atom.parts
        if part is not without
    )
    return phrase_of(Atom(tuple(part for part in parts if part != "")), {})


def _in_conflict(trace: Trace, attempt: Attempt, number: int) -> Iterator[str]:
    """Yield a subgoal's queries with each of the values in conflict."""
    for item in (item for step in attempt.steps for item in step.rejected if trace.conflict):
        if item.subgoal == number and item.bindings:
            yield _said(Substitution(dict(item.bindings)).apply(_atoms(attempt)[number]), content_stems(trace.question))


def _asked_for(attempt: Attempt, number: int) -> Iterator[str]:
    """Yield the queries that the model asked for to settle an open subgoal."""
    for step in attempt.steps:
        yield from (query for each in step.opened if each.subgoal == number for query in each.queries)
        yield from (each.query for each in step.refined if each.of == number)
