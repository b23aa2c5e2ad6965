"""Compare the reasoning of `goal-mem` with a question's gold plan.

The final plan is judged: the decomposition of the last attempt that has one. A plan that was grounded is always the
last, and the substitution of the trace belongs to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from goalmem_cli.lab.evaluation.cases import Case, GoldPlan, GoldStep
from goalmem_cli.lab.evaluation.metrics.locomo_f1 import f1_score
from goalmem_cli.lab.evaluation.metrics.overlap import assignment
from goalmem_cli.lab.evaluation.queries import plain_words
from goalmem_cli.logic.dates import parse_date
from goalmem_cli.logic.equality import Equality, compare
from goalmem_cli.logic.support import Support
from goalmem_cli.trace import Attempt, Trace

Place = tuple[str, str]
"""A turn, as its conversation and label."""


@dataclass(frozen=True, slots=True)
class PlanQuality:
    """The scores of one question: shares from 0 to 1, then counts. None if there is nothing to measure.

    - `plan_parsed`: the share of attempts whose decomposition could be read.
    - `subgoal_match`: the mean token F1 (LoCoMo's) of the gold subgoals with the final plan's, in the best one-to-one
      pairing. A variable reads as its type, whatever its letter.
    - `grounding_precision`: the share of turns cited by accepted groundings and contradictions that ground a gold
      subgoal or refinement. None if no turn is cited.
    - `grounding_recall`: the share of turns grounding gold subgoals that are cited; None if there are none. Refinements
      do not count, because a plan that needs none is no worse.
    - `bindings_right`: the mean, over the answer variables with gold values, of the share of these values that the
      substitution has under any variable, equal or as an alias. None if there are none.
    - `stated`, `derived`, `inferred`: the number of accepted bindings with each support.
    """

    plan_parsed: float
    subgoal_match: float | None
    grounding_precision: float | None
    grounding_recall: float | None
    bindings_right: float | None
    stated: int
    derived: int
    inferred: int


def plan_quality(case: Case, trace: Trace) -> PlanQuality | None:
    """Return the scores of a question; None if it has no gold plan or the trace no attempts."""
    if case.plan is None or not trace.attempts:
        return None
    final = final_plan(trace)
    supports = Counter(
        support for step in final.steps for grounded in step.grounded for support in grounded.support.values()
    )
    cited = _cited(final, trace)
    needed = _places(case, case.plan.subgoals)
    right = cited & (needed | _places(case, case.plan.refinements))
    return PlanQuality(
        plan_parsed=sum(bool(attempt.goal) for attempt in trace.attempts) / len(trace.attempts),
        subgoal_match=_subgoal_match(case.plan, final),
        grounding_precision=len(right) / len(cited) if cited else None,
        grounding_recall=len(cited & needed) / len(needed) if needed else None,
        bindings_right=_bindings_right(case.plan, trace),
        stated=supports[Support.STATED],
        derived=supports[Support.DERIVED],
        inferred=supports[Support.INFERRED],
    )


def cited_without_reading(plan: GoldPlan, units: Sequence[Sequence[str]], subgoals: int) -> dict[str, float]:
    """Return the grounding precision and recall of citing the best units, one per subgoal, without reading them.

    This is the baseline that a model's groundings must beat. `units` are the labels of the retrieved units, the best
    for each subgoal first. Scores without anything to measure are left out.
    """
    cited = {label for labels in units[:subgoals] for label in labels}
    needed = {label for step in plan.subgoals for label in step.facts}
    right = cited & (needed | {label for step in plan.refinements for label in step.facts})
    found = {"grounding_precision": len(right) / len(cited)} if cited else {}
    return found | ({"grounding_recall": len(cited & needed) / len(needed)} if needed else {})


def final_plan(trace: Trace) -> Attempt:
    """Return the last attempt with a goal, else the last; the trace must have attempts."""
    return next((attempt for attempt in reversed(trace.attempts) if attempt.goal), trace.attempts[-1])


def _cited(attempt: Attempt, trace: Trace) -> set[Place]:
    grounded = {number for step in attempt.steps for item in step.grounded for number in item.facts}
    contradicting = {number for step in attempt.steps for item in step.contradicted for number in item.facts}
    facts = [trace.facts[number] for number in grounded | contradicting]
    return {(fact.conversation, label) for fact in facts for label in fact.turns}


def _places(case: Case, steps: Iterable[GoldStep]) -> set[Place]:
    return {(case.conversation, label) for step in steps for label in step.facts}


def _subgoal_match(plan: GoldPlan, attempt: Attempt) -> float | None:
    """Return `PlanQuality.subgoal_match` of an attempt; None without gold subgoals."""
    gold = list(dict.fromkeys(plain_words(step.text) for step in plan.subgoals))
    found = [plain_words(text) for text in attempt.plan]
    if not gold:
        return None
    pairs = assignment([[f1_score(one, text) for one in found] for text in gold])
    return sum(value for _, _, value in pairs) / len(gold)


def _bindings_right(plan: GoldPlan, trace: Trace) -> float | None:
    """Return `PlanQuality.bindings_right`; None if the gold plan binds no answer variable."""
    steps = (*plan.subgoals, *plan.refinements)
    gold = [
        value
        for name in plan.answer_variables
        if (value := next((step.bindings[name] for step in steps if name in step.bindings), None))
    ]
    found = [value for values in trace.substitution.values() for value in values]
    return sum(_share(value, found) for value in gold) / len(gold) if gold else None


def _share(gold: str, found: Sequence[str]) -> float:
    """Return how much of a gold value is found: 1 if equal, else the share of a list's items."""
    if any(compare(gold, value) is Equality.EQUAL for value in found):
        return 1.0
    wanted = _listed(gold)
    items = [item for value in found for item in _listed(value)]
    matched = [any(compare(one, item) in (Equality.EQUAL, Equality.ALIAS) for item in items) for one in wanted]
    return sum(matched) / len(matched)


def _listed(value: str) -> list[str]:
    """Return the items of a list written as one value; commas in a date do not separate."""
    return [value] if parse_date(value) is not None else value.split(", ")
