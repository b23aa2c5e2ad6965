"""Asking a model for a reply of a given form, once more when the first is unusable; and how facts read in a prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from time import perf_counter
from typing import TypeVar

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom, NotationError, parse_atom
from goalmem_cli.logic.questions import asks_for_something, speaks_of_asker
from goalmem_cli.ports import LanguageModel, Request
from goalmem_cli.reasoners.goal_mem.plans import Decomposition, Reply
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Fact

T = TypeVar("T")
VERDICTS = ("yes", "no", "likely yes", "likely no", "unknown")


def ask(model: LanguageModel, build: Callable[[str], list[Request]], parse: Callable[[list[str]], T]) -> Reply[T]:
    """Return the parsed replies to the requests that `build` makes.

    `build` gets what was wrong with the last reply, empty the first time; `parse` raises ReplyUnusable.
    """
    usage, problem = Usage(), ""
    for _ in range(2):
        started = perf_counter()
        completions = model.complete(build(problem))
        usage += Usage(
            calls=1,
            prompt_tokens=sum(completion.prompt_tokens for completion in completions),
            cached_tokens=sum(completion.cached_tokens for completion in completions),
            completion_tokens=sum(completion.completion_tokens for completion in completions),
            seconds=perf_counter() - started,
        )
        if not all(completion.is_complete for completion in completions):
            problem = "it was cut off at its greatest length"
            continue
        try:
            return Reply(parse([completion.text for completion in completions]), usage)
        except ReplyUnusable as error:
            problem = error.message
    return Reply(None, usage, problem)


def asker_in(question: Question) -> str:
    """Return who asks, where the question speaks of them; empty otherwise, since a small model brings up every name."""
    return question.asker or "" if speaks_of_asker(question.text) else ""


def say_time(moment: datetime | None) -> str:
    """Return a time as the prompts write it: 6:20 pm, 21 May 2023."""
    if moment is None:
        return "time unknown"
    hour = moment.hour % 12 or 12
    half = "am" if moment.hour < 12 else "pm"
    return f"{hour}:{moment.minute:02d} {half}, {say_day(moment)}"


def say_day(moment: datetime) -> str:
    """Return the day as the prompts write it: 21 May 2023."""
    return f"{moment.day} {moment:%B} {moment.year}"


def fact_line(fact: Fact) -> str:
    """Return the fact as one line of a prompt; whatever breaks lines in it does not."""
    said = f"said {say_time(fact.said)}" if fact.said is not None else say_time(None)
    about = "; ".join((said, *(" ".join(time.split()) for time in fact.times)))
    return f"{fact.number}. {' '.join(fact.speaker.split())}: {' '.join(fact.text.split())} [{about}]"


def say_bindings(bindings: Mapping[str, Sequence[str]]) -> str:
    """Return bindings as the prompts write them: x = Anjali; y = cello."""
    return "; ".join(f"{name} = {', '.join(values)}" for name, values in bindings.items())


def parse_plan(
    question: Question,
    goal: str,
    subgoals: Sequence[str],
    answer: Sequence[str],
    meanings: Mapping[str, str],
    is_current: bool,
) -> Decomposition:
    """Return the decomposition that a reply's texts write down, checked for what the engine relies on.

    Raises:
        ReplyUnusable: text that is no atom, an answer variable that no subgoal could bind, or none where one is asked.
    """
    if not answer and asks_for_something(question.text):
        raise ReplyUnusable("the question cannot be answered by yes or no: the goal needs an answer variable")
    plan = Decomposition(
        parse_reply_atom(goal),
        tuple({str(atom): atom for atom in map(parse_reply_atom, subgoals)}.values()),
        tuple(dict.fromkeys(answer)),
        meanings,
        is_current,
    )
    found = {variable.name for subgoal in plan.subgoals for variable in subgoal.variables}
    if missing := [name for name in plan.answer_variables if name not in found]:
        raise ReplyUnusable(f"the answer variable {missing[0]} stands in no subgoal")
    return plan


def parse_reply_atom(text: str) -> Atom:
    """Return the atom of a model's reply.

    Raises:
        ReplyUnusable: the text is no atom.
    """
    try:
        return parse_atom(" ".join(text.split()))
    except NotationError as error:
        raise ReplyUnusable(str(error)) from error
