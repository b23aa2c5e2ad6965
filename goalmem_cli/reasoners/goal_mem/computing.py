"""Computed answers of a plan: reads and checks their expressions, and evaluates them over the plan's groundings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import product

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom
from goalmem_cli.logic.checks import type_head
from goalmem_cli.logic.computing.amounts import in_one_style, read_amount, without_noun
from goalmem_cli.logic.computing.evaluation import Computed, evaluate
from goalmem_cli.logic.computing.expressions import (
    Call,
    Expression,
    ExpressionError,
    Literal,
    parse_expression,
    variables_of,
)
from goalmem_cli.logic.computing.kinds import check_expression, gathered
from goalmem_cli.logic.computing.question_words import asked_unit, asks_how_long_so_far
from goalmem_cli.logic.computing.records import Calculation, Part
from goalmem_cli.logic.computing.rows import Given, joined, same_words
from goalmem_cli.logic.computing.saying import say_amount
from goalmem_cli.logic.normal import Pair, as_pair, content_stems
from goalmem_cli.reasoners.goal_mem.records import Plan
from goalmem_cli.reasoners.goal_mem.replacing import last_said
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact, Grounded, Status, Trace


def read_answers(texts: Sequence[str], question: Question, subgoals: Sequence[Atom]) -> tuple[Expression, ...]:
    """Return the answer's expressions: variables, or computations over them.

    Raises:
        ReplyUnusable: a text is no expression, does not fit the subgoals, or uses words that are not in the question.
    """
    variables = {variable.name: variable for atom in subgoals for variable in atom.variables}
    variables |= {variable.name: variable for atom in subgoals for variable in atom.variables if variable.is_starred}
    found = []
    for text in dict.fromkeys(texts):
        try:
            expression = parse_expression(text)
            if missing := [name for name in variables_of(expression) if name not in variables]:
                raise ReplyUnusable(f"the answer variable {missing[0]} stands in no subgoal")
            check_expression(expression, variables.values())
        except ExpressionError as error:
            raise ReplyUnusable(f"the answer {text} cannot be computed: {error}") from error
        if strange := _own_words(expression, question):
            raise ReplyUnusable(f"the answer names {strange!r}, which does not stand in the question")
        found.append(expression)
    return tuple(found)


def _own_words(expression: Expression, question: Question) -> str:
    """Return a label or constant with a word that is neither in the question nor the asker's name, or nothing."""
    asked = content_stems(f"{question.text} {question.asker or ''}")
    return next((named for named in _named(expression) if not content_stems(named) <= asked), "")


def _named(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Literal):
        yield expression.value
    elif isinstance(expression, Call):
        yield from expression.labels
        for argument in expression.arguments:
            yield from _named(argument)


def starred_for(subgoals: Sequence[Atom], answers: Iterable[Expression]) -> tuple[Atom, ...]:
    """Return the subgoals with stars on the variables that an answer gathers, and on those that only occur beside them.

    So each payment may have its own date without a conflict between the payments.
    """
    taken = frozenset[str]().union(*map(gathered, answers))
    within = [atom for atom in subgoals if taken & {variable.name for variable in atom.variables}]
    others = {v.name for atom in subgoals if atom not in within for v in atom.variables}
    starred = taken | {v.name for atom in within for v in atom.variables} - others
    return tuple(atom.starring(starred) for atom in subgoals)


def calculations(
    plan: Plan,
    groundings: Iterable[Grounded],
    facts: Mapping[str, Fact],
    question: Question,
    judged: frozenset[Pair] = frozenset(),
) -> tuple[Calculation, ...]:
    """Return the result of each of the plan's answers over the joined groundings.

    `judged` holds the pairs of constants that a model judged to be the same.
    """

    def same(left: str, right: str) -> bool | None:
        verdict = same_words(left, right)
        return True if verdict is None and as_pair(left, right) in judged else verdict

    numbers = {v.name for atom in plan.subgoals for v in atom.variables if type_head(v.type) in ("number", "count")}
    told = _in_one_style([(item.subgoal, values) for item in groundings for values in _rows(item, facts)], facts)
    rows = joined(((subgoal, _plain(values, numbers)) for subgoal, values in told), same)
    given = partial(
        evaluate, rows=rows, now=question.asked, same=same, asked=asked_unit(question.text), facts=facts,
        is_so_far=asks_how_long_so_far(question.text),
    )  # fmt: skip
    return tuple(_calculation(answer, given(answer)) for answer in plan.answers)


def concluded(found: Sequence[Calculation], trace: Trace) -> Trace:
    """Return the trace with the computed answer, or unknown with a note if it cannot be computed."""
    trace = replace(trace, calculations=tuple(found))
    if why := next((calculation.why for calculation in found if calculation.why), ""):
        return replace(trace, notes=(*trace.notes, f"the answer cannot be computed: {why}"))
    values = [value for calculation in found for value in calculation.values]
    return replace(trace, status=Status.ANSWERED, answer=", ".join(values))


def _calculation(answer: Expression, found: Computed) -> Calculation:
    parts = tuple(Part(element.value, element.facts) for element in found.elements)
    return Calculation(str(answer), found.values, found.how, found.facts, parts, found.why)


def _rows(item: Grounded, facts: Mapping[str, Fact]) -> Iterator[dict[str, Given]]:
    """Yield a grounding's rows, one value per variable. Lists of one length are zipped, others are multiplied out."""
    said = last_said(item.facts, facts)  # a relative date among its values is read from there
    lengths = {len(values) for values in item.bindings.values()} - {1}
    if len(lengths) == 1:
        size = next(iter(lengths))
        lists = [values * (size if len(values) == 1 else 1) for values in item.bindings.values()]
        rows: Iterable[tuple[str, ...]] = zip(*lists, strict=True)
    else:
        rows = product(*item.bindings.values())
    for row in rows:
        yield {name: Given(value, item.facts, said) for name, value in zip(item.bindings, row, strict=True)}


def _in_one_style(
    told: Sequence[tuple[int, dict[str, Given]]], facts: Mapping[str, Fact]
) -> list[tuple[int, dict[str, Given]]]:
    """Return the rows with ambiguous numbers (1.150) read in the style of the other values.

    If the other values do not show a style, the facts of the same conversations decide.
    """
    given = [one for _, values in told for one in values.values()]
    places = {facts[number].conversation for one in given for number in one.facts if number in facts}
    others = [fact.text for fact in facts.values() if fact.conversation in places]
    written = iter(in_one_style([one.value for one in given], others))
    return [(n, {name: replace(one, value=next(written)) for name, one in values.items()}) for n, values in told]


def _plain(values: Mapping[str, Given], numbers: Set[str]) -> dict[str, Given]:
    """Return the values with plain numbers for the variables of type number or count: 3 for "three lamps"."""
    found = dict(values)
    for name in numbers & found.keys():
        if (amount := read_amount(found[name].value)) is not None:
            found[name] = replace(found[name], value=say_amount(without_noun(amount)))
    return found
