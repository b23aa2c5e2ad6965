"""`remem`: an agent that explores the episodic graph tool by tool, until it gives its answer (REMem section 3.2).

`remem-single` is the same memory without the agent: one semantic retrieval, then the answer. `remem-tiser` is the agent
whose answer is read from what it observed by way of a timeline (REMem, Tables 12 and 13).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from goalmem_cli.backbones.remem.event_times import period_of, written
from goalmem_cli.backbones.remem.tools import Aggregation, Found, Tool, ToolCall
from goalmem_cli.backbones.scope import scope_of
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic.dates import periods_in
from goalmem_cli.logic.days import Period
from goalmem_cli.model_replies import Fields
from goalmem_cli.reasoners.facts import round_robin
from goalmem_cli.reasoners.inquiry import READ, Inquiry, Reading, Tools, one_of, reading_of
from goalmem_cli.reasoners.tiser import TISER
from goalmem_cli.records import Query, Question
from goalmem_cli.store.queries.episodes import ANY_TIME, GIST, Bound, Operator, Ordering, Times
from goalmem_cli.trace import Stop, Trace

FINISH = "output_answer"
_MOST = 1000
_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Move:
    """One thought, and a call or the reading that ends the question."""

    thought: str
    call: ToolCall | None = None
    finish: Reading | None = None


def move_of(
    fields: Fields, tools: Sequence[str], gists: Mapping[str, str], numbers: Sequence[str], asked: datetime
) -> Move:
    """Return the move that a reply makes; `gists` maps numbers to units, `numbers` are the facts that were shown.

    Parameters that the tool does not take are left aside.

    Raises:
        ReplyUnusable: the tool is not on offer, or a parameter is missing or means nothing.
    """
    thought, tool = one_of(fields, "thought"), one_of(fields, "tool")
    if tool not in tools:
        raise ReplyUnusable(f"{tool[:20]!r} is no tool that can be used now")
    if tool == FINISH:
        return Move(thought, finish=reading_of(fields, numbers))
    return Move(thought, _call(Tool(tool), fields, gists, asked))


def written_call(call: ToolCall, numbers: Mapping[str, str]) -> str:
    """Return the call as prompts and traces show it; `numbers` maps the units of gists to their numbers."""
    start, end = call.times.start, call.times.end
    parameters = {
        "query": call.query,
        "gist": numbers.get(call.gist, ""),
        "subject": call.subject,
        "predicate": call.predicate,
        "object": call.object,
        "start_time": start and written(start.period),
        "start_operator": start and start.operator.value,
        "end_time": end and written(end.period),
        "end_operator": end and end.operator.value,
        "limit": call.limit,
        "ordering": call.ordering and call.ordering.value,
        "offset": call.offset or None,
        "aggregation": call.aggregation and call.aggregation.value,
    }
    return f"{call.tool}({', '.join(f'{name}: {value}' for name, value in parameters.items() if value)})"


def _call(tool: Tool, fields: Fields, gists: Mapping[str, str], asked: datetime) -> ToolCall:
    times, offset = _times(fields, asked), _whole(fields, "offset", 0) or 0
    if tool in (Tool.SEMANTIC_RETRIEVE, Tool.LEXICAL_RETRIEVE):
        return ToolCall(tool, query=one_of(fields, "query"), times=times, offset=offset)
    if tool is Tool.FIND_GIST_CONTEXTS:
        number = one_of(fields, "gist")
        if number not in gists:
            raise ReplyUnusable(f"{number[:20]!r} is none of the gists")
        return ToolCall(tool, gist=gists[number], times=times, offset=offset)
    subject, predicate, thing = (_text(fields, name) or None for name in ("subject", "predicate", "object"))
    if not (subject or predicate or thing):
        raise ReplyUnusable(f"{tool} needs a subject, a predicate or an object")
    return ToolCall(
        tool, subject=subject, predicate=predicate, object=thing, times=times, limit=_whole(fields, "limit", 1),
        ordering=_choice(fields, "ordering", Ordering), offset=offset,
        aggregation=_choice(fields, "aggregation", Aggregation),
    )  # fmt: skip


def _times(fields: Fields, asked: datetime) -> Times:
    start = _bound(fields, "start", Operator.GE, asked)
    end = _bound(fields, "end", Operator.LE, asked)
    return Times(start, end) if start or end else ANY_TIME


def _bound(fields: Fields, side: str, default: Operator, asked: datetime) -> Bound | None:
    text = _text(fields, f"{side}_time")
    if not text:
        return None
    return Bound(_choice(fields, f"{side}_operator", Operator) or default, _period(text, asked))


def _period(text: str, asked: datetime) -> Period:
    """Return the period that a parameter names, as a date or in words that the time of asking gives a meaning."""
    try:
        period = period_of(text)
    except ValueError as error:
        spoken = periods_in(text, asked)
        if not spoken:
            raise ReplyUnusable(str(error)) from error
        return spoken[0]
    if period is None:
        raise ReplyUnusable("a time is blank")
    return period


def _choice(fields: Fields, name: str, choices: type[_Choice]) -> _Choice | None:
    text = _text(fields, name)
    if not text:
        return None
    try:
        return choices(text)
    except ValueError as error:
        raise ReplyUnusable(f"{name} is one of {', '.join(choices)}") from error


def _whole(fields: Fields, name: str, least: int) -> int | None:
    text = _text(fields, name)
    if not text:
        return None
    if not text.isdecimal() or not least <= int(text) <= _MOST:
        raise ReplyUnusable(f"{name} is a number from {least} to {_MOST}")
    return int(text)


def _text(fields: Fields, name: str) -> str:
    """Return the value of a parameter, blank where it is left out.

    Raises:
        ReplyUnusable: it has several.
    """
    values = fields.get(name, ())
    if len(values) > 1:
        raise ReplyUnusable(f"it must say {name} once")
    return values[0].strip() if values else ""


NAME, SINGLE, WITH_TISER = "remem", "remem-single", "remem-tiser"
MEMORY = "remem"
"""The backbone that both explore."""
REMEM = "remem"
STEPS, SINGLE_STEPS, TISER_STEPS = (REMEM, READ), (READ,), (REMEM, TISER)
RECOLLECTION, REASONING = 3, 5
"""How many tools may be called where something is to be recalled, and where events are to be related or counted."""


class RememMemory(Protocol):
    """The memory that the tools explore, which is the backbone `remem`; `tools` are those available."""

    @property
    def tools(self) -> Sequence[Tool]: ...

    def explore(self, scope: Query, call: ToolCall) -> Found:
        """Return what the tool gives that is called.

        Raises:
            StoreError: the memory could not be read.
        """
        ...


def calls(steps: int = REASONING) -> tuple[int, int]:
    """Return the least and the most model calls of a question for which something is found, without retries."""
    return min(steps, 1) + 1, steps + 1


@dataclass(frozen=True, slots=True)
class Observed:
    """A call as later prompts show it: the numbers of what it found, and the lines of those that were new."""

    thought: str
    call: str
    found: str
    facts: tuple[str, ...]


class Remem:
    """Lets the model choose each step: a tool with its parameters, or its answer with the facts that it cites.

    The first step must retrieve, since other tools and the answer refer to what was seen. No call is repeated. In the
    last step the model must answer from all that it has observed.
    """

    name, step = NAME, READ

    def __init__(self, tools: Tools, memory: RememMemory, steps: int = REASONING) -> None:
        self._tools = tools
        self._memory = memory
        self._steps = steps

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question."""
        inquiry = Inquiry(self.name, question, self._tools)
        gists: dict[str, str] = {}
        history: list[Observed] = []
        for step in range(self._steps):
            move = _next_move(inquiry, history, gists, self._steps - step + 1, self._memory.tools)
            if move is None and not history:
                return inquiry.conclude(None, Stop.UNUSABLE_REPLY)  # memory was never asked: not unknown, but failed
            if move is None:
                inquiry.note("no step could be used: the answer was read from what was found until then")
                return inquiry.read(Stop.UNUSABLE_REPLY, step=self.step)
            if move.call is None:
                return self._finished(inquiry, move.finish)
            history.append(self._observe(inquiry, move.thought, move.call, gists, self._steps - step - 1))
        if not inquiry.pool:
            return inquiry.read(Stop.LIMIT, step=self.step)
        return self._limited(inquiry, history, gists)

    def _finished(self, inquiry: Inquiry, finish: Reading | None) -> Trace:
        """Return the trace of a question whose answer the agent gave."""
        return inquiry.conclude(finish, Stop.FINISHED)

    def _limited(self, inquiry: Inquiry, history: Sequence[Observed], gists: Mapping[str, str]) -> Trace:
        """Return the trace of a question that all steps left open: the agent has to answer."""
        inquiry.note(f"it did not finish within {self._steps} steps: it had to answer from what it observed")
        last = _next_move(inquiry, history, gists, 1)
        return inquiry.conclude(last.finish if last is not None else None, Stop.LIMIT)

    def _observe(self, inquiry: Inquiry, thought: str, call: ToolCall, gists: dict[str, str], more: int) -> Observed:
        scope = scope_of(inquiry.question)
        found = self._memory.explore(scope, call)
        named = _named(call, gists)
        counted = [("found", "; ".join(told))] if (told := _counted(found)) else []
        block = inquiry.take(round_robin([found.gists, found.facts]), (named,), more, counted)
        kinds = {hit.unit.id: hit.unit.kind for hit in found.hits}
        gists.update({fact.number: fact.unit for fact in block.facts if kinds[fact.unit] == GIST})
        numbers = {fact.unit: fact.number for fact in inquiry.pool}
        shown = [numbers[hit.unit.id] for hit in found.hits if hit.unit.id in numbers]
        return Observed(thought, named, _summary(found, shown), block.lines)


class RememTiser(Remem):
    """As `Remem`, but once the agent would answer, the answer is read from all it observed, with a checked timeline."""

    name, step = WITH_TISER, TISER

    def _finished(self, inquiry: Inquiry, finish: Reading | None) -> Trace:  # noqa: ARG002 - the timeline decides
        return inquiry.read(Stop.FINISHED, step=self.step)

    def _limited(self, inquiry: Inquiry, history: Sequence[Observed], gists: Mapping[str, str]) -> Trace:  # noqa: ARG002
        return inquiry.read(Stop.LIMIT, step=self.step)


class RememSingle:
    """Shows the model the gists and facts that are nearest to the question (REMem-S). One call."""

    def __init__(self, tools: Tools, memory: RememMemory) -> None:
        self._tools = tools
        self._memory = memory

    def answer(self, question: Question) -> Trace:
        """Return the trace of the question."""
        inquiry = Inquiry(SINGLE, question, self._tools)
        call = ToolCall(Tool.SEMANTIC_RETRIEVE, question.text)
        found = self._memory.explore(scope_of(question), call)
        inquiry.take(round_robin([found.gists, found.facts]), (written_call(call, {}),))
        return inquiry.read(Stop.ONE_ROUND)


def _next_move(
    inquiry: Inquiry, history: Sequence[Observed], gists: Mapping[str, str], left: int, known: Collection[Tool] = ()
) -> Move | None:
    """Return the model's next move, with `left` of them to come, the answer included; None where none was usable.

    `known` are the tools there are; without any it has to answer.
    """
    numbers = [fact.number for fact in inquiry.pool]
    tools = list(_offered(bool(gists), bool(numbers), known) if known else (FINISH,))
    choices = {"tools": tools, "gists": list(gists) or [""], "facts": numbers or [""]}  # an enumeration needs a value

    def read(fields: Fields) -> Move:
        move = move_of(fields, tools, gists, numbers, inquiry.question.asked)
        if move.call is not None and _named(move.call, gists) in {step.call for step in history}:
            raise ReplyUnusable("this very call was made before")
        return move

    return inquiry.ask(REMEM, read, choices, steps=history, left=left)


def _offered(has_gists: bool, has_facts: bool, known: Collection[Tool]) -> tuple[str, ...]:
    """Return the tools, of the known, that there is something to use on: what they name has to have been seen."""
    useless = {Tool.FIND_GIST_CONTEXTS: not has_gists, Tool.FIND_ENTITY_CONTEXTS: not has_facts}
    usable = (tool.value for tool in Tool if tool in known and not useless.get(tool, False))
    return (*usable, *((FINISH,) if has_facts else ()))


def _named(call: ToolCall, gists: Mapping[str, str]) -> str:
    return written_call(call, {unit: number for number, unit in gists.items()})


def _summary(found: Found, numbers: Sequence[str]) -> str:
    """Return what was found, in its order, and how much more there is."""
    parts = [", ".join(numbers) or "nothing"]
    if len(numbers) < len(found.hits):
        parts.append(f"{len(found.hits) - len(numbers)} that there is no room for")
    return "; ".join([*parts, *_counted(found)])


def _counted(found: Found) -> list[str]:
    """Return what the tool says beside the facts: counts, words that nothing has, and how to see what follows."""
    parts = []
    if found.total is not None:
        parts.append(f"{found.total} match{' only by words of the name' if found.is_loose else ''}")
    if found.open:
        parts.append(f"{found.open} more may, but nobody knows just when they were")
    if found.without_time:
        parts.append(f"{found.without_time} more without a time")
    if found.number is not None:
        parts.append(f"count {found.number}")
    if found.unmatched:
        parts.append(f"nothing has the words {', '.join(found.unmatched)}")
    if found.common:
        parts.append(f"most have {', '.join(found.common)}")
    if found.following is not None:
        parts.append(f"offset {found.following} shows what follows")
    return parts
