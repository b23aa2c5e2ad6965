"""What a reply of `remem` means: a tool with its parameters, checked, or the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from goalmem_cli.backbones.remem.event_times import period_of, written
from goalmem_cli.backbones.remem.tools import Aggregation, Call, Tool
from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic.dates import periods_in
from goalmem_cli.logic.days import Period
from goalmem_cli.model_replies import Fields
from goalmem_cli.reasoners.inquiry import Reading, one_of, reading_of
from goalmem_cli.store.queries.episodes import ANY_TIME, Bound, Operator, Ordering, Times

FINISH = "output_answer"
_MOST = 1000
_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Move:
    """One thought, and a call or the reading that ends the question."""

    thought: str
    call: Call | None = None
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


def written_call(call: Call, numbers: Mapping[str, str]) -> str:
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


def _call(tool: Tool, fields: Fields, gists: Mapping[str, str], asked: datetime) -> Call:
    times, offset = _times(fields, asked), _whole(fields, "offset", 0) or 0
    if tool in (Tool.SEMANTIC_RETRIEVE, Tool.LEXICAL_RETRIEVE):
        return Call(tool, query=one_of(fields, "query"), times=times, offset=offset)
    if tool is Tool.FIND_GIST_CONTEXTS:
        number = one_of(fields, "gist")
        if number not in gists:
            raise ReplyUnusable(f"{number[:20]!r} is none of the gists")
        return Call(tool, gist=gists[number], times=times, offset=offset)
    subject, predicate, thing = (_text(fields, name) or None for name in ("subject", "predicate", "object"))
    if not (subject or predicate or thing):
        raise ReplyUnusable(f"{tool} needs a subject, a predicate or an object")
    return Call(
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
