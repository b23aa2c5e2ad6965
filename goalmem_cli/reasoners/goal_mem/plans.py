"""Plans: read from replies, written for prompts, and their computed answers evaluated over the groundings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom, NotationError, parse_atom
from goalmem_cli.logic.checks import type_head
from goalmem_cli.logic.computing.amounts import in_one_style, read_amount, without_noun
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
from goalmem_cli.logic.questions import asks_for_something
from goalmem_cli.model_replies import Reply, ask_whole, read_json
from goalmem_cli.ports import LanguageModel, Request
from goalmem_cli.prompts import Prompt
from goalmem_cli.reasoners.goal_mem.records import Begun, Plan, Proof
from goalmem_cli.reasoners.goal_mem.replacing import last_said
from goalmem_cli.reasoners.prompt_texts import asked_in, asker_in, say_day
from goalmem_cli.reasoners.showing import block_of
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact, Grounded, Status, Trace

if TYPE_CHECKING:
    from goalmem_cli.logic.computing.evaluation import Computed
    from goalmem_cli.reasoners.goal_mem.state import ProofState


T = TypeVar("T")


def say_question(question: Question, facts: Iterable[Fact] = ()) -> dict[str, object]:
    """Return a question's inputs to a prompt that shows these facts: its text, who asks, and the day."""
    return {"question": asked_in(question.text, facts), "asker": asker_in(question), "asked": say_day(question.asked)}


def say_proof(proof: Proof) -> dict[str, object]:
    """Return a proof's inputs to the prompts: its question, the facts that it cites, and the goal with its values."""
    return say_question(proof.question, proof.facts) | {
        "facts": list(block_of(proof.facts).lines),
        "goal": str(proof.goal),
    }


def ask_json(
    model: LanguageModel,
    prompt: Prompt,
    inputs: Mapping[str, object],
    read: Callable[[Any], T],
    choices: Mapping[str, Sequence[str]] | None = None,
) -> Reply[T]:
    """Ask for one JSON reply. It is checked against its schema, since a server may ignore that, and then `read`."""

    def build(trouble: str) -> list[Request]:
        return [prompt.request({**inputs, "problem": trouble or inputs.get("problem", "")}, choices)]

    return ask_whole(model, build, lambda requests, replies: read(read_json(replies[0].text, requests[0])))


def say_bindings(bindings: Mapping[str, Sequence[str]]) -> str:
    """Return bindings as the prompts write them: x = Anjali; y = cello."""
    return "; ".join(f"{name} = {', '.join(values)}" for name, values in bindings.items())


def say_settled(state: ProofState, number: int) -> str:
    """Return what settles a subgoal: its values (all values of a list) and its facts. Empty if the subgoal is open.

    List values that another subgoal lacks, and that are therefore no part of the answer, are marked.
    """
    if against := [item for item in state.contradicted if item.subgoal == number]:
        return f"contradicted by {', '.join(against[0].facts)}"
    items = state.settling(number)
    if not items:
        return ""
    own = {name: state.values_of(name, number) for item in items for name in item.bindings}
    agreed = {name: found for name, found in state.substitution.bindings.items() if name not in state.starred}
    values = {name: agreed.get(name, found) for name, found in own.items()}
    cited = ", ".join(dict.fromkeys(fact for item in items for fact in item.facts))
    lost = (entry for said in state.lost_in(number).values() for entry in said.items())
    not_in = "".join(f"; {value} not in {_labels(lacking)}" for value, lacking in lost)
    return f"{say_bindings(values)} ({cited}){not_in}".strip()


def say_lost(state: ProofState) -> list[str]:
    """Return the list values that are no part of the answer, with the reason: `x = tea fell out: ...`."""
    lost = [entry for number in range(len(state.plan.subgoals)) for entry in state.lost_in(number).items()]
    return [
        f"{name} = {value} fell out: nothing says it of {_labels(lacking)}"
        for name, said in lost
        for value, lacking in said.items()
    ]


def _labels(numbers: Iterable[int]) -> str:
    return ", ".join(f"S{number + 1}" for number in numbers)


def parse_plan(
    question: Question,
    goal: str,
    subgoals: Sequence[str],
    answer: Sequence[str],
    meanings: Mapping[str, str],
    is_current: bool,
    *,
    is_checked: bool = True,
) -> Plan:
    """Return the plan in a reply's texts, checked for what the engine relies on.

    `answer` lists variables, or expressions that are computed from them. `is_checked`: it may be missing only if the
    question can be answered by yes or no.

    Raises:
        ReplyUnusable: a text is no atom, an answer cannot be bound or computed, or an answer is missing.
    """
    if is_checked and not answer and asks_for_something(question.text):
        raise ReplyUnusable("the question cannot be answered by yes or no: the goal needs an answer variable")
    atoms = tuple({str(atom): atom for atom in map(parse_reply_atom, subgoals)}.values())
    answers = read_answers(answer, question, atoms)
    return Plan(
        parse_reply_atom(goal),
        starred_for(atoms, answers),
        tuple(dict.fromkeys(name for expression in answers for name in variables_of(expression))),
        meanings,
        is_current,
        answers=answers,
    )


def taken_up(begun: Begun, question: Question) -> Plan | None:
    """Return the plan of an earlier proof, or None if this version cannot read it."""
    try:
        plan = parse_plan(question, begun.goal, begun.subgoals, begun.answers, {}, begun.is_current)
    except ReplyUnusable:
        return None
    return plan if len(plan.subgoals) == len(begun.subgoals) else None


def answered_anew(plan: Plan, answer: Sequence[str], question: Question) -> Plan:
    """Return the plan with a computed answer if the reply gives one that uses all the plan's answer variables.

    Otherwise the plan stays as it is.

    Raises:
        ReplyUnusable: the answer cannot be computed from the subgoals.
    """
    answers = read_answers(answer, question, plan.subgoals)
    names = tuple(dict.fromkeys(name for expression in answers for name in variables_of(expression)))
    is_computed = any(isinstance(expression, Call) for expression in answers)
    if plan.is_closed or not is_computed or not set(plan.answer_variables) <= set(names):
        return plan
    return replace(plan, subgoals=starred_for(plan.subgoals, answers), answer_variables=names, answers=answers)


def parse_reply_atom(text: str) -> Atom:
    """Return the atom of a model's reply.

    Raises:
        ReplyUnusable: the text is no atom.
    """
    try:
        return parse_atom(" ".join(text.split()))
    except NotationError as error:
        raise ReplyUnusable(str(error)) from error


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
    from goalmem_cli.logic.computing.evaluation import evaluate  # only here, as most plans compute nothing

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
